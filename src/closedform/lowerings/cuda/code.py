"""A program as the PTX of one kernel, one thread a state.

    kernel(u64 n, for each array: u64 address, u64 stride)

A stride is in bytes: from one entry to the next where states are last, else from one state to the
next, 0 for an input that all states share.
"""

from __future__ import annotations

from collections.abc import Sequence

from closedform.lowerings.cuda.far_angles import TABLE, far
from closedform.lowerings.cuda.memory import Arrays
from closedform.lowerings.cuda.order import ordered
from closedform.lowerings.cuda.plan import WARP, Plan
from closedform.lowerings.cuda.text import Emitter, Text
from closedform.lowerings.cuda.waiting import NEVER, with_moves
from closedform.lowerings.native.ir import OPERATIONS
from closedform.lowerings.native.sincos import BOUND, sincos
from closedform.lowerings.native.steps import Step
from closedform.program.program import Entry, Program

VERSION, TARGET = "7.0", "sm_70"


class CudaCode:
    """The text of a kernel, and what a launch must know of it."""

    def __init__(self, program: Program, plan: Plan, name: str = "kernel") -> None:
        self.program, self.plan, self.name = program, plan, name
        self.text = Text(plan.kind)
        self.e = Emitter(self.text, plan.kind)
        self.steps, self.slots = with_moves(program, ordered(program).steps,
                                            plan.registers or NEVER)
        self.arrays = Arrays(self.text, program, plan, min(self.slots, plan.slots))
        self.values: dict[int, str] = {}
        self.far = 0
        self.entries: dict[int, list[tuple[int, int, Entry]]] = {}
        for array, output in enumerate(program.outputs):
            for k, entry in enumerate(output.entries):
                self.entries.setdefault(entry.index, []).append((array, k, entry))

    @property
    def shared(self) -> int:
        """Bytes of shared memory of a block."""
        return self.arrays.bytes * self.plan.warps

    def ptx(self) -> str:
        self.arrays.begin()
        self._write_leaves()
        for step in self.steps:
            self._run(step)
        self.arrays.end()
        arguments = [".param .u64 n", *(f".param .u64 {a}{what}" for a in self.arrays.names
                                        for what in ("", "_stride"))]
        spilled = max(self.slots - self.plan.slots, 0) * self.plan.size
        return "\n".join([
            f".version {VERSION}", f".target {TARGET}", ".address_size 64", "",
            *([TABLE] if self.far else []),
            *([".extern .shared .align 128 .b8 pool[];"] if self.shared else []),
            f".visible .entry {self.name}(", ",\n".join(f"  {a}" for a in arguments),
            f")\n.maxntid {self.plan.block}, 1, 1\n{{",
            *self.text.declarations(),
            *([f"  .local .align 8 .b8 waiting[{spilled}];"] if spilled else []),
            *self.text.lines, "DONE:", "  ret;",
            *(line for lines in self.text.later for line in lines), "}", ""])

    # ------------------------------------------------------------------ steps
    def _run(self, step: Step) -> None:
        if step.op == "read":
            self.values[step.results[0]] = self._read(step.results[0])
        elif step.op == "put":
            self.text.line(f"st.{self._slot(step)}, {self.values[step.args[0]]}")
        elif step.op == "get":
            self.values[step.results[0]] = self.text.new("f")
            where = self._slot(step)
            space, place = where.split(" ", 1)
            self.text.line(f"ld.{space} {self.values[step.results[0]]}, {place}")
        else:
            self._compute(step)

    def _slot(self, step: Step) -> str:
        if step.array < self.plan.slots:
            return f"shared.{self.e.type} [{self.arrays.slot(step.array)}]"
        return f"local.{self.e.type} [waiting+{(step.array - self.plan.slots) * self.plan.size}]"

    def _read(self, place: int) -> str:
        return self.arrays.read(*self.program.code[place].args)

    def _compute(self, step: Step) -> None:
        args = [self._value(i) for i in step.args]
        results: Sequence[str] = (self._sincos(args[0]) if step.op == "sincos"
                                  else [OPERATIONS[step.op](self.e, *args)])
        for place, value in zip(step.results, results, strict=True):
            self.values[place] = value
            self._write(place)

    def _value(self, place: int) -> str:
        constant = self.program.code[place].value
        return self.values[place] if constant is None else self.e.number(constant)

    def _sincos(self, x: str) -> tuple[str, str]:
        """Sine and cosine, and a branch, hardly ever taken, for an angle that is far out."""
        sine, cosine = sincos(self.e, x)
        beyond = self.e.compare("ogt", self.e.intrinsic("fabs", x), self.e.number(BOUND))
        self.far += 1
        mark = self.far
        self.text.line(f"@{beyond} bra FAR{mark}")
        self.text.label(f"BACK{mark}")
        with self.text.apart():
            self.text.label(f"FAR{mark}")
            double = self.plan.kind == "double"
            found = far(self.text, x if double else self.text.let("d", "cvt.f64.f32", x))
            for old, new in zip((sine, cosine), found, strict=True):
                self.text.line(f"{'mov.f64' if double else 'cvt.rn.f32.f64'} {old}, {new}")
            self.text.line(f"bra BACK{mark}")
        return sine, cosine

    # ------------------------------------------------------------------ outputs
    def _write_leaves(self) -> None:
        """Constants, and entries of inputs that are outputs as they are."""
        for place in self.entries:
            if place < 0:
                self._write(place)
            elif self.program.code[place].op in ("input", "const"):
                if self.program.code[place].op == "input":
                    self.values[place] = self._read(place)
                self._write(place)

    def _write(self, place: int) -> None:
        for array, k, entry in self.entries.get(place, ()) if place >= -1 else ():
            if entry.index < 0:
                value = self.e.number(entry.constant)
            else:
                value = self._value(place)
                value = self.e.negate(value) if entry.sign < 0 else value
            self.arrays.write(array, k, value)


def threads_of(count: int, plan: Plan) -> tuple[int, int]:
    """Blocks and threads of a block for so many states."""
    return -(-count // plan.block), plan.block


assert WARP == 32
