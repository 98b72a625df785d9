"""What mimic joints take away besides: the rank of sampled energies, modulo 61-bit primes.

A mimic joint shares its rate with another, so a base parameter of the tree without couplings may
depend on the others. The regrouping of the free tree stays valid (it holds on a larger set of
motions); what is left is to find which of its parameters are dependent. No torque depends on a
parameter direction exactly if its kinetic energy is zero and its potential energy constant, so the
rows are DE(q, v), and DU(q) − DU(q₀), of the parameters kept.

A coordinate is sampled as a number x where a joint slides by it and as a point of the unit circle
where it turns by it: x and exp(i x/n) are algebraically independent functions. A ratio a/b is a
power of that point. Where a joint follows by a polynomial, x², x³, … have a point each, for x and
all exp(i xᵐ/n) are independent too: no sum of fractions of the xᵐ is constant. Dependent columns
are solved modulo several primes and rebuilt as fractions.

Cites: [Schwartz1980] for ranks at random points; [Ax1971] for independent exponentials.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import islice, zip_longest
from math import isqrt, lcm
from typing import Any

from closedform.errors import ArgumentError
from closedform.maths.base_parameters.base_recursion import Regrouping, SparseRow, add_to
from closedform.maths.base_parameters.energy_vectors import cross, motion, polar, transport
from closedform.maths.base_parameters.exact_geometry import ExactGeometry, exact_geometry
from closedform.maths.base_parameters.exact_linear import (
    PRIME,
    ExactVector,
    Matrix,
    RationalFunctions,
    Rationals,
    Residue,
    Residues,
    dot,
    times,
    transposed,
)
from closedform.maths.base_parameters.modified_dh import ExactPose, compose
from closedform.maths.base_parameters.rotor_parameters import (
    rotor_columns,
    rotor_entries,
)
from closedform.model.joints.polynomial import slope, value
from closedform.model.robot import Robot

MORE = 6
"""Rows beyond the number of columns."""
LARGEST = 8
"""The largest power of a symbol in a factor."""


class Doubled(Residues):
    """Integers modulo a prime with one symbol at twice its value."""

    def __init__(self, twice: str) -> None:
        super().__init__(1)
        self.twice = twice

    def symbol(self, name: str) -> Residue:
        found = super().symbol(name)
        return found + found if name == self.twice else found


def without_dependent(robot: Robot, geometry: ExactGeometry, found: Regrouping,
                      tolerance: float) -> Regrouping:
    """The regrouping with the parameters dropped that the couplings make dependent."""
    kept = found.kept
    pivots, residues = _solved(robot, kept, PRIME, tolerance)
    if len(pivots) == len(kept):
        return found
    if isinstance(geometry.field, Residues):
        return Regrouping([kept[i] for i in pivots], [found.rows[i] for i in pivots])
    factors: dict[int, dict[int, Any]] = _rebuilt(robot, kept, pivots, residues, tolerance) \
        if isinstance(geometry.field, Rationals) \
        else _monomials(robot, geometry, kept, (pivots, residues), tolerance)
    rows: dict[int, SparseRow] = {pivot: dict(found.rows[pivot]) for pivot in pivots}
    for other, column in factors.items():
        for pivot, factor in column.items():
            add_to(rows[pivot], found.rows[other], factor)
    return Regrouping([kept[i] for i in pivots], list(rows.values()))


def _rebuilt(robot: Robot, kept: list[int], pivots: list[int], residues: dict[int, list[int]],
             tolerance: float) -> dict[int, dict[int, Fraction]]:
    """The factors of the dependent columns as fractions: more primes until they stop changing.

    Only the columns that take part are sampled again.
    """
    found = {c: {p: x for p, x in zip(pivots, column, strict=True) if x}
             for c, column in residues.items()}
    part = sorted(set(found).union(*found.values()))
    modulus, last = PRIME, None
    for p in islice(_primes(), 1, None):
        fractions = {c: {i: _fraction(x, modulus) for i, x in column.items()}
                     for c, column in found.items()}
        if fractions == last and all(x is not None for f in fractions.values() for x in f.values()):
            return fractions  # type: ignore[return-value]
        last = fractions
        leads, more = _solved(robot, [kept[i] for i in part], p, tolerance)
        if [part[i] for i in leads] != [i for i in part if i not in found]:
            raise ArgumentError(f"{robot.name}: ranks modulo two primes differ; the geometry holds "
                                "fractions that one of them divides")
        back = pow(modulus, -1, p)
        for c, column in found.items():
            new = dict(zip((part[i] for i in leads), more[part.index(c)], strict=True))
            for i, x in column.items():
                column[i] = x + modulus * ((new[i] - x) * back % p)
        modulus *= p
    raise AssertionError("the primes never end")


def _monomials(robot: Robot, geometry: ExactGeometry, kept: list[int],
               solved: tuple[list[int], dict[int, list[int]]],
               tolerance: float) -> dict[int, dict[int, Any]]:
    """The factors as c Π symbolᵉ: a symbol that is doubled multiplies them by 2ᵉ."""
    field, (pivots, residues) = geometry.field, solved
    assert isinstance(field, RationalFunctions)
    powers = {pow(2, e, PRIME): e for e in range(-LARGEST, LARGEST + 1)}
    taking = {p for column in residues.values() for p, x in zip(pivots, column, strict=True) if x}
    part = sorted(taking | set(residues))
    grown: dict[str, dict[int, dict[int, int]]] = {}
    for name in field.symbols:
        leads, more = _solved(robot, [kept[i] for i in part], PRIME, tolerance, Doubled(name))
        if [part[i] for i in leads] != [i for i in part if i not in residues]:
            raise ArgumentError(f"{robot.name}: ranks at two values of {name} differ")
        grown[name] = {part[c]: dict(zip((part[i] for i in leads), column, strict=True))
                       for c, column in more.items()}
    factors: dict[int, dict[int, Any]] = {}
    for c, column in residues.items():
        factors[c] = {}
        for pivot, x in zip(pivots, column, strict=True):
            if not x:
                continue
            left, found = Residue(x, PRIME), field.number(1)
            for name in field.symbols:
                e = powers.get(grown[name][c][pivot] * pow(x, -1, PRIME) % PRIME)
                if e is None:
                    raise ArgumentError(
                        f"{robot.name}: its couplings leave {len(pivots)} of {len(kept)} "
                        f"parameters, but how the others regroup is no product of powers of "
                        f"{name}; put numbers for the symbols")
                left = left / _whole_power(Residues(1).symbol(name), e)
                found = found * field.symbol(name) ** e
            number = _fraction(left.n, PRIME)
            assert number is not None
            factors[c][pivot] = field.number(number) * found
    return factors


def _whole_power(x: Residue, e: int) -> Residue:
    return Residue(pow(x.n, e, x.p), x.p)


def _solved(robot: Robot, kept: list[int], p: int, tolerance: float,
            field: Residues | None = None) -> tuple[list[int], dict[int, list[int]]]:
    """Independent columns, first ones first, and the others as their combinations modulo p."""
    rows = _energy_rows(robot, kept, p, tolerance, field)
    pivots: list[int] = []
    done: list[list[int]] = []
    for column in range(len(kept)):
        at = next((i for i, row in enumerate(rows) if row[column]), None)
        if at is None:
            continue
        chosen = rows.pop(at)
        inverse = pow(chosen[column], -1, p)
        chosen = [x * inverse % p for x in chosen]
        rows = [_less(row, chosen, column, p) for row in rows]
        done = [_less(row, chosen, column, p) for row in done] + [chosen]
        pivots.append(column)
    others = [c for c in range(len(kept)) if c not in pivots]
    return pivots, {c: [row[c] for row in done] for c in others}


def _less(row: list[int], chosen: list[int], column: int, p: int) -> list[int]:
    factor = row[column]
    return [(x - factor * y) % p for x, y in zip(row, chosen, strict=True)] if factor else row


# ---------------------------------------------------------------------- sampled energies
def _energy_rows(robot: Robot, kept: list[int], p: int, tolerance: float,
                 field: Residues | None = None) -> list[list[int]]:
    """Rows DE and DU − DU₀ of the kept parameters at random states, integers modulo p."""
    geometry = exact_geometry(robot, field or Residues(1, p), tolerance)
    source = random.Random(p)
    states = [_state(robot, geometry, source, p) for _ in range(len(kept) + MORE)]
    kinetic = [[_integer(E[c], p) for c in kept] for E, _ in states]
    U_0 = states[0][1]
    potential = [[_integer(U[c] - U_0[c], p) for c in kept] for _, U in states[1:]]
    return kinetic + potential


def _integer(x: Any, p: int) -> int:
    return x.n if isinstance(x, Residue) else int(x) % p


def _state(robot: Robot, geometry: ExactGeometry, source: random.Random,
           p: int) -> tuple[ExactVector, ExactVector]:
    """2 DE and DU of all parameters at a random state."""
    def draw() -> Residue:
        return Residue(source.randrange(p), p)
    common = _denominators(geometry, robot.nv)
    x, v = ([draw() for _ in range(robot.nv)] for _ in range(2))
    circle = [[_point(draw()) for _ in powers] for powers in common]
    still = [[Residue(int(i == j), p) for j in range(3)] for i in range(3)]
    zero = [Residue(0, p)] * 3
    at, V = [ExactPose(still, zero)], [[*zero, *zero]]
    E, U = [[0] * len(robot.parameter_names) for _ in range(2)]
    columns = rotor_columns(robot)
    for s, rotors in zip(geometry.segments, rotor_entries(robot, geometry), strict=True):
        moved, own = s.pose, [Residue(0, p)] * 6
        way = [Residues(1, p).number(c) for c in (Fraction(0), *s.powers)]
        if s.ratios:                        # of several drivers, without a rotor of its own
            several = [(Residues(1, p).number(r), i, int(r * common[i][0]))
                       for r, i in zip(s.ratios, s.segment.v_index, strict=True)]
            angle = s.turn
            for _, i, n in several:
                angle = _times(_power(circle[i][0], n), angle)
            place = sum((r * x[i] for r, i, _ in several), s.slide)
            moved = compose(moved, _exponential(s.screws[0], place, angle))
            rate = sum((r * v[i] for r, i, _ in several), Residue(0, p))
            own = [a * rate for a in s.screws[0]]
        for S_i, i, moves in () if s.ratios else zip(s.screws, s.segment.v_index, rotors,
                                                     strict=True):
            ratio = value(slope(way), x[i])
            for c, one in zip(columns[s.segment.owner], moves, strict=True):
                E[c] += one * ratio * ratio * v[i] * v[i]
            angle = s.turn
            for power, point, n in zip(s.powers, circle[i], common[i], strict=False):
                angle = _times(_power(point, int(power * n)), angle)
            moved = compose(moved, _exponential(S_i, value(way, x[i]) + s.slide, angle))
            own = [a + b * ratio * v[i] for a, b in zip(own, S_i, strict=True)]
        parent = s.segment.parent
        at.append(compose(at[parent], moved))
        V.append([a + b for a, b in zip(motion(*moved, V[parent]), own, strict=True)])
        if s.segment.body is not None:
            ten = slice(10 * s.segment.body, 10 * s.segment.body + 10)
            E[ten] = polar(V[-1], V[-1])
            pull = [0, *(-g for g in geometry.gravity), 0, 0, 0, 0, 0, 0]
            U[ten] = times(transposed(transport(*at[-1])), pull)
    return E, U


def _denominators(geometry: ExactGeometry, nv: int) -> list[list[int]]:
    """For each velocity and power, the common denominator among the joints that it moves."""
    common = [[1] for _ in range(nv)]
    for s in geometry.segments:
        for k, i in enumerate(s.segment.v_index):
            powers = s.ratios[k:k + 1] or s.powers
            pairs = zip_longest(common[i], powers, fillvalue=1)
            common[i] = [lcm(n, Fraction(c).denominator) for n, c in pairs]
    return common


def _exponential(S: ExactVector, x: Any, angle: tuple[Any, Any]) -> ExactPose:
    """exp(S q): x stands for q where the screw slides, angle for (cos q, sin q) where it turns."""
    v, w = S[:3], S[3:]
    zero = x - x
    one = zero + 1
    if not any(w):
        still = [[one if i == j else zero for j in range(3)] for i in range(3)]
        return ExactPose(still, [a * x for a in v])
    c, s = angle
    skew: Matrix = transposed([cross(w, e) for e in ([1, 0, 0], [0, 1, 0], [0, 0, 1])])
    R = [[(one - c) * w[i] * w[j] + s * skew[i][j] + (c if i == j else zero) for j in range(3)]
         for i in range(3)]
    point, pitch = cross(w, v), dot(w, v)
    turned = times(R, point)
    return ExactPose(R, [a - b + pitch * e * x for a, b, e in zip(point, turned, w, strict=True)])


def _point(t: Residue) -> tuple[Residue, Residue]:
    """((1 − t²)/(1 + t²), 2t/(1 + t²)) of the unit circle."""
    return (1 - t * t) / (1 + t * t), (t + t) / (1 + t * t)


def _times(a: tuple[Any, Any], b: tuple[Any, Any]) -> tuple[Any, Any]:
    """Points of the circle multiplied: their angles add."""
    return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]


def _power(a: tuple[Any, Any], n: int) -> tuple[Any, Any]:
    """n times the angle, by squaring."""
    if n < 0:
        a, n = (a[0], -a[1]), -n
    result = (a[0] - a[0] + 1, a[0] - a[0])
    while n:
        if n % 2:
            result = _times(result, a)
        a, n = _times(a, a), n // 2
    return result


# ---------------------------------------------------------------------- fractions from residues
def _fraction(x: int, modulus: int) -> Fraction | None:
    """The fraction n/d with |n|, d ≤ √(modulus/2) that is x modulo it, if there is one."""
    bound = isqrt(modulus // 2)
    r0, r1, s0, s1 = modulus, x % modulus, 0, 1
    while r1 > bound:
        quotient = r0 // r1
        r0, r1, s0, s1 = r1, r0 - quotient * r1, s1, s0 - quotient * s1
    return Fraction(r1, s1) if s1 and abs(s1) <= bound else None


def _primes() -> Iterator[int]:
    """2⁶¹ − 1 and the primes below it."""
    from sympy import prevprime
    p = PRIME
    while True:
        yield p
        p = int(prevprime(p))
