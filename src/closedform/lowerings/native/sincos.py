"""Sine and cosine together, in lanes, written as LLVM IR.

    n = round(2x/π),  r = x − nπ/2,  |r| ≤ π/4                                         (i)
    sin x, cos x = ±sin r, ±cos r for n even, ±cos r, ±sin r for n odd                 (ii)

(i) subtracts nπ/2 in parts. With fused multiply-add x − nP₁ is exact (P₁ is π/2 rounded),
x − nP₁ − nP₂ is rounded once however much cancels, and P₃ is the rest. Without it the parts have so
few bits that their products with n are exact, and what the subtractions lose is carried along. Both
hold to 2 units in the last place for |x| ≤ `BOUND`; lanes beyond it are rare, and are repaired
(`far_angles.py`) after one branch for all angles of a step. NaN passes, infinities give NaN.

Polynomials: [fdlibm 5.3, k_sin.c and k_cos.c] for double; for float the minimax polynomials of
[Cephes 2.2, sinf.c] on |r| ≤ π/4.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol, cast

from closedform.lowerings.native.ir import BYTES, Emitter, Function, Lanes


class Arithmetic(Protocol):
    """What an emitter of any language has for sines and cosines."""

    @property
    def lanes(self) -> Lanes: ...
    def number(self, x: float) -> str: ...
    def binary(self, op: str, x: str, y: str) -> str: ...
    def multiply_add(self, x: str, y: str, z: str) -> str: ...
    def negate(self, x: str) -> str: ...
    def select(self, mask: str, x: str, y: str) -> str: ...
    def quadrant(self, x: str) -> str: ...
    def is_odd(self, quadrant: str) -> str: ...
    def following(self, quadrant: str) -> str: ...
    def turned(self, x: str, quadrant: str) -> str: ...


BOUND = 1e5
"""The largest angle that the reduction (i) takes."""

SIN = {
    "double": (
        -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
        2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10),
    "float": (-1.6666654611e-1, 8.3321608736e-3, -1.9515295891e-4),
}
COS = {
    "double": (
        4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
        -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11),
    "float": (4.166664568298827e-2, -1.388731625493765e-3, 2.443315711809948e-5),
}
ROUND = {"double": 6755399441055744.0, "float": 12582912.0}
"""1.5 · 2^52 and 1.5 · 2^23: adding it rounds to an integer, found in the lowest bits."""

WHOLE_PARTS = {
    "double": (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33),
    "float": (1.5707963705062866, -4.3711388286737929e-08, -1.7151245100059e-15),
}
"""π/2 = P₁ + P₂ + P₃, each rounded to the full length of a number."""
SHORT_PARTS = (1.57079632673412561417, 6.07710050630396597660e-11, 2.02226624871116645580e-21,
               8.47842766036889956997e-32)
"""π/2 in parts of 33 bits, the last with 53 [fdlibm 5.3, e_rem_pio2.c]."""


def sincos(e: Arithmetic, x: str) -> tuple[str, str]:
    """sin x and cos x for |x| ≤ `BOUND`."""
    kind = e.lanes.kind
    magic = e.number(ROUND[kind])
    shifted = e.multiply_add(x, e.number(2 / math.pi), magic)
    n = e.binary("fsub", shifted, magic)
    if e.lanes.fma:
        r, near = _reduced(e, x, n)
    else:
        r = near = (_reduced_in_short_parts(e, x, n) if kind == "double"
                    else _reduced_in_double(cast(Emitter, e), x, n))
    return turned_back(e, e.quadrant(shifted), *polynomials(e, r, near))


def turned_back(e: Arithmetic, quadrant: str, sine: str, cosine: str) -> tuple[str, str]:
    """(ii): sine and cosine of the angle from those of r."""
    odd = e.is_odd(quadrant)
    return (e.turned(e.select(odd, cosine, sine), quadrant),
            e.turned(e.select(odd, sine, cosine), e.following(quadrant)))


def _reduced(e: Arithmetic, x: str, n: str) -> tuple[str, str]:
    """r of (i) with fused multiply-add."""
    minus_n = e.negate(n)
    first, second, third = (e.number(part) for part in WHOLE_PARTS[e.lanes.kind])
    near = e.multiply_add(minus_n, second, e.multiply_add(minus_n, first, x))
    return e.multiply_add(minus_n, third, near), near


def _reduced_in_short_parts(e: Arithmetic, x: str, n: str) -> str:
    """r of (i) without it: x − nP₁ is exact, the errors of − nP₂ and − nP₃ are added at the end."""
    p1, p2, p3, p4 = (e.binary("fmul", n, e.number(part)) for part in SHORT_PARTS)
    r1 = e.binary("fsub", x, p1)
    r2 = e.binary("fsub", r1, p2)
    lost2 = e.binary("fsub", e.binary("fsub", r1, r2), p2)
    r3 = e.binary("fsub", r2, p3)
    lost3 = e.binary("fsub", e.binary("fsub", r2, r3), p3)
    return e.binary("fadd", r3, e.binary("fsub", e.binary("fadd", lost2, lost3), p4))


def _reduced_in_double(e: Emitter, x: str, n: str) -> str:
    """r of (i) for floats without it: in double it is exact to far beyond a float."""
    f, wide = e.function, Emitter(e.function, Lanes("double", e.lanes.width, fma=False))
    x, n = (f.let(f"fpext {e.lanes.type} {y} to {wide.lanes.type}") for y in (x, n))
    r = wide.binary("fsub", x, wide.binary("fmul", n, wide.number(SHORT_PARTS[0])))
    rest = math.fsum(SHORT_PARTS[1:])
    r = wide.binary("fsub", r, wide.binary("fmul", n, wide.number(rest)))
    return f.let(f"fptrunc {wide.lanes.type} {r} to {e.lanes.type}")


def polynomials(e: Arithmetic, r: str, near: str) -> tuple[str, str]:
    """sin r = r + r³ S(r²) and cos r = (1 − r²/2) + r⁴ C(r²) on |r| ≤ π/4.

    r² is that of a number `near` r, known earlier: where the two differ, r² is nothing beside 1.
    """
    z = e.binary("fmul", near, near)
    zz = e.binary("fmul", z, z)
    sine, cosine = (_even_and_odd(e, table[e.lanes.kind], z, zz) for table in (SIN, COS))
    head = e.multiply_add(z, e.number(-0.5), e.number(1.0))
    return (e.multiply_add(sine, e.binary("fmul", z, r), r), e.multiply_add(cosine, zz, head))


def _even_and_odd(e: Arithmetic, coefficients: Sequence[float], z: str, zz: str) -> str:
    """E(z²) + z O(z²): as many operations as Horner's rule and one more, in half the chain."""
    even, odd = (_horner(e, coefficients[k::2], zz) for k in (0, 1))
    return e.multiply_add(odd, z, even)


def _horner(e: Arithmetic, coefficients: Sequence[float], z: str) -> str:
    result = e.number(coefficients[-1])
    for c in reversed(coefficients[:-1]):
        result = e.multiply_add(result, z, e.number(c))
    return result


def sincos_of_all(
    emitters: Sequence[Emitter], angles: Sequence[str],
) -> list[tuple[str, str]]:
    """sin and cos of registers of any finite numbers, with one branch to `repair` for them all."""
    quick = [sincos(e, x) for e, x in zip(emitters, angles, strict=True)]
    function = emitters[0].function
    rare = _any_beyond(emitters, angles)
    mark = function.name()[1:]
    before = function.block
    function.line(f"br i1 {rare}, label %rare.{mark}, label %join.{mark}, !prof !0")
    function.label(f"rare.{mark}")
    repaired = _repaired(emitters, angles, quick)
    function.line(f"br label %join.{mark}")
    function.label(f"join.{mark}")

    def either(e: Emitter, x: str, y: str) -> str:
        return function.let(f"phi {e.lanes.type} [ {x}, %{before} ], [ {y}, %rare.{mark} ]")

    return [(either(e, s, t), either(e, c, d))
            for e, (s, c), (t, d) in zip(emitters, quick, repaired, strict=True)]


def _any_beyond(emitters: Sequence[Emitter], angles: Sequence[str]) -> str:
    """Whether a lane of any register is beyond `BOUND`, in one test of those of one width."""
    function, masks = emitters[0].function, dict[str, str]()
    for e, x in zip(emitters, angles, strict=True):
        beyond, kind = e.compare("ogt", e.intrinsic("fabs", x), e.number(BOUND)), e.lanes.of("i1")
        masks[kind] = (function.let(f"or {kind} {masks[kind]}, {beyond}") if kind in masks
                       else beyond)
    found = [_any(function, kind, mask) for kind, mask in masks.items()]
    rare = found[0]
    for other in found[1:]:
        rare = function.let(f"or i1 {rare}, {other}")
    return rare


def _any(function: Function, kind: str, mask: str) -> str:
    """Whether a lane of a mask is set."""
    if kind == "i1":
        return mask
    width = kind[1:].split()[0]
    bits = function.let(f"bitcast {kind} {mask} to i{width}")
    return function.let(f"icmp ne i{width} {bits}, 0")


def _repaired(
    emitters: Sequence[Emitter], angles: Sequence[str], quick: Sequence[tuple[str, str]],
) -> list[tuple[str, str]]:
    """The same through memory, with the lanes beyond `BOUND` replaced."""
    function, kind = emitters[0].function, emitters[0].lanes.kind
    places = [sum(e.lanes.bytes for e in emitters[:k]) for k in range(len(emitters))]
    total = sum(e.lanes.bytes for e in emitters)
    arrays = [function.allocate(total) for _ in range(3)]
    for e, x, (s, c), place in zip(emitters, angles, quick, places, strict=True):
        for array, value in zip(arrays, (x, s, c), strict=True):
            e.store(value, array, place, BYTES[kind])
    x, s, c = arrays
    count = total // BYTES[kind]
    function.line(f"call preserve_mostcc void @repair(ptr {x}, ptr {s}, ptr {c}, i64 {count})")
    return [(e.load(s, place, BYTES[kind]), e.load(c, place, BYTES[kind]))
            for e, place in zip(emitters, places, strict=True)]
