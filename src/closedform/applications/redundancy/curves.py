"""Self-motions: the configurations of one target as curves, and all stationary points on them.

For n − m = 1 the configurations that meet a target form curves with tangent N. Along a curve s,
dH/ds = Nᵀh, so that every change of its sign is a stationary point; between joint limits a curve is
an arc, else it closes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, final

import numpy as np

from closedform.applications.cluster.blocks import Range, Work, computed, ranges
from closedform.applications.counts import counted
from closedform.applications.redundancy.certificate import (
    MET,
    Solution,
    Verdict,
    certify,
)
from closedform.applications.redundancy.climb import (
    ascend,
    correct,
    polish,
    reach,
)
from closedform.applications.redundancy.criteria import Criterion, CriterionLike
from closedform.applications.redundancy.problem import Problem, problem_of
from closedform.applications.redundancy.tasks import Task, TaskLike
from closedform.arrays import ArrayLike, Floats
from closedform.errors import ArgumentError
from closedform.model.robot import Robot

PACE = 0.06             # rad or m along a curve, at most
LEAST = 1e-5
POINTS = 4000           # of a curve, at most
SAME = 1e-5             # rad or m: closer configurations are the same
TRIED = 25              # starts of a block
NO_POINTS = (Verdict.UNREACHABLE, Verdict.NOT_STATIONARY, Verdict.FORBIDDEN)


class SelfMotion(NamedTuple):
    """A curve of configurations that all meet one target."""

    q: Floats              # (points, nq)
    s: Floats              # (points,) length along the curve
    slope: Floats          # (points,) dH/ds
    closed: bool            # returns to its first point; else it ends at limits or singularities


def tangent(problem: Problem, q: Floats, target: Floats) -> tuple[Floats, float]:
    """N, oriented by det [J; Nᵀ] > 0, and the slope Nᵀh."""
    here = problem.at(q, target)
    N = np.linalg.svd(here.J)[2][-1]
    N = N * np.sign(np.linalg.det(np.vstack([here.J, N])))
    return N, float(N @ here.h)


def follow(problem: Problem, q: Floats, target: Floats, way: int) -> SelfMotion:
    """The curve through q, in the direction way · N, until it closes, or meets a limit."""
    none = np.zeros(problem.n, dtype=bool)
    N, slope = tangent(problem, q, target)
    direction = way * N
    points, lengths, slopes = [q], [0.0], [way * slope]
    pace, here, away, closed = PACE, q, False, False
    while len(points) < POINTS:
        trial = correct(problem, problem.moved(here, pace * direction), target, none)
        if trial is None or not _near(problem, here, trial, pace):
            pace *= 0.5
            if pace < LEAST:
                break
            continue
        N, slope = tangent(problem, trial, target)
        turn = way * N if float(way * N @ direction) > 0 else -way * N
        if turn @ direction < 0.9:
            pace *= 0.5
            if pace < LEAST:
                break
            continue
        gone = float(np.linalg.norm(problem.apart(here, trial)))
        slope = slope * float(np.sign(turn @ N))
        points.append(trial)
        lengths.append(lengths[-1] + gone)
        slopes.append(slope)
        here, direction, pace = trial, turn, min(PACE, 1.5 * pace)
        back = problem.apart(here, q)
        distance = float(np.linalg.norm(back))
        away = away or distance > 3 * PACE
        if away and distance <= 1.2 * PACE and _passes(back, direction):
            closed = True
            break
    return SelfMotion(np.array(points), np.array(lengths), np.array(slopes), closed)


def _near(problem: Problem, a: Floats, b: Floats, pace: float) -> bool:
    return bool(np.linalg.norm(problem.apart(a, b)) < 1.5 * pace)


def _passes(back: Floats, direction: Floats) -> bool:
    """Whether the start lies just ahead, on this very curve: across it nothing is left over."""
    along = float(back @ direction)
    across = np.linalg.norm(back - along * direction)
    return along >= 0 and bool(across < 0.3 * abs(along) + 1e-6)


def self_motion(robot: Robot, task: TaskLike, target: ArrayLike,
                criterion: CriterionLike, q: ArrayLike, *, limits: bool = True) -> SelfMotion:
    """The self-motion curve through q, both ways to its ends where it does not close."""
    problem = problem_of(robot, task, criterion, limits)
    if problem.n - problem.m != 1:
        raise ArgumentError(f"a self-motion is a curve where n − m = 1; here n = {problem.n} and "
                            f"m = {problem.m}")
    x, start = problem.task.checked(target, robot), problem.checked_q(q, "q")
    met = reach(problem, start, x)
    if np.linalg.norm(problem.at(met, x).e) > MET:
        raise ArgumentError("q is on no self-motion of the target: the target was not reached")
    return whole_curve(problem, met, x)


def whole_curve(problem: Problem, q: Floats, target: Floats) -> SelfMotion:
    forth = follow(problem, q, target, 1)
    if forth.closed:
        return forth
    back = follow(problem, q, target, -1)
    return SelfMotion(np.concatenate([back.q[:0:-1], forth.q]),
                      np.concatenate([-back.s[:0:-1], forth.s]),
                      np.concatenate([-back.slope[:0:-1], forth.slope]), closed=False)


def stationary_points(problem: Problem, curve: SelfMotion, target: Floats) -> list[Solution]:
    """Every change of the slope's sign, refined by Newton's method; ends at limits as well."""
    none = np.zeros(problem.n, dtype=bool)
    q, slope = curve.q, curve.slope
    pairs = [(k, k + 1) for k in range(len(q) - 1)] + ([(len(q) - 1, 0)] if curve.closed else [])
    found = []
    for i, j in pairs:
        if slope[i] == 0.0 or slope[i] * slope[j] < 0:
            part = slope[i] / (slope[i] - slope[j]) if slope[i] else 0.0
            start = problem.moved(q[i], part * problem.apart(q[i], q[j]))
            found.append(certify(problem, polish(problem, start, target, none), target))
    if not curve.closed:
        found += [end for end in (_limit_end(problem, q[k], target) for k in (0, -1))
                  if end is not None]
    return [one for one in found if one.verdict not in NO_POINTS]


def _limit_end(problem: Problem, q: Floats, target: Floats) -> Solution | None:
    """The maximum at a limit where an arc ends, if it is one."""
    below, above = problem.room(q)
    blocked = np.minimum(below, above) < 1e-3
    if not np.any(blocked):
        return None
    found = ascend(problem, q, target)
    near = np.linalg.norm(problem.apart(q, found.q)) < 0.1
    return found if found.verdict is Verdict.LIMIT_ACTIVE and near else None


def branches(robot: Robot, task: TaskLike, target: ArrayLike,
             criterion: CriterionLike, *, starts: int = 100, limits: bool = True,
             client: Any = None) -> list[Solution]:
    """All stationary points of a target that are found, best value first.

    For n − m = 1 every self-motion curve that one of the random starts falls on is followed to its
    end, and all stationary points on it are listed: on these curves none is missed. For other n − m
    they are what Newton's method finds from the starts. Points within obstacles or beyond a barrier
    are none, so that a target within an obstacle has an empty list. Starts are tried by threads of
    this machine, or by the workers of a Dask client.
    """
    problem = problem_of(robot, task, criterion, limits)
    x = problem.task.checked(target, robot)
    if x.shape != problem.shape:
        raise ArgumentError(f"branches takes one target of shape {problem.shape}, not {x.shape}")
    starts = counted(starts, "starts")
    rng = np.random.default_rng(0)
    drawn = list(problem.drawn(rng, starts))
    work = ReachBlock(robot, problem.task, problem.criterion, bool(limits), x)
    reached = [q for _, part in computed(
        work, ranges(starts, TRIED), Work(client, what="reaching", named=False),
        lambda b: (drawn[b.start:b.stop],)) for q in part]
    if problem.n - problem.m == 1:
        found = [p for curve in curves_through(problem, reached, x)
                 for p in stationary_points(problem, curve, x)]
    else:
        free = np.zeros(problem.n, dtype=bool)
        found = [certify(problem, polish(problem, q, x, free, tries=60), x) for q in reached]
        found += [ascend(problem, q, x) for q in reached]
    points = distinct(problem, [f for f in found if f.verdict not in NO_POINTS])
    return sorted((replace(p, q=problem.wrapped(p.q)) for p in points), key=lambda p: -p.value)


@final
@dataclass(frozen=True, eq=False)
class ReachBlock:
    """Some starts of one target; it travels to workers."""

    robot: Robot
    task: Task
    criterion: Criterion
    limits: bool
    target: Floats

    def __call__(self, block: Range, starts: list[Floats]) -> list[Floats]:
        problem = problem_of(self.robot, self.task, self.criterion, self.limits)
        found = [reach(problem, q, self.target, tries=60) for q in starts]
        return [q for q in found if np.linalg.norm(problem.at(q, self.target).e) < MET]


def curves_through(problem: Problem, starts: list[Floats], target: Floats) -> list[SelfMotion]:
    """The different curves that go through these configurations."""
    curves: list[SelfMotion] = []
    for q in starts:
        if not any(_on(problem, curve, q) for curve in curves):
            curves.append(whole_curve(problem, q, target))
    return curves


def _on(problem: Problem, curve: SelfMotion, q: Floats) -> bool:
    """Whether q lies on the curve: nearer to the polygon than it can bend between two points."""
    d = problem.apart(curve.q, q[None])
    nearest = int(np.argmin(np.sum(d * d, axis=-1)))
    if np.linalg.norm(d[nearest]) > PACE:
        return False
    a, b = max(nearest - 1, 0), min(nearest + 1, len(curve.q) - 1)
    chord = problem.apart(curve.q[a], curve.q[b])
    length = np.linalg.norm(chord)
    if length == 0.0:
        return True
    off = d[nearest] - (d[nearest] @ chord) / length**2 * chord
    return bool(np.linalg.norm(off) < 0.3 * PACE)


def distinct(problem: Problem, found: list[Solution]) -> list[Solution]:
    """Without repetitions."""
    kept: list[Solution] = []
    for one in found:
        others = np.array([k.q for k in kept])
        if not kept or np.min(np.linalg.norm(problem.apart(others, one.q[None]), axis=-1)) > SAME:
            kept.append(one)
    return kept
