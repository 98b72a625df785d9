"""Angles that are known by their cosine and sine.

The equations ask an angle for sine, cosine and a constant offset, so that no angle has to be found
where one follows from others; `number` is the angle itself, where it is asked for.
"""

from __future__ import annotations

import math
from typing import Any, final

import numpy as np

from closedform.arrays import OBJECTS

TERMS = 11
"""Of the series of the arc tangent at tan(π/16), whose rest is below 1e-17."""


@final
class Angle:
    """An angle with cosine c and sine s, as a number within half a turn of `about`."""

    __slots__ = ("about", "c", "s")

    def __init__(self, c: Any, s: Any, about: Any = 0.0) -> None:
        self.c, self.s, self.about = c, s, about

    def cos(self) -> Any:
        return self.c

    def sin(self) -> Any:
        return self.s

    @property
    def number(self) -> Any:
        """The angle itself."""
        c, s = OBJECTS.cos(self.about), OBJECTS.sin(self.about)
        return self.about + arc(self.c * c + self.s * s, self.s * c - self.c * s)

    def __add__(self, x: Any) -> Any:
        if isinstance(x, np.ndarray):
            return NotImplemented
        if _is(x, 0):
            return self
        c, s = OBJECTS.cos(x), OBJECTS.sin(x)
        about = self.about + x if isinstance(x, int | float) else self.about
        return Angle(self.c * c - self.s * s, self.s * c + self.c * s, about)

    __radd__ = __add__

    def __neg__(self) -> Angle:
        return Angle(self.c, -self.s, -self.about)

    def __sub__(self, x: Any) -> Any:
        return NotImplemented if isinstance(x, np.ndarray) else self + (-x)

    def __rsub__(self, x: Any) -> Any:
        return NotImplemented if isinstance(x, np.ndarray) else (-self) + x

    def __mul__(self, x: Any) -> Any:
        if isinstance(x, np.ndarray):
            return NotImplemented
        return self if _is(x, 1) else -self if _is(x, -1) else self.number * x

    __rmul__ = __mul__


def _is(x: Any, number: int) -> bool:
    return isinstance(x, int | float) and x == number


def arc(c: Any, s: Any) -> Any:
    """The angle of the unit vector (c, s), within ±π.

        t = tan θ/2 = s/(1 + c)      tan θ/4 = t/(1 + √(1 + t²))      and once more, then the series

    for the half plane with c > 0; (−c, −s) is half a turn away.
    """
    side = _side(c)
    t = side * s / (1 + side * c)
    for _ in range(2):
        t = t / (1 + OBJECTS.sqrt(1 + t * t))
    x, total = t * t, 0.0
    for k in reversed(range(TERMS)):
        total = total * x + (-1) ** k / (2 * k + 1)
    return 8 * t * total + (1 - side) * (math.pi / 2) * _side(s)


def _side(x: Any) -> Any:
    """1, or −1 for negative x."""
    return OBJECTS.sign(OBJECTS.sign(x) + 0.5)
