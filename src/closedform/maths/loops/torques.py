"""Torques of robots with loops without G: one factor, a solve for each vector.

    â = (ÿ, a_d)        λ = K_d⁻ᵀ τ̂_d        τ = τ̂_y − K_yᵀ λ
"""

from __future__ import annotations

import math
from typing import Any

from closedform.arrays import Array, namespace
from closedform.maths import pull_backs
from closedform.maths.algebra.lu import is_zero
from closedform.maths.pull_backs import Seen, instead_of
from closedform.maths.quantity import Function


@instead_of(pull_backs.COVECTOR)
def covector(function: Function, seen: Seen) -> Array:
    """Gᵀ τ̂; of a matrix, as regressors are, with G itself."""
    found, here = seen.free(function), seen.e.here(seen.q)
    return here.lowered(found)[0] if found.ndim == 1 else here.G.T @ found


@instead_of(pull_backs.motion_torque)
def motion_torque(function: Function, seen: Seen, momentum: Function) -> Array:
    """C v, or C v + g: Gᵀ (f̂ + M̂ Ġ v), Ġ v being the accelerations with none of y."""
    still = namespace(seen.q).zeros(seen.robot.nv)
    _, bent = seen.e.rates(seen.q, [seen.given["v"], still])
    found = seen.free(function) + seen.free(momentum, v=bent)
    return seen.e.here(seen.q).lowered(found)[0]


@instead_of(pull_backs.jet)
def jet(function: Function, seen: Seen) -> Array:
    """τ, τ̇, …: λ_k = K_d⁻ᵀ (τ̂_{d,k} − Σ_{j≥1} K_{d,j}ᵀ λ_{k−j}) on Taylor coefficients.

    What has more axes than torques, as Jacobians, is a sum of products with the rates of G.
    """
    found = seen.free(function)
    if found.ndim > 2:
        return _jet_of_matrices(found, seen)
    e, here, orders = seen.e, seen.e.here(seen.q), len(found)
    motion = e.rates(seen.q, seen.motion[:orders - 1])
    Ks = [here.rows, *(e.jacobian_rates(seen.q, motion) if motion else [])]
    own, count = set(e.closure.dependent), len(e.closure.rows)
    forces: list[list[Any]] = []
    rows = []
    for k in range(orders):
        left: list[Any] = [x / math.factorial(k) if k > 1 else x for x in found[k]]
        for j in range(1, k + 1):
            for r in range(count):
                for i, K in Ks[j][r].items():
                    if i in own and not is_zero(K):
                        left[i] = left[i] - K / math.factorial(j) * forces[k - j][r]
        forces.append(here.solve_transposed([left[i] for i in e.closure.dependent]))
        total = {i: left[i] for i in e.closure.independent}
        for j in range(k + 1):
            for r in range(count):
                for i in e.closure.independent:
                    if i in Ks[j][r] and not is_zero(Ks[j][r][i]):
                        scaled = Ks[j][r][i] / math.factorial(j) if j > 1 else Ks[j][r][i]
                        total[i] = total[i] - scaled * forces[k - j][r]
        rows.append([math.factorial(k) * x if k > 1 else x for x in total.values()])
    xp = namespace(found, seen.q)
    return xp.stack([xp.stack([x + xp.zeros(()) for x in row]) if row else xp.zeros(0)
                     for row in rows])


def _jet_of_matrices(found: Array, seen: Seen) -> Array:
    g = seen.g(len(seen.motion))
    rows = [[seen.last(math.comb(n, k) * found[k], g[n - k]) for k in range(n + 1)]
            for n in range(len(found))]
    return namespace(found).stack([sum(row[1:], row[0]) for row in rows])
