"""Tiles: the rows of a warp's 32 states, moved between global and shared memory by all its lanes.

Each lane moves 16 bytes at a time; the last bytes of a part of a tile go in words of 4. Rows too
long for that are written in segments, number by number, whatever their alignment.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from closedform.lowerings.cuda.plan import SECTOR, SEGMENT, WARP, GpuPlan
from closedform.lowerings.cuda.text import TYPES, PtxText

VECTOR = 16
"""Bytes that a lane moves at once."""
ROUND = WARP * VECTOR
TOGETHER = 8
"""Vectors of a lane that are on their way at the same time."""


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
        """Shared memory from `offset` on into the rows of the warp.

        Most warps have all their states: they ask no lane whether it is inside, and have several
        numbers on their way at the same time.
        """
        text, mark = self.text, self.text.mark()
        start = text.let("q", "add.u64", target, self.wide)
        source = text.let("r", "add.u32", self.pool, self.shift)
        few = text.let("p", "setp.lt.u32", self.valid, str(WARP))
        text.line(f"@{few} bra FEW{mark}")
        whole, rest = divmod(WARP * row, ROUND)
        places = [ROUND * k for k in range(whole)]
        for group in (places[k:k + TOGETHER] for k in range(0, whole, TOGETHER)):
            self._copy(source, start, group, offset)
        if rest:                                            # a multiple of 16 bytes, as 32 rows are
            inside = text.let("p", "setp.lt.u32", self.shift, str(rest))
            self._copy(source, start, [ROUND * whole], offset, f"@{inside} ")
        text.label(f"STORED{mark}")
        with text.apart():
            text.label(f"FEW{mark}")
            limit = self._limit(row)
            for at in range(0, WARP * row, ROUND):
                self._copy(source, start, [at], offset, f"@{self._inside(at, limit)} ")
            self._rest(target, offset, limit, "store")
            text.line(f"bra STORED{mark}")

    def _copy(self, source: str, target: str, places: Sequence[int], offset: int,
              guard: str = "") -> None:
        """16 bytes a lane at each of the places, from shared memory."""
        moved = []
        for at in places:
            words = "{" + ", ".join(self.text.new("r") for _ in range(4)) + "}"
            self.text.line(f"{guard}ld.shared.v4.b32 {words}, [{source}+{offset + at}]")
            moved.append(f"{guard}st.global.v4.b32 [{target}+{at}], {words}")
        for line in moved:
            self.text.line(line)

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
class Copied(NamedTuple):
    """A number from shared to global memory: two places with offsets, where a lane has it."""

    guard: str
    here: str
    there: str
    inside: int
    outside: int


def segment_pitch(plan: GpuPlan) -> int:
    """Bytes between the rows of a segment in shared memory, an odd number of numbers: its banks."""
    return SEGMENT + SECTOR - plan.size


def segment_bytes(plan: GpuPlan) -> int:
    """Shared memory of a warp for the segment that it fills."""
    return -(-WARP * segment_pitch(plan) // VECTOR) * VECTOR if plan.segment else 0


@dataclass(frozen=True)
class SegmentWriter:
    """Writes a segment of the rows of a warp, of which `valid` are there.

    Memory is written in whole sectors of 32 bytes, whatever the length of a row is: in each row the
    segment begins with the first sector, and ends with the numbers of the following segment that
    share its last one, which are staged once more. `place` is the lane's first number times its
    size, `staged` where that is in shared memory for the first row.
    """

    text: PtxText
    plan: GpuPlan
    valid: str
    place: str
    staged: str

    def write(self, rows: str, row: int, start: int) -> None:
        """The segment from a byte on of rows of so many bytes, of which the first is at `rows`."""
        text, mark = self.text, self.text.mark()
        text.together()
        few = text.let("p", "setp.lt.u32", self.valid, str(WARP))
        text.line(f"@{few} bra FEW{mark}")
        self._all(rows, row, start, f"ALL{mark}")
        text.label(f"WRITTEN{mark}")
        text.together()
        with text.apart():
            text.label(f"FEW{mark}")
            self._few(rows, row, start, f"ROW{mark}")
            text.line(f"bra WRITTEN{mark}")

    def _all(self, rows: str, row: int, start: int, label: str) -> None:
        """32 rows; those a period apart have their sectors at the same places, and go together."""
        text, size, pitch = self.text, self.plan.size, segment_pitch(self.plan)
        period = SECTOR // math.gcd(SECTOR, row)
        staged, first = text.let("r", "mov.u32", self.staged), text.let("q", "mov.u64", rows)
        count = text.let("r", "mov.u32", str(period))
        text.loop(label)
        low = text.let("r", "add.u32", text.let("r", "cvt.u32.u64", first), str(start))
        gap = text.let("r", "and.b32", text.let("r", "neg.s32", low), str(SECTOR - 1))
        place = text.let("r", "add.u32", self.place, gap)
        here, there = text.let("r", "add.u32", staged, gap), self._moved(first, place)
        copies = [Copied(self._guard(place, row - start - at), here, there, at, start + at)
                  for at in range(0, SEGMENT, WARP * size)]
        if not start:                                        # what is in front of the first sector
            head = text.let("r", "min.u32", gap, str(row))
            copies.append(Copied(f"@{text.let('p', 'setp.lt.u32', self.place, head)} ", staged,
                                 self._moved(first, self.place), 0, 0))
        self._copy(copies, range(0, WARP, period), row)
        text.line(f"add.u32 {staged}, {staged}, {pitch}")
        text.line(f"add.u64 {first}, {first}, {row}")
        text.line(f"sub.u32 {count}, {count}, 1")
        text.line(f"@{text.let('p', 'setp.ne.u32', count, '0')} bra {label}")

    def _copy(self, copies: Sequence[Copied], among: Sequence[int], row: int) -> None:
        """Numbers of several rows, on their way at the same time."""
        text, type, pitch = self.text, TYPES[self.plan.kind], segment_pitch(self.plan)
        stores = []
        for r in among:
            for guard, here, there, inside, outside in copies:
                x = text.new("f")
                text.line(f"{guard}ld.shared.{type} {x}, [{here}+{inside + r * pitch}]")
                stores.append(f"{guard}st.global.{type} [{there}+{outside + r * row}], {x}")
        for line in stores:
            text.line(line)

    def _moved(self, rows: str, place: str) -> str:
        return self.text.let("q", "add.u64", rows, self.text.let("q", "cvt.u64.u32", place))

    def _guard(self, place: str, end: int) -> str:
        """Lanes in front of an end; nothing where all are."""
        if end >= WARP * self.plan.size + SECTOR - self.plan.size:
            return ""
        return f"@{self.text.let('p', 'setp.lt.s32', place, str(end))} "

    def _few(self, rows: str, row: int, start: int, label: str) -> None:
        """The segment itself, row by row."""
        text, size = self.text, self.plan.size
        staged, left = text.let("r", "mov.u32", self.staged), text.let("r", "mov.u32", self.valid)
        there = self._moved(rows, self.place)
        copies = [Copied(self._guard(self.place, row - start - at), staged, there, at, start + at)
                  for at in range(0, SEGMENT, WARP * size)]
        text.loop(label)
        self._copy(copies, (0,), row)
        text.line(f"add.u32 {staged}, {staged}, {segment_pitch(self.plan)}")
        text.line(f"add.u64 {there}, {there}, {row}")
        text.line(f"sub.u32 {left}, {left}, 1")
        text.line(f"@{text.let('p', 'setp.ne.u32', left, '0')} bra {label}")
