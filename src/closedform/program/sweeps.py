"""Computations by loops: small programs that run for every body of a tree, or every pair of them.

A straight-line program grows with the robot, its compile time too. Here a robot is tables, and the
code is a few steps, each recorded once:

    MAP         step(k) for all k, in any order: several at once in the lanes of a register
    OUTWARDS    step(k) from the root to the leaves; it may read what its parent has
    INWARDS     step(k) from the leaves to the root; it may add to what its parent has
    PairLoop    entries (i, j) of matrices, row by row, the columns j in lanes
    ColumnLoop  matrices X of M X = B by both sweeps, for several columns at once in lanes

A step's inputs and outputs are named as the arrays that they are entries of: `V` is that of body k,
`V_p` that of its parent, and in pairs `S_i` belongs to the row and `S` to the column. The world is
number −1. Bodies are numbered so that all behind a body follow it: they are k, …, end(k) − 1.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import NamedTuple

import numpy as np

from closedform.program.program import Operations, Program, Slot, size


class Order(Enum):
    """In which order a step is run for the bodies."""

    ONCE = "for the world alone"
    MAP = "for all bodies in any order"
    OUTWARDS = "root to leaf"
    INWARDS = "leaf to root"


class ArrayAt(NamedTuple):
    """The array that a slot of a step belongs to, and whose entries: own, of the parent, row i."""

    array: str
    at: str = ""

    @classmethod
    def of(cls, slot: str) -> ArrayAt:
        name, _, at = slot.rpartition("_")
        return cls(name, at) if name and at in ("p", "i") else cls(slot)


@dataclass(frozen=True, eq=False)
class Sweep:
    """A step for every body."""

    step: Program
    order: Order


@dataclass(frozen=True, eq=False)
class PairLoop:
    """Matrices: `before` gives the entries whose column lies on the way to the world from row i,
    `behind` those whose column is i or lies behind it. All others are zero; a table of the name in
    `diagonal` is added to an output."""

    before: Program
    behind: Program
    diagonal: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class ColumnLoop:
    """An output whose columns j are each found by a sweep inwards and one outwards, in place.

    `inwards` takes b, the entry (k, j) of the output as it is, or of the unit matrix; `outwards`
    gives x in its place. The arrays in `wide` have entries for every column, none of the parents'
    before the first sweep.
    """

    inwards: Program
    outwards: Program
    output: str
    unit: bool
    wide: Mapping[str, int]


@dataclass(frozen=True, eq=False)
class Sweeps:
    """What computes outputs of inputs by loops over n bodies.

    Inputs and outputs have an entry or a record for each body, outputs of `PairLoop` are matrices.
    `tables` are constants, (n, entries) each; `buffers` are entries a body of what steps write.
    """

    name: str
    inputs: tuple[Slot, ...]
    outputs: tuple[Slot, ...]
    parents: tuple[int, ...]
    tables: Mapping[str, np.ndarray]
    buffers: Mapping[str, int]
    loops: tuple[Sweep | PairLoop | ColumnLoop, ...]

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

    @cached_property
    def operations(self) -> Operations:
        """The count of operations of all loops."""
        pairs = sum(end - k for k, end in enumerate(self.ends))
        total = np.zeros(len(Operations._fields), dtype=int)
        for loop in self.loops:
            if isinstance(loop, PairLoop):
                total += pairs * np.array(loop.behind.operations)
                total += (pairs - self.n) * np.array(loop.before.operations)
            elif isinstance(loop, ColumnLoop):
                both = np.array(loop.inwards.operations) + np.array(loop.outwards.operations)
                total += self.n**2 * both
            else:
                runs = 1 if loop.order is Order.ONCE else self.n
                total += runs * np.array(loop.step.operations)
        return Operations(*map(int, total))

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the content."""
        text = hashlib.sha256(repr((
            "closedform sweeps 1", self.name, self.inputs, self.outputs, self.parents,
            dict(self.buffers), list(self.tables))).encode())
        for table in self.tables.values():
            text.update(np.ascontiguousarray(table).tobytes())
        for loop in self.loops:
            parts = vars(loop).values()
            text.update(repr([x.digest if isinstance(x, Program) else x for x in parts]).encode())
        return text.hexdigest()

    def record_size(self, slot: Slot) -> int:
        """How many numbers an input or output has for each body."""
        return max(size(slot.shape) // self.n, 1)


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
