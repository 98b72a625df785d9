"""Many targets at once: Newton's method on the extended Jacobian, all states in step.

For n − m = 1 the null space needs no basis. With P = 1 − J⁺J = N Nᵀ,

    dq = dq_r − P (h + W dq_r) / tr(P W),   dq_r = −J⁺ (f − x),   tr(P W) = NᵀWN        (i)

States that do not go straight to a maximum within the limits are left to the climb.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from closedform.applications.redundancy.certificate import (
    MET,
    SINGULAR,
    STATIONARY,
    Solution,
    Solutions,
    Verdict,
    uncertainty,
)
from closedform.applications.redundancy.problem import Local, Problem
from closedform.arrays import Floats

ROUNDS = 12
LONGEST = 0.5           # rad or m: a longer Newton step is no polishing
SETTLED = 3e-8          # the last step: its square is below rounding
BLOCK = 1024            # states at a time: their arrays stay in the cache


class BatchStep(NamedTuple):
    """Newton's step of a batch, and the curvature in the null space."""

    dq: Floats             # (B, n)
    optimality: Floats     # (B,)  ‖Nᵀh‖
    eigenvalues: Floats    # (B, n − m) of NᵀWN


def newton_steps(here: Local) -> BatchStep:
    """(i), or the same with a basis of the null space where n − m > 1."""
    m, n = here.J.shape[-2:]
    normal = -_times(np.swapaxes(here.G, -1, -2), here.e)
    if n == m:
        return BatchStep(normal, np.zeros(len(normal)), np.zeros((len(normal), 0)))
    if n == m + 1:
        g = here.h + _times(here.W, normal)
        trace = np.trace(here.W, axis1=-2, axis2=-1) - np.sum(
            (here.J @ here.W) * here.G, axis=(-2, -1))
        bent = trace[:, None]
        steep = _projected(here, here.h)
        with np.errstate(divide="ignore", invalid="ignore"):
            dq = normal - _projected(here, g) / bent
        return BatchStep(dq, np.sqrt(np.sum(steep * steep, axis=-1)), bent)
    good = np.all(np.isfinite(here.W), axis=(-2, -1))
    W = np.where(good[:, None, None], here.W, 0.0)
    N = np.swapaxes(np.linalg.svd(here.J)[2][:, m:], -1, -2)
    Nt = np.swapaxes(N, -1, -2)
    r, V = np.linalg.eigh(Nt @ W @ N)
    c = _times(np.swapaxes(V, -1, -2), _times(Nt, here.h + _times(W, normal)))
    with np.errstate(divide="ignore", invalid="ignore"):
        dq = normal - _times(N, _times(V, c / r))
    dq[~good] = np.nan
    return BatchStep(dq, np.sqrt(np.sum(_times(Nt, here.h) ** 2, axis=-1)), r)


def _times(A: Floats, x: Floats) -> Floats:
    return (A @ x[..., None])[..., 0]


def _projected(here: Local, x: Floats) -> Floats:
    """P x = x − J⁺ J x."""
    return x - _times(np.swapaxes(here.G, -1, -2), _times(here.J, x))


def newton_batch(problem: Problem, q: Floats, targets: Floats) -> Solutions:
    """Newton's method from every seed; verdict NOT_STATIONARY where it did not settle."""
    return joined([_newton_block(problem, q[k:k + BLOCK], targets[k:k + BLOCK])
                   for k in range(0, len(q), BLOCK)])


def joined(parts: Sequence[Solutions]) -> Solutions:
    """One batch of several."""
    fields = zip(*(vars(part).values() for part in parts), strict=True)
    return Solutions(*(np.concatenate(x) for x in fields))


def _newton_block(problem: Problem, q: Floats, targets: Floats) -> Solutions:
    q = q.copy()
    going = np.arange(len(q))
    settled = np.zeros(len(q), dtype=bool)
    with np.errstate(all="ignore"):
        for _ in range(ROUNDS):
            here = problem.at(q[going], targets[going])
            step = newton_steps(here)
            length = np.sqrt(np.sum(step.dq * step.dq, axis=-1))
            ok = (length < LONGEST) & np.all(step.eigenvalues < 0, axis=-1)
            going, dq, length = going[ok], step.dq[ok], length[ok]
            q[going] = problem.moved(q[going], dq)
            done = length < SETTLED
            settled[going[done]] = True
            going = going[~done]
            if not len(going):
                break
        return _certified(problem, q, targets, settled)


def _certified(problem: Problem, q: Floats, targets: Floats,
               settled: NDArray[np.bool_]) -> Solutions:
    """The certificate of every state, as `certify` gives one."""
    here = problem.at(q, targets)
    step = newton_steps(here)
    residual = np.sqrt(np.sum(here.e * here.e, axis=-1))
    sigma = np.linalg.svd(here.J, compute_uv=False)
    size = 1 + np.sqrt(np.sum(here.h * here.h, axis=-1))
    flat = uncertainty(sigma[:, 0], sigma[:, -1], np.abs(here.W).max(axis=(-2, -1), initial=0.0))
    inside, (lower, upper) = np.ones(len(q), dtype=bool), problem.bounds
    for k, place in enumerate(problem.places):
        if place >= 0:
            inside &= (q[:, place] >= lower[k]) & (q[:, place] <= upper[k])
    good = (settled & inside & (residual <= MET) & np.isfinite(here.H)
            & (sigma[:, -1] > SINGULAR * sigma[:, 0]) & (step.optimality <= STATIONARY * size)
            & np.all(step.eigenvalues < -flat[:, None], axis=-1))
    names = np.array([Verdict.NOT_STATIONARY, Verdict.MAXIMUM], dtype=object)
    none = np.empty(len(q), dtype=object)
    none[:] = [()] * len(q)
    sign = (np.sign(np.linalg.det(here.J)) if problem.n == problem.m
            else np.prod(np.sign(step.eigenvalues), axis=-1))
    return Solutions(q, residual, step.optimality, here.H, step.eigenvalues,
                     names[good.astype(int)], np.nan_to_num(sign).astype(int), sigma[:, -1],
                     -_times(here.G, here.h), none)


def with_solution(solutions: Solutions, k: int, one: Solution) -> None:
    """Put one solution in the place k of the (new) arrays of a batch."""
    solutions.q[k] = one.q
    for name in ("task_residual", "optimality_residual", "value", "verdict", "branch_sign",
                 "sigma_min"):
        getattr(solutions, name)[k] = getattr(one, name)
    solutions.limits[k] = one.limits
    for name in ("reduced_hessian", "multipliers"):
        row, values = getattr(solutions, name)[k], getattr(one, name)
        row[:] = np.nan
        row[:len(values)] = values
