"""The rate of the momentum about the centre of mass, and its derivatives by the state.

With X_kG as in `center_of_mass`, V_k = J_k v and A_k = J_k a + dJ_k v,

    h = Σ_k X_kGᵀ Λ_k V_k      dh = Σ_k X_kGᵀ F_k      F_k = Λ_k A_k + V_k×* Λ_k V_k

and moving along velocity i changes the place of body k about the centre G by W_k^i, the twist of
the body less that of G, which does not turn:

    ∂_i X_kGᵀ = X_kGᵀ W_k^i×*      W_k^i = J_k^i − X_kG (J_com^i; 0)

Weights and other loads are no part of it: dh is the sum of all loads from outside.

Cites: [OrinGoswamiLee2013] for the momentum and its matrix.
"""

from __future__ import annotations

from typing import NamedTuple

from closedform.arrays import Array, namespace
from closedform.maths.arguments import checked
from closedform.maths.definitions.center_of_mass import (
    centroidal_momentum_matrix,
    com_jacobian,
    seen_from_center,
)
from closedform.maths.definitions.state_derivatives import (
    jacobian_derivatives,
    jacobian_rate_derivatives,
)
from closedform.maths.kinematics import jacobian_rates
from closedform.maths.pull_backs import pulled_back, rate
from closedform.maths.spatial import crf
from closedform.maths.state_pull_backs import centroidal_derivatives
from closedform.model.robot import Robot


class CentroidalDynamics(NamedTuple):
    """Momentum about the centre of mass and its rate, in world axes, linear part first."""

    h: Array    # (6,)
    dh: Array   # (6,)


class CentroidalDynamicsDerivatives(NamedTuple):
    """Derivatives of h by q, and of dh by q, v and a, (6, nv) each; those of h by v are ddh_da."""

    dh_dq: Array
    ddh_dq: Array
    ddh_dv: Array
    ddh_da: Array


@checked
@pulled_back(rate, centroidal_momentum_matrix)
def centroidal_momentum_matrix_rate(robot: Robot, q: Array, v: Array) -> Array:
    """Time derivative of `centroidal_momentum_matrix`, (6, nv): dh = A_G a + dA_G v.

        dA_G = Σ_k X_kGᵀ (Λ_k dJ_k + W_k×* Λ_k J_k),   W_k = V_k − X_kG (J_com v; 0)
    """
    xp = namespace(q, v)
    (J, dJ), total = jacobian_rates(robot, q, v), xp.zeros((6, robot.nv))
    center = xp.concatenate([com_jacobian(robot, q) @ v, xp.zeros(3)])
    for k, Lambda_k, X_kG in seen_from_center(robot, q):
        W_k = J[k] @ v - X_kG @ center
        total = total + X_kG.T @ (Lambda_k @ dJ[k] + crf(W_k) @ (Lambda_k @ J[k]))
    return total


@checked
def centroidal_dynamics(robot: Robot, q: Array, v: Array, a: Array) -> CentroidalDynamics:
    """h = A_G v and dh = A_G a + dA_G v, (6,) each: momentum about the centre of mass, its rate."""
    A = centroidal_momentum_matrix(robot, q)
    return CentroidalDynamics(A @ v, A @ a + centroidal_momentum_matrix_rate(robot, q, v) @ v)


@checked
@pulled_back(centroidal_derivatives)
def centroidal_dynamics_derivatives(
    robot: Robot, q: Array, v: Array, a: Array,
) -> CentroidalDynamicsDerivatives:
    """∂h/∂q, ∂dh/∂q, ∂dh/∂v and ∂dh/∂a = A_G, (6, nv) each; by q left-trivialised.

        ∂h/∂q_i  = Σ_k X_kGᵀ (W_k^i×* Λ_k V_k + Λ_k ∂_iV_k)
        ∂dh/∂q_i = Σ_k X_kGᵀ (W_k^i×* F_k + Λ_k ∂_iA_k + ∂_iV_k×* Λ_k V_k + V_k×* Λ_k ∂_iV_k)
        ∂dh/∂v_i = Σ_k X_kGᵀ (Λ_k (∂_iV_k + dJ_k^i) + J_k^i×* Λ_k V_k + V_k×* Λ_k J_k^i)

    with ∂_iV_k = ∂_iJ_k v and ∂_iA_k = ∂_iJ_k a + ∂_i dJ_k v.
    """
    xp, n = namespace(q, v, a), range(robot.nv)
    (J, J_h), (dJ, dJ_h) = jacobian_derivatives(robot, q), jacobian_rate_derivatives(robot, q, v)
    J_com = com_jacobian(robot, q)
    center = xp.concatenate([J_com, xp.zeros((3, robot.nv))])
    h_q, dh_q, dh_v = ([xp.zeros(6) for _ in n] for _ in range(3))
    for k, L, X_kG in seen_from_center(robot, q):
        V, A, W = J[k] @ v, J[k] @ a + dJ[k] @ v, J[k] - X_kG @ center
        p, ad = L @ V, crf(V)
        F = L @ A + ad @ p
        for i in n:
            V_i, A_i, J_i = J_h[k][i] @ v, J_h[k][i] @ a + dJ_h[k][i] @ v, J[k][:, i]
            h_q[i] = h_q[i] + X_kG.T @ (crf(W[:, i]) @ p + L @ V_i)
            dh_q[i] = dh_q[i] + X_kG.T @ (
                crf(W[:, i]) @ F + L @ A_i + crf(V_i) @ p + ad @ (L @ V_i))
            dh_v[i] = dh_v[i] + X_kG.T @ (
                L @ (V_i + dJ[k][:, i]) + crf(J_i) @ p + ad @ (L @ J_i))

    def matrix(columns: list[Array]) -> Array:
        return xp.stack(columns, axis=1) if columns else xp.zeros((6, 0))

    return CentroidalDynamicsDerivatives(
        matrix(h_q), matrix(dh_q), matrix(dh_v), centroidal_momentum_matrix(robot, q))
