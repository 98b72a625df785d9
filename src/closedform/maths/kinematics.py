"""Poses, Jacobians and their derivatives.

Lists with one entry a segment (see `closedform.model.segments`) start with the world at 0, so that
the root is no special case; the public functions answer for bodies and frames.

Cites: [Garofalo2013, eqs. (26)-(29) and (33)].
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from closedform.arrays import Array, namespace
from closedform.errors import ArgumentError
from closedform.maths.arguments import checked
from closedform.maths.spatial import (
    crm,
    homogeneous,
    inverse_motion_transform,
    motion_transform,
    skew,
)
from closedform.model.robot import Frame, Robot
from closedform.model.segments import Segment


class Reference(Enum):
    """Where a frame's twist is taken and in which axes it is written, as in Pinocchio."""

    LOCAL = "at the frame's origin, in the frame's axes"
    WORLD = "at the world's origin, in the world's axes"
    LOCAL_WORLD_ALIGNED = "at the frame's origin, in the world's axes"


LOCAL, WORLD, LOCAL_WORLD_ALIGNED = Reference.LOCAL, Reference.WORLD, Reference.LOCAL_WORLD_ALIGNED

Pose = tuple[Array, Array]


def relative_poses(robot: Robot, q: Array) -> list[Pose]:
    """(R_pk, p_pk) of each segment in its parent: placement · joint(q)."""
    xp = namespace(q)
    result = []
    for segment in robot.segments:
        R_j, p_j = segment.joint.pose(segment.coordinates(q), xp)
        R_0, p_0 = segment.placement[:3, :3], segment.placement[:3, 3]
        result.append((R_0 @ R_j, p_0 + R_0 @ p_j))
    return result


def world_poses(robot: Robot, q: Array) -> list[Pose]:
    """(R_0k, p_0k) of the world and of each segment: T_0k = T_0p T_pk."""
    xp = namespace(q)
    T: list[Pose] = [(xp.eye(3), xp.zeros(3))]
    for segment, (R_pk, p_pk) in zip(robot.segments, relative_poses(robot, q), strict=True):
        R_0p, p_0p = T[segment.parent]
        T.append((R_0p @ R_pk, p_0p + R_0p @ p_pk))
    return T


@checked
def poses(robot: Robot, q: Array) -> Array:
    """Poses T_0k of all bodies in the world, (bodies, 4, 4)."""
    xp = namespace(q)
    T = world_poses(robot, q)
    return xp.stack([homogeneous(*T[k], xp) for k in body_segments(robot)])


@checked
def frame_pose(robot: Robot, q: Array, frame: str) -> Array:
    """Pose T_0f of a frame or body in the world, (4, 4)."""
    xp = namespace(q)
    place, k = located(robot, frame)
    R_0k, p_0k = world_poses(robot, q)[k]
    R_kf, p_kf = place.placement[:3, :3], place.placement[:3, 3]
    return homogeneous(R_0k @ R_kf, p_0k + R_0k @ p_kf, xp)


def body_segments(robot: Robot) -> list[int]:
    """For each body, the number of its segment (the world is 0)."""
    at = {segment.body: k for k, segment in enumerate(robot.segments, start=1)}
    return [at[k] for k in range(len(robot.bodies))]


def motion_subspace(segment: Segment, nv: int, xp: Any) -> Array:
    """S_k E_k, (6, nv): the segment's screws in the columns of its velocities."""
    zero = xp.zeros(6)
    column = {i: segment.S[:, at] for at, i in enumerate(segment.v_index)}
    return xp.stack([column.get(i, zero) for i in range(nv)], axis=1) if nv else xp.zeros((6, 0))


def jacobians(robot: Robot, q: Array) -> list[Array]:
    """Body Jacobians J_k of the world and of each segment, each (6, nv): V_k = J_k v.

        J_k = X_kp J_p + S_k E_k                          (27)
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

    with ξ = S_k v_k and ξ̇ = S_k a_k. (In (28) ξ× S_k E_k v = 0 has been used for one-dof joints
    only in the paper's text; the form here holds for all.)
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


@checked
def body_jacobians(robot: Robot, q: Array) -> Array:
    """J_k of all bodies in their own frames, (bodies, 6, nv)."""
    J = jacobians(robot, q)
    return namespace(q).stack([J[k] for k in body_segments(robot)])


@checked
def body_jacobian_rates(robot: Robot, q: Array, v: Array) -> Array:
    """Time derivatives dJ_k of all body Jacobians, (bodies, 6, nv)."""
    _, dJ = jacobian_rates(robot, q, v)
    return namespace(q, v).stack([dJ[k] for k in body_segments(robot)])


@checked
def body_jacobian_second_rates(robot: Robot, q: Array, v: Array, a: Array) -> Array:
    """Second time derivatives ddJ_k of all body Jacobians, (bodies, 6, nv)."""
    _, _, ddJ = jacobian_second_rates(robot, q, v, a)
    return namespace(q, v, a).stack([ddJ[k] for k in body_segments(robot)])


# ---------------------------------------------------------------------- frames
@checked
def frame_jacobian(
    robot: Robot, q: Array, frame: str, reference: Reference = LOCAL_WORLD_ALIGNED,
) -> Array:
    """Jacobian of a frame or body, (6, nv), in the given reference."""
    place, k = located(robot, frame)
    J = _in_frame(place) @ jacobians(robot, q)[k]
    return _to_reference(robot, q, place, k, reference) @ J


@checked
def frame_jacobian_rate(
    robot: Robot, q: Array, v: Array, frame: str, reference: Reference = LOCAL_WORLD_ALIGNED,
) -> Array:
    """Time derivative of `frame_jacobian`, (6, nv): of its components.

        d(A J) = A (dJ + Ω J)

    A takes twists from the frame to the reference; Ω = V× for WORLD, (0; ω)× for
    LOCAL_WORLD_ALIGNED and 0 for LOCAL.
    """
    xp = namespace(q, v)
    place, k = located(robot, frame)
    J, dJ = jacobian_rates(robot, q, v)
    J_f, dJ_f = _in_frame(place) @ J[k], _in_frame(place) @ dJ[k]
    V = J_f @ v
    A = _to_reference(robot, q, place, k, reference)
    if reference is LOCAL:
        return dJ_f
    turning = V if reference is WORLD else xp.concatenate([xp.zeros(3), V[3:]])
    return A @ (dJ_f + crm(turning) @ J_f)


@checked
def kinematic_hessian(
    robot: Robot, q: Array, frame: str, reference: Reference = LOCAL_WORLD_ALIGNED,
) -> Array:
    """∂J_ij/∂q_k of `frame_jacobian`, (6, nv, nv), left-trivialised for quasi-velocities.

        LOCAL:  ∂_k J_j = −J_k × J_j if joint k lies behind joint j towards the frame, else 0

    written for the screws of the segments on the way to the frame; the other references turn with
    the frame.
    """
    xp = namespace(q)
    place, at = located(robot, frame)
    screws = _screws_to(robot, q, place, at)
    A = _to_reference(robot, q, place, at, reference)
    columns: dict[tuple[int, int], Array] = {}
    for depth_k, k, J_k in screws:
        aligned = xp.concatenate([xp.zeros(3), J_k[3:]])
        turn = {LOCAL: None, WORLD: J_k, LOCAL_WORLD_ALIGNED: aligned}[reference]
        for depth_j, j, J_j in screws:
            d = xp.zeros(6)
            if depth_k > depth_j:
                d = d - crm(J_k) @ J_j
            if turn is not None:
                d = d + crm(turn) @ J_j
            columns[j, k] = columns.get((j, k), 0) + A @ d
    zero = xp.zeros(6)
    n = range(robot.nv)
    if not robot.nv:
        return xp.zeros((6, 0, 0))
    return xp.stack([xp.stack([columns.get((j, k), zero) for k in n], axis=1) for j in n], axis=1)


def _screws_to(robot: Robot, q: Array, place: Frame, k: int) -> list[tuple[int, int, Array]]:
    """(segment, velocity, screw in the frame) of all joints between the world and the frame."""
    relative = relative_poses(robot, q)
    X = _in_frame(place)
    found = []
    while k:
        segment = robot.segments[k - 1]
        S = X @ segment.S
        found += [(k, i, S[:, c]) for c, i in enumerate(segment.v_index)]
        X = X @ motion_transform(*relative[k - 1])
        k = segment.parent
    return found


def located(robot: Robot, frame: str) -> tuple[Frame, int]:
    """The frame's record and the number of the segment that carries it (0: the world)."""
    place = robot.frame(frame)
    if place.body is None:
        return place, 0
    return place, body_segments(robot)[robot.body_names.index(place.body)]


def _in_frame(place: Frame) -> Array:
    """X_fk, (6, 6): twists of the carrying body seen in the frame."""
    return motion_transform(place.placement[:3, :3], place.placement[:3, 3])


def _to_reference(robot: Robot, q: Array, place: Frame, k: int, reference: Reference) -> Array:
    """(6, 6): twists in the frame, seen in the reference."""
    xp = namespace(q)
    if reference is LOCAL:
        return xp.eye(6)
    if reference not in (WORLD, LOCAL_WORLD_ALIGNED):
        raise ArgumentError("reference must be cf.LOCAL, cf.WORLD or cf.LOCAL_WORLD_ALIGNED, "
                            f"not {reference!r}")
    R_0k, p_0k = world_poses(robot, q)[k]
    R, p = R_0k @ place.placement[:3, :3], p_0k + R_0k @ place.placement[:3, 3]
    return inverse_motion_transform(R, p if reference is WORLD else xp.zeros(3))


# ---------------------------------------------------------------------- centre of mass
@checked
def center_of_mass(robot: Robot, q: Array) -> Array:
    """Centre of mass in the world, (3,): Σ_k (m_k p_k + R_k (m c)_k) / m."""
    T = world_poses(robot, q)
    moments = [s.inertia.mass * T[k][1] + T[k][0] @ s.inertia.first_moment
               for k, s in enumerate(robot.segments, start=1) if s.inertia is not None]
    return sum(moments) / robot.mass


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
