"""Many climbs in step: reach, climb, polish and certify for a batch of targets at once.

What `climb.py` does for one target, in the same words; here every array has a batch axis in front,
and states that are done leave it. With some joints held at limits, J_F is J with their columns at
zero, and P the projection on the null space of the others,

    J_F⁺ = J_Fᵀ (J_F J_Fᵀ)⁻¹,   P = 1_F − J_F⁺ J_F,   P (W + s) P − s 1,   s > 2 ‖W‖

The last has the eigenvalues of NᵀWN above all others, which are −s: no basis N is needed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from closedform.applications.redundancy.certificate import (
    MET,
    SINGULAR,
    STATIONARY,
    Verdict,
    uncertainty,
)
from closedform.applications.redundancy.climb import LONGEST, STUCK, TINY, Flags, solved
from closedform.applications.redundancy.problem import Local, Problem
from closedform.arrays import Floats

REACHING, CLIMBING, CORRECTING, POLISHING = 120, 120, 8, 6
"""Rounds, at most."""
LOOKED = 12
"""Rounds after which a residual has to be half of what it was."""
SMALL_STEP = 1e-5
EPS = 10 * np.finfo(float).eps
"""Of s, how far rounding may move the eigenvalues."""
RIDGE = 1e-15
"""Of the trace of J Jᵀ, so that no singular state stops the others."""


class Answers(NamedTuple):
    """A row for each target."""

    q: Floats               # (B, nq)
    value: Floats           # (B,)
    verdict: NDArray[np.uint8]      # codes: places in `VERDICTS`
    task_residual: Floats
    optimality_residual: Floats
    sigma_min: Floats

    def put(self, at: NDArray[np.intp], other: Answers, which: Flags) -> None:
        """Rows of others, where they are wanted, in the places `at`."""
        for mine, theirs in zip(self, other, strict=True):
            mine[at[which]] = theirs[which]


VERDICTS = tuple(Verdict)
"""Verdicts by code."""
CODE = {verdict: np.uint8(k) for k, verdict in enumerate(VERDICTS)}
GOOD = (CODE[Verdict.MAXIMUM], CODE[Verdict.LIMIT_ACTIVE])


class Reductions(NamedTuple):
    """The criterion in the null spaces of the free joints."""

    pinv: Floats            # (B, n, m)
    multipliers: Floats     # (B, m)
    W: Floats               # (B, n, n)
    steep: Floats           # (B, n)  P h
    r: Floats               # (B, n) eigenvalues, those of NᵀWN where `inner`
    V: Floats               # (B, n, n)
    inner: Flags            # (B, n)


def times(A: Floats, x: Floats) -> Floats:
    return (A @ x[..., None])[..., 0]


def dots(a: Floats, b: Floats) -> Floats:
    found: Floats = np.sum(a * b, axis=-1)
    return found


def lengths(x: Floats) -> Floats:
    found: Floats = np.sqrt(dots(x, x))
    return found


def _pinv(J: Floats) -> Floats:
    """Jᵀ (J Jᵀ)⁻¹, (B, n, m)."""
    Jt = np.swapaxes(J, -1, -2)
    A = J @ Jt
    m = A.shape[-1]
    ridge = RIDGE * (np.trace(A, axis1=-2, axis2=-1) + 1e-30)
    return np.swapaxes(solved(A + ridge[:, None, None] * np.eye(m), J), -1, -2)


def reductions(problem: Problem, q: Floats, here: Local, blocked: Flags) -> Reductions:
    """As `reduced` of one state."""
    n = problem.n
    J = here.J * ~blocked[:, None, :]
    pinv = _pinv(J)
    multipliers = -times(np.swapaxes(pinv, -1, -2), np.where(blocked, 0.0, here.h))
    W = here.W
    held = np.flatnonzero(blocked.any(axis=-1))
    if len(held):
        W = W.copy()
        W[held] = problem.curvature(q[held], multipliers[held])
    P = np.eye(n) * ~blocked[:, None, :] - pinv @ J
    P = (P + np.swapaxes(P, -1, -2)) / 2
    s = 2 * np.sqrt(np.sum(W * W, axis=(-2, -1)))
    R = P @ W @ P + s[:, None, None] * (P - np.eye(n))
    r, V = np.linalg.eigh((R + np.swapaxes(R, -1, -2)) / 2)
    outer = problem.m + blocked.sum(axis=-1)
    inner = np.arange(n) >= outer[:, None]
    return Reductions(pinv, multipliers, W, times(P, here.h), r, V, inner)


def usable(here: Local) -> Flags:
    return (np.isfinite(here.H) & np.isfinite(here.h).all(axis=-1)
            & np.isfinite(here.W).all(axis=(-2, -1)))


# ---------------------------------------------------------------------- reach
def reached(problem: Problem, q: Floats, x: Floats) -> tuple[Floats, Flags]:
    """Configurations by damped least squares from every start, and whether the target is met."""
    q = problem.clipped(q)
    going = np.arange(len(q))
    here = problem.at(q, x)
    size, damping = dots(here.e, here.e), np.full(len(q), 1e-3)
    before, J, e = np.full(len(q), np.inf), here.J, here.e
    final = size.copy()
    for k in range(REACHING):
        stop = size < TINY ** 2
        if k % LOOKED == 0:
            stop |= (size > 0.25 * before) & (size > STUCK ** 2)
            before = size.copy()
        stop |= (damping > 1e12) | ((damping > 1e2) & (size < MET ** 2)) | ~np.isfinite(size)
        if stop.any():
            final[going[stop]] = size[stop]
            keep = ~stop
            going, J, e = going[keep], J[keep], e[keep]
            size, damping, before = size[keep], damping[keep], before[keep]
        if not len(going):
            break
        g = times(np.swapaxes(J, -1, -2), e)
        below, above = problem.room(q[going])
        free = ~(((below <= 0) & (g > 0)) | ((above <= 0) & (g < 0)))
        J_F = J * free[:, None, :]
        A = J_F @ np.swapaxes(J_F, -1, -2) + (damping * size + 1e-30)[:, None, None] * np.eye(
            problem.m)
        dq = -times(np.swapaxes(J_F, -1, -2), solved(A, e[..., None])[..., 0])
        dq *= np.minimum(1.0, LONGEST / (lengths(dq) + 1e-300))[:, None]
        trial = problem.clipped(problem.moved(q[going], dq))
        there = problem.at(trial, x[going])
        new = dots(there.e, there.e)
        better = new < size
        q[going[better]] = trial[better]
        size, e = np.where(better, new, size), np.where(better[:, None], there.e, e)
        J = np.where(better[:, None, None], there.J, J)
        damping = np.where(better, np.maximum(damping * 0.2, 1e-9), damping * 8.0)
    final[going] = size
    return q, final <= MET ** 2


# ---------------------------------------------------------------------- climb
def climbed(problem: Problem, q: Floats, x: Floats) -> tuple[Floats, Flags]:
    """From configurations that meet their targets up to maxima; and which joints are at limits."""
    q, blocked = q.copy(), np.zeros((len(q), problem.n), dtype=bool)
    radius = np.full(len(q), LONGEST)
    going = np.arange(len(q))
    for _ in range(CLIMBING):
        here = problem.at(q[going], x[going])
        able = (problem.n - blocked[going].sum(axis=-1) >= problem.m) & usable(here)
        going, here = going[able], here.of(able)
        if not len(going):
            break
        found = reductions(problem, q[going], here, blocked[going])
        t, newton = _uphill(found, here.h, radius[going])
        small = newton & (lengths(t) < SMALL_STEP)
        released = small & _release(problem, q, here, found, blocked, going)
        moving = ~small
        at = going[moving]
        _advance(problem, (q, blocked, radius), at, x, times(found.V[moving], t[moving]),
                 here.H[moving])
        going = going[(moving | released) & (radius[going] >= 1e-9)]
        if not len(going):
            break
    return q, blocked


def _uphill(found: Reductions, h: Floats, radius: Floats) -> tuple[Floats, Flags]:
    """The step in eigenvectors, and whether it is Newton's own to a maximum; as `uphill`."""
    r, inner = found.r, found.inner
    c = np.where(inner, times(np.swapaxes(found.V, -1, -2), found.steep), 0.0)
    scale = np.max(np.where(inner, np.abs(r), 0.0), axis=-1) + 1e-300
    t = c / np.maximum(np.abs(r), 1e-6 * scale[:, None])
    lost = inner & (r > -1e-9 * scale[:, None]) & (np.abs(t) < 1e-2 * radius[:, None])
    t = np.where(lost & (r > 0), np.where(c < 0, -0.1, 0.1) * radius[:, None], t)
    length = lengths(t)
    newton = np.all((r < 0) | ~inner, axis=-1) & (length <= radius)
    return t * np.minimum(1.0, radius / (length + 1e-300))[:, None], newton


def _outward(problem: Problem, q: Floats, here: Local, multipliers: Floats,
             blocked: Flags) -> Floats:
    """What H gains for each unit that a limit gives way, (B, n)."""
    below, above = problem.room(q)
    z = here.h + times(np.swapaxes(here.J, -1, -2), multipliers)
    return np.where(blocked, np.where(above < below, z, -z), 0.0)


def _release(problem: Problem, q: Floats, here: Local, found: Reductions, blocked: Flags,
             going: NDArray[np.intp]) -> Flags:
    """Let the joints go whose multipliers say that H grows inwards; where there was one."""
    z = _outward(problem, q[going], here, found.multipliers, blocked[going])
    worst = np.argmin(z, axis=-1)
    lane = np.arange(len(going))
    goes = z[lane, worst] < -1e-9 * (1 + lengths(here.h))
    blocked[going[goes], worst[goes]] = False
    return goes


def _advance(problem: Problem, state: tuple[Floats, Flags, Floats], at: NDArray[np.intp],
             x: Floats, dq: Floats, H: Floats) -> None:
    """Take the steps by which H grows, up to the first limit; others get a smaller radius."""
    if not len(at):
        return
    q, blocked, radius = state
    below, above = problem.room(q[at])
    with np.errstate(divide="ignore", invalid="ignore"):
        part = np.where(dq > 1e-15, above / dq, np.where(dq < -1e-15, below / -dq, np.inf))
    lane, joint = np.arange(len(at)), np.argmin(part, axis=-1)
    stop = np.maximum(part[lane, joint], 0.0)
    meets = stop <= 1.0
    stuck = meets & (stop <= 1e-12)
    blocked[at[stuck], joint[stuck]] = True
    go = np.flatnonzero(~stuck)
    if not len(go):
        return
    held = blocked[at[go]]
    held[meets[go], joint[go][meets[go]]] = True
    step = np.where(meets[go], stop[go], 1.0)[:, None] * dq[go]
    trial, met = corrected(problem, problem.moved(q[at[go]], step), x[at[go]], held)
    there, before = problem.at(trial, x[at[go]]), H[go]
    good = met & (there.H - before > -1e-14 * (1 + np.abs(before))) & np.isfinite(there.H)
    length = lengths(step)
    yes, no = at[go[good]], at[go[~good]]
    q[yes], blocked[yes] = trial[good], held[good]
    radius[yes] = np.minimum(LONGEST, np.maximum(radius[yes], 2.5 * length[good]))
    radius[no] = 0.3 * length[~good]


def corrected(problem: Problem, q: Floats, x: Floats, blocked: Flags) -> tuple[Floats, Flags]:
    """q brought back to the target by Gauss–Newton steps of the free joints; and whether it is."""
    q, met = problem.clipped(q), np.zeros(len(q), dtype=bool)
    going = np.flatnonzero((~blocked).sum(axis=-1) >= problem.m)
    last = np.full(len(q), np.inf)
    for _ in range(CORRECTING):
        if not len(going):
            break
        here = problem.at(q[going], x[going])
        size = lengths(here.e)
        done = (size < TINY) | ((size < 1e-11) & (size >= 0.5 * last[going]))
        met[going[done]] = inside(problem, q[going[done]])
        on = ~done & (size <= 2 * last[going]) & (size <= 1.0)
        last[going] = size
        J = here.J[on] * ~blocked[going[on]][:, None, :]
        step = -times(_pinv(J), here.e[on])
        going = going[on]
        short = lengths(step) < LONGEST
        going = going[short]
        q[going] = problem.moved(q[going], step[short])
    return q, met


def inside(problem: Problem, q: Floats) -> Flags:
    below, above = problem.room(q)
    return np.all(below >= -1e-10, axis=-1) & np.all(above >= -1e-10, axis=-1)


# ---------------------------------------------------------------------- polish and certify
def polished(problem: Problem, q: Floats, x: Floats, blocked: Flags) -> Floats:
    """Newton's method on (f − x; Nᵀh) with the joints at limits held."""
    q, going, last = q.copy(), np.arange(len(q)), np.full(len(q), np.inf)
    for _ in range(POLISHING):
        here = problem.at(q[going], x[going])
        able = usable(here) & ((~blocked[going]).sum(axis=-1) >= problem.m)
        going, here = going[able], here.of(able)
        if not len(going):
            break
        found = reductions(problem, q[going], here, blocked[going])
        normal = -times(found.pinv, here.e)
        c = times(np.swapaxes(found.V, -1, -2), here.h + times(found.W, normal))
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.where(found.inner, -c / found.r, 0.0)
        dq = normal + times(found.V, t)
        length = lengths(dq)
        on = np.isfinite(length) & (length <= 0.1) & (length <= last[going])
        going, dq, length = going[on], dq[on], length[on]
        q[going] = problem.moved(q[going], dq)
        last[going] = length
        going = going[length > TINY * 10]
    return q


def certified(problem: Problem, q: Floats, x: Floats, blocked: Flags) -> Answers:
    """The certificate of every state, judged by what is true there and nothing else."""
    here = problem.at(q, x)
    residual = lengths(here.e)
    sigma = np.linalg.svd(here.J * ~blocked[:, None, :], compute_uv=False)
    met, regular = residual <= MET, sigma[:, -1] > SINGULAR * sigma[:, 0]
    able = usable(here) & regular & (problem.n - blocked.sum(axis=-1) >= problem.m)
    verdict = np.full(len(q), CODE[Verdict.FOLD])
    optimality = np.full(len(q), np.inf)
    at = np.flatnonzero(able & met)
    if len(at):
        some, held = here.of(at), blocked[at]
        found = reductions(problem, q[at], some, held)
        optimality[at] = lengths(found.steep)
        bound = STATIONARY * (1 + lengths(some.h))
        size = np.abs(found.W).max(axis=(-2, -1), initial=0.0)
        flat = uncertainty(sigma[at, 0], sigma[at, -1], size) - EPS * found.r.min(axis=-1)
        top = np.all((found.r < -flat[:, None]) | ~found.inner, axis=-1)
        z = _outward(problem, q[at], some, found.multipliers, held)
        good = (optimality[at] <= bound) & top & (z.min(axis=-1) >= -bound) & inside(problem, q[at])
        verdict[at[good]] = np.where(held[good].any(axis=-1), CODE[Verdict.LIMIT_ACTIVE],
                                     CODE[Verdict.MAXIMUM])
    verdict[~regular] = CODE[Verdict.SINGULAR]
    verdict[regular & np.isneginf(here.H)] = CODE[Verdict.FORBIDDEN]
    verdict[~met] = CODE[Verdict.UNREACHABLE]
    value = np.where(met, here.H, np.nan)
    return Answers(q, value, verdict, residual, optimality, sigma[:, -1])


def ascended(problem: Problem, q0: Floats, x: Floats) -> Answers:
    """Reach, climb, polish, certify: from one start for each target."""
    with np.errstate(all="ignore"):
        q, met = reached(problem, q0, x)
        blocked = np.zeros((len(q), problem.n), dtype=bool)
        at = np.flatnonzero(met)
        if len(at):
            q[at], blocked[at] = climbed(problem, q[at], x[at])
            fine = polished(problem, q[at], x[at], blocked[at])
            ok = inside(problem, fine)
            q[at[ok]] = fine[ok]
        return certified(problem, q, x, blocked)
