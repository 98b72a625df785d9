"""What counts as a number among the arguments: Python's and NumPy's, finite, no truth values."""

from __future__ import annotations

import math
from numbers import Integral, Real


def is_number(x: object, least: float = 0.0) -> bool:
    """Whether x is a finite number above `least`."""
    return isinstance(x, Real) and not isinstance(x, bool) and math.isfinite(x) \
        and float(x) > least


def is_count(x: object, least: int) -> bool:
    """Whether x is a whole number, `least` or more."""
    return isinstance(x, Integral) and not isinstance(x, bool) and int(x) >= least
