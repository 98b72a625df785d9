"""The order of a program's instructions: values should die young.

A value is live from its computation to its last use. Outputs are stored as soon as they are
computed, and constants are part of the code; neither counts beyond that. A small live set fits the
registers and the fastest cache.
"""

from __future__ import annotations

from collections.abc import Iterable

from closedform.program.program import LEAVES, Entry, Instruction, Output, Program


def scheduled(program: Program) -> Program:
    """The same program in the order, of a few tried, with the smallest largest live set.

    Tried are the order as it is and depth-first walks from the outputs, first to last and last to
    first, with the argument that needs more values at a time first. Of equals the first is taken.
    """
    orders = [list(range(len(program.code)))]
    orders += [_depth_first(program, roots) for roots in _visits(program)]
    return reordered(program, min(orders, key=lambda order: _largest_live_set(program, order)))


def largest_live_set(program: Program) -> int:
    """The largest number of values that are live at one time."""
    return _largest_live_set(program, list(range(len(program.code))))


def reordered(program: Program, order: list[int]) -> Program:
    """The program with its instructions in this order, which names every needed value once."""
    places = {old: new for new, old in enumerate(order)}
    code = tuple([
        instruction if instruction.op in LEAVES
        else Instruction(instruction.op, tuple([places[x] for x in instruction.args]))
        for instruction in (program.code[old] for old in order)
    ])
    return Program(program.name, program.inputs, tuple(
        Output(name, shape, tuple(
            Entry(places[e.index], e.sign) if e.index >= 0 else e for e in entries
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
                if not live[x] and code[x].op != "const":
                    live[x] = 1
                    now += 1
            if now > largest:
                largest = now
    return largest


def _visits(program: Program) -> Iterable[list[int]]:
    roots = [e.index for output in program.outputs for e in output.entries if e.index >= 0]
    return roots, roots[::-1]


def _depth_first(program: Program, roots: list[int]) -> list[int]:
    """Each root with what it needs, arguments before results, the needier argument first."""
    code, need = program.code, _registers(program)
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
        else:
            x, y = need[args[0]], need[args[1]]
            need.append(max(x, y) if x != y else x + 1)
    return need
