"""Where the numbers of loops lie: what steps leave for others is in one block of memory.

It is kept by component: entry e of unit k of an array lies `e · pitch + k` numbers behind its
start, so that neighbouring units fill a register. Arrays that are not needed at the same time share
memory. Constants are laid out in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from closedform.lowerings.native.ir import Lanes, Module, number
from closedform.program.sweeps import (
    ArrayAt,
    BlockLoop,
    BodyLoop,
    ColumnLoop,
    PairLoop,
    Sweeps,
    UnitSweep,
    arrays_read,
    programs_of,
)

LEAD = 8
"""Numbers in front of each array's first unit: the world's is the last of them."""
WIDEST = 16
"""Lanes of any register."""


@dataclass(frozen=True)
class Arrangement:
    """Where everything of some sweeps lies, in numbers."""

    of: Sweeps
    pitch: Mapping[str, int]
    start: Mapping[str, int]        # of buffers in the block, of tables in the constants
    total: int                      # of the block
    lists: Mapping[tuple[int, ...], str]

    @classmethod
    def make(cls, of: Sweeps) -> Arrangement:
        longest = max(of.n, *(len(x) for loop in of.loops for x in _lists(loop)), 0)
        pitch = {name: _pitch(longest) for name in of.buffers}
        pitch |= {name: _pitch(len(table)) for name, table in of.tables.items()}
        sizes = {name: entries * pitch[name] for name, entries in of.buffers.items()}
        places, total = _shared(sizes, _lives(of))
        start = {name: place + LEAD for name, place in places.items()}
        wide = [loop.wide for loop in of.loops if isinstance(loop, ColumnLoop)]
        for name, entries in (wide[0] if wide else {}).items():     # of all columns in lanes
            start[name] = total
            total += (of.n + 1) * entries * WIDEST
        constants = 0
        for name, table in of.tables.items():
            start[name] = constants + LEAD
            constants += table.shape[1] * pitch[name]
        wanted = [of.parents, of.ends, of.lasts, *(x for loop in of.loops for x in _lists(loop))]
        return cls(of, pitch, start, total, {x: f"@list{k}" for k, x in
                                             enumerate(dict.fromkeys(wanted))})

    def add_constants(self, module: Module, lanes: Lanes) -> None:
        """Tables and lists, as data of a module."""
        kind, parts = lanes.kind, []
        for name, table in self.of.tables.items():
            padded = np.zeros((table.shape[1], self.pitch[name]))
            padded[:, LEAD:LEAD + len(table)] = table.T
            parts.append(padded.ravel())
        values = np.concatenate([*parts, np.zeros(1)])
        text = ", ".join(f"{kind} {number(float(x), kind)}" for x in values)
        module.declarations[f"@tables = internal constant [{len(values)} x {kind}] [{text}], "
                            "align 64"] = None
        for whole, name in self.lists.items():
            text = ", ".join(f"i64 {x}" for x in whole)
            module.declarations[f"{name} = internal constant [{len(whole)} x i64] [{text}], "
                                "align 64"] = None

    def read_later(self, k: int) -> set[str]:
        """Arrays that loops other than number k read."""
        return {name for m, loop in enumerate(self.of.loops) if m != k
                for name in arrays_read(loop)}


def _pitch(length: int) -> int:
    pitch = LEAD + -(-length // LEAD) * LEAD
    return pitch + (LEAD if (pitch // LEAD) % 2 == 0 else 0)   # not all in one set of a cache


def _lists(loop: BodyLoop) -> Iterator[tuple[int, ...]]:
    if isinstance(loop, PairLoop):
        yield from filter(None, [loop.rows])
    elif isinstance(loop, BlockLoop):
        yield loop.units
    elif isinstance(loop, UnitSweep):
        yield from loop.at.values()


def _lives(of: Sweeps) -> dict[str, tuple[int, int]]:
    """The first and the last loop that has to do with each buffer."""
    lives: dict[str, tuple[int, int]] = {}
    for k, loop in enumerate(of.loops):
        written = {ArrayAt.of(y.name).array for x in programs_of(loop) for y in x.outputs}
        for name in (arrays_read(loop) | written) & set(of.buffers):
            lives[name] = (lives.get(name, (k, k))[0], k)
    return lives


def _shared(sizes: Mapping[str, int], lives: Mapping[str, tuple[int, int]],
            ) -> tuple[dict[str, int], int]:
    """Places for arrays, the lowest that is free while they live; and the end of all."""
    places: dict[str, int] = {}
    for name in sorted(lives, key=lambda x: lives[x]):
        first, last = lives[name]
        at = 0
        for other in sorted(places, key=places.__getitem__):
            together = lives[other][1] >= first and lives[other][0] <= last
            if together and places[other] < at + sizes[name] and at < places[other] + sizes[other]:
                at = places[other] + sizes[other]
        places[name] = at
    return places, max((places[x] + sizes[x] for x in places), default=0)
