"""The order of a program's instructions: values should die young.

A value is live from its computation to its last use. Outputs are stored as soon as they are
computed, and constants are part of the code; neither counts beyond that. A small live set fits the
registers and the fastest cache.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator

import numpy as np

from closedform.program.program import LEAVES, Entry, Instruction, Output, Program

LARGE = 10_000
"""Instructions from which on programs are ordered in less time."""


def by_live_ranges(program: Program) -> Program:
    """The same program in the order, of a few tried, with the smallest largest live set.

    Tried are the order as it is and depth-first walks from the outputs (first to last, last to
    first, and by falling largest index, which takes the rows and columns of a matrix together, each
    from the diagonal outwards, as wrenches go from body to body). In each of them an instruction
    that does not enlarge the live set goes before all that do. Of equals the first is taken. Of
    large programs, whose first call is to come soon, that order alone is made which was the best of
    all that were tried: of vectors the first, of matrices the last.
    """
    visits = list(_visits(program))
    if len(program.code) > LARGE:
        start, last = _eager(program, visits[-1:])
        return reordered(program, (start if visits[1] == visits[2] else last).order())
    return reordered(program, min(eager_orders(program, visits),
                                  key=lambda order: _largest_live_set(program, order)))


def eager_orders(program: Program, visits: Iterable[list[int]]) -> Iterator[list[int]]:
    """The order as it is and depth-first walks of these visits, each made eager."""
    return (eager.order() for eager in _eager(program, visits))


def _eager(program: Program, visits: Iterable[list[int]]) -> list[_Eager]:
    need = _registers(program)
    walks = [_depth_first(program, roots, need) for roots in visits]
    uses = _Uses(program, walks[0])
    return [_Eager(uses, base) for base in (sorted(walks[0]), *walks)]


def largest_live_set(program: Program) -> int:
    """The largest number of values that are live at one time."""
    return _largest_live_set(program, list(range(len(program.code))))


def needed(program: Program) -> Program:
    """The program without what no output needs."""
    roots = [e.index for output in program.outputs for e in output.entries if e.index >= 0]
    return reordered(program, sorted(_depth_first(program, roots, [0] * len(program.code))))


def reordered(program: Program, order: list[int]) -> Program:
    """The program with its instructions in this order, which names every needed value once."""
    places = [-1] * len(program.code)
    for new, old in enumerate(order):
        places[old] = new
    code = tuple([
        instruction if (op := instruction[0]) in LEAVES
        else Instruction(op, tuple([places[x] for x in instruction[1]]), instruction[2])
        for instruction in [program.code[old] for old in order]
    ])
    return Program(program.name, program.inputs, tuple(
        Output(name, shape, tuple(
            Entry(places[e.index], e.sign, 0.0, e.lane) if e.index >= 0 else e for e in entries
        )) for name, shape, entries in program.outputs
    ), code)


def _largest_live_set(program: Program, order: list[int]) -> int:
    """Walk backwards: a value becomes live at its last use and ends at its definition."""
    code = program.code
    live = bytearray(len(code))
    now = largest = 0
    for i in reversed(order):
        op, args, _ = code[i]
        if live[i]:
            now -= 1
        if op not in LEAVES:
            for x in args:
                if not live[x] and code[x].op not in ("const", "lanes"):
                    live[x] = 1
                    now += 1
            if now > largest:
                largest = now
    return largest


def _visits(program: Program) -> Iterable[list[int]]:
    """Orders in which to walk through the outputs' values."""
    roots = [e.index for output in program.outputs for e in output.entries if e.index >= 0]
    ranked = [
        ((-max(index, default=0), -min(index, default=0)), entry.index)
        for output in program.outputs
        for index, entry in zip(np.ndindex(*output.shape), output.entries, strict=True)
        if entry.index >= 0
    ]
    by_index = [root for _, root in sorted(ranked, key=lambda pair: pair[0])]
    return roots, roots[::-1], by_index


def _depth_first(program: Program, roots: list[int], need: list[int]) -> list[int]:
    """Each root with what it needs, arguments before results, the needier argument first."""
    code = program.code
    done = bytearray(len(code))
    order: list[int] = []
    for root in roots:
        stack = [root]
        while stack:
            i = stack.pop()
            if i < 0:
                order.append(~i)
            elif not done[i]:
                done[i] = 1
                stack.append(~i)
                op, args, _ = code[i]
                if op not in LEAVES:
                    stack += sorted(args, key=need.__getitem__)
    return order


def _registers(program: Program) -> list[int]:
    """Sethi and Ullman's number of values needed at a time, as if every value were used once."""
    need: list[int] = []
    for op, args, _ in program.code:
        if op in LEAVES:
            need.append(int(op == "input"))
        elif len(args) == 1:
            need.append(max(need[args[0]], 1))
        elif len(args) == 2:
            x, y = need[args[0]], need[args[1]]
            need.append(max(x, y) if x != y else x + 1)
        else:
            ranked = sorted((need[x] for x in args), reverse=True)
            need.append(max(x + k for k, x in enumerate(ranked)))
    return need


class _Uses:
    """Who uses what among the instructions that are needed."""

    def __init__(self, program: Program, needed: list[int]) -> None:
        code = program.code
        self.is_input = [op == "input" for op, _, _ in code]
        self.is_leaf = [op in LEAVES for op, _, _ in code]
        self.is_constant = [op in ("const", "lanes") for op, _, _ in code]
        self.args: list[tuple[int, ...]] = [()] * len(code)
        self.users: list[list[int]] = [[] for _ in code]
        self.waits = [0] * len(code)                             # for arguments to be computed
        for i in needed:
            op, args, _ = code[i]
            if op in LEAVES:
                continue
            if len(set(args)) < len(args):
                args = tuple(dict.fromkeys(args))
            self.args[i] = args
            for x in args:
                self.users[x].append(i)
                self.waits[i] += not self.is_leaf[x]


class _Eager:
    """List scheduling: what does not enlarge the live set goes first, else the next of a base.

    Inputs and constants are placed right before their first use.
    """

    def __init__(self, uses: _Uses, base: list[int]) -> None:
        self.base = base
        self.rank = [0] * len(uses.args)
        for k, i in enumerate(base):
            self.rank[i] = k
        self.args, self.users = uses.args, uses.users
        self.is_input, self.is_constant = uses.is_input, uses.is_constant
        self.waits = list(uses.waits)
        self.left = [len(users) for users in uses.users]         # users still to come
        self.placed = bytearray(len(uses.args))
        self.heap: list[tuple[bool, int, int]] = []

    def order(self) -> list[int]:
        order: list[int] = []
        for i in self.base:
            if self.args[i] and not self.waits[i]:
                self._offer(i)
        while self.heap:
            enlarges, _, i = heapq.heappop(self.heap)
            if self.placed[i]:
                continue
            if not enlarges and self._enlarges(i):
                self._offer(i)
                continue
            order += self._place(i)
        return order + [i for i in self.base if not self.placed[i]]  # leaves that are outputs

    def _offer(self, i: int) -> None:
        heapq.heappush(self.heap, (self._enlarges(i), self.rank[i], i))

    def _enlarges(self, i: int) -> bool:
        """Whether more values are live after this instruction than before."""
        left = self.left
        change = 1 if left[i] else 0
        for x in self.args[i]:
            if left[x] == 1:
                if not self.is_constant[x] and (self.placed[x] or not self.is_input[x]):
                    change -= 1
            elif self.is_input[x] and not self.placed[x]:
                change += 1
        return change > 0

    def _place(self, i: int) -> list[int]:
        """Place an instruction after its leaves; offer those that it makes ready or harmless."""
        placed, leaves = self.placed, []
        placed[i] = 1
        for x in self.args[i]:
            first = not placed[x]
            if first:
                placed[x] = 1
                leaves.append(x)
            self.left[x] -= 1
            if self.left[x] == 1 or first:
                for user in self.users[x]:
                    if not placed[user] and not self.waits[user] and not self._enlarges(user):
                        self._offer(user)
        for user in self.users[i]:
            self.waits[user] -= 1
            if not self.waits[user]:
                self._offer(user)
        return [*leaves, i]
