"""One target: reach it, climb along the self-motions, polish by Newton's method.

    reach    min ‖f(q) − x‖² by damped least squares
    climb    maximise H on f(q) = x: q ← correct(q ⊕ N t), ‖t‖ ≤ Δ, with t the Newton step of the
             reduced problem and directions of positive curvature turned uphill
    polish   full Newton steps  J_e dq = −(f − x; Nᵀh),  J_e = [J; NᵀW]

Joint limits are bounds: a joint that meets its limit stays there until its multiplier lets it go.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from closedform.applications.redundancy.certificate import (
    MET,
    Reduced,
    Solution,
    certify,
    limit_multipliers,
    reduced,
)
from closedform.applications.redundancy.problem import Local, Problem
from closedform.arrays import Floats

TINY = 1e-13            # a residual that rounding leaves
CLOSE = 1e-9            # a Newton step after which one more reaches rounding
STUCK = 1e-2            # m, rad: a residual that no longer halves is given up above this
LONGEST = 0.6           # rad or m: the longest step of reach and climb
Flags = NDArray[np.bool_]


@dataclass
class ClimbState:
    """Where the climb is."""

    q: Floats
    here: Local
    blocked: Flags


def reach(problem: Problem, q: Floats, target: Floats, tries: int = 250) -> Floats:
    """A configuration that meets the target, or the best that was found from q."""
    q = problem.clipped(q)
    here, damping = problem.at(q, target), 1e-3
    before = np.inf
    for k in range(tries):
        size = float(here.e @ here.e)
        if size < TINY ** 2:
            break
        if k % 20 == 0:
            if size > 0.25 * before and size > STUCK ** 2:
                break
            before = size
        g = here.J.T @ here.e
        below, above = problem.room(q)
        free = ~(((below <= 0) & (g > 0)) | ((above <= 0) & (g < 0)))
        if np.linalg.norm(g[free]) <= 1e-9 * np.sqrt(size):
            break
        J = here.J[:, free]
        dq = np.zeros(problem.n)
        dq[free] = -J.T @ solved(J @ J.T + damping * size * np.eye(problem.m), here.e)
        dq *= min(1.0, LONGEST / (float(np.linalg.norm(dq)) + 1e-300))
        trial = problem.clipped(problem.moved(q, dq))
        there = problem.at(trial, target)
        if there.e @ there.e < size:
            q, here, damping = trial, there, max(damping * 0.2, 1e-9)
        elif size < MET ** 2:
            break
        else:
            damping *= 8.0
            if damping > 1e12:
                break
    return q


def climb(problem: Problem, q: Floats, target: Floats, tries: int = 120) -> ClimbState:
    """From a configuration that meets the target up to a maximum of H, within the limits."""
    state = ClimbState(q, problem.at(q, target), np.zeros(problem.n, dtype=bool))
    radius = LONGEST
    for _ in range(tries):
        if problem.n - state.blocked.sum() < problem.m or not np.all(np.isfinite(state.here.W)):
            break
        found = reduced(problem, state.q, state.here, state.blocked)
        t, newton = uphill(found, radius)
        if newton and np.linalg.norm(t) < 1e-5:
            if not _release(problem, state, found):
                break
            continue
        dq = np.zeros(problem.n)
        dq[found.free] = found.N @ t
        stop, joint = first_limit(problem.room(state.q), dq)
        if stop <= 1e-12 and joint is not None:
            state.blocked[joint] = True
            continue
        radius = _advance(problem, state, target, dq, min(stop, 1.0), joint, radius)
        if radius < 1e-9:
            break
    return state


def uphill(found: Reduced, radius: float) -> tuple[Floats, bool]:
    """The step t in the null space, and whether it is Newton's own step to a maximum.

    Along an eigenvector of R with eigenvalue r the step is c/|r|; where R curves upwards and the
    gradient is nearly zero, as at a minimum or a saddle, it leaves along that eigenvector.
    """
    if not len(found.h):
        return np.zeros(0), True
    r, V = np.linalg.eigh(found.R)
    c = V.T @ found.h
    scale = np.abs(r).max() + 1e-300
    t = c / np.maximum(np.abs(r), 1e-6 * scale)
    lost = (r > -1e-9 * scale) & (np.abs(t) < 1e-2 * radius)
    t = np.where(lost & (r > 0), np.where(c < 0, -1.0, 1.0) * 0.1 * radius, t)
    length = float(np.linalg.norm(t))
    newton = bool(np.all(r < 0)) and length <= radius
    return V @ (t * min(1.0, radius / (length + 1e-300))), newton


def first_limit(room: tuple[Floats, Floats], dq: Floats) -> tuple[float, int | None]:
    """The part of the step at which the first joint meets a limit, and which."""
    below, above = room
    with np.errstate(divide="ignore", invalid="ignore"):
        part = np.where(dq > 1e-15, above / dq, np.where(dq < -1e-15, below / -dq, np.inf))
    joint = int(np.argmin(part)) if len(part) else 0
    if not len(part) or not np.isfinite(part[joint]) or part[joint] > 1.0:
        return 1.0, None
    return max(float(part[joint]), 0.0), joint


def _advance(problem: Problem, state: ClimbState, target: Floats, dq: Floats,
             part: float, joint: int | None, radius: float) -> float:
    """Take the step if H grows; the new trust radius."""
    blocked = state.blocked.copy()
    if joint is not None:
        blocked[joint] = True
    trial = problem.moved(state.q, part * dq)
    met = correct(problem, trial, target, blocked)
    length = float(np.linalg.norm(part * dq))
    if met is not None:
        there = problem.at(met, target)
        gain = there.H - state.here.H
        if gain > -1e-14 * (1 + abs(state.here.H)) and np.isfinite(there.H):
            state.q, state.here, state.blocked = met, there, blocked
            return min(LONGEST, max(radius, 2.5 * length))
    return 0.3 * length


def solved(A: Floats, b: Floats) -> Floats:
    """A⁻¹ b of one matrix or of many; the shortest of the best x where damping is lost in A."""
    try:
        return np.linalg.solve(A, b)
    except np.linalg.LinAlgError:
        if A.ndim == 2:
            return np.linalg.lstsq(A, b, rcond=None)[0]
        return np.stack([solved(*one) for one in zip(A, b, strict=True)])


def correct(problem: Problem, q: Floats, target: Floats, blocked: Flags) -> Floats | None:
    """q brought back to f(q) = x by Gauss–Newton steps of the free joints; None if it fails."""
    free, q = np.flatnonzero(~blocked), problem.clipped(q)
    if len(free) < problem.m:
        return None
    last = np.inf
    for _ in range(12):
        here = problem.at(q, target)
        size = float(np.linalg.norm(here.e))
        if size < TINY or (size < 1e-11 and size >= 0.5 * last):
            return q if _inside(problem, q) else None
        if size > 2 * last or size > 1.0:
            return None
        last, J = size, here.J[:, free]
        try:
            step = -J.T @ np.linalg.solve(J @ J.T, here.e)
        except np.linalg.LinAlgError:
            return None
        if not np.linalg.norm(step) < LONGEST:
            return None
        dq = np.zeros(problem.n)
        dq[free] = step
        q = problem.moved(q, dq)
    return None


def _inside(problem: Problem, q: Floats) -> bool:
    below, above = problem.room(q)
    return bool(np.all(below >= -1e-10) and np.all(above >= -1e-10))


def _release(problem: Problem, state: ClimbState, found: Reduced) -> bool:
    """Let the joint go whose multiplier says that H grows inwards; whether there was one."""
    if not np.any(state.blocked):
        return False
    below, above = problem.room(state.q)
    z = limit_multipliers(state.here, found, state.blocked, above < below)
    worst = int(np.argmin(z))
    if z[worst] >= -1e-9 * (1 + np.linalg.norm(state.here.h)):
        return False
    state.blocked[worst] = False
    return True


def polish(problem: Problem, q: Floats, target: Floats, blocked: Flags,
           tries: int = 12) -> Floats:
    """Newton's method on (f − x; Nᵀh) with the joints at limits held; stops at rounding."""
    last = np.inf
    for _ in range(tries):
        dq = newton_step(problem, q, target, blocked)
        if dq is None:
            return q
        length = float(np.linalg.norm(dq))
        if length > LONGEST or (length > 0.5 * last and length < CLOSE):
            return q
        q = problem.moved(q, dq)
        if length < TINY or (last < CLOSE and length < CLOSE):
            return q
        last = length
    return q


def newton_step(problem: Problem, q: Floats, target: Floats, blocked: Flags) -> Floats | None:
    """dq with J_e dq = −(e; Nᵀh) over the free joints; None where it does not exist."""
    here = problem.at(q, target)
    if not (np.all(np.isfinite(here.W)) and np.all(np.isfinite(here.h))):
        return None
    if problem.n - blocked.sum() < problem.m:
        return None
    found = reduced(problem, q, here, blocked)
    normal = -found.pinv @ here.e
    F = np.ix_(found.free, found.free)
    try:
        t = np.linalg.solve(found.R, -(found.N.T @ (here.h[found.free] + found.W[F] @ normal)))
    except np.linalg.LinAlgError:
        return None
    dq = np.zeros(problem.n)
    dq[found.free] = normal + found.N @ t
    return dq if np.all(np.isfinite(dq)) else None


def ascend(problem: Problem, q0: Floats, target: Floats) -> Solution:
    """Reach, climb, polish, certify: from one start."""
    q = reach(problem, q0, target)
    here = problem.at(q, target)
    if np.linalg.norm(here.e) > MET:
        return certify(problem, q, target)
    if not np.isfinite(here.H) or not np.all(np.isfinite(here.W)):
        return certify(problem, q, target)
    state = climb(problem, q, target)
    polished = polish(problem, state.q, target, state.blocked)
    if not _inside(problem, polished):
        polished = state.q
    return certify(problem, polished, target, state.blocked)
