"""Joints as frozen records: what moves, along which screws, within which limits.

A joint takes the placement frame to the body's frame by `pose(q)`, and its velocities v to the body
twist S v (linear part first, in the body frame). S is constant for every kind here whose motions
form a group; `Universal` has no constant S and is split into two `Revolute` by `Robot.segments`.
"""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, final

import numpy as np

from closedform.arrays import Array, exact_or_float, numeric
from closedform.errors import ModelError
from closedform.model import groups
from closedform.model.joints.joint import KEYWORDS as KEYWORDS
from closedform.model.joints.joint import Joint as Joint
from closedform.model.joints.joint import Vector, finite_point, is_finite_number, unit_vector
from closedform.model.pose import basis_with_third, rotation


def _cross(a: Vector, b: Vector) -> Array:
    return exact_or_float([a[1] * b[2] - a[2] * b[1],
                           a[2] * b[0] - a[0] * b[2],
                           a[0] * b[1] - a[1] * b[0]])


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
        object.__setattr__(self, "axis", unit_vector(self.axis, f"{type(self).__name__} axis"))
        object.__setattr__(self, "point", finite_point(self.point, f"{type(self).__name__} point"))

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
        object.__setattr__(self, "axis", unit_vector(self.axis, "Prismatic axis"))

    @cached_property
    def S(self) -> Array:
        return np.concatenate([exact_or_float(self.axis), _zero()])[:, None]

    def pose(self, q: Array, xp: Any) -> tuple[Array, Array]:
        return np.eye(3), np.array(self.axis) * q[0]


@final
@dataclass(frozen=True)
class Helical(_OnAxis):
    """One turn q that slides by `pitch` m/rad: S = (point × axis + pitch axis; axis)."""

    axis: Any
    pitch: Any = 0.0
    point: Any = (0, 0, 0)
    nq = 1
    nv = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if not is_finite_number(self.pitch):
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

    Its body twists span {Rot(axis2, −q₂) axis1, axis2}, which turns with q₂, so no constant S
    exists (Remark 7 of [Garofalo2013] says otherwise; `tests/papers/test_garofalo.py` shows it).
    """

    axis1: Any
    axis2: Any
    nq = 2
    nv = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "axis1", unit_vector(self.axis1, "Universal axis1"))
        object.__setattr__(self, "axis2", unit_vector(self.axis2, "Universal axis2"))
        a, b = np.array(self.axis1), np.array(self.axis2)
        if numeric(a) and numeric(b) and np.linalg.norm(np.cross(a, b)) < 1e-9:
            raise ModelError("Universal axis1 and axis2 must not be parallel")

    @property
    def S(self) -> Array:
        raise ModelError("a Universal joint has no constant motion subspace; "
                         "use Robot.segments, which splits it")

    def pose(self, q: Array, xp: Any) -> tuple[Array, Array]:
        R1 = rotation(np.array(self.axis1), q[0], xp)
        R2 = rotation(np.array(self.axis2), q[1], xp)
        return R1 @ R2, _zero()


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

    x and y run along the first two columns of `basis_with_third(normal)`; for normal z those are
    x and y.
    """

    normal: Any = (0, 0, 1)
    nq = 3
    nv = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "normal", unit_vector(self.normal, "Planar normal"))

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
                         q[..., 1] + s * d[..., 0] + c * d[..., 1],
                         q[..., 2] + d[..., 2]], axis=-1)

    def difference(self, q0: Array, q1: Array) -> Array:
        d, c, s = q1 - q0, np.cos(q0[..., 2]), np.sin(q0[..., 2])
        return groups.se2_log(np.stack([c * d[..., 0] + s * d[..., 1],
                                        c * d[..., 1] - s * d[..., 0],
                                        d[..., 2]], axis=-1))


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
        turned = groups.normalised(groups.quaternion_product(q[..., 3:], a))
        return np.concatenate([q[..., :3] + groups.rotate(q[..., 3:], p), turned], axis=-1)

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
    """`joint` driven by the joint of the body `of`: q = ratio q_of + offset.

    It adds nothing to q and v. `joint` and the one it follows have one coordinate each; a mimic may
    follow a mimic. Keywords given here go to `joint`.
    """

    joint: Any
    of: Any
    ratio: Any = 1.0
    offset: Any = 0.0
    nq = 0
    nv = 0

    def __post_init__(self) -> None:
        if not isinstance(self.joint, Revolute | Prismatic | Helical):
            raise ModelError("Mimic joint must be Revolute, Prismatic or Helical, "
                             f"not {self.joint!r}")
        if not isinstance(self.of, str):
            raise ModelError(f"Mimic of must be the name of a body, not {self.of!r}")
        for what in ("ratio", "offset"):
            x = getattr(self, what)
            if not is_finite_number(x):
                raise ModelError(f"Mimic {what} must be a finite number, not {x!r}")
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
    if isinstance(joint, Mimic):
        return f"mimic {describe(joint.joint)} of {joint.of}"
    given = {f.name: getattr(joint, f.name) for f in fields(joint)}
    parts = [f"{x}" if name == "pitch" else _axis_text(x) for name, x in given.items()
             if name in ("axis", "axis1", "axis2", "normal", "pitch")]
    return " ".join([type(joint).__name__.lower(), *parts])


def _axis_text(axis: Vector) -> str:
    for sign, mark in ((1, ""), (-1, "−")):
        for letter, e in zip("xyz", np.eye(3), strict=True):
            if all(x == sign * y for x, y in zip(axis, e, strict=True)):
                return mark + letter
    return "(" + " ".join(f"{x:.4g}" if isinstance(x, float) else str(x) for x in axis) + ")"
