"""Scalars that carry the first two derivatives by one variable: x = (value, first, second).

A function written with operators and NumPy's functions of one number, run on such a scalar, gives
its slope and curvature exact to rounding:

    f(x) = (f, f' x₁, f'' x₁² + f' x₂)                                                   (i)

Values are floats, complex numbers or recorded scalars.

Cites: [GriewankWalther2008, chapter 13].
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, final

import numpy as np


class Curve(NamedTuple):
    """A function at one place."""

    value: Any
    slope: Any
    curvature: Any


def curve(function: Callable[[Any], Any], x: Any) -> Curve:
    """f(x), f'(x), f''(x)."""
    found = function(SecondOrder(x, 1.0, 0.0))
    if not isinstance(found, SecondOrder):
        return Curve(found, 0.0, 0.0)
    return Curve(found.value, found.first, found.second)


def _apply(name: str, x: Any) -> Any:
    """NumPy's function of that name, or the scalar's own."""
    own = getattr(x, name, None)
    return own() if callable(own) else getattr(np, name)(x)


@final
class SecondOrder:
    """A scalar with two derivatives; see the module."""

    __slots__ = ("first", "second", "value")

    def __init__(self, value: Any, first: Any, second: Any) -> None:
        self.value, self.first, self.second = value, first, second

    def _through(self, f: Any, df: Any, ddf: Any) -> SecondOrder:
        """(i), from f, f', f'' at the value."""
        return SecondOrder(f, df * self.first,
                           ddf * (self.first * self.first) + df * self.second)

    def __add__(self, other: Any) -> SecondOrder:
        if isinstance(other, SecondOrder):
            return SecondOrder(self.value + other.value, self.first + other.first,
                               self.second + other.second)
        return SecondOrder(self.value + other, self.first, self.second)

    __radd__ = __add__

    def __neg__(self) -> SecondOrder:
        return SecondOrder(-self.value, -self.first, -self.second)

    def __sub__(self, other: Any) -> SecondOrder:
        return self + (-other)

    def __rsub__(self, other: Any) -> SecondOrder:
        return (-self) + other

    def __mul__(self, other: Any) -> SecondOrder:
        if isinstance(other, SecondOrder):
            return SecondOrder(
                self.value * other.value,
                self.first * other.value + self.value * other.first,
                self.second * other.value + 2 * (self.first * other.first)
                + self.value * other.second)
        return SecondOrder(self.value * other, self.first * other, self.second * other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> SecondOrder:
        return self * (1 / other)

    def __rtruediv__(self, other: Any) -> SecondOrder:
        r = 1 / self.value
        return self._through(r, -(r * r), 2 * (r * r) * r) * other

    def __pow__(self, n: float) -> SecondOrder:
        """The power with a constant exponent; whole ones are products."""
        if n == 0:
            return SecondOrder(1.0, 0.0, 0.0)
        if isinstance(n, int) and n > 0:
            return self if n == 1 else self * self**(n - 1)
        x = self.value
        return self._through(x**n, n * x**(n - 1), n * (n - 1) * x**(n - 2))

    def __abs__(self) -> SecondOrder:
        return self * self.sign()

    def sign(self) -> Any:
        return _apply("sign", self.value)

    def sqrt(self) -> SecondOrder:
        r = _apply("sqrt", self.value)
        return self._through(r, 0.5 / r, -0.25 / (r * self.value))

    def sin(self) -> SecondOrder:
        s, c = _apply("sin", self.value), _apply("cos", self.value)
        return self._through(s, c, -s)

    def cos(self) -> SecondOrder:
        s, c = _apply("sin", self.value), _apply("cos", self.value)
        return self._through(c, -s, -c)

    def exp(self) -> SecondOrder:
        e = _apply("exp", self.value)
        return self._through(e, e, e)

    def log(self) -> SecondOrder:
        r = 1 / self.value
        return self._through(_apply("log", self.value), r, -(r * r))

    def sinh(self) -> SecondOrder:
        s, c = _apply("sinh", self.value), _apply("cosh", self.value)
        return self._through(s, c, s)

    def tan(self) -> SecondOrder:
        t = _apply("tan", self.value)
        return self._through(t, 1 + t * t, 2 * t * (1 + t * t))

    def tanh(self) -> SecondOrder:
        t = _apply("tanh", self.value)
        return self._through(t, 1 - t * t, -2 * t * (1 - t * t))
