"""Tiles: the rows of a warp's 32 states, moved between global and shared memory by all its lanes.

Each lane moves 16 bytes at a time; the last bytes of a part of a tile go in words of 4. Rows too
long for that are written in segments, number by number, whatever their alignment.
"""

from __future__ import annotations

from typing import NamedTuple

from closedform.lowerings.cuda.plan import SEGMENT, WARP, GpuPlan
from closedform.lowerings.cuda.text import BYTES_OF, PtxText

VECTOR = 16
"""Bytes that a lane moves at once."""
ROUND = WARP * VECTOR


class Mover:
    """Moves tiles; `valid` is how many of the warp's states there are."""

    def __init__(self, text: PtxText, lane: str, pool: str, valid: str) -> None:
        self.text, self.lane, self.pool, self.valid = text, lane, pool, valid
        self.shift = text.let("r", "shl.b32", lane, "4")
        self.wide = text.let("q", "cvt.u64.u32", self.shift)

    @property
    def own(self) -> str:
        """The lane's row of an input; lanes beyond the last state repeat it."""
        last = self.text.let("r", "sub.u32", self.valid, "1")
        return self.text.let("r", "min.u32", self.lane, last)

    def load(self, source: str, offset: int, row: int) -> None:
        """The rows of the warp, `row` bytes each, into its shared memory from `offset` on."""
        text = self.text
        limit, start = self._limit(row), text.let("q", "add.u64", source, self.wide)
        target = text.let("r", "add.u32", self.pool, self.shift)
        moved = []
        for at in range(0, WARP * row, ROUND):
            words = "{" + ", ".join(text.new("r") for _ in range(4)) + "}"
            inside = self._inside(at, limit)
            text.line(f"@{inside} ld.global.nc.v4.b32 {words}, [{start}+{at}]")
            moved.append((inside, words, at))
        for inside, words, at in moved:
            text.line(f"@{inside} st.shared.v4.b32 [{target}+{offset + at}], {words}")
        self._rest(source, offset, limit, "load")

    def ask(self, source: str, place: str, offset: int, row: int) -> None:
        """The same without waiting; `place` is where the warp's buffer begins."""
        text = self.text
        limit, start = self._limit(row), text.let("q", "add.u64", source, self.wide)
        target = text.let("r", "add.u32", place, self.shift)
        for at in range(0, WARP * row, ROUND):
            text.line(f"@{self._inside(at, limit)} cp.async.cg.shared.global "
                      f"[{target}+{offset + at}], [{start}+{at}], {VECTOR}")
        self._rest(source, offset, limit, "ask", place)

    def store(self, target: str, offset: int, row: int) -> None:
        """Shared memory from `offset` on into the rows of the warp."""
        text = self.text
        limit, start = self._limit(row), text.let("q", "add.u64", target, self.wide)
        source = text.let("r", "add.u32", self.pool, self.shift)
        for at in range(0, WARP * row, ROUND):
            inside = self._inside(at, limit)
            words = "{" + ", ".join(text.new("r") for _ in range(4)) + "}"
            text.line(f"@{inside} ld.shared.v4.b32 {words}, [{source}+{offset + at}]")
            text.line(f"@{inside} st.global.v4.b32 [{start}+{at}], {words}")
        self._rest(target, offset, limit, "store")

    def _limit(self, row: int) -> str:
        return self.text.let("r", "mul.lo.u32", self.valid, str(row))

    def _inside(self, at: int, limit: str) -> str:
        end = self.text.let("r", "add.u32", self.shift, str(at + VECTOR))
        return self.text.let("p", "setp.le.u32", end, limit)

    def _rest(self, there: str, offset: int, limit: str, how: str, place: str = "") -> None:
        """Fewer than 16 bytes behind the last whole piece, by the first lanes."""
        text = self.text
        start = text.let("r", "and.b32", limit, str(-VECTOR & 0xFFFFFFFF))
        at = text.let("r", "mad.lo.u32", self.lane, "4", start)
        inside = text.let("p", "setp.lt.u32", at, limit)
        shared = f"[{text.let('r', 'add.u32', place or self.pool, at)}+{offset}]"
        distant = f"[{text.let('q', 'add.u64', there, text.let('q', 'cvt.u64.u32', at))}]"
        if how == "ask":
            text.line(f"@{inside} cp.async.ca.shared.global {shared}, {distant}, 4")
            return
        word = text.new("r")
        if how == "load":
            text.line(f"@{inside} ld.global.b32 {word}, {distant}")
            text.line(f"@{inside} st.shared.b32 {shared}, {word}")
        else:
            text.line(f"@{inside} ld.shared.b32 {word}, {shared}")
            text.line(f"@{inside} st.global.b32 {distant}, {word}")


# ---------------------------------------------------------------------- segments
TOGETHER = 8
"""Rows whose numbers are on their way at one time."""


class Rows(NamedTuple):
    """Where the lanes' numbers of the first row are, and the bytes from one row to the next."""

    start: str
    offset: int
    pitch: int


def segment_pitch(plan: GpuPlan) -> int:
    """Bytes between the rows of a segment in shared memory; one number more, for its banks."""
    return SEGMENT + plan.size


def segment_bytes(plan: GpuPlan) -> int:
    """Shared memory of a warp for the segment that it fills."""
    return -(-WARP * segment_pitch(plan) // VECTOR) * VECTOR if plan.segment else 0


class SegmentWriter:
    """Writes a segment of the rows of a warp; `valid` rows are there, 32 but for tiny batches."""

    def __init__(self, text: PtxText, lane: str, valid: str, type: str) -> None:
        self.text, self.lane, self.valid, self.type = text, lane, valid, type

    def write(self, here: Rows, there: Rows, entries: int) -> None:
        text = self.text
        mark = text.mark()
        text.line("bar.warp.sync -1")
        source, target, left = text.new("r"), text.new("q"), text.new("r")
        text.line(f"mov.u32 {source}, {here.start}")
        text.line(f"mov.u64 {target}, {there.start}")
        text.line(f"mov.u32 {left}, {self.valid}")
        guards = self._guards(entries)
        few = text.let("p", "setp.lt.u32", left, str(WARP))
        text.line(f"@{few} bra FEW{mark}")
        for label, rows in (("ALL", TOGETHER), ("FEW", 1)):
            if label == "FEW":
                text.line(f"bra WRITTEN{mark}")
            text.label(f"{label}{mark}")
            self._rows(here._replace(start=source), there._replace(start=target), guards, rows)
            text.line(f"add.u32 {source}, {source}, {rows * here.pitch}")
            text.line(f"add.u64 {target}, {target}, {rows * there.pitch}")
            text.line(f"sub.u32 {left}, {left}, {rows}")
            text.line(f"@{text.let('p', 'setp.ne.u32', left, '0')} bra {label}{mark}")
        text.label(f"WRITTEN{mark}")
        text.line("bar.warp.sync -1")

    def _guards(self, entries: int) -> list[str]:
        """For each number of a lane which lanes have it; nothing where all do."""
        found = []
        for first in range(0, entries, WARP):
            left = entries - first
            found.append("" if left >= WARP else
                         f"@{self.text.let('p', 'setp.lt.u32', self.lane, str(left))} ")
        return found

    def _rows(self, here: Rows, there: Rows, guards: list[str], rows: int) -> None:
        text, step = self.text, WARP * BYTES_OF[self.type]
        moved = []
        for r in range(rows):
            for k, guard in enumerate(guards):
                x = text.new("f")
                text.line(f"{guard}ld.shared.{self.type} {x}, "
                          f"[{here.start}+{here.offset + r * here.pitch + k * step}]")
                moved.append((guard, x, there.offset + r * there.pitch + k * step))
        for guard, x, at in moved:
            text.line(f"{guard}st.global.{self.type} [{there.start}+{at}], {x}")
