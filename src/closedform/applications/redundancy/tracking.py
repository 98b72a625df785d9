"""`track`: the optimum along a path, on one branch.

From point to point the extended Jacobian predicts, Newton's method corrects,

    dq = J_e⁻¹ (dx; 0),      then  J_e dq = −(f − x; Nᵀh),

and a point is taken only if it lies where the prediction says and the reduced Hessian keeps its
signs. Else the segment is halved, down to a part of 10⁻⁶; what cannot be passed is a fold, a
singularity or a limit, and is reported with a way out. Since every point is the solution of
equations, not the end of an integration, a closed path returns to where it began.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from closedform.applications.redundancy.certificate import (
    Reduced,
    Solution,
    Verdict,
    certify,
    reduced,
)
from closedform.applications.redundancy.climb import Flags, ascend, polish
from closedform.applications.redundancy.criteria import CriterionLike
from closedform.applications.redundancy.curves import follow
from closedform.applications.redundancy.problem import Problem, problem_of
from closedform.applications.redundancy.solving import Climb, one_solution
from closedform.applications.redundancy.tasks import TaskLike
from closedform.arrays import NO_ARRAY, ArrayLike, Floats
from closedform.errors import ArgumentError
from closedform.model.robot import Robot

HALVINGS = 20
SHRUNK = 0.02           # to this part of its first value: on the way to zero
DIFFERENCE = 1e-4       # of the path's parameter, for accelerations


@dataclass(frozen=True)
class Path:
    """Targets one after the other, with the times they are due and, where known, ẋ and ẍ.

    Without times the parameter counts the points. Without velocities they are differences of
    neighbouring targets, which round off corners.
    """

    points: ArrayLike                       # (points, *shape of a target)
    times: ArrayLike | None = None          # (points,) increasing
    velocities: ArrayLike | None = None     # (points, m)
    accelerations: ArrayLike | None = None  # (points, m)


@dataclass(frozen=True)
class Stop:
    """Why a track ended before its path, and a way on."""

    index: int                      # of the first point that was not reached
    part: float                     # of the segment before it that was
    q: Floats                      # the last configuration
    target: Floats                 # and its target
    reason: str
    self_motion: Floats | None     # (points, nq) from q to another maximum at the same target


@dataclass(frozen=True)
class Track:
    """Solutions along a path; as many as were reached."""

    q: Floats                      # (points, nq)
    solutions: tuple[Solution, ...]
    rates: Floats                  # (points, nv)  q̇
    accelerations: Floats          # (points, nv)  q̈
    times: Floats                  # (points,)
    stop: Stop | None = None        # None: the whole path was passed

    def __repr__(self) -> str:
        end = "complete" if self.stop is None else f"stopped at {self.stop.reason}"
        verdicts = Counter(str(s.verdict) for s in self.solutions)
        found = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items())
        return f"<Track: {len(self.q)} points ({found}), nq {self.q.shape[1]}, {end}>"

    @property
    def complete(self) -> bool:
        return self.stop is None


def track(robot: Robot, task: TaskLike, path: Path | ArrayLike,
          criterion: CriterionLike, q0: ArrayLike | None = None, *,
          limits: bool = True) -> Track:
    """Configurations along a path: the maximum that `solve` finds at its first point, followed.

    `path` is an array of targets or a `Path`. Where q0 is itself a stationary point of the first
    target, that branch is followed, whatever it is.
    """
    problem = problem_of(robot, task, criterion, limits)
    path = path if isinstance(path, Path) else Path(path)
    x, t = _checked(problem, path)
    first = _first(problem, x[0], problem.checked_q(q0))
    solutions, stop = [first], None
    for k in range(1, len(x)):
        found, part, reason = _segment(problem, solutions[-1], x[k - 1], x[k])
        if part < 1.0:
            reason = f"{_cause(first, found)}: {reason}"
            target = problem.task.between(x[k - 1], x[k], part)
            way = escape(problem, found, target)
            stop = Stop(k, part, found.q, target, f"point {k}: {reason}", way)
            break
        solutions.append(found)
    rates, accelerations = _motion(problem, path, x, t, solutions)
    n = len(solutions)
    return Track(np.array([s.q for s in solutions]), tuple(solutions), rates, accelerations,
                 t[:n], stop)


def _checked(problem: Problem, path: Path) -> tuple[Floats, Floats]:
    x = problem.task.checked(path.points, problem.robot)
    if x.ndim != len(problem.shape) + 1 or not len(x):
        raise ArgumentError(f"a path has the shape (points, {', '.join(map(str, problem.shape))}), "
                            f"not {x.shape}")
    try:
        t = np.arange(len(x), dtype=float) if path.times is None else np.asarray(path.times, float)
    except NO_ARRAY:
        raise ArgumentError(f"times of a path must be {len(x)} increasing numbers, "
                            f"not {path.times!r}") from None
    if t.shape != (len(x),) or not np.all(np.isfinite(t)) or np.any(np.diff(t) <= 0):
        raise ArgumentError(f"times of a path must be {len(x)} increasing numbers, "
                            f"not {t.tolist()}")
    for name in ("velocities", "accelerations"):
        given = getattr(path, name)
        if given is not None and np.shape(given) != (len(x), problem.m):
            raise ArgumentError(f"{name} of a path must have the shape {(len(x), problem.m)}, "
                                f"not {np.shape(given)}")
    return x, t


def _first(problem: Problem, x: Floats, q: Floats) -> Solution:
    given = certify(problem, q, x)
    if given.verdict in (Verdict.MAXIMUM, Verdict.MINIMUM, Verdict.SADDLE):
        return given
    found = one_solution(problem, x, q, Climb())
    if not found.certified:
        raise ArgumentError(f"the path's first point has no maximum to follow: {found.verdict}, "
                            f"residual {found.task_residual:.3g}")
    return found


# ---------------------------------------------------------------------- one segment
def _segment(problem: Problem, start: Solution, a: Floats,
             b: Floats) -> tuple[Solution, float, str]:
    """The solution at b, or the last one before and how far that is."""
    at, step, reason, here = 0.0, 1.0, "", start
    while at < 1.0:
        end = min(1.0, at + step)
        target = problem.task.between(a, b, end) if end < 1.0 else b
        found, reason_now = _corrected(problem, here, problem.task.between(a, b, at), target)
        if found is not None:
            here, at, step = found, end, 2 * step
            continue
        reason, step = reason_now, step / 2
        if step < 2.0 ** -HALVINGS:
            return here, at, reason
    return here, 1.0, reason


def _corrected(problem: Problem, start: Solution, a: Floats,
               b: Floats) -> tuple[Solution | None, str]:
    """The solution at b on the branch of the one at a; None and why there is none."""
    blocked = _held(problem, start)
    dx = problem.task.residual(b, a)
    predicted = extended_rate(problem, start.q, a, dx, blocked)
    if predicted is None:
        return None, "the extended Jacobian is singular"
    length = float(np.linalg.norm(predicted))
    if length > 0.5:
        return None, _why(start, "the configuration would jump")
    guess = problem.moved(start.q, predicted)
    q = polish(problem, guess, b, blocked)
    found = certify(problem, q, b, blocked)
    if np.all(problem.clipped(q) == q) and _same(start, found):
        return _near(problem, start, found, guess, 0.5 * length)
    if start.certified and (start.limits or np.any(problem.clipped(q) != q)):
        found = ascend(problem, problem.clipped(guess), b)      # a joint meets or leaves its limit
        return _near(problem, start, found, guess, 2 * length)
    return _near(problem, start, found, guess, 0.5 * length)


def _same(start: Solution, found: Solution) -> bool:
    """Whether both are stationary points of one kind."""
    return found.verdict == start.verdict or (found.certified and start.certified)


def _near(problem: Problem, start: Solution, found: Solution, guess: Floats,
          most: float) -> tuple[Solution | None, str]:
    """The solution found, if it continues the branch; else None and why it does not."""
    if found.verdict is Verdict.UNREACHABLE:
        return None, _why(start, "the branch has no solution beyond")
    if not _same(start, found):
        return None, _why(start, f"the {start.verdict} becomes {found.verdict}")
    if np.linalg.norm(problem.apart(guess, found.q)) > most + 1e-9:
        return None, _why(start, "the solution leaves its branch")
    return found, ""


def _cause(first: Solution, last: Solution) -> str:
    """What has shrunk towards zero since the first point, if anything has."""
    bent = [float(np.abs(s.reduced_hessian).min(initial=np.inf)) for s in (first, last)]
    shrunk = {"a fold": bent[1] / bent[0] if np.isfinite(bent[0]) else 1.0,
              "a singularity": last.sigma_min / first.sigma_min}
    cause = min(shrunk, key=lambda name: shrunk[name])
    return cause if shrunk[cause] < SHRUNK else "no way on"


def _why(start: Solution, what: str) -> str:
    eigenvalues = ", ".join(f"{r:.3g}" for r in start.reduced_hessian)
    hint = f"; reduced Hessian {eigenvalues}" if eigenvalues else ""
    return f"{what} (σ_min of J {start.sigma_min:.3g}{hint})"


def _held(problem: Problem, solution: Solution) -> Flags:
    """Velocities of the joints at their limits."""
    held = np.zeros(problem.robot.nv, dtype=bool)
    for name in solution.limits:
        held[problem.robot.v_slices[name]] = True
    return held[problem.used]


# ---------------------------------------------------------------------- rates
def extended_rate(problem: Problem, q: Floats, target: Floats, dx: Floats,
                  blocked: Flags) -> Floats | None:
    """J_e⁻¹ (ẋ; 0), (n,): the velocity that keeps the optimum; None where J_e is singular."""
    here = problem.at(q, target)
    if not np.all(np.isfinite(here.W)) or problem.n - blocked.sum() < problem.m:
        return None
    found: Reduced = reduced(problem, q, here, blocked)
    normal = found.pinv @ dx
    F = np.ix_(found.free, found.free)
    try:
        t = np.linalg.solve(found.R, -(found.N.T @ (found.W[F] @ normal)))
    except np.linalg.LinAlgError:
        return None
    rate = np.zeros(problem.n)
    rate[found.free] = normal + found.N @ t
    return rate if np.all(np.isfinite(rate)) else None


def _motion(problem: Problem, path: Path, x: Floats, t: Floats,
            solutions: list[Solution]) -> tuple[Floats, Floats]:
    """q̇ and q̈ at every point; q̈ by a central difference of the exact q̇ along the motion."""
    dx = _velocities(problem, x, t) if path.velocities is None else np.asarray(path.velocities)
    ddx = np.gradient(dx, t, axis=0, edge_order=1) if path.accelerations is None and len(t) > 1 \
        else np.zeros_like(dx) if path.accelerations is None else np.asarray(path.accelerations)
    rates = np.full((len(solutions), problem.robot.nv), np.nan)
    accelerations = rates.copy()
    for k, one in enumerate(solutions):
        blocked = _held(problem, one)
        v = extended_rate(problem, one.q, x[k], dx[k], blocked)
        if v is None:
            continue
        rates[k], accelerations[k] = 0.0, 0.0
        rates[k, problem.used] = v
        h = DIFFERENCE / max(1.0, float(np.linalg.norm(v)))
        ends = [extended_rate(problem, problem.moved(one.q, s * h * v), x[k],
                              dx[k] + s * h * ddx[k], blocked) for s in (1.0, -1.0)]
        if ends[0] is not None and ends[1] is not None:
            accelerations[k, problem.used] = (ends[0] - ends[1]) / (2 * h)
    return rates, accelerations


def _velocities(problem: Problem, x: Floats, t: Floats) -> Floats:
    """ẋ at every point from its neighbours; around the corner where the path closes."""
    if len(x) < 2:
        return np.zeros((len(x), problem.m))
    steps = problem.task.residual(x[1:], x[:-1])
    speed = steps / np.diff(t)[:, None]
    closed = bool(np.linalg.norm(problem.task.residual(x[-1], x[0])) < 1e-12)
    ends = 0.5 * (speed[0] + speed[-1]) if closed else None
    first, last = (speed[0], speed[-1]) if ends is None else (ends, ends)
    span = (t[2:] - t[:-2])[:, None]
    inner = (steps[1:] + steps[:-1]) / span if len(x) > 2 else np.zeros((0, problem.m))
    return np.concatenate([first[None], inner, last[None]])


# ---------------------------------------------------------------------- the way out of a fold
def escape(problem: Problem, last: Solution, target: Floats) -> Floats | None:
    """A self-motion from the last configuration to another maximum, the shorter of both ways."""
    if problem.n - problem.m != 1 or last.limits:
        return None
    ways = []
    for way in (1, -1):
        curve = follow(problem, last.q, target, way)
        end = _next_maximum(problem, curve.q, curve.slope, target, last)
        if end is not None:
            ways.append(end)
    return min(ways, key=len) if ways else None


def _next_maximum(problem: Problem, q: Floats, slope: Floats, target: Floats,
                  last: Solution) -> Floats | None:
    """The curve up to the first maximum that is not the one it starts at."""
    free = np.zeros(problem.n, dtype=bool)
    for k in range(1, len(q)):
        if slope[k - 1] > 0 >= slope[k]:
            one = certify(problem, polish(problem, q[k - 1], target, free), target)
            apart = np.linalg.norm(problem.apart(last.q, one.q))
            if one.verdict is Verdict.MAXIMUM and apart > 1e-2:
                return np.vstack([q[:k], one.q])
    return None
