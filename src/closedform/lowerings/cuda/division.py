"""x / y by a reciprocal and Newton's steps, rounded as the exact division is.

    r ≈ 1/y, twice  r ← r + r (1 − y r);      q = x r;      x / y = q + r (x − y q)       (i)

Where y, and x unless it is 0, are within 2^±`RANGE`, nothing overflows and nothing is lost below,
and (i) is the correctly rounded quotient [Markstein1990]. Other threads notice, and run the whole
program again with the instruction for exact division, which is several times slower.
"""

from __future__ import annotations

from closedform.lowerings.cuda.text import Emitter, Text
from closedform.lowerings.native.ir import Kind

RANGE: dict[Kind, int] = {"double": 400, "float": 50}
BIAS: dict[Kind, int] = {"double": 1023, "float": 127}
EXPONENT: dict[Kind, int] = {"double": 20, "float": 23}
"""Bits below the exponent in the upper word."""


class Division:
    """Divisions of one kernel, and whether one of them was out of range."""

    def __init__(self, text: Text, e: Emitter) -> None:
        self.text, self.e = text, e
        self.beyond = ""

    def __call__(self, x: str, y: str, known: float | None) -> str:
        """x / y; `known` is x where it is a constant."""
        e = self.e
        self._watch(y)
        approximate = "rcp.approx.ftz.f64" if e.kind == "double" else "rcp.approx.ftz.f32"
        r, minus = self.text.let("f", approximate, y), e.negate(y)
        for _ in range(2 if e.kind == "double" else 1):
            r = e.multiply_add(r, e.multiply_add(minus, r, e.number(1.0)), r)
        q = e.binary("fmul", x, r)
        found = e.multiply_add(e.multiply_add(minus, q, x), r, q)
        if known is None:
            self._watch(x, or_zero=True)
            none = self.text.let("p", f"setp.eq.{e.type}", x, e.number(0.0))
            return e.select(none, q, found)                   # the sign of a zero
        if not 2.0 ** -RANGE[e.kind] <= abs(known) <= 2.0 ** RANGE[e.kind]:
            self._always()
        return found

    def _watch(self, x: str, or_zero: bool = False) -> None:
        """Note whether the exponent of a number is out of range."""
        text, kind = self.text, self.e.kind
        bits = self.e.upper_word(x)
        shifted = text.let("r", "shl.b32", bits, "1")
        first = (BIAS[kind] - RANGE[kind]) << EXPONENT[kind] + 1
        width = 2 * RANGE[kind] << EXPONENT[kind] + 1
        moved = text.let("r", "sub.u32", shifted, str(first))
        if or_zero:
            nothing = text.let("p", f"setp.eq.{self.e.type}", x, self.e.number(0.0))
            moved = text.let("r", "selp.b32", "0", moved, nothing)
        self._note(f"setp.gt{'.or' if self.beyond else ''}.u32", moved, str(width))

    def _always(self) -> None:
        self._note(f"setp.eq{'.or' if self.beyond else ''}.u32", "0", "0")

    def _note(self, instruction: str, *args: str) -> None:
        old = (self.beyond,) if self.beyond else ()
        self.beyond = self.text.let("p", instruction, *args, *old)

