"""`resolved_motion`: redundancy at the velocity level, for comparison with `track`.

    LIEGEOIS   q̇ = J⁺ẋ + α (1 − J⁺J) h                         [Chang1987, eq. (19)]
    EXTENDED   q̇ = J_e⁻¹ (ẋ; 0),  J_e = [J; NᵀW]

Both are integrated along straight segments at constant speed; errors of integration stay.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

import numpy as np

from closedform.applications.redundancy.criteria import CriterionLike
from closedform.applications.redundancy.problem import Problem, problem_of
from closedform.applications.redundancy.tasks import TaskLike
from closedform.applications.redundancy.tracking import extended_rate
from closedform.arrays import ArrayLike, Floats
from closedform.errors import ArgumentError
from closedform.model.robot import Robot

RateField = Callable[[Floats, Floats], Floats]
"""q̇ of (q, ẋ)."""


class ResolvedRate(Enum):
    """Which velocity is integrated."""

    LIEGEOIS = "J⁺ẋ + α (1 − J⁺J) h"
    EXTENDED = "J_e⁻¹ (ẋ; 0)"


LIEGEOIS, EXTENDED = ResolvedRate.LIEGEOIS, ResolvedRate.EXTENDED


@dataclass(frozen=True)
class Integrator:
    """How q̇ becomes q: Runge and Kutta's four stages, or θ += dt ((1 − w) f + w f_before).

    With `late` the tip's velocity is that of the step before. f_before and the late velocity are 0
    at the first step. `Integrator(1, previous=1/6, late=True)` reproduces the resolved-motion rows
    of Chang's tables to 4·10⁻⁴ degrees; whether it is his program cannot be known.
    """

    stages: int = 4             # 4 or 1
    previous: float = 0.0       # w, for one stage
    late: bool = False


RK4, EULER = Integrator(4), Integrator(1)


@dataclass(frozen=True)
class ResolvedMotion:
    """An integrated motion: at the path's points, and all steps."""

    q: Floats              # (points, nq)
    task_error: Floats     # (points,)  ‖f(q) − x‖
    history: Floats        # (steps + 1, nq)
    times: Floats          # (steps + 1,)


def resolved_motion(robot: Robot, task: TaskLike, path: ArrayLike,
                    criterion: CriterionLike, q0: ArrayLike, *,
                    speed: float = 0.1, gain: float = 10.0, step: float = 0.01,
                    integrator: Integrator = RK4, rate: ResolvedRate = LIEGEOIS) -> ResolvedMotion:
    """The motion along a path of targets at constant speed (m/s, or rad/s where it only turns).

    A target that is repeated is a rest: it takes `steps` of self-motion, one for each repetition.
    """
    problem = problem_of(robot, task, criterion)
    x = problem.task.checked(path, robot)
    if x.ndim != len(problem.shape) + 1 or not len(x):
        raise ArgumentError(f"a path has the shape (points, {', '.join(map(str, problem.shape))}), "
                            f"not {x.shape}")
    if not (all(isinstance(number, int | float | np.number) for number in (speed, step, gain))
            and speed > 0 and step > 0 and np.isfinite([speed, step, gain]).all()):
        raise ArgumentError("speed and step must be positive numbers and gain a finite one, "
                            f"not {speed!r}, {step!r}, {gain!r}")
    if not isinstance(integrator, Integrator):
        raise ArgumentError(f"integrator must be EULER or RK4 of cf.redundancy, not {integrator!r}")
    if integrator.stages not in (1, 4):
        raise ArgumentError(f"an integrator has 1 or 4 stages, not {integrator.stages}")
    q = problem.checked_q(q0)
    field = _field(problem, rate, gain)
    plan = _plan(problem, x, speed, step)
    history, marks, clock = _integrated(problem, q, plan, field, integrator)
    at = history[marks]
    errors = np.linalg.norm(problem.at(at, x).e, axis=-1)
    return ResolvedMotion(at, errors, history, clock)


def _plan(problem: Problem, x: Floats, speed: float,
          step: float) -> list[tuple[Floats, float, int]]:
    """(ẋ, dt, steps) of every segment."""
    plan = []
    for a, b in pairwise(x):
        dx = problem.task.residual(b, a)
        length = float(np.linalg.norm(dx[:3]) or np.linalg.norm(dx))
        steps = max(1, round(length / speed / step))
        dt = length / speed / steps if length else step
        plan.append((dx / (steps * dt), dt, steps))
    return plan


def _field(problem: Problem, rate: ResolvedRate, gain: float) -> RateField:
    nowhere = np.zeros(problem.n, dtype=bool)
    origin = np.eye(4) if problem.shape == (4, 4) else np.zeros(problem.shape)

    def liegeois(q: Floats, dx: Floats) -> Floats:
        here = problem.at(q, origin)
        free = here.h - here.G.T @ (here.J @ here.h)
        return here.G.T @ dx + gain * free                                 # Chang's (19)

    def extended(q: Floats, dx: Floats) -> Floats:
        found = extended_rate(problem, q, origin, dx, nowhere)
        return np.full(problem.n, np.nan) if found is None else found

    if rate is LIEGEOIS:
        return liegeois
    if rate is EXTENDED:
        return extended
    raise ArgumentError(f"rate must be LIEGEOIS or EXTENDED of cf.redundancy, not {rate!r}")


def _integrated(problem: Problem, q: Floats, plan: list[tuple[Floats, float, int]],
                field: RateField, how: Integrator) -> tuple[Floats, list[int], Floats]:
    """All configurations, the places of the path's points among them, and the times."""
    history, marks, clock = [q], [0], [0.0]
    last: Floats = np.zeros(problem.n)
    before: Floats = np.zeros(problem.m)
    for dx, dt, steps in plan:
        for _ in range(steps):
            used = before if how.late else dx
            if how.stages == 4:
                dq = _runge_kutta(problem, q, used, dt, field)
            else:
                f = field(q, used)
                dq = dt * ((1 - how.previous) * f + how.previous * last)
                last = f
            q, before = problem.moved(q, dq), dx
            if not np.all(np.isfinite(q)):
                raise ArgumentError("the motion runs into a singularity at "
                                    f"t = {clock[-1]:.4g} s, where q̇ has no value")
            history.append(q)
            clock.append(clock[-1] + dt)
        marks.append(len(history) - 1)
    return np.array(history), marks, np.array(clock)


def _runge_kutta(problem: Problem, q: Floats, dx: Floats, dt: float, field: RateField) -> Floats:
    k1 = field(q, dx)
    k2 = field(problem.moved(q, dt / 2 * k1), dx)
    k3 = field(problem.moved(q, dt / 2 * k2), dx)
    k4 = field(problem.moved(q, dt * k3), dx)
    return dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
