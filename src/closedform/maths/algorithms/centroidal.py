"""Momenta, centre of mass and operational space in few operations: composites and branch factors.

With screws S_j and moments of bodies in the world frame (`one_frame.frame`), column j of
the total momentum is that of the composite behind joint j, moving along S_j:

    (f_j; n_j) = Λ_j S_j,    J_com = f_j / m,    A_G = (f_j; n_j − c × f_j),    c = h / m
"""

from __future__ import annotations

from typing import Any

from closedform.arrays import Array, namespace
from closedform.maths.algebra.branch_factor import branch_solve
from closedform.maths.algorithms.newton_euler import Moments, mass_matrix, momentum, newton_euler
from closedform.maths.algorithms.one_frame.frame import Twist, in_one_frame, moments_sum
from closedform.maths.frames import LOCAL_WORLD_ALIGNED, Reference, frame_jacobian
from closedform.maths.spatial import cross
from closedform.model.robot import Robot


def generalized_momentum(robot: Robot, q: Array, v: Array) -> Array:
    """p = M v, (nv,): the torque of the accelerations v at rest without gravity, O(n)."""
    still = namespace(q, v).zeros(robot.nv)
    return newton_euler(robot, q, still, v, gravity=False) + robot.rotor_inertia * v


def com_jacobian(robot: Robot, q: Array) -> Array:
    """J_com, (3, nv), by composites."""
    xp = namespace(q)
    columns, _ = _momentum_columns(robot, q)
    zero = xp.zeros(3)
    linear = [columns[j][0] if j in columns else zero for j in range(robot.nv)]
    return xp.stack(linear, axis=1) / robot.mass if robot.nv else xp.zeros((3, 0))


def centroidal_momentum_matrix(robot: Robot, q: Array) -> Array:
    """A_G, (6, nv), by composites."""
    xp = namespace(q)
    columns, total = _momentum_columns(robot, q)
    c = total.h / robot.mass
    whole = {j: xp.concatenate([f, n - cross(c, f)]) for j, (f, n) in columns.items()}
    zero = xp.zeros(6)
    ordered = [whole.get(j, zero) for j in range(robot.nv)]
    return xp.stack(ordered, axis=1) if robot.nv else xp.zeros((6, 0))


def body_sum_momentum(robot: Robot, q: Array, v: Array) -> Array:
    """h_G, (6,): the sum of the bodies' momenta, O(n)."""
    xp = namespace(q, v)
    here = in_one_frame(robot, q, v)
    f, n, h = xp.zeros(3), xp.zeros(3), xp.zeros(3)
    for body, V in zip(here.body, here.V, strict=True):
        if body is not None:
            f_k, n_k = momentum(body, *V)
            f, n, h = f + f_k, n + n_k, h + body.h
    return xp.concatenate([f, n - cross(h / robot.mass, f)])


def _momentum_columns(robot: Robot, q: Array) -> tuple[dict[int, Twist], Moments]:
    """Momentum about the world's origin for each velocity, and the moments of the whole robot."""
    xp = namespace(q)
    here = in_one_frame(robot, q, xp.zeros(robot.nv))
    none = Moments(0, xp.zeros(3), (0, 0, 0, 0, 0, 0))
    behind = [body or none for body in here.body]
    for k in range(len(robot.segments), 0, -1):
        p = robot.segments[k - 1].parent
        behind[p] = moments_sum(behind[p], behind[k])
    columns: dict[int, Any] = {}
    for k, segment in enumerate(robot.segments, start=1):
        for j, S_j in zip(segment.v_index, here.S[k], strict=True):
            f, n = momentum(behind[k], *S_j)
            columns[j] = (columns[j][0] + f, columns[j][1] + n) if j in columns else (f, n)
    return columns, behind[0]


def operational_space_mobility(robot: Robot, q: Array, frame: str,
                               reference: Reference = LOCAL_WORLD_ALIGNED) -> Array:
    """J M⁻¹ Jᵀ, (6, 6), by the branch-sparse factor of M."""
    J, M = frame_jacobian(robot, q, frame, reference), mass_matrix(robot, q)
    xp = namespace(J, M)
    return J @ xp.stack([branch_solve(robot, M, J[i]) for i in range(6)], axis=1)


def operational_space_inertia(robot: Robot, q: Array, frame: str,
                              reference: Reference = LOCAL_WORLD_ALIGNED) -> Array:
    """Λ = (J M⁻¹ Jᵀ)⁻¹, (6, 6), where J has full row rank."""
    mobility = operational_space_mobility(robot, q, frame, reference)
    xp = namespace(mobility)
    return xp.stack([xp.solve(mobility, xp.eye(6)[i]) for i in range(6)], axis=1)
