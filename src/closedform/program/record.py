"""From a function over arrays to a program: run it once on recorded scalars."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from closedform.errors import ArgumentError
from closedform.program.expr import Expr, Graph
from closedform.program.ops import OPS
from closedform.program.program import (
    SHUFFLES,
    Entry,
    Instruction,
    Output,
    Program,
    Slot,
    size,
)


@dataclass(frozen=True, slots=True)
class Picked:
    """A lane of a recorded value, for an entry of an output."""

    value: Any
    lane: int


@contextmanager
def uncollected() -> Iterator[None]:
    """Without Python's collector: it walks a growing program again and again, and finds nothing."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


@uncollected()
def record(
    function: Callable[..., Any], inputs: Mapping[str, tuple[int, ...]], name: str
) -> Program:
    """The program of `function(*arrays)`, with one array per input, in the order of `inputs`.

    The function gets object arrays of recorded scalars (an input of shape () is a scalar) and
    returns an array, a named tuple of arrays or a dictionary of arrays. A single result is named as
    the program. Entries that are plain numbers become constants. Nothing that is not needed for the
    outputs is kept.
    """
    graph = Graph()
    slots = tuple(Slot(slot, tuple(shape)) for slot, shape in inputs.items())
    arrays = [input_array(graph, k, slot.shape) for k, slot in enumerate(slots)]
    return collect(graph, name, slots, named_arrays(function(*arrays), name))


def input_array(graph: Graph, slot: int, shape: tuple[int, ...]) -> np.ndarray | Expr:
    """An object array of the recorded entries of one input; of the shape () the entry alone."""
    entries = [graph.input(slot, k) for k in range(size(shape))]
    return entries[0] if shape == () else object_array(entries, shape)


def object_array(entries: Sequence[Any], shape: tuple[int, ...]) -> np.ndarray:
    """An object array of this shape from its entries in C order."""
    flat = np.empty(len(entries), dtype=object)
    flat[:] = entries
    return flat.reshape(shape)


def named_arrays(result: object, name: str) -> dict[str, np.ndarray]:
    """A function's result as arrays with names."""
    if isinstance(result, Mapping):
        parts = dict(result)
    elif isinstance(result, tuple) and hasattr(result, "_fields"):
        parts = dict(zip(result._fields, result, strict=True))
    elif isinstance(result, tuple):
        raise ArgumentError(
            f"{name} returns a plain tuple of {len(result)}; several results need names: "
            "return a named tuple or a dictionary"
        )
    else:
        parts = {name: result}
    return {key: np.asarray(part, dtype=object) for key, part in parts.items()}


def collect(
    graph: Graph, name: str, slots: tuple[Slot, ...], outputs: Mapping[str, np.ndarray]
) -> Program:
    """The program of what the outputs need of a graph, in the order of recording."""
    results = [(key, array.shape, [_entry(graph, key, x) for x in array.ravel()])
               for key, array in outputs.items()]
    code, places = _live_code(graph, [e.index for _, _, es in results for e in es if e.index >= 0])
    return Program(name, slots, tuple(
        Output(key, shape, tuple(
            Entry(places[e.index], e.sign, 0.0, e.lane) if e.index >= 0 else e for e in entries
        )) for key, shape, entries in results
    ), code)


def _entry(graph: Graph, output: str, x: Any) -> Entry:
    """An output's entry that still refers to the graph."""
    if isinstance(x, Picked):
        whole = _entry(graph, output, x.value)
        return whole if whole.index < 0 else Entry(whole.index, whole.sign, 0.0, x.lane)
    if isinstance(x, Expr):
        if x.graph is not graph:
            raise ArgumentError(f"an entry of {output} belongs to another recording")
        return Entry(x.node, x.signum)
    try:
        value = float(x)
    except (TypeError, ValueError):
        raise ArgumentError(
            f"an entry of {output} is {x!r}; it has to be a number or a recorded scalar"
        ) from None
    if not np.isfinite(value):
        raise ArgumentError(f"an entry of {output} is the constant {value}; it has to be finite")
    return Entry(-1, 0, value)


def _live_code(graph: Graph, roots: list[int]) -> tuple[tuple[Instruction, ...], list[int]]:
    """The instructions that the roots need, and the new place of each node of the graph."""
    nodes = graph.nodes
    live = bytearray(len(nodes))
    for root in roots:
        live[root] = 1
    for i in range(len(nodes) - 1, -1, -1):
        if live[i] and nodes[i][0] in OPS:
            for argument in nodes[i][1:]:
                live[argument] = 1
        elif live[i] and nodes[i][0] in SHUFFLES:
            for argument in nodes[i][1:-1]:
                live[argument] = 1
    places = [-1] * len(nodes)
    code: list[Instruction] = []
    for i, node in enumerate(nodes):
        if live[i]:
            places[i] = len(code)
            op, rest = node[0], node[1:]
            if op in ("const", "lanes"):
                code.append(Instruction(op, (), rest[0]))
            elif op in SHUFFLES:
                code.append(Instruction(op, tuple([places[j] for j in rest[:-1]]), rest[-1]))
            elif op == "input":
                code.append(Instruction(op, rest))
            else:
                code.append(Instruction(op, tuple([places[j] for j in rest])))
    return tuple(code), places


def replay(program: Program, arrays: Sequence[object]) -> dict[str, np.ndarray]:
    """The outputs of a program run on arrays of recorded scalars, or of others with operators.

    Constants enter as floats.
    """
    flat = [np.asarray(array, dtype=object).ravel() for array in arrays]
    values: list[Any] = []
    for op, args, value in program.code:
        if op == "input":
            values.append(flat[args[0]][args[1]])
        elif op == "const":
            values.append(value)
        else:
            values.append(OPS[op].on(*[values[i] for i in args]))
    return {
        key: object_array([x.constant if x.index < 0 else x.sign * values[x.index]
                           for x in entries], shape)
        for key, shape, entries in program.outputs
    }
