"""Which entries of an output are written together: blocks of values, and stretches of a constant.

Derivatives, Jacobians and regressors of trees are mostly zero. Long stretches of one constant are
filled by a loop before anything is computed, so that code and its compilation grow with the number
of values only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from closedform.program.program import Entry

STRETCH = 8
"""Fewer equal constants in a row are written with their neighbours."""
BRIDGE = 32
"""Stretches no further apart are filled as one; the values between them are written over it."""
CONSTANTS = 8
"""Constants that scalar code writes at once."""


class Block(NamedTuple):
    """Entries start to stop; with `fill`, all of them get the constant of the first."""

    start: int
    stop: int
    fill: bool = False


def blocks(entries: Sequence[Entry], columns: int) -> list[Block]:
    """Fills, then blocks of up to `columns` entries for all that is not filled."""
    fills = list(_fills(entries))
    filled = [False] * len(entries)
    for start, stop, _ in fills:
        constant = entries[start].constant.hex()
        filled[start:stop] = [_is(e, constant) for e in entries[start:stop]]
    return [*fills, *_rest(entries, filled, columns)]


def _is(entry: Entry, constant: str) -> bool:
    return entry.index < 0 and entry.constant.hex() == constant


def _fills(entries: Sequence[Entry]) -> Iterator[Block]:
    """Stretches of the most frequent constant, joined where they are near each other."""
    counts = Counter(e.constant.hex() for e in entries if e.index < 0)
    if not counts:
        return
    constant = counts.most_common(1)[0][0]
    joined: list[Block] = []
    start = 0
    while start < len(entries):
        stop = start
        while stop < len(entries) and _is(entries[stop], constant):
            stop += 1
        if stop - start >= STRETCH:
            if joined and start - joined[-1].stop <= BRIDGE:
                start = joined.pop().start
            joined.append(Block(start, stop, fill=True))
        start = stop + 1
    yield from joined


def _rest(entries: Sequence[Entry], filled: Sequence[bool], columns: int) -> Iterator[Block]:
    """Blocks that begin with the next entry that is not filled; constants may be among them."""
    start = 0
    while start < len(entries):
        if filled[start]:
            start += 1
            continue
        stop = min(start + columns, len(entries))
        if columns == 1 and entries[start].index < 0:
            while (stop < min(start + CONSTANTS, len(entries)) and not filled[stop]
                   and entries[stop].index < 0):
                stop += 1
        yield Block(start, stop)
        start = stop
