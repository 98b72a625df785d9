"""A program run in plain Python, one state, one operation at a time: the definition of its meaning.

Every other lowering is compared with this one. A value is a tuple of its lanes, mostly one.
Arithmetic is IEEE's: NaN and infinity travel on.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from closedform.arrays import ArrayLike
from closedform.errors import ArgumentError
from closedform.program.ops import OPS
from closedform.program.program import NONE, Instruction, Program


def run(program: Program, *inputs: ArrayLike) -> tuple[npt.NDArray[np.float64], ...]:
    """The outputs of a program for one state, in the order of `program.outputs`."""
    arrays = _arguments(program, inputs)
    values: list[tuple[float, ...]] = []
    for instruction in program.code:
        values.append(_value(instruction, values, arrays))
    return tuple(
        np.array([e.sign * values[e.index][e.lane] if e.index >= 0 else e.constant
                  for e in entries], dtype=np.float64).reshape(shape)
        for _, shape, entries in program.outputs
    )


def _value(
    instruction: Instruction, values: list[tuple[float, ...]], arrays: list[list[float]],
) -> tuple[float, ...]:
    """The lanes of a value from those before it."""
    op, args, value = instruction
    if op == "input":
        return tuple([arrays[args[0]][k] for k in args[1:]])
    if op == "const":
        return (value,)
    if op == "lanes":
        return tuple(value)
    if op == "spread":
        row = [y for i in args for y in values[i]]
        return tuple([0.0 if k == NONE else row[k] for k in value])
    if op == "gather":
        x = values[args[0]]
        return tuple([sum([y for y, k in zip(x, value, strict=True) if k == lane])
                      for lane in range(max(value) + 1)])
    given = [values[i] for i in args]
    width = max(map(len, given))
    wide = [x * (width // len(x)) for x in given]          # a constant has all lanes equal
    return tuple([OPS[op].value(*numbers) for numbers in zip(*wide, strict=True)])


def _arguments(program: Program, inputs: tuple[Any, ...]) -> list[list[float]]:
    """The inputs as flat lists of floats."""
    if len(inputs) != len(program.inputs):
        names = ", ".join(slot.name for slot in program.inputs)
        raise ArgumentError(f"{program.name} takes {names}; {len(inputs)} arguments were given")
    flat = []
    for slot, given in zip(program.inputs, inputs, strict=True):
        array = np.asarray(given, dtype=np.float64)
        if array.shape != slot.shape:
            raise ArgumentError(f"{program.name}: {slot.name} must have the shape {slot.shape}, "
                                f"not {array.shape}")
        flat.append(array.ravel().tolist())
    return flat
