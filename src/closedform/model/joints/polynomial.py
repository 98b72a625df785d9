"""Polynomials of one variable, as couplings of joints have them: c₀ + c₁ x + c₂ x² + …"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

Polynomial = tuple[Any, ...]
"""c₀, c₁, c₂, …"""


def value(c: Sequence[Any], x: Any) -> Any:
    """c₀ + x (c₁ + x (c₂ + …)), for x of any kind."""
    if not c:
        return 0 * x
    total = c[-1]
    for c_k in reversed(c[:-1]):
        total = total * x + c_k
    return total


def slope(c: Sequence[Any]) -> Polynomial:
    """The derivative: c₁, 2 c₂, 3 c₃, …"""
    return tuple(k * c_k for k, c_k in enumerate(c[1:], start=1))


def composed(outer: Sequence[Any], inner: Sequence[Any]) -> Polynomial:
    """outer(inner(x))."""
    total: Polynomial = (outer[-1],)
    for c_k in reversed(outer[:-1]):
        total = _sum(_product(total, inner), (c_k,))
    return total


def _product(a: Sequence[Any], b: Sequence[Any]) -> Polynomial:
    return tuple(sum(a[i] * b[k - i] for i in range(max(0, k - len(b) + 1), min(k + 1, len(a))))
                 for k in range(len(a) + len(b) - 1))


def _sum(a: Sequence[Any], b: Sequence[Any]) -> Polynomial:
    return tuple(x + y for x, y in zip_longest(a, b, fillvalue=0))
