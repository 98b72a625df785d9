"""Truncated Taylor series as scalars: x(t) = c_0 + c_1 t + … + c_K t^K, over any coefficients.

A quantity that changes with time is an object array of `Series`, so that the equations written for
one instant give all their time derivatives at once. With Taylor's scaling, c_k = x⁽ᵏ⁾ / k!, no
binomials appear:

    (x y)_k = Σ_j x_j y_{k−j}          (ẋ)_k = (k + 1) x_{k+1}

A plain scalar beside a series is a constant. A sum or a product is known as far as the shorter of
its parts. Coefficients are floats, complex numbers, recorded, exact or symbolic scalars, or arrays
of numbers: of many motions at once.

Cites: [GriewankWalther2008, chapter 13].
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Any, final

import numpy as np

from closedform.arrays import OBJECTS, Array, Namespace, namespace


@final
class Series:
    """A scalar function of time, known by its first Taylor coefficients."""

    __slots__ = ("c",)

    def __init__(self, coefficients: Sequence[Any]) -> None:
        self.c = tuple(coefficients)

    def __add__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        if isinstance(other, Series):
            return Series([x + y for x, y in zip(self.c, other.c, strict=False)])
        return Series([self.c[0] + other, *self.c[1:]])

    __radd__ = __add__

    def __neg__(self) -> Series:
        return Series([-x for x in self.c])

    def __sub__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, np.ndarray) else self + (-other)

    def __rsub__(self, other: Any) -> Any:
        return (-self) + other

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        if isinstance(other, Series):
            return self.squared() if other is self else Series(_convolved(self.c, other.c))
        if isinstance(other, int | float) and other == 0:
            return 0
        return Series([x * other for x in self.c])

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> Any:
        """z = x / y: z_k = (x_k − Σ_{j≥1} y_j z_{k−j}) / y_0."""
        if isinstance(divisor, np.ndarray):
            return NotImplemented
        if not isinstance(divisor, Series):
            return Series([x / divisor for x in self.c])
        y, z = divisor.c, list[Any]()
        for k, x in enumerate(self.c[: len(y)]):
            for j in range(1, k + 1):
                x = x - y[j] * z[k - j]
            z.append(x / y[0])
        return Series(z)

    def __rtruediv__(self, dividend: Any) -> Any:
        if isinstance(dividend, np.ndarray):
            return NotImplemented
        return Series([dividend, *[0] * (len(self.c) - 1)]) / self

    def sin(self) -> Series:
        return self._sin_cos()[0]

    def cos(self) -> Series:
        return self._sin_cos()[1]

    def _sin_cos(self) -> tuple[Series, Series]:
        """s = sin x, c = cos x: k s_k = Σ_j j x_j c_{k−j},  k c_k = −Σ_j j x_j s_{k−j}."""
        xp = namespace(self.c[0]) if isinstance(self.c[0], np.ndarray) else OBJECTS
        s, c = [xp.sin(self.c[0])], [xp.cos(self.c[0])]
        for k in range(1, len(self.c)):
            rates = [j * self.c[j] for j in range(1, k + 1)]
            s_k = reduce(add, [x * c[k - j] for j, x in enumerate(rates, start=1)]) / k
            c_k = reduce(add, [x * s[k - j] for j, x in enumerate(rates, start=1)]) / k
            s.append(s_k)
            c.append(-c_k)
        return Series(s), Series(c)

    def sqrt(self) -> Series:
        """r = √x: 2 r_0 r_k = x_k − Σ_{0<j<k} r_j r_{k−j}."""
        xp = namespace(self.c[0]) if isinstance(self.c[0], np.ndarray) else OBJECTS
        r = [xp.sqrt(self.c[0])]
        for k, x in enumerate(self.c[1:], start=1):
            for j in range(1, k):
                x = x - r[j] * r[k - j]
            r.append(x / (2 * r[0]))
        return Series(r)

    def sign(self) -> Any:
        """That of the value: a constant wherever it has a derivative."""
        return namespace(np.asarray(self.c[0])).sign(self.c[0])

    def squared(self) -> Series:
        """x², each mixed product once: Σ_{i<j} (2 x_i) x_j, and x_{k/2}² for even k."""
        c = self.c
        twice = [2 * x for x in c]
        terms = [[twice[i] * c[k - i] for i in range((k + 1) // 2)] for k in range(len(c))]
        middle = [[] if k % 2 else [c[k // 2] * c[k // 2]] for k in range(len(c))]
        return Series([reduce(add, [*t, *m]) for t, m in zip(terms, middle, strict=True)])

    def __repr__(self) -> str:
        return f"Series({list(self.c)!r})"


def _convolved(a: Sequence[Any], b: Sequence[Any]) -> list[Any]:
    return [reduce(add, [a[j] * b[k - j] for j in range(k + 1)])
            for k in range(min(len(a), len(b)))]


# ---------------------------------------------------------------------- arrays of series
def objects(values: Sequence[Any], shape: tuple[int, ...]) -> np.ndarray:
    """An object array of this shape from its entries in C order."""
    flat = np.empty(len(values), dtype=object)
    flat[:] = list(values)
    return flat.reshape(shape)


def from_coefficients(coefficients: Sequence[Array]) -> np.ndarray:
    """The array of series whose Taylor coefficients are these arrays, all of one shape."""
    entries = zip(*(np.asarray(c, dtype=object).ravel() for c in coefficients), strict=True)
    return objects([Series(c) for c in entries], np.shape(coefficients[0]))


def from_derivatives(derivatives: Sequence[Array]) -> np.ndarray:
    """The array of series with these values of x, ẋ, ẍ, … at t = 0: c_k = x⁽ᵏ⁾ / k!."""
    return from_coefficients([x if k < 2 else x / math.factorial(k)
                              for k, x in enumerate(derivatives)])


def coefficient(x: Array, k: int) -> np.ndarray:
    """The array of the coefficients of t^k; 0 where a series is not known that far."""
    return objects([_coefficient(y, k) for y in np.ravel(x)], x.shape)


def _coefficient(x: Any, k: int) -> Any:
    if isinstance(x, Series):
        return x.c[k] if k < len(x.c) else 0
    return x if k == 0 else 0


def known_terms(x: Array, otherwise: int) -> int:
    """How many coefficients all entries of an array have; `otherwise` if all are constants."""
    return min((len(y.c) for y in np.ravel(x) if isinstance(y, Series)), default=otherwise)


def derivative(x: Array) -> np.ndarray:
    """ẋ of an array of series; known to one order less."""
    return objects([Series([k * c if k > 1 else c for k, c in enumerate(y.c) if k])
                    if isinstance(y, Series) else 0 for y in np.ravel(x)], x.shape)


def truncated(x: Array, terms: int) -> np.ndarray:
    """The array of series with at most this many coefficients."""
    return objects([Series(y.c[:terms]) if isinstance(y, Series) else y for y in np.ravel(x)],
                   x.shape)


def derivatives(x: Array, terms: int, xp: Namespace) -> Array:
    """x, ẋ, ẍ, … at t = 0 of an array of series, (terms, *shape), as arrays of xp: k! c_k."""
    zero = xp.zeros(x.shape)
    rows = [xp.array(coefficient(x, k).tolist()) + zero if x.size else zero for k in range(terms)]
    return xp.stack([row if k < 2 else math.factorial(k) * row for k, row in enumerate(rows)])
