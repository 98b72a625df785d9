"""Where the numbers of loops lie: what steps leave for others is in one block of memory.

It is kept by component: entry e of unit k of an array lies `e · pitch + k` numbers behind its
start, so that neighbouring units fill a register. Of a chain that is cut into runs (see `runs`) the
units that are as far behind the start of theirs are neighbours: unit k lies in place
`Runs.place(k)`. Arrays that are not needed at the same time share memory. Constants are laid out in
the same way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from closedform.lowerings.native.ir import Lanes, Module, number
from closedform.program.program import size
from closedform.program.sweeps import (
    ArrayAt,
    BlockLoop,
    BodyLoop,
    ColumnLoop,
    Order,
    PairLoop,
    Sweeps,
    UnitSweep,
    arrays_read,
    entries_read,
    programs_of,
)

LEAD = 8
"""Numbers in front of each array's first unit: the world's is the last of them."""
WIDEST = 16
"""Lanes of any register."""
NEAREST = 9000
"""Numbers up to which a chain is cut whose units some sweeps take one by one: neighbours lie in
other cache lines, which have to be fetched again where the nearest cache does not hold them all
(forward dynamics: of 130 joints it is faster cut, of 170 slower)."""


class Runs(NamedTuple):
    """A chain cut into as many runs of `length` neighbours as there are lanes; the last may have
    fewer, or none."""

    lanes: int
    length: int

    def place(self, k: int) -> int:
        """Where unit k lies; the world lies in front of all."""
        return k if k < 0 else k % self.length * self.lanes + k // self.length

    @classmethod
    def of(cls, of: Sweeps, lanes: int) -> Runs | None:
        """As many as there are lanes, if every loop is one over the units of a chain."""
        plain = {"", "p", "w"}
        fits = of.is_chain and of.n > lanes and any(
            isinstance(x, UnitSweep) and x.joined for x in of.loops) and all(
            isinstance(x, UnitSweep) and x.order is not Order.LISTED and (
                x.order is Order.ONCE or {*_endings(x)} <= plain) and _hands_all_on(x)
            for x in of.loops)
        fits = fits and all(of.places[x].record in (0, 1) for x in _outside(of)) and (
            _one_by_one(of) * of.n <= NEAREST)
        return cls(lanes, -(-of.n // lanes)) if fits else None


def _endings(loop: UnitSweep) -> set[str]:
    """Of the slots that a step reads, with those of lists that are not the units themselves."""
    units = {ending for ending, x in loop.at.items() if ending and x == tuple(range(len(x)))}
    return {ArrayAt.of(loop.step.inputs[a].name).at for a, _ in entries_read(loop.step)} - units


def _hands_all_on(loop: UnitSweep) -> bool:
    """Whether a sweep that may be cut reads of other units only what these hand on."""
    read = [ArrayAt.of(loop.step.inputs[a].name) for a, _ in entries_read(loop.step)]
    others = {x.array for x in read if x.at == "p" or loop.order is Order.INWARDS}
    return loop.joined is None or others <= {*loop.neutral}


def _one_by_one(of: Sweeps) -> int:
    """Entries a unit of what sweeps touch that cannot be cut."""
    names = {name for loop in of.loops if isinstance(loop, UnitSweep) and not loop.joined
             and loop.order in (Order.OUTWARDS, Order.INWARDS)
             for name in arrays_read(loop) | {ArrayAt.of(y.name).array for y in loop.step.outputs}}
    return sum(of.buffers.get(name, 0) for name in names)


def _outside(of: Sweeps) -> set[str]:
    """Inputs and outputs that loops have to do with."""
    found = {name for loop in of.loops for name in arrays_read(loop)}
    found |= {ArrayAt.of(y.name).array for loop in of.loops for x in programs_of(loop)
              for y in x.outputs}
    return found - {*of.buffers, *of.tables}


def _laid(of: Sweeps) -> frozenset[str]:
    """Vectors over the units that are read or written in lanes."""
    found = {name for loop in of.loops if isinstance(loop, UnitSweep) and (
        loop.order is Order.MAP or loop.joined) for name in (
            arrays_read(loop) | {ArrayAt.of(y.name).array for y in loop.step.outputs})}
    return frozenset(x for x in found & _outside(of) if of.places[x].record)


@dataclass(frozen=True)
class Arrangement:
    """Where everything of some sweeps lies, in numbers."""

    of: Sweeps
    pitch: Mapping[str, int]
    start: Mapping[str, int]        # of buffers in the block, of tables in the constants
    total: int                      # of the block
    lists: Mapping[tuple[int, ...], str]
    runs: Runs | None = None
    laid: frozenset[str] = frozenset()      # inputs and outputs that are laid into runs

    @classmethod
    def make(cls, of: Sweeps, lanes: int = 1) -> Arrangement:
        """`lanes`: of the registers that hold neighbours."""
        runs = Runs.of(of, lanes)
        filled = runs.lanes * runs.length if runs else of.n
        laid = _laid(of) if runs else frozenset()
        longest = max(filled, *(len(x) for loop in of.loops for x in _lists(loop)), 0)
        pitch = {name: _pitch(longest) for name in (*of.buffers, *laid)}
        pitch |= {name: _pitch(filled if len(table) == of.n else len(table))
                  for name, table in of.tables.items()}
        counts = {**of.buffers, **{name: entries_of(of, name) for name in laid}}
        sizes = {name: count * pitch[name] for name, count in counts.items()}
        places, total = _shared(sizes, _lives(of, laid))
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
        if runs:
            wanted += [tuple(map(runs.place, x)) for x in (range(of.n), of.parents)]
        return cls(of, pitch, start, total, {x: f"@list{k}" for k, x in
                                             enumerate(dict.fromkeys(wanted))}, runs, laid)

    def add_constants(self, module: Module, lanes: Lanes) -> None:
        """Tables and lists, as data of a module."""
        kind, parts = lanes.kind, []
        for name, table in self.of.tables.items():
            padded = np.zeros((table.shape[1], self.pitch[name]))
            at = [LEAD + self.place(k) if len(table) == self.of.n else LEAD + k
                  for k in range(len(table))]
            padded[:, at] = table.T
            parts.append(padded.ravel())
        values = np.concatenate([*parts, np.zeros(1)])
        text = ", ".join(f"{kind} {number(float(x), kind)}" for x in values)
        module.declarations[f"@tables = internal constant [{len(values)} x {kind}] [{text}], "
                            "align 64"] = None
        for whole, name in self.lists.items():
            text = ", ".join(f"i64 {x}" for x in whole)
            module.declarations[f"{name} = internal constant [{len(whole)} x i64] [{text}], "
                                "align 64"] = None

    def place(self, k: int) -> int:
        """Where unit k lies."""
        return self.runs.place(k) if self.runs else k

    def read_of_world(self, loop: UnitSweep) -> bool:
        """Whether what a sweep inwards leaves with the world is read."""
        left = {ArrayAt.of(y.name).array for y in loop.step.outputs}
        return any(ArrayAt.of(x.step.inputs[a].name).array in left for x in self.of.loops
                   if isinstance(x, UnitSweep) and x is not loop for a, _ in entries_read(x.step)
                   if x.order is Order.ONCE or ArrayAt.of(x.step.inputs[a].name).at == "w")

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


def _lives(of: Sweeps, laid: frozenset[str]) -> dict[str, tuple[int, int]]:
    """The first and the last loop that has to do with each buffer; inputs and outputs that are laid
    into runs live from before all loops to behind them."""
    lives = dict.fromkeys(sorted(laid), (-1, len(of.loops)))
    for k, loop in enumerate(of.loops):
        written = {ArrayAt.of(y.name).array for x in programs_of(loop) for y in x.outputs}
        for name in (arrays_read(loop) | written) & set(of.buffers):
            lives[name] = (lives.get(name, (k, k))[0], k)
    return lives


def entries_of(of: Sweeps, name: str) -> int:
    """Of an input or output, how many vectors over the units it is."""
    slots = {x.name: x for x in of.inputs} | {f"out{k}": x for k, x in enumerate(of.outputs)}
    return size(slots[name.rstrip()].shape) // of.n


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
