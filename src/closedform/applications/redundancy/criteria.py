"""Criteria: what the redundancy is used for, each with its exact gradient and Hessian.

All are to be **maximised**. They add up and take weights: `Manipulability() + 0.1 * Posture(q)`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from closedform.applications.redundancy.looped import Slopes, by_independent, pulled
from closedform.applications.redundancy.tasks import (
    OfConfiguration,
    TaskTerms,
    call,
    coordinate_places,
    name_of,
    require_adding,
)
from closedform.arrays import NO_ARRAY, Array, ArrayLike, Floats, namespace
from closedform.errors import ArgumentError
from closedform.maths.algorithms.frame_screws import frame_screws
from closedform.maths.redundancy.criteria import (
    CriterionTerms,
    Ellipsoid,
    limit_barrier,
    log_manipulability,
    obstacle_distance,
    power_of_manipulability,
    quadratic,
)
from closedform.maths.redundancy.newton import TaskInverse
from closedform.model.robot import Robot
from closedform.program.differentiate import gradient, hessian, jacobian

Obstacle = Ellipsoid | Sequence[Any]
"""An ellipsoid, or its centre, radii and exponent."""


class Criterion(ABC):
    """H(q), to be maximised."""

    @abstractmethod
    def terms(
        self, robot: Robot, q: Array, task: TaskTerms, inverse: TaskInverse,
    ) -> CriterionTerms:
        """What the value is made of, gradient and Hessian, over recorded scalars."""

    def looped_terms(self, robot: Robot, q: Array, by: Slopes,
                     tasks: tuple[TaskTerms, TaskTerms], inverse: TaskInverse) -> CriterionTerms:
        """The same of a robot with loops; `tasks` are those of its tree and its own."""
        return pulled(self.terms(robot.tree, q, tasks[0], inverse), by)

    def parts(self, robot: Robot) -> int:
        """How many numbers the value is made of."""
        return 1

    def value(self, robot: Robot, raw: Floats) -> Floats:
        """H from those numbers, batch axes first; −∞ where the criterion forbids the place."""
        return raw[..., 0]

    def __add__(self, other: CriterionLike) -> Criterion:
        return Sum((*weighted(self), *weighted(criterion_of(other))))

    def __mul__(self, weight: float) -> Criterion:
        if not isinstance(weight, int | float | np.number) or not np.isfinite(weight):
            raise ArgumentError(f"a criterion's weight must be a finite number, not {weight!r}")
        return Sum(tuple((float(weight) * w, c) for w, c in weighted(self)))

    __rmul__ = __mul__

    def __neg__(self) -> Criterion:
        return self * -1.0

    def __sub__(self, other: CriterionLike) -> Criterion:
        return self + -criterion_of(other)


@final
@dataclass(frozen=True)
class Sum(Criterion):
    """Σ w_i H_i."""

    summands: tuple[tuple[float, Criterion], ...]

    def terms(
        self, robot: Robot, q: Array, task: TaskTerms, inverse: TaskInverse,
    ) -> CriterionTerms:
        return self.summed([(w, c.terms(robot, q, task, inverse)) for w, c in self.summands])

    def looped_terms(self, robot: Robot, q: Array, by: Slopes,
                     tasks: tuple[TaskTerms, TaskTerms], inverse: TaskInverse) -> CriterionTerms:
        return self.summed([(w, c.looped_terms(robot, q, by, tasks, inverse))
                            for w, c in self.summands])

    def summed(self, each: Sequence[tuple[float, CriterionTerms]]) -> CriterionTerms:
        """The terms of the sum of those of its summands, each with its weight."""
        raw = namespace(each[0][1].h).concatenate([t.raw for _, t in each])
        return CriterionTerms(raw, reduce(add, [w * t.h for w, t in each]),
                              reduce(add, [w * t.B for w, t in each]))

    def parts(self, robot: Robot) -> int:
        return sum(c.parts(robot) for _, c in self.summands)

    def value(self, robot: Robot, raw: Floats) -> Floats:
        total, at = np.zeros(raw.shape[:-1]), 0
        allowed = np.ones(raw.shape[:-1], dtype=bool)
        for w, c in self.summands:
            end = at + c.parts(robot)
            value = c.value(robot, raw[..., at:end])
            allowed &= np.isfinite(value)       # a forbidden place stays one under any weight
            total = total + w * np.where(np.isfinite(value), value, 0.0)
            at = end
        return np.where(allowed, total, -np.inf)


def weighted(criterion: Criterion) -> tuple[tuple[float, Criterion], ...]:
    return criterion.summands if isinstance(criterion, Sum) else ((1.0, criterion),)


class OfTask(Criterion):
    """A criterion of the task's Jacobian alone."""

    def looped_terms(self, robot: Robot, q: Array, by: Slopes,
                     tasks: tuple[TaskTerms, TaskTerms], inverse: TaskInverse) -> CriterionTerms:
        return self.terms(robot, q, tasks[1], inverse)


def _log_manipulability(
    robot: Robot, q: Array, task: TaskTerms, inverse: TaskInverse,
) -> CriterionTerms:
    """½ log det J Jᵀ, in closed form for frames, by recorded derivatives for other tasks.

    By these too where joints follow others by polynomials: then q has to move as v does.
    """
    if task.frame is not None and not robot.is_embedded:
        return log_manipulability(task.frame, task.rows, task.dJ, inverse)
    if robot.loops:
        n, m = task.J.shape[1], len(task.J)
        h = np.array([np.sum(inverse.G * task.dJ[:, :, k]) for k in range(n)], dtype=object)
        B = by_independent(robot, h, q) if n > m else np.zeros((n, n), dtype=object)
        return CriterionTerms(np.array([inverse.det], dtype=object), h, B)
    if robot.is_embedded:
        require_adding(robot, "manipulability of a robot whose joints follow by polynomials")
    n = task.J.shape[1]
    h = np.array([np.sum(inverse.G * task.dJ[:, :, k]) for k in range(n)], dtype=object)
    return CriterionTerms(np.array([inverse.det], dtype=object), h, jacobian(h, q))


@final
@dataclass(frozen=True)
class Manipulability(OfTask):
    """½ log det J Jᵀ of the task's Jacobian: the maxima of Chang's (29), whatever the units."""

    def terms(
        self, robot: Robot, q: Array, task: TaskTerms, inverse: TaskInverse,
    ) -> CriterionTerms:
        return _log_manipulability(robot, q, task, inverse)

    def value(self, robot: Robot, raw: Floats) -> Floats:
        good = raw[..., 0] > 0
        return np.where(good, 0.5 * np.log(np.where(good, raw[..., 0], 1.0)), -np.inf)


@final
@dataclass(frozen=True)
class DetJJt(OfTask):
    """det J Jᵀ, Chang's (29)."""

    def terms(
        self, robot: Robot, q: Array, task: TaskTerms, inverse: TaskInverse,
    ) -> CriterionTerms:
        return power_of_manipulability(_log_manipulability(robot, q, task, inverse), 2)


@final
@dataclass(frozen=True)
class Yoshikawa(OfTask):
    """√det J Jᵀ, Yoshikawa's measure, which Chang's tables turn out to have been made with."""

    def terms(
        self, robot: Robot, q: Array, task: TaskTerms, inverse: TaskInverse,
    ) -> CriterionTerms:
        return power_of_manipulability(_log_manipulability(robot, q, task, inverse), 1)


@final
@dataclass(frozen=True)
class Posture(Criterion):
    """−½ Σ w_i (q_i − posture_i)²: near a posture."""

    q: tuple[float, ...]
    weights: tuple[float, ...] | None = None

    def __init__(self, q: ArrayLike, weights: ArrayLike | None = None) -> None:
        object.__setattr__(self, "q", _finite(q, "posture"))
        given = None if weights is None else _finite(weights, "weights")
        object.__setattr__(self, "weights", given)

    def terms(
        self, robot: Robot, q: Array, task: TaskTerms, inverse: TaskInverse,
    ) -> CriterionTerms:
        require_adding(robot, "Posture")
        weights = (1.0,) * len(self.q) if self.weights is None else self.weights
        if len(self.q) != robot.nq or len(weights) != robot.nq:
            raise ArgumentError(f"Posture needs {robot.nq} numbers for {robot.name}, not "
                                f"{len(self.q)} and {len(weights)} weights")
        return quadratic(q - np.array(self.q), np.array(weights))


@final
@dataclass(frozen=True)
class JointCentering(Criterion):
    """−½ Σ ((q_i − middle_i)/(half range)_i)² over the joints that have limits."""

    def terms(
        self, robot: Robot, q: Array, task: TaskTerms, inverse: TaskInverse,
    ) -> CriterionTerms:
        columns, d, reach = _within(robot, q, "JointCentering")
        return _spread(quadratic(d, reach ** -2), columns, robot.nv)


@final
@dataclass(frozen=True)
class LimitBarrier(Criterion):
    """−Σ 1/(r_i² − (q_i − middle_i)²), r_i half the range: Chang's (12), second sum."""

    def terms(
        self, robot: Robot, q: Array, task: TaskTerms, inverse: TaskInverse,
    ) -> CriterionTerms:
        columns, d, reach = _within(robot, q, "LimitBarrier")
        return _spread(limit_barrier(d, reach), columns, robot.nv)

    def parts(self, robot: Robot) -> int:
        return len(ranges(robot.tree, "LimitBarrier")[0])

    def value(self, robot: Robot, raw: Floats) -> Floats:
        return barrier_value(raw)


@final
@dataclass(frozen=True)
class Obstacles(Criterion):
    """−Σ 1/(C_O(x_i) − 1) over points x_i of the arm and obstacles, Chang's (12) and (13).

    `points` are names of frames or bodies, `obstacles` ellipsoids with an even exponent. A place
    with a point inside an obstacle has the value −∞.
    """

    obstacles: tuple[Ellipsoid, ...]
    points: tuple[str, ...]

    def __init__(self, obstacles: Ellipsoid | Sequence[Obstacle],
                 points: str | Sequence[str]) -> None:
        if not isinstance(obstacles, Iterable) or not isinstance(points, Iterable):
            raise ArgumentError("Obstacles takes a list of obstacles and a list of names, not "
                                f"{obstacles!r} and {points!r}")
        given = (obstacles,) if isinstance(obstacles, Ellipsoid) else tuple(obstacles)
        object.__setattr__(self, "obstacles", tuple(_ellipsoid(o) for o in given))
        object.__setattr__(self, "points", (points,) if isinstance(points, str) else tuple(points))
        if not self.obstacles or not self.points:
            raise ArgumentError("Obstacles needs at least one obstacle and one point of the arm")

    def terms(
        self, robot: Robot, q: Array, task: TaskTerms, inverse: TaskInverse,
    ) -> CriterionTerms:
        frames = [frame_screws(robot, q, point) for point in self.points]
        each = [obstacle_distance(here, o) for here in frames for o in self.obstacles]
        raw = namespace(q).concatenate([t.raw for t in each])
        return CriterionTerms(raw, reduce(add, [t.h for t in each]),
                              reduce(add, [t.B for t in each]))

    def parts(self, robot: Robot) -> int:
        return len(self.points) * len(self.obstacles)

    def value(self, robot: Robot, raw: Floats) -> Floats:
        return barrier_value(raw)


@final
@dataclass(frozen=True)
class FunctionCriterion(Criterion):
    """A function of q, or of robot and q, over generic arrays; derivatives by recording."""

    function: OfConfiguration

    def terms(
        self, robot: Robot, q: Array, task: TaskTerms, inverse: TaskInverse,
    ) -> CriterionTerms:
        require_adding(robot, f"the criterion {name_of(self.function)}")
        value = np.asarray(call(self.function, robot, q), dtype=object)
        if value.size != 1:
            raise ArgumentError(f"the criterion {name_of(self.function)} must return one number, "
                                f"not an array of shape {value.shape}")
        H = value.ravel()[0]
        return CriterionTerms(np.array([H], dtype=object), gradient(H, q), hessian(H, q))


CriterionLike = Criterion | OfConfiguration


def criterion_of(criterion: CriterionLike) -> Criterion:
    """A criterion, or a function as one."""
    if isinstance(criterion, Criterion):
        return criterion
    if callable(criterion) and not isinstance(criterion, type):
        return FunctionCriterion(criterion)
    raise ArgumentError("criterion must be one of cf.redundancy's, such as Manipulability(), or a "
                        f"function of q, not {criterion!r}")


def barrier_value(room: Floats) -> Floats:
    """−Σ 1/room_i, and −∞ where a room is not positive."""
    good = np.all(room > 0, axis=-1)
    safe = np.where(good[..., None], room, 1.0)
    return np.where(good, -np.sum(1.0 / safe, axis=-1), -np.inf)


def ranges(robot: Robot, what: str) -> tuple[NDArray[np.intp], Floats, Floats]:
    """Which velocities are of joints with both limits, their middles and half ranges."""
    places = coordinate_places(robot)
    lower, upper = robot.lower[places], robot.upper[places]
    bounded = np.isfinite(lower) & np.isfinite(upper) & (places >= 0)
    if not np.any(bounded):
        raise ArgumentError(f"{what} needs joint limits; {robot.name} has none")
    lower, upper = lower[bounded], upper[bounded]
    return np.flatnonzero(bounded), (lower + upper) / 2, (upper - lower) / 2


def _within(robot: Robot, q: Array, what: str) -> tuple[NDArray[np.intp], Array, Floats]:
    """The velocities of joints with both limits, how far these are from the middle, half ranges."""
    columns, middle, reach = ranges(robot, what)
    at = coordinate_places(robot)[columns]
    d = np.array([q[i] - m for i, m in zip(at, middle, strict=True)], dtype=object)
    return columns, d, reach


def _spread(terms: CriterionTerms, columns: NDArray[np.intp], n: int) -> CriterionTerms:
    """Terms of some coordinates as terms of all."""
    at = {int(i): k for k, i in enumerate(columns)}
    h = [terms.h[at[i]] if i in at else 0.0 for i in range(n)]
    B = [[terms.B[at[i], at[j]] if i in at and j in at else 0.0 for j in range(n)]
         for i in range(n)]
    xp = namespace(terms.h)
    return CriterionTerms(terms.raw, xp.array(h), xp.array(B))


def _ellipsoid(given: Obstacle) -> Ellipsoid:
    try:
        centre, radii, *rest = given
        o = Ellipsoid(_three(centre), _three(radii), *rest)
    except NO_ARRAY as error:
        raise ArgumentError("an obstacle is (centre, radii, exponent), as cf.redundancy.Ellipsoid, "
                            f"not {given!r}") from error
    if o.exponent != int(o.exponent) or o.exponent % 2 or o.exponent < 2:
        raise ArgumentError(f"an obstacle's exponent must be 2, 4, 6, ..., not {o.exponent!r}: "
                            "with another one Chang's (13) is no distance")
    if min(o.radii) <= 0:
        raise ArgumentError(f"an obstacle's radii must be positive, not {o.radii}")
    return o._replace(exponent=int(o.exponent))


def _three(x: object) -> tuple[float, float, float]:
    a, b, c = _finite(x, "centre and radii")
    return a, b, c


def _finite(x: object, what: str) -> tuple[float, ...]:
    try:
        a = np.asarray(x, dtype=float)
    except NO_ARRAY:
        a = np.array(np.nan)
    if a.ndim != 1 or not np.all(np.isfinite(a)):
        raise ArgumentError(f"{what} must be a list of finite numbers, not {x!r}")
    return tuple(a.tolist())
