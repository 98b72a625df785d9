"""Steps of a program as straight-line IR, whatever the width and wherever the numbers lie."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Protocol

from closedform.lowerings.native.ir import BYTES, OPERATIONS, Emitter, Lanes, literal
from closedform.lowerings.native.outputs import LaneRows
from closedform.lowerings.native.shuffles import (
    added_up,
    chosen,
    chosen_of_two,
    in_rows,
    of_width,
    side_by_side,
)
from closedform.lowerings.native.sincos import sincos_of_all
from closedform.lowerings.native.steps import Step
from closedform.program.program import SHUFFLES, Entry, Program

PACK = 7
"""Angles that scalar code takes in one register of eight (benchmarks/choices.py, first row).

Lane 0 stays empty where their number is odd: LLVM takes the number in it for the register itself,
and saves and reloads all eight lanes where one number would do."""
STRETCH, SHORT_STRETCH = 256, 64
"""Steps that LLVM may put in another order among themselves, in lanes and in scalar code. Over
thousands it lets too many values live at once (benchmarks/choices.py, second row)."""


EMPTY: Mapping[int, Sequence[int]] = MappingProxyType({})


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
                 scratch: str, places: Mapping[int, int], pack: int = PACK) -> None:
        self.program, self.e, self.memory = program, e, memory
        self.scratch, self.places, self.pack = scratch, places, pack
        self.values: dict[int, str] = {}
        self.emitters: dict[int, Emitter] = {}
        self.widths = program.widths if e.lanes.width == 1 else [e.lanes.width] * len(program.code)
        self.signed: dict[int, dict[tuple[float, ...], str]] = {}
        self.constants: dict[tuple[int, int], str] = {}

    def run(self, steps: Sequence[Step], between: Sequence[Callable[[], None]] = (),
            leaving: Mapping[int, Sequence[int]] = EMPTY) -> None:
        """Write the steps, and things to be done `between` them, evenly spread.

        Values that are `leaving` after a step are read again where they are used later.
        """
        done, stretch = 0, SHORT_STRETCH if self.e.lanes.width == 1 else STRETCH
        for k, step in enumerate(steps):
            if k and k % stretch == 0:
                self.e.function.keep_order()
            while done * len(steps) < k * len(between):
                between[done]()
                done += 1
            if step.op == "write":
                self._write(step)
            elif step.rows is not None:
                self._write_rows(step.array, step.rows)
            elif step.op == "fill":
                count = len(self.program.outputs[step.array].entries)
                self.memory.fill(step.array, count, step.fill)
            else:
                self._compute(step)
            for place in leaving.get(k, ()):
                self.values.pop(place, None)
                self.signed.pop(place, None)

    def _compute(self, step: Step) -> None:
        if step.op == "read":
            results = (self.memory.read(step.array, step.entry, len(step.results))
                       if step.entry >= 0 else [self._read_lanes(*step.results)])
        elif step.op == "sincos":
            results = self._sincos(step.args)
        elif step.op in SHUFFLES:
            results = [self._shuffled(*step.results)]
        else:
            e = self.emitter(step.results[0])
            args = [self.value(i, e) for i in step.args]
            results = [OPERATIONS[step.op](e, *args) if step.op in OPERATIONS
                       else e.library(step.op, *args)]
        for place, value in zip(step.results, results, strict=True):
            self.values[place] = value
            if place in self.places:
                self.emitter(place).store(value, self._where(place))

    def emitter(self, place: int) -> Emitter:
        """What writes registers of a value's width."""
        width = self.widths[place]
        if width not in self.emitters:
            self.emitters[width] = of_width(self.e, width)
        return self.emitters[width]

    def value(self, place: int, user: Emitter | None = None) -> str:
        """A value computed here, waiting in the scratch memory, or constant in a user's lanes."""
        op, _, value = self.program.code[place]
        if op == "const":
            e = user or self.e
            key = place, e.lanes.width
            if key not in self.constants:
                self.constants[key] = e.number(value)
            return self.constants[key]
        if place not in self.values:
            e = self.emitter(place)
            self.values[place] = (
                e.numbers(value) if op == "lanes"
                else self._read_lanes(place) if place not in self.places
                else e.load(self._where(place)))
        return self.values[place]

    def _where(self, place: int) -> str:
        """Where a value waits."""
        return self.e.function.near(self.scratch, self.places[place])

    def _read_lanes(self, place: int) -> str:
        """Entries of an input in the lanes of one register."""
        array, *entries = self.program.code[place].args
        e, made = self.emitter(place), "poison"
        if len(entries) == 1:
            return self.memory.read(array, entries[0], 1)[0]
        if entries == list(range(entries[0], entries[0] + len(entries))):
            where = self.e.function.near(f"%in{array}", entries[0] * self.e.lanes.bytes)
            return e.load(where, align=self.e.lanes.bytes)
        for lane, entry in enumerate(entries):
            x, = self.memory.read(array, entry, 1)
            made = e.function.let(
                f"insertelement {e.lanes.type} {made}, {e.lanes.kind} {x}, i32 {lane}")
        return made

    def _shuffled(self, place: int) -> str:
        op, (x, *others), lanes = self.program.code[place]
        if others:
            y = others[0]
            return chosen_of_two(self.emitter(x), self.value(x), self.emitter(y), self.value(y),
                                 lanes)
        return (chosen if op == "spread" else added_up)(self.emitter(x), self.value(x), lanes)

    def _write(self, step: Step) -> None:
        entries = self.program.outputs[step.array].entries[step.entry:step.entry + len(step.args)]
        values = []
        for entry in entries:
            if entry.index < 0:
                values.append(literal(self.e.lanes, [entry.constant] * self.e.lanes.width))
            else:
                values.append(self._entry(entry))
        self.memory.write(step.array, step.entry, values, all(e.index < 0 for e in entries))

    def _write_rows(self, array: int, rows: LaneRows) -> None:
        """Neighbours of several lanes, in each lane one behind the other."""
        e, columns = self.emitter(max(rows.values)), []
        for place, signs in zip(rows.values, rows.signs, strict=True):
            columns.append(self._signed(e, place, signs) if place >= 0 else e.numbers(signs))
        made, bytes_ = in_rows(e, columns), BYTES[e.lanes.kind]
        one = of_width(e, len(columns))
        for lane, start in rows.rows:
            one.store(made[lane], f"%out{array}", start * bytes_, bytes_)

    def _signed(self, e: Emitter, place: int, signs: tuple[float, ...]) -> str:
        """A value with a sign in each lane."""
        if min(signs) > 0:
            return self.value(place)
        known = self.signed.setdefault(place, {})
        if signs not in known:
            x = self.value(place)
            known[signs] = e.negate(x) if max(signs) < 0 else e.binary("fmul", x, e.numbers(signs))
        return known[signs]

    def _entry(self, entry: Entry) -> str:
        """A lane of a value, or its opposite."""
        e, value = self.emitter(entry.index), self.value(entry.index)
        if entry.sign < 0:
            value = self._signed(e, entry.index, (-1,) * e.lanes.width)
        return value if e.lanes.width == self.e.lanes.width else chosen(e, value, (entry.lane,))

    def _sincos(self, places: Sequence[int]) -> list[str]:
        angles = [self.value(i) for i in places]
        if self.e.lanes.width > 1:
            pairs = sincos_of_all([self.e] * len(angles), angles)
            return [value for pair in pairs for value in pair]
        found: dict[int, Sequence[str]] = {}
        for width in sorted({self.widths[i] for i in places}):
            mine = [i for i in places if self.widths[i] == width]
            values = [self.value(i) for i in mine]
            made = self._sincos_of_numbers(values) if width == 1 else self._sincos_of_limbs(
                of_width(self.e, width), values)
            found |= {i: made[2 * k:2 * k + 2] for k, i in enumerate(mine)}
        return [x for i in places for x in found[i]]

    def _sincos_of_limbs(self, e: Emitter, angles: Sequence[str]) -> list[str]:
        """Of registers of few lanes, several side by side in one that is as wide as a pack."""
        count = max(1, (self.pack + self.pack % 2) // e.lanes.width)
        groups = [list(angles[k:k + count]) for k in range(0, len(angles), count)]
        packs = []
        for group in groups:
            wide, row = e, [*group, *["zeroinitializer"] * (count - len(group))]
            while len(row) > 1:
                row = [side_by_side(wide, *row[k:k + 2]) for k in range(0, len(row), 2)]
                wide = of_width(e, 2 * wide.lanes.width)
            packs.append((wide, row[0]))
        results = sincos_of_all([wide for wide, _ in packs], [x for _, x in packs])
        values: list[str] = []
        for group, (wide, _), pair in zip(groups, packs, results, strict=True):
            for k in range(len(group)):
                lanes = range(k * e.lanes.width, (k + 1) * e.lanes.width)
                values += [x if count == 1 else chosen(wide, x, lanes) for x in pair]
        return values

    def _sincos_of_numbers(self, angles: Sequence[str]) -> list[str]:
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
