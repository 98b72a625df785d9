"""Exact derivatives of recorded computations, by the chain rule over each operation's partials.

Derivatives are recorded scalars of the same recording, so that they can be differentiated again,
and values that a function and its derivatives share are computed once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from closedform.arrays import Array
from closedform.errors import ArgumentError
from closedform.program.expr import Expr, Graph, Scalar
from closedform.program.ops import OPS
from closedform.program.record import object_array


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
                for argument, partial in partials_of(value.graph, node):
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
        if node in seeds or not any(i in tangent for i in arguments_of(graph, node)):
            continue
        total: Scalar = 0.0
        for argument, partial in partials_of(graph, node):
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


def _places(inputs: Array) -> frozenset[int]:
    for x in np.ravel(np.asarray(inputs, dtype=object)):
        if not isinstance(x, Expr):
            raise ArgumentError(f"derivatives are taken by recorded scalars, not by {x!r}")
    return frozenset(x.node for x in np.ravel(inputs))


def arguments_of(graph: Graph, node: int) -> tuple[int, ...]:
    """The nodes that an operation takes; none for inputs and constants."""
    op, *rest = graph.nodes[node]
    return tuple(rest) if op in OPS else ()


def partials_of(graph: Graph, node: int) -> Iterable[tuple[int, Scalar]]:
    """(argument, partial derivative) of a node, for arguments that are not constants."""
    arguments = arguments_of(graph, node)
    if not arguments:
        return
    partials = OPS[graph.nodes[node][0]].partials(*[graph.positive(i) for i in arguments])
    for argument, partial in zip(arguments, partials, strict=True):
        if graph.nodes[argument][0] != "const":
            yield argument, partial
