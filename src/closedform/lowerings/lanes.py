"""A program run by NumPy on blocks of states: batches without a compiler.

A block of 512 states keeps a value in 4 kB, so that the live values stay in the fastest caches
while NumPy's cost per call is spread over the block. Rows of a value that is no longer needed are
used again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from closedform.arrays import ArrayLike, Floats
from closedform.errors import ArgumentError
from closedform.program.lanes.unfolded import unfolded
from closedform.program.ops import OPS
from closedform.program.program import Entry, Program, size

BLOCK = 512

UFUNCS: Mapping[str, Any] = {op.name: getattr(np, op.ufunc) for op in OPS.values()}

Call = tuple[Any, tuple[Any, ...], int]
"""(ufunc, arguments, row of the result); an argument is a row, or a constant as a float. Loads of
inputs have no ufunc and the arguments (slot, column)."""


BoundCall = tuple[Any, tuple[Any, ...], Floats, list[tuple[int, int, int]]]
"""(ufunc, its arguments and its result, the result, (output, column, sign) to be stored)."""


def run(program: Program, *inputs: ArrayLike) -> tuple[Floats, ...]:
    """The outputs of a program for arrays of states, batch axes first; see `over_blocks`."""
    return over_blocks(program)(*inputs)


def over_blocks(program: Program) -> Callable[..., tuple[Floats, ...]]:
    """A function of the program's inputs, each (..., *shape), that gives its outputs alike.

    Batch axes broadcast. Results are float32 if all inputs are, else float64.
    """
    program = unfolded(program)
    plan = _Plan(program)

    def call(*inputs: ArrayLike) -> tuple[Floats, ...]:
        arrays, batch = _batch(program, inputs)
        count = size(batch)
        dtype = np.result_type(*arrays) if arrays else np.dtype(np.float64)
        results = [np.empty((count, len(output.entries)), dtype) for output in program.outputs]
        for output, result in zip(program.outputs, results, strict=True):
            result[:] = [_known(program, entry) for entry in output.entries]
        rows = np.empty((plan.rows, min(BLOCK, count)), dtype)
        steps = plan.bound(rows)
        with np.errstate(all="ignore"):
            for start in range(0, count, BLOCK):
                if start + BLOCK > count:
                    steps = plan.bound(rows[:, :count - start])
                run_block(steps, [x[start:start + BLOCK] for x in arrays],
                          [result[start:start + BLOCK] for result in results])
        return tuple(result.reshape(batch + output.shape)
                     for result, output in zip(results, program.outputs, strict=True))

    return call


def _known(program: Program, entry: Entry) -> float:
    """An entry that is constant; 0 for what is computed."""
    value = program.code[entry.index].value if entry.index >= 0 else entry.constant
    return 0.0 if value is None else value * (entry.sign or 1)


class _Plan:
    """Rows for values: a row is free for another value after the last use of the one it holds."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.rows = 0
        self.steps: list[Call] = []
        self.stores: list[list[tuple[int, int, int]]] = []
        self._assign()

    def _assign(self) -> None:
        program = self.program
        last = {x: i for i, (op, args, _) in enumerate(program.code) if op in UFUNCS for x in args}
        targets: dict[int, list[tuple[int, int, int]]] = {}
        for k, output in enumerate(program.outputs):
            for column, entry in enumerate(output.entries):
                if entry.index >= 0:
                    targets.setdefault(entry.index, []).append((k, column, entry.sign))
        place: dict[int, int | float] = {}
        free: list[int] = []
        for i, (op, args, value) in enumerate(program.code):
            if value is not None:
                place[i] = value
                continue
            arguments: tuple[Any, ...] = args
            if op in UFUNCS:
                arguments = tuple(place[x] for x in args)
                free += [int(place[x]) for x in dict.fromkeys(args)
                         if last[x] == i and program.code[x].op != "const"]
            if not free:
                free.append(self.rows)
                self.rows += 1
            row = place[i] = free.pop()
            self.steps.append((UFUNCS.get(op), arguments, int(row)))
            self.stores.append(targets.get(i, []))
            if i not in last:
                free.append(row)

    def bound(self, rows: Floats) -> list[BoundCall]:
        """The steps on these rows, each with the places of the outputs that it fills."""
        lines = list(rows)
        return [
            (ufunc,
             arguments if ufunc is None
             else (*(lines[x] if isinstance(x, int) else x for x in arguments), lines[row]),
             lines[row], stores)
            for (ufunc, arguments, row), stores in zip(self.steps, self.stores, strict=True)
        ]


def run_block(steps: list[BoundCall], inputs: list[Floats], results: list[Floats]) -> None:
    """Run one block of states: inputs (states, size) to results (states, size)."""
    for ufunc, arguments, row, stores in steps:
        if ufunc is None:
            row[:] = inputs[arguments[0]][:, arguments[1]]
        else:
            ufunc(*arguments)
        for k, column, sign in stores:
            if sign > 0:
                results[k][:, column] = row
            else:
                np.negative(row, out=results[k][:, column])


def _batch(program: Program, inputs: tuple[Any, ...]) -> tuple[list[Floats], tuple[int, ...]]:
    """The inputs as (states, size), and the shape of the batch."""
    if len(inputs) != len(program.inputs):
        names = ", ".join(slot.name for slot in program.inputs)
        raise ArgumentError(f"{program.name} takes {names}; {len(inputs)} arguments were given")
    arrays, batches = [], []
    for slot, given in zip(program.inputs, inputs, strict=True):
        array = np.asarray(given)
        if array.dtype != np.float32:
            array = array.astype(np.float64)
        split = array.ndim - len(slot.shape)
        if split < 0 or array.shape[split:] != slot.shape:
            raise ArgumentError(
                f"{slot.name} of {program.name} has batch axes and then shape {slot.shape}, "
                f"not {array.shape}"
            )
        arrays.append(array)
        batches.append(array.shape[:split])
    try:
        batch = np.broadcast_shapes(*batches)
    except ValueError:
        raise ArgumentError(f"batches of {program.name} do not fit: {batches}") from None
    return [
        np.broadcast_to(array, batch + slot.shape).reshape(size(batch), size(slot.shape))
        for array, slot in zip(arrays, program.inputs, strict=True)
    ], batch
