"""Loops run in plain Python, one unit and one operation after the other: what they mean.

Arrays hold a row for each unit, the last row is the world's. Every other lowering of loops is
compared with this one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from closedform.arrays import ArrayLike, Floats
from closedform.lowerings import reference
from closedform.program.program import Program, size
from closedform.program.sweeps import (
    ArrayAt,
    BlockLoop,
    BodyLoop,
    ColumnLoop,
    Order,
    PairLoop,
    Sweeps,
    UnitSweep,
)


def run(of: Sweeps, *inputs: ArrayLike) -> tuple[Floats, ...]:
    """The outputs for one state."""
    running = _Running(of, [np.asarray(x, dtype=float).ravel() for x in inputs])
    for loop in of.loops:
        running.run(loop)
    return tuple(x.reshape(slot.shape) for slot, x in zip(of.outputs, running.outputs, strict=True))


class _Running:
    """The memory of loops."""

    def __init__(self, of: Sweeps, inputs: list[Floats]) -> None:
        self.of = of
        longest = max(of.n, *(len(x) for loop in of.loops if isinstance(loop, UnitSweep)
                              for x in loop.at.values()), 0)
        self.buffers = {name: np.full((longest + 1, count), np.nan)
                        for name, count in of.buffers.items()}
        self.inputs = {slot.name: x for slot, x in zip(of.inputs, inputs, strict=True)}
        self.outputs = [np.full(size(slot.shape), np.nan) for slot in of.outputs]

    def run(self, loop: BodyLoop) -> None:
        if isinstance(loop, PairLoop):
            self._pairs(loop)
        elif isinstance(loop, BlockLoop):
            self._blocks(loop)
        elif isinstance(loop, ColumnLoop):
            self._columns(loop)
        else:
            self._sweep(loop)

    def _sweep(self, loop: UnitSweep) -> None:
        n, places = self.of.n, range(self.of.n)
        if loop.order is Order.ONCE:
            fixed = {ending: x[0] for ending, x in loop.at.items()}
            self._step(loop.step, {"": -1, **fixed})
        elif loop.order is Order.LISTED:
            for m in range(len(loop.at[""])):
                self._step(loop.step, {ending: x[m] for ending, x in loop.at.items()})
        else:
            for k in reversed(places) if loop.order is Order.INWARDS else range(n):
                there = {ending: x[k] for ending, x in loop.at.items()}
                self._step(loop.step, {**there, "": k, "p": self.of.parents[k]})

    def _pairs(self, loop: PairLoop) -> None:
        n, ends, lasts = self.of.n, self.of.ends, self.of.lasts
        for m, i in enumerate(loop.rows or range(n)):
            for j in range(n):
                before, behind = j <= lasts[i] and ends[j] > i, lasts[i] < j < ends[i]
                program = loop.before if before else loop.behind if behind else None
                found = self._values(program, {"": j, "i": i, "u": m}) if program else None
                for k, y in enumerate(loop.before.outputs):
                    for entry in range(size(y.shape)):
                        value = found[k].ravel()[entry] if found else 0.0
                        self._output(y.name)[(m * size(y.shape) + entry) * n + j] = value
        for name, table in loop.diagonal.items():
            for k in range(n):
                self._output(name)[k * n + k] += self._read(ArrayAt(table), 0, {"": k})

    def _blocks(self, loop: BlockLoop) -> None:
        out = self._output(loop.output)
        rows, width = out.reshape(self.of.n, -1), size(loop.step.outputs[0].shape)
        rows[...] = 0.0
        for i, end in enumerate(self.of.ends):
            for b, u in enumerate(loop.units):
                if i <= u < end:
                    rows[i, width * b:width * (b + 1)] = self._values(
                        loop.step, {"i": i, "": b})[0].ravel()

    def _columns(self, loop: ColumnLoop) -> None:
        n = self.of.n
        matrix = self._output(loop.output).reshape(n, n)
        for j in range(n):
            for name, count in loop.wide.items():
                self.buffers[name] = np.zeros((n + 1, count))
            for k in reversed(range(n)):
                b = float(k == j) if loop.unit else matrix[k, j]
                self._step(loop.inwards, {"": k, "p": self.of.parents[k]}, {"b": b})
            for k in range(n):
                at = {"": k, "p": self.of.parents[k]}
                matrix[k, j] = self._step(loop.outwards, at)["y"].ravel()[0]

    def _step(self, program: Program, at: Mapping[str, int],
              given: Mapping[str, float] | None = None) -> dict[str, Any]:
        """A step, its results in memory and by name."""
        found = self._values(program, at, given)
        for y, x in zip(program.outputs, found, strict=True):
            place = ArrayAt.of(y.name)
            for entry, value in enumerate(x.ravel()):
                if place.array in self.buffers:
                    self.buffers[place.array][at[place.at], entry] = value
                elif place.array.startswith("out"):
                    record, pitch = self.of.places[place.array]
                    out = self._output(place.array)
                    out[at[place.at] * record + entry * pitch] = value
        return dict(zip((y.name for y in program.outputs), found, strict=True))

    def _values(self, program: Program, at: Mapping[str, int],
                given: Mapping[str, float] | None = None) -> tuple[Floats, ...]:
        at = {"w": -1, **at}
        arrays = []
        for slot in program.inputs:
            place = ArrayAt.of(slot.name)
            known = (given or {}).get(slot.name)
            arrays.append(np.reshape([self._read(place, entry, at) if known is None else known
                                      for entry in range(size(slot.shape))], slot.shape))
        return reference.run(program, *arrays)

    def _read(self, place: ArrayAt, entry: int, at: Mapping[str, int]) -> float:
        array, k = place.array, at.get(place.at, 0)
        if array in self.buffers:
            return float(self.buffers[array][k, entry])
        if array in self.of.tables:
            return float(self.of.tables[array][k, entry])
        if array.rstrip() not in self.inputs and not array.startswith("out"):
            return 0.0                                  # a constant of the step, not read
        record, pitch = self.of.places[array]
        whole = self._output(array) if array.startswith("out") else self.inputs[array.rstrip()]
        return float(whole[k * record + entry * pitch])

    def _output(self, name: str) -> Floats:
        return self.outputs[int(name.removeprefix("out"))]
