"""A state that the quick code is not for, done again by its thread, at the end of the same kernel.

Straight-line code for it would take registers of the quick code, fill the instruction cache and be
compiled as long. Here a loop walks through the program as a table of rows in global memory,

    operation + 256 · target, and three words: places of operands, or what `_Rows` says,

with all values in local memory: slow, small, and almost never run. It is a function of its own,
called once: within the kernel the assembler would take its loops for those that matter. Angles are
reduced however far out they are, and division is the machine's own: the CPU's numbers.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

from closedform.lowerings.cuda.plan import ArrayLayout, GpuPlan
from closedform.lowerings.cuda.rare.far_angles import far
from closedform.lowerings.cuda.steps.order import ABSENT, ordered
from closedform.lowerings.cuda.text import PtxEmitter, PtxText
from closedform.lowerings.native.ir import OPERATIONS, Kind
from closedform.lowerings.native.sincos import BOUND, sincos
from closedform.lowerings.native.steps import Step
from closedform.program.program import LEAVES, Program

RARE = "sin", "cos", "div"
"""What can be out of the quick code's range."""
ROW, HEAD, ARRAY = 16, 24, 24
"""Bytes of a row of the table; in local memory of the thread's states (the first, the way to the
next, what is behind the last), and of an array (address, ways between states and entries)."""
END = 0


def has_rare(program: Program) -> bool:
    return any(op in RARE for op, _, _ in program.code)


def careful_sincos(e: PtxEmitter, x: str) -> tuple[str, str]:
    """Sine and cosine with a branch for an angle that is far out."""
    text, mark = e.text, e.text.mark()
    sine, cosine = sincos(e, x)
    beyond = e.compare("ogt", e.intrinsic("fabs", x), e.number(BOUND))
    text.line(f"@{beyond} bra FAR{mark}")
    text.label(f"BACK{mark}")
    with text.apart():
        text.label(f"FAR{mark}")
        double = e.kind == "double"
        found = far(text, x if double else text.let("d", "cvt.f64.f32", x))
        for old, new in zip((sine, cosine), found, strict=True):
            text.line(f"{'mov.f64' if double else 'cvt.rn.f32.f64'} {old}, {new}")
        text.line(f"bra BACK{mark}")
    return sine, cosine


def _array(k: int) -> int:
    """Where an array is told in local memory."""
    return HEAD + ARRAY * k


class _Rows:
    """A program's steps as rows, their values in slots that are used again.

    "const" has the bits of a number, "read" an array's place and an entry, "write" and "minus" the
    place of a value before them; "sincos" has the cosine's place behind the angle's.
    """

    def __init__(self, program: Program, kind: Kind) -> None:
        self.program, self.kind = program, kind
        self.size = 8 if kind == "double" else 4
        self.first = _array(len(program.inputs) + len(program.outputs))
        self.rows: list[tuple[str, int, tuple[int, ...]]] = []
        self.free: list[int] = []
        self.count = 0
        self.places: dict[int, int] = {}
        self.written: dict[int, list[tuple[str, int, int]]] = {}
        for array, output in enumerate(program.outputs, len(program.inputs)):
            for k, entry in enumerate(output.entries):
                if entry.index == -1:
                    self._constant(entry.constant, array, k)
                elif entry.index != ABSENT:
                    self.written.setdefault(entry.index, []).append(
                        ("minus" if entry.sign < 0 else "write", _array(array), k))
        for place in self.written:
            if program.code[place].op in LEAVES:
                self._write(place, self._loaded(place))
                self.free.append(self.rows[-1][2][0])
        steps = ordered(program).steps
        last = {i: k for k, step in enumerate(steps) for i in step.args}
        for k, step in enumerate(steps):
            self._add(step, {i for i in step.args if last[i] == k}, last)

    @property
    def bytes(self) -> int:
        """Of the local memory."""
        return self.first + self.count * self.size

    def _slot(self) -> int:
        if not self.free:
            self.count += 1
            return self.first + (self.count - 1) * self.size
        return self.free.pop()

    def _constant(self, x: float, array: int, k: int) -> None:
        slot = self._slot()
        self.rows += [("const", slot, self._bits(x)), ("write", 0, (slot, _array(array), k))]
        self.free.append(slot)

    def _bits(self, x: float) -> tuple[int, ...]:
        return struct.unpack("<2I", struct.pack("<d", x)) if self.kind == "double" else (
            struct.unpack("<I", struct.pack("<f", x)))

    def _loaded(self, place: int) -> int:
        """A slot with a constant, or an entry of an input."""
        op, args, value = self.program.code[place]
        slot = self._slot()
        if op == "input":
            self.rows.append(("read", slot, (_array(args[0]), args[1])))
        else:
            assert value is not None
            self.rows.append(("const", slot, self._bits(value)))
        return slot

    def _write(self, place: int, slot: int) -> None:
        for op, array, k in self.written.get(place, ()):
            self.rows.append((op, 0, (slot, array, k)))

    def _add(self, step: Step, ended: set[int], last: dict[int, int]) -> None:
        done = []
        for i in dict.fromkeys(step.args):
            if self.program.code[i].op in LEAVES:
                self.places[i] = self._loaded(i)
                done.append(self.places[i])
            elif i in ended:
                done.append(self.places[i])
        targets = [self._slot() for _ in step.results]
        self.rows.append((step.op, targets[0], (*(self.places[i] for i in step.args),
                                                *targets[1:])))
        for i, slot in zip(step.results, targets, strict=True):
            self.places[i] = slot
            self._write(i, slot)
            if i not in last:
                done.append(slot)
        self.free += done


class CarefulCode:
    """The function `careful`, and its call from a kernel, at the label `RARE`."""

    def __init__(self, program: Program, plan: GpuPlan) -> None:
        self.plan = plan
        found = _Rows(program, plan.kind)
        self.rows, self.bytes = found.rows, found.bytes
        used = [op for op, _, _ in self.rows]
        self.codes = {op: k for k, op in enumerate(
            sorted(set(used), key=lambda op: (-used.count(op), op)), END + 1)}

    def call(self, text: PtxText, names: Sequence[str], layouts: Sequence[ArrayLayout]) -> None:
        """Tell it the thread's states and the arrays, and go there."""
        def keep(at: int, *numbers: str) -> None:
            for k, x in enumerate(numbers):
                text.line(f"st.local.u64 [values+{at + 8 * k}], {x}")

        with text.apart():
            text.label("RARE")
            keep(0, *self._states(text))
            for k, (a, layout) in enumerate(zip(names, layouts, strict=True)):
                start = text.let("q", "cvta.to.global.u64", text.let("q", "ld.param.u64", f"[{a}]"))
                stride = text.let("q", "ld.param.u64", f"[{a}_stride]")
                size = text.let("q", "mov.u64", str(self.plan.size))
                keep(_array(k), start, *((size, stride) if layout == "states" else (stride, size)))
            text.line(".param .u64 told")
            text.line(f"st.param.u64 [told], {text.let('q', 'mov.u64', 'values')}")
            text.line("call careful, (told)")
            text.line("bra DONE")

    def _states(self, text: PtxText) -> tuple[str, str, str]:
        """The thread's first state, the way to the next, and what is behind its last."""
        threads = str(self.plan.block)
        n = text.let("q", "ld.param.u64", "[n]")
        state = text.let("q", "mad.wide.u32", text.let("r", "mov.u32", "%ctaid.x"), threads,
                         text.let("q", "cvt.u64.u32", text.let("r", "mov.u32", "%tid.x")))
        if self.plan.staying:
            return state, text.let("q", "mul.wide.u32", text.let("r", "mov.u32", "%nctaid.x"),
                                   threads), n
        state = text.let("q", "mul.lo.u64", state, str(self.plan.width))
        end = text.let("q", "add.u64", state, str(self.plan.width))
        return state, text.let("q", "mov.u64", "1"), text.let("q", "min.u64", end, n)

    def lines(self) -> list[str]:
        """The table, and the function."""
        words = [w for op, target, more in self.rows for w in (
            self.codes[op] + 256 * target, *more, *[0] * (3 - len(more)))]
        told = ", ".join(map(str, (*words, *[END] * (ROW // 4))))
        return [f".global .align 16 .b32 rows[{len(words) + ROW // 4}] = {{{told}}};",
                *_Walk(self.plan.kind, self.codes).lines()]


class _Walk:
    """Writes the function: state after state, row after row."""

    def __init__(self, kind: Kind, codes: Mapping[str, int]) -> None:
        self.text, self.codes = PtxText(kind), codes
        self.e = PtxEmitter(self.text, kind)

    def lines(self) -> list[str]:
        text = self.text
        self.local = text.let("q", "ld.param.u64", "[place]")
        self.state, step, limit = (text.let("q", "ld.local.u64", f"[{self.local}+{8 * k}]")
                                   for k in range(3))
        text.loop("STATE")
        text.line(f"@{text.let('p', 'setp.ge.u64', self.state, limit)} bra DONE")
        row = text.let("q", "mov.u64", "rows")
        text.loop("ROW")
        words = [text.new("r") for _ in range(4)]
        text.line(f"ld.global.v4.u32 {{{', '.join(words)}}}, [{row}]")
        text.line(f"add.u64 {row}, {row}, {ROW}")
        op = text.let("r", "and.b32", words[0], "255")
        words[0] = text.let("r", "shr.u32", words[0], "8")
        for name, code in self.codes.items():
            text.line(f"@{text.let('p', 'setp.ne.u32', op, str(code))} bra NOT{code}")
            self._run(name, *words)
            text.line("bra ROW")
            text.label(f"NOT{code}")
        text.line(f"add.u64 {self.state}, {self.state}, {step}")
        text.line("bra STATE")
        return [".func careful(.param .u64 place)", "{", *text.declarations(), *text.lines,
                "DONE:", "  ret;", *(line for part in text.later for line in part), "}"]

    def _run(self, op: str, target: str, x: str, y: str, z: str) -> None:
        """One row of an operation."""
        text, e = self.text, self.e
        if op == "const":
            bits, kind = (f"{{{x}, {y}}}", "mov.b64") if e.kind == "double" else (x, "mov.b32")
            self._put(target, text.let("f", kind, bits))
        elif op == "read":
            self._put(target, text.let("f", f"ld.global.nc.{e.type}", f"[{self._entry(x, y)}]"))
        elif op in ("write", "minus"):
            value = self._get(x) if op == "write" else e.negate(self._get(x))
            text.line(f"st.global.{e.type} [{self._entry(y, z)}], {value}")
        elif op == "sincos":
            for place, value in zip((target, y), careful_sincos(e, self._get(x)), strict=True):
                self._put(place, value)
        else:
            count = 3 if op in ("fma", "fms", "fnma") else 1 if op in ("sqrt", "sign") else 2
            self._put(target, OPERATIONS[op](e, *map(self._get, (x, y, z)[:count])))

    def _place(self, word: str) -> str:
        return self.text.let("q", "add.u64", self.local, self.text.let("q", "cvt.u64.u32", word))

    def _get(self, word: str) -> str:
        return self.text.let("f", f"ld.local.{self.e.type}", f"[{self._place(word)}]")

    def _put(self, word: str, value: str) -> None:
        self.text.line(f"st.local.{self.e.type} [{self._place(word)}], {value}")

    def _entry(self, array: str, k: str) -> str:
        """The address of an array's entry."""
        text, place = self.text, self._place(array)
        start, states, entries = (text.let("q", "ld.local.u64", f"[{place}+{at}]")
                                  for at in (0, 8, 16))
        here = text.let("q", "mad.lo.u64", self.state, states, start)
        return text.let("q", "mad.lo.u64", text.let("q", "cvt.u64.u32", k), entries, here)
