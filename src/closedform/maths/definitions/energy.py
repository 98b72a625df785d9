"""Energies, momenta, friction and operational-space inertia."""

from __future__ import annotations

from closedform.arrays import Array, namespace
from closedform.maths.arguments import checked
from closedform.maths.definitions.closed_form import mass_matrix, with_inertia
from closedform.maths.kinematics import (
    LOCAL_WORLD_ALIGNED,
    Reference,
    center_of_mass,
    frame_jacobian,
    jacobians,
    world_poses,
)
from closedform.maths.spatial import inverse_motion_transform
from closedform.model.robot import Robot


@checked
def kinetic_energy(robot: Robot, q: Array, v: Array) -> Array:
    """T = ½ Σ_k V_kᵀ Λ_k V_k + ½ Σ rotor v², scalar; V_k = J_k v."""
    J = jacobians(robot, q)
    V = {k: J[k] @ v for k, _, _ in with_inertia(robot)}
    twice = sum(V[k] @ (Lambda_k @ V[k]) for k, _, Lambda_k in with_inertia(robot))
    return (twice + (robot.rotor_inertia * v) @ v) / 2


@checked
def potential_energy(robot: Robot, q: Array) -> Array:
    """U = −Σ_k gravityᵀ (m_k p_k + R_k (m c)_k), scalar, zero for a mass at the world's origin."""
    T = world_poses(robot, q)
    moments = [s.inertia.mass * T[k][1] + T[k][0] @ s.inertia.first_moment
               for k, s, _ in with_inertia(robot) if s.inertia is not None]
    return -(robot.gravity @ sum(moments))


@checked
def generalized_momentum(robot: Robot, q: Array, v: Array) -> Array:
    """p = M v, (nv,)."""
    return mass_matrix(robot, q) @ v


@checked
def centroidal_momentum_matrix(robot: Robot, q: Array) -> Array:
    """A_G, (6, nv): the robot's momentum about its centre of mass, in world axes, is A_G v.

        A_G = Σ_k X_kGᵀ Λ_k J_k

    X_kG takes twists from the frame at the centre of mass (world axes) to body k.
    """
    xp = namespace(q)
    J, T, c = jacobians(robot, q), world_poses(robot, q), center_of_mass(robot, q)
    total = xp.zeros((6, robot.nv))
    for k, _, Lambda_k in with_inertia(robot):
        R_0k, p_0k = T[k]
        X_kG = inverse_motion_transform(R_0k.T, -(R_0k.T @ (p_0k - c)))
        total = total + X_kG.T @ (Lambda_k @ J[k])
    return total


@checked
def momentum(robot: Robot, q: Array, v: Array) -> Array:
    """h_G = A_G v, (6,): linear momentum, angular momentum about the centre of mass; world axes."""
    return centroidal_momentum_matrix(robot, q) @ v


@checked
def joint_friction(robot: Robot, v: Array) -> Array:
    """Friction torque that opposes the motion, (nv,): Σ r (viscous r v + coulomb sign(r v)).

    r is a mimic's ratio, 1 for other joints. Friction is in no other function: add it to the left
    side of M a + C v + g = τ.
    """
    xp = namespace(v)
    terms = [xp.zeros(()) for _ in range(robot.nv)]
    for segment in robot.segments:
        joint, r, n = segment.joint, segment.ratio, len(segment.v_index)
        viscous, coulomb = (joint.per_coordinate(k, n, 0.0) for k in ("viscous", "coulomb"))
        for i, d, c in zip(segment.v_index, viscous, coulomb, strict=True):
            terms[i] = terms[i] + r * (d * (r * v[i]))
            if c != 0:
                terms[i] = terms[i] + r * c * xp.sign(r * v[i])
    return xp.stack(terms) if terms else xp.zeros(0)


@checked
def operational_space_mobility(
    robot: Robot, q: Array, frame: str, reference: Reference = LOCAL_WORLD_ALIGNED,
) -> Array:
    """J M⁻¹ Jᵀ, (6, 6): a frame's acceleration by a unit wrench on it, at singularities too."""
    J, M = frame_jacobian(robot, q, frame, reference), mass_matrix(robot, q)
    xp = namespace(J, M)
    return J @ xp.stack([xp.solve(M, J[i]) for i in range(6)], axis=1)


@checked
def operational_space_inertia(
    robot: Robot, q: Array, frame: str, reference: Reference = LOCAL_WORLD_ALIGNED,
) -> Array:
    """Λ = (J M⁻¹ Jᵀ)⁻¹, (6, 6), where J has full row rank."""
    mobility = operational_space_mobility(robot, q, frame, reference)
    xp = namespace(mobility)
    return xp.stack([xp.solve(mobility, xp.eye(6)[i]) for i in range(6)], axis=1)
