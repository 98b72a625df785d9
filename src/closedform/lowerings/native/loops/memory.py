"""The memory of a step: entries of arrays at some units, and results stored or handed on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from closedform.lowerings.native.emit import StepWriter
from closedform.lowerings.native.ir import BYTES, Emitter, Function, Lanes
from closedform.lowerings.native.loops.arrangement import Arrangement
from closedform.lowerings.native.steps import steps
from closedform.program.program import Program
from closedform.program.sweeps import ArrayAt

EntryValues = dict[tuple[int, int], str]
"""Entries of a program's inputs or outputs: array and entry."""


@dataclass
class UnitMemory:
    """Entries of arrays at the units `at`, which are numbers by the endings of slots."""

    layout: Arrangement
    program: Program
    e: Emitter
    at: Mapping[str, str]
    known: Mapping[tuple[int, int], str] = field(default_factory=dict)   # read before
    results: EntryValues = field(default_factory=dict)
    unstored: frozenset[int] = frozenset()          # outputs that are handed on alone
    own: tuple[str, ...] = ("", "g")                # endings of neighbours in the lanes' places
    units: Mapping[str, str] | None = None          # outside, where these are not the places

    def read(self, array: int, entry: int, count: int) -> Sequence[str]:
        return [self.known.get((array, entry + k)) or self._read(array, entry + k)
                for k in range(count)]

    def _read(self, array: int, entry: int) -> str:
        place = ArrayAt.of(self.program.inputs[array].name)
        where, e = self.place(place, entry), self.e
        everywhere = place.at not in self.own or not self._moves(place.array)
        if e.lanes.width > 1 and everywhere:
            one = Emitter(e.function, Lanes(e.lanes.kind, 1, e.lanes.fma))
            return splat(e, one.load(where))
        return e.load(where, align=BYTES[e.lanes.kind])

    def write(self, array: int, entry: int, values: Sequence[str], constant: bool) -> None:
        for k, x in enumerate(values):
            self.results[array, entry + k] = x
            if array not in self.unstored:
                place = ArrayAt.of(self.program.outputs[array].name)
                self.e.store(x, self.place(place, entry + k), align=BYTES[self.e.lanes.kind])

    def fill(self, array: int, count: int, constant: float) -> None:
        for k in range(count):
            self.write(array, k, [self.e.number(constant)], True)

    def _moves(self, array: str) -> bool:
        """Whether an array has entries for each unit."""
        places = self.layout.of.places
        return self._outside(array) is None or places[array].record > 0

    def _outside(self, array: str) -> str | None:
        """The pointer of an input or output; these are called out0, out1, …

        An input under a name with a space behind it has another place for each unit."""
        of = self.layout.of
        if array in of.buffers or array in of.tables or array in self.layout.laid:
            return None
        names = {slot.name: f"%in{k}" for k, slot in enumerate(of.inputs)}
        return names.get(array.rstrip(), f"%{array}")

    def place(self, place: ArrayAt, entry: int) -> str:
        of, f, bytes_ = self.layout.of, self.e.function, BYTES[self.e.lanes.kind]
        base = self._outside(place.array)
        if base is not None:
            record, pitch = of.places[place.array]
            if record:
                k = (self.units or self.at)[place.at]
                base = f.offset(base, f.let(f"mul i64 {k}, {record * bytes_}"))
            return f.offset(base, entry * pitch * bytes_)
        base = "@tables" if place.array in of.tables else "%block"
        first = f.let(f"getelementptr {self.e.lanes.kind}, ptr {base}, i64 {self.at[place.at]}")
        behind = self.layout.start[place.array] + entry * self.layout.pitch[place.array]
        return f.offset(first, behind * bytes_)


def splat(e: Emitter, x: str) -> str:
    """One number in all lanes."""
    if e.lanes.width == 1:
        return x
    t = e.lanes.type
    first = e.function.let(f"insertelement {t} poison, {e.lanes.kind} {x}, i32 0")
    return e.function.let(f"shufflevector {t} {first}, {t} poison, "
                          f"<{e.lanes.width} x i32> zeroinitializer")


def run(memory: UnitMemory) -> EntryValues:
    """A step; what comes of it."""
    program = memory.program
    StepWriter(program, memory.e, memory, "null", {}).run(
        steps(program, memory.e.lanes.fma, columns=1, held=len(memory.known)))
    return memory.results


def listed(f: Function, layout: Arrangement, numbers: tuple[int, ...], k: str) -> str:
    """Entry k of a list."""
    if numbers == tuple(range(len(numbers))):
        return k
    if numbers == tuple(range(-1, len(numbers) - 1)):
        return f.let(f"sub i64 {k}, 1")
    at = f.let(f"getelementptr i64, ptr {layout.lists[numbers]}, i64 {k}")
    return f.let(f"load i64, ptr {at}, align 8")


def groups(f: Function, n: int, width: int, body: Callable[..., object]) -> None:
    """body(k) for k = 0, width, …; the last one so that it ends at n ≥ width.

    With a width above 1 the body is also told where it would have begun.
    """
    def step(k: str, _: list[str]) -> list[str]:
        if width == 1:
            body(k)
        else:
            over = f.let(f"icmp sgt i64 {k}, {n - width}")
            body(f.let(f"select i1 {over}, i64 {n - width}, i64 {k}"), k)
        return []

    carried_groups(f, n, "", [], step, width)


def carried_groups(f: Function, n: int, type_: str, start: list[str],
                   body: Callable[[str, list[str]], list[str]], width: int = 1,
                   ) -> list[str]:
    """body(k, values) for k = 0, width, …, which gives the values for the next one; the last."""
    mark, before = f.name()[1:], f.block
    names = [f"%c{c}.{mark}" for c in range(len(start))]
    f.line(f"br label %loop.{mark}")
    f.label(f"loop.{mark}")
    f.line(f"%k.{mark} = phi i64 [ 0, %{before} ], [ %next.{mark}, %latch.{mark} ]")
    at = len(f.lines)
    found = body(f"%k.{mark}", names)
    f.lines[at:at] = [f"  {name} = phi {type_} [ {x}, %{before} ], [ {y}, %latch.{mark} ]"
                      for name, x, y in zip(names, start, found, strict=True)]
    f.line(f"br label %latch.{mark}")
    f.label(f"latch.{mark}")
    f.line(f"%next.{mark} = add i64 %k.{mark}, {width}")
    more = f.let(f"icmp slt i64 %next.{mark}, {n}")
    f.line(f"br i1 {more}, label %loop.{mark}, label %done.{mark}")
    f.label(f"done.{mark}")
    return found
