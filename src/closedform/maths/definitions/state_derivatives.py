"""∂M/∂q, ∂C/∂q, ∂C/∂v, ∂g/∂q in closed form: Garofalo's (24).

Derivatives by q are left-trivialised where v is not q̇: ∂_h is the derivative along
T_pk ← T_pk exp(ε S_h), so that time derivatives are Σ_h ∂_h v_h. These are the definitions;
`closedform.maths.algorithms.one_frame.tensors` has the algorithms that are held to them.

Cites: [Garofalo2013, eqs. (18)-(20), (24), (30)-(33)].
"""

from __future__ import annotations

from typing import NamedTuple

from closedform.arrays import Array, namespace
from closedform.maths import state_pull_backs
from closedform.maths.arguments import checked
from closedform.maths.definitions.closed_form import gravity_accelerations, with_inertia
from closedform.maths.definitions.dynamics_matrices import passive_dynamics_matrices
from closedform.maths.kinematics import (
    jacobian_rates,
    jacobians,
    motion_subspace,
    moving_velocities,
    relative_poses,
)
from closedform.maths.pull_backs import pulled_back
from closedform.maths.rotors import rotor_symbols
from closedform.maths.spatial import crm, motion_transform, passive_part
from closedform.maths.springs import spring_stiffness
from closedform.model.robot import Robot


class StateDerivatives(NamedTuple):
    """Derivatives of M, of the passive C and of g; the index of the derivative is last."""

    dM_dq: Array   # (nv, nv, nv)
    dC_dq: Array   # (nv, nv, nv)
    dC_dv: Array   # (nv, nv, nv)
    dg_dq: Array   # (nv, nv)


def jacobian_derivatives(robot: Robot, q: Array) -> tuple[list[Array], list[list[Array]]]:
    """J_k and, for each velocity h, ∂_h J_k, of the world and of each segment.

        ∂_h J_k = X_kp ∂_h J_p − S_k^h × X_kp J_p            (31)
    """
    xp = namespace(q)
    J, moving = jacobians(robot, q), moving_velocities(robot)
    dJ = [[xp.zeros((6, robot.nv))] * robot.nv]
    for segment, T_pk in zip(robot.segments, relative_poses(robot, q), strict=True):
        X_kp, p = motion_transform(*T_pk), segment.parent
        S_E, XJ = motion_subspace(segment, robot.nv, xp), X_kp @ J[p]
        dJ.append(list(dJ[0]))
        for h in moving[len(dJ) - 1]:
            dJ[-1][h] = X_kp @ dJ[p][h] - crm(S_E[:, h]) @ XJ
    return J, dJ


def jacobian_rate_derivatives(
    robot: Robot, q: Array, v: Array,
) -> tuple[list[Array], list[list[Array]]]:
    """dJ_k and, for each velocity h, ∂_h dJ_k, of the world and of each segment.

        ∂_h dJ_k = X_kp ∂_h dJ_p − S_k^h × X_kp dJ_p − ξ_k × ∂_h J_k            (32)

    with ξ_k = S_k v_k. Their derivatives by v_h are ∂_h J_k (30); where v is not q̇ but q̇ = Γ(q) v,
    ∂_h = Σ_i ∂/∂q_i Γ_ih, and (30) is (33).
    """
    xp = namespace(q, v)
    _, dJ = jacobian_rates(robot, q, v)
    _, J_h = jacobian_derivatives(robot, q)
    moving = moving_velocities(robot)
    dJ_h = [[xp.zeros((6, robot.nv))] * robot.nv]
    for k, (segment, T_pk) in enumerate(
            zip(robot.segments, relative_poses(robot, q), strict=True), start=1):
        X_kp, p = motion_transform(*T_pk), segment.parent
        S_E, XdJ = motion_subspace(segment, robot.nv, xp), X_kp @ dJ[p]
        xi = crm(segment.S @ segment.velocities(v))
        dJ_h.append(list(dJ_h[0]))
        for h in moving[k]:
            dJ_h[k][h] = X_kp @ dJ_h[p][h] - crm(S_E[:, h]) @ XdJ - xi @ J_h[k][h]
    return dJ, dJ_h


@checked
@pulled_back(state_pull_backs.state_derivatives, passive_dynamics_matrices)
def state_derivatives(robot: Robot, q: Array, v: Array) -> StateDerivatives:
    """∂M/∂q, ∂C/∂q, ∂C/∂v (nv, nv, nv) and ∂g/∂q (nv, nv), with the passive C of (6b).

        ∂_h M       = Σ_k ∂_hJ_kᵀ Λ_k J_k + J_kᵀ Λ_k ∂_hJ_k                                  (24a)
        ∂_h C       = Σ_k ∂_hJ_kᵀ (Ψ_k J_k + Λ_k dJ_k) + J_kᵀ Λ_k ∂_h dJ_k
                      + J_kᵀ (Ψ(∂_hJ_k v) J_k + Ψ_k ∂_hJ_k)                                  (24b)
        ∂C/∂v_h     = Σ_k J_kᵀ (Ψ(J_k^h) J_k + Λ_k ∂_hJ_k)                                   (24c)
        ∂_h g       = Σ_k (∂_hJ_kᵀ Λ_k − J_kᵀ Λ_k J_k^h×) γ_k                                (24d)

    Ψ(V) = Λ_k V× − (V×)ᵀ Λ_k, Ψ_k = Ψ(V_k), J_k^h is column h and γ_k = Ad_{0,k}⁻¹ (−gravity; 0);
    rotors on joints that turn add to (24c), springs to (24d). Sums are over the velocities h that
    move body k: all terms of the others are zero.
    dM_dq[i, j, h] = ∂M_ij/∂q_h, and likewise for the others. nv³ numbers each: 30 000 for a
    humanoid of 31 velocities, of which most are zero.

    Cites: [Garofalo2013, eq. (24)].
    """
    xp = namespace(q, v)
    (J, J_h), (dJ, dJ_h) = jacobian_derivatives(robot, q), jacobian_rate_derivatives(robot, q, v)
    gamma, n, moving = gravity_accelerations(robot, q), robot.nv, moving_velocities(robot)
    M_h, C_h, C_v = ([xp.zeros((n, n)) for _ in range(n)] for _ in range(3))
    g_h = [xp.zeros(n) for _ in range(n)]
    for k, _, L in with_inertia(robot):
        Psi_k = passive_part(L, J[k] @ v)
        F = Psi_k @ J[k] + L @ dJ[k]
        for h in moving[k]:
            D, column = J_h[k][h], J[k][:, h]
            half = J[k].T @ (L @ D)
            M_h[h] = M_h[h] + half.T + half                                            # (24a)
            C_h[h] = (C_h[h] + D.T @ F + J[k].T @ (L @ dJ_h[k][h])
                      + J[k].T @ (passive_part(L, D @ v) @ J[k] + Psi_k @ D))          # (24b)
            C_v[h] = C_v[h] + J[k].T @ (passive_part(L, column) @ J[k]) + half         # (24c)
            weight = L @ gamma[k]
            g_h[h] = g_h[h] + D.T @ weight - J[k].T @ (L @ (crm(column) @ gamma[k]))   # (24d)
    if not n:
        cube = xp.zeros((0, 0, 0))
        return StateDerivatives(cube, cube, cube, xp.zeros((0, 0)))
    return StateDerivatives(xp.stack(M_h, axis=2), xp.stack(C_h, axis=2),
                            xp.stack(C_v, axis=2) + rotor_symbols(robot, v),
                            xp.stack(g_h, axis=1) + spring_stiffness(robot, q))
