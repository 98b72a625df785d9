"""Any pose as six numbers of the modified convention of Denavit and Hartenberg, and back, exactly.

    T = Rz(γ) Tz(b) Rx(α) Tx(d) Rz(θ) Tz(r)

γ and b lead along the first z axis to the common normal, α and d over it, θ and r along the second
z axis. What makes axes parallel, perpendicular, coaxial or meeting is then one number that is 0 or
a right angle, so each number can be declared exact by itself; entries of R and p cannot.

Cites: [KhalilKleinfinger1986].
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from closedform.arrays import Array
from closedform.maths.base_parameters.exact_linear import (
    ExactVector,
    Matrix,
    product,
    times,
    transposed,
)

RIGHT = math.pi / 2
FINE = 1e-13
"""How near a declared fraction is to a number that is not special (relative to its scale)."""
QUARTERS = ((1, 0), (0, 1), (-1, 0), (0, -1))


class ModifiedDH(NamedTuple):
    """The six numbers of a pose."""

    gamma: Any
    b: Any
    alpha: Any
    d: Any
    theta: Any
    r: Any


class ExactPose(NamedTuple):
    """A pose in exact numbers: R (3, 3) and p (3,)."""

    R: Matrix
    p: ExactVector


@dataclass(frozen=True)
class Declared:
    """A number read from a model and the exact value it is declared to be."""

    where: str
    what: str
    given: float
    exact: str
    change: float

    def __str__(self) -> str:
        return f"{self.where}: {self.what} = {self.given!r} taken as {self.exact} " \
               f"({self.change:.1e} away)"


def modified_dh(T: Array, tolerance: float, size: float) -> ModifiedDH:
    """The six numbers of a pose; axes within `tolerance` (rad) of parallel count as parallel.

    Then b = 0, and γ = 0 too where the axes are one line to `tolerance · size`.
    """
    R, (x, y, z) = T[:3, :3], T[:3, 3]
    x_k, z_k = R[:, 0], R[:, 2]
    sine = math.hypot(z_k[0], z_k[1])
    if math.atan2(sine, abs(z_k[2])) <= tolerance:
        d = math.hypot(x, y)
        gamma = math.atan2(y, x) if d > tolerance * size else 0.0
        turn, sign = math.atan2(R[1, 0], R[0, 0]), math.copysign(1.0, z_k[2])
        alpha = math.atan2(sine, z_k[2])
        return ModifiedDH(gamma, 0.0, alpha, d, sign * (turn - gamma), sign * z)
    gamma, alpha = math.atan2(z_k[0], -z_k[1]), math.atan2(sine, z_k[2])
    if not -RIGHT + tolerance < gamma <= RIGHT + tolerance:  # the other end of the common normal
        gamma, alpha = gamma - math.copysign(math.pi, gamma), -alpha
    normal = np.array([math.cos(gamma), math.sin(gamma), 0.0])
    across = np.array([-normal[1], normal[0], 0.0])
    theta = math.atan2(np.cross(z_k, normal) @ x_k, normal @ x_k)
    r = float(T[:3, 3] @ across / (z_k @ across))
    return ModifiedDH(gamma, float(z - r * z_k[2]), alpha, float(T[:3, 3] @ normal), theta, r)


@dataclass
class Snapping:
    """Numbers turned into exact ones, with a record of every change that is more than rounding.

    Angles within `tolerance` of a multiple of a right angle, and lengths within `tolerance · size`
    of zero, become those; any other number becomes the simplest fraction within `FINE` of it (of an
    angle: tan of half its distance to the nearest right angle).
    """

    tolerance: float
    size: float
    changes: list[Declared]
    near: list[Declared]

    def length(self, x: float, where: str, what: str) -> Fraction:
        limit = self.tolerance * self.size
        if abs(x) <= limit:
            self._note(where, what, x, "0", abs(x), self.size)
            return Fraction(0)
        if abs(x) <= 100 * limit:
            self.near.append(Declared(where, what, x, "0", abs(x)))
        exact = simplest_fraction(x, FINE * self.size)
        self._note(where, what, x, str(exact), abs(float(exact) - x), self.size)
        return exact

    def angle(self, x: float, where: str, what: str) -> tuple[Fraction, Fraction]:
        """cos and sin."""
        quarter = round(x / RIGHT)
        rest = x - quarter * RIGHT
        text = {0: "0", 2: "π", 3: "−π/2", 1: "π/2"}[quarter % 4]
        t = Fraction(0)
        if abs(rest) <= self.tolerance:
            self._note(where, what, x, text, abs(rest), 1.0)
        else:
            if abs(rest) <= 100 * self.tolerance:
                self.near.append(Declared(where, what, x, text, abs(rest)))
            t = simplest_fraction(math.tan(rest / 2), FINE)
            told = f"{text} + 2 atan({t})"
            self._note(where, what, x, told, abs(2 * math.atan(t) - rest), 1.0)
        c, s = (1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)
        a, b = QUARTERS[quarter % 4]
        return a * c - b * s, b * c + a * s

    def ratio(self, x: float, where: str, what: str) -> Fraction:
        """A pitch or a gear ratio: a fraction of small numbers within 1e-9, else within `FINE`."""
        exact = simplest_fraction(x, 1e-9 * abs(x))
        if exact.denominator > 1000:
            exact = simplest_fraction(x, FINE * abs(x))
        self._note(where, what, x, str(exact), abs(float(exact) - x), abs(x))
        return exact

    def pose(self, T: Array, where: str) -> ExactPose:
        """The exact pose nearest to T in its six numbers."""
        if np.array_equal(T, np.eye(4)):
            return ExactPose(*_identity())
        dh = modified_dh(T, self.tolerance, self.size)
        angles = {n: self.angle(getattr(dh, n), where, n) for n in ("gamma", "alpha", "theta")}
        b, d, r = (self.length(getattr(dh, n), where, n) for n in ("b", "d", "r"))
        R = product(product(_about_z(*angles["gamma"]), _about_x(*angles["alpha"])),
                    _about_z(*angles["theta"]))
        normal = [*angles["gamma"], Fraction(0)]
        p = [d * n + r * row[2] for n, row in zip(normal, R, strict=True)]
        return ExactPose(R, [p[0], p[1], p[2] + b])

    def _note(self, where: str, what: str, x: float, exact: str, change: float,
              scale: float) -> None:
        if change > 1e-12 * scale:
            self.changes.append(Declared(where, what, x, exact, change))


def simplest_fraction(x: float, tolerance: float) -> Fraction:
    """The fraction with the smallest denominator within the tolerance of x."""
    X, t = Fraction(x), Fraction(tolerance)
    if X < 0:
        return -simplest_fraction(-x, tolerance)
    return Fraction(0) if t >= X else _simplest(X - t, X + t)


def _simplest(low: Fraction, high: Fraction) -> Fraction:
    """The simplest fraction in [low, high], 0 < low ≤ high, by continued fractions."""
    whole = math.ceil(low)
    if whole <= high:
        return Fraction(whole)
    whole -= 1
    return whole + 1 / _simplest(1 / (high - whole), 1 / (low - whole))


def compose(A: ExactPose, B: ExactPose) -> ExactPose:
    """A B."""
    moved = [a + b for a, b in zip(A.p, times(A.R, B.p), strict=True)]
    return ExactPose(product(A.R, B.R), moved)


def inverted(A: ExactPose) -> ExactPose:
    """A⁻¹."""
    back = transposed(A.R)
    return ExactPose(back, [-x for x in times(back, A.p)])


def _identity() -> tuple[Matrix, ExactVector]:
    one, zero = Fraction(1), Fraction(0)
    return [[one if i == j else zero for j in range(3)] for i in range(3)], [zero] * 3


def _about_x(c: Fraction, s: Fraction) -> Matrix:
    one, zero = Fraction(1), Fraction(0)
    return [[one, zero, zero], [zero, c, -s], [zero, s, c]]


def _about_z(c: Fraction, s: Fraction) -> Matrix:
    one, zero = Fraction(1), Fraction(0)
    return [[c, -s, zero], [s, c, zero], [zero, zero, one]]
