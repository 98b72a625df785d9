"""Plans that fit a device: a block has between 64 and 227 KiB of shared memory there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from closedform.lowerings.cuda.memory import ThreadArrays
from closedform.lowerings.cuda.pieces import stages, waits
from closedform.lowerings.cuda.plan import LARGEST_TILE, WARP, ArrayLayout, GpuPlan, chosen
from closedform.lowerings.cuda.staying import StayingArrays
from closedform.lowerings.cuda.text import PtxText
from closedform.lowerings.native.ir import Kind
from closedform.program.program import Program

TOGETHER = 2
"""Warps of a multiprocessor that have room, at least: one computes while another waits."""
OF_A_BLOCK = 1 << 10
"""Bytes that the system takes for each block beside its own; a multiprocessor has so many more than
a block may have."""


@dataclass(frozen=True)
class GpuLimits:
    """Bytes of shared memory of a block, and whether there are copies that are not waited for."""

    shared: int = 227 << 10
    copies: bool = True


H200 = GpuLimits()


def fitting(program: Program, kind: Kind, inputs: tuple[ArrayLayout, ...],
            outputs: tuple[ArrayLayout, ...], limits: GpuLimits = H200) -> GpuPlan:
    """The plan for arrays of these layouts on a device of such limits."""
    tile = min(LARGEST_TILE, limits.shared // TOGETHER // 2)      # half for the values that wait
    plan = chosen(program, kind, inputs, outputs, tile)
    if plan.segment and plan.largest and len(outputs) > 1:
        plan = _less_waiting(program, plan)
    if not limits.copies:
        plan = replace(plan, staying=False, ring=0)
    if _needed(program, plan) > _room(plan, limits):              # as many slots may not be wanted
        wanted = max(stage.code().slots for stage in stages(program, plan))
        plan = replace(plan, slots=min(plan.slots, wanted))
    found = []
    for smaller in _smaller(plan):
        least, room = _needed(program, replace(smaller, slots=0)), _room(smaller, limits)
        each = smaller.width * WARP * plan.size * max(smaller.warps, TOGETHER)
        slots = min(plan.slots, (room - least) // each)
        if least <= room:
            found.append(replace(smaller, slots=slots))
            if 2 * slots >= plan.slots:
                return found[-1]
    return max(found, key=lambda plan: plan.slots)


def _less_waiting(program: Program, plan: GpuPlan) -> GpuPlan:
    """The plan with the outputs' segments side by side or apart: less waits between the pieces."""
    return min((replace(plan, apart=apart) for apart in (False, True)),
               key=lambda tried: waits(stages(program, tried)))


def _needed(program: Program, plan: GpuPlan) -> int:
    """Shared memory of a block, or of the warps that should run together."""
    kind = StayingArrays if plan.staying else ThreadArrays
    return kind(PtxText(plan.kind), program, plan, plan.slots).bytes * max(plan.warps, TOGETHER)


def _room(plan: GpuPlan, limits: GpuLimits) -> int:
    """Shared memory that the blocks of these warps may have."""
    return limits.shared - OF_A_BLOCK * (-(-TOGETHER // plan.warps) - 1)


def _smaller(plan: GpuPlan) -> Iterator[GpuPlan]:
    """The plan, and others that need less and less of shared memory, whatever waits there."""
    def direct(layouts: tuple[ArrayLayout, ...]) -> tuple[ArrayLayout, ...]:
        return tuple("rows" if layout in ("tile", "segments") else layout for layout in layouts)

    yield plan
    yield (plan := replace(plan, block=WARP))
    yield (plan := replace(plan, staying=False))
    yield (plan := replace(plan, inputs=direct(plan.inputs)))
    yield replace(plan, outputs=direct(plan.outputs))
