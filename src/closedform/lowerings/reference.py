"""A program run in plain Python, one state, one operation at a time: the definition of its meaning.

Every other lowering is compared with this one. Arithmetic is IEEE's: NaN and infinity travel on.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from closedform.arrays import ArrayLike
from closedform.errors import ArgumentError
from closedform.program.ops import OPS
from closedform.program.program import Program


def run(program: Program, *inputs: ArrayLike) -> tuple[npt.NDArray[np.float64], ...]:
    """The outputs of a program for one state, in the order of `program.outputs`."""
    arrays = _arguments(program, inputs)
    values: list[float] = []
    for op, args, value in program.code:
        if op == "input":
            values.append(arrays[args[0]][args[1]])
        elif value is not None:
            values.append(value)
        else:
            values.append(OPS[op].value(*[values[i] for i in args]))
    return tuple(
        np.array([e.sign * values[e.index] if e.index >= 0 else e.constant for e in entries],
                 dtype=np.float64).reshape(shape)
        for _, shape, entries in program.outputs
    )


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
