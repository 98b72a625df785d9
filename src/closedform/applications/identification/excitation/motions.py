"""Motions that start and end at rest at a given place, linear in their coefficients.

    q(t) = q_0 + Φ(t) X,     Φ(0) = Φ'(0) = Φ''(0) = 0 = Φ(T) = Φ'(T) = Φ''(T)

A column of X belongs to a joint. Every kind knows bounds of its derivatives that hold for **all**
times, not for samples alone.

Cites: [Swevers1997] for Fourier series; [EhlichZeller1964] for their bound between samples;
[DeBoor1978, ch. XI] for that of splines.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import final

import numpy as np
from scipy.interpolate import BSpline
from scipy.linalg import null_space

from closedform.arrays import Floats

FINE = 200
"""Samples for each harmonic where a Fourier series is bounded: within 1/cos(π/200) = 1.00012."""
DEGREE = 5
"""Of splines: accelerations have two derivatives."""
KNOTS = 16
"""Into so many parts the stretches of a spline are divided where it is bounded."""
SAMPLES = 40
"""Samples for each harmonic of a motion while it is looked for."""
QUICKEST = 1.0
"""Hz: beyond this no harmonics are looked for where fewer periods would do; links are elastic."""


class Basis(ABC):
    """Φ(t), and what is known of Φ X for all times."""

    duration: float
    harmonics: int

    @property
    def period(self) -> float:
        """After which the motion repeats, s."""
        return self.duration

    @property
    @abstractmethod
    def size(self) -> int:
        """Columns of Φ."""

    @abstractmethod
    def at(self, t: Floats, order: int) -> Floats:
        """The derivative of Φ of that order, (times, size)."""

    @abstractmethod
    def range(self, X: Floats, order: int) -> tuple[Floats, Floats]:
        """Numbers that the derivative of every column of Φ X lies between at all times."""

    def largest(self, X: Floats, order: int) -> Floats:
        """What |the derivative of Φ X| does not exceed at any time."""
        low, high = self.range(X, order)
        return np.maximum(-low, high)

    @property
    def grid(self) -> Floats:
        """Times that a sum over them stands for an integral over the motion."""
        return np.arange(SAMPLES * self.harmonics) * (self.period / (SAMPLES * self.harmonics))


@final
@dataclass(frozen=True)
class Fourier(Basis):
    """Sines and cosines of the motion's duration, or of a part of it in which all is done once."""

    duration: float
    harmonics: int
    periods: int = 1

    @property
    def period(self) -> float:
        return self.duration / self.periods

    @property
    def size(self) -> int:
        return 2 * self.harmonics - 2

    @cached_property
    def _coefficients(self) -> Floats:
        """(2 harmonics + 1, size): orthonormal in the velocity, at rest at t = 0."""
        k = np.arange(1, self.harmonics + 1)
        sines, cosines = np.eye(len(k)) / k, np.eye(len(k)) / k
        free = np.block([[sines, np.zeros_like(sines)], [np.zeros_like(sines), cosines]])
        rest = np.array([k, 0 * k, 0 * k, k**2]).reshape(2, -1) @ free  # v(0), a(0) ∝ these = 0
        kept = free @ null_space(rest)
        return np.vstack([-kept[len(k):].sum(axis=0), kept])       # q(0) = 0

    def at(self, t: Floats, order: int) -> Floats:
        w = 2 * np.pi / self.period * np.arange(1, self.harmonics + 1)
        angle = np.multiply.outer(np.asarray(t, dtype=float), w) + order * np.pi / 2
        constant = np.full((len(angle), 1), float(order == 0))
        waves = np.hstack([constant, np.sin(angle) * w**order, np.cos(angle) * w**order])
        return np.asarray(waves @ self._coefficients)

    def range(self, X: Floats, order: int) -> tuple[Floats, Floats]:
        """|p| ≤ max over N even samples / cos(π n / N), p of degree n; about the middle here."""
        found = self._fine(order) @ X
        low, high = found.min(axis=0), found.max(axis=0)
        middle, half = (low + high) / 2, (high - low) / 2 / np.cos(np.pi / FINE)
        return middle - half, middle + half

    def _fine(self, order: int) -> Floats:
        return _sampled(self, FINE * self.harmonics, order)


@final
@dataclass(frozen=True)
class Spline(Basis):
    """B-splines of degree five: they lie between their control points, and so do derivatives."""

    duration: float
    harmonics: int

    @property
    def size(self) -> int:
        return 2 * self.harmonics

    @cached_property
    def _knots(self) -> Floats:
        inner = np.linspace(0, self.duration, self.size + 6 - DEGREE + 1)
        return np.concatenate([np.zeros(DEGREE), inner, np.full(DEGREE, self.duration)])

    @cached_property
    def _spline(self) -> BSpline:
        """Three control points at either end are 0: at rest there."""
        points = np.zeros((self.size + 6, self.size))
        points[3:-3] = np.eye(self.size)
        return BSpline(self._knots, points, DEGREE)

    def at(self, t: Floats, order: int) -> Floats:
        inside = np.clip(np.asarray(t, dtype=float), 0, self.duration)
        return np.asarray(self._spline.derivative(order)(inside) if order
                          else self._spline(inside), dtype=float)

    def range(self, X: Floats, order: int) -> tuple[Floats, Floats]:
        points = _control_points(self, order) @ X
        return points.min(axis=0), points.max(axis=0)


@lru_cache(maxsize=64)
def _sampled(basis: Fourier, count: int, order: int) -> Floats:
    """Φ at even times of its period."""
    return basis.at(np.arange(count) * (basis.period / count), order)


@lru_cache(maxsize=64)
def _control_points(basis: Spline, order: int) -> Floats:
    """Those of a derivative of Φ on finer knots, which lie closer to it."""
    made = basis._spline.derivative(order) if order else basis._spline
    stretches = basis.size + 6 - DEGREE
    for k in range(1, KNOTS * stretches):
        if k % KNOTS:
            made = made.insert_knot(basis.duration * k / (KNOTS * stretches))
    return np.asarray(made.c[:len(made.t) - made.k - 1], dtype=float)


def repeated(basis: Basis) -> list[Basis]:
    """The same motion, and those that do it in a half, a quarter and an eighth of the time."""
    if not isinstance(basis, Fourier):
        return [basis]
    return [basis, *(replace(basis, periods=n) for n in (2, 4, 8)
                     if n * basis.harmonics <= QUICKEST * basis.duration * (1 + 1e-9))]


KINDS: dict[str, type[Fourier] | type[Spline]] = {"fourier": Fourier, "bspline": Spline}
