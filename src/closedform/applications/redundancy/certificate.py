"""What an answer is worth: residuals, the signs of the reduced Hessian, multipliers, a verdict."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from closedform.applications.redundancy.problem import Local, Problem
from closedform.arrays import Floats, Number

MET = 1e-9              # a task residual (m, rad) that counts as met
STATIONARY = 1e-7       # ‖Nᵀh‖ over 1 + ‖h‖ that counts as zero
SINGULAR = 1e-7         # σ_min(J) over σ_max that counts as zero


class Verdict(StrEnum):
    """What a configuration is. Each is equal to its text."""

    MAXIMUM = "maximum"             # strict, by the signs of the reduced Hessian
    MINIMUM = "minimum"
    SADDLE = "saddle"
    SINGULAR = "singular"           # J or the reduced Hessian has lost rank: nothing is certified
    LIMIT_ACTIVE = "limit active"   # a strict maximum within the limits, with joints at theirs
    UNREACHABLE = "unreachable"     # the task is not met
    FORBIDDEN = "forbidden"         # met within an obstacle or beyond a barrier: the value is −∞
    NOT_STATIONARY = "not stationary"   # the task is met, but the criterion still changes
    LIMIT = "limit"                 # of maps: met only by joints beyond their limits
    FOLD = "fold"                   # of maps: met, J regular, and no strict maximum from any start


CERTIFIED = (Verdict.MAXIMUM, Verdict.LIMIT_ACTIVE)


@dataclass(frozen=True)
class Solution:
    """A configuration with its certificate."""

    q: Floats
    task_residual: float            # ‖f(q) − x‖, m and rad
    optimality_residual: float      # ‖Nᵀh‖ over the joints that are not at a limit
    value: float                    # H(q)
    reduced_hessian: Floats        # eigenvalues of NᵀWN, ascending
    verdict: Verdict
    branch_sign: int                # sign of det J_e, N oriented so that det [J; Nᵀ] > 0
    sigma_min: float                # smallest singular value of J
    multipliers: Floats            # (m,) λ of the task
    limits: tuple[str, ...] = ()    # joints at a limit
    limit_multipliers: Floats = field(default_factory=lambda: np.zeros(0))  # dH per unit of room

    @property
    def certified(self) -> bool:
        """Whether this is a strict maximum, possibly at a limit."""
        return self.verdict in CERTIFIED


@dataclass(frozen=True)
class Solutions:
    """Many solutions: arrays with the batch axes first; `[k]` is one of them."""

    q: Floats
    task_residual: Floats
    optimality_residual: Floats
    value: Floats
    reduced_hessian: Floats        # NaN where limits leave fewer
    verdict: NDArray[np.object_]
    branch_sign: NDArray[np.int64]
    sigma_min: Floats
    multipliers: Floats
    limits: NDArray[np.object_]

    def __len__(self) -> int:
        return len(self.q)

    def __getitem__(self, k: int) -> Solution:
        eigenvalues = self.reduced_hessian[k]
        return Solution(
            self.q[k], float(self.task_residual[k]), float(self.optimality_residual[k]),
            float(self.value[k]), eigenvalues[~np.isnan(eigenvalues)], self.verdict[k],
            int(self.branch_sign[k]), float(self.sigma_min[k]), self.multipliers[k],
            self.limits[k])

    @property
    def certified(self) -> NDArray[np.bool_]:
        return np.isin(self.verdict, CERTIFIED)

    def counts(self) -> dict[Verdict, int]:
        """How many there are of each verdict."""
        flat = self.verdict.ravel().tolist()
        return {v: flat.count(v) for v in Verdict if v in flat}


class Reduced(NamedTuple):
    """The null space of the free joints' Jacobian and the criterion in it."""

    free: NDArray[np.intp]  # velocities not at a limit
    N: Floats              # (free, k) orthonormal, J_F N = 0
    pinv: Floats           # (free, m)
    sigma: Floats          # singular values of J_F
    multipliers: Floats    # (m,)
    h: Floats              # (k,)  Nᵀh, which Chang's (10) sets to zero
    W: Floats              # (n, n) for these multipliers
    R: Floats              # (k, k)  NᵀWN

    @property
    def regular(self) -> bool:
        return bool(self.sigma[-1] > SINGULAR * self.sigma[0])


def reduced(problem: Problem, q: Floats, here: Local, blocked: NDArray[np.bool_]) -> Reduced:
    """The reduced gradient and Hessian with some joints held at their limits.

        λ = −(J_Fᵀ)⁺ h_F,   W = ∇²H + Σ λ_k ∇²f_k,   R = N_Fᵀ W_FF N_F
    """
    free = np.flatnonzero(~blocked)
    U, sigma, V = np.linalg.svd(here.J[:, free])
    m = problem.m
    rank = np.where(sigma > 1e-14 * sigma[0], sigma, np.inf)
    pinv = (V[:len(sigma)].T / rank) @ U.T[:len(sigma)]
    N = V[m:].T
    multipliers = -(pinv.T @ here.h[free])
    W = problem.curvature(q, multipliers) if np.any(blocked) else here.W
    R = N.T @ W[np.ix_(free, free)] @ N
    return Reduced(free, N, pinv, sigma, multipliers, N.T @ here.h[free], W, (R + R.T) / 2)


def limit_multipliers(here: Local, found: Reduced, blocked: NDArray[np.bool_],
                      at_upper: NDArray[np.bool_]) -> Floats:
    """(n,): what H gains for each unit that a limit gives way; 0 for joints not at a limit.

        z = h + Jᵀλ, taken outwards; all have to be ≥ 0 at a maximum
    """
    z = here.h + here.J.T @ found.multipliers
    outward: Floats = np.where(blocked, np.where(at_upper, z, -z), 0.0)
    return outward


def certify(problem: Problem, q: Floats, target: Floats,
            blocked: NDArray[np.bool_] | None = None) -> Solution:
    """The solution record of a configuration, judged by what is true there and nothing else."""
    here = problem.at(q, target)
    none = np.zeros(problem.n, dtype=bool)
    blocked = none if blocked is None else blocked
    residual = float(np.linalg.norm(here.e))
    sigma_all = np.linalg.svd(here.J, compute_uv=False)
    if not _usable(here) or problem.n - blocked.sum() < problem.m:
        regular = sigma_all[-1] > SINGULAR * sigma_all[0]
        verdict = (Verdict.UNREACHABLE if residual > MET else
                   Verdict.FORBIDDEN if np.isneginf(here.H) and regular else Verdict.SINGULAR)
        nothing = np.zeros(0)
        return Solution(q, residual, np.inf, float(here.H), nothing, verdict, 0,
                        float(sigma_all[-1]), nothing, _limit_names(problem, blocked), nothing)
    found = reduced(problem, q, here, blocked)
    eigenvalues = np.linalg.eigvalsh(found.R)
    optimality = float(np.linalg.norm(found.h))
    below, above = problem.room(q)
    z = limit_multipliers(here, found, blocked, above < below)
    verdict = _verdict(residual, optimality, found, here, eigenvalues, z)
    sign = branch_sign(here.J[:, found.free], found.R)
    return Solution(q, residual, optimality, float(here.H), eigenvalues, verdict, sign,
                    float(sigma_all[-1]), found.multipliers, _limit_names(problem, blocked), z)


def _usable(here: Local) -> bool:
    return bool(np.isfinite(here.H) and np.all(np.isfinite(here.h)) and np.all(np.isfinite(here.W)))


def _verdict(residual: float, optimality: float, found: Reduced, here: Local,
             eigenvalues: Floats, z: Floats) -> Verdict:
    if residual > MET:
        return Verdict.UNREACHABLE
    if not found.regular:
        return Verdict.SINGULAR
    if optimality > STATIONARY * (1 + np.linalg.norm(here.h)):
        return Verdict.NOT_STATIONARY
    flat = uncertainty(found.sigma[0], found.sigma[-1], np.abs(found.W).max(initial=0.0))
    if np.any(np.abs(eigenvalues) <= flat):
        return Verdict.SINGULAR
    if np.all(eigenvalues < 0):
        if len(found.free) == len(here.h):
            return Verdict.MAXIMUM
        at_limit = z.min() >= -STATIONARY * (1 + np.linalg.norm(here.h))
        return Verdict.LIMIT_ACTIVE if at_limit else Verdict.NOT_STATIONARY
    return Verdict.MINIMUM if np.all(eigenvalues > 0) else Verdict.SADDLE


def uncertainty(sigma_max: Number, sigma_min: Number, size: Number) -> Any:
    """How far rounding may move an eigenvalue of NᵀWN: ε ‖W‖ cond(J)², and a margin of ten.

    An eigenvalue that is smaller has no sign.
    """
    return 10 * np.finfo(float).eps * size * (sigma_max / sigma_min) ** 2


def branch_sign(J: Floats, R: Floats) -> int:
    """sign det J_e = sign det NᵀWN where N is oriented by det [J; Nᵀ] > 0; det J for n = m."""
    if R.shape[0] == 0:
        return int(np.sign(np.linalg.det(J)))
    return int(np.sign(np.linalg.det(R)))


def _limit_names(problem: Problem, blocked: NDArray[np.bool_]) -> tuple[str, ...]:
    held = set(problem.used[blocked].tolist())
    return tuple(name for name, v in problem.robot.v_slices.items()
                 if held & set(range(v.start, v.stop)))
