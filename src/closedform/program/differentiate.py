"""Exact derivatives of recorded computations, by the chain rule over each operation's partials.

Derivatives are recorded scalars of the same recording, so that they can be differentiated again,
and values that a function and its derivatives share are computed once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from closedform.arrays import Array
from closedform.errors import ArgumentError, UnknownName, suggestion
from closedform.program.expr import Expr, Graph, Scalar
from closedform.program.ops import OPS
from closedform.program.program import Instruction, Program, Slot
from closedform.program.record import collect, input_array, object_array, replay


def gradient(value: object, inputs: Array) -> np.ndarray:
    """∂value/∂inputs, of the inputs' shape, by one sweep from the value backwards.

        x̄_i = Σ_j x̄_j ∂x_j/∂x_i,  over the values x_j that x_i is an argument of         (i)

    `inputs` are recorded scalars, entries of input arrays or values on the way, which are then
    taken as independent.
    """
    places = _places(inputs)
    adjoints: dict[int, Scalar] = {}
    if isinstance(value, Expr):
        adjoints[value.node] = float(value.signum)
        for node in range(value.node, -1, -1):
            if node in adjoints and node not in places:
                adjoint = adjoints.pop(node)
                for argument, partial in _partials(value.graph, node):
                    adjoints[argument] = adjoints.get(argument, 0.0) + adjoint * partial  # (i)
    entries = [adjoints.get(x.node, 0.0) * x.signum for x in np.ravel(inputs)]
    return object_array(entries, np.shape(inputs))


def hessian(value: object, inputs: Array) -> np.ndarray:
    """∂²value/∂inputs∂inputs, of the inputs' shape twice; symmetric, each entry recorded once."""
    first = np.ravel(gradient(value, inputs))
    rows = [np.ravel(gradient(entry, inputs)) for entry in first]
    n = len(rows)
    entries = [rows[min(i, j)][max(i, j)] for i in range(n) for j in range(n)]
    return object_array(entries, np.shape(inputs) * 2)


def jacobian(values: Array, inputs: Array) -> np.ndarray:
    """∂values/∂inputs, of the shape of `values`, then that of `inputs`.

    With fewer values than inputs row by row, by gradients; else column by column, by tangents.
    """
    outs, ins = np.ravel(np.asarray(values, dtype=object)), np.ravel(inputs)
    shape = np.shape(values) + np.shape(inputs)
    if len(outs) < len(ins):
        rows = [entry for value in outs for entry in gradient(value, ins)]
        return object_array(rows, shape)
    columns = [tangents(outs, {x.node: float(x.signum)}) for x in ins]
    return object_array([column[i] for i in range(len(outs)) for column in columns], shape)


def tangents(values: Iterable[Any], seeds: Mapping[int, Scalar]) -> list[Scalar]:
    """The derivatives of values along seeds, tangents of nodes: ẋ_j = Σ_i ∂x_j/∂x_i ẋ_i."""
    values = list(values)
    graph = next((value.graph for value in values if isinstance(value, Expr)), None)
    if graph is None:
        return [0.0] * len(values)
    tangent: dict[int, Scalar] = dict(seeds)
    last = max(value.node for value in values if isinstance(value, Expr))
    for node in range(min(seeds, default=last), last + 1):
        if node in seeds or not any(i in tangent for i in _arguments(graph, node)):
            continue
        total: Scalar = 0.0
        for argument, partial in _partials(graph, node):
            if argument in tangent:
                total = total + tangent[argument] * partial
        tangent[node] = total
    return [tangent.get(value.node, 0.0) * value.signum if isinstance(value, Expr) else 0.0
            for value in values]


def jacobian_of(function: Callable[..., Any], argument: int = 0) -> Callable[..., np.ndarray]:
    """The derivative by one argument, a function of the same arguments, to be recorded."""

    def derivative(*arrays: Array) -> np.ndarray:
        return jacobian(function(*arrays), arrays[argument])

    return derivative


def hessian_of(function: Callable[..., Any], argument: int = 0) -> Callable[..., np.ndarray]:
    """The second derivative of a scalar function by one of its arguments, to be recorded."""

    def derivative(*arrays: Array) -> np.ndarray:
        value = np.ravel(np.asarray(function(*arrays), dtype=object))
        if len(value) != 1:
            raise ArgumentError(f"a Hessian needs one value; the function has {len(value)}")
        return hessian(value[0], arrays[argument])

    return derivative


def tangent(program: Program, wrt: Iterable[str]) -> Program:
    """(x, ẋ) → ẏ = Σ (∂y/∂x) ẋ: a program that is linear in the tangents of some inputs.

    For each x in `wrt` there is a further input `x_dot`; the outputs y are `y_dot`.
    """
    moving = _moving(program, wrt)
    recorded = _Recorded(program, {f"{slot.name}_dot": slot.shape for slot in moving})
    seeds = {x.node: dx for slot in moving for x, dx in zip(
        recorded.entries(slot.name), recorded.entries(f"{slot.name}_dot"), strict=True)}
    flat = [x for output in recorded.outputs.values() for x in output.ravel()]
    rates = iter(tangents(flat, seeds))
    found = {f"{name}_dot": object_array([next(rates) for _ in range(y.size)], y.shape)
             for name, y in recorded.outputs.items()}
    return collect(recorded.graph, f"{program.name}_tangent", recorded.slots, found)


def cotangent(program: Program, wrt: Iterable[str], linear: bool = False) -> Program:
    """(x, ȳ) → x̄ = Σ (∂y/∂x)ᵀ ȳ: the transpose of `tangent`, linear in ȳ.

    For each output y there is a further input `y_bar`; the outputs are `x_bar` for each x in `wrt`.
    It costs a few times the program, however many entries x has. Of a program that is `linear` in
    what `wrt` names, the result needs none of those inputs, and has none.
    """
    moving = _moving(program, wrt)
    recorded = _Recorded(program, {f"{y.name}_bar": y.shape for y in program.outputs})
    graph = recorded.graph
    wanted = {x.node for slot in moving for x in recorded.entries(slot.name)}
    adjoints: dict[int, Scalar] = {}
    for name, y in recorded.outputs.items():
        for value, weight in zip(y.ravel(), recorded.entries(f"{name}_bar"), strict=True):
            if isinstance(value, Expr):
                adjoints[value.node] = adjoints.get(value.node, 0.0) + value.signum * weight
    last = max(adjoints, default=-1)
    needed = _reaching(graph, wanted, last)
    for node in range(last, -1, -1):
        if node in adjoints and node not in wanted and node in needed:
            adjoint = adjoints.pop(node)
            for argument, partial in _partials(graph, node):
                if argument in needed:
                    adjoints[argument] = adjoints.get(argument, 0.0) + adjoint * partial  # (i)
    found = {f"{slot.name}_bar": object_array(
        [adjoints.get(x.node, 0.0) for x in recorded.entries(slot.name)], slot.shape)
        for slot in moving}
    made = collect(graph, f"{program.name}_cotangent", recorded.slots, found)
    return _without(made, {slot.name for slot in moving}) if linear else made


class _Recorded:
    """A program recorded again, with further inputs."""

    def __init__(self, program: Program, further: Mapping[str, tuple[int, ...]]) -> None:
        self.graph = Graph()
        self.slots = (*program.inputs, *(Slot(name, shape) for name, shape in further.items()))
        self.arrays = {slot.name: input_array(self.graph, k, slot.shape)
                       for k, slot in enumerate(self.slots)}
        self.outputs = replay(program, [self.arrays[slot.name] for slot in program.inputs])

    def entries(self, name: str) -> np.ndarray:
        return np.asarray(self.arrays[name], dtype=object).ravel()


def _moving(program: Program, wrt: Iterable[str]) -> list[Slot]:
    chosen, names = list(wrt), [slot.name for slot in program.inputs]
    for name in chosen:
        if name not in names:
            raise UnknownName(f"no input {name!r} in {program.name}; {suggestion(name, names)}")
    return [slot for slot in program.inputs if slot.name in chosen]


def _reaching(graph: Graph, wanted: Collection[int], last: int) -> set[int]:
    """The nodes up to the last that depend on those that are wanted, and these."""
    found = set(wanted)
    for node in range(last + 1):
        if any(i in found for i in _arguments(graph, node)):
            found.add(node)
    return found


def _without(program: Program, names: Collection[str]) -> Program:
    """The program without inputs that it does not use; an error if it does."""
    at = {k for k, slot in enumerate(program.inputs) if slot.name in names}
    if any(op == "input" and args[0] in at for op, args, _ in program.code):
        raise ArgumentError(f"{program.name}: not linear in {', '.join(sorted(names))}")
    new = {k: i for i, k in enumerate(k for k in range(len(program.inputs)) if k not in at)}
    code = tuple(Instruction(op, (new[args[0]], args[1]), value) if op == "input"
                 else Instruction(op, args, value) for op, args, value in program.code)
    return replace(program, code=code, inputs=tuple(
        slot for k, slot in enumerate(program.inputs) if k not in at))


def _places(inputs: Array) -> frozenset[int]:
    for x in np.ravel(np.asarray(inputs, dtype=object)):
        if not isinstance(x, Expr):
            raise ArgumentError(f"derivatives are taken by recorded scalars, not by {x!r}")
    return frozenset(x.node for x in np.ravel(inputs))


def _arguments(graph: Graph, node: int) -> tuple[int, ...]:
    op, *rest = graph.nodes[node]
    return tuple(rest) if op in OPS else ()


def _partials(graph: Graph, node: int) -> Iterable[tuple[int, Scalar]]:
    """(argument, partial derivative) of a node, for arguments that are not constants."""
    arguments = _arguments(graph, node)
    if not arguments:
        return
    partials = OPS[graph.nodes[node][0]].partials(*[graph.positive(i) for i in arguments])
    for argument, partial in zip(arguments, partials, strict=True):
        if graph.nodes[argument][0] != "const":
            yield argument, partial
