"""LLVM IR as text: numbers in lanes, the operations of a program on them, and modules of functions.

Text and not builder objects: it is many times faster to make, and LLVM parses it in milliseconds.
Arithmetic carries no flags, so that NaN, infinities and the signs of zeros pass as IEEE says. Which
product is fused with which sum is written out (`fma`, `fms`, `fnma`) and not left to LLVM's
contraction: scalar and SIMD code, on every target that can fuse, then round alike.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from types import MappingProxyType
from typing import Any, ClassVar, Literal, cast

import numpy as np

ATTRIBUTES = ('"no-trapping-math"="true" "prefer-vector-width"="512" '
              '"min-legal-vector-width"="512"')
PLAIN, APART, LANES, LANES_APART = "#0", "#1", "#2", "#3"
"""Attributes of functions: those apart are not inlined; those in lanes align their stack, so
that no register is put aside across two cache lines."""

JUMP = 40
"""Lines of a long function after which it jumps to the next one."""

NEAR, FORGOTTEN = 256, 600
"""Bytes around an address that can be told from it in one byte, and lines of IR after which such an
address is computed anew, so that few are kept."""

Kind = Literal["double", "float"]
BYTES: Mapping[Kind, int] = MappingProxyType({"double": 8, "float": 4})
BITS: Mapping[Kind, str] = MappingProxyType({"double": "i64", "float": "i32"})
KIND_OF: Mapping[Any, Kind] = MappingProxyType({
    np.dtype(np.float64): "double", np.dtype(np.float32): "float"})
"""By NumPy's data type."""


@dataclass(frozen=True)
class Lanes:
    """What one register holds: `width` numbers; with `fma` the target can multiply-add."""

    kind: Kind
    width: int
    fma: bool

    def of(self, element: str) -> str:
        """The type of as many elements as there are lanes."""
        return element if self.width == 1 else f"<{self.width} x {element}>"

    @cached_property
    def type(self) -> str:
        return self.of(self.kind)

    @cached_property
    def bits(self) -> str:
        """The integers of the same size."""
        return self.of(BITS[self.kind])

    @cached_property
    def bytes(self) -> int:
        return self.width * BYTES[self.kind]

    @cached_property
    def suffix(self) -> str:
        """How an intrinsic's name ends."""
        return ("" if self.width == 1 else f"v{self.width}") + f"f{8 * BYTES[self.kind]}"


def number(x: float, kind: Kind) -> str:
    """A literal, every bit of it; LLVM writes a float as the double of the same value."""
    value = float(np.float32(x)) if kind == "float" else x
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


def literal(lanes: Lanes, values: Sequence[float]) -> str:
    """A number for each lane."""
    texts = [number(x, lanes.kind) for x in values]
    if lanes.width == 1:
        return texts[0]
    if len(set(texts)) == 1:
        return f"splat ({lanes.kind} {texts[0]})"
    return "<" + ", ".join(f"{lanes.kind} {x}" for x in texts) + ">"


@dataclass
class Module:
    """The functions of one object file.

    Nothing is resolved by a linker: what the code needs of its process is a row in the table
    `imports`, filled in after loading, so that an object file is the same in every process.
    """

    inside: ClassVar[str] = ""                      # "inbounds ", where addresses are cheaper so
    functions: list[str] = field(default_factory=list)
    declarations: dict[str, None] = field(default_factory=dict)
    imports: list[str] = field(default_factory=list)

    def imported(self, name: str) -> str:
        """The place in the table of a thing of the process, as a constant pointer."""
        if name not in self.imports:
            self.imports.append(name)
        return f"getelementptr (i8, ptr @imports, i64 {8 * self.imports.index(name)})"

    def numbers(self, e: Emitter, values: Sequence[float]) -> str:
        """A number for each lane of what e writes, part of the code."""
        return literal(e.lanes, values)

    def scratch(self, main: Function, size: int, align: int) -> str:
        """Bytes in which values wait for others to be computed: those of a call of `main`."""
        return main.allocate(size, align)

    def text(self) -> str:
        return "\n".join((
            f"@imports = global [{max(len(self.imports), 1)} x ptr] zeroinitializer, align 8",
            *self.declarations,
            *self.functions,
            *(f"attributes {group} = {{ {extra} nounwind {ATTRIBUTES} }}"
              for group, extra in (
                  (PLAIN, ""), (APART, "noinline"),
                  (LANES, "alignstack=64"), (LANES_APART, "noinline alignstack=64"))),
            "!0 = !{!\"branch_weights\", i32 1, i32 100000}",
            "!1 = !{!\"order\"}",
            "",
        ))


@dataclass
class Function:
    """The lines of a function being written; allocations go to its first block.

    `nearby`: addresses are told from others nearby, where that makes instructions shorter.
    `jumping`: on x86, now and then it jumps to what comes next. It seems that a processor leaves
    its cache of decoded instructions where a line is not in it, and comes back after a jump only.
    Functions of many thousand instructions are faster with it (`benchmarks/choices.py`).
    """

    module: Module
    nearby: bool = False
    jumping: bool = False
    bases: dict[tuple[str, int], tuple[str, int]] = field(default_factory=dict)
    allocations: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    block: str = "start"
    count: int = 0
    jumped: int = 0                                 # lines up to the last jump

    def name(self) -> str:
        self.count += 1
        return f"%t{self.count}"

    def line(self, text: str) -> None:
        self.lines.append("  " + text)

    def label(self, name: str) -> None:
        """Begin a block."""
        self.lines.append(f"{name}:")
        self.block = name

    def let(self, expression: str) -> str:
        """A new name for the value of an expression."""
        if not expression.startswith("phi "):
            self._jump()
        result = self.name()
        self.lines.append(f"  {result} = {expression}")
        return result

    def _jump(self) -> None:
        if self.jumping and len(self.lines) - self.jumped >= JUMP:
            self.lines.append('  call void asm sideeffect "jmp 1f\\0A1:", ""()')
            self.jumped = len(self.lines)

    def allocate(self, size: int, align: int = 8) -> str:
        """Bytes on the stack, reserved once per call."""
        result = self.name()
        self.allocations.append(f"  {result} = alloca [{size} x i8], align {align}")
        return result

    def offset(self, pointer: str, size: int | str) -> str:
        """A pointer moved by some bytes."""
        return pointer if size == 0 else self.let(
            f"getelementptr {self.module.inside}i8, ptr {pointer}, i64 {size}")

    def near(self, pointer: str, size: int) -> str:
        """The same from a pointer nearby: on x86 a distance takes one byte of code, or else four.

        An empty assembly hides from LLVM how the two belong together. Code that does not fit the
        processor's caches takes as long as it takes to be read.
        """
        block = (size + NEAR // 2) // NEAR
        if not self.nearby or block == 0:
            return self.offset(pointer, size)
        base, used = self.bases.get((pointer, block), ("", -FORGOTTEN))
        if len(self.lines) - used >= FORGOTTEN:
            base = self.let(f'call ptr asm "", "=r,0"(ptr {self.offset(pointer, block * NEAR)})')
        self.bases[pointer, block] = base, len(self.lines)
        return self.offset(base, size - block * NEAR)

    def imported(self, name: str) -> str:
        return self.let(f"load ptr, ptr {self.module.imported(name)}, align 8")

    def keep_order(self) -> None:
        """What stands before is computed before what comes after; a label, no instruction."""
        self.module.declarations["declare void @llvm.codeview.annotation(metadata)"] = None
        self.line("call void @llvm.codeview.annotation(metadata !1)")

    def finish(self, signature: str, attributes: str = PLAIN, result: str = "void") -> None:
        """Close the function and give it to the module."""
        body = "\n".join((*self.allocations, "  br label %start", "start:", *self.lines))
        self.module.functions.append(
            f"define {signature} {attributes} {{\nentry:\n{body}\n  ret {result}\n}}\n")


@dataclass(frozen=True)
class Emitter:
    """Writes operations on lanes into a function."""

    function: Function
    lanes: Lanes

    def number(self, x: float) -> str:
        """A constant in every lane."""
        return self.numbers([x] * self.lanes.width)

    def numbers(self, values: Sequence[float]) -> str:
        """A constant for each lane."""
        return self.function.module.numbers(self, values)

    def integer(self, k: int) -> str:
        return str(k) if self.lanes.width == 1 else f"splat ({BITS[self.lanes.kind]} {k})"

    def binary(self, op: str, x: str, y: str) -> str:
        return self.function.let(f"{op} {self.lanes.type} {x}, {y}")

    def bitwise(self, op: str, x: str, y: str) -> str:
        return self.function.let(f"{op} {self.lanes.bits} {x}, {y}")

    def cast(self, x: str, old: str, new: str) -> str:
        return self.function.let(f"bitcast {old} {x} to {new}")

    def compare(self, condition: str, x: str, y: str) -> str:
        return self.function.let(f"fcmp {condition} {self.lanes.type} {x}, {y}")

    def select(self, mask: str, x: str, y: str) -> str:
        t = self.lanes.type
        return self.function.let(f"select {self.lanes.of('i1')} {mask}, {t} {x}, {t} {y}")

    def negate(self, x: str) -> str:
        return self.function.let(f"fneg {self.lanes.type} {x}")

    def intrinsic(self, name: str, *args: str) -> str:
        declared, called, t = _intrinsic(name, self.lanes, len(args))
        self.function.module.declarations[declared] = None
        return self.function.let(f"{called}({t} {f', {t} '.join(args)})")

    def multiply_add(self, x: str, y: str, z: str) -> str:
        """x y + z, in one rounding where the target can."""
        if self.lanes.fma:
            return self.intrinsic("fma", x, y, z)
        return self.binary("fadd", self.binary("fmul", x, y), z)

    def library(self, name: str, x: str) -> str:
        """A function of the C library, lane by lane."""
        if self.lanes.width == 1:
            wide = x if self.lanes.kind == "double" else self.function.let(
                f"fpext float {x} to double")
            y = self.function.let(f"call double {self.function.imported(name)}(double {wide})")
            return y if self.lanes.kind == "double" else self.function.let(
                f"fptrunc double {y} to float")
        t, one = self.lanes.type, Emitter(self.function, replace(self.lanes, width=1))
        made = "zeroinitializer"
        for k in range(self.lanes.width):
            y = one.library(name, self.function.let(f"extractelement {t} {x}, i32 {k}"))
            made = self.function.let(
                f"insertelement {t} {made}, {self.lanes.kind} {y}, i32 {k}")
        return made

    def quadrant(self, x: str) -> str:
        """The bits of a number, of which the lowest count quarter turns."""
        return self.cast(x, self.lanes.type, self.lanes.bits)

    def is_odd(self, quadrant: str) -> str:
        lowest = self.bitwise("and", quadrant, self.integer(1))
        return self.function.let(f"icmp ne {self.lanes.bits} {lowest}, {self.integer(0)}")

    def following(self, quadrant: str) -> str:
        return self.bitwise("add", quadrant, self.integer(1))

    def turned(self, x: str, quadrant: str) -> str:
        """x, or −x if bit 1 of the quadrant is set."""
        length = 8 * BYTES[self.lanes.kind]
        top = self.bitwise("shl", quadrant, self.integer(length - 2))
        flip = self.bitwise("and", top, self.integer(-1 << (length - 1)))
        bits = self.bitwise("xor", self.quadrant(x), flip)
        return self.cast(bits, self.lanes.bits, self.lanes.type)

    def load(self, pointer: str, size: int = 0, align: int = 0) -> str:
        """The lanes found some bytes after a pointer."""
        place = self.function.offset(pointer, size)
        return self.function.let(
            f"load {self.lanes.type}, ptr {place}, align {align or self.lanes.bytes}")

    def store(self, x: str, pointer: str, size: int = 0, align: int = 0) -> None:
        place = self.function.offset(pointer, size)
        self.function.line(
            f"store {self.lanes.type} {x}, ptr {place}, align {align or self.lanes.bytes}")


@cache
def _intrinsic(name: str, lanes: Lanes, count: int) -> tuple[str, str, str]:
    """How an intrinsic of so many arguments is declared and called, and their type."""
    t, full = lanes.type, f"@llvm.{name}.{lanes.suffix}"
    return f"declare {t} {full}({', '.join([t] * count)})", f"call {t} {full}", t


def _sign(e: Any, x: str) -> str:
    """−1, 0 or 1; NaN stays NaN."""
    below = e.select(e.compare("olt", x, e.number(0.0)), e.number(-1.0), x)
    return cast(str, e.select(e.compare("ogt", x, e.number(0.0)), e.number(1.0), below))


OPERATIONS: Mapping[str, Callable[..., str]] = MappingProxyType({
    "add": lambda e, x, y: e.binary("fadd", x, y),
    "sub": lambda e, x, y: e.binary("fsub", x, y),
    "mul": lambda e, x, y: e.binary("fmul", x, y),
    "div": lambda e, x, y: e.binary("fdiv", x, y),
    "sqrt": lambda e, x: e.intrinsic("sqrt", x),
    "sign": _sign,
    "fma": lambda e, x, y, z: e.intrinsic("fma", x, y, z),                 # x y + z
    "fms": lambda e, x, y, z: e.intrinsic("fma", x, y, e.negate(z)),       # x y − z
    "fnma": lambda e, x, y, z: e.intrinsic("fma", e.negate(x), y, z),      # z − x y
})
"""How arithmetic is written by an emitter of any language; sines and cosines are in `sincos.py`,
others in the C library."""
