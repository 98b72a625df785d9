"""What every joint carries and answers, and the checks of the numbers it is given."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from closedform.arrays import Array, exact_or_float, numeric
from closedform.errors import ModelError
from closedform.model.names import checked_name

Vector = tuple[Any, Any, Any]
PerCoordinate = float | Sequence[float] | None
KEYWORDS = ("name", "lower", "upper", "velocity", "effort", "rotor_inertia", "viscous", "coulomb")


@dataclass(frozen=True, kw_only=True)
class Joint(ABC):
    """What every joint carries. Numbers are one for all coordinates, or one for each.

    `lower` and `upper` bound q; `velocity` and `effort` bound |v| and |τ|; `rotor_inertia` (kg m²
    or kg, seen at the joint) is part of M; `viscous` and `coulomb` are friction, used by
    `joint_friction` alone.
    """

    name: str | None = None
    lower: PerCoordinate = None
    upper: PerCoordinate = None
    velocity: PerCoordinate = None
    effort: PerCoordinate = None
    rotor_inertia: Any = None
    viscous: PerCoordinate = None
    coulomb: PerCoordinate = None

    nq: ClassVar[int]
    nv: ClassVar[int]

    def __post_init__(self) -> None:
        if self.name is not None:
            checked_name(self.name, "joint")
        for keyword in KEYWORDS[1:]:
            given = getattr(self, keyword)
            if given is not None:
                size = self.nq if keyword in ("lower", "upper") else self.nv
                object.__setattr__(self, keyword, _numbers(given, size, keyword, self))

    @property
    @abstractmethod
    def S(self) -> Array:
        """Motion subspace (6, nv) in the body frame, constant."""

    @abstractmethod
    def pose(self, q: Array, xp: Any) -> tuple[Array, Array]:
        """Rotation (3, 3) and translation (3,) of the body in its placement frame at q (nq,)."""

    def neutral(self) -> Array:
        return np.zeros(self.nq)

    def integrate(self, q: Array, dv: Array) -> Array:
        """q moved by the tangent vector dv, batch axes first."""
        return q + dv

    def difference(self, q0: Array, q1: Array) -> Array:
        """The tangent vector that takes q0 to q1, batch axes first."""
        return q1 - q0

    def per_coordinate(self, keyword: str, size: int, missing: float) -> Array:
        """The keyword's numbers, one for each of `size` coordinates; `missing` if none is given."""
        given = getattr(self, keyword)
        return np.broadcast_to(exact_or_float(missing if given is None else given), (size,))


def _numbers(given: Any, size: int, keyword: str, joint: Joint) -> Any:
    what = f"{type(joint).__name__} joint {joint.name or 'unnamed'!r}: {keyword}"
    a = np.asarray(given)
    if a.ndim > 1 or (a.ndim == 1 and a.shape[0] != size):
        raise ModelError(f"{what} must be one number or {size}, not {given!r}")
    if not numeric(a):
        symbols = a.dtype == object and not any(isinstance(x, str) for x in a.ravel())
        if keyword == "rotor_inertia" and symbols:
            return a.item() if a.ndim == 0 else tuple(a.tolist())
        raise ModelError(f"{what} must be a number, not {given!r}")
    if np.any(np.isnan(a.astype(float))):
        raise ModelError(f"{what} is not a number (NaN)")
    if keyword not in ("lower", "upper") and np.any(a < 0):
        raise ModelError(f"{what} must not be negative, got {given!r}")
    return float(a) if a.ndim == 0 else tuple(float(x) for x in a)


def unit_vector(axis: Any, what: str) -> Vector:
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


def finite_point(point: Any, what: str) -> Vector:
    """The point as three finite floats, or three symbols."""
    p = np.asarray(point)
    if p.shape != (3,) or p.dtype.kind in "USbc" or not _finite(p):
        raise ModelError(f"{what} must be three finite numbers, not {point!r}")
    return _three(p.astype(float).tolist() if numeric(p) else p)


def is_finite_number(x: Any) -> bool:
    """Whether x is one finite number, or one symbol."""
    a = np.asarray(x)
    return a.ndim == 0 and a.dtype.kind not in "USbc" and _finite(a)


def _finite(a: Array) -> bool:
    return not numeric(a) or bool(np.all(np.isfinite(a.astype(float))))


def _three(x: Any) -> Vector:
    return x[0], x[1], x[2]
