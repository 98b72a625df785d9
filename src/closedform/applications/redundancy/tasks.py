"""Tasks: what the arm has to do, f(q) = x, with as many equations as m says."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from closedform.arrays import Array, ArrayLike, Floats, real_array
from closedform.errors import ArgumentError
from closedform.maths.algorithms.frame_screws import (
    FrameScrews,
    frame_screws,
    jacobian_derivative,
    jacobian_of,
)
from closedform.model.robot import Robot
from closedform.program.differentiate import hessian, jacobian

LARGEST = 1e9           # m: squares of residuals stay finite

OfConfiguration = Callable[..., Any]
"""A user's function of q, or of robot and q, over generic arrays."""


class TaskTerms(NamedTuple):
    """A task at q, over generic arrays."""

    place: Array            # where the arm is, of the shape of a target
    J: Array                # (m, nv)
    dJ: Array               # (m, nv, nv)  # noqa: N815
    frame: FrameScrews | None   # where there is one
    rows: tuple[int, ...]   # of the frame's six, where there is one


class Task(ABC):
    """f(q) = x: how a target looks, how far a place is from it, and f with its derivatives."""

    @abstractmethod
    def shape(self, robot: Robot) -> tuple[int, ...]:
        """The shape of one target."""

    @abstractmethod
    def terms(self, robot: Robot, q: Array) -> TaskTerms:
        """f and its first and second derivatives."""

    def residual(self, place: Floats, target: Floats) -> Floats:
        """What is missing, (..., m): place − target."""
        return place - target

    def between(self, start: Floats, end: Floats, s: float) -> Floats:
        """The target at the part s of the way."""
        return start + s * (end - start)

    def checked(self, target: ArrayLike, robot: Robot) -> Floats:
        """Targets as an array, batch axes first."""
        shape = self.shape(robot)
        x = real_array(target, shape, f"{self} of {robot.name}: target")
        if not np.all(np.isfinite(x)):
            raise ArgumentError(f"target must be finite, not {_first_bad(x, len(shape))}")
        if np.abs(x).max(initial=0.0) > LARGEST:
            raise ArgumentError(f"target must be below {LARGEST:.0e}, not {np.abs(x).max():.3g}")
        return x


def _first_bad(x: Floats, axes: int) -> list[Any]:
    flat = x.reshape(-1, *x.shape[x.ndim - axes:])
    bad = ~np.isfinite(flat).reshape(len(flat), -1).all(axis=1)
    return flat[int(np.argmax(bad))].tolist()


def _frame_terms(robot: Robot, q: Array, frame: str, rows: Sequence[int]) -> TaskTerms:
    here = frame_screws(robot, q, frame)
    J, dJ = jacobian_of(here)[list(rows)], jacobian_derivative(here)[list(rows)]
    return TaskTerms(here.p, J, dJ, here, tuple(rows))


@final
@dataclass(frozen=True)
class PlanarPosition(Task):
    """The frame's origin at the world's (x, y); m = 2."""

    frame: str

    def shape(self, robot: Robot) -> tuple[int, ...]:
        robot.frame(self.frame)
        return (2,)

    def terms(self, robot: Robot, q: Array) -> TaskTerms:
        terms = _frame_terms(robot, q, self.frame, (0, 1))
        return terms._replace(place=terms.place[:2])


@final
@dataclass(frozen=True)
class Position(Task):
    """The frame's origin at the world's (x, y, z); m = 3."""

    frame: str

    def shape(self, robot: Robot) -> tuple[int, ...]:
        robot.frame(self.frame)
        return (3,)

    def terms(self, robot: Robot, q: Array) -> TaskTerms:
        return _frame_terms(robot, q, self.frame, (0, 1, 2))


@final
@dataclass(frozen=True)
class Pose(Task):
    """The frame at a 4x4 pose in the world; m = 6.

    The residual is (p − p_d; log R R_dᵀ). Since log's left derivative keeps its own argument, the
    geometric Jacobian gives the exact Newton step, and sym ∂J/∂q is log's second derivative at 0.
    """

    frame: str

    def shape(self, robot: Robot) -> tuple[int, ...]:
        robot.frame(self.frame)
        return (4, 4)

    def terms(self, robot: Robot, q: Array) -> TaskTerms:
        terms = _frame_terms(robot, q, self.frame, range(6))
        here = terms.frame
        assert here is not None
        rows = [[*here.R[i], here.p[i]] for i in range(3)]
        place = np.array([*rows, [0.0, 0.0, 0.0, 1.0]], dtype=object)
        return terms._replace(place=place)

    def residual(self, place: Floats, target: Floats) -> Floats:
        R = place[..., :3, :3] @ np.swapaxes(target[..., :3, :3], -1, -2)
        return np.concatenate([place[..., :3, 3] - target[..., :3, 3], rotation_vector(R)], axis=-1)

    def between(self, start: Floats, end: Floats, s: float) -> Floats:
        turn = rotation_vector(end[:3, :3] @ start[:3, :3].T)
        T = np.eye(4)
        T[:3, :3] = Rotation.from_rotvec(s * turn).as_matrix() @ start[:3, :3]
        T[:3, 3] = start[:3, 3] + s * (end[:3, 3] - start[:3, 3])
        return T

    def checked(self, target: ArrayLike, robot: Robot) -> Floats:
        x = super().checked(target, robot)
        R = x[..., :3, :3]
        off = np.abs(R @ np.swapaxes(R, -1, -2) - np.eye(3)).max(initial=0.0)
        if off > 1e-6 or np.any(np.linalg.det(R) < 0):
            raise ArgumentError("target of a Pose must have a rotation in its upper left 3x3 part; "
                                f"R Rᵀ is {off:.2g} away from 1")
        if np.any(x[..., 3, :] != (0.0, 0.0, 0.0, 1.0)):
            raise ArgumentError("target of a Pose must have the last row 0 0 0 1")
        x = x.copy()
        U, _, V = np.linalg.svd(R)
        x[..., :3, :3] = U @ V              # a rotation printed with few digits would never be met
        return x


def rotation_vector(R: Floats) -> Floats:
    """log R, (..., 3): θ n with |θ| ≤ π, by the skew part; by quaternions where that is weak."""
    skew = 0.5 * np.stack([R[..., 2, 1] - R[..., 1, 2], R[..., 0, 2] - R[..., 2, 0],
                           R[..., 1, 0] - R[..., 0, 1]], axis=-1)
    s = np.sqrt(np.sum(skew * skew, axis=-1))
    c = 0.5 * (R[..., 0, 0] + R[..., 1, 1] + R[..., 2, 2] - 1.0)
    small = s < 1e-6
    factor = np.where(small, 1.0 + s * s / 6.0, np.arctan2(s, c) / np.where(small, 1.0, s))
    result = skew * factor[..., None]
    far = c < -0.9
    if np.any(far):
        result = np.array(result)
        result[far] = Rotation.from_matrix(R[far]).as_rotvec()
    return result


@final
@dataclass(frozen=True)
class FunctionTask(Task):
    """A function of q, or of robot and q, over generic arrays, that returns m numbers."""

    function: OfConfiguration

    def value(self, robot: Robot, q: Array) -> Array:
        found = np.asarray(call(self.function, robot, q), dtype=object)
        if found.ndim != 1:
            raise ArgumentError(f"the task {name_of(self.function)} must return m numbers, "
                                f"not an array of shape {found.shape}")
        return found

    def shape(self, robot: Robot) -> tuple[int, ...]:
        return (len(self.value(robot, robot.neutral())),)

    def terms(self, robot: Robot, q: Array) -> TaskTerms:
        require_adding(robot, f"the task {name_of(self.function)}")
        f = self.value(robot, q)
        dJ = np.stack([hessian(f_k, q) for f_k in f])
        return TaskTerms(f, jacobian(f, q), dJ, None, ())


TaskLike = Task | OfConfiguration


def task_of(task: TaskLike) -> Task:
    """A task, or a function as one."""
    if isinstance(task, Task):
        return task
    if callable(task) and not isinstance(task, type):
        return FunctionTask(task)
    raise ArgumentError("task must be a PlanarPosition, Position or Pose of a frame, or a function "
                        f"of q, not {task!r}")


def call(function: OfConfiguration, robot: Robot, q: Array) -> Any:
    """function(q), or function(robot, q) where it takes two arguments."""
    needed = [p for p in inspect.signature(function).parameters.values()
              if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if len(needed) not in (1, 2):
        raise ArgumentError(f"{name_of(function)} must take q, or robot and q; it takes "
                            f"{len(needed)} arguments")
    return function(q) if len(needed) == 1 else function(robot, q)


def name_of(function: object) -> str:
    return getattr(function, "__name__", repr(function))


def coordinate_places(robot: Robot) -> NDArray[np.intp]:
    """For each velocity its coordinate in q; −1 where it has none that simply adds up."""
    found = [i.start + k if body.joint.is_vector else -1 for body, i, v in robot.tree.parts
             for k in range(v.stop - v.start)]
    places = np.array(found, dtype=int)
    return places[list(robot.closure.independent)] if robot.closure else places


def turning(robot: Robot) -> NDArray[np.bool_]:
    """For each velocity, whether its coordinate is an angle."""
    angles = {i.start + k for body, i, _ in robot.parts if body.joint.is_vector
              for k in body.joint.angles}
    return np.isin(coordinate_places(robot), list(angles))


def require_adding(robot: Robot, what: str) -> None:
    others = sorted({body.joint.kind for body, _, _ in robot.parts if not body.joint.is_vector})
    if others:
        raise ArgumentError(f"{what} needs joints whose coordinates add up; {robot.name} has "
                            f"{', '.join(others)} joints")
