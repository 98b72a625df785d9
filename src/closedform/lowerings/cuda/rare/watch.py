"""What is rare is noticed and done again: angles far out, and divisors of extreme size.

The quick code has nothing for them, which would cost registers and order. A thread that meets one
does its state again at the end (`careful.py`). In a program that is cut into several kernels, or
short and run for very many states, it raises a word to the number of the call instead: a careful
kernel reads it, behind the others on the stream, and ends at once if it is lower, or computes all
states again with the exact division and the long reduction of angles. Where two calls share a word,
in a graph that is replayed or on other streams, either may do so without need, and none fails to.

    r ≈ 1/y,  r ← r + r (1 − y r);      q = x r;      x / y = q + r (x − y q)             (i)

is the correctly rounded quotient where nothing overflows or is lost below [Markstein1990]; but that
a power of two divided by a double whose mantissa is all ones, 1 − 2⁻⁵³ say, comes out an ulp low: r
does, whose iteration goes there from below. Of floats r may be right, by the first approximation.
"""

from __future__ import annotations

import math

import numpy as np

from closedform.lowerings.cuda.text import PtxEmitter
from closedform.lowerings.native.ir import Kind
from closedform.lowerings.native.sincos import BOUND

RANGE: dict[Kind, int] = {"double": 400, "float": 50}
"""Divisors, and dividends that are not 0, are within 2 to the power of this and of its negative."""
BIAS: dict[Kind, int] = {"double": 1023, "float": 127}
EXPONENT: dict[Kind, int] = {"double": 20, "float": 23}
"""Bits below the exponent in the upper word."""


class RareWatch:
    """Whether a thread met something that the quick code is not for: `seen`, a register."""

    def __init__(self, e: PtxEmitter) -> None:
        self.e, self.text = e, e.text
        self.seen = self.kept = ""

    def angle(self, x: str) -> None:
        """Note an angle that may be beyond the bound; its upper word tells."""
        double = self.e.kind == "double"
        bits = np.array(BOUND, np.float64 if double else np.float32).view(
            np.uint64 if double else np.uint32)
        word = self.text.let("r", "and.b32", self.e.upper_word(x), "0x7FFFFFFF")
        self._note("ge", word, str(int(bits) >> (32 if double else 0)))

    def size(self, x: str, or_zero: bool = False) -> None:
        """Note a number whose exponent is out of range."""
        text, kind = self.text, self.e.kind
        shifted = text.let("r", "shl.b32", self.e.upper_word(x), "1")
        first = (BIAS[kind] - RANGE[kind]) << EXPONENT[kind] + 1
        moved = text.let("r", "sub.u32", shifted, str(first))
        if or_zero:
            nothing = text.let("p", f"setp.eq.{self.e.type}", x, self.e.number(0.0))
            moved = text.let("r", "selp.b32", "0", moved, nothing)
        self._note("gt", moved, str(2 * RANGE[kind] << EXPONENT[kind] + 1))

    def all_ones(self, y: str) -> None:
        """Note a double whose mantissa is the largest."""
        high = self.text.let("r", "or.b32", self.e.upper_word(y), "0xFFF00000")
        both = self.text.let("r", "and.b32", high, self.e.lower_word(y))
        self._note("eq", both, "0xFFFFFFFF")

    def known(self, x: float) -> None:
        """The same of a constant."""
        if not 2.0 ** -RANGE[self.e.kind] <= abs(x) <= 2.0 ** RANGE[self.e.kind]:
            self._note("eq", self.text.let("r", "mov.u32", "0"), "0")

    def _note(self, condition: str, x: str, y: str) -> None:
        old = f", {self.seen}" if self.seen else ""
        made = self.text.new("p")
        self.text.line(f"setp.{condition}{'.or' if old else ''}.u32 {made}, {x}, {y}{old}")
        self.seen = made

    def keep(self) -> None:
        """Remember it over the tiles of a warp that stays."""
        self.kept = self.text.let("r", "mov.u32", "0")

    def note_kept(self) -> None:
        if self.kept and self.seen:
            self.text.line(f"@{self.seen} mov.u32 {self.kept}, 1")

    def found(self) -> str:
        """Whether something was met, at the end of the kernel."""
        return self.text.let("p", "setp.ne.u32", self.kept, "0") if self.kept else self.seen

    def tell(self) -> None:
        """Leave word for the careful kernel."""
        if self.seen:
            word = self.text.let("q", "cvta.to.global.u64",
                                 self.text.let("q", "ld.param.u64", "[word]"))
            call = self.text.let("q", "ld.param.u64", "[call]")
            self.text.line(f"@{self.seen} red.global.max.u64 [{word}], {call}")


STEPS = {"double": 2, "float": 1}
"""Of Newton, from the 20 bits or more of the GPU's own approximation."""


def quotient(e: PtxEmitter, watch: RareWatch, x: str, y: str, known: float | None) -> str:
    """x / y by (i); `known` is x where it is a constant."""
    watch.size(y)
    if e.kind == "double" and (known is None or abs(math.frexp(known)[0]) == 0.5):
        watch.all_ones(y)
    r, minus = e.text.let("f", f"rcp.approx.ftz.{e.type}", y), e.negate(y)
    for _ in range(STEPS[e.kind]):
        r = e.multiply_add(r, e.multiply_add(minus, r, e.number(1.0)), r)
    q = e.binary("fmul", x, r)
    found = e.multiply_add(e.multiply_add(minus, q, x), r, q)
    if known is not None:
        watch.known(known)
        return found
    watch.size(x, or_zero=True)
    none = e.text.let("p", f"setp.eq.{e.type}", x, e.number(0.0))
    return e.select(none, q, found)                         # the sign of a zero
