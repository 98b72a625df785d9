"""Joints as frozen records: what moves, along which screws, within which limits.

A joint takes the parent's placement frame to the body's frame by `pose(q)`, and its velocities v to the
body twist S v (linear part first, in the body frame). S is constant for every kind here whose motions form
a group; `Universal` has no constant S and is split into two `Revolute` by `Robot.segments`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, ClassVar, final

import numpy as np

from closedform.arrays import Array, exact_or_float, numeric
from closedform.errors import ModelError
from closedform.model import groups
from closedform.model.pose import basis_with_third, rotation

Vector = tuple[Any, Any, Any]
PerCoordinate = float | Sequence[float] | None
KEYWORDS = ("name", "lower", "upper", "velocity", "effort", "rotor_inertia", "viscous", "coulomb")


@dataclass(frozen=True, kw_only=True)
class Joint(ABC):
    """What every joint carries. Numbers are one for all coordinates, or one for each.

    `lower` and `upper` bound q; `velocity` and `effort` bound |v| and |τ|; `rotor_inertia` (kg m² or kg, seen at
    the joint) is part of M; `viscous` and `coulomb` are friction, used by `joint_friction` alone.
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
        if self.name is not None and (not isinstance(self.name, str) or not self.name):
            raise ModelError(f"joint name must be a non-empty text, not {self.name!r}")
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
        """Rotation (3, 3) and translation (3,) of the body relative to its placement at the coordinates q (nq,)."""

    def neutral(self) -> Array:
        return np.zeros(self.nq)

    def integrate(self, q: Array, dv: Array) -> Array:
        """q moved by the tangent vector dv, batch axes first."""
        return q + dv

    def difference(self, q0: Array, q1: Array) -> Array:
        """The tangent vector that takes q0 to q1, batch axes first."""
        return q1 - q0

    def per_coordinate(self, keyword: str, size: int, missing: float) -> Array:
        """The keyword's numbers, one for each of `size` coordinates; `missing` where nothing was given."""
        given = getattr(self, keyword)
        return np.broadcast_to(exact_or_float(missing if given is None else given), (size,))


def _numbers(given: Any, size: int, keyword: str, joint: Joint) -> Any:
    kind, label = type(joint).__name__, joint.name or "unnamed"
    a = np.asarray(given)
    if a.ndim > 1 or (a.ndim == 1 and a.shape[0] != size):
        raise ModelError(f"{kind} joint {label!r}: {keyword} must be one number or {size}, not {given!r}")
    if not numeric(a):
        if keyword == "rotor_inertia" and a.dtype == object and not any(isinstance(x, str) for x in a.ravel()):
            return a.item() if a.ndim == 0 else tuple(a.tolist())
        raise ModelError(f"{kind} joint {label!r}: {keyword} must be a number, not {given!r}")
    if np.any(np.isnan(a.astype(float))):
        raise ModelError(f"{kind} joint {label!r}: {keyword} is not a number (NaN)")
    if keyword not in ("lower", "upper") and np.any(a < 0):
        raise ModelError(f"{kind} joint {label!r}: {keyword} must not be negative, got {given!r}")
    return float(a) if a.ndim == 0 else tuple(float(x) for x in a)


def _unit(axis: Any, what: str) -> Vector:
    a = np.asarray(axis)
    if a.shape != (3,):
        raise ModelError(f"{what} must be three numbers, not {axis!r}")
    if not numeric(a):
        if a.dtype.kind in "USbc":
            raise ModelError(f"{what} must be three numbers, not {axis!r}")
        return tuple(a)  # symbols: taken as a unit vector
    a = a.astype(float)
    length = float(np.linalg.norm(a))
    if not np.isfinite(length) or length < 1e-12:
        raise ModelError(f"{what} must be a finite vector other than zero, not {axis!r}")
    return tuple(float(x) for x in a / length)


def _point(point: Any, what: str) -> Vector:
    p = np.asarray(point)
    if p.shape != (3,) or p.dtype.kind in "USbc" or (numeric(p) and not np.all(np.isfinite(p.astype(float)))):
        raise ModelError(f"{what} must be three finite numbers, not {point!r}")
    return tuple(p.astype(float).tolist()) if numeric(p) else tuple(p)


def _cross(a: Vector, b: Vector) -> Array:
    return exact_or_float([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def _zero() -> Array:
    return np.zeros(3)


def _turn(axis: Vector, point: Vector, angle: Any, xp: Any) -> tuple[Array, Array]:
    """Rotation about the axis through the point: R, (1 − R) point."""
    R = rotation(np.array(axis), angle, xp)
    p = np.array(point)
    return R, (np.eye(3, dtype=int) - R) @ p if any(x != 0 for x in point) else _zero()


class _OnAxis(Joint, ABC):
    """Joints that turn about an axis (a unit vector) through a point of the body frame."""

    axis: Any
    point: Any

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "axis", _unit(self.axis, f"{type(self).__name__} axis"))
        object.__setattr__(self, "point", _point(self.point, f"{type(self).__name__} point"))

    def turning_screw(self) -> Array:
        """(point × axis; axis)."""
        return np.concatenate([_cross(self.point, self.axis), exact_or_float(self.axis)])


@final
@dataclass(frozen=True)
class Revolute(_OnAxis):
    """One turn q about `axis` through `point`: S = (point × axis; axis)."""

    axis: Any
    point: Any = (0, 0, 0)
    nq = 1
    nv = 1

    @cached_property
    def S(self) -> Array:
        return self.turning_screw()[:, None]

    def pose(self, q: Array, xp: Any) -> tuple[Array, Array]:
        return _turn(self.axis, self.point, q[0], xp)


@final
@dataclass(frozen=True)
class Prismatic(Joint):
    """One slide q along `axis`: S = (axis; 0)."""

    axis: Any
    nq = 1
    nv = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "axis", _unit(self.axis, "Prismatic axis"))

    @cached_property
    def S(self) -> Array:
        return np.concatenate([exact_or_float(self.axis), _zero()])[:, None]

    def pose(self, q: Array, xp: Any) -> tuple[Array, Array]:
        return np.eye(3), np.array(self.axis) * q[0]


@final
@dataclass(frozen=True)
class Helical(_OnAxis):
    """One turn q with a slide of `pitch` metres per radian: S = (point × axis + pitch axis; axis)."""

    axis: Any
    pitch: Any = 0.0
    point: Any = (0, 0, 0)
    nq = 1
    nv = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        pitch = np.asarray(self.pitch)
        if pitch.ndim != 0 or pitch.dtype.kind in "USbc" or (numeric(pitch) and not np.isfinite(float(pitch))):
            raise ModelError(f"Helical pitch must be a finite number (m/rad), not {self.pitch!r}")

    @cached_property
    def S(self) -> Array:
        slide = np.concatenate([exact_or_float(self.axis) * self.pitch, _zero()])
        return (self.turning_screw() + slide)[:, None]

    def pose(self, q: Array, xp: Any) -> tuple[Array, Array]:
        R, p = _turn(self.axis, self.point, q[0], xp)
        return R, p + np.array(self.axis) * (self.pitch * q[0])


@final
@dataclass(frozen=True)
class Cylindrical(_OnAxis):
    """A slide q₁ along and a turn q₂ about `axis` through `point`."""

    axis: Any
    point: Any = (0, 0, 0)
    nq = 2
    nv = 2

    @cached_property
    def S(self) -> Array:
        slide = np.concatenate([exact_or_float(self.axis), _zero()])
        return np.stack([slide, self.turning_screw()], axis=1)

    def pose(self, q: Array, xp: Any) -> tuple[Array, Array]:
        R, p = _turn(self.axis, self.point, q[1], xp)
        return R, p + np.array(self.axis) * q[0]


@final
@dataclass(frozen=True)
class Universal(Joint):
    """Rot(axis1, q₁) Rot(axis2, q₂), v = q̇: two revolute joints with a massless body between them.

    Its body twists span {Rot(axis2, −q₂) axis1, axis2}, which turns with q₂, so no constant S exists (Remark 7 of
    [Garofalo2013] says otherwise; `tests/papers/test_garofalo.py` shows it).
    """

    axis1: Any
    axis2: Any
    nq = 2
    nv = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "axis1", _unit(self.axis1, "Universal axis1"))
        object.__setattr__(self, "axis2", _unit(self.axis2, "Universal axis2"))
        a, b = np.array(self.axis1), np.array(self.axis2)
        if numeric(a) and numeric(b) and np.linalg.norm(np.cross(a, b)) < 1e-9:
            raise ModelError("Universal axis1 and axis2 must not be parallel")

    @property
    def S(self) -> Array:
        raise ModelError("a Universal joint has no constant motion subspace; use Robot.segments, which splits it")

    def pose(self, q: Array, xp: Any) -> tuple[Array, Array]:
        return rotation(np.array(self.axis1), q[0], xp) @ rotation(np.array(self.axis2), q[1], xp), _zero()


def quaternion_rotation(q: Array, xp: Any) -> Array:
    """Rotation matrix of a unit quaternion xyzw."""
    x, y, z, w = q[0], q[1], q[2], q[3]
    x2, y2, z2 = 2 * x, 2 * y, 2 * z
    xx, xy, xz, xw = x2 * x, x2 * y, x2 * z, x2 * w
    yy, yz, yw, zz, zw = y2 * y, y2 * z, y2 * w, z2 * z, z2 * w
    return xp.array([[1 - (yy + zz), xy - zw, xz + yw],
                     [xy + zw, 1 - (xx + zz), yz - xw],
                     [xz - yw, yz + xw, 1 - (xx + yy)]])


@final
@dataclass(frozen=True)
class Spherical(Joint):
    """Any rotation: q a unit quaternion xyzw, v the angular velocity in the body frame."""

    nq = 4
    nv = 3

    @cached_property
    def S(self) -> Array:
        return np.concatenate([np.zeros((3, 3)), np.eye(3)])

    def pose(self, q: Array, xp: Any) -> tuple[Array, Array]:
        return quaternion_rotation(q, xp), _zero()

    def neutral(self) -> Array:
        return np.array([0.0, 0.0, 0.0, 1.0])

    def integrate(self, q: Array, dv: Array) -> Array:
        return groups.normalised(groups.quaternion_product(q, groups.so3_exp(dv)))

    def difference(self, q0: Array, q1: Array) -> Array:
        return groups.so3_log(groups.quaternion_product(groups.quaternion_conjugate(q0), q1))


@final
@dataclass(frozen=True)
class Planar(Joint):
    """Motion in the plane across `normal`: q = (x, y, θ), v = (vx, vy, ω) in the body frame.

    x and y run along the first two columns of `basis_with_third(normal)`; for normal z those are x and y.
    """

    normal: Any = (0, 0, 1)
    nq = 3
    nv = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "normal", _unit(self.normal, "Planar normal"))

    @cached_property
    def basis(self) -> Array:
        return basis_with_third(self.normal)

    @cached_property
    def S(self) -> Array:
        zero = np.zeros((3, 1))
        linear = np.concatenate([self.basis[:, :2], zero], axis=1)
        angular = np.concatenate([zero, zero, self.basis[:, 2:]], axis=1)
        return np.concatenate([linear, angular])

    def pose(self, q: Array, xp: Any) -> tuple[Array, Array]:
        return rotation(np.array(self.normal), q[2], xp), self.basis[:, :2] @ q[:2]

    def integrate(self, q: Array, dv: Array) -> Array:
        d = groups.se2_exp(dv)
        c, s = np.cos(q[..., 2]), np.sin(q[..., 2])
        return np.stack([q[..., 0] + c * d[..., 0] - s * d[..., 1],
                         q[..., 1] + s * d[..., 0] + c * d[..., 1], q[..., 2] + d[..., 2]], axis=-1)

    def difference(self, q0: Array, q1: Array) -> Array:
        d, c, s = q1 - q0, np.cos(q0[..., 2]), np.sin(q0[..., 2])
        return groups.se2_log(np.stack([c * d[..., 0] + s * d[..., 1],
                                        c * d[..., 1] - s * d[..., 0], d[..., 2]], axis=-1))


@final
@dataclass(frozen=True)
class Free(Joint):
    """Any motion: q = (x, y, z, qx, qy, qz, qw), v the body twist, linear part first."""

    nq = 7
    nv = 6

    @cached_property
    def S(self) -> Array:
        return np.eye(6)

    def pose(self, q: Array, xp: Any) -> tuple[Array, Array]:
        return quaternion_rotation(q[3:], xp), q[:3]

    def neutral(self) -> Array:
        return np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])

    def integrate(self, q: Array, dv: Array) -> Array:
        p, a = groups.se3_exp(dv)
        return np.concatenate([q[..., :3] + groups.rotate(q[..., 3:], p),
                               groups.normalised(groups.quaternion_product(q[..., 3:], a))], axis=-1)

    def difference(self, q0: Array, q1: Array) -> Array:
        back = groups.quaternion_conjugate(q0[..., 3:])
        return groups.se3_log(groups.rotate(back, q1[..., :3] - q0[..., :3]),
                              groups.quaternion_product(back, q1[..., 3:]))


@final
@dataclass(frozen=True)
class Fixed(Joint):
    """No motion: the body keeps its ten parameters and its frame."""

    nq = 0
    nv = 0

    @cached_property
    def S(self) -> Array:
        return np.zeros((6, 0))

    def pose(self, q: Array, xp: Any) -> tuple[Array, Array]:
        return np.eye(3), _zero()


@final
@dataclass(frozen=True)
class Mimic(Joint):
    """`joint` driven by the joint of the body `of`: q = ratio q_of + offset. Adds nothing to q and v.

    `joint` and the one it follows have one coordinate each; a mimic may follow a mimic. Keywords given here go to `joint`.
    """

    joint: Any
    of: Any
    ratio: Any = 1.0
    offset: Any = 0.0
    nq = 0
    nv = 0

    def __post_init__(self) -> None:
        if not isinstance(self.joint, Revolute | Prismatic | Helical):
            raise ModelError(f"Mimic joint must be Revolute, Prismatic or Helical, not {self.joint!r}")
        if not isinstance(self.of, str):
            raise ModelError(f"Mimic of must be the name of a body, not {self.of!r}")
        for what in ("ratio", "offset"):
            x = np.asarray(getattr(self, what))
            if x.ndim != 0 or x.dtype.kind in "USbc" or (numeric(x) and not np.isfinite(float(x))):
                raise ModelError(f"Mimic {what} must be a finite number, not {getattr(self, what)!r}")
        given = {k: getattr(self, k) for k in KEYWORDS if getattr(self, k) is not None}
        object.__setattr__(self, "joint", replace(self.joint, **given))
        for k in KEYWORDS:
            object.__setattr__(self, k, getattr(self.joint, k))

    @property
    def S(self) -> Array:
        return self.joint.S

    def pose(self, q: Array, xp: Any) -> tuple[Array, Array]:
        return self.joint.pose(q, xp)


KINDS: tuple[type[Joint], ...] = (
    Revolute, Prismatic, Helical, Cylindrical, Universal, Spherical, Planar, Free, Fixed, Mimic,
)


def describe(joint: Joint) -> str:
    """The joint's kind with its axis, in a few characters."""
    shape = [f for f in fields(joint) if f.name in ("axis", "axis1", "axis2", "normal", "pitch")]
    parts = [f"{getattr(joint, f.name)}" if f.name == "pitch" else _axis_text(getattr(joint, f.name)) for f in shape]
    if isinstance(joint, Mimic):
        return f"mimic {describe(joint.joint)} of {joint.of}"
    return " ".join([type(joint).__name__.lower(), *parts])


def _axis_text(axis: Vector) -> str:
    for sign, mark in ((1, ""), (-1, "−")):
        for letter, e in zip("xyz", np.eye(3), strict=True):
            if all(x == sign * y for x, y in zip(axis, e, strict=True)):
                return mark + letter
    return "(" + " ".join(f"{x:.4g}" if isinstance(x, float) else str(x) for x in axis) + ")"
