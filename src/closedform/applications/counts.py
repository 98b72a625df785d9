"""Numbers that are given: how many starts, rows of a block, samples; Python's and NumPy's."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

from closedform.errors import ArgumentError


def is_number(x: object, least: float = 0.0) -> bool:
    """Whether x is a finite number above `least`, and no truth value."""
    return isinstance(x, Real) and not isinstance(x, bool) and math.isfinite(x) \
        and float(x) > least


def is_count(x: object, least: int) -> bool:
    """Whether x is a whole number, `least` or more, and no truth value."""
    return isinstance(x, Integral) and not isinstance(x, bool) and int(x) >= least


def counted(x: Any, name: str, least: int = 1) -> int:
    """x as a whole number of `least` at least; else an error by name."""
    if not is_count(x, least):
        kind = {0: "whole number that is not negative", 1: "positive whole number"}.get(
            least, f"whole number of {least} at least")
        raise ArgumentError(f"{name} must be a {kind}, not {x!r}")
    return int(x)
