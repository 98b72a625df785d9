"""How a program runs on a GPU: the layout of its arrays, and what its threads keep where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from closedform.lowerings.cuda.steps.again import Recomputed, computed_again
from closedform.lowerings.cuda.steps.order import COST, WRITE, ordered
from closedform.lowerings.native.ir import BYTES, Kind
from closedform.lowerings.native.steps import Step
from closedform.program.program import Program

ArrayLayout = Literal["states", "rows", "strided", "tile", "segments"]
"""Where entry k of state i lies: "states" last, at k·stride + i·size; in "rows", at i·stride +
k·size, without gaps and aligned, or "strided" where that does not hold: an array that all states
share has the stride 0. "tile" is rows that a warp moves together through shared memory; of long
rows it writes "segments" of 256 bytes, one after the other."""

WARP = 32
SEGMENT, SECTOR = 256, 32
"""Bytes of a row that are written together, and of the memory's own unit."""


@dataclass(frozen=True)
class GpuPlan:
    """`registers` values are in registers at a time, 0: as the assembler likes; `slots` of those
    that wait are in shared memory, further ones in local memory. `chained`: the address of an entry
    comes from that of the one before, so that the assembler cannot compute them all at the start.
    `staying` warps take tile after tile, and ask for the next one's inputs before they compute.
    `width` states of one thread are neighbours, with states last: wider loads and stores.
    `filled`: entries that are constants are written by a kernel of their own, before. A program of
    more than `largest` instructions is cut into several kernels; 0: it is not. Rather than let one
    value wait a thread runs up to `again` instructions once more. `machine`: registers of the GPU,
    of 32 bits, for a thread at most; 0: as the assembler likes. `careful`: for what is rare, see
    `watch.py`.
    """

    kind: Kind
    inputs: tuple[ArrayLayout, ...]
    outputs: tuple[ArrayLayout, ...]
    block: int = 64
    registers: int = 0
    slots: int = 0
    chained: bool = False
    staying: bool = False
    width: int = 1
    filled: bool = False
    largest: int = 0
    again: float = 0
    machine: int = 0
    careful: bool = False

    @property
    def size(self) -> int:
        """Bytes of a number."""
        return BYTES[self.kind]

    @property
    def segment(self) -> int:
        """Entries of a segment, 0 where outputs have none."""
        return SEGMENT // self.size if "segments" in self.outputs else 0

    def steps(self, program: Program, steps: Sequence[Step] = ()) -> Recomputed:
        """What a thread runs, in order."""
        steps = tuple(steps) or ordered(program, self.segment, self.carried).steps
        if not (self.again and self.registers):
            return Recomputed(program, steps)
        return computed_again(program, steps, self.registers, self.again)

    @property
    def carried(self) -> int:
        """Entries of the following segment that share the last sector of one."""
        return SECTOR // self.size - 1 if self.segment else 0

    @property
    def warps(self) -> int:
        return self.block // WARP

    @property
    def states(self) -> int:
        """Of a block."""
        return self.block * self.width


FEW_OUTPUTS, SOME_OUTPUTS, MANY_OUTPUTS = 8, 40, 150
"""Entries up to which threads may write rows of their own, up to which input tiles pay, and from
which on constants are written apart."""
SHORT = 450
"""Steps up to which a thread that reads and writes its own row keeps up with the memory."""
LARGEST_TILE = 56 << 10
"""Bytes of a warp's tile."""
CROWDED = {"double": (95, 104, 105), "float": (110, 110, 210)}
"""Values alive from which on we say which wait; how many then stay in registers, and slots."""
LONG = 6500
"""Instructions of one kernel at most: the instruction cache."""
PIECE = {"double": 5000, "float": 6500}


def chosen(program: Program, kind: Kind, inputs: tuple[ArrayLayout, ...],
           outputs: tuple[ArrayLayout, ...]) -> GpuPlan:
    """The plan for arrays of these layouts, by what was measured on an H200.

    Before sm_80 there are no copies that are not waited for: `staying` is to be left out there.
    """
    entries = sum(len(output.entries) for output in program.outputs)
    steps, live = ordered(program)
    plan = GpuPlan(kind, inputs, outputs)
    if all(layout == "rows" for layout in outputs):
        if WARP * entries * plan.size > LARGEST_TILE:
            return _by_segments(program, plan)
        return _by_tiles(plan, entries, len(steps), live)
    long = sum(COST.get(step.op, 1) for step in steps) + WRITE * entries > LONG
    constants = sum(e.index < 0 for output in program.outputs for e in output.entries)
    plan = replace(_waiting(plan, live), chained=True, filled=entries > MANY_OUTPUTS and (
        constants > SOME_OUTPUTS), largest=PIECE[kind] if long else 0)
    wide = kind == "float" and entries > FEW_OUTPUTS and live < CROWDED[kind][0]
    return replace(plan, width=2) if wide else plan


def _by_tiles(plan: GpuPlan, entries: int, steps: int, live: int) -> GpuPlan:
    """Rows in and out, with whole warps moving what is more than a few numbers."""
    def tiles(inputs: bool, **more: Any) -> GpuPlan:
        moved = tuple("tile" if inputs and layout == "rows" else layout for layout in plan.inputs)
        return replace(plan, inputs=moved, outputs=tuple("tile" for _ in plan.outputs), **more)

    if plan.kind == "double":
        if entries <= FEW_OUTPUTS and steps <= SHORT:
            return plan
        if entries <= FEW_OUTPUTS:
            return tiles(True, staying=True)
        return tiles(entries <= SOME_OUTPUTS, block=64 if entries <= SOME_OUTPUTS else 32)
    crowded = live >= CROWDED["float"][0]
    return tiles(True, staying=entries <= (MANY_OUTPUTS - 8 if crowded else SOME_OUTPUTS))


def _by_segments(program: Program, plan: GpuPlan) -> GpuPlan:
    """Long rows."""
    plan = replace(plan, outputs=tuple("segments" for _ in plan.outputs))
    steps, live = ordered(program, plan.segment, plan.carried)
    long = sum(COST.get(step.op, 1) for step in steps) > LONG
    return replace(_waiting(plan, live), largest=PIECE[plan.kind] if long else 0)


def _waiting(plan: GpuPlan, live: int) -> GpuPlan:
    crowded, registers, slots = CROWDED[plan.kind]
    return replace(plan, registers=registers, slots=slots) if live > crowded else plan
