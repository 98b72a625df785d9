"""Computations by loops: small programs that run for every unit of a tree, or every pair of them.

A straight-line program grows with the robot, its compile time too. Here a robot is tables, and the
code is a few steps, each recorded once:

    ONCE        for the world alone
    MAP         step(k) for all k, in any order: several at once in the lanes of a register
    OUTWARDS    step(k) from the root to the leaves; it may read what its parent has
    INWARDS     step(k) from the leaves to the root; it may add to what its parent has
    LISTED      step(m) for the places of a list, one after the other
    BlockLoop   several columns of row i for each body behind unit i
    PairLoop    entries (i, j) of matrices, row by row, the columns j in lanes
    ColumnLoop  matrices X of M X = B by both sweeps, for several columns at once in lanes

A step's inputs and outputs are named as the arrays that they are entries of: `V` is that of unit k,
`V_p` that of its parent, in pairs `S_i` belongs to the row and `S` to the column, and `R_u`, `q_s`
and `V_g` are at places that lists tell; `com_w` is the world's, number −1. Units are numbered so
that all behind one follow it: they are k, …, end(k) − 1. Those of one joint follow each other too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import NamedTuple

import numpy as np

from closedform.program.program import Operations, Program, Slot


class Order(Enum):
    """In which order a step is run for the units."""

    ONCE = "for the world alone"
    MAP = "for all units in any order"
    OUTWARDS = "root to leaf"
    INWARDS = "leaf to root"
    LISTED = "for the places of a list"


class ArrayAt(NamedTuple):
    """The array that a slot of a step belongs to, and whose entries: own, of the parent, row i."""

    array: str
    at: str = ""

    @classmethod
    def of(cls, slot: str) -> ArrayAt:
        name, _, at = slot.rpartition("_")
        return cls(name, at) if name and at in ("p", "i", "g", "u", "s", "w") else cls(slot)


class Strides(NamedTuple):
    """Where an input or output has its numbers: entry e of unit k is number k · record + e · pitch.

    A vector and a list of records have pitch 1; what is one for all has no record.
    """

    record: int
    pitch: int = 1


@dataclass(frozen=True, eq=False)
class UnitSweep:
    """A step for every unit; `at` has the places that its slots' endings stand for.

    A sweep in the order of the tree that may be cut has `joined`: what a run of units hands on that
    begins with X_p, from the X that it hands on where it begins with `neutral`. Of a sweep inwards
    X is what a run has added up. Both tell nothing new: they are for lowerings that take several
    runs of a chain at the same time.
    """

    step: Program
    order: Order
    at: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    joined: Program | None = None
    neutral: Mapping[str, tuple[float, ...]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class PairLoop:
    """Matrices: `before` gives the entries whose column lies on the way to the world from row i or
    belongs to its joint, `behind` those whose column lies behind it.

    All others are zero; a table of the name in `diagonal` is added to an output. There is a row for
    each unit, or for each of `rows`, which are numbers of units. A step may give several entries,
    which stand below each other.
    """

    before: Program
    behind: Program | None
    diagonal: Mapping[str, str] = field(default_factory=dict)
    rows: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class ColumnLoop:
    """An output whose columns j are each found by a sweep inwards and one outwards, in place.

    `inwards` takes b, the entry (k, j) of the output as it is, or of the unit matrix; `outwards`
    gives y in its place. The arrays in `wide` have entries for every column, none of the parents'
    before the first sweep.
    """

    inwards: Program
    outwards: Program
    output: str
    unit: bool
    wide: Mapping[str, int]


@dataclass(frozen=True, eq=False)
class BlockLoop:
    """A matrix whose row i has for each body behind unit i the entries of a step, side by side.

    `units` are those of the bodies. All other entries are zero.
    """

    step: Program
    units: tuple[int, ...]

    @property
    def output(self) -> str:
        return self.step.outputs[0].name


BodyLoop = UnitSweep | PairLoop | ColumnLoop | BlockLoop


@dataclass(frozen=True, eq=False)
class Sweeps:
    """What computes outputs of inputs by loops over n units.

    `places` tells where inputs and outputs have what; outputs of `PairLoop` are matrices. `tables`
    are constants, (n, entries) each; `buffers` are entries a unit of what steps write. `lasts` is
    the last unit of each unit's joint. `one_state`: batches are better computed in a line.
    """

    name: str
    inputs: tuple[Slot, ...]
    outputs: tuple[Slot, ...]
    places: Mapping[str, Strides]
    parents: tuple[int, ...]
    lasts: tuple[int, ...]
    tables: Mapping[str, np.ndarray]
    buffers: Mapping[str, int]
    loops: tuple[BodyLoop, ...]
    one_state: bool = False

    @property
    def n(self) -> int:
        return len(self.parents)

    @cached_property
    def ends(self) -> tuple[int, ...]:
        """One more than the last body behind each."""
        ends = list(range(1, self.n + 1))
        for k in reversed(range(self.n)):
            if self.parents[k] >= 0:
                ends[self.parents[k]] = max(ends[self.parents[k]], ends[k])
        return tuple(ends)

    @property
    def is_chain(self) -> bool:
        return self.parents == tuple(range(-1, self.n - 1))

    @cached_property
    def operations(self) -> Operations:
        """The count of operations of all loops."""
        total = np.zeros(len(Operations._fields), dtype=int)
        for loop in self.loops:
            for program, runs in self.runs(loop):
                total += runs * np.array(program.operations)
        return Operations(*map(int, total))

    def runs(self, loop: BodyLoop) -> list[tuple[Program, int]]:
        """The steps of a loop and how often they are needed."""
        if isinstance(loop, PairLoop):
            rows = loop.rows or range(self.n)
            depth = [0] * self.n
            for k, p in enumerate(self.parents):
                depth[k] = 1 + (depth[p] if p >= 0 else 0)
            found = [(loop.before, sum(depth[i] for i in rows if i >= 0))]
            if loop.behind is not None:
                found.append((loop.behind, sum(self.ends[i] - i - 1 for i in rows if i >= 0)))
            return found
        if isinstance(loop, ColumnLoop):
            return [(loop.inwards, self.n**2), (loop.outwards, self.n**2)]
        if isinstance(loop, BlockLoop):
            return [(loop.step, sum(k <= u < end for u in loop.units
                                    for k, end in enumerate(self.ends)))]
        count = {Order.ONCE: 1, Order.LISTED: len(loop.at.get("", ()))}
        return [(loop.step, count.get(loop.order, self.n))]

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the content."""
        text = hashlib.sha256(repr((
            "closedform sweeps 2", self.name, self.inputs, self.outputs, dict(self.places),
            self.parents, self.lasts, dict(self.buffers), list(self.tables))).encode())
        for table in self.tables.values():
            text.update(np.ascontiguousarray(table).tobytes())
        for loop in self.loops:
            parts = vars(loop).values()
            text.update(repr([x.digest if isinstance(x, Program) else x for x in parts]).encode())
        return text.hexdigest()


def follow_each_other(parents: tuple[int, ...]) -> bool:
    """Whether all behind a body follow it at once, as `Sweeps` has them."""
    way: list[int] = [-1]
    for k, p in enumerate(parents):
        while way and way[-1] != p:
            way.pop()
        if not way:
            return False
        way.append(k)
    return True


def programs_of(loop: BodyLoop) -> list[Program]:
    """The steps of a loop."""
    if isinstance(loop, PairLoop):
        return [x for x in (loop.before, loop.behind) if x is not None]
    return [loop.inwards, loop.outwards] if isinstance(loop, ColumnLoop) else [loop.step]


def entries_read(program: Program) -> set[tuple[int, int]]:
    """Arrays and entries that a step needs of its inputs."""
    return {(x.args[0], entry) for x in program.code if x.op == "input" for entry in x.args[1:]}


def arrays_read(loop: BodyLoop) -> set[str]:
    """Arrays that a loop needs."""
    found = {ArrayAt.of(x.inputs[a].name).array for x in programs_of(loop)
             for a, _ in entries_read(x)}
    return found | (set(loop.diagonal.values()) if isinstance(loop, PairLoop) else set())
