"""Second derivatives of inverse dynamics in closed form.

`closedform.maths.algorithms.one_frame.second` has the O(n d²) algorithm that is held to it.

Cites: [Garofalo2013, eqs. (31), (32)], differentiated once more.
"""

from __future__ import annotations

from typing import NamedTuple

from closedform.arrays import Array, namespace
from closedform.maths import state_pull_backs
from closedform.maths.arguments import checked
from closedform.maths.definitions.closed_form import gravity_accelerations, with_inertia
from closedform.maths.definitions.inverse_derivatives import inverse_dynamics_and_derivatives
from closedform.maths.definitions.state_derivatives import (
    jacobian_derivatives,
    jacobian_rate_derivatives,
)
from closedform.maths.kinematics import motion_subspace, relative_poses
from closedform.maths.pull_backs import pulled_back
from closedform.maths.rotors import rotor_second_derivative
from closedform.maths.spatial import crf, crm, motion_transform
from closedform.maths.springs import has_turning_springs, spring_second_derivatives
from closedform.model.robot import Robot


class InverseDynamicsSecondDerivatives(NamedTuple):
    """Second derivatives of τ(q, v, a), (nv, nv, nv) each; d2tau_dqdv[i, j, k] = ∂²τ_i/∂q_j∂v_k.

    d2tau_dqdq[i, j, k] = ∂_k (∂_j τ_i): first along j, then along k. Those of joints with
    quasi-velocities do not commute: ∂_k ∂_j − ∂_j ∂_k is the derivative along S_k × S_j.
    """

    d2tau_dqdq: Array
    d2tau_dqdv: Array
    d2tau_dvdv: Array
    d2tau_dqda: Array


Pairs = list[list[Array]]
"""[h][l]: first along h, then along l."""


def jacobian_second_derivatives(robot: Robot, q: Array) -> list[Pairs]:
    """∂_l ∂_h J_k, [k][h][l], of the world and of each segment: h first, then l.

        ∂_l ∂_h J_k = X_kp ∂_l∂_h J_p − S_k^l × X_kp ∂_h J_p − S_k^h × ∂_l J_k
    """
    xp = namespace(q)
    _, J_h = jacobian_derivatives(robot, q)
    n = range(robot.nv)
    found: list[Pairs] = [[[xp.zeros((6, robot.nv)) for _ in n] for _ in n]]
    for k, (segment, T_pk) in enumerate(
            zip(robot.segments, relative_poses(robot, q), strict=True), start=1):
        X_kp, p = motion_transform(*T_pk), segment.parent
        S_E = motion_subspace(segment, robot.nv, xp)
        S = [crm(S_E[:, h]) for h in n]
        XJ_h = [X_kp @ J_h[p][h] for h in n]
        found.append([[X_kp @ found[p][h][l] - S[l] @ XJ_h[h] - S[h] @ J_h[k][l] for l in n]
                      for h in n])
    return found


def jacobian_rate_second_derivatives(robot: Robot, q: Array, v: Array) -> list[Pairs]:
    """∂_l ∂_h dJ_k, [k][h][l], of the world and of each segment.

        ∂_l ∂_h dJ_k = X_kp ∂_l∂_h dJ_p − S_k^l × X_kp ∂_h dJ_p
                       − S_k^h × (X_kp ∂_l dJ_p − S_k^l × X_kp dJ_p) − ξ_k × ∂_l∂_h J_k
    """
    xp = namespace(q, v)
    dJ, dJ_h = jacobian_rate_derivatives(robot, q, v)
    J_hl = jacobian_second_derivatives(robot, q)
    n = range(robot.nv)
    found: list[Pairs] = [[[xp.zeros((6, robot.nv)) for _ in n] for _ in n]]
    for k, (segment, T_pk) in enumerate(
            zip(robot.segments, relative_poses(robot, q), strict=True), start=1):
        X_kp, p = motion_transform(*T_pk), segment.parent
        S_E = motion_subspace(segment, robot.nv, xp)
        S, xi = [crm(S_E[:, h]) for h in n], crm(segment.S @ segment.velocities(v))
        XdJ_h = [X_kp @ dJ_h[p][h] for h in n]
        inner = [XdJ_h[l] - S[l] @ (X_kp @ dJ[p]) for l in n]
        found.append([[X_kp @ found[p][h][l] - S[l] @ XdJ_h[h] - S[h] @ inner[l]
                       - xi @ J_hl[k][h][l] for l in n] for h in n])
    return found


@checked
@pulled_back(state_pull_backs.second_derivatives, inverse_dynamics_and_derivatives)
def inverse_dynamics_second_derivatives(
    robot: Robot, q: Array, v: Array, a: Array,
) -> InverseDynamicsSecondDerivatives:
    """∂²τ/∂q∂q, ∂²τ/∂q∂v, ∂²τ/∂v∂v and ∂²τ/∂q∂a, (nv, nv, nv) each; the last is ∂M/∂q.

        τ = Σ_k J_kᵀ W_k          W_k = Λ_k A_k + V_k×* Λ_k V_k
        V_k = J_k v               A_k = J_k a + dJ_k v + γ_k

    differentiated twice by the product rule, with ∂_h γ_k = −J_k^h × γ_k and ∂dJ_k/∂v_h = ∂_h J_k.
    ∂τ/∂a∂v and ∂τ/∂a∂a are zero. The order of two derivatives by q is first j, then k.
    """
    xp = namespace(q, v, a)
    n, numbers = robot.nv, range(robot.nv)
    J, J_h = jacobian_derivatives(robot, q)
    dJ, dJ_h = jacobian_rate_derivatives(robot, q, v)
    J_hl = jacobian_second_derivatives(robot, q)
    dJ_hl = jacobian_rate_second_derivatives(robot, q, v)
    gammas = gravity_accelerations(robot, q)
    total = [[[xp.zeros(n) for _ in numbers] for _ in numbers] for _ in range(4)]
    for k, _, L in with_inertia(robot):
        gamma = gammas[k]
        body = _BodyDerivatives(L, J[k] @ v, J[k] @ a + dJ[k] @ v + gamma)
        ad = [crm(J[k][:, h]) for h in numbers]
        D, DD = J_h[k], J_hl[k]
        V_h = [D[h] @ v for h in numbers]
        A_h = [D[h] @ a + dJ_h[k][h] @ v - ad[h] @ gamma for h in numbers]
        A_v = [D[h] @ v + dJ[k][:, h] for h in numbers]
        W = body.force()
        W_h = [body.first(V_h[h], A_h[h]) for h in numbers]
        W_v = [body.first(J[k][:, h], A_v[h]) for h in numbers]
        for j in numbers:
            for l in numbers:
                A_jl = (DD[j][l] @ a + dJ_hl[k][j][l] @ v
                        - crm(D[l][:, j]) @ gamma + ad[j] @ (ad[l] @ gamma))
                W_jl = body.second(V_h[j], V_h[l], DD[j][l] @ v, A_jl)
                W_jv = body.second(V_h[j], J[k][:, l], D[j][:, l], DD[l][j] @ v + dJ_h[k][j][:, l])
                W_vv = body.second(J[k][:, j], J[k][:, l], xp.zeros(6), D[j][:, l] + D[l][:, j])
                terms = (DD[j][l].T @ W + D[j].T @ W_h[l] + D[l].T @ W_h[j] + J[k].T @ W_jl,
                         D[j].T @ W_v[l] + J[k].T @ W_jv,
                         J[k].T @ W_vv,
                         D[j].T @ (L @ J[k][:, l]) + J[k].T @ (L @ D[j][:, l]))
                for part, term in zip(total, terms, strict=True):
                    part[j][l] = part[j][l] + term
    if not n:
        return InverseDynamicsSecondDerivatives(*(xp.zeros((0, 0, 0)) for _ in range(4)))
    qq, qv, vv, qa = (xp.stack([xp.stack(row, axis=1) for row in part], axis=1) for part in total)
    if has_turning_springs(robot):
        qq = qq + spring_second_derivatives(robot, q)
    return InverseDynamicsSecondDerivatives(qq, qv, vv + rotor_second_derivative(robot, v), qa)


class _BodyDerivatives(NamedTuple):
    """W = Λ A + V×* Λ V of one body and its derivatives."""

    L: Array
    V: Array
    A: Array

    def force(self) -> Array:
        return self.L @ self.A + crf(self.V) @ (self.L @ self.V)

    def first(self, dV: Array, dA: Array) -> Array:
        """Λ dA + dV×* Λ V + V×* Λ dV."""
        return self.L @ dA + crf(dV) @ (self.L @ self.V) + crf(self.V) @ (self.L @ dV)

    def second(self, dV: Array, eV: Array, deV: Array, deA: Array) -> Array:
        """The same along deV, deA, and dV×* Λ eV + eV×* Λ dV."""
        mixed = crf(dV) @ (self.L @ eV) + crf(eV) @ (self.L @ dV)
        return self.first(deV, deA) + mixed
