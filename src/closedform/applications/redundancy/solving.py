"""`solve`: one target or many, by climbing, by Newton's method alone, or by MINPACK."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, final, overload

import numpy as np
from scipy.optimize import root

from closedform.applications.cluster.blocks import Range, Work, computed, ranges
from closedform.applications.redundancy.batch import BLOCK, joined, newton_batch, with_solution
from closedform.applications.redundancy.certificate import (
    Solution,
    Solutions,
    Verdict,
    certify,
)
from closedform.applications.redundancy.climb import ascend, polish
from closedform.applications.redundancy.criteria import Criterion, CriterionLike
from closedform.applications.redundancy.problem import Problem, problem_of
from closedform.applications.redundancy.tasks import Task, TaskLike
from closedform.arrays import ArrayLike, Floats
from closedform.errors import ArgumentError
from closedform.maths.papers.chang import chang_Z
from closedform.model.robot import Robot

NUDGE = 0.05            # rad or m: how far a singular start is moved


@final
@dataclass(frozen=True)
class Climb:
    """Climb to a maximum, within the limits; if that fails, from other starts, so many at most."""

    restarts: int = 12


@final
@dataclass(frozen=True)
class Newton:
    """The stationary point that Newton's method finds from q0, whatever it is."""


@final
@dataclass(frozen=True)
class Hybrid:
    """Chang's own route: MINPACK's hybrid method on his (11), f(q) = x and Z h = 0 (10).

    It answers with whatever it finds.
    """

    tolerance: float = 1e-12


SolvingMethod = Climb | Newton | Hybrid


@overload
def solve(robot: Robot, task: TaskLike, target: Sequence[float],
          criterion: CriterionLike, q0: Sequence[float] | None = None, *,
          limits: bool = True, method: SolvingMethod | None = None,
          client: Any = None) -> Solution: ...
@overload
def solve(robot: Robot, task: TaskLike, target: ArrayLike,
          criterion: CriterionLike, q0: ArrayLike | None = None, *,
          limits: bool = True, method: SolvingMethod | None = None,
          client: Any = None) -> Solution | Solutions: ...


def solve(robot: Robot, task: TaskLike, target: ArrayLike,
          criterion: CriterionLike, q0: ArrayLike | None = None, *,
          limits: bool = True, method: SolvingMethod | None = None,
          client: Any = None) -> Solution | Solutions:
    """The configuration that meets the target and maximises the criterion, with a certificate.

        f(q) = x,   Nᵀh = 0 (Chang's (10), Z h = 0),   NᵀWN < 0

    One target gives a `Solution`, a batch of targets or starts `Solutions`. With `limits` joints
    stay within theirs. The default method climbs; it never returns a minimum as a maximum. A large
    batch goes to threads of this machine, or to the workers of a Dask client: the same results.
    """
    problem = problem_of(robot, task, criterion, limits)
    x, q = problem.task.checked(target, robot), problem.checked_q(q0)
    method = Climb() if method is None else method
    if not isinstance(method, Climb | Newton | Hybrid):
        raise ArgumentError("method must be Climb(), Newton() or Hybrid() of cf.redundancy, "
                            f"not {method!r}")
    batch = x.shape[:x.ndim - len(problem.shape)]
    if not batch and q.ndim == 1:
        return one_solution(problem, x, q, method)
    shape = np.broadcast_shapes(batch, q.shape[:-1])
    if len(shape) != 1:
        raise ArgumentError(f"a batch has one axis; targets and q0 have {shape}")
    x = np.broadcast_to(x, (*shape, *problem.shape))
    q = np.broadcast_to(q, (*shape, robot.nq))
    if not len(q):
        raise ArgumentError("a batch needs at least one target")
    work = SolveBlock(robot, problem.task, problem.criterion, bool(limits), method)
    parts = [part for _, part in computed(
        work, ranges(len(q), BLOCK), Work(client, what="solving", named=False),
        lambda b: (x[b.start:b.stop], q[b.start:b.stop]))]
    return parts[0] if len(parts) == 1 else joined(parts)


@final
@dataclass(frozen=True)
class SolveBlock:
    """What is done to a block of targets; it travels to workers."""

    robot: Robot
    task: Task
    criterion: Criterion
    limits: bool
    method: SolvingMethod

    def __call__(self, block: Range, x: Floats, q: Floats) -> Solutions:
        problem = problem_of(self.robot, self.task, self.criterion, self.limits)
        return _many(problem, x, q, self.method)


def _many(problem: Problem, x: Floats, q: Floats, method: SolvingMethod) -> Solutions:
    """Newton's method for all, then one by one what it left."""
    found = newton_batch(problem, q, x)
    rest = ~found.certified if isinstance(method, Climb) else np.ones(len(q), dtype=bool)
    for k in np.flatnonzero(rest):
        with_solution(found, int(k), one_solution(problem, x[k], q[k], method))
    return found


def one_solution(problem: Problem, x: Floats, q: Floats, method: SolvingMethod) -> Solution:
    if isinstance(method, Newton):
        free = np.zeros(problem.n, dtype=bool)
        return certify(problem, polish(problem, q, x, free, tries=60), x)
    if isinstance(method, Hybrid):
        return hybrid(problem, x, q, method.tolerance)
    best: Solution | None = None
    for start in _starts(problem, q, method.restarts):
        found = ascend(problem, start, x)
        if best is None or _rank(found) < _rank(best):
            best = found
        if best.certified:
            break
    assert best is not None
    return best


def _rank(found: Solution) -> tuple[bool, bool, float]:
    """Better answers first: certified, by value; then such as meet the task; then by residual."""
    missed = found.verdict is Verdict.UNREACHABLE
    return not found.certified, missed, found.task_residual if missed else -found.value


def _starts(problem: Problem, q: Floats, restarts: int) -> Iterator[Floats]:
    """q itself, places near it (a start may be singular), then random ones, always the same."""
    yield q
    rng = np.random.default_rng(0)
    for k in range(restarts):
        if k < 2:
            yield problem.clipped(problem.moved(q, NUDGE * rng.normal(size=problem.n)))
        else:
            yield problem.robot.random(rng)


def hybrid(problem: Problem, x: Floats, q: Floats, tolerance: float) -> Solution:
    """MINPACK's hybrid method on Chang's (11), Z with the columns that suit the start.

    Whatever root it finds is certified: most are not maxima from a far start.
    """
    here = problem.at(q, x)
    if problem.n == problem.m:
        def equations(dq: Floats) -> Floats:
            return problem.at(problem.moved(q, dq), x).e
    else:
        columns = chang_Z(here.J).columns

        def equations(dq: Floats) -> Floats:
            there = problem.at(problem.moved(q, dq), x)
            return np.concatenate([there.e, chang_Z(there.J, columns).Z @ there.h])  # Chang's (10)
    try:
        found = root(equations, np.zeros(problem.n), method="hybr", tol=tolerance)
    except (np.linalg.LinAlgError, ValueError):
        return certify(problem, q, x)
    return certify(problem, problem.moved(q, found.x), x)

