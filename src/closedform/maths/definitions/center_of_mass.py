"""The centre of mass, and the robot's momentum about it.

Cites: [Garofalo2013, eq. (7)].
"""

from __future__ import annotations

from collections.abc import Iterator

from closedform.arrays import Array, namespace
from closedform.maths.arguments import checked
from closedform.maths.definitions.closed_form import with_inertia
from closedform.maths.kinematics import jacobian_rates, jacobians, world_poses
from closedform.maths.pull_backs import COLUMNS, pulled_back, rate
from closedform.maths.regularity import total_mass
from closedform.maths.spatial import crf, inverse_motion_transform
from closedform.model.robot import Robot


def first_moment(robot: Robot, q: Array, of_weights: bool = False) -> Array:
    """Σ_k w_k (m_k p_k + R_k (m c)_k), (3,), in the world; w_k = 1, or the segments' `weight`."""
    T = world_poses(robot, q)
    return sum((s.inertia.mass * T[k][1] + T[k][0] @ s.inertia.first_moment)
               * (s.weight if of_weights else 1)
               for k, s in enumerate(robot.segments, start=1) if s.inertia is not None)


@checked
def center_of_mass(robot: Robot, q: Array) -> Array:
    """Centre of mass in the world, (3,): Σ_k (m_k p_k + R_k (m c)_k) / m."""
    return first_moment(robot, q) / total_mass(robot)


@checked
@pulled_back(COLUMNS)
def com_jacobian(robot: Robot, q: Array) -> Array:
    """J_com, (3, nv), in the world: the velocity of the centre of mass is J_com v.

        J_com = (1/m) Σ_k P_kᵀ Λ_k J_k                    (7)

    P_k: the columns of Ad_{0,k}⁻¹ that multiply the linear part, so that P_kᵀ = [R_0k, 0].
    """
    J, T = jacobians(robot, q), world_poses(robot, q)
    total = namespace(q).zeros((3, robot.nv))
    for k, _, Lambda_k in with_inertia(robot):
        total = total + T[k][0] @ (Lambda_k[:3] @ J[k])
    return total / total_mass(robot)


@checked
@pulled_back(rate, com_jacobian)
def com_jacobian_rate(robot: Robot, q: Array, v: Array) -> Array:
    """Time derivative of `com_jacobian`, (3, nv): (1/m) Σ_k P_kᵀ (Λ_k dJ_k + V_k×* Λ_k J_k)."""
    (J, dJ), T = jacobian_rates(robot, q, v), world_poses(robot, q)
    total = namespace(q, v).zeros((3, robot.nv))
    for k, _, Lambda_k in with_inertia(robot):
        rate = Lambda_k @ dJ[k] + crf(J[k] @ v) @ (Lambda_k @ J[k])
        total = total + T[k][0] @ rate[:3]
    return total / total_mass(robot)


@checked
def com_velocity(robot: Robot, q: Array, v: Array) -> Array:
    """Velocity J_com v of the centre of mass in the world, (3,)."""
    return com_jacobian(robot, q) @ v


@checked
def com_acceleration(robot: Robot, q: Array, v: Array, a: Array) -> Array:
    """Acceleration J_com a + dJ_com v of the centre of mass in the world, (3,)."""
    return com_jacobian(robot, q) @ a + com_jacobian_rate(robot, q, v) @ v


@checked
@pulled_back(COLUMNS)
def centroidal_momentum_matrix(robot: Robot, q: Array) -> Array:
    """A_G, (6, nv): the robot's momentum about its centre of mass, in world axes, is A_G v.

        A_G = Σ_k X_kGᵀ Λ_k J_k

    X_kG takes twists from the frame at the centre of mass (world axes) to body k.
    """
    J, total = jacobians(robot, q), namespace(q).zeros((6, robot.nv))
    for k, Lambda_k, X_kG in seen_from_center(robot, q):
        total = total + X_kG.T @ (Lambda_k @ J[k])
    return total


def seen_from_center(robot: Robot, q: Array) -> Iterator[tuple[int, Array, Array]]:
    """(k, Λ_k, X_kG) of every segment that carries a body."""
    T, c = world_poses(robot, q), center_of_mass(robot, q)
    for k, _, Lambda_k in with_inertia(robot):
        R_0k, p_0k = T[k]
        yield k, Lambda_k, inverse_motion_transform(R_0k.T, -(R_0k.T @ (p_0k - c)))


@checked
def momentum(robot: Robot, q: Array, v: Array) -> Array:
    """h_G = A_G v, (6,): linear momentum, angular momentum about the centre of mass; world axes."""
    return centroidal_momentum_matrix(robot, q) @ v
