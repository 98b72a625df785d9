"""x / y by a reciprocal and Newton's steps, rounded as the exact division is.

    r ≈ 1/y,  r ← r + r (1 − y r);      q = x r;      x / y = q + r (x − y q)             (i)

Where neither overflows nor anything is lost below, (i) is the correctly rounded quotient
[Markstein1990]; what is not within that range is watched for.
"""

from __future__ import annotations

from closedform.lowerings.cuda.text import Emitter
from closedform.lowerings.cuda.watch import Watch

STEPS = {"double": 2, "float": 1}
"""Of Newton, from the 20 bits or more of the GPU's own approximation."""


def quotient(e: Emitter, watch: Watch, x: str, y: str, known: float | None) -> str:
    """x / y; `known` is x where it is a constant."""
    watch.size(y)
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
