"""A robot, a task and a criterion, recorded into machine code: f, J, h and W at a configuration."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from closedform.applications.redundancy.criteria import Criterion, CriterionLike, criterion_of
from closedform.applications.redundancy.looped import LoopMotion, slopes, task_terms
from closedform.applications.redundancy.tasks import (
    Task,
    TaskLike,
    coordinate_places,
    task_of,
    turning,
)
from closedform.arrays import Array, ArrayLike, Floats, real_array
from closedform.errors import ArgumentError
from closedform.lowerings import lanes, reference
from closedform.lowerings.call.kernel import Kernel
from closedform.lowerings.call.trial import function_trial
from closedform.maths.redundancy.criteria import CriterionTerms
from closedform.maths.redundancy.newton import TaskInverse, inverse_terms, lagrangian_hessian
from closedform.model.loops.affine import y_of
from closedform.model.robot import Robot
from closedform.program.pipeline import optimised
from closedform.program.program import Program
from closedform.program.record import record

SAMPLES = 4         # configurations at which idle joints are looked for
IDLE = 1e-12


class Local(NamedTuple):
    """What is known at a configuration, or at a batch of them; joints that do nothing left out."""

    e: Floats          # (..., m)  place − target
    place: Floats      # (..., *shape of a target)
    J: Floats          # (..., m, n)
    G: Floats          # (..., m, n)  (J⁺)ᵀ
    h: Floats          # (..., n)     gradient of H
    W: Floats          # (..., n, n)  ∇²H + Σ λ_k ∇²f_k
    H: Floats          # (...)

    def of(self, k: Any) -> Local:
        """One of a batch, or some."""
        return Local(*(x[k] for x in self))


def chosen_numbers(robot: Robot, task: Task) -> tuple[int, int]:
    """How many independent numbers of a task the joints can choose, and how many it has."""
    def J(q: Array) -> Array:
        J = task.terms(robot.tree, q).J
        return J @ slopes(robot, q).G if robot.loops else J
    program = record(J, {"q": (robot.nq,)}, "J")
    rng = np.random.default_rng(2)
    found, = lanes.run(program, np.array([robot.random(rng) for _ in range(SAMPLES)]))
    rank = int(np.max(np.linalg.matrix_rank(found, tol=1e-9))) if found.size else 0
    return rank, found.shape[-2]


class Problem:
    """f(q) = x, H(q) → max for one robot, with the functions that all solvers share.

    Velocities that move neither the task nor the criterion (other branches of a tree, a wrist that
    turns about the point) are idle: they stay as they are, and n counts the others.
    """

    def __init__(self, robot: Robot, task: Task, criterion: Criterion, limits: bool) -> None:
        self.robot, self.task, self.criterion = robot, task, criterion
        self.limits = limits
        self.shape = task.shape(robot)
        self._require_rank()
        program = record(self._terms, {"q": (robot.nq,)}, "redundancy")
        self.kernel = _compiled(program)
        rows = next(o for o in program.outputs if o.name == "J").shape[0]
        self.m = rows
        self.used = self._used()
        self.n = len(self.used)
        self._whole = self.n == robot.nv

    def _require_rank(self) -> None:
        """Refuse a task whose equations the joints cannot meet independently anywhere."""
        rank, m = chosen_numbers(self.robot, self.task)
        if rank < m:
            raise ArgumentError(f"{self.task} asks for {m} independent numbers; the "
                                f"{self.robot.nv} joints of {self.robot.name} can choose {rank} "
                                "at most")

    def _parts(self, q: Array) -> tuple[Any, TaskInverse, CriterionTerms]:
        if self.robot.loops:
            by = slopes(self.robot, q)
            tasks = task_terms(self.task, self.robot, q, by)
            inverse = inverse_terms(tasks[1].J)
            return tasks[1], inverse, self.criterion.looped_terms(self.robot, q, by, tasks, inverse)
        task = self.task.terms(self.robot, q)
        inverse = inverse_terms(task.J)
        return task, inverse, self.criterion.terms(self.robot, q, task, inverse)

    def _terms(self, q: Array) -> dict[str, Array]:
        task, inverse, terms = self._parts(q)
        _, W = lagrangian_hessian(terms.B, task.dJ, inverse.G, terms.h)
        return {"place": task.place, "J": task.J, "G": inverse.G, "h": terms.h, "W": W,
                "raw": terms.raw}

    @cached_property
    def _curvature(self) -> Kernel:
        """W for multipliers that are given, as joints at their limits need."""
        def W(q: Array, multipliers: Array) -> Array:
            task, _, terms = self._parts(q)
            dJ = task.dJ + np.swapaxes(task.dJ, 1, 2)
            return terms.B + 0.5 * sum(x * d for x, d in zip(multipliers, dJ, strict=True))
        shapes = {"q": (self.robot.nq,), "multipliers": (self.m,)}
        return _compiled(record(W, shapes, "W"))

    def _used(self) -> NDArray[np.intp]:
        """Velocities that move the task or the criterion, seen at random configurations."""
        rng = np.random.default_rng(1)
        q = np.array([self.robot.random(rng) for _ in range(SAMPLES)])
        _, J, _, h, W, _ = self.kernel(q)
        size = np.abs(J).max(axis=(0, 1)) + _finite(h).max(axis=0) + _finite(W).max(axis=(0, 1))
        return np.flatnonzero(size > IDLE)

    # ------------------------------------------------------------------ evaluation
    def at(self, q: Floats, target: Floats) -> Local:
        """Everything at a configuration, or at a batch of them."""
        place, J, G, h, W, raw = self.kernel(q)
        e = self.task.residual(place, target)
        H = self.criterion.value(self.robot, raw)
        if not self._whole:
            used = self.used
            J, G, h, W = J[..., used], G[..., used], h[..., used], W[..., used[:, None], used]
        return Local(e, place, J, G, h, W, H)

    def curvature(self, q: Floats, multipliers: Floats) -> Floats:
        """∇²H + Σ λ_k ∇²f_k, (..., n, n)."""
        W = self._curvature(q, np.ascontiguousarray(multipliers))
        return W if self._whole else W[..., self.used[:, None], self.used]

    def moved(self, q: Floats, dq: Floats) -> Floats:
        """q ⊕ dq, dq in the velocities that count; with loops, as far as they let it."""
        if self._whole and self.adds:
            return q + dq
        full = np.zeros((*dq.shape[:-1], self.robot.nv))
        full[..., self.used] = dq
        return self._loops.moved(q, full) if self.robot.loops else self.robot.integrate(q, full)

    @cached_property
    def _loops(self) -> LoopMotion:
        return LoopMotion(self.robot, self.limits)

    def drawn(self, rng: np.random.Generator, count: int) -> Floats:
        """Random configurations, (count, nq)."""
        if self.robot.loops:
            return self._loops.drawn(rng, count)
        return np.array([self.robot.random(rng) for _ in range(count)])

    def apart(self, a: Floats, b: Floats) -> Floats:
        """b ⊖ a in the velocities that count; turns without limits by the shorter way."""
        d = self.robot.difference(a, b)[..., self.used]
        return np.where(self.turns, (d + np.pi) % (2 * np.pi) - np.pi, d)

    # ------------------------------------------------------------------ coordinates
    @cached_property
    def adds(self) -> bool:
        return not self.robot.loops and bool(np.all(coordinate_places(self.robot) >= 0))

    @cached_property
    def places(self) -> NDArray[np.intp]:
        """For each velocity that counts, its coordinate in q; −1 where it has none of its own."""
        return coordinate_places(self.robot)[self.used]

    @cached_property
    def bounds(self) -> tuple[Floats, Floats]:
        """Lower and upper limits of the velocities' coordinates, infinite where there are none."""
        own = (self.places >= 0) & self.limits
        lower = np.where(own, self.robot.lower[self.places], -np.inf)
        upper = np.where(own, self.robot.upper[self.places], np.inf)
        return lower, upper

    def clipped(self, q: Floats) -> Floats:
        """q with every coordinate that counts within its limits."""
        if self.robot.loops:
            below, above = self.room(q)
            back = np.maximum(-below, 0) - np.maximum(-above, 0)
            return self.moved(q, back) if np.any(back) else q
        own = self.places >= 0
        result, places = q.copy(), self.places[own]
        result[..., places] = np.clip(q[..., places], self.bounds[0][own], self.bounds[1][own])
        return result

    def room(self, q: Floats) -> tuple[Floats, Floats]:
        """How far each coordinate is from its limits; infinite where it has none."""
        x = np.where(self.places >= 0, q[..., self.places], 0.0)
        return x - self.bounds[0], self.bounds[1] - x

    @cached_property
    def turns(self) -> NDArray[np.bool_]:
        """Velocities of turning joints without limits, whose angles count modulo 2π."""
        free = np.isinf(self.bounds[0]) & np.isinf(self.bounds[1])
        return turning(self.robot)[self.used] & free

    def wrapped(self, q: Floats) -> Floats:
        """q with the turns without limits within ±π."""
        places = self.places[self.turns]
        result = q.copy()
        result[places] = np.pi - (np.pi - q[places]) % (2 * np.pi)
        return result

    def checked_q(self, q: ArrayLike | None, what: str = "q0") -> Floats:
        """Configurations as an array, batch axes first."""
        if q is None:
            return np.asarray(self.robot.neutral(), dtype=float)
        where = f"redundancy of {self.robot.name}: {what}"
        a = real_array(q, (self.robot.nq,), where)
        if not np.all(np.isfinite(a)):
            bad = a.reshape(-1, self.robot.nq)
            bad = bad[~np.all(np.isfinite(bad), axis=-1)][0]
            raise ArgumentError(f"{what} must be finite, not {bad.tolist()}")
        return self.robot.closed(a[..., y_of(self.robot)], near=a) if self.robot.loops else a


def _compiled(program: Program) -> Kernel:
    """The program's kernel, kept under what was recorded: optimising it takes longer than that."""
    names = [output.name for output in program.outputs]
    trial = function_trial(
        program.name, dict(program.inputs),
        lambda *arrays: dict(zip(names, reference.run(program, *arrays), strict=True)),
        lambda: [program])
    return Kernel.load(f"recorded {program.digest}", lambda: trial.program(optimised(program)),
                       judge=trial.code)


def _finite(x: Floats) -> Floats:
    return np.where(np.isfinite(x), np.abs(x), 1.0)


@lru_cache(maxsize=32)
def _problem(robot: Robot, task: Task, criterion: Criterion, limits: bool) -> Problem:
    return Problem(robot, task, criterion, limits)


def problem_of(robot: Robot, task: TaskLike, criterion: CriterionLike,
               limits: bool = False) -> Problem:
    """The problem of a robot, task and criterion, recorded once for the same three.

    With `limits` the joints' limits are bounds; without, turns count modulo 2π.
    """
    if not isinstance(robot, Robot):
        raise ArgumentError(f"robot must be a cf.Robot, not {type(robot).__name__}; "
                            "cf.load(path or name) makes one")
    return _problem(robot, task_of(task), criterion_of(criterion), bool(limits))
