"""A long program as several kernels, cut where few values wait; what waits is in global memory.

Straight-line code has to fit the instruction cache. Each piece is a program of its own: the inputs
and `WAITING`, and the outputs that are known in it and `WAITING`, an array of numbered slots with
states last that all pieces share. Entries of outputs that are constants may be a kernel by
themselves: it has nothing to wait for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from closedform.lowerings.cuda.code import CudaCode
from closedform.lowerings.cuda.plan import ArrayLayout, GpuPlan
from closedform.lowerings.cuda.rare.careful import has_rare
from closedform.lowerings.cuda.steps.again import Recomputed, again_behind
from closedform.lowerings.cuda.steps.order import (
    ABSENT,
    COST,
    STAGED,
    WAITING,
    WRITE,
    live_profile,
    ordered,
)
from closedform.lowerings.native.steps import Step
from closedform.program.ordering.waiting import waiting_slots
from closedform.program.program import LEAVES, Entry, Instruction, Output, Program, Slot

APART = 50
"""Steps of which the one with the fewest values waiting is considered for a cut."""
BETWEEN = 3
"""How much dearer it is to wait between kernels, in global memory, than within one."""


class KernelStage(NamedTuple):
    """One kernel of a sequence; `slots` are those of `WAITING`, 0 if it is no argument."""

    program: Program
    plan: GpuPlan
    slots: int
    steps: tuple[Step, ...] = ()
    """As they were cut; none: as the plan orders them."""

    def code(self) -> CudaCode:
        return CudaCode(self.program, self.plan, self.steps)


def stages(program: Program, plan: GpuPlan) -> list[KernelStage]:
    """The kernels that compute a program, in order."""
    whole, found = program, []
    if plan.filled:
        found.append(KernelStage(_constants(program), _alone(plan), 0))
        program = _without_constants(program)
    pieces, slots = cut(program, plan) if plan.largest else ([], 0)
    if len(pieces) < 2:
        return [*found, KernelStage(program, plan, 0), *(
            _careful(whole, plan) if plan.behind else [])]
    inputs, outputs = (*plan.inputs, "states"), (*plan.outputs, "states")
    apart = replace(plan, inputs=inputs, outputs=outputs)
    return [*found, *(KernelStage(piece.program, apart, slots, piece.steps) for piece in pieces),
            *_careful(whole, plan)]


def _careful(program: Program, plan: GpuPlan) -> list[KernelStage]:
    """The kernel for what is rare, behind the others, if the program has such things."""
    if not has_rare(program):
        return []
    def direct(layouts: tuple[ArrayLayout, ...]) -> tuple[ArrayLayout, ...]:
        return tuple("rows" if layout in ("tile", "segments") else layout
                     for layout in layouts)
    return [KernelStage(program, GpuPlan(plan.kind, direct(plan.inputs), direct(plan.outputs),
                                careful=True), 0)]


def waits(pieces: Sequence[KernelStage]) -> int:
    """How many numbers of a state are written and read between kernels."""
    return sum(entry.index >= 0 for piece in pieces for output in piece.program.outputs
               if output.name == WAITING for entry in output.entries) + sum(
        op == "input" and piece.program.inputs[args[0]].name == WAITING
        for piece in pieces for op, args, _ in piece.program.code)


def cut(program: Program, plan: GpuPlan) -> tuple[list[Recomputed], int]:
    """The pieces of a program, and the slots of what waits between them."""
    steps = ordered(program, plan.segment, plan.carried, plan.apart).steps
    bounds = _bounds(program, steps, plan.largest)
    program, parts = _thinned(program, [steps[i:j] for i, j in pairwise(bounds)],
                              BETWEEN * plan.again)
    slots, count = waiting_slots([[(s.results, s.args) for s in part] for part in parts])
    count = max(count, 1)                               # an array without entries has no address
    return [_Piece(program, slots, count, bool(plan.segment)).made(part, k == 0)
            for k, part in enumerate(parts)], count


def _thinned(program: Program, parts: list[tuple[Step, ...]], weight: float
             ) -> tuple[Program, list[tuple[Step, ...]]]:
    """Between the parts fewer values wait: later ones compute some of them again."""
    for k in reversed(range(1, len(parts))) if weight else ():
        before = tuple(step for part in parts[:k] for step in part)
        program, late = again_behind(program, before, parts[k:], weight)
        parts[k:] = late
    return program, parts


def _bounds(program: Program, steps: Sequence[Step], largest: int) -> list[int]:
    """Where to cut: the fewest values wait in all, and no piece is longer."""
    waiting = live_profile(steps)
    filled, between = False, [0]                        # a segment is written by one piece
    for k, step in enumerate(steps, 1):
        filled = step.op in STAGED or (filled and step.op != "flush")
        between += [] if filled else [k]
    costs = _costs(program, steps)
    total = [0]
    for cost in costs:
        total.append(total[-1] + cost)
    groups: dict[int, list[int]] = {}
    for k in between[1:-1]:
        groups.setdefault(k // APART, []).append(k)
    places = [0, *(min(group, key=waiting.__getitem__) for group in groups.values()), len(steps)]
    best: list[tuple[float, int]] = [(0.0, -1)]
    for j in range(1, len(places)):
        options = [(best[i][0] + waiting[places[j]], i) for i in range(j)
                   if total[places[j]] - total[places[i]] <= largest or i == j - 1]
        best.append(min(options))
    bounds, j = [], len(places) - 1
    while j >= 0:
        bounds.append(places[j])
        j = best[j][1]
    return sorted(set(bounds))


def _costs(program: Program, steps: Sequence[Step]) -> list[int]:
    written: dict[int, int] = {}
    for output in program.outputs if all(step.op not in STAGED for step in steps) else ():
        for entry in output.entries:
            written[entry.index] = written.get(entry.index, 0) + WRITE
    return [COST.get(step.op, 1) + sum(written.get(i, 0) for i in step.results if i >= 0)
            for step in steps]


class _Piece:
    """Makes a program of some steps."""

    def __init__(self, program: Program, slots: dict[int, int], count: int,
                 segments: bool) -> None:
        self.program, self.slots, self.count = program, slots, count
        self.segments = segments
        self.code: list[Instruction] = []
        self.places: dict[int, int] = {}

    def made(self, steps: Sequence[Step], first: bool) -> Recomputed:
        program = self.program
        here = {i for step in steps for i in step.results if i >= 0}
        for step in steps:
            for i in step.results:
                if i >= 0:
                    self._add(i, here)
        due = {(s.array, s.entry): s.args for s in steps if s.op in STAGED}
        outputs = tuple(Output(o.name, o.shape, tuple(
            self._staged(e, here, due.get((array, k))) if self.segments
            else self._entry(e, here, first) for k, e in enumerate(o.entries)))
            for array, o in enumerate(program.outputs))
        waiting = [Entry(ABSENT, 0)] * self.count
        for i in here & self.slots.keys():
            waiting[self.slots[i]] = Entry(self.places[i], 1)
        slot = (self.count,)
        moved = [s._replace(results=self._moved(s.results), args=self._moved(s.args))
                 for s in steps]
        return Recomputed(Program(program.name, (*program.inputs, Slot(WAITING, slot)), (
            *outputs, Output(WAITING, slot, tuple(waiting))), tuple(self.code)), tuple(moved))

    def _moved(self, places: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(self.places[i] if i >= 0 else i for i in places)

    def _add(self, place: int, here: set[int]) -> int:
        """An instruction with what it takes: leaves, what waits, products that it swallows."""
        if place not in self.places:
            op, args, value = self.program.code[place]
            if op not in LEAVES and place not in here and place in self.slots:
                made = Instruction("input", (len(self.program.inputs), self.slots[place]))
            elif op in LEAVES:
                made = self.program.code[place]
            else:
                made = Instruction(op, tuple(self._add(i, here) for i in args), value)
            self.places[place] = len(self.code)
            self.code.append(made)
        return self.places[place]

    def _staged(self, entry: Entry, here: set[int], due: tuple[int, ...] | None) -> Entry:
        if due is None:
            return Entry(ABSENT, 0)
        return Entry(self._add(due[0], here), entry.sign) if due else entry

    def _entry(self, entry: Entry, here: set[int], first: bool) -> Entry:
        if entry.index in here or (first and entry.index >= 0 and (
                self.program.code[entry.index].op in LEAVES)):
            return Entry(self._add(entry.index, here), entry.sign)
        return entry if first and entry.index == -1 else Entry(ABSENT, 0)


# ---------------------------------------------------------------------- constants
def _constants(program: Program) -> Program:
    """What writes the entries that are constants."""
    return Program(program.name, program.inputs, _kept(program, lambda e: e.index == -1), ())


def _without_constants(program: Program) -> Program:
    return Program(program.name, program.inputs, _kept(program, lambda e: e.index >= 0),
                   program.code)


def _kept(program: Program, wanted: Callable[[Entry], bool]) -> tuple[Output, ...]:
    return tuple(Output(o.name, o.shape, tuple(
        e if wanted(e) else Entry(ABSENT, 0) for e in o.entries)) for o in program.outputs)


def _alone(plan: GpuPlan) -> GpuPlan:
    return GpuPlan(plan.kind, plan.inputs, plan.outputs)
