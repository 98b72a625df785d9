"""A program as the PTX of one kernel, one thread a state.

    kernel(u64 n, for each array: u64 address, u64 stride; u64 word, u64 call)

A stride is in bytes: from one entry to the next where states are last, else from one state to the
next, 0 for an input that all states share. `word` and `call`: see `rare/watch.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from closedform.lowerings.cuda.memory import LoopingArrays, ThreadArrays
from closedform.lowerings.cuda.plan import WARP, GpuPlan
from closedform.lowerings.cuda.rare.careful import CarefulCode, careful_sincos, has_rare
from closedform.lowerings.cuda.rare.far_angles import TABLE
from closedform.lowerings.cuda.rare.watch import RareWatch, quotient
from closedform.lowerings.cuda.staying import StayingArrays
from closedform.lowerings.cuda.steps.order import ABSENT, STAGED, WAITING
from closedform.lowerings.cuda.steps.waiting import NEVER, asked_early, with_moves
from closedform.lowerings.cuda.text import PtxEmitter, PtxText, literal
from closedform.lowerings.native.ir import OPERATIONS
from closedform.lowerings.native.sincos import sincos
from closedform.lowerings.native.steps import Step
from closedform.program.program import LEAVES, Entry, Program

ASKING = "ask", "asked", "await", "take"
VERSION, TARGET, TARGET_OF_COPIES = "7.0", "sm_70", "sm_80"


class CudaCode:
    """The text of a kernel, and what a launch must know of it."""

    def __init__(self, program: Program, plan: GpuPlan, steps: Sequence[Step] = ()) -> None:
        self.plan = plan
        self.text = PtxText(plan.kind, alone=plan.block == WARP)
        self.e = PtxEmitter(self.text, plan.kind, stored=plan.stored)
        self.program, chosen = plan.steps(program, steps)
        self.steps, self.slots = with_moves(self.program, chosen, plan.registers or NEVER)
        self.careful = plan.careful
        kind = LoopingArrays if plan.careful else StayingArrays if plan.staying else ThreadArrays
        self.arrays = kind(self.text, program, plan, min(self.slots, plan.slots))
        if plan.ring:
            self.steps = asked_early(self.steps, plan.ring, {
                i for i, (op, args, _) in enumerate(self.program.code)
                if op == "input" and plan.inputs[args[0]] != "tile"})
        self.lanes: list[dict[int, str]] = [{} for _ in range(plan.width)]
        self.staged_row = 0
        self.staged: dict[int, str] = {}
        self.watch = RareWatch(self.e)
        self.told = plan.behind or any(slot.name == WAITING for slot in program.inputs)
        whole = has_rare(program) and not (self.told or plan.careful)
        self.rare = CarefulCode(program, plan) if whole else None
        self.entries: dict[int, list[tuple[int, int, Entry]]] = {}
        for array, output in enumerate(program.outputs):
            for k, entry in enumerate(output.entries if plan.outputs[array] != "segments" else ()):
                self.entries.setdefault(entry.index, []).append((array, k, entry))

    @property
    def shared(self) -> int:
        """Bytes of shared memory of a block."""
        return self.arrays.bytes * self.plan.warps

    def ptx(self) -> str:
        if self.rare and self.plan.staying:
            self.watch.keep()
        self.arrays.begin()
        self._write_leaves()
        for step in self.steps:
            self._run(step)
        if self.told:
            self.watch.tell()
        self.watch.note_kept()
        self.arrays.end()
        if self.rare:
            if self.arrays.tiles and not (self.plan.staying or self.plan.segment):
                self.text.together()                    # other lanes have written a thread's row
            self.text.line(f"@{self.watch.found()} bra RARE")
            self.rare.call(self.text, self.arrays.names,
                           (*self.plan.inputs, *self.plan.outputs))
        arguments = [".param .u64 n", *(f".param .u64 {a}{what}" for a in self.arrays.names
                                        for what in ("", "_stride")),
                     ".param .u64 word", ".param .u64 call"]
        own = max(self.slots - self.plan.slots, 0) * self.plan.width * self.plan.size
        before = self.rare.lines() if self.rare else []
        later = [line for part in self.text.later for line in part]
        return "\n".join([
            f".version {VERSION}", f".target {TARGET_OF_COPIES if self.plan.copies else TARGET}",
            ".address_size 64", "",
            *([TABLE] if any("two_over_pi" in line for line in (*before, *later)) else []),
            *self.text.table(), *before,
            *([".extern .shared .align 128 .b8 pool[];"] if self.shared else []),
            ".visible .entry kernel(", ",\n".join(f"  {a}" for a in arguments),
            f")\n.maxntid {self.plan.block}, 1, 1",
            *([f".maxnreg {self.plan.machine}"] if self.plan.machine else []), "{",
            *self.text.declarations(),
            *([f"  .local .align 8 .b8 own[{own}];"] if own else []),
            *([f"  .local .align 8 .b8 values[{self.rare.bytes}];"] if self.rare else []),
            *self.text.lines, "DONE:", "  ret;",
            *later, "}", ""])

    # ------------------------------------------------------------------ steps
    def _run(self, step: Step) -> None:
        if step.op == "read":
            self._read(step.results[0])
        elif step.op in ASKING:
            self._ask(step)
        elif step.op in STAGED:
            self._stage(step)
        elif step.op == "flush":
            self.arrays.flush(step.array, step.entry)
        else:
            for lane, values in enumerate(self.lanes):
                if step.op == "put":
                    self.text.line(f"st.{self._slot(step, lane)}, {values[step.args[0]]}")
                elif step.op == "get":
                    space, place = self._slot(step, lane).split(" ", 1)
                    values[step.results[0]] = self.text.let("f", f"ld.{space}", place)
                else:
                    self._compute(step, lane)
            for result in step.results if step.op != "get" else ():
                self._write(result)

    def _stage(self, step: Step) -> None:
        """An entry of the segment that is filled; a constant may be there from the one before."""
        entry = self.program.outputs[step.array].entries[step.entry]
        entry = Entry(step.args[0], entry.sign) if step.args else entry
        column = step.entry % self.plan.segment + self.plan.segment * (step.op == "carry")
        if step.op == "end":
            column = step.entry - len(self.program.outputs[step.array].entries)
        row = self.arrays.row(step.array)
        if row != self.staged_row:                          # another pitch: all lies elsewhere
            self.staged_row, self.staged = row, {}
        constant = literal(entry.constant, self.plan.kind) if entry.index < 0 else ""
        if constant and self.staged.get(column) == constant:
            return
        self.staged[column] = constant
        self.arrays.stage(step.array, column, self._entry(entry, self.lanes[0]))

    def _slot(self, step: Step, lane: int) -> str:
        width, slots = self.plan.width, self.plan.slots
        if step.array < slots:
            return f"shared.{self.e.type} [{self.arrays.slot(step.array * width + lane)}]"
        own = ((step.array - slots) * width + lane) * self.plan.size
        return f"local.{self.e.type} [own+{own}]"

    def _read(self, place: int) -> None:
        found = self.arrays.read(*self.program.code[place].args)
        for values, x in zip(self.lanes, found, strict=True):
            values[place] = x

    def _ask(self, step: Step) -> None:
        """Inputs that are on their way while the thread goes on."""
        if step.op == "ask":
            array, k = self.program.code[step.results[0]].args
            self.arrays.ask(array, k, step.array)
        elif step.op == "take":
            self.lanes[0][step.results[0]] = self.text.let(
                "f", f"ld.shared.{self.e.type}", f"[{self.arrays.ring(step.array)}]")
        else:
            self.text.line("cp.async.commit_group" if step.op == "asked" else
                           "cp.async.wait_group 1")

    def _compute(self, step: Step, lane: int) -> None:
        values = self.lanes[lane]
        args = [self._value(i, values) for i in step.args]
        results: Sequence[str]
        if step.op == "sincos":
            results = self._sincos(args[0])
        elif step.op == "div" and not self.careful:
            known = self.program.code[step.args[0]].value
            results = [quotient(self.e, self.watch, args[0], args[1], known)]
        else:
            results = [OPERATIONS[step.op](self.e, *args)]
        values.update(zip(step.results, results, strict=True))

    def _value(self, place: int, values: Mapping[int, str]) -> str:
        constant = self.program.code[place].value
        return values[place] if constant is None else self.e.number(constant)

    def _sincos(self, x: str) -> tuple[str, str]:
        if self.careful:
            return careful_sincos(self.e, x)
        self.watch.angle(x)
        return sincos(self.e, x)

    # ------------------------------------------------------------------ outputs
    def _write_leaves(self) -> None:
        """Constants, and entries of inputs that are outputs as they are."""
        for place in self.entries:
            if place == -1:
                self._write(place)
            elif place < 0:
                continue
            elif self.program.code[place].op in LEAVES:
                if self.program.code[place].op == "input":
                    self._read(place)
                self._write(place)

    def _write(self, place: int) -> None:
        for array, k, entry in self.entries.get(place, ()) if place != ABSENT else ():
            self.arrays.write(array, k, [self._entry(entry, values) for values in self.lanes])

    def _entry(self, entry: Entry, values: Mapping[int, str]) -> str:
        if entry.index < 0:
            return self.e.number(entry.constant)
        value = self._value(entry.index, values)
        return self.e.negate(value) if entry.sign < 0 else value
