"""Matrices of pairs of units, row by row, with the columns in lanes."""

from __future__ import annotations

from collections.abc import Mapping

from closedform.lowerings.native.ir import BYTES, Emitter, Function, Lanes
from closedform.lowerings.native.loops.arrangement import Arrangement
from closedform.lowerings.native.loops.memory import EntryValues, UnitMemory, groups, listed, run
from closedform.program.program import Program, size
from closedform.program.sweeps import ArrayAt, PairLoop, entries_read


def add_pairs(f: Function, layout: Arrangement, loop: PairLoop, lanes: Lanes) -> None:
    """A group of columns has entries before the row, behind it, both or none."""
    of, bytes_ = layout.of, BYTES[lanes.kind]
    e, where = Emitter(f, lanes), {y.name: f"%{y.name}" for y in loop.before.outputs}
    rows = loop.rows or tuple(range(of.n))

    def row(m: str) -> None:
        i = listed(f, layout, rows, m)
        last, end = listed(f, layout, of.lasts, i), listed(f, layout, of.ends, i)
        known = [_row_values(layout, x, e, i, m) for x in (loop.before, loop.behind) if x]
        after = f.let(f"add i64 {last}, 1")

        def group(j: str, _: str) -> None:
            low = _part(layout, loop.before, e, j, known[0], f.let(f"icmp slt i64 {j}, {after}"))
            before, behind = _masks(f, layout, lanes, i, j, (after, end))
            high: EntryValues = {}
            if loop.behind is not None:
                stop = f.let(f"add i64 {j}, {lanes.width}")
                reached = f.let(f"icmp sgt i64 {stop}, {after}")
                begun = f.let(f"icmp slt i64 {j}, {end}")
                high = _part(layout, loop.behind, e, j, known[1],
                             f.let(f"and i1 {reached}, {begun}"))
            for k, y in enumerate(loop.before.outputs):
                first = f.let(f"mul i64 {m}, {of.n * size(y.shape)}")
                for entry in range(size(y.shape)):
                    x = e.select(before, low[k, entry], "zeroinitializer")
                    x = e.select(behind, high[k, entry], x) if high else x
                    at = f.let(f"add i64 {first}, {j}")
                    place = f.let(f"getelementptr {lanes.kind}, ptr {where[y.name]}, i64 {at}")
                    e.store(x, f.offset(place, entry * of.n * bytes_), align=bytes_)

        groups(f, of.n, lanes.width, group)
        one = Emitter(f, Lanes(lanes.kind, 1, lanes.fma))
        for name, table in loop.diagonal.items():
            at = f.let(f"mul i64 {m}, {of.n + 1}")
            place = f.let(f"getelementptr {lanes.kind}, ptr {where[name]}, i64 {at}")
            more = one.load(UnitMemory(layout, loop.before, one, {"": m}).place(ArrayAt(table), 0))
            one.store(one.binary("fadd", one.load(place), more), place)

    groups(f, len(rows), 1, row)


def _row_values(layout: Arrangement, program: Program, e: Emitter, i: str, m: str) -> EntryValues:
    """What a step needs of row i, the entry m of the list of rows, in all lanes."""
    memory = UnitMemory(layout, program, e, {"i": i, "u": m, "w": "-1"})
    used = entries_read(program)
    return {(a, k): memory.read(a, k, 1)[0] for a, slot in enumerate(program.inputs)
            if ArrayAt.of(slot.name).at for k in range(size(slot.shape)) if (a, k) in used}


def _part(layout: Arrangement, program: Program, e: Emitter, j: str,
          known: Mapping[tuple[int, int], str], needed: str) -> EntryValues:
    """The outputs of a step where it is needed, else anything."""
    f, t = e.function, e.lanes.type
    mark, before = f.name()[1:], f.block
    f.line(f"br i1 {needed}, label %part.{mark}, label %join.{mark}")
    f.label(f"part.{mark}")
    all_ = frozenset(range(len(program.outputs)))
    found = run(UnitMemory(layout, program, e, {"": j}, known, unstored=all_))
    f.line(f"br label %join.{mark}")
    f.label(f"join.{mark}")
    return {key: f.let(f"phi {t} [ zeroinitializer, %{before} ], [ {x}, %part.{mark} ]")
            for key, x in found.items()}


def _masks(f: Function, layout: Arrangement, lanes: Lanes, i: str, j: str,
           limits: tuple[str, str]) -> tuple[str, str]:
    """Which of the columns from j on lie before row i or in its joint, and which behind it."""
    whole, mask = f"<{lanes.width} x i64>", f"<{lanes.width} x i1>"
    column = f.let(f"add {whole} {all_lanes(f, lanes, j)}, {count(lanes)}")
    row, after, last = (all_lanes(f, lanes, x) for x in (i, *limits))
    at = f.let(f"getelementptr i64, ptr {layout.lists[layout.of.ends]}, i64 {j}")
    ends = f.let(f"load {whole}, ptr {at}, align 8")
    before = f.let(f"and {mask} {f.let(f'icmp slt {whole} {column}, {after}')}, "
                   f"{f.let(f'icmp sgt {whole} {ends}, {row}')}")
    behind = f.let(f"and {mask} {f.let(f'icmp sge {whole} {column}, {after}')}, "
                   f"{f.let(f'icmp slt {whole} {column}, {last}')}")
    return before, behind


def count(lanes: Lanes) -> str:
    return "<" + ", ".join(f"i64 {k}" for k in range(lanes.width)) + ">"


def all_lanes(f: Function, lanes: Lanes, x: str) -> str:
    whole = f"<{lanes.width} x i64>"
    first = f.let(f"insertelement {whole} poison, i64 {x}, i32 0")
    return f.let(f"shufflevector {whole} {first}, {whole} poison, "
                 f"<{lanes.width} x i32> zeroinitializer")
