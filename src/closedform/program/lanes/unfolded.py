"""A program with lanes as one without: every lane a value of its own."""

from __future__ import annotations

from typing import Any

from closedform.program.expr import Graph, Scalar
from closedform.program.ops import OPS
from closedform.program.program import NONE, SHUFFLES, Instruction, Program
from closedform.program.record import collect, object_array


def unfolded(program: Program) -> Program:
    """The same results by operations on single numbers; a program without lanes as it is."""
    if not program.has_lanes:
        return program
    graph = Graph()
    values: list[list[Any]] = []
    for instruction, width in zip(program.code, program.widths, strict=True):
        values.append(_lanes(graph, instruction, values, width))
    return collect(graph, program.name, program.inputs, {
        name: object_array([e.constant if e.index < 0 else e.sign * values[e.index][e.lane]
                            for e in entries], shape)
        for name, shape, entries in program.outputs})


def _lanes(
    graph: Graph, instruction: Instruction, values: list[list[Any]], width: int,
) -> list[Scalar]:
    """The lanes of a value."""
    op, args, value = instruction
    if op == "input":
        return [graph.input(args[0], k) for k in args[1:]]
    if op == "const":
        return [value]
    if op == "lanes":
        return list(value)
    x = [y for k in args for y in values[k]] if op in SHUFFLES else []
    if op == "spread":
        return [0.0 if k == NONE else x[k] for k in value]
    if op == "gather":
        return [sum([y for y, k in zip(x, value, strict=True) if k == lane])
                for lane in range(width)]
    return [OPS[op].on(*[x[k if len(x) > 1 else 0] for x in (values[i] for i in args)])
            for k in range(width)]
