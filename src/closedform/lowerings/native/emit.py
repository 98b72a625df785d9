"""Steps of a program as straight-line IR, whatever the width and wherever the numbers lie."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from closedform.lowerings.native.ir import OPERATIONS, Emitter, Lanes
from closedform.lowerings.native.sincos import sincos_of_all
from closedform.lowerings.native.steps import Step
from closedform.program.program import Program

PACK = 7
"""Angles that scalar code takes in one register of eight (benchmarks/choices.py, first row).

Lane 0 stays empty where their number is odd: LLVM takes the number in it for the register itself,
and saves and reloads all eight lanes where one number would do."""
STRETCH = 256
"""Steps that LLVM may put in another order among themselves. Over thousands it lets too many values
live at once (benchmarks/choices.py, second row)."""


class Memory(Protocol):
    """How inputs and outputs are reached: what differs between scalars, lanes and GPU threads."""

    def read(self, array: int, entry: int, count: int) -> Sequence[str]:
        """`count` entries of an input."""

    def write(self, array: int, entry: int, values: Sequence[str], constant: bool) -> None:
        """Consecutive entries of an output; `constant` when they are all literals."""

    def fill(self, array: int, count: int, constant: float) -> None:
        """A constant into all entries of an output, `LARGE` or more."""


class StepWriter:
    """Writes steps into a function, and remembers the names of their values."""

    def __init__(self, program: Program, e: Emitter, memory: Memory,
                 scratch: str, slots: Mapping[int, int], pack: int = PACK) -> None:
        self.program, self.e, self.memory = program, e, memory
        self.scratch, self.slots, self.pack = scratch, slots, pack
        self.values: dict[int, str] = {}

    def run(self, steps: Sequence[Step], between: Sequence[Callable[[], None]] = ()) -> None:
        """Write the steps, and things to be done `between` them, evenly spread."""
        done = 0
        for k, step in enumerate(steps):
            if k and k % STRETCH == 0:
                self.e.function.keep_order()
            while done * len(steps) < k * len(between):
                between[done]()
                done += 1
            if step.op == "write":
                self._write(step)
            elif step.op == "fill":
                count = len(self.program.outputs[step.array].entries)
                self.memory.fill(step.array, count, step.fill)
            else:
                self._compute(step)

    def _compute(self, step: Step) -> None:
        if step.op == "read":
            results = self.memory.read(step.array, step.entry, len(step.results))
        elif step.op == "sincos":
            results = self._sincos([self.value(i) for i in step.args])
        else:
            args = [self.value(i) for i in step.args]
            results = [OPERATIONS[step.op](self.e, *args) if step.op in OPERATIONS
                       else self.e.library(step.op, *args)]
        for place, value in zip(step.results, results, strict=True):
            self.values[place] = value
            if place in self.slots:
                self.e.store(value, self.scratch, self.slots[place] * self.e.lanes.bytes)

    def value(self, place: int) -> str:
        """A value computed here, waiting in the scratch memory, or constant."""
        if place not in self.values:
            constant = self.program.code[place].value
            self.values[place] = (
                self.e.number(constant) if constant is not None
                else self.e.load(self.scratch, self.slots[place] * self.e.lanes.bytes))
        return self.values[place]

    def _write(self, step: Step) -> None:
        entries = self.program.outputs[step.array].entries[step.entry:step.entry + len(step.args)]
        values = []
        for entry in entries:
            if entry.index < 0:
                values.append(self.e.number(entry.constant))
            else:
                value = self.value(entry.index)
                values.append(self.e.negate(value) if entry.sign < 0 else value)
        self.memory.write(step.array, step.entry, values, all(e.index < 0 for e in entries))

    def _sincos(self, angles: Sequence[str]) -> list[str]:
        if self.e.lanes.width > 1:
            pairs = sincos_of_all([self.e] * len(angles), angles)
            return [value for pair in pairs for value in pair]
        packs = [self._packed(angles[k:k + self.pack])
                 for k in range(0, len(angles), self.pack)]
        results = sincos_of_all([e for e, _ in packs], [x for _, x in packs])
        values: list[str] = []
        for k, ((e, _), (sines, cosines)) in enumerate(zip(packs, results, strict=True)):
            first = self.pack % 2
            for lane in range(first, first + min(self.pack, len(angles) - self.pack * k)):
                values += [self._lane(e, sines, lane), self._lane(e, cosines, lane)]
        return values

    def _packed(self, angles: Sequence[str]) -> tuple[Emitter, str]:
        """A register with the angles in its lanes, the first or the second on; or one angle."""
        kind, fma, first = self.e.lanes.kind, self.e.lanes.fma, self.pack % 2
        width = 1 << (len(angles) - 1 + first).bit_length() if len(angles) > 1 else 1
        e = Emitter(self.e.function, Lanes(kind, width, fma))
        if width == 1:
            return e, angles[0]
        register = "zeroinitializer"
        for lane, x in enumerate(angles, start=first):
            register = e.function.let(
                f"insertelement {e.lanes.type} {register}, {kind} {x}, i32 {lane}")
        return e, register

    @staticmethod
    def _lane(e: Emitter, register: str, lane: int) -> str:
        if e.lanes.width == 1:
            return register
        return e.function.let(f"extractelement {e.lanes.type} {register}, i32 {lane}")
