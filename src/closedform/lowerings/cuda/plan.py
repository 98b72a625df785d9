"""How a program runs on a GPU: the layout of its arrays, and what its threads keep where."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from closedform.lowerings.cuda.order import ordered
from closedform.lowerings.native.ir import BYTES, Kind
from closedform.program.program import Program

Layout = Literal["states", "rows", "tile"]
"""Where entry k of state i lies: "states" last, at k·stride + i·size; in "rows", at i·stride +
k·size; "tile" is rows without gaps that a warp moves together through shared memory."""

WARP = 32
ABSENT = -2
"""The place of an output's entry that another kernel writes."""
WAITING = "waiting"
"""The input and output of pieces of a program for what waits between them."""


@dataclass(frozen=True)
class Plan:
    """`registers` values are in registers at a time, 0: as the assembler likes; `slots` of those
    that wait are in shared memory, further ones in local memory. `chained`: the address of an entry
    comes from that of the one before, so that the assembler cannot compute them all at the start.
    `staying` warps take tile after tile, and ask for the next one's inputs before they compute.
    `width` states of one thread are neighbours, with states last: wider loads and stores.
    `filled`: entries that are constants are written by a kernel of their own, before. A program of
    more than `largest` instructions is cut into several kernels; 0: it is not. `careful`: for what
    is rare, see `watch.py`.
    """

    kind: Kind
    inputs: tuple[Layout, ...]
    outputs: tuple[Layout, ...]
    block: int = 64
    registers: int = 0
    slots: int = 0
    chained: bool = False
    staying: bool = False
    width: int = 1
    filled: bool = False
    largest: int = 0
    careful: bool = False

    @property
    def size(self) -> int:
        """Bytes of a number."""
        return BYTES[self.kind]

    @property
    def warps(self) -> int:
        return self.block // WARP

    @property
    def states(self) -> int:
        """Of a block."""
        return self.block * self.width


FEW_OUTPUTS = 8
"""Entries up to which threads write their own rows."""
LARGEST_TILE = 56 << 10
"""Bytes of a warp's tile."""


def chosen(program: Program, kind: Kind, inputs: tuple[Layout, ...],
           outputs: tuple[Layout, ...]) -> Plan:
    """The plan for arrays of these layouts, by what was measured (`benchmarks/cuda.py`)."""
    size = BYTES[kind]
    entries = sum(len(output.entries) for output in program.outputs)
    live = ordered(program).live
    rows = all(layout == "rows" for layout in outputs)
    tiled = rows and entries > FEW_OUTPUTS and WARP * entries * size <= LARGEST_TILE
    plan = Plan(kind, inputs, tuple("tile" for _ in outputs) if tiled else outputs)
    if tiled:
        return plan
    plan = replace(plan, chained=True)
    if kind == "double" and live > 105:
        return replace(plan, registers=104 if live < 160 else 94, slots=105)
    if kind == "float" and live >= 180:
        return replace(plan, registers=205, slots=210)
    return plan
