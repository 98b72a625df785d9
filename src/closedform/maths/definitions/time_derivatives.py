"""Time derivatives of M, C and g: the closed forms, and the recursion that computes the same.

Cites: [Garofalo2013, eqs. (25)-(29)], with (25b) corrected and all of it taken to second order.
"""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import NamedTuple

from closedform.arrays import OBJECTS, Array, namespace
from closedform.maths.algorithms.jacobian_jets import carried
from closedform.maths.algorithms.joint_steps import steps
from closedform.maths.algorithms.newton_euler import Moments
from closedform.maths.algorithms.one_frame.frame import (
    OneFrame,
    Twist,
    in_one_frame,
    passive_operator,
    rotations_seen_from,
    velocity_matrix,
)
from closedform.maths.arguments import checked
from closedform.maths.definitions.closed_form import with_inertia
from closedform.maths.kinematics import motion_subspace, relative_poses, world_poses
from closedform.maths.scalars.series import (
    coefficient,
    derivative,
    derivatives,
    from_coefficients,
    from_derivatives,
    known_terms,
    truncated,
)
from closedform.maths.spatial import crm, cross, motion_transform, skew
from closedform.model.robot import Robot


class TimeDerivatives(NamedTuple):
    """First and second time derivatives along a motion; C is the passive one of (6b)."""

    dM: Array    # (nv, nv)
    ddM: Array   # (nv, nv)
    dC: Array    # (nv, nv)
    ddC: Array   # (nv, nv)
    dg: Array    # (nv,)
    ddg: Array   # (nv,)


# ---------------------------------------------------------------------- closed forms
def jacobian_third_rates(
    robot: Robot, q: Array, v: Array, a: Array, j: Array,
) -> list[tuple[Array, Array, Array, Array]]:
    """J_k, dJ_k, ddJ_k, dddJ_k of the world and of each segment, each (6, nv).

        J_k = X J_p + S_k E_k,  and its derivatives with
        Ẋ = −ξ× X,   Ẍ = (ξ×ξ× − ξ̇×) X,   X⃛ = (2 ξ̇×ξ× + ξ×ξ̇× − ξ×ξ×ξ× − ξ̈×) X

    for ξ = S_k v_k. The first two are (28) and (29) of the citation.

    Cites: [Garofalo2013, eqs. (27)-(29)].
    """
    xp = namespace(q, v, a, j)
    zero = xp.zeros((6, robot.nv))
    J = [(zero, zero, zero, zero)]
    for segment, T_pk in zip(robot.segments, relative_poses(robot, q), strict=True):
        X = motion_transform(*T_pk)
        x, dx, ddx = (crm(segment.S @ segment.velocities(rate)) for rate in (v, a, j))
        dX, ddX = -x @ X, (x @ x - dx) @ X
        dddX = (2 * dx @ x + x @ dx - x @ x @ x - ddx) @ X
        J_p, dJ_p, ddJ_p, dddJ_p = J[segment.parent]
        J.append((X @ J_p + motion_subspace(segment, robot.nv, xp),
                  X @ dJ_p + dX @ J_p,
                  X @ ddJ_p + 2 * dX @ dJ_p + ddX @ J_p,
                  X @ dddJ_p + 3 * dX @ ddJ_p + 3 * ddX @ dJ_p + dddX @ J_p))
    return J


@checked
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
    J_all, T = jacobian_third_rates(robot, q, v, a, j), world_poses(robot, q)
    zero, none = xp.zeros((robot.nv, robot.nv)), xp.zeros(robot.nv)
    total = TimeDerivatives(zero, zero, zero, zero, none, none)
    for k, _, L in with_inertia(robot):
        J, dJ, ddJ, dddJ = J_all[k]
        twists = J @ v, J @ a + dJ @ v, J @ j + 2 * dJ @ a + ddJ @ v
        ad, dad, ddad = (crm(V) for V in twists)
        Psi, dPsi, ddPsi = (L @ x - x.T @ L for x in (ad, dad, ddad))
        gamma = xp.concatenate([T[k][0].T @ -robot.gravity, xp.zeros(3)])
        dgamma = -ad @ gamma
        ddgamma = -dad @ gamma - ad @ dgamma
        B, dB = L @ dJ + Psi @ J, L @ ddJ + dPsi @ J + Psi @ dJ
        ddB = L @ dddJ + ddPsi @ J + 2 * dPsi @ dJ + Psi @ ddJ
        terms = (dJ.T @ L @ J + J.T @ L @ dJ,
                 ddJ.T @ L @ J + 2 * dJ.T @ L @ dJ + J.T @ L @ ddJ,
                 dJ.T @ B + J.T @ dB,
                 ddJ.T @ B + 2 * dJ.T @ dB + J.T @ ddB,
                 dJ.T @ L @ gamma + J.T @ L @ dgamma,
                 ddJ.T @ L @ gamma + 2 * dJ.T @ L @ dgamma + J.T @ L @ ddgamma)
        total = TimeDerivatives(*map(add, total, terms))
    return total


# ---------------------------------------------------------------------- in one frame
def time_derivatives_in_one_frame(
    robot: Robot, q: Array, v: Array, a: Array, j: Array, base: int = 0,
) -> TimeDerivatives:
    """`time_derivatives` in O(n d): C and g as Taylor series in a frame that stands still.

        C_ij(t) = S_i · (Λ Ṡ_j + O S_j),   g_j(t) = S_j · (m γ; h × γ)
        Ṁ = C + Cᵀ,   M̈ = Ċ + Ċᵀ

    with the composites Λ, O, m, h of `one_frame`; γ is constant. `base` names the segment at whose
    place the frame stands, 0 the world.
    """
    xp = namespace(q, v, a, j)
    here, rate = _moving(robot, q, from_derivatives([v, a, j]), base)
    C = derivatives(velocity_matrix(robot, here, rate, passive_operator, OBJECTS), 3, xp)
    R, _ = rotations_seen_from(robot, steps(robot, q), base, xp)[0]
    g = derivatives(_weight(robot, here, R @ -robot.gravity), 3, xp)
    return TimeDerivatives(C[0] + C[0].T, C[1] + C[1].T, C[1], C[2], g[1], g[2])


def _moving(
    robot: Robot, q: Array, v: Array, base: int,
) -> tuple[OneFrame, list[list[Twist]]]:
    """Screws, twists and moments as series in the standing frame, and the rates of the screws."""
    start = in_one_frame(robot, q, coefficient(v, 0), base)
    terms = known_terms(v, 1)
    V = [from_coefficients([OBJECTS.zeros(6)] * terms)]
    here, rate = OneFrame([[]], [(V[0][:3], V[0][3:])], [None]), [list[Twist]()]
    for segment, screws, body in zip(robot.segments, start.S[1:], start.body[1:], strict=True):
        own, V_p = segment.velocities(v), V[segment.parent]
        columns = [OBJECTS.concatenate(s) for s in screws]
        S_0 = OBJECTS.stack(columns, axis=1) if columns else OBJECTS.zeros((6, 0))
        S = carried(S_0, V_p, own if len(own) > 1 else None)
        V_k, S_k, dS_k = V_p + S @ own, truncated(S, terms), derivative(S)
        V.append(V_k)
        here.S.append([(s[:3], s[3:]) for s in S_k.T])
        here.V.append((V_k[:3], V_k[3:]))
        here.body.append(None if body is None else _moved_moments(body, V_k))
        rate.append([(s[:3], s[3:]) for s in dS_k.T])
    return here, rate


def _moved_moments(body: Moments, V: Array) -> Moments:
    """The series of a body's moments when it moves with the twist V = (u; ω):

        ḣ = m u + ω × h,    Σ̇ = G + Gᵀ,   G = ω~ Σ + u hᵀ
    """
    xx, xy, yy, xz, yz, zz = body.Sigma
    terms = known_terms(V, 1)
    u, w = ([coefficient(part, k) for k in range(terms)] for part in (V[:3], V[3:]))
    h, Sigma = [body.h], [OBJECTS.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])]
    for m in range(terms - 1):
        past = range(m + 1)
        G = reduce(add, [skew(w[i]) @ Sigma[m - i] + u[i][:, None] * h[m - i] for i in past])
        turning = [cross(w[i], h[m - i]) for i in past]
        h.append(reduce(add, turning, body.m * u[m]) / (m + 1))
        Sigma.append((G + G.T) / (m + 1))
    A = from_coefficients(Sigma)
    return Moments(body.m, from_coefficients(h),
                   (A[0, 0], A[0, 1], A[1, 1], A[0, 2], A[1, 2], A[2, 2]))


def _weight(robot: Robot, here: OneFrame, gamma: Array) -> Array:
    """g as series, (nv,): S_j · (m γ; h × γ) with the moments behind joint j."""
    m = [0 if body is None else body.m for body in here.body]
    h = [OBJECTS.zeros(3) if body is None else body.h for body in here.body]
    g = [0] * robot.nv
    for k in range(len(robot.segments), 0, -1):
        segment = robot.segments[k - 1]
        for i, (s_v, s_w) in zip(segment.v_index, here.S[k], strict=True):
            g[i] = g[i] + (s_v @ (m[k] * gamma) + s_w @ cross(h[k], gamma))
        m[segment.parent] += m[k]
        h[segment.parent] = h[segment.parent] + h[k]
    return OBJECTS.array(g)
