"""Which entries of an output are written together.

Jacobians and regressors of trees are mostly zero. Such an output is filled with its most frequent
constant by a loop, state after state, before anything is computed, and the other entries are
written over it: code and its compilation then grow with the number of values, and memory is walked
through in order (benchmarks/choices.py, fourth row).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from closedform.program.program import Entry

LARGE = 64
"""Outputs with fewer entries are not filled."""
MOSTLY = 0.7
"""Outputs are filled if this part of their entries is the same constant."""
CONSTANTS = 8
"""Constants that scalar code writes at once."""


class OutputBlock(NamedTuple):
    """Entries start to stop; with `fill`, all of them get one constant."""

    start: int
    stop: int
    fill: float | None = None


def output_blocks(entries: Sequence[Entry], columns: int) -> Iterator[OutputBlock]:
    """A fill or none, then blocks of up to `columns` entries for what is not filled."""
    constants = [e.constant.hex() if e.index < 0 else "" for e in entries]
    filler, count = Counter(constants).most_common(1)[0] if constants else ("", 0)
    if not filler or len(entries) < LARGE or count < MOSTLY * len(entries):
        filler = "none"
    else:
        yield OutputBlock(0, len(entries), float.fromhex(filler))
    start = 0
    while start < len(entries):
        if constants[start] == filler:
            start += 1
            continue
        stop = min(start + columns, len(entries))
        if columns == 1 and constants[start]:
            while (stop < min(start + CONSTANTS, len(entries))
                   and constants[stop] not in ("", filler)):
                stop += 1
        yield OutputBlock(start, stop)
        start = stop
