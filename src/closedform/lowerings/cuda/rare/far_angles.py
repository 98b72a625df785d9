"""Sine and cosine of angles far out in PTX: the integers of the CPU's reduction, and its numbers.

See `native/far_angles.py`: both find the same r, bit for bit, and go on alike.
"""

from __future__ import annotations

from closedform.lowerings.cuda.text import PtxEmitter, PtxText
from closedform.lowerings.native.far_angles import (
    FIRST_BIT,
    HALF_PI,
    LAST_BIT,
    LEADING,
    MANTISSA,
    TWO_OVER_PI,
    UNIT,
)
from closedform.lowerings.native.sincos import polynomials, turned_back

TABLE = (f".const .align 8 .b64 two_over_pi[{len(TWO_OVER_PI)}] = "
         f"{{{', '.join(f'0x{word:016X}' for word in TWO_OVER_PI)}}};")
NAN = "0d7FF8000000000000"


def far(text: PtxText, x: str) -> tuple[str, str]:
    """sin x and cos x of a double beyond the bound; NaN for infinities."""
    def q(instruction: str, *args: str) -> str:
        return text.let("q", instruction, *args)

    def r(instruction: str, *args: str) -> str:
        return text.let("r", instruction, *args)

    def funnel(high: str, low: str, left: str, right: str) -> str:
        """The upper word of (high, low) shifted to the left; a shift by 64 gives 0."""
        return q("or.b64", q("shl.b64", high, left), q("shr.u64", low, right))

    bits = q("mov.b64", x)
    exponent = r("and.b32", r("cvt.u32.u64", q("shr.u64", bits, "52")), "2047")
    m = q("or.b64", q("and.b64", bits, hex(MANTISSA)), hex(LEADING))
    start = r("min.u32", r("sub.u32", exponent, str(FIRST_BIT)), str(LAST_BIT))
    left = r("and.b32", start, "63")
    right = r("sub.u32", "64", left)
    place = q("mad.wide.u32", r("shr.u32", start, "6"), "8", q("mov.u64", "two_over_pi"))
    words = [q("ld.const.b64", f"[{place}+{8 * k}]") for k in range(4)]
    top, middle, low = (funnel(words[k], words[k + 1], left, right) for k in range(3))
    last, carried = q("mul.lo.u64", m, low), q("mul.hi.u64", m, low)
    upper, first = q("mul.hi.u64", m, middle), q("mul.lo.u64", m, middle)
    middle = q("add.u64", first, carried)
    over = q("selp.b64", "1", "0", text.let("p", "setp.lt.u64", middle, first))
    top = q("add.u64", q("add.u64", q("mul.lo.u64", m, top), upper), over)
    quadrant = r("cvt.u32.u64", q("shr.u64", top, "62"))
    high, rest = funnel(top, middle, "2", "62"), funnel(middle, last, "2", "62")
    beyond = text.let("p", "setp.lt.s64", high, "0")
    quadrant = r("add.u32", quadrant, r("selp.b32", "1", "0", beyond))
    none = text.let("p", "setp.eq.u64", rest, "0")
    minus_high = q("add.u64", q("not.b64", high), q("selp.b64", "1", "0", none))
    high = q("selp.b64", minus_high, high, beyond)
    rest = q("selp.b64", q("neg.s64", rest), rest, beyond)
    zeros = r("clz.b64", high)
    scaled = q("mul.hi.u64", funnel(high, rest, zeros, r("sub.u32", "64", zeros)), hex(HALF_PI))
    unit = q("shl.b64", q("cvt.u64.u32", r("sub.u32", str(UNIT), zeros)), "52")
    e = PtxEmitter(text, "double", "d")
    size = e.binary("fmul", text.let("d", "cvt.rn.f64.u64", scaled),
                    text.let("d", "mov.b64", unit))
    angle = e.select(beyond, e.negate(size), size)
    sine, cosine = turned_back(e, quadrant, *polynomials(e, angle, angle))
    sine = e.select(text.let("p", "setp.lt.s64", bits, "0"), e.negate(sine), sine)
    finite = text.let("p", "setp.ne.u32", exponent, "2047")
    return e.select(finite, sine, NAN), e.select(finite, cosine, NAN)
