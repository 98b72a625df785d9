"""Newton's equations at a stationary point of a redundant arm: the extended Jacobian.

A task is f(q) = x with m equations, J = ∂f/∂q, n − m ≥ 0; a criterion H(q) is to be maximised with
gradient h. A stationary point is Chang's (10), Z h = 0 for a Z whose rows span the null space of J;
here these rows are an orthonormal basis Nᵀ, and (10) is Nᵀh = 0. Derivatives are those along
tangent vectors (left-trivialised); second derivatives are symmetric, those of H(q ⊕ δ) by δ.

Cites: [Chang1987, eqs. (3)-(10)].
"""

from __future__ import annotations

from functools import reduce
from operator import mul
from typing import Any, NamedTuple

from closedform.arrays import Array, Namespace, SymmetricFactor, ldl, namespace


class TaskInverse(NamedTuple):
    """A = J Jᵀ = L D Lᵀ and what follows from it."""

    factor: SymmetricFactor
    Y: Array            # (m, n)  L⁻¹ J
    G: Array            # (m, n)  A⁻¹ J, the transpose of J⁺
    det: Any            # det J Jᵀ


def inverse_terms(J: Array) -> TaskInverse:
    """The factor of J Jᵀ, stable without pivoting where J has full rank, and J⁺."""
    xp, factor = namespace(J), ldl(J @ J.T)
    return TaskInverse(factor, xp.stack(factor.forward(J)), xp.stack(factor.solve(J)),
                       reduce(mul, factor.D.values()))


def lagrangian_hessian(B: Array, dJ: Array, G: Array, h: Array) -> tuple[Array, Array]:
    """λ (m,) and W (n, n).

        λ = −(J Jᵀ)⁻¹ J h,   W = ∇²H + Σ_k λ_k ∇²f_k,   ∇²f_k = sym ∂J_k/∂q
    """
    multipliers = -(G @ h)
    half, n = 0.5 * multipliers, len(h)
    W = [[B[i, j] + sum(half[k] * (dJ[k, i, j] + dJ[k, j, i]) for k in range(len(G)))
          for j in range(i + 1)] for i in range(n)]
    return multipliers, symmetric(W, namespace(h))


def symmetric(lower: list[list[Any]], xp: Namespace) -> Array:
    """A symmetric matrix from the rows of its lower triangle."""
    n = len(lower)
    return xp.array([[lower[max(i, j)][min(i, j)] for j in range(n)] for i in range(n)])


def extended_jacobian(J: Array, N: Array, W: Array) -> Array:
    """J_e = [J; NᵀW], (n, n): the derivative of (f; Nᵀh) at a stationary point.

        |det J_e| = √det(J Jᵀ) |det NᵀWN|
    """
    return namespace(J).concatenate([J, N.T @ W])
