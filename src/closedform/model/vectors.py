"""Axes, points and numbers as users give them: checked, at length one where that is meant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from closedform.arrays import numeric
from closedform.errors import ModelError

Vector = tuple[Any, Any, Any]


def unit_vector(axis: object, what: str) -> Vector:
    """The axis at length 1; symbols are taken as they are."""
    a = np.asarray(axis)
    if a.shape != (3,):
        raise ModelError(f"{what} must be three numbers, not {axis!r}")
    if not numeric(a):
        if a.dtype.kind in "USbc":
            raise ModelError(f"{what} must be three numbers, not {axis!r}")
        return _three(a)
    a = a.astype(float)
    length = float(np.linalg.norm(a))
    if not np.isfinite(length) or length < 1e-12:
        raise ModelError(f"{what} must be a finite vector other than zero, not {axis!r}")
    return _three((a / length).tolist())


def finite_point(point: object, what: str) -> Vector:
    """The point as three finite floats, or three symbols."""
    p = np.asarray(point)
    if p.shape != (3,) or p.dtype.kind in "USbc" or not _finite(p):
        raise ModelError(f"{what} must be three finite numbers, not {point!r}")
    return _three(p.astype(float).tolist() if numeric(p) else p)


def is_finite_number(x: Any) -> bool:
    """Whether x is one finite number, or one symbol."""
    a = np.asarray(x)
    return a.ndim == 0 and a.dtype.kind not in "USbc" and _finite(a)


def _finite(a: np.ndarray) -> bool:
    return not numeric(a) or bool(np.all(np.isfinite(a.astype(float))))


def _three(x: Sequence[Any] | np.ndarray) -> Vector:
    return x[0], x[1], x[2]
