"""Time derivatives of M, C and g in closed form.

`closedform.maths.algorithms.time_derivatives` has the algorithm that is held to it.

Cites: [Garofalo2013, eq. (25)], with (25b) corrected and all of it taken to second order.
"""

from __future__ import annotations

from operator import add
from typing import NamedTuple

from closedform.arrays import Array, namespace
from closedform.maths import pull_backs
from closedform.maths.arguments import checked
from closedform.maths.definitions.closed_form import gravity_accelerations, with_inertia
from closedform.maths.definitions.dynamics_matrices import passive_dynamics_matrices
from closedform.maths.kinematics import jacobian_second_rates, relative_poses
from closedform.maths.pull_backs import pulled_back
from closedform.maths.rotors import rotor_coriolis
from closedform.maths.spatial import crm, motion_transform, passive_part
from closedform.maths.springs import spring_jet
from closedform.model.robot import Robot


class TimeDerivatives(NamedTuple):
    """First and second time derivatives along a motion; C is the passive one of (6b)."""

    dM: Array    # (nv, nv)
    ddM: Array   # (nv, nv)
    dC: Array    # (nv, nv)
    ddC: Array   # (nv, nv)
    dg: Array    # (nv,)
    ddg: Array   # (nv,)


def jacobian_third_rates(
    robot: Robot, q: Array, v: Array, a: Array, j: Array,
) -> list[tuple[Array, Array, Array, Array]]:
    """J_k, dJ_k, ddJ_k, dddJ_k of the world and of each segment, each (6, nv).

    The last is (29) of the citation, differentiated once more, with ξ = S_k v_k and X for X_kp:

        J⃛_k = X J⃛_p − 2 ξ× X J̈_p + (ξ×ξ× − ξ̇×) X J̇_p − ξ̈× X J_p − 2 ξ̇× J̇_k − ξ× J̈_k
    """
    J, dJ, ddJ = jacobian_second_rates(robot, q, v, a)
    dddJ = [namespace(q, v, a, j).zeros((6, robot.nv))]
    for k, (segment, T_pk) in enumerate(
            zip(robot.segments, relative_poses(robot, q), strict=True), start=1):
        X, p = motion_transform(*T_pk), segment.parent
        x, dx, ddx = (crm(segment.S @ segment.velocities(rate)) for rate in (v, a, j))
        dddJ.append(X @ dddJ[p] - 2 * x @ (X @ ddJ[p]) + (x @ x - dx) @ (X @ dJ[p])
                    - ddx @ (X @ J[p]) - 2 * dx @ dJ[k] - x @ ddJ[k])
    return list(zip(J, dJ, ddJ, dddJ, strict=True))


@checked
@pulled_back(pull_backs.time_derivatives, passive_dynamics_matrices)
def time_derivatives(robot: Robot, q: Array, v: Array, a: Array, j: Array) -> TimeDerivatives:
    """Ṁ, M̈, Ċ, C̈ (nv, nv), ġ and g̈ (nv,) of a motion with velocity v, acceleration a, jerk j.

        M = Σ_k Jᵀ Λ J            C = Σ_k Jᵀ B,  B = Λ J̇ + Ψ J            g = Σ_k Jᵀ Λ γ

        Ṁ = Σ J̇ᵀ Λ J + Jᵀ Λ J̇                                            (25a)
        M̈ = Σ J̈ᵀ Λ J + 2 J̇ᵀ Λ J̇ + Jᵀ Λ J̈
        Ċ = Σ J̇ᵀ B + Jᵀ Ḃ,             Ḃ = Λ J̈ + Ψ̇ J + Ψ J̇             (25b)
        C̈ = Σ J̈ᵀ B + 2 J̇ᵀ Ḃ + Jᵀ B̈,   B̈ = Λ J⃛ + Ψ̈ J + 2 Ψ̇ J̇ + Ψ J̈
        ġ = Σ J̇ᵀ Λ γ + Jᵀ Λ γ̇,         γ̇ = −V× γ                         (25c)
        g̈ = Σ J̈ᵀ Λ γ + 2 J̇ᵀ Λ γ̇ + Jᵀ Λ γ̈,   γ̈ = −V̇× γ − V× γ̇

    Ψ = Λ V× − (V×)ᵀ Λ, and Ψ̇, Ψ̈ are the same of V̇ = J a + J̇ v and V̈ = J j + 2 J̇ a + J̈ v. As
    printed, (25b) lacks a dot on J̇ and two on adj; `tests/papers/test_garofalo_time.py` shows it.

    Cites: [Garofalo2013, eq. (25)].
    """
    xp = namespace(q, v, a, j)
    J_all, gammas = jacobian_third_rates(robot, q, v, a, j), gravity_accelerations(robot, q)
    zero, none = xp.zeros((robot.nv, robot.nv)), xp.zeros(robot.nv)
    total = TimeDerivatives(zero, zero, zero, zero, none, none)
    for k, _, L in with_inertia(robot):
        J, dJ, ddJ, dddJ = J_all[k]
        twists = J @ v, J @ a + dJ @ v, J @ j + 2 * dJ @ a + ddJ @ v
        Psi, dPsi, ddPsi = (passive_part(L, V) for V in twists)
        gamma = gammas[k]
        dgamma = -crm(twists[0]) @ gamma
        ddgamma = -crm(twists[1]) @ gamma - crm(twists[0]) @ dgamma
        B, dB = L @ dJ + Psi @ J, L @ ddJ + dPsi @ J + Psi @ dJ
        ddB = L @ dddJ + ddPsi @ J + 2 * dPsi @ dJ + Psi @ ddJ
        terms = (dJ.T @ L @ J + J.T @ L @ dJ,
                 ddJ.T @ L @ J + 2 * dJ.T @ L @ dJ + J.T @ L @ ddJ,
                 dJ.T @ B + J.T @ dB,
                 ddJ.T @ B + 2 * dJ.T @ dB + J.T @ ddB,
                 dJ.T @ L @ gamma + J.T @ L @ dgamma,
                 ddJ.T @ L @ gamma + 2 * dJ.T @ L @ dgamma + J.T @ L @ ddgamma)
        total = TimeDerivatives(*map(add, total, terms))
    _, dg, ddg = spring_jet(robot, q, [v, a])
    own = zero, zero, rotor_coriolis(robot, a), rotor_coriolis(robot, j), dg, ddg
    return TimeDerivatives(*map(add, total, own))
