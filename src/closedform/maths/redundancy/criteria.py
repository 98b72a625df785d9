"""Criteria for redundant arms: values, gradients and Hessians.

Derivatives are those along tangent vectors (left-trivialised); second derivatives are symmetric,
those of H(q ⊕ δ) by δ. Screws S_a = (p_a; w_a) are those of `frame_screws`, at the frame's origin
and in the world's axes, where

    ∂_k p_a = w_k × p_a if k ⪯ a, else w_a × p_k      ∂_k w_a = w_k × w_a if k ⪯ a, else 0      (i)

Cites: [Chang1987, eqs. (12), (13), (29)]; Hessians are ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from closedform.arrays import Array, cross, namespace
from closedform.errors import ModelError
from closedform.maths.algorithms.frame_screws import (
    FrameScrews,
    jacobian_derivative,
    jacobian_of,
    screw_derivatives,
)
from closedform.maths.redundancy.newton import TaskInverse, symmetric


class CriterionTerms(NamedTuple):
    """A criterion at q: what its value is made of, its gradient and its Hessian."""

    raw: Array          # (k,)
    h: Array            # (nv,)
    B: Array            # (nv, nv), symmetric


def log_manipulability(
    here: FrameScrews, rows: Sequence[int], dJ: Array, inverse: TaskInverse,
) -> CriterionTerms:
    """½ log det J Jᵀ of the chosen rows of a frame's Jacobian; `raw` is det J Jᵀ.

        h_k  = Σ_a g_a·∂_kJ_a = tr(J⁺ ∂_kJ),   g_a the columns of (J⁺)ᵀ                        (ii)
        B_kl = Σ_a g_a·∂_l∂_kJ_a − ½ ⟨S_k, S_l⟩ + ⟨K_k, K_l⟩                                  (iii)

    with K_k = L⁻¹ ∂_kJ, S_k = M_k + M_kᵀ, M_k = K_k (L⁻¹J)ᵀ, and products of the metric D of
    J Jᵀ = L D Lᵀ: ⟨K, K'⟩ = Σ_i (K K'ᵀ)_ii / D_i and ⟨S, S'⟩ = Σ_ij S_ij S'_ij / (D_i D_j). The
    sums over a run over the joints before or behind joint k alone, so that the gradient takes O(n)
    operations.
    """
    if any(s.bend is not None for s in here.screws):
        raise ModelError("the gradient of manipulability is not made for joints that follow others "
                         "by polynomials")
    n, m, xp = here.nv, len(rows), namespace(inverse.G)
    g = [[_padded(inverse.G, rows, s.i, part) for s in here.screws] for part in (0, 3)]
    h, T = _contracted(here, g[0], g[1])
    K = [inverse.factor.forward(dJ[:, :, k]) for k in range(n)]
    M = [xp.stack(K_k) @ inverse.Y.T for K_k in K]
    S = [[M_k[i, j] + M_k[j, i] for i in range(m) for j in range(i)] + [M_k[i, i] for i in range(m)]
         for M_k in M]
    d = inverse.factor.inverse
    metric = ([d[i] * d[j] for i in range(m) for j in range(i)]
              + [2.0 * d[i] * d[i] for i in range(m)])
    weighed = [[w * x for w, x in zip(metric, S_k, strict=True)] for S_k in S]
    B = [[(T[k, l] + T[l, k]) * 0.5 - _dot(S[k], weighed[l])
          + sum(d[i] * _dot(K[k][i], K[l][i]) for i in range(m)) for l in range(k + 1)]
         for k in range(n)]
    return CriterionTerms(xp.array([inverse.det]), h, symmetric(B, xp))


def _padded(G: Array, rows: Sequence[int], i: int, part: int) -> Array:
    """The linear (part 0) or angular (3) half of a column of G, zero where a row is not asked."""
    entries = [G[rows.index(r), i] if r in rows else 0.0 for r in range(part, part + 3)]
    return namespace(G).array(entries)


def _contracted(here: FrameScrews, g: list[Array], g_w: list[Array]) -> tuple[Array, Array]:
    """Σ_a g_a·∂_kJ_a, (nv,), and Σ_a g_a·∂_l∂_kJ_a, (nv, nv), by (i) and the product rule.

        h_k  = w_k·C_k + p_k·D_k
        T_kl = ∂_lw_k·C_k + w_k·E_kl + p_k·F_kl + ∂_lp_k·D_k
        C_k  = Σ_{a≥k} (p_a×g_a + w_a×γ_a),        D_k  = Σ_{a<k} g_a×w_a
        E_kl = Σ_{a≥k} (∂_lp_a×g_a + ∂_lw_a×γ_a),  F_kl = Σ_{a<k} g_a×∂_lw_a

    g_a and γ_a: the linear and the angular half. Derivatives along two joints commute, T_kl = T_lk;
    those along two screws of one joint need not.
    """
    s, n, xp = here.screws, here.nv, namespace(here.p, *g)
    dS, each = screw_derivatives(here), range(len(here.screws))
    dp, dw = ([[x[part] for x in row] for row in dS] for part in (slice(3), slice(3, 6)))
    first = [min(a for a in each if s[a].k == s[k].k) for k in each]   # of the same joint

    def behind(x: list[Array]) -> list[Array]:
        """Σ_{a≥k} x_a for every k."""
        sums = list(accumulate(reversed(x)))[::-1]
        return [sums[first[k]] for k in each]

    def before(x: list[Array]) -> list[Array]:
        """Σ_{a<k} x_a for every k."""
        sums = list(accumulate(x, initial=xp.zeros(3)))
        return [sums[first[k]] for k in each]

    C = behind([cross(s[a].p, g[a]) + cross(s[a].w, g_w[a]) for a in each])
    D = before([cross(g[a], s[a].w) for a in each])
    E = [behind([cross(dp[a][l], g[a]) + cross(dw[a][l], g_w[a]) for a in each]) for l in each]
    F = [before([cross(g[a], dw[a][l]) for a in each]) for l in each]
    h: list[Any] = [0.0] * n
    T: list[list[Any]] = [[0.0] * n for _ in range(n)]
    for k in each:
        i = s[k].i
        h[i] = h[i] + _dot(s[k].w, C[k]) + _dot(s[k].p, D[k])
        for l in each[first[k]:]:
            j = s[l].i
            value = (_dot(dw[k][l], C[k]) + _dot(s[k].w, E[l][k])
                     + _dot(s[k].p, F[l][k]) + _dot(dp[k][l], D[k]))
            T[i][j] = T[i][j] + value
            if s[l].k != s[k].k:
                T[j][i] = T[j][i] + value
    return xp.array(h), xp.array(T)


def _dot(a: Iterable[Any], b: Iterable[Any]) -> Any:
    return sum(x * y for x, y in zip(a, b, strict=True))


def power_of_manipulability(log_terms: CriterionTerms, power: int) -> CriterionTerms:
    """(det J Jᵀ)^(power/2) from the terms of y = ½ log det: with e = exp(power · y)

        ∇e = power e ∇y,   ∇²e = power e (∇²y + power ∇y ∇yᵀ)
    """
    xp, det, h = namespace(log_terms.h), log_terms.raw[0], log_terms.h
    e = xp.sqrt(det) if power == 1 else det
    B = [[power * e * (log_terms.B[i, j] + power * h[i] * h[j]) for j in range(i + 1)]
         for i in range(len(h))]
    return CriterionTerms(xp.array([e]), power * e * h, symmetric(B, xp))


def quadratic(d: Array, weights: Array) -> CriterionTerms:
    """−½ Σ w_i d_i², of coordinates d_i that add."""
    xp, n = namespace(d), len(d)
    value = -0.5 * sum(w * x * x for w, x in zip(weights, d, strict=True))
    B = xp.array([[-weights[i] if i == j else 0.0 for j in range(n)] for i in range(n)])
    return CriterionTerms(xp.array([value]), -(weights * d), B)


def limit_barrier(d: Array, reach: Array) -> CriterionTerms:
    """−Σ_i 1/(r_i² − d_i²), the second sum of Chang's (12): d_i = q_i − middle, r_i half a range.

    `raw` holds r_i² − d_i², to be positive.
    """
    xp, n = namespace(d), len(d)
    room = [r * r - x * x for r, x in zip(reach, d, strict=True)]
    h = [-2.0 * d[i] / (room[i] * room[i]) for i in range(n)]
    B = xp.array([[-(2.0 * room[i] + 8.0 * d[i] * d[i]) / (room[i] * room[i] * room[i])
                   if i == j else 0.0 for j in range(n)] for i in range(n)])
    return CriterionTerms(xp.array(room), xp.array(h), B)


class Ellipsoid(NamedTuple):
    """An obstacle of Chang's (13): centre and radii (m), and the even roundness exponent s."""

    centre: tuple[float, float, float]
    radii: tuple[float, float, float]
    exponent: int = 2


def obstacle_distance(here: FrameScrews, obstacle: Ellipsoid) -> CriterionTerms:
    """−1/(C_O(x) − 1), the first sum of Chang's (12), x a point of the arm; `raw` is C_O(x) − 1.

        C_O = Σ_k ((x_k − c_k)/r_k)^s                                   (13)

    The value makes sense outside the obstacle alone, where raw > 0.
    """
    xp, s, n = namespace(here.p), obstacle.exponent, here.nv
    J, dJ = jacobian_of(here)[:3], jacobian_derivative(here)[:3]
    u = [(here.p[k] - obstacle.centre[k]) / obstacle.radii[k] for k in range(3)]
    room = sum(x ** s for x in u) - 1.0
    first = [s * u[k] ** (s - 1) / obstacle.radii[k] for k in range(3)]
    second = [s * (s - 1) * u[k] ** (s - 2) / obstacle.radii[k] ** 2 for k in range(3)]
    dC = [sum(first[k] * J[k, i] for k in range(3)) for i in range(n)]
    scale = 1.0 / (room * room)
    B = [[scale * (sum(second[k] * J[k, i] * J[k, j]
                       + first[k] * (dJ[k, i, j] + dJ[k, j, i]) * 0.5 for k in range(3))
                   - 2.0 * dC[i] * dC[j] / room) for j in range(i + 1)] for i in range(n)]
    return CriterionTerms(xp.array([room]), xp.array([scale * x for x in dC]), symmetric(B, xp))
