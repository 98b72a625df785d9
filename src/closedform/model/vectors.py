"""Axes, points and numbers as users give them: checked, at length one where that is meant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from closedform.arrays import NO_ARRAY, exact_or_float, numeric, refuse_masks
from closedform.errors import ModelError

Vector = tuple[Any, Any, Any]


def as_given(x: object, what: str) -> np.ndarray:
    """x as float64 where it is numbers, as it is where it holds symbols, or an error."""
    try:
        refuse_masks(x)
        a = np.asarray(x)
        if a.dtype.kind not in "USbO" or (a.dtype == object and not any(
                isinstance(y, str) for y in a.flat)):
            return exact_or_float(a)
    except NO_ARRAY as error:
        raise ModelError(f"{what}, not {x!r:.200}") from error
    raise ModelError(f"{what}, not {x!r:.200}")


def unit_vector(axis: object, what: str) -> Vector:
    """The axis at length 1; symbols are taken as they are."""
    a = as_given(axis, f"{what} must be three numbers")
    if a.shape != (3,) or a.dtype.kind == "c":
        raise ModelError(f"{what} must be three numbers, not {axis!r:.200}")
    if not numeric(a):
        return _three(a)
    length = float(np.linalg.norm(a))
    if not np.isfinite(length) or length < 1e-12:
        raise ModelError(f"{what} must be a finite vector other than zero, not {axis!r}")
    return _three((a / length).tolist())


def finite_point(point: object, what: str) -> Vector:
    """The point as three finite floats, or three symbols."""
    p = as_given(point, f"{what} must be three finite numbers")
    if p.shape != (3,) or p.dtype.kind == "c" or not _finite(p):
        raise ModelError(f"{what} must be three finite numbers, not {point!r:.200}")
    return _three(p.tolist() if numeric(p) else p)


def is_finite_number(x: Any) -> bool:
    """Whether x is one finite number, or one symbol."""
    try:
        a = as_given(x, "one number")
    except ModelError:
        return False
    return a.ndim == 0 and a.dtype.kind != "c" and _finite(a)


def _finite(a: np.ndarray) -> bool:
    return not numeric(a) or bool(np.all(np.isfinite(a)))


def _three(x: Sequence[Any] | np.ndarray) -> Vector:
    return x[0], x[1], x[2]
