"""PTX as text: registers, instructions, and the operations of a program on numbers.

The emitter has the methods of the one for LLVM, so that arithmetic, sines and cosines are written
by the same code and round alike. Every operation is `.rn`: without it the assembler fuses products
and sums as it likes.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from closedform.lowerings.native.ir import Kind, Lanes

Register = Literal["f", "d", "r", "q", "p"]
"""A number of the kernel, a double, 32 or 64 bits, a truth value."""
TYPES: Mapping[Kind, str] = MappingProxyType({"double": "f64", "float": "f32"})
INSTRUCTIONS: Mapping[str, str] = MappingProxyType({
    "fadd": "add.rn", "fsub": "sub.rn", "fmul": "mul.rn", "fdiv": "div.rn", "fma": "fma.rn",
    "sqrt": "sqrt.rn", "fabs": "abs", "olt": "setp.lt", "ogt": "setp.gt"})

LOW_ZEROS = "0" * 8
"""The lower word of a number that fits an instruction."""


@dataclass
class PtxText:
    """The lines of a kernel, and how many registers of each class it has."""

    kind: Kind
    alone: bool = False
    """Whether a block is one warp."""
    lines: list[str] = field(default_factory=list)
    later: list[list[str]] = field(default_factory=list)
    counts: dict[Register, int] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)
    """Constants in constant memory, and which one each is."""
    marks: int = 0

    def new(self, register: Register) -> str:
        self.counts[register] = self.counts.get(register, 0) + 1
        return f"%{register}{self.counts[register]}"

    def line(self, text: str) -> None:
        self.lines.append(f"  {text};")

    def label(self, name: str) -> None:
        self.lines.append(f"{name}:")

    def loop(self, name: str) -> None:
        """A label to which is gone back; the loop stays one: instructions fill the cache."""
        self.label(name)
        self.line('.pragma "nounroll"')

    def together(self) -> None:
        """The lanes of a warp wait for one another.

        For a warp that may have diverged the assembler writes all code behind a second time; where
        it is the whole block, the block's barrier does without.
        """
        self.line("bar.sync 0" if self.alone else "bar.warp.sync -1")

    def mark(self) -> int:
        """A number for labels that must not be mistaken for others."""
        self.marks += 1
        return self.marks

    def let(self, register: Register, instruction: str, *args: str) -> str:
        """A new register with the result of an instruction."""
        made = self.new(register)
        self.line(f"{instruction} {made}, {', '.join(args)}")
        return made

    @contextmanager
    def apart(self) -> Iterator[None]:
        """What is written meanwhile stands behind the end of the kernel: code for rare cases."""
        main, self.lines = self.lines, []
        yield
        self.later.append(self.lines)
        self.lines = main

    def declarations(self) -> list[str]:
        types = {"f": TYPES[self.kind], "d": "f64", "r": "b32", "q": "b64", "p": "pred"}
        return [f"  .reg .{types[name]} %{name}<{count + 1}>;"
                for name, count in self.counts.items()]

    def table(self) -> list[str]:
        """The constant memory."""
        words = ", ".join(f"0x{number.removeprefix('0d')}" for number in self.numbers)
        count = len(self.numbers)
        return [f".const .align 8 .b64 numbers[{count}] = {{{words}}};"] if count else []


def literal(x: float, kind: Kind) -> str:
    """A number, every bit of it."""
    if kind == "double":
        return "0d" + struct.pack(">d", x).hex().upper()
    return "0f" + struct.pack(">f", x).hex().upper()


@dataclass(frozen=True)
class PtxEmitter:
    """Writes operations on numbers of a kind into a text."""

    text: PtxText
    kind: Kind
    register: Register = "f"
    stored: bool = False
    """Whether constants that do not fit an instruction are in constant memory."""

    @property
    def lanes(self) -> Lanes:
        return Lanes(self.kind, 1, fma=True)

    @property
    def type(self) -> str:
        return TYPES[self.kind]

    def number(self, x: float) -> str:
        found = literal(x, self.kind)
        if not self.stored or self.kind != "double" or found.endswith(LOW_ZEROS):
            return found
        place = self.text.numbers.setdefault(found, len(self.text.numbers))
        return self.text.let("f", "ld.const.f64", f"[numbers+{8 * place}]")

    def _let(self, instruction: str, *args: str) -> str:
        return self.text.let(self.register, f"{instruction}.{self.type}", *args)

    def binary(self, op: str, x: str, y: str) -> str:
        return self._let(INSTRUCTIONS[op], x, y)

    def intrinsic(self, name: str, *args: str) -> str:
        return self._let(INSTRUCTIONS[name], *args)

    def multiply_add(self, x: str, y: str, z: str) -> str:
        return self._let("fma.rn", x, y, z)

    def negate(self, x: str) -> str:
        return self._let("neg", x)

    def compare(self, condition: str, x: str, y: str) -> str:
        return self.text.let("p", f"{INSTRUCTIONS[condition]}.{self.type}", x, y)

    def select(self, mask: str, x: str, y: str) -> str:
        return self._let("selp", x, y, mask)

    # ------------------------------------------------------------------ quarter turns
    def quadrant(self, x: str) -> str:
        """The lower 32 bits of a number."""
        return self._words(x)[0] if self.kind == "double" else self._bits(x)

    def is_odd(self, quadrant: str) -> str:
        return self.text.let("p", "setp.ne.u32", self.text.let("r", "and.b32", quadrant, "1"), "0")

    def following(self, quadrant: str) -> str:
        return self.text.let("r", "add.u32", quadrant, "1")

    def turned(self, x: str, quadrant: str) -> str:
        """x, or −x if bit 1 of the quadrant is set."""
        top = self.text.let("r", "shl.b32", quadrant, "30")
        flip = self.text.let("r", "and.b32", top, "0x80000000")
        if self.kind == "float":
            bits = self.text.let("r", "xor.b32", self._bits(x), flip)
            return self.text.let(self.register, "mov.b32", bits)
        low, high = self._words(x)
        return self.text.let(self.register, "mov.b64",
                             f"{{{low}, {self.text.let('r', 'xor.b32', high, flip)}}}")

    def lower_word(self, x: str) -> str:
        """The lower 32 bits of a double."""
        return self._words(x)[0]

    def upper_word(self, x: str) -> str:
        """The upper 32 bits of a number."""
        return self._words(x)[1] if self.kind == "double" else self._bits(x)

    def _bits(self, x: str) -> str:
        x = x if x.startswith("%") else self._let("mov", x)
        return self.text.let("r", "mov.b32", x)

    def _words(self, x: str) -> tuple[str, str]:
        x = x if x.startswith("%") else self._let("mov", x)
        low, high = self.text.new("r"), self.text.new("r")
        self.text.line(f"mov.b64 {{{low}, {high}}}, {x}")
        return low, high
