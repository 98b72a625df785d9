"""Tiles: the rows of a warp's 32 states, moved between global and shared memory by all its lanes.

Each lane moves 16 bytes at a time; the last bytes of a part of a tile go in words of 4. Rows too
long for that are written in segments, number by number, whatever their alignment.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from closedform.lowerings.cuda.plan import SECTOR, SEGMENT, WARP, GpuPlan
from closedform.lowerings.cuda.text import TYPES, PtxText

VECTOR = 16
"""Bytes that a lane moves at once."""
ROUND = WARP * VECTOR
HALF = WARP // 2
TOGETHER = 8
"""Vectors of a lane that are on their way at the same time."""


def vectors_out(text: PtxText, places: Iterable[tuple[str, str]], guard: str) -> None:
    """16 bytes a lane from shared to global memory, all on their way at the same time."""
    stores = []
    for here, there in places:
        words = "{" + ", ".join(text.new("r") for _ in range(4)) + "}"
        text.line(f"{guard}ld.shared.v4.b32 {words}, [{here}]")
        stores.append(f"{guard}st.global.v4.b32 [{there}], {words}")
    for line in stores:
        text.line(line)


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
        vectors_out(self.text, [(f"{source}+{offset + at}", f"{target}+{at}") for at in places],
                    guard)

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


def segment_pitch(plan: GpuPlan, row: int) -> int:
    """Bytes between the rows of a segment in shared memory.

    In front of each row is room for the end of the one before. What lies together in 16 bytes of
    global memory does so there too; and rows are apart by as few powers of two as that allows,
    which are the banks that threads share.
    """
    pitch = SEGMENT + 2 * (SECTOR - plan.size)
    pitch += (row - pitch) % VECTOR
    return pitch if row % VECTOR or pitch % (2 * VECTOR) else pitch + VECTOR


def segment_bytes(plan: GpuPlan, rows: Sequence[int]) -> int:
    """Shared memory of a warp for the segments of such rows, which it fills one by one."""
    return SECTOR + WARP * max(segment_pitch(plan, row) for row in rows) if rows else 0


@dataclass(frozen=True)
class SegmentWriter:
    """Writes segments of the rows of a warp, of which `valid` are there.

    Memory is slow where less than a sector is written, whatever the length of a row is. In each row
    the segment begins with the first sector, and ends with the numbers of the following segment
    that share its last one, which are staged once more; the sector in which a row begins and the
    one before ends is written with the row's first segment. A lane moves 16 bytes of every second
    row: 16 lanes one of the first 16 rows, the others one of the last. `pool` is where the segment
    is in shared memory; of `rows`, `row` bytes each, the first begins at that address.
    """

    text: PtxText
    plan: GpuPlan
    valid: str
    lane: str
    pool: str
    rows: str
    row: int

    @property
    def pitch(self) -> int:
        return segment_pitch(self.plan, self.row)

    def write(self, start: int) -> None:
        """The segment from a byte of the rows on."""
        text, mark = self.text, self.text.mark()
        text.together()
        if self.row < SECTOR:
            self._few(start, f"ROW{mark}")
            text.together()
            return
        few = text.let("p", "setp.lt.u32", self.valid, str(WARP))
        text.line(f"@{few} bra FEW{mark}")
        _Halves(self).write(start)
        text.label(f"WRITTEN{mark}")
        text.together()
        with text.apart():
            text.label(f"FEW{mark}")
            self._few(start, f"ROW{mark}")
            text.line(f"bra WRITTEN{mark}")

    def _few(self, start: int, label: str) -> None:
        """The segment itself, row by row."""
        text, size = self.text, self.plan.size
        place = text.let("r", "mul.lo.u32", self.lane, str(size))
        staged = text.let("r", "add.u32", self.pool, place)
        left, there = text.let("r", "mov.u32", self.valid), self.moved(self.rows, place)
        copies = [Copied(self.guard(place, str(end)) if end < WARP * size else "", staged, there,
                         at, start + at)
                  for at in range(0, SEGMENT, WARP * size) if (end := self.row - start - at) > 0]
        text.loop(label)
        self.copy(copies, (0,))
        text.line(f"add.u32 {staged}, {staged}, {self.pitch}")
        text.line(f"add.u64 {there}, {there}, {self.row}")
        text.line(f"sub.u32 {left}, {left}, 1")
        text.line(f"@{text.let('p', 'setp.ne.u32', left, '0')} bra {label}")

    def copy(self, copies: Sequence[Copied], among: Sequence[int]) -> None:
        """Numbers of several rows, on their way at the same time."""
        type, stores = TYPES[self.plan.kind], []
        for r in among:
            for guard, here, there, inside, outside in copies:
                x = self.text.new("f")
                self.text.line(f"{guard}ld.shared.{type} {x}, [{here}+{inside + r * self.pitch}]")
                stores.append(f"{guard}st.global.{type} [{there}+{outside + r * self.row}], {x}")
        for line in stores:
            self.text.line(line)

    def vectors(self, guard: str, here: str, there: str, start: int, among: Sequence[int]) -> None:
        """16 bytes a lane of several rows, on their way at the same time."""
        for group in (among[k:k + TOGETHER] for k in range(0, len(among), TOGETHER)):
            vectors_out(self.text, [(f"{here}+{r * self.pitch}", f"{there}+{start + r * self.row}")
                                    for r in group], guard)

    def moved(self, rows: str, place: str) -> str:
        return self.text.let("q", "add.s64", rows, self.text.let("q", "cvt.s64.s32", place))

    def guard(self, place: str, end: str) -> str:
        """Lanes in front of an end."""
        return f"@{self.text.let('p', 'setp.lt.s32', place, end)} "


class _Halves:
    """All 32 rows, the first and the last 16 side by side.

    Rows a `period` apart have their sectors at the same places, and go together. `chunk` are the 16
    bytes of a lane, `number` its place among 16 numbers; `pool` and `first` belong to its half, of
    which `upper` is the first one.
    """

    def __init__(self, writer: SegmentWriter) -> None:
        text, self.writer = writer.text, writer
        self.text, self.row, self.size = text, writer.row, writer.plan.size
        half = text.let("r", "shr.u32", writer.lane, "4")
        own = text.let("r", "and.b32", writer.lane, str(HALF - 1))
        self.upper = text.let("p", "setp.eq.u32", half, "0")
        self.chunk = text.let("r", "mul.lo.u32", own, str(VECTOR))
        self.number = text.let("r", "mul.lo.u32", own, str(self.size))
        self.first = text.let("q", "mad.wide.u32", half, str(HALF * self.row), writer.rows)
        self.pool = text.let("r", "mad.lo.u32", half, str(HALF * writer.pitch), writer.pool)
        self.period = min(SECTOR // math.gcd(SECTOR, self.row), HALF)

    def write(self, start: int) -> None:
        text, left = self.text, self.row - start
        low = text.let("r", "cvt.u32.u64", self.first)
        for k in range(self.period):
            begin = text.let("r", "add.u32", low, str(start + k * self.row))
            gap = text.let("r", "and.b32", text.let("r", "neg.s32", begin), str(SECTOR - 1))
            place = text.let("r", "add.u32", self.chunk, gap)
            among, guard = range(k, HALF, self.period), ""
            if left < SEGMENT + SECTOR:
                end = text.let("r", "sub.s32", str(left), gap)
                whole = text.let("r", "and.b32", end, str(-SECTOR & 0xFFFFFFFF))
                guard = self.writer.guard(self.chunk, whole)
                if k == (HALF - 1) % self.period:
                    self._last(gap, end, whole, start)
            self.writer.vectors(guard, text.let("r", "add.u32", self.pool, place),
                                self.writer.moved(self.first, place), start, among)
            if not start:
                self._between(gap, among)

    def _between(self, gap: str, among: Sequence[int]) -> None:
        """Sectors in which a row ends and the next begins; of the first row only its own numbers,
        should rows not begin with a sector."""
        text, writer = self.text, self.writer
        before = text.let("r", "and.b32", text.let("r", "neg.s32", gap), str(SECTOR - 1))
        back = text.let("r", "sub.s32", self.chunk, before)
        here, there = text.let("r", "add.s32", self.pool, back), writer.moved(self.first, back)
        some = text.let("p", "setp.ne.u32", before, "0")
        end = text.let("r", "selp.b32", str(SECTOR), "0", some)
        if among[0] == 0:
            alone = text.let("r", "selp.b32", gap, "0", self.upper)
            writer.copy([Copied(writer.guard(self.number, alone),
                                text.let("r", "add.u32", self.pool, self.number),
                                writer.moved(self.first, self.number), 0, 0)], (0,))
            lower = text.let("r", "selp.b32", "0", end, self.upper)
            writer.vectors(writer.guard(self.chunk, lower), here, there, 0, (0,))
            among = among[1:]
        if among:
            writer.vectors(writer.guard(self.chunk, end), here, there, 0, among)

    def _last(self, gap: str, end: str, whole: str, start: int) -> None:
        """Numbers behind the last sector of the last row, if this segment has them."""
        text, never = self.text, str(-1 << 31)
        number = text.let("r", "add.s32", self.number, whole)
        inside = text.let("p", "setp.lt.u32", whole, str(SEGMENT))
        limit = text.let("r", "selp.b32", never, text.let(
            "r", "selp.b32", end, never, inside), self.upper)
        guard = self.writer.guard(number, limit)
        place = text.let("r", "add.s32", number, gap)
        self.writer.copy([Copied(guard, text.let("r", "add.s32", self.pool, place),
                                 self.writer.moved(self.first, place), 0, start)], (HALF - 1,))
