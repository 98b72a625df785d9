"""A program as assignments: what every exporter of source code writes, whatever the language.

A value that is used more than once gets a name and a line; one that is used once stands where it is
used, as long as the line stays short. Parentheses keep the order of evaluation. An entry of an
output is written as soon as what it needs is known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from closedform.program.ops import ATOM, OPS
from closedform.program.ordering.waiting import waiting_slots
from closedform.program.program import LEAVES, Entry, Program, Slot, size

MOST_LEAVES = 10
"""An expression with more numbers and names than this is cut."""

PIECE = 500
"""Assignments in one function of a program that is cut into pieces."""
WHOLE = 1200
"""Assignments up to which a program is one function; compilers take quadratic time beyond."""


class Let(NamedTuple):
    """A value that gets a name."""

    place: int


class Store(NamedTuple):
    """An entry of an output that is written."""

    output: int
    entry: int


Statement = Let | Store


@dataclass(frozen=True)
class Syntax:
    """How a language writes numbers, entries of inputs and functions of one argument."""

    number: Callable[[float], str]
    entry: Callable[[Slot, int], str]
    functions: Mapping[str, str]        # by operation, with {} for the argument
    first: int = 0                      # the first index of an array, for names


class Statements:
    """The assignments of a program, in order, and their text in any syntax."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._named = self._values_with_names()

    @cached_property
    def order(self) -> list[Statement]:
        """Constants of outputs first, then every value in order, and entries when known."""
        program, after = self.program, dict[int, list[Statement]]()
        for k, output in enumerate(program.outputs):
            for i, entry in enumerate(output.entries):
                known = -1 if entry.index < 0 else max(self.needs(entry.index), default=-1)
                after.setdefault(known, []).append(Store(k, i))
        order = after.pop(-1, [])
        for place in sorted(self._named):
            order.append(Let(place))
            order.extend(after.get(place, ()))
        return order

    @cached_property
    def pieces(self) -> list[list[Statement]]:
        """The assignments in runs that a compiler takes one by one; a short program is one."""
        if len(self.order) <= WHOLE:
            return [self.order]
        count = -(-len(self.order) // PIECE)
        cuts = [len(self.order) * k // count for k in range(count + 1)]
        return [self.order[a:b] for a, b in pairwise(cuts)]

    def reads(self, statement: Statement) -> set[int]:
        """The named values that a statement uses."""
        if isinstance(statement, Store):
            index = self.entry(statement).index
            return set() if index < 0 else self.needs(index)
        return self._needs_of(self.program.code[statement.place].args)

    def entry(self, store: Store) -> Entry:
        return self.program.outputs[store.output].entries[store.entry]

    def needs(self, place: int) -> set[int]:
        """The named values in the expression that stands for a value: itself, if it has a name."""
        if place in self._named:
            return {place}
        op, args, _ = self.program.code[place]
        return set() if op in LEAVES else self._needs_of(args)

    def _needs_of(self, args: Sequence[int]) -> set[int]:
        return set().union(*(self.needs(i) for i in args))

    def _values_with_names(self) -> set[int]:
        program, named = self.program, set[int]()
        leaves = [1] * len(program.code)
        repeated = {args[0] for op, args, _ in program.code if op == "sign"}
        live = self._live()
        for place, (op, args, _) in enumerate(program.code):
            if op in LEAVES or place not in live:
                continue
            leaves[place] = sum(leaves[i] for i in args)
            if (program.uses[place] > 1 or OPS[op].cost == "trig" or place in repeated
                    or leaves[place] > MOST_LEAVES):
                named.add(place)
                leaves[place] = 1
        return named

    def _live(self) -> set[int]:
        """The values that an output needs."""
        live = {e.index for output in self.program.outputs for e in output.entries}
        for place in reversed(range(len(self.program.code))):
            op, args, _ = self.program.code[place]
            if place in live and op not in LEAVES:
                live.update(args)
        return live

    def names(self, syntax: Syntax) -> dict[int, str]:
        """s1 and c1 for the sine and cosine of entry 1 of the first input, else t0, t1, …"""
        names: dict[int, str] = {}
        taken = {slot.name for slot in self.program.inputs}
        taken |= {output.name for output in self.program.outputs}
        taken |= {syntax.entry(s, k) for s in self.program.inputs for k in range(size(s.shape))}
        for place in sorted(self._named):
            name = self._trig_name(place, syntax.first)
            if not name or name in taken:
                name = f"t{len(names)}"
            while name in taken:
                name += "_"
            taken.add(name)
            names[place] = name
        return names

    def _trig_name(self, place: int, first: int) -> str:
        code = self.program.code
        op, args, _ = code[place]
        if OPS[op].cost != "trig":
            return ""
        angle = self._angle(args[0])
        return "" if angle is None else op[0] + "_".join(str(k + first) for k in angle)

    def _angle(self, place: int) -> list[int] | None:
        """The entries of the first input, a vector, that are added up, if that is all."""
        op, args, value = self.program.code[place]
        if op == "input":
            return [args[1]] if args[0] == 0 and len(self.program.inputs[0].shape) == 1 else None
        if value is not None:
            return []
        shifted = op == "sub" and self.program.code[args[1]].op == "const"
        parts = [self._angle(i) for i in args] if op == "add" or shifted else [None]
        return None if None in parts else sorted(k for part in parts for k in part or ())

    def value(self, place: int, names: Mapping[int, str], syntax: Syntax) -> str:
        """The right side of a value's own line."""
        return self._expression(place, names, syntax)[0]

    def result(self, store: Store, names: Mapping[int, str], syntax: Syntax) -> str:
        """The right side of an entry's line."""
        entry = self.entry(store)
        if entry.index < 0:
            return syntax.number(entry.constant)
        text, binds = self._operand(entry.index, names, syntax)
        return text if entry.sign > 0 else f"-{text}" if binds >= 2 else f"-({text})"

    def _operand(self, place: int, names: Mapping[int, str], syntax: Syntax) -> tuple[str, int]:
        if place in names:
            return names[place], ATOM
        return self._expression(place, names, syntax)

    def _expression(self, place: int, names: Mapping[int, str], syntax: Syntax) -> tuple[str, int]:
        op, args, value = self.program.code[place]
        if op == "input":
            return syntax.entry(self.program.inputs[args[0]], args[1]), ATOM
        if value is not None:
            return syntax.number(value), ATOM
        operands = [self._operand(i, names, syntax) for i in args]
        binds, symbol = OPS[op].precedence, OPS[op].symbol
        if binds == ATOM:
            return syntax.functions[op].format(operands[0][0]), ATOM
        left, right = (text if own >= least else f"({text})"
                       for (text, own), least in zip(operands, (binds, binds + 1), strict=True))
        return (f"{left} {symbol} {right}" if binds == 1 else f"{left}*{right}"
                if op == "mul" else f"{left}/{right}"), binds


def waiting(pieces: Sequence[Sequence[Statement]], of: Statements) -> tuple[dict[int, int], int]:
    """Slots for values that wait for a later piece, and how many there are."""
    return waiting_slots([[((s.place,) if isinstance(s, Let) else (), of.reads(s)) for s in piece]
                          for piece in pieces])


def index_text(slot_shape: tuple[int, ...], k: int, first: int = 0) -> str:
    """The indices of entry k of an array, separated by commas."""
    return ", ".join(str(int(i) + first) for i in np.unravel_index(k, slot_shape))


def output_names(program: Program) -> list[str]:
    """The names of the outputs, other than those of the inputs."""
    taken = {slot.name for slot in program.inputs}
    return [f"{o.name}_out" if o.name in taken else o.name for o in program.outputs]


def array_sizes(program: Program) -> list[int]:
    """How many numbers each input and then each output has."""
    return [*(size(s.shape) for s in program.inputs), *(size(o.shape) for o in program.outputs)]
