"""The centre of mass, and the robot's momentum about it.

Cites: [Garofalo2013, eq. (7)].
"""

from __future__ import annotations

from closedform.arrays import Array, namespace
from closedform.maths.arguments import checked
from closedform.maths.definitions.closed_form import with_inertia
from closedform.maths.kinematics import jacobians, world_poses
from closedform.maths.spatial import inverse_motion_transform, skew
from closedform.model.robot import Robot


def first_moment(robot: Robot, q: Array) -> Array:
    """Σ_k (m_k p_k + R_k (m c)_k), (3,), in the world."""
    T = world_poses(robot, q)
    return sum(s.inertia.mass * T[k][1] + T[k][0] @ s.inertia.first_moment
               for k, s in enumerate(robot.segments, start=1) if s.inertia is not None)


@checked
def center_of_mass(robot: Robot, q: Array) -> Array:
    """Centre of mass in the world, (3,): Σ_k (m_k p_k + R_k (m c)_k) / m."""
    return first_moment(robot, q) / robot.mass


@checked
def com_jacobian(robot: Robot, q: Array) -> Array:
    """J_com, (3, nv), in the world: the velocity of the centre of mass is J_com v.

        J_com = (1/m) Σ_k P_kᵀ Λ_k J_k                    (7)

    P_k: the columns of Ad_{0,k}⁻¹ that multiply the linear part, so that P_kᵀ = [R_0k, 0].
    """
    xp = namespace(q)
    J, T = jacobians(robot, q), world_poses(robot, q)
    total = xp.zeros((3, robot.nv))
    for k, s in enumerate(robot.segments, start=1):
        if s.inertia is not None:
            momentum = s.inertia.mass * J[k][:3] - skew(s.inertia.first_moment) @ J[k][3:]
            total = total + T[k][0] @ momentum
    return total / robot.mass


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
