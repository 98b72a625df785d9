"""Rows into a triangle: R of the QR decomposition of [R; rows], in place, by reflections.

    α = −sign(r) √(r² + xᵀx),   u = (1, x / (r − α)),   H = 1 − τ u uᵀ,   τ = (α − r) / α     (i)

r is R_kk and x the k-th column of a block of rows; H makes (r, x) to (α, 0), and goes through the
columns behind. A block has as many rows as eight registers hold numbers, so that x stays in them
while column after column passes: LAPACK's `dtpqrt`, made for wide matrices, takes twice the time
on the 10 to 50 columns of an arm (benchmarks/identification.py).
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from closedform.arrays import Floats
from closedform.errors import ArgumentError
from closedform.lowerings.native.cpu import host, load, object_code
from closedform.lowerings.native.ir import LANES, Emitter, Function, Lanes, Module

REGISTERS = 8
"""That hold a column of a block; as many more hold the column that is changed."""
ALIGNED = 64
"""Bytes: no register is filled across two cache lines."""


def triangle(R: Floats, rows: Floats,                            # noqa: N803
             use: NDArray[np.bool_] | None = None) -> None:
    """Take rows (m, n), or those of use, into an upper triangle R (n, n), which is changed.

    Entries of R below the diagonal are left as they are.
    """
    count, width = rows.shape
    which = np.arange(count) if use is None else np.flatnonzero(use)
    if R.shape != (width, width) or not R.flags.c_contiguous or not R.flags.writeable:
        raise ArgumentError(f"R must be a contiguous array ({width}, {width})")
    function, block = _native()
    work = np.empty((width + 1) * block)
    aligned = -(-work.ctypes.data // ALIGNED) * ALIGNED
    function(len(which), width, R.ctypes.data, rows.ctypes.data, *rows.strides,
             which.ctypes.data, aligned)


@functools.cache
def _native(width: int | None = None) -> tuple[Any, int]:
    """The function for registers of so many numbers, this machine's or told; rows of a block."""
    cpu = host()
    module, lanes = Module(), cpu.lanes("double", width)
    _write(module, lanes)
    code = load(object_code(module, cpu), module.imports, cpu)
    i, p = ctypes.c_int64, ctypes.c_void_p
    function = ctypes.CFUNCTYPE(None, i, i, p, p, i, i, p, p)(code.address("triangle"))
    function.code = code                    # type: ignore[attr-defined]  # lives as long
    return function, REGISTERS * lanes.width


def _write(module: Module, lanes: Lanes) -> None:
    f = Function(module)
    wide, one = Emitter(f, lanes), Emitter(f, Lanes("double", 1, lanes.fma))
    block = REGISTERS * lanes.width
    first = _loop(f, "block", "0", "%count")
    _copy(f, first, block)
    k = _loop(f, "k", "0", "%width")
    x, r_at = f.let(f"mul i64 {k}, {8 * block}"), f.let(f"mul i64 {k}, %width")
    x = f.offset("%work", x)
    own = f.let(f"getelementptr double, ptr %R, i64 {f.let(f'add i64 {r_at}, {k}')}")
    column = [wide.load(x, i * lanes.bytes) for i in range(REGISTERS)]
    square = _dot(wide, column, column)
    f.line(f"br i1 {one.compare('une', square, one.number(0.0))}, label %turn, label %k_next")
    f.label("turn")
    r = one.load(own)
    size = one.intrinsic("sqrt", one.multiply_add(r, r, square))
    alpha = one.negate(one.intrinsic("copysign", size, r))
    u0 = one.binary("fsub", r, alpha)
    tau = one.binary("fdiv", one.negate(u0), alpha)
    one.store(alpha, own)
    scale = _spread(wide, one.binary("fdiv", one.number(1.0), u0))
    u = [wide.binary("fmul", c, scale) for c in column]
    j = _loop(f, "j", f.let(f"add i64 {k}, 1"), "%width")
    place = f.offset("%work", f.let(f"mul i64 {j}, {8 * block}"))
    entry = f.let(f"getelementptr double, ptr %R, i64 {f.let(f'add i64 {r_at}, {j}')}")
    other = [wide.load(place, i * lanes.bytes) for i in range(REGISTERS)]
    above = one.load(entry)
    w = one.binary("fmul", tau, one.binary("fadd", above, _dot(wide, u, other)))
    one.store(one.binary("fsub", above, w), entry)
    less = _spread(wide, one.negate(w))
    for i in range(REGISTERS):
        wide.store(wide.multiply_add(less, u[i], other[i]), place, i * lanes.bytes)
    _again(f, "j", j, "1")
    _again(f, "k", k, "1")
    _again(f, "block", first, str(block))
    f.finish("void @triangle(i64 %count, i64 %width, ptr %R, ptr %rows, i64 %down, i64 %right, "
             "ptr %which, ptr %work)", LANES)


def _copy(f: Function, first: str, block: int) -> None:
    """A block of rows into columns, zeros behind the last row."""
    have = f.let(f"sub i64 %count, {first}")
    start = f.let(f"getelementptr i64, ptr %which, i64 {first}")
    row = _loop(f, "row", "0", str(block))
    there = f.let(f"icmp slt i64 {row}, {have}")
    target = f.let(f"getelementptr double, ptr %work, i64 {row}")
    f.line(f"br i1 {there}, label %full, label %empty")
    for name in ("full", "empty"):
        f.label(name)
        if name == "full":
            number = f.let(f"load i64, ptr {f.offset(start, f.let(f'mul i64 {row}, 8'))}")
            source = f.offset("%rows", f.let(f"mul i64 {number}, %down"))
        c = _loop(f, name + "_c", "0", "%width")
        value = "0.0"
        if name == "full":
            value = f.let(f"load double, ptr {f.offset(source, f.let(f'mul i64 {c}, %right'))}")
        place = f.offset(target, f.let(f"mul i64 {c}, {8 * block}"))
        f.line(f"store double {value}, ptr {place}")
        _again(f, name + "_c", c, "1")
        f.line("br label %row_next")
    _again(f, "row", row, "1")


def _loop(f: Function, name: str, start: str, stop: str) -> str:
    """Begin a loop; its variable."""
    before = f.block
    f.line(f"br label %{name}")
    f.label(name)
    i = f"%{name}_i"
    f.line(f"{i} = phi i64 [ {start}, %{before} ], [ %{name}_more, %{name}_next ]")
    f.line(f"br i1 {f.let(f'icmp slt i64 {i}, {stop}')}, label %{name}_body, label %{name}_done")
    f.label(f"{name}_body")
    return i


def _again(f: Function, name: str, i: str, step: str) -> None:
    """End a loop."""
    if not f.lines[-1].lstrip().startswith("br "):
        f.line(f"br label %{name}_next")
    f.label(f"{name}_next")
    f.line(f"%{name}_more = add i64 {i}, {step}")
    f.line(f"br label %{name}")
    f.label(f"{name}_done")


def _dot(e: Emitter, x: list[str], y: list[str]) -> str:
    """Σ x_i y_i over all lanes, in an order that is fixed."""
    sums = [e.binary("fmul", x[i], y[i]) for i in (0, 1)]
    for i in range(2, len(x)):
        sums[i % 2] = e.multiply_add(x[i], y[i], sums[i % 2])
    total, width = e.binary("fadd", *sums), e.lanes.width
    while width > 1:
        half = width // 2
        parts = [e.function.let(
            f"shufflevector <{width} x double> {total}, <{width} x double> poison, "
            f"<{half} x i32> <{', '.join(f'i32 {k + at}' for k in range(half))}>")
            for at in (0, half)]
        kind = f"<{half} x double>"
        total, width = e.function.let(f"fadd {kind} {parts[0]}, {parts[1]}"), half
    return e.function.let(f"extractelement <1 x double> {total}, i32 0")


def _spread(e: Emitter, x: str) -> str:
    """A number in all lanes."""
    kind = e.lanes.type
    first = e.function.let(f"insertelement {kind} poison, double {x}, i32 0")
    return e.function.let(f"shufflevector {kind} {first}, {kind} poison, "
                          f"<{e.lanes.width} x i32> zeroinitializer")
