"""Matrices with several columns for each body, which are zero unless it lies behind the row."""

from __future__ import annotations

from closedform.lowerings.native.ir import BYTES, Emitter, Function, Lanes
from closedform.lowerings.native.loops.arrangement import Arrangement
from closedform.lowerings.native.loops.memory import UnitMemory, groups, listed, run
from closedform.program.program import size
from closedform.program.sweeps import BlockLoop


def add_blocks(f: Function, layout: Arrangement, loop: BlockLoop, lanes: Lanes) -> None:
    """Row by row, body by body."""
    of, bytes_, one = layout.of, BYTES[lanes.kind], Emitter(f, Lanes(lanes.kind, 1, lanes.fma))
    width = size(loop.step.outputs[0].shape)
    columns = of.outputs[int(loop.output.removeprefix("out"))].shape[1]
    zero = one.number(0.0)

    def row(i: str) -> None:
        end = listed(f, layout, of.ends, i)
        first = f.let(f"mul i64 {i}, {columns}")
        start = f.let(f"getelementptr {lanes.kind}, ptr %{loop.output}, i64 {first}")

        def fill(c: str) -> None:
            one.store(zero, f.let(f"getelementptr {lanes.kind}, ptr {start}, i64 {c}"))

        def block(b: str) -> None:
            u = listed(f, layout, loop.units, b)
            behind = f.let(f"and i1 {f.let(f'icmp sge i64 {u}, {i}')}, "
                           f"{f.let(f'icmp slt i64 {u}, {end}')}")
            mark = f.name()[1:]
            f.line(f"br i1 {behind}, label %some.{mark}, label %none.{mark}")
            f.label(f"some.{mark}")
            memory = UnitMemory(layout, loop.step, one, {"i": i, "": b}, unstored=frozenset({0}))
            found = run(memory)
            at = f.let(f"mul i64 {b}, {width}")
            place = f.let(f"getelementptr {lanes.kind}, ptr {start}, i64 {at}")
            for (_, entry), x in found.items():
                one.store(x, place, entry * bytes_)
            f.line(f"br label %none.{mark}")
            f.label(f"none.{mark}")

        groups(f, columns, 1, fill)
        groups(f, len(loop.units), 1, block)

    groups(f, of.n, 1, row)
