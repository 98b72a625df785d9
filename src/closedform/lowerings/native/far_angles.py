"""Sine and cosine of angles far out: the reduction of Payne and Hanek in integers.

    x = M 2^k with M of 53 bits,    2x/π mod 4 = 4 frac(M F 2⁻¹⁹²)                      (i)

F are the 192 bits of 2/π behind those whose product with x is a multiple of 4 [PayneHanek1983]. Two
bits of the fraction are the quadrant; the others, centred, times π/2 are r, correct to 2⁻⁶³ of
itself: even the double closest to a multiple of π/2 leaves fewer than 64 leading zeros of 192 bits.
Integers are exact on every machine, so that all targets find the same r.
"""

from __future__ import annotations

from closedform.lowerings.native.ir import APART, BYTES, Emitter, Function, Lanes, Module
from closedform.lowerings.native.sincos import BOUND, polynomials, turned_back

TWO_OVER_PI = (
    0x0000000000000000, 0xA2F9836E4E441529, 0xFC2757D1F534DDC0, 0xDB6295993C439041,
    0xFE5163ABDEBBC561, 0xB7246E3A424DD2E0, 0x06492EEA09D1921C, 0xFE1DEB1CB129A73E,
    0xE88235F52EBB4484, 0xE99C7026B45F7E41, 0x3991D639835339F4, 0x9C845F8BBDF9283B,
    0x1FF897FFDE05980F, 0xEF2F118B5A0A6D1F, 0x6D367ECF27CB09B7, 0x4F463F669E5FEA2D,
    0x7527BAC7EBE5F17B, 0x3D0739F78A5292EA, 0x6BFB5FB11F8D5D08, 0x56033046FC7B6BAB,
)
"""Zeros, and the bits of 2/π behind the point, 64 a word."""
HALF_PI = 0xC90FDAA22168C235
"""π/2 in units of 2⁻⁶³."""
FIRST_BIT = 1013
"""The exponent's bits of x minus the place in the table where F begins."""
LAST_BIT = 2046 - FIRST_BIT
UNIT = 1023 - 63
"""The exponent's bits of 2⁻⁶³."""
MANTISSA, LEADING = (1 << 52) - 1, 1 << 52


def _far(e: Emitter, x: str) -> tuple[str, str]:
    """sin x and cos x for |x| > `BOUND`, a double; NaN for infinities."""
    f = e.function
    bits = f.let(f"bitcast double {x} to i64")
    exponent = f.let(f"and i64 {f.let(f'lshr i64 {bits}, 52')}, 2047")
    m = f.let(f"or i64 {f.let(f'and i64 {bits}, {MANTISSA}')}, {LEADING}")
    start = f.let(f"sub i64 {exponent}, {FIRST_BIT}")
    past = f.let(f"icmp ugt i64 {start}, {LAST_BIT}")
    start = f.let(f"select i1 {past}, i64 {LAST_BIT}, i64 {start}")     # infinities: any will do
    word, shift = f.let(f"lshr i64 {start}, 6"), f.let(f"and i64 {start}, 63")
    words = [f.let(f"load i64, ptr {f.let(f'getelementptr i64, ptr @two_over_pi, i64 {at}')}")
             for at in (word, *(f.let(f"add i64 {word}, {k}") for k in (1, 2, 3)))]
    top, middle, low = (_funnel(f, words[k], words[k + 1], shift) for k in range(3))   # F
    low, carried = _product(f, m, low, "0")
    middle, carried = _product(f, m, middle, carried)
    top = f.let(f"add i64 {f.let(f'mul i64 {m}, {top}')}, {carried}")
    quadrant = f.let(f"lshr i64 {top}, 62")                                            # (i)
    high, rest = _funnel(f, top, middle, "2"), _funnel(f, middle, low, "2")
    beyond = f.let(f"icmp slt i64 {high}, 0")                       # half a quarter turn
    quadrant = f.let(f"add i64 {quadrant}, {f.let(f'zext i1 {beyond} to i64')}")
    whole = _wide(f, high, rest)
    whole = f.let(f"select i1 {beyond}, i128 {f.let(f'sub i128 0, {whole}')}, i128 {whole}")
    high, rest = _halves(f, whole)
    f.module.declarations["declare i64 @llvm.ctlz.i64(i64, i1)"] = None
    zeros = f.let(f"call i64 @llvm.ctlz.i64(i64 {high}, i1 false)")
    _, scaled = _product(f, _funnel(f, high, rest, zeros), str(HALF_PI - (1 << 64)), "0")
    unit = f.let(f"shl i64 {f.let(f'sub i64 {UNIT}, {zeros}')}, 52")
    size = e.binary("fmul", f.let(f"uitofp i64 {scaled} to double"),
                    f.let(f"bitcast i64 {unit} to double"))
    r = e.select(beyond, e.negate(size), size)
    sine, cosine = turned_back(e, quadrant, *polynomials(e, r, r))
    sine = e.select(f.let(f"icmp slt i64 {bits}, 0"), e.negate(sine), sine)
    finite = f.let(f"icmp ne i64 {exponent}, 2047")
    nan = e.number(float("nan"))
    return e.select(finite, sine, nan), e.select(finite, cosine, nan)


def _funnel(f: Function, x: str, y: str, shift: str) -> str:
    """The upper word of (x, y) shifted to the left by less than 64 bits."""
    f.module.declarations["declare i64 @llvm.fshl.i64(i64, i64, i64)"] = None
    return f.let(f"call i64 @llvm.fshl.i64(i64 {x}, i64 {y}, i64 {shift})")


def _wide(f: Function, high: str, low: str) -> str:
    shifted = f.let(f"shl i128 {f.let(f'zext i64 {high} to i128')}, 64")
    return f.let(f"or i128 {shifted}, {f.let(f'zext i64 {low} to i128')}")


def _halves(f: Function, x: str) -> tuple[str, str]:
    return (f.let(f"trunc i128 {f.let(f'lshr i128 {x}, 64')} to i64"),
            f.let(f"trunc i128 {x} to i64"))


def _product(f: Function, x: str, y: str, carried: str) -> tuple[str, str]:
    """The lower and the upper word of x y + carried."""
    wide = [f.let(f"zext i64 {z} to i128") for z in (x, y, carried)]
    high, low = _halves(f, f.let(f"add i128 {f.let(f'mul i128 {wide[0]}, {wide[1]}')}, {wide[2]}"))
    return low, high


def add_repair(module: Module, lanes: Lanes) -> None:
    """void repair(x, s, c, n): s = sin x and c = cos x where |x| > `BOUND`.

    It preserves registers, so that its callers need not save theirs for a call that hardly comes.
    """
    f, kind = Function(module), lanes.kind
    table = ", ".join(f"i64 {word}" for word in TWO_OVER_PI)
    module.declarations[
        f"@two_over_pi = internal constant [{len(TWO_OVER_PI)} x i64] [{table}]"] = None
    one, wide = Emitter(f, Lanes(kind, 1, lanes.fma)), Emitter(f, Lanes("double", 1, lanes.fma))
    f.line("br label %head")
    f.label("head")
    f.line("%k = phi i64 [ 0, %start ], [ %next, %latch ]")
    x, s, c = (f.let(f"getelementptr {kind}, ptr %{array}, i64 %k") for array in "xsc")
    angle = one.load(x, align=BYTES[kind])
    beyond = one.compare("ogt", one.intrinsic("fabs", angle), one.number(BOUND))
    f.line(f"br i1 {beyond}, label %far, label %latch")
    f.label("far")
    if kind == "float":
        angle = f.let(f"fpext float {angle} to double")
    for value, place in zip(_far(wide, angle), (s, c), strict=True):
        one.store(f.let(f"fptrunc double {value} to float") if kind == "float" else value,
                  place, align=BYTES[kind])
    f.line("br label %latch")
    f.label("latch")
    f.line("%next = add i64 %k, 1")
    f.line("%more = icmp slt i64 %next, %n")
    f.line("br i1 %more, label %head, label %done")
    f.label("done")
    f.finish("internal preserve_mostcc void @repair(ptr %x, ptr %s, ptr %c, i64 %n)", APART)
