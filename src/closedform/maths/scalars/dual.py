"""Scalars with one derivative: x + ε x', ε² = 0, over floats, series or recorded scalars.

Cites: [GriewankWalther2008, chapter 3].
"""

from __future__ import annotations

from typing import Any, final

import numpy as np

from closedform.arrays import OBJECTS, Array, Namespace, namespace


@final
class Dual:
    """A scalar and its derivative along one direction."""

    __slots__ = ("first", "value")

    def __init__(self, value: Any, first: Any) -> None:
        self.value, self.first = value, first

    def __add__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        if isinstance(other, Dual):
            return Dual(self.value + other.value, self.first + other.first)
        return Dual(self.value + other, self.first)

    __radd__ = __add__

    def __neg__(self) -> Dual:
        return Dual(-self.value, -self.first)

    def __sub__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, np.ndarray) else self + (-other)

    def __rsub__(self, other: Any) -> Any:
        return (-self) + other

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        if isinstance(other, Dual):
            return Dual(self.value * other.value,
                        self.first * other.value + self.value * other.first)
        if isinstance(other, int | float) and other == 0:
            return 0
        return Dual(self.value * other, self.first * other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        if isinstance(other, Dual):
            ratio = self.value / other.value
            return Dual(ratio, (self.first - ratio * other.first) / other.value)
        return Dual(self.value / other, self.first / other)

    def __rtruediv__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, np.ndarray) else Dual(other, 0) / self

    def sin(self) -> Dual:
        xp = _namespace(self.value)
        return Dual(xp.sin(self.value), xp.cos(self.value) * self.first)

    def cos(self) -> Dual:
        xp = _namespace(self.value)
        return Dual(xp.cos(self.value), -xp.sin(self.value) * self.first)

    def sqrt(self) -> Dual:
        root = _namespace(self.value).sqrt(self.value)
        return Dual(root, self.first / (2 * root))

    def sign(self) -> Any:
        return _namespace(self.value).sign(self.value)


def _namespace(x: Any) -> Namespace:
    return namespace(x) if hasattr(x, "__array_namespace__") else OBJECTS


def duals(value: Array, first: Array) -> np.ndarray:
    """The array of duals with these values and derivatives."""
    found = np.empty(len(value), dtype=object)
    found[:] = [Dual(x, y) for x, y in zip(value, first, strict=True)]
    return found


def first(x: Any) -> Any:
    """The derivative of a scalar; zero of one without."""
    return x.first if isinstance(x, Dual) else 0
