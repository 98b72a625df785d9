"""Poses of the bodies, their Jacobians and the time derivatives of these.

Lists with one entry a segment (see `closedform.model.segments`) start with the world at 0, so that
the root is no special case; the public functions answer for bodies.

Cites: [Garofalo2013, eqs. (26)-(29)].
"""

from __future__ import annotations

from closedform.arrays import Array, Namespace, namespace
from closedform.maths.algebra.trees import Parents
from closedform.maths.arguments import checked
from closedform.maths.embedding import embedding
from closedform.maths.pull_backs import pulled_back, rate, second_rate, tensor
from closedform.maths.quantity import folds
from closedform.maths.spatial import crm, homogeneous, motion_transform
from closedform.model.coordinates import moved, way_between
from closedform.model.robot import Robot
from closedform.model.segments import Segment

RigidMotion = tuple[Array, Array]


def relative_poses(robot: Robot, q: Array) -> list[RigidMotion]:
    """(R_pk, p_pk) of each segment in its parent: placement · joint(q)."""
    xp = namespace(q)
    result: list[RigidMotion] = []
    for segment in robot.segments:
        R_j, p_j = segment.joint.pose(segment.coordinates(q), xp)
        R_0, p_0 = segment.placement[:3, :3], segment.placement[:3, 3]
        result.append((R_0 @ R_j, p_0 + R_0 @ p_j))
    return result


def world_poses(robot: Robot, q: Array) -> list[RigidMotion]:
    """(R_0k, p_0k) of the world and of each segment: T_0k = T_0p T_pk."""
    xp = namespace(q)
    T: list[RigidMotion] = [(xp.eye(3), xp.zeros(3))]
    for segment, (R_pk, p_pk) in zip(robot.segments, relative_poses(robot, q), strict=True):
        R_0p, p_0p = T[segment.parent]
        T.append((R_0p @ R_pk, p_0p + R_0p @ p_pk))
    return T


@folds
@checked
def poses(robot: Robot, q: Array) -> Array:
    """Poses T_0k of all bodies in the world, (bodies, 4, 4)."""
    xp = namespace(q)
    T = world_poses(robot, q)
    return xp.stack([homogeneous(*T[k], xp) for k in body_segments(robot)])


def body_segments(robot: Robot) -> list[int]:
    """For each body, the number of its segment (the world is 0)."""
    at = {segment.body: k for k, segment in enumerate(robot.segments, start=1)}
    return [at[k] for k in range(len(robot.bodies))]


def segment_parents(robot: Robot) -> Parents:
    """The number of each segment's parent; first that of the world, which is 0 itself."""
    return Parents([0, *(segment.parent for segment in robot.segments)],
                   {k: segment.summed for k, segment in enumerate(robot.segments, start=1)
                    if segment.summed is not None},
                   {k: segment.shares for k, segment in enumerate(robot.segments, start=1)
                    if segment.seam is not None})


def moving_velocities(robot: Robot) -> list[list[int]]:
    """For the world and each segment, the velocities that move it: its own and those before it."""
    found: list[list[int]] = [[]]
    for segment in robot.segments:
        found.append(sorted({*found[segment.parent], *segment.v_index}))
    return found


def motion_subspace(segment: Segment, nv: int, xp: Namespace) -> Array:
    """S_k E_k, (6, nv): the segment's screws in the columns of its velocities."""
    zero = xp.zeros(6)
    column = {i: segment.S[:, at] for at, i in enumerate(segment.v_index)}
    return xp.stack([column.get(i, zero) for i in range(nv)], axis=1) if nv else xp.zeros((6, 0))


def jacobians(robot: Robot, q: Array) -> list[Array]:
    """Body Jacobians J_k of the world and of each segment, each (6, nv): V_k = J_k v.

        V_k = X_kp V_p + S_k v_k                          (26)
        J_k = X_kp J_p + S_k E_k                          (27)

    E_k picks joint k's velocities v_k out of v; S_k E_k is the paper's Ξ_k.
    """
    xp = namespace(q)
    J = [xp.zeros((6, robot.nv))]
    for segment, T_pk in zip(robot.segments, relative_poses(robot, q), strict=True):
        X_kp, S_E = motion_transform(*T_pk), motion_subspace(segment, robot.nv, xp)
        J.append(X_kp @ J[segment.parent] + S_E)
    return J


def jacobian_rates(robot: Robot, q: Array, v: Array) -> tuple[list[Array], list[Array]]:
    """J_k and their time derivatives dJ_k, of the world and of each segment.

        dJ_k = X_kp dJ_p − (S_k v_k)× X_kp J_p            (28)
    """
    xp = namespace(q, v)
    J, dJ = [xp.zeros((6, robot.nv))], [xp.zeros((6, robot.nv))]
    for segment, T_pk in zip(robot.segments, relative_poses(robot, q), strict=True):
        X_kp, p = motion_transform(*T_pk), segment.parent
        XJ = X_kp @ J[p]
        J.append(XJ + motion_subspace(segment, robot.nv, xp))
        dJ.append(X_kp @ dJ[p] - crm(segment.S @ segment.velocities(v)) @ XJ)
    return J, dJ


def jacobian_second_rates(
    robot: Robot, q: Array, v: Array, a: Array,
) -> tuple[list[Array], list[Array], list[Array]]:
    """J_k, dJ_k and ddJ_k of the world and of each segment.

        ddJ_k = X_kp ddJ_p − ξ× X_kp dJ_p − ξ̇× X_kp J_p − ξ× dJ_k            (29)

    with ξ = S_k v_k and ξ̇ = S_k a_k.
    """
    xp = namespace(q, v, a)
    J, dJ = jacobian_rates(robot, q, v)
    ddJ = [xp.zeros((6, robot.nv))]
    relative = relative_poses(robot, q)
    for segment, T_pk, dJ_k in zip(robot.segments, relative, dJ[1:], strict=True):
        X_kp, p = motion_transform(*T_pk), segment.parent
        xi, dxi = crm(segment.S @ segment.velocities(v)), crm(segment.S @ segment.velocities(a))
        ddJ.append(X_kp @ ddJ[p] - xi @ (X_kp @ dJ[p]) - dxi @ (X_kp @ J[p]) - xi @ dJ_k)
    return J, dJ, ddJ


@folds
@checked
@pulled_back(tensor(False, False, True))
def body_jacobians(robot: Robot, q: Array) -> Array:
    """J_k of all bodies in their own frames, (bodies, 6, nv)."""
    J = jacobians(robot, q)
    return namespace(q).stack([J[k] for k in body_segments(robot)])


@folds
@checked
@pulled_back(rate, body_jacobians)
def body_jacobian_rates(robot: Robot, q: Array, v: Array) -> Array:
    """Time derivatives dJ_k of all body Jacobians, (bodies, 6, nv)."""
    _, dJ = jacobian_rates(robot, q, v)
    return namespace(q, v).stack([dJ[k] for k in body_segments(robot)])


@folds
@checked
@pulled_back(second_rate, body_jacobians, body_jacobian_rates)
def body_jacobian_second_rates(robot: Robot, q: Array, v: Array, a: Array) -> Array:
    """Second time derivatives ddJ_k of all body Jacobians, (bodies, 6, nv)."""
    _, _, ddJ = jacobian_second_rates(robot, q, v, a)
    return namespace(q, v, a).stack([ddJ[k] for k in body_segments(robot)])


@checked
def body_velocities(robot: Robot, q: Array, v: Array) -> Array:
    """Twists V_k = J_k v of all bodies in their own frames, (bodies, 6)."""
    return body_jacobians(robot, q) @ v


@checked
def body_accelerations(robot: Robot, q: Array, v: Array, a: Array) -> Array:
    """Spatial accelerations dV_k = J_k a + dJ_k v of all bodies in their own frames, (bodies, 6).

    Without gravity. The origin of body k is accelerated by their linear part plus ω_k × v_k.
    """
    return body_jacobians(robot, q) @ a + body_jacobian_rates(robot, q, v) @ v


@checked
def integrate(robot: Robot, q: Array, dv: Array) -> Array:
    """q ⊕ dv, (nq,): every joint moved from q by the exponential of its part of dv.

    The one step that keeps quaternions at length one; ∂(q ⊕ dv)/∂dv at dv = 0 is Γ(q), q̇ = Γ v.
    With loops, the independent joints, and the others closed again by Newton's steps.
    """
    return embedding(robot).integrated(q, dv) if robot.loops else moved(robot, q, dv)


@checked
def difference(robot: Robot, q0: Array, q1: Array) -> Array:
    """The tangent vector dv with q0 ⊕ dv = q1, (nv,), the shorter way round: `integrate` undone."""
    found = way_between(robot.tree, q0, q1)
    return embedding(robot).difference(found) if robot.loops else found
