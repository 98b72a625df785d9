"""Which entries of an output are written together.

Jacobians and regressors of trees are mostly zero. Such an output is filled with its most frequent
constant by a loop, state after state, before anything is computed, and the other entries are
written over it: code and its compilation then grow with the number of values, and memory is walked
through in order (benchmarks/choices.py, fourth row).

Matrices of robots with limbs in lanes have, in each lane alike, rows of neighbouring values. Four
such values are transposed in registers and written a row at a time.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from closedform.program.program import Entry

LARGE = 64
"""Outputs with fewer entries are not filled."""
MOSTLY = 0.7
"""Outputs are filled if this part of their entries is the same constant."""
CONSTANTS = 8
"""Constants that scalar code writes at once."""
ROW = 4
"""Values of several lanes that are written in one row."""


class OutputBlock(NamedTuple):
    """Entries start to stop; with `fill`, all of them get one constant."""

    start: int
    stop: int
    fill: float | None = None


class LaneRows(NamedTuple):
    """Values of equally many lanes that are neighbours in an output, in each lane in a row.

    `signs` has the sign of each value in each lane, and of what is no value (place −1) the
    constants; `rows` the lanes that are written, and the entries where their rows begin.
    """

    values: tuple[int, ...]
    signs: tuple[tuple[float, ...], ...]
    rows: tuple[tuple[int, int], ...]

    @property
    def entries(self) -> set[int]:
        """What is written."""
        return {start + k for _, start in self.rows for k in range(len(self.values))}


def output_blocks(entries: Sequence[Entry], columns: int, done: Container[int] = (),
                  ) -> Iterator[OutputBlock]:
    """A fill or none, then blocks of up to `columns` entries for what is not filled or `done`."""
    constants = [e.constant.hex() if e.index < 0 else "" for e in entries]
    filler, count = Counter(constants).most_common(1)[0] if constants else ("", 0)
    if not filler or len(entries) < LARGE or count < MOSTLY * len(entries):
        filler = "none"
    else:
        yield OutputBlock(0, len(entries), float.fromhex(filler))
    start = 0
    while start < len(entries):
        if constants[start] == filler or start in done:
            start += 1
            continue
        stop = min(start + columns, len(entries))
        if columns == 1 and constants[start]:
            while (stop < min(start + CONSTANTS, len(entries))
                   and constants[stop] not in ("", filler) and stop not in done):
                stop += 1
        yield OutputBlock(start, stop)
        start = stop


def lane_rows(entries: Sequence[Entry], widths: Sequence[int]) -> Iterator[LaneRows]:
    """What of an output is written row by row, lane by lane; the rest is not named."""
    found: dict[tuple[int, ...], list[int]] = {}
    for start, stop in _runs(entries, widths):
        found.setdefault(tuple(e.index for e in entries[start:stop]), []).append(start)
    for values, places in found.items():
        width = widths[values[0]]
        for start, stop in _cut(len(values), width):
            if stop - start == ROW - 1:
                start, stop = _padded(entries, places, start, stop)
            yield from _by_signs(entries, [(at + start, at + stop) for at in places], width)


def _runs(entries: Sequence[Entry], widths: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Neighbours that are so in each of their lanes: where a run begins and ends."""
    beside: dict[tuple[int, int], set[int]] = defaultdict(set)
    pairs = list(pairwise(entries))
    for a, b in pairs:
        beside[a.index, b.index].add(a.lane)

    def goes_on(a: Entry, b: Entry) -> bool:
        return (a.lane == b.lane and min(a.index, b.index) >= 0
                and widths[a.index] == widths[b.index]
                and len(beside[a.index, b.index]) == widths[a.index])

    start = 0
    for k, e in enumerate(entries, start=1):
        if k == len(entries) or not goes_on(*pairs[k - 1]):
            if e.index >= 0 and widths[e.index] > 1 and k - start > 1:
                yield start, k
            start = k


def _cut(count: int, width: int) -> Iterator[tuple[int, int]]:
    """A run in fours and a pair; of wide registers three that are left take the one before."""
    whole = count - count % ROW
    yield from ((k, k + ROW) for k in range(0, whole, ROW))
    if count - whole == ROW - 1:
        yield (whole - 1 if whole and width >= ROW else whole), count
    elif count - whole > 1:
        yield whole, whole + 2


def _padded(entries: Sequence[Entry], places: Sequence[int], start: int, stop: int,
            ) -> tuple[int, int]:
    """Three values and the constant that follows or precedes them in all rows; or a pair."""
    for k, wider in ((stop, (start, stop + 1)), (start - 1, (start - 1, stop))):
        if all(0 <= at + k < len(entries) and entries[at + k].index < 0 for at in places):
            return wider
    return start, start + 2


def _by_signs(entries: Sequence[Entry], rows: Sequence[tuple[int, int]], width: int,
              ) -> Iterator[LaneRows]:
    """The rows as they are; those of one lane that differ in their signs apart."""
    groups: list[tuple[dict[int, tuple[float, ...]], list[tuple[int, int]]]] = []
    values: tuple[int, ...] = ()
    for start, stop in rows:
        row = entries[start:stop]
        lane = next(e.lane for e in row if e.index >= 0)
        values = tuple(e.index for e in row)
        signs = tuple(e.sign if e.index >= 0 else e.constant for e in row)
        for known, places in groups:
            if known.setdefault(lane, signs) == signs:
                places.append((lane, start))
                break
        else:
            groups.append(({lane: signs}, [(lane, start)]))
    for known, places in groups:
        other = next(iter(known.values()))
        columns = zip(*(known.get(lane, other) for lane in range(width)), strict=True)
        yield LaneRows(values, tuple(columns), tuple(places))
