"""Joints that turn about one axis, slide along it, or both: revolute to cylindrical."""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, final

import numpy as np

from closedform.arrays import Array, Namespace, cross, exact_or_float
from closedform.errors import ModelError
from closedform.model.joints.joint import Joint
from closedform.model.pose import rotation
from closedform.model.vectors import Vector, finite_point, is_finite_number


class TurningOnAxis(Joint, ABC):
    """Joints that turn about an axis (a unit vector) through a point of the body frame."""

    axis: Any
    point: Any
    axes = ("axis",)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "point", finite_point(self.point, f"{type(self).__name__} point"))

    def turn(self, angle: Any, xp: Namespace) -> tuple[Array, Array]:
        """Rotation about the axis through the point: R, (1 − R) point."""
        R, p = rotation(np.array(self.axis), angle, xp), np.array(self.point)
        return R, (np.eye(3, dtype=int) - R) @ p if any(x != 0 for x in self.point) else np.zeros(3)

    def turning_screw(self) -> Array:
        """(point × axis; axis)."""
        point, axis = exact_or_float(self.point), exact_or_float(self.axis)
        return np.concatenate([exact_or_float(cross(point, axis)), axis])

    @property
    def line(self) -> tuple[Array, Array]:
        return np.array(self.axis), np.array(self.point)

    def on_z(self) -> Joint:
        changes: dict[str, Any] = {"axis": (0, 0, 1), "point": (0, 0, 0)}
        return replace(self, **changes)

    def with_screws(self, screws: list[Array]) -> Joint:
        """The point of a screw (v; ω) is ω × v."""
        v, axis = screws[0][-1][:3], screws[0][-1][3:]
        changes: dict[str, Any] = {"axis": axis, "point": np.cross(axis, v)}
        return replace(self, **changes)


@final
@dataclass(frozen=True)
class Revolute(TurningOnAxis):
    """One turn q about `axis` through `point`: S = (point × axis; axis)."""

    axis: Any
    point: Any = (0, 0, 0)
    nq = 1
    nv = 1
    angles = (0,)
    takes_turns = True
    twists = (5,)
    urdf = "revolute"

    @cached_property
    def S(self) -> Array:
        return self.turning_screw()[:, None]

    def pose(self, q: Array, xp: Namespace) -> tuple[Array, Array]:
        return self.turn(q[0], xp)


@final
@dataclass(frozen=True)
class Prismatic(Joint):
    """One slide q along `axis`: S = (axis; 0)."""

    axis: Any
    nq = 1
    nv = 1
    axes = ("axis",)
    lengths = (0,)
    twists = (2,)
    urdf = "prismatic"

    @cached_property
    def S(self) -> Array:
        return _slide(self.axis)[:, None]

    def pose(self, q: Array, xp: Namespace) -> tuple[Array, Array]:
        return np.eye(3), np.array(self.axis) * q[0]

    @property
    def line(self) -> tuple[Array, Array]:
        return np.array(self.axis), np.zeros(3)

    def on_z(self) -> Joint:
        return replace(self, axis=(0, 0, 1))

    def with_screws(self, screws: list[Array]) -> Joint:
        return replace(self, axis=screws[0][0][:3])


@final
@dataclass(frozen=True)
class Helical(TurningOnAxis):
    """One turn q that slides by `pitch` m/rad: S = (point × axis + pitch axis; axis)."""

    axis: Any
    pitch: Any = 0.0
    point: Any = (0, 0, 0)
    nq = 1
    nv = 1
    twists = (5,)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not is_finite_number(self.pitch):
            raise ModelError(f"Helical pitch must be a finite number (m/rad), not {self.pitch!r}")

    @cached_property
    def S(self) -> Array:
        return (self.turning_screw() + _slide(self.axis) * self.pitch)[:, None]

    @property
    def advance(self) -> Any:
        return self.pitch

    def pose(self, q: Array, xp: Namespace) -> tuple[Array, Array]:
        R, p = self.turn(q[0], xp)
        return R, p + np.array(self.axis) * (self.pitch * q[0])

    def with_screws(self, screws: list[Array]) -> Joint:
        v, axis = screws[0][-1][:3], screws[0][-1][3:]
        return replace(self, axis=axis, point=np.cross(axis, v), pitch=float(axis @ v))


@final
@dataclass(frozen=True)
class Cylindrical(TurningOnAxis):
    """A slide q₁ along and a turn q₂ about `axis` through `point`."""

    axis: Any
    point: Any = (0, 0, 0)
    nq = 2
    nv = 2
    lengths = (0,)
    angles = (1,)
    takes_turns = True
    twists = (2, 5)

    @cached_property
    def S(self) -> Array:
        return np.stack([_slide(self.axis), self.turning_screw()], axis=1)

    def pose(self, q: Array, xp: Namespace) -> tuple[Array, Array]:
        R, p = self.turn(q[1], xp)
        return R, p + np.array(self.axis) * q[0]

    def series(self) -> tuple[Joint, ...]:
        return self.in_row(Prismatic(self.axis), Revolute(self.axis, self.point))


def _slide(axis: Vector) -> Array:
    """(axis; 0)."""
    return np.concatenate([exact_or_float(axis), np.zeros(3)])
