"""A program as WebAssembly, made by LLVM: one state, and many in a loop over them.

    kernel(in0, …, out0, …)            addresses in the exported `memory`, arrays of doubles
    batch(n, in0, …, out0, …)          n states, one behind the other in each array

Nothing is imported: sines and cosines are those of `native/sincos.py`, of any finite angle, without
fused multiply-add, which WebAssembly does not have. For one state every array has its place in the
memory, an exported constant of its name; `free` is the first byte behind them.

Of limbs in lanes two share a register of 128 bits. Constants, and values that wait between the
pieces of a large program, have fixed places in the memory: V8 writes a constant out at each use,
in 15 bytes of code, and reads one at a fixed place as part of an instruction.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import llvmlite.binding as llvm

from closedform.errors import ArgumentError
from closedform.lowerings.native.cpu import MAKING
from closedform.lowerings.native.functions import array_names, scalar_module
from closedform.lowerings.native.ir import Emitter, Function, Lanes, Module, number
from closedform.lowerings.source.assignments import array_sizes, output_names
from closedform.lowerings.wasm.linking import MemoryLayout, linked
from closedform.program.program import Program

TRIPLE = "wasm32-unknown-unknown"
PACK = 2
"""Angles in one register of 128 bits."""
LIMITS = (300, 400)
"""Steps of a piece, and up to which there is but one: V8 keeps fewer values in registers the longer
a function is."""
SPARE_STACK = 1 << 10
"""Bytes beyond what functions reserve: LLVM keeps all else in WebAssembly's own locals."""
LEVEL = 2
"""Code generation's optimisation: at 1 every value is a local that is set and read again."""


@dataclass
class WasmModule(Module):
    """Functions that find their constants, and memory for what waits, at places in the memory."""

    inside: ClassVar[str] = "inbounds "             # else each distance is added by an instruction
    constants: list[float] = field(default_factory=list)
    places: dict[tuple[str, ...], int] = field(default_factory=dict)
    waiting: int = 0                                # bytes

    def numbers(self, e: Emitter, values: Sequence[float]) -> str:
        key = tuple(number(x, "double") for x in values)
        if key not in self.places:
            self.places[key] = 8 * len(self.constants)
            self.constants.extend(values)
        return e.function.let(f"load {e.lanes.type}, ptr getelementptr (i8, ptr @constants, i32 "
                              f"{self.places[key]}), align 8, !invariant.load !2")

    def scratch(self, main: Function, size: int, align: int) -> str:
        self.waiting = size
        return "@waiting"

    def text(self) -> str:
        numbers = ", ".join(f"double {number(x, 'double')}" for x in self.constants)
        return "\n".join((
            f"@constants = internal global [{len(self.constants)} x double] [{numbers}], align 16",
            f"@waiting = internal global [{self.waiting} x i8] zeroinitializer, align 16",
            super().text(), "!2 = !{}", ""))


def wasm_module(program: Program, about: Sequence[str] = (),
                folded: Program | None = None) -> bytes:
    """The bytes of a module; the lines `about` it are in its section `closedform`.

    `folded`: the same program with limbs in lanes.
    """
    module = scalar_module(folded or program, Lanes("double", 1, fma=False), PACK, LIMITS,
                           WasmModule())
    if module.imports:
        raise ArgumentError(f"WebAssembly has no {', '.join(module.imports)}; see "
                            "OPERATIONS in lowerings/native/ir.py")
    _add_wide_product(module)
    _add_batch(program, module)
    reserved = sum(int(x) for f in module.functions for x in re.findall(r"alloca \[(\d+) x", f))
    names = [*(s.name for s in program.inputs), *output_names(program)]
    sizes = [8 * n for n in array_sizes(program)]
    layout = MemoryLayout(reserved + SPARE_STACK, dict(zip(names, sizes, strict=True)))
    return linked(_object_code(module), ["kernel", "batch"], layout, "\n".join(about))


def _object_code(module: Module) -> bytes:
    with MAKING:
        machine = _machine()
        parsed = llvm.parse_assembly(module.text())
        parsed.triple, parsed.data_layout = TRIPLE, str(machine.target_data)
        return bytes(machine.emit_object(parsed))


@functools.cache
def _machine() -> Any:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm.Target.from_triple(TRIPLE).create_target_machine(
        features="+simd128", opt=LEVEL, reloc="static")


def _add_batch(program: Program, module: Module) -> None:
    """kernel(state) for all n states."""
    f, arrays = Function(module), array_names(program)
    f.line("%some = icmp sgt i32 %n, 0")
    f.line("br i1 %some, label %one, label %done")
    f.label("one")
    f.line("%k = phi i32 [ 0, %start ], [ %next, %one ]")
    places = [f.let(f"getelementptr double, ptr %{a}, i32 {f.let(f'mul i32 %k, {size}')}")
              for a, size in zip(arrays, array_sizes(program), strict=True)]
    f.line(f"call void @kernel({', '.join(f'ptr {p}' for p in places)})")
    f.line("%next = add i32 %k, 1")
    f.line("%more = icmp slt i32 %next, %n")
    f.line("br i1 %more, label %one, label %done")
    f.label("done")
    f.finish(f"void @batch(i32 %n, {', '.join(f'ptr %{a}' for a in arrays)})")


def _add_wide_product(module: Module) -> None:
    """The product of integers of 128 bits, which LLVM calls by this name: by halves of words."""
    f = Function(module)
    x, y = _halves(f, "%x"), _halves(f, "%y")
    low, cross = f.let(f"mul i64 {x[0]}, {y[0]}"), f.let(f"mul i64 {x[1]}, {y[0]}")
    other, high = f.let(f"mul i64 {x[0]}, {y[1]}"), f.let(f"mul i64 {x[1]}, {y[1]}")
    middle = f.let(f"add i64 {cross}, {_halves(f, low)[1]}")
    below, above = _halves(f, middle)
    second = f.let(f"add i64 {other}, {below}")
    high = f.let(f"add i64 {f.let(f'add i64 {high}, {above}')}, {_halves(f, second)[1]}")
    for one, two in (("%x", "%y_high"), ("%x_high", "%y")):
        high = f.let(f"add i64 {high}, {f.let(f'mul i64 {one}, {two}')}")
    f.line(f"store i64 {f.let('mul i64 %x, %y')}, ptr %result, align 8")
    f.line(f"store i64 {high}, ptr {f.offset('%result', 8)}, align 8")
    f.finish("void @__multi3(ptr %result, i64 %x, i64 %x_high, i64 %y, i64 %y_high)")


def _halves(f: Function, x: str) -> tuple[str, str]:
    """The lower and the upper 32 bits."""
    return f.let(f"and i64 {x}, {(1 << 32) - 1}"), f.let(f"lshr i64 {x}, 32")
