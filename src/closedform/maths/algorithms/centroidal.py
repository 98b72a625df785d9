"""Momenta, centre of mass and operational space in few operations: composites and branch factors.

With screws S_j and moments of bodies in the world frame (`one_frame.frame`), column j of
the total momentum is that of the composite behind joint j, moving along S_j:

    (f_j; n_j) = Λ_j S_j,    J_com = f_j / m,    A_G = (f_j; n_j − c × f_j),    c = h / m

Cites: [OrinGoswamiLee2013] for A_G by composites; [Featherstone2005] for the factor.
"""

from __future__ import annotations

from functools import reduce
from operator import add

from closedform.arrays import Array, namespace
from closedform.maths.algebra.entries import Entries, enter
from closedform.maths.algebra.ldl import branch_solve
from closedform.maths.algebra.trees import subtree_sums
from closedform.maths.algorithms.moments import Moments
from closedform.maths.algorithms.newton_euler import mass_matrix, newton_euler
from closedform.maths.algorithms.one_frame.frame import in_one_frame
from closedform.maths.frames import LOCAL_WORLD_ALIGNED, Reference, frame_jacobian
from closedform.maths.kinematics import segment_parents
from closedform.maths.spatial import cross
from closedform.model.robot import Robot


def generalized_momentum(robot: Robot, q: Array, v: Array) -> Array:
    """p = M v, (nv,): the torque of the accelerations v at rest without gravity, O(n)."""
    still = namespace(q, v).zeros(robot.nv)
    return newton_euler(robot, q, still, v, gravity=False) + robot.rotor_inertia * v


def com_jacobian(robot: Robot, q: Array) -> Array:
    """J_com, (3, nv), by composites."""
    return _momentum_matrix(robot, q)[0][:3] / robot.mass


def centroidal_momentum_matrix(robot: Robot, q: Array) -> Array:
    """A_G, (6, nv), by composites."""
    xp = namespace(q)
    A, h = _momentum_matrix(robot, q)
    c = h / robot.mass
    columns = [xp.concatenate([f_n[:3], f_n[3:] - cross(c, f_n[:3])]) for f_n in A.T]
    return xp.stack(columns, axis=1) if columns else A


def body_sum_momentum(robot: Robot, q: Array, v: Array) -> Array:
    """h_G, (6,): the sum of the bodies' momenta, O(n)."""
    here = in_one_frame(robot, q, v)
    F = reduce(add, [body @ V for body, V in zip(here.body, here.V, strict=True)])
    h = reduce(add, [body.h for body in here.body])
    return namespace(q, v).concatenate([F[:3], F[3:] - cross(h / robot.mass, F[:3])])


def _momentum_matrix(robot: Robot, q: Array) -> tuple[Array, Array]:
    """The momentum about the world's origin for each velocity, (6, nv), and the robot's h, (3,)."""
    xp = namespace(q)
    here = in_one_frame(robot, q, xp.zeros(robot.nv))
    behind = subtree_sums(here.body, segment_parents(robot), Moments.plus)
    columns: Entries = {}
    for segment, Lambda, screws in zip(robot.segments, behind[1:], here.S[1:], strict=True):
        for j, S_j in zip(segment.v_index, screws, strict=True):
            enter(columns, (j,), Lambda @ S_j)
    ordered = [columns.get((j,), xp.zeros(6)) for j in range(robot.nv)]
    roots = [body.h for segment, body in zip(robot.segments, behind[1:], strict=True)
             if not segment.parent]
    return xp.stack(ordered, axis=1) if ordered else xp.zeros((6, 0)), reduce(add, roots)


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
