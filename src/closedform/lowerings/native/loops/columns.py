"""Solutions of M X = B, several columns at once: a sweep inwards and one outwards."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from closedform.lowerings.native.ir import BYTES, Emitter, Function, Lanes
from closedform.lowerings.native.loops.arrangement import Arrangement
from closedform.lowerings.native.loops.memory import UnitMemory, groups, listed, run, splat
from closedform.lowerings.native.loops.pairs import all_lanes, count
from closedform.program.program import Program
from closedform.program.sweeps import ArrayAt, ColumnLoop


@dataclass
class WideMemory(UnitMemory):
    """The memory of a step for several columns: wide arrays and a matrix, all else in all lanes."""

    wide: Mapping[str, int] = field(default_factory=dict)
    given: str = ""                      # b
    result: Callable[[str], None] = lambda x: None      # takes y

    def _read(self, array: int, entry: int) -> str:
        name = self.program.inputs[array].name
        place = ArrayAt.of(name)
        if name == "b":
            return self.given
        if place.array in self.wide:
            return self.e.load(self.wide_place(place, entry), align=BYTES[self.e.lanes.kind])
        one = Emitter(self.e.function, Lanes(self.e.lanes.kind, 1, self.e.lanes.fma))
        return splat(self.e, one.load(self.place(place, entry)))

    def write(self, array: int, entry: int, values: Sequence[str], constant: bool) -> None:
        name = self.program.outputs[array].name
        for k, x in enumerate(values):
            if name == "y":
                self.result(x)
            else:
                self.e.store(x, self.wide_place(ArrayAt.of(name), entry + k),
                             align=BYTES[self.e.lanes.kind])

    def wide_place(self, place: ArrayAt, entry: int) -> str:
        f, entries, bytes_ = self.e.function, self.wide[place.array], self.e.lanes.bytes
        k = f.let(f"add i64 {self.at[place.at]}, 1")
        shift = f.let(f"mul i64 {k}, {entries * bytes_}")
        start = self.layout.start[place.array] * BYTES[self.e.lanes.kind] + entry * bytes_
        return f.offset(f.offset("%block", shift), start)


def add_columns(f: Function, layout: Arrangement, loop: ColumnLoop, lanes: Lanes) -> None:
    """Groups of columns, in each the sweep inwards and the one outwards."""
    of, e, bytes_ = layout.of, Emitter(f, lanes), BYTES[lanes.kind]
    out = f"%{loop.output}"

    def entry(k: str, j: str) -> str:
        at = f.let(f"add i64 {f.let(f'mul i64 {k}, {of.n}')}, {j}")
        return f.let(f"getelementptr {lanes.kind}, ptr {out}, i64 {at}")

    def memory(program: Program, k: str, given: str, result: Callable[[str], None]) -> WideMemory:
        at = {"": k, "p": listed(f, layout, of.parents, k)}
        return WideMemory(layout, program, e, at, wide=loop.wide, given=given, result=result)

    def group(j: str, first: str) -> None:
        column = f.let(f"add <{lanes.width} x i64> {all_lanes(f, lanes, j)}, {count(lanes)}")
        new = f.let(f"icmp sge <{lanes.width} x i64> {column}, {all_lanes(f, lanes, first)}")

        def clear(k: str) -> None:
            whole = WideMemory(layout, loop.inwards, e, {"": f.let(f"sub i64 {k}, 1")},
                              wide=loop.wide)
            for name in ("F", "deltas"):
                for c in range(loop.wide[name]):
                    e.store("zeroinitializer", whole.wide_place(ArrayAt(name), c), align=bytes_)

        groups(f, of.n + 1, 1, clear)

        def inwards(i: str) -> None:
            k = f.let(f"sub i64 {of.n - 1}, {i}")
            if loop.unit:
                own = f.let(f"icmp eq <{lanes.width} x i64> {column}, {all_lanes(f, lanes, k)}")
                b = e.select(own, e.number(1.0), e.number(0.0))
            else:
                b = e.load(entry(k, j), align=bytes_)
            run(memory(loop.inwards, k, b, lambda x: None))

        groups(f, of.n, 1, inwards)

        def outwards(k: str) -> None:
            place = entry(k, j)

            def keep(x: str) -> None:
                old = x if loop.unit else e.select(new, x, e.load(place, align=bytes_))
                e.store(old, place, align=bytes_)

            run(memory(loop.outwards, k, "", keep))

        groups(f, of.n, 1, outwards)

    groups(f, of.n, lanes.width, group)
