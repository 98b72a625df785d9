"""How far an estimate can be trusted: by leaving blocks of time out, and as noise alone would say.

    jackknife   sd² = (B − 1)/B Σ_b (x_−b − mean)²,     x_−b = x + (H − H_b)⁻¹ g_b

Residuals of robots are correlated over tenths of seconds, so that the usual formula, which takes
every sample for new, is too small, often ten times. Leaving out a block is exact for least squares
and one Newton step for the others.

Cites: [EfronTibshirani1993, ch. 11]; [Kunsch1989] for blocks.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from closedform.applications.identification.estimate.least_squares import RANK, Equations
from closedform.applications.identification.triangles import Information
from closedform.arrays import Floats

LEVEL = 0.95


def jackknife(info: Information, weights: Floats, x: Floats, eq: Equations,
              blocks: Floats | None = None) -> Floats:
    """(blocks, unknowns): the estimate x of these equations without each block."""
    A, plain = eq.R @ eq.free, not len(eq.b)
    H, scale = A.T @ A, 1 / eq.scale
    found = []
    for i in range(len(info.blocks)):
        G, g = _block(info, i, weights, x, None if blocks is None else blocks[i])
        if plain:                                     # all directions are free: columns' scales
            found.append(x + scale * _solved(H - G * scale[:, None] * scale, g * scale))
        else:
            found.append(x + eq.free @ _solved(H - eq.free.T @ G @ eq.free, eq.free.T @ g))
    return np.array(found)


def _solved(H: Floats, g: Floats) -> Floats:
    """H⁻¹ g, in units in which the diagonal is one; without what H does not see."""
    scale = 1 / np.sqrt(np.maximum(np.diag(H), 1e-300))
    K = H * scale[:, None] * scale
    try:
        return np.asarray(cho_solve(cho_factor(K), g * scale) * scale)
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.pinv(K, rcond=1e-12, hermitian=True) @ (g * scale) * scale)


def _block(info: Information, i: int, weights: Floats, x: Floats,
           own: Floats | None) -> tuple[Floats, Floats]:
    """A block's part of H = Σ w² WᵀW, and of g = Σ w² Wᵀ (W x − z)."""
    p = len(info.columns)
    H, g = np.zeros((p, p)), np.zeros(p)
    for j, support in enumerate(info.support):
        R, s = info.blocks[i].factors[j], list(support)
        if R.size and weights[j] != 0:
            R = R * (weights[j] * (1.0 if own is None else own[j]))
            H[np.ix_(s, s)] += R[:, :-1].T @ R[:, :-1]
            g[s] += R[:, :-1].T @ (R @ np.append(x[s], -1.0))
    return H, g


def spread(left_out: Floats) -> tuple[Floats, Floats]:
    """Standard deviations of what was computed without each block, and the reach of an interval."""
    B = len(left_out)
    sd = np.sqrt((B - 1) / B * np.sum((left_out - left_out.mean(axis=0))**2, axis=0))
    return sd, float(stats.t.ppf((1 + LEVEL) / 2, B - 1)) * sd


def unseen(eq: Equations) -> NDArray[np.bool_]:
    """The unknowns that have a part in what the data do not see at all: the null space of R."""
    R = eq.R
    if eq.sound:
        return np.zeros(len(R), dtype=bool)
    size = np.linalg.norm(R, axis=0)
    _, values, turned = np.linalg.svd(R / eq.scale)
    rank = int(np.sum(values > RANK * max(values[0], 1e-300))) if len(values) else 0
    null = turned[rank:]
    return np.asarray((np.abs(null).max(axis=0, initial=0.0) > 1e-6) | (size == 0))


def naive(eq: Equations) -> Floats:
    """√diag (RᵀR)⁻¹: what noise alone would say, every sample new, weights 1/σ."""
    if eq.sound:
        return np.linalg.norm(solve_triangular(eq.R, np.eye(len(eq.R))), axis=1)
    inverse = np.linalg.pinv(eq.R.T @ eq.R, rcond=1e-12, hermitian=True)
    return np.sqrt(np.maximum(np.diag(inverse), 0.0))
