"""Redundancy of robots with closed loops: tasks and criteria in the independent velocities y.

    J = Ĵ G      ∂_k J = (∂Ĵ G_k) G + Ĵ ∂_k G      h = Gᵀ ĥ      B = Gᵀ B̂ G + sym(ĥ ∂_k G)

The hats are those of the spanning tree. A step moves the independent joints and closes the others
again by Newton's method; it ends where loops, their branch or limits of dependent joints end it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple, final

import numpy as np

from closedform.applications.compile.kernels import compile
from closedform.applications.compile.requests import Request
from closedform.applications.redundancy.tasks import (
    Task,
    TaskTerms,
    coordinate_places,
    turning,
)
from closedform.arrays import Array, Floats, namespace
from closedform.maths.catalogue import quantity
from closedform.maths.embedding import embedding
from closedform.maths.redundancy.criteria import CriterionTerms
from closedform.model.coordinates import rates as coordinate_rates
from closedform.model.loops.affine import affine
from closedform.model.loops.assembly import moved
from closedform.model.loops.linear import constant_G
from closedform.model.robot import Robot
from closedform.program.differentiate import jacobian

STEP = 0.15
"""rad or m that independent joints go before the loops are closed again."""
TURNS = 10
"""Steps of Newton's, at most."""


class Slopes(NamedTuple):
    """How the tree's velocities follow, and how that changes along each independent one."""

    G: Array                     # (n, nv)
    bends: Sequence[Array]       # ∂_k G for each k; none where G is constant


def slopes(robot: Robot, q: Array) -> Slopes:
    """G and its derivatives; of affine loops the constant one."""
    if robot.closure is not None and affine(robot) is not None:
        return Slopes(np.array(constant_G(robot.tree, robot.closure), dtype=object), ())
    e = embedding(robot)
    return Slopes(e.here(q).G, [e.slope_rates(q, [y])[1] for y in namespace(q).eye(robot.nv)])


def task_terms(task: Task, robot: Robot, q: Array, by: Slopes) -> tuple[TaskTerms, TaskTerms]:
    """The task of the tree, and in the independent velocities."""
    tree = task.terms(robot.tree, q)
    J, G = tree.J @ by.G, by.G
    columns = [np.stack([d @ G[:, k] for d in tree.dJ]) @ G for k in range(robot.nv)]
    if by.bends:
        columns = [x + tree.J @ d for x, d in zip(columns, by.bends, strict=True)]
    dJ = np.stack(columns, axis=2) if columns else np.zeros((*J.shape, 0), dtype=object)
    return tree, tree._replace(J=J, dJ=dJ, frame=None)


def pulled(found: CriterionTerms, by: Slopes) -> CriterionTerms:
    """A criterion of the tree in the independent velocities."""
    B = by.G.T @ found.B @ by.G
    if by.bends:
        bend = np.stack([found.h @ d for d in by.bends], axis=1)
        B = B + (bend + bend.T) * 0.5
    return CriterionTerms(found.raw, by.G.T @ found.h, B)


def by_independent(robot: Robot, h: Array, q: Array) -> Array:
    """∂h/∂y of a recorded vector, (len(h), nv), made symmetric."""
    G = slopes(robot, q).G
    directions = [coordinate_rates(robot.tree, q, G[:, k], namespace(q)) for k in range(robot.nv)]
    B = jacobian(h, q) @ np.stack(directions, axis=1)
    return (B + B.T) * 0.5


@final
class LoopMotion:
    """Steps of a robot with loops, by kernels, many at once."""

    def __init__(self, robot: Robot, limits: bool) -> None:
        self.robot, self.limits, self.arm = robot, limits, compile(robot)
        assert robot.closure is not None
        self.closure = robot.closure
        self._G = self.arm.kernel([Request(quantity("loop_embedding"))])   # nan where singular

    @cached_property
    def dependent(self) -> np.ndarray:
        """The coordinates of joints that are not independent and have limits."""
        own, found = set(self.closure.dependent), list[int]()
        for body, i, v in self.robot.tree.parts:
            if body.joint.is_vector:
                found += [i.start + k for k in range(v.stop - v.start) if v.start + k in own]
        return np.array(found, dtype=int)

    def moved(self, q: Floats, dy: Floats) -> Floats:
        """q, (..., nq), with the independent joints moved by dy, or as far as loops let them."""
        shape = np.broadcast_shapes(q.shape[:-1], dy.shape[:-1])
        at = np.array(np.broadcast_to(q, (*shape, q.shape[-1])).reshape(-1, q.shape[-1]))
        way = np.broadcast_to(dy, (*shape, dy.shape[-1])).reshape(-1, dy.shape[-1])
        going = np.flatnonzero(np.all(np.isfinite(way), axis=-1))
        steps = max(1, int(np.ceil(np.abs(way[going]).max(initial=0) / STEP)))
        sign, beyond = self._sign(at), self._beyond(at)
        for _ in range(steps if len(at) else 0):
            new = self._closed(at[going], way[going] / steps)
            good = (np.all(np.isfinite(new), axis=-1) & (self._sign(new) == sign[going])
                    & (self._beyond(new) <= beyond[going]))
            at[going[good]] = new[good]
            going = going[good]
            if not len(going):
                break
        return at.reshape(*shape, q.shape[-1])

    def drawn(self, rng: np.random.Generator, count: int) -> Floats:
        """Closed configurations: from home towards random ones, as far as loops let them."""
        robot, home = self.robot, self.robot.neutral()
        places = coordinate_places(robot)
        lower, upper = (np.where(places >= 0, x[places], np.nan) for x in (robot.lower,
                                                                            robot.upper))
        far = np.where(turning(robot), np.pi, 1.0)
        low = np.where(np.isfinite(lower), lower - home[places], -far)
        high = np.where(np.isfinite(upper), upper - home[places], far)
        return self.moved(np.broadcast_to(home, (count, robot.nq)),
                          rng.uniform(low, high, size=(count, robot.nv)))

    def _closed(self, q: Floats, dy: Floats) -> Floats:
        """One step and Newton's method; nan where it does not settle."""
        arm, size = self.arm, self.closure.size
        with np.errstate(all="ignore"):
            new = moved(self.robot.tree, q, (self._G(q) @ dy[..., None])[..., 0])
            for _ in range(TURNS):
                last, new = new, arm.loop_step(new)
                if not np.nanmax(np.abs(new - last), initial=0) > 1e-13:
                    break
            open_ = np.abs(arm.loop_residual(new)[:, list(self.closure.rows)]).max(
                axis=1, initial=0)
        return np.where((open_ < 1e-10 * size)[:, None], new, np.nan)

    def _sign(self, q: Floats) -> Any:
        with np.errstate(all="ignore"):
            return np.sign(np.linalg.det(self.closure.K_d(self.arm.loop_jacobian(q))))

    def _beyond(self, q: Floats) -> Floats:
        """How far dependent joints are beyond their limits."""
        x, lower, upper = (a[..., self.dependent] for a in (q, self.robot.lower, self.robot.upper))
        if not self.limits:
            return np.zeros(len(q))
        return np.maximum(np.maximum(lower - x, x - upper), 0).max(axis=-1, initial=0)
