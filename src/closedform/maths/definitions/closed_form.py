"""M, C, g in closed form: sums over bodies of products of J_k, dJ_k and the body inertias.

These are the definitions; `maths.algorithms.newton_euler` has the algorithms that are held to them.

Cites: [Garofalo2013, eqs. (4)-(6)].
"""

from __future__ import annotations

from collections.abc import Iterator

from closedform.arrays import Array, namespace
from closedform.maths.arguments import checked
from closedform.maths.kinematics import (
    body_segments,
    jacobian_rates,
    jacobians,
    world_poses,
)
from closedform.maths.pull_backs import COVECTOR, FORM, connection, pulled_back
from closedform.maths.regularity import solved
from closedform.maths.rotors import rotor_coriolis
from closedform.maths.spatial import christoffel_part, passive_part
from closedform.maths.springs import spring_torque
from closedform.model.robot import Robot
from closedform.model.segments import Segment


@checked
@pulled_back(FORM)
def mass_matrix(robot: Robot, q: Array) -> Array:
    """The mass matrix, (nv, nv), with the rotors' inertias on its diagonal.

        M = Σ_k J_kᵀ Λ_k J_k + diag(rotor inertias)                   (6a)

    Cites: [Garofalo2013, eq. (6a)].
    """
    J = jacobians(robot, q)
    M = sum(J[k].T @ Lambda_k @ J[k] for k, _, Lambda_k in with_inertia(robot))
    return M + rotor_matrix(robot, q)


@checked
def mass_matrix_inverse(robot: Robot, q: Array) -> Array:
    """M⁻¹, (nv, nv); to solve M x = b, forward dynamics takes fewer operations."""
    M = mass_matrix(robot, q)
    return solved(robot, M, namespace(M).eye(robot.nv)) if robot.nv else M


@checked
@pulled_back(connection, mass_matrix)
def coriolis_matrix(robot: Robot, q: Array, v: Array) -> Array:
    """Garofalo's passive C(q, v), (nv, nv): dM = C + Cᵀ.

        C   = Σ_k J_kᵀ (Λ_k dJ_k + Ψ_k J_k)                           (6b)
        Ψ_k = Λ_k V_k× − (V_k×)ᵀ Λ_k

    and the part of rotors on planar, spherical and free joints (`maths.rotors`).
    `christoffel_coriolis_matrix` is another matrix with the same C v.

    Cites: [Garofalo2013, eq. (6b)]; equal to [MuellerKumar2021, eq. (54)].
    """
    J, dJ = jacobian_rates(robot, q, v)
    C = namespace(q, v).zeros((robot.nv, robot.nv))
    for k, _, Lambda_k in with_inertia(robot):
        Psi_k = passive_part(Lambda_k, J[k] @ v)
        C = C + J[k].T @ (Lambda_k @ dJ[k] + Psi_k @ J[k])
    return C + rotor_coriolis(robot, v, passive_part)


@checked
@pulled_back(connection, mass_matrix)
def christoffel_coriolis_matrix(robot: Robot, q: Array, v: Array) -> Array:
    """Coriolis matrix made of Christoffel symbols, (nv, nv); dM = C + Cᵀ. Pinocchio's C.

        C   = Σ_k J_kᵀ (Λ_k dJ_k + B_k J_k)
        B_k = ½ (Λ_k V_k× − (V_k×)ᵀ Λ_k + (Λ_k V_k)×̄*)

    in body coordinates: with dJ_k + V_k× J_k for the derivative in a fixed frame it is the B of the
    citation.

    Cites: [EcheandiaWensing2021, eqs. (13)-(15)].
    """
    J, dJ = jacobian_rates(robot, q, v)
    C = namespace(q, v).zeros((robot.nv, robot.nv))
    for k, _, Lambda_k in with_inertia(robot):
        B_k = christoffel_part(Lambda_k, J[k] @ v)
        C = C + J[k].T @ (Lambda_k @ dJ[k] + B_k @ J[k])
    return C + rotor_coriolis(robot, v, christoffel_part)


@checked
@pulled_back(COVECTOR)
def gravity_torque(robot: Robot, q: Array) -> Array:
    """The torques that hold the robot against gravity and its springs, (nv,): ∂U/∂q.

        g = Σ_k J_kᵀ Λ_k γ_k + spring torques,   γ_k = (1 − c_k) Ad_{0,k}⁻¹ (−gravity; 0)   (6c)

    c_k is the fraction of the weight that is carried from outside, zero for most robots.

    Cites: [Garofalo2013, eq. (6c)].
    """
    J, gamma = jacobians(robot, q), gravity_accelerations(robot, q)
    g = namespace(q).zeros(robot.nv)
    for k, _, Lambda_k in with_inertia(robot):
        g = g + J[k].T @ (Lambda_k @ gamma[k])
    return g + spring_torque(robot, q)


@checked
def coriolis_torque(robot: Robot, q: Array, v: Array) -> Array:
    """C(q, v) v, (nv,): the same for every C."""
    return coriolis_matrix(robot, q, v) @ v


@checked
def bias(robot: Robot, q: Array, v: Array) -> Array:
    """C(q, v) v + g(q), (nv,)."""
    return coriolis_torque(robot, q, v) + gravity_torque(robot, q)


@pulled_back(COVECTOR)
def wrench_torque(robot: Robot, q: Array, wrenches: Array) -> Array:
    """Σ_k J_kᵀ F_k, (nv,): what the loads F_k on the bodies do at the joints.

    F_k = wrenches[k] is taken at the origin of body k's frame, in its axes.
    """
    J = jacobians(robot, q)
    total = namespace(q, wrenches).zeros(robot.nv)
    for number, k in enumerate(body_segments(robot)):
        total = total + J[k].T @ wrenches[number]
    return total


@checked
def inverse_dynamics(
    robot: Robot, q: Array, v: Array, a: Array, wrenches: Array | None = None,
) -> Array:
    """τ = M a + C v + g − Σ_k J_kᵀ F_k, (nv,).

    F_k = wrenches[k] is the load applied to body k, at its frame's origin and in its frame.

    Cites: [Garofalo2013, eq. (5)]; [MuellerKumar2021, eq. (1)] has the opposite sign of F.
    """
    tau = mass_matrix(robot, q) @ a + bias(robot, q, v)
    return tau if wrenches is None else tau - wrench_torque(robot, q, wrenches)


@checked
def forward_dynamics(
    robot: Robot, q: Array, v: Array, tau: Array, wrenches: Array | None = None,
) -> Array:
    """a = M⁻¹ (τ + Σ_k J_kᵀ F_k − C v − g), (nv,)."""
    force = tau - bias(robot, q, v)
    if wrenches is not None:
        force = force + wrench_torque(robot, q, wrenches)
    return solved(robot, mass_matrix(robot, q), force)


@checked
def passivity_inverse_dynamics(robot: Robot, q: Array, v: Array, v_r: Array, a_r: Array) -> Array:
    """M(q) a_r + C(q, v) v_r + g(q), (nv,), with the passive C of (6b): Slotine and Li's torque.

    Cites: [Garofalo2013, eq. (16)], whose left side it is.
    """
    M, C, g = mass_matrix(robot, q), coriolis_matrix(robot, q, v), gravity_torque(robot, q)
    return M @ a_r + C @ v_r + g


def with_inertia(robot: Robot) -> Iterator[tuple[int, Segment, Array]]:
    """(k, segment, Λ_k) of every segment that carries a body."""
    for k, segment in enumerate(robot.segments, start=1):
        if segment.inertia is not None:
            yield k, segment, segment.inertia.matrix


def gravity_accelerations(robot: Robot, q: Array) -> list[Array]:
    """γ_k = (1 − c_k) Ad_{0,k}⁻¹ (−gravity; 0), (6,), of the world and of each segment."""
    xp = namespace(q)
    left = [1, *(segment.weight for segment in robot.segments)]
    return [xp.concatenate([R.T @ (-robot.gravity * share), xp.zeros(3)])
            for (R, _), share in zip(world_poses(robot, q), left, strict=True)]


def rotor_matrix(robot: Robot, q: Array) -> Array:
    """diag(rotor inertias), (nv, nv)."""
    return namespace(q).eye(robot.nv) * robot.rotor_inertia
