"""What makes a motion good, as functions of the information matrix H = Σ WᵀΣ⁻¹W, with ∂f/∂H.

    information   −log det H / p                the volume of the confidence ellipsoid (D)
    a             log Σ_c (sd_c / scale_c)²      relative variances, scales of the file (A)
    condition     log ‖λ‖_k ‖1/λ‖_k              → log cond² as k grows; λ of Σ WᵀW

All are to be made small, and live on the subspace that any motion can tell something about.

Cites: [Pukelsheim2006, ch. 6] for D and A; [GautierKhalil1992] for the condition number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from closedform.arrays import Floats

SHARP = 40.0
"""k of the norms: within (p^(1/40))² of the largest and the smallest."""
NOWHERE = 1e6
"""The value where there is no information at all."""

Objective = Callable[["Scene", Floats], tuple[float, Floats]]
"""(value, ∂f/∂H) at H in the coordinates of the scene."""


@final
@dataclass(frozen=True, eq=False)
class Scene:
    """Coordinates of what can be found: x = basis y, sizes of x, and how sharp the norms are."""

    basis: Floats                # (columns, directions), orthonormal
    scale: Floats                # (columns,): sizes of the unknowns
    sharp: float = SHARP


def information(scene: Scene, H: Floats) -> tuple[float, Floats]:
    """−log det H / p."""
    inverse, log_det = _inverse(H)
    if inverse is None:
        return NOWHERE, np.zeros_like(H)
    return -log_det / len(H), -inverse / len(H)


def a(scene: Scene, H: Floats) -> tuple[float, Floats]:
    """log of the sum of relative variances."""
    inverse, _ = _inverse(H)
    if inverse is None:
        return NOWHERE, np.zeros_like(H)
    B = inverse @ (scene.basis / scene.scale[:, None]).T
    total = float(np.sum((scene.basis / scene.scale[:, None]) * B.T))
    return float(np.log(total)), -(B @ B.T) / total


def condition(scene: Scene, H: Floats) -> tuple[float, Floats]:
    """log (‖λ‖_k ‖1/λ‖_k), from above to log of the condition number squared."""
    values, vectors = np.linalg.eigh(H)
    if values[0] <= 1e-14 * values[-1]:
        return NOWHERE, np.zeros_like(H)
    k = scene.sharp
    up, down = (values / values[-1])**k, (values[0] / values)**k
    value = np.log(values[-1] / values[0]) + np.log(up.sum() * down.sum()) / k
    slope = (up / up.sum() - down / down.sum()) / values
    return float(value), (vectors * slope) @ vectors.T


CRITERIA: dict[str, Objective] = {"information": information, "a": a, "condition": condition}


def _inverse(H: Floats) -> tuple[Floats | None, float]:
    """H⁻¹ and log det H; none where H is not positive definite."""
    try:
        factor = cho_factor(H, lower=True, check_finite=False)
    except np.linalg.LinAlgError:
        return None, 0.0
    diagonal = np.diag(factor[0])
    if not np.all(np.isfinite(diagonal)) or diagonal.min() <= 1e-9 * diagonal.max():
        return None, 0.0
    return (np.asarray(cho_solve(factor, np.eye(len(H)), check_finite=False)),
            2 * float(np.sum(np.log(diagonal))))


def condition_number(H: Floats, zero: float = 0.0) -> float:
    """√(λ_max / λ_min), without those below `zero` of the largest."""
    values = np.linalg.eigvalsh(H)
    values = values[values >= zero * values[-1]] if zero else values
    return float(np.sqrt(values[-1] / values[0])) if values[0] > 0 else float("inf")
