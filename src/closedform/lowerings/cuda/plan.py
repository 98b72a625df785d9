"""How a program runs on a GPU: the layout of its arrays, and what its threads keep where."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

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
"""Bytes of a row that are written together, and of the memory's own unit: less than one costs it a
reading too."""


@dataclass(frozen=True)
class GpuPlan:
    """`registers` values are in registers at a time, 0: as the assembler likes; `slots` of those
    that wait are in shared memory, further ones in local memory. `ring`: so many places of shared
    memory are for inputs that are on their way while a thread goes on, see `steps/waiting.py`.
    `chained`: the address of an entry comes from that of the one before, so that the assembler
    cannot compute them all at the start. `staying` warps take tile after tile, and ask for the next
    one's inputs before they compute. `width` states of one thread are neighbours, with states last:
    wider loads and stores.
    `filled`: entries that are constants are written by a kernel of their own, before. A program of
    more than `largest` instructions is cut into several kernels; 0: it is not. Rather than let one
    value wait a thread runs up to `again` instructions once more. `machine`: registers of the GPU,
    of 32 bits, for a thread at most; 0: as the assembler likes. `stored`: constants of 64 bits are
    read from constant memory, where they otherwise are two instructions. `ahead`: inputs with
    states last are asked for at the start, all at once. `apart`: segments of one output are written
    after those of another, which otherwise are side by side. `careful`: for what is rare, see
    `rare/watch.py`; `behind`: there is such a kernel behind a program of one kernel too, from
    `MANY_STATES` on.
    """

    kind: Kind
    inputs: tuple[ArrayLayout, ...]
    outputs: tuple[ArrayLayout, ...]
    block: int = 64
    registers: int = 0
    slots: int = 0
    ring: int = 0
    chained: bool = False
    staying: bool = False
    width: int = 1
    filled: bool = False
    largest: int = 0
    again: float = 0
    machine: int = 0
    stored: bool = False
    ahead: bool = False
    behind: bool = False
    careful: bool = False
    apart: bool = False

    def __post_init__(self) -> None:
        if self.ring % 2 or (self.ring and (self.staying or self.width > 1)):
            raise ValueError("a ring has two halves, for threads of one state that do not stay")

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> GpuPlan:
        told: dict[str, Any] = json.loads(text)
        return cls(**told | {name: tuple(told[name]) for name in ("inputs", "outputs")})

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
        steps = tuple(steps) or ordered(program, self.segment, self.carried, self.apart).steps
        if not (self.again and self.registers):
            return Recomputed(program, steps)
        return computed_again(program, steps, self.registers, self.again)

    @property
    def carried(self) -> int:
        """Entries of the following segment that share the last sector of one."""
        return SECTOR // self.size - 1 if self.segment else 0

    @property
    def copies(self) -> bool:
        """Whether inputs come to shared memory while a thread goes on."""
        return self.staying or self.ring > 0

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
SOME_INPUTS, MANY_INPUTS = 30, 60
"""Entries of inputs up to which they are asked for early with states last, and those of a robot
whose few outputs are worth computing much again."""
MANY_STATES, BRIEF = 1 << 16, 1000
"""States from which on two launches cost less than threads that could do their own state again, in
programs of up to so many instructions with few outputs: inverse dynamics of arms has 99 % of the
copy bandwidth with a kernel behind it, and 87 % by itself."""
SHORT, MIDDLE = 450, 1000
"""Steps up to which a thread that reads and writes its own row keeps up with the memory, and those
up to which float32 has no use for warps that stay, if many values are alive."""
LARGEST_TILE = 56 << 10
"""Bytes of a warp's tile."""
FULL = 55
"""Values of 64 bits alive from which on constants are better read than put into the code."""
CROWDED: dict[Kind, int] = {"double": 95, "float": 110}
"""Values alive from which on we say which wait."""
OVERFULL: dict[Kind, int] = {"double": 200, "float": 300}
"""Values alive for which one warp gets as much shared memory as it can use."""
TILED = 125
"""Values of 64 bits alive up to which the assembler does well beside tiles."""
TURNING = 300
"""Values alive that only a robot's way out and back has: computing again pays most."""
LONG = 6500
"""Instructions of one kernel at most: the instruction cache."""
PIECE = {"double": 5000, "float": 6500}
SEGMENT_PIECE = {"double": 3500, "float": 4000}
"""The same where rows are written: the writing is code too. Of 128 KB of instruction cache most
kernels take 60 to 110; M, C, g of a humanoid took a third longer when one had 140."""
LONGEST = 4500
"""Steps of one kernel for few outputs: it computes some of them again."""
ROOMY, WIDE = 150, 240
"""Values of 64 bits alive up to which less has to wait, beside tiles and between pieces."""
BUSY = 100
"""Values of 32 bits alive from which on warps that stay are worth less than more of them."""
DOUBLE_PIECES: Mapping[str, Any] = MappingProxyType({
    "registers": 98, "slots": 76, "ring": 16, "again": 4, "stored": True, "largest": 3500})
FLOAT_LARGE: Mapping[str, Any] = MappingProxyType({"registers": 180, "slots": 105, "ring": 32})
"""What waits where, of forward dynamics of large robots."""


class Demand(NamedTuple):
    """What a program asks of a thread: steps, values alive, entries of inputs and of outputs."""

    steps: int
    live: int
    used: int
    entries: int

    @property
    def few(self) -> bool:
        """Whether there is little to read and to write."""
        return self.entries <= SOME_OUTPUTS and self.used <= SOME_INPUTS

    @property
    def large(self) -> bool:
        """Whether a large robot's few outputs are worth much computing."""
        return self.entries <= SOME_OUTPUTS and self.used > MANY_INPUTS


def chosen(program: Program, kind: Kind, inputs: tuple[ArrayLayout, ...],
           outputs: tuple[ArrayLayout, ...], largest_tile: int = LARGEST_TILE) -> GpuPlan:
    """The plan for arrays of these layouts, by what was measured on an H200; see `fitting.py`."""
    entries = sum(len(output.entries) for output in program.outputs)
    steps, live = ordered(program)
    asked = Demand(len(steps), live, len({x.args for x in program.code if x.op == "input"}),
                   entries)
    plan = GpuPlan(kind, inputs, outputs,
                   behind=len(program.code) <= BRIEF and entries <= FEW_OUTPUTS)
    if all(layout == "rows" for layout in outputs):
        if WARP * entries * plan.size > largest_tile:
            return _by_segments(program, plan)
        return _by_tiles(plan, asked)
    constants = sum(e.index < 0 for output in program.outputs for e in output.entries)
    plan = replace(plan, chained=True, filled=entries > MANY_OUTPUTS and constants > SOME_OUTPUTS)
    if sum(COST.get(step.op, 1) for step in steps) + WRITE * entries > LONG:
        return _in_pieces(replace(plan, largest=PIECE[kind]), asked)
    return (_last_double if kind == "double" else _last_float)(plan, asked)


def _in_pieces(plan: GpuPlan, asked: Demand) -> GpuPlan:
    """Several kernels, with states last: most of what a piece reads waits since the one before."""
    if asked.live <= CROWDED[plan.kind]:
        return plan
    if plan.kind == "float":
        return replace(plan, again=3, **FLOAT_LARGE) if asked.large else replace(
            plan, registers=110, slots=210, ring=16, again=3)
    if asked.large:
        return replace(plan, block=128, **DOUBLE_PIECES)
    if asked.live < WIDE:
        return replace(plan, registers=98, slots=60, ring=24, again=2, stored=True)
    return replace(plan, registers=90, slots=76, ring=24, again=2, stored=True, largest=4000)


def _last_double(plan: GpuPlan, asked: Demand) -> GpuPlan:
    """One kernel in float64, with states last."""
    if asked.live <= CROWDED["double"]:
        if asked.few and asked.steps > SHORT:
            return replace(plan, registers=54, slots=20, ring=20, again=2, machine=128, stored=True)
        return replace(plan, stored=True, machine=128 * (asked.live > FULL)) if asked.few else plan
    plan = replace(plan, registers=104, slots=105, stored=asked.entries <= SOME_OUTPUTS,
                   ahead=asked.large)
    if asked.few and asked.live <= TILED:
        return replace(plan, slots=12, ring=20, again=6, block=32)
    if asked.large and asked.live > TURNING:
        return replace(plan, slots=108, again=12, block=128)
    if asked.large:
        overfull = asked.live > OVERFULL["double"]
        return replace(plan, registers=88, slots=90, ring=16 if overfull else 32,
                       again=3 if overfull else 2, ahead=not overfull)
    if asked.live > OVERFULL["double"]:
        plan = replace(plan, slots=215, block=32, again=1.5)
    elif asked.used > SOME_INPUTS and asked.entries <= SOME_OUTPUTS:
        plan = replace(plan, registers=80, slots=80, machine=168, again=2)
    return replace(plan, staying=True, block=32) if asked.few else plan


def _last_float(plan: GpuPlan, asked: Demand) -> GpuPlan:
    """One kernel in float32, with states last."""
    if asked.few and SHORT < asked.steps <= MIDDLE and asked.live > BUSY:
        return replace(plan, ring=16, machine=128, block=128)
    if asked.live < CROWDED["float"]:
        if asked.few and asked.steps > SHORT:
            return replace(plan, staying=True)
        plan = replace(plan, machine=168 * (asked.entries > MANY_OUTPUTS))
        return replace(plan, width=2) if asked.entries > FEW_OUTPUTS else plan
    if asked.large and asked.live < OVERFULL["double"]:
        return replace(plan, machine=128)
    if asked.live >= OVERFULL["float"]:
        return replace(plan, again=3, **FLOAT_LARGE) if asked.large else replace(
            plan, registers=150, slots=210, again=2)
    if asked.large:
        return replace(plan, registers=205, slots=60, again=3)
    if asked.entries > SOME_OUTPUTS:
        return replace(plan, registers=110, slots=60, again=2, machine=168)
    return replace(plan, staying=True, machine=168)


def _by_tiles(plan: GpuPlan, asked: Demand) -> GpuPlan:
    """Rows in and out, with whole warps moving what is more than a few numbers."""
    def tiles(inputs: bool, **more: Any) -> GpuPlan:
        moved = tuple("tile" if inputs and layout == "rows" else layout for layout in plan.inputs)
        return replace(plan, inputs=moved, outputs=tuple("tile" for _ in plan.outputs), **more)

    if plan.kind == "double":
        return _rows_double(plan, asked, tiles)
    few = asked.entries <= FEW_OUTPUTS and asked.steps <= SHORT
    if few:
        return tiles(True, staying=True, block=256)
    if CROWDED["float"] <= asked.live < OVERFULL["double"] and asked.entries > SOME_OUTPUTS:
        return tiles(False, registers=100, slots=30, again=2, machine=128, block=32)
    if asked.large and asked.live >= OVERFULL["float"]:
        return replace(plan, outputs=tuple("segments" for _ in plan.outputs), block=32, again=3,
                       largest=PIECE["float"] * (asked.steps > LONGEST), **FLOAT_LARGE)
    staying = asked.entries <= SOME_OUTPUTS
    return tiles(True, staying=staying, block=64 if staying else 32)


def _rows_double(plan: GpuPlan, asked: Demand, tiles: Callable[..., GpuPlan]) -> GpuPlan:
    few = asked.entries <= FEW_OUTPUTS
    if few and asked.steps <= SHORT:
        return replace(plan, stored=asked.live > FULL)
    if few and asked.live <= CROWDED["double"]:
        return tiles(False, registers=54, slots=40, again=2, machine=128, stored=True, block=32)
    if asked.large and asked.live > TURNING:
        plan = replace(plan, outputs=tuple("segments" for _ in plan.outputs), block=32)
        return replace(plan, **DOUBLE_PIECES) if asked.steps > LONGEST else replace(
            plan, registers=104, slots=140, ring=16, again=12, stored=True)
    if asked.large and asked.live > OVERFULL["double"]:
        return tiles(True, registers=94, slots=60, again=3, stored=True, block=32)
    if asked.live <= CROWDED["double"]:
        long = asked.steps > SHORT
        return tiles(long or asked.entries <= SOME_OUTPUTS, block=64 if long else 32)
    if asked.few and asked.live <= TILED:
        return tiles(asked.entries <= SOME_OUTPUTS, block=32)
    return tiles(asked.entries <= SOME_OUTPUTS, registers=104, slots=215, block=32,
                 again=3 if asked.live < ROOMY and asked.entries > SOME_OUTPUTS else 2)


def _by_segments(program: Program, plan: GpuPlan) -> GpuPlan:
    """Long rows."""
    plan = replace(plan, outputs=tuple("segments" for _ in plan.outputs), block=32)
    steps, live = ordered(program, plan.segment, plan.carried)
    if sum(COST.get(step.op, 1) for step in steps) > LONG:
        plan = replace(plan, largest=SEGMENT_PIECE[plan.kind], stored=plan.kind == "double")
    else:
        plan = replace(plan, inputs=tuple(
            "tile" if layout == "rows" else layout for layout in plan.inputs))
    if live <= CROWDED[plan.kind]:
        return plan
    registers, slots = (94, 105) if plan.kind == "double" else (205, 60)
    return replace(plan, registers=registers, slots=slots, again=2)
