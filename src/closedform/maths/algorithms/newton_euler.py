"""The recursions for M, C v, g, τ and a: the same quantities as `closed_form`, in fewer operations.

Motion is known by angular velocity ω, angular acceleration ω̇ and the acceleration a of the frame's
origin; mass by the moments m, h, Σ about it (`moments`). Force and moment of a body are then linear
in (m, h, Σ):

    U = ω̇~ + ω~ω~          f = m a + U h          n = vee(U Σ − (U Σ)ᵀ) + h × a

so that every zero among the parameters saves operations when this is recorded.

Cites: [LuhWalkerPaul1980] for the torque; [WalkerOrin1982, method 3] for M by composite bodies;
[KhalilKleinfinger1987] for moments about the origins and the products of U that are shared.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import add
from typing import NamedTuple

import numpy as np

from closedform.arrays import Array, Namespace, namespace
from closedform.maths.algebra.entries import Entries, diagonal, enter, enter_twice, tensor
from closedform.maths.algebra.ldl import branch_solve
from closedform.maths.algebra.trees import subtree_sums
from closedform.maths.algorithms.applicability import shallow
from closedform.maths.algorithms.joint_steps import (
    Crossing,
    JointStep,
    Symmetric,
    at_ancestors,
    joint_steps,
    twist_in_segment,
    wrench_in_parent,
)
from closedform.maths.algorithms.moments import Moments, moments
from closedform.maths.kinematics import body_segments, segment_parents
from closedform.maths.loads import weight_torque, with_loads
from closedform.maths.pull_backs import COVECTOR, FORM, motion_torque, pulled_back, solved
from closedform.maths.quantity import folds, joins
from closedform.maths.spatial import cross, force_cross, motion_cross
from closedform.model.robot import Robot
from closedform.model.segments import Segment


class OriginMotion(NamedTuple):
    """Motion of a frame, in its own axes."""

    w: Array   # (3,) angular velocity
    U: Array   # (3, 3) ω̇~ + ω~ω~
    dw: Array  # (3,) angular acceleration
    a: Array   # (3,) acceleration of the origin, less gravity


def rotation_rates(w: Array, dw: Array) -> Array:
    """U = ω̇~ + ω~ω~, (3, 3): U x is the acceleration of the point x relative to the origin."""
    x, y, z = w
    xx, yy, zz, xy, xz, yz = x * x, y * y, z * z, x * y, x * z, y * z
    return of_products((xx, xy, yy, xz, yz, zz), dw)


def of_products(products: Symmetric, dw: Array) -> Array:
    """U, (3, 3), with the products of the entries of ω in place of ω."""
    xx, xy, yy, xz, yz, zz = products
    return namespace(dw, np.asarray(xx)).array([[-(yy + zz), xy - dw[2], xz + dw[1]],
                                                [xy + dw[2], -(xx + zz), yz - dw[0]],
                                                [xz - dw[1], yz + dw[0], -(xx + yy)]])


def body_force(body: Moments, squares: Array, U: Array, a: Array) -> Array:
    """Force and moment (f; n) about the origin, (6,), that move a body as U and a say.

        f = m a + U h,   n = vee(U Σ − (U Σ)ᵀ) + h × a

    The differences of U's diagonal are taken as those of ω's squares: U_zz − U_yy = ω_z² − ω_y².
    """
    xp = namespace(squares, U, a)
    m, h, (xx, xy, yy, xz, yz, zz) = body
    x, y, z = squares
    f = m * a + U @ h
    n = xp.stack([
        U[2, 1] * yy - U[1, 2] * zz + U[2, 0] * xy - U[1, 0] * xz + (z - y) * yz,
        U[0, 2] * zz - U[2, 0] * xx + U[0, 1] * yz - U[2, 1] * xy + (x - z) * xz,
        U[1, 0] * xx - U[0, 1] * yy + U[1, 2] * xz - U[0, 2] * yz + (y - x) * xy])
    return xp.concatenate([f, n + cross(h, a)])


def next_motion(
    segment: Segment, step: JointStep, parent: OriginMotion, v: Array, a: Array | None,
) -> OriginMotion:
    """Motion of a segment from its parent's; a None: no accelerations of the joints.

        ω_k  = Rᵀ ω_p + s_ω
        ω̇_k  = Rᵀ ω̇_p + (Rᵀ ω_p) × s_ω + ṡ_ω
        a_k  = Rᵀ (a_p + U_p p) + (2 Rᵀ ω_p + s_ω) × s_v + ṡ_v

    with the joint's twist (s_v; s_ω) = S v and its rate (ṡ_v; ṡ_ω) = S a.
    """
    S, w, dw = segment.S, step.down(parent.w), step.down(parent.dw)
    linear = step.down(parent.a + parent.U @ step.p)
    if segment.v_index:
        s = S @ segment.velocities(v)
        linear = linear + cross(2 * w + s[3:], s[:3])
        dw = dw + cross(w, s[3:])
        w = w + s[3:]
        if a is not None:
            ds = S @ segment.velocities(a)
            linear, dw = linear + ds[:3], dw + ds[3:]
    return OriginMotion(w, rotation_rates(w, dw), dw, linear)


def world_motion(robot: Robot, xp: Namespace, gravity: bool = True) -> OriginMotion:
    """The world's motion: at rest, accelerated against gravity."""
    zero = xp.zeros(3)
    return OriginMotion(zero, xp.zeros((3, 3)), zero, -robot.gravity if gravity else zero)


@joins
@pulled_back(COVECTOR)
@with_loads
def inverse_dynamics(
    robot: Robot, q: Array, v: Array, a: Array, wrenches: Array | None = None,
) -> Array:
    """τ = M a + C v + g − Σ J_kᵀ F_k by Newton and Euler, (nv,): O(n)."""
    tau = newton_euler(robot, q, v, a, wrenches)
    return tau + robot.rotor_inertia * a


@joins
@pulled_back(COVECTOR)
def generalized_momentum(robot: Robot, q: Array, v: Array) -> Array:
    """p = M v, (nv,): the torque of the accelerations v at rest without gravity."""
    still = namespace(q, v).zeros(robot.nv)
    return newton_euler(robot, q, still, v, gravity=False) + robot.rotor_inertia * v


@joins
@pulled_back(motion_torque, generalized_momentum)
@with_loads
def bias(robot: Robot, q: Array, v: Array) -> Array:
    """C v + g, (nv,): Newton–Euler without accelerations."""
    return newton_euler(robot, q, v, None)


@joins
@pulled_back(motion_torque, generalized_momentum)
@with_loads
def coriolis_torque(robot: Robot, q: Array, v: Array) -> Array:
    """C v, (nv,): Newton–Euler without accelerations and gravity."""
    return newton_euler(robot, q, v, None, gravity=False)


def newton_euler(
    robot: Robot, q: Array, v: Array, a: Array | None, wrenches: Array | None = None,
    gravity: bool = True,
) -> Array:
    """Joint torques, (nv,), without the rotors'; a None: no accelerations of the joints.

    Motions from root to leaves (`next_motion`), forces of the bodies (`body_force`) less the
    wrenches, and their sums from leaves to root (`joint_torques`).
    """
    xp = namespace(q, v, *(x for x in (a, wrenches) if x is not None))
    way = joint_steps(robot, q)
    _, F = motions_and_forces(robot, way, v, a, wrenches, xp, gravity)
    return joint_torques(robot, way, F, xp)


def motions_and_forces(
    robot: Robot, way: list[JointStep], v: Array, a: Array | None, wrenches: Array | None,
    xp: Namespace, gravity: bool = True,
) -> tuple[list[OriginMotion], list[Array]]:
    """Motions of all segments, and the wrenches (f; n) on them; lists start with the world."""
    motion = [world_motion(robot, xp, gravity)]
    F: list[Array] = [xp.zeros(6)]
    for segment, step in zip(robot.segments, way, strict=True):
        here = next_motion(segment, step, segment.above(motion), v, a)
        motion.append(here)
        F.append(xp.zeros(6) if segment.inertia is None else
                 body_force(moments(segment.inertia), here.w * here.w, here.U, here.a))
    if wrenches is not None:
        for number, k in enumerate(body_segments(robot)):
            F[k] = F[k] - wrenches[number]
    return motion, F


def joint_torques(robot: Robot, way: Sequence[Crossing], F: list[Array], xp: Namespace) -> Array:
    """Torques of the wrenches F_k on all segments, (nv,), from leaves to root.

        τ_k = S_kᵀ F_k,   F_p += X_kpᵀ F_k
    """
    behind = subtree_sums(F, segment_parents(robot), add,
                          lambda k, F_k: wrench_in_parent(way[k - 1], F_k))
    tau: Entries = {}
    for segment, F_k in zip(robot.segments, behind[1:], strict=True):
        for c, i in enumerate(segment.v_index):
            enter(tau, (i,), segment.S[:, c] @ F_k)
    return tensor(tau, (robot.nv,), xp)


@joins
@pulled_back(COVECTOR)
@with_loads
def gravity_torque(robot: Robot, q: Array) -> Array:
    """g, (nv,): weights of subtrees, from leaves to root."""
    return weight_torque(robot, q)


@folds
@pulled_back(COVECTOR)
@with_loads
def passivity_inverse_dynamics(robot: Robot, q: Array, v: Array, v_r: Array, a_r: Array) -> Array:
    """M a_r + C v_r + g with the C of (6b), (nv,): Newton–Euler with a second velocity, O(n).

        F = Λ A_r + (Λ V× − (V×)ᵀ Λ) V_r

    in the body's frame, with V = J v, V_r = J v_r and A_r = J a_r + dJ v_r + γ, γ being −gravity.
    """
    xp = namespace(q, v, v_r, a_r)
    way, zero = joint_steps(robot, q), xp.zeros(6)
    V, V_r, A_r, F = [zero], [zero], [xp.concatenate([-robot.gravity, xp.zeros(3)])], [zero]
    for segment, step in zip(robot.segments, way, strict=True):
        V_p, seen, A_p = (twist_in_segment(step, X[segment.parent]) for X in (V, V_r, A_r))
        s, s_r, ds_r = (segment.S @ segment.velocities(x) for x in (v, v_r, a_r))
        V_k, V_rk, A_k = V_p + s, seen + s_r, A_p - motion_cross(s, seen) + ds_r
        V, V_r, A_r = [*V, V_k], [*V_r, V_rk], [*A_r, A_k]
        Lambda = moments(segment.inertia)
        F.append(Lambda @ (A_k + motion_cross(V_k, V_rk)) + force_cross(V_k, Lambda @ V_rk))
    return joint_torques(robot, way, F, xp) + robot.rotor_inertia * a_r


def composites(robot: Robot, way: list[JointStep]) -> list[Moments]:
    """Moments of every segment with all behind it, about its frame's origin; the world is first."""
    bodies = [moments(None), *(moments(segment.inertia) for segment in robot.segments)]
    return subtree_sums(bodies, segment_parents(robot), Moments.plus,
                        lambda k, body: body.in_parent(way[k - 1]))


@folds
@pulled_back(FORM)
def mass_matrix(robot: Robot, q: Array) -> Array:
    """M by composite bodies, (nv, nv), in O(n d).

        M_ij = S_iᵀ (Λ S_j)

    Λ is the composite inertia behind joint j, and its momentum Λ S_j is taken to the ancestors i.
    """
    way, parent = joint_steps(robot, q), segment_parents(robot)
    composite = composites(robot, way)
    M = diagonal(robot.rotor_inertia)
    for k, segment in enumerate(robot.segments, start=1):
        for c, j in enumerate(segment.v_index):
            F = composite[k] @ segment.S[:, c]
            enter(M, (j, j), segment.S[:, c] @ F)
            for d in range(c + 1, len(segment.v_index)):
                enter_twice(M, segment.v_index[d], j, segment.S[:, d] @ F)
            for above, (F_i,) in at_ancestors(way, parent, k, F):
                for d, i in enumerate(robot.segments[above - 1].v_index):
                    enter_twice(M, i, j, robot.segments[above - 1].S[:, d] @ F_i)
    return tensor(M, (robot.nv, robot.nv), namespace(q))


@shallow
@pulled_back(solved, branch_solve, mass_matrix, inverse_dynamics)
@with_loads
def forward_dynamics(
    robot: Robot, q: Array, v: Array, tau: Array, wrenches: Array | None = None,
) -> Array:
    """a = M⁻¹ (τ + Σ J_kᵀ F_k − C v − g), (nv,), by the branch-sparse factor of M."""
    force = tau - newton_euler(robot, q, v, None, wrenches)
    return branch_solve(robot, mass_matrix(robot, q), force)
