"""Output times, and the fixed steps between them."""

from __future__ import annotations

import numpy as np

from closedform.arrays import NO_ARRAY, ArrayLike, refuse_masks
from closedform.errors import ArgumentError

COUNTS = {1: "one", 2: "two", 3: "three"}


def increasing(times: ArrayLike, least: int = 1) -> np.ndarray:
    """The times as an array, if they are so many or more finite numbers that increase."""
    try:
        refuse_masks(times)
        t = np.array(times, dtype=float)
    except NO_ARRAY:
        t = np.zeros((0, 0))
    if t.ndim != 1 or len(t) < least or not np.all(np.isfinite(t)) or np.any(np.diff(t) <= 0):
        raise ArgumentError(f"times must be {COUNTS[least]} or more increasing, finite numbers, "
                            f"not {times!r}")
    return t


def steps_between(t: np.ndarray, step: float) -> np.ndarray:
    """Numbers of equal steps between neighbouring times, none longer than `step`, (points − 1,)."""
    return np.maximum(np.ceil(np.diff(t) / step - 1e-9), 1).astype(int)
