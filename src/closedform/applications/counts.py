"""Whole numbers that are given: how many starts, rows of a block, samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from closedform.errors import ArgumentError


def counted(x: Any, name: str, least: int = 1) -> int:
    """x as a whole number of `least` at least, of Python or NumPy; else an error by name."""
    if isinstance(x, bool) or not isinstance(x, int | np.integer) or x < least:
        kind = {0: "whole number that is not negative", 1: "positive whole number"}.get(
            least, f"whole number of {least} at least")
        raise ArgumentError(f"{name} must be a {kind}, not {x!r}")
    return int(x)
