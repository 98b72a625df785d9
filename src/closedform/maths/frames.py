"""Frames: their poses, motions and Jacobians in three references, and the derivatives of these.

`maths.algorithms.frame_screws` and `own_frames.body_motion` have the algorithms that are held to
them.

Cites: [Hourtash2005] for the kinematic Hessian.
"""

from __future__ import annotations

from enum import Enum

from closedform.arrays import Array, namespace
from closedform.errors import ArgumentError
from closedform.maths.arguments import checked
from closedform.maths.kinematics import (
    body_segments,
    jacobian_rates,
    jacobians,
    relative_poses,
    world_poses,
)
from closedform.maths.pull_backs import COLUMNS, SAME, hessian, pulled_back, rate
from closedform.maths.spatial import (
    crm,
    cross,
    homogeneous,
    inverse_motion_transform,
    motion_transform,
)
from closedform.model.robot import Frame, Robot


class Reference(Enum):
    """Where a frame's twist is taken and in which axes it is written, as in Pinocchio."""

    LOCAL = "at the frame's origin, in the frame's axes"
    WORLD = "at the world's origin, in the world's axes"
    LOCAL_WORLD_ALIGNED = "at the frame's origin, in the world's axes"


LOCAL, WORLD, LOCAL_WORLD_ALIGNED = Reference.LOCAL, Reference.WORLD, Reference.LOCAL_WORLD_ALIGNED


def located(robot: Robot, frame: str) -> tuple[Frame, int]:
    """The frame's record and the number of the segment that carries it (0: the world)."""
    place = robot.frame(frame)
    if place.body is None:
        return place, 0
    return place, body_segments(robot)[robot.body_names.index(place.body)]


@checked
def frame_pose(robot: Robot, q: Array, frame: str) -> Array:
    """Pose T_0f of a frame or body in the world, (4, 4)."""
    xp = namespace(q)
    place, k = located(robot, frame)
    R_0k, p_0k = world_poses(robot, q)[k]
    R_kf, p_kf = place.placement[:3, :3], place.placement[:3, 3]
    return homogeneous(R_0k @ R_kf, p_0k + R_0k @ p_kf, xp)


@checked
@pulled_back(COLUMNS)
def frame_jacobian(
    robot: Robot, q: Array, frame: str, reference: Reference = LOCAL_WORLD_ALIGNED,
) -> Array:
    """Jacobian of a frame or body, (6, nv), in the given reference."""
    place, k = located(robot, frame)
    J = _in_frame(place) @ jacobians(robot, q)[k]
    return _to_reference(robot, q, place, k, reference) @ J


@checked
@pulled_back(rate, frame_jacobian)
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
def frame_velocity(
    robot: Robot, q: Array, v: Array, frame: str, reference: Reference = LOCAL_WORLD_ALIGNED,
) -> Array:
    """Twist J v of a frame or body, (6,), in the given reference: linear part first."""
    return frame_jacobian(robot, q, frame, reference) @ v


@checked
@pulled_back(SAME)
def frame_acceleration(
    robot: Robot, q: Array, v: Array, a: Array, frame: str,
    reference: Reference = LOCAL_WORLD_ALIGNED,
) -> Array:
    """Spatial acceleration of a frame or body, (6,), in the given reference: a twist's transport.

        A (J a + dJ v)

    J and dJ are those of LOCAL, A takes twists from the frame to the reference. Without gravity.
    In LOCAL and WORLD it is the derivative of `frame_velocity`.
    """
    place, k = located(robot, frame)
    J, dJ = jacobian_rates(robot, q, v)
    there = _in_frame(place) @ (J[k] @ a + dJ[k] @ v)
    return _to_reference(robot, q, place, k, reference) @ there


@checked
def frame_classical_acceleration(
    robot: Robot, q: Array, v: Array, a: Array, frame: str,
    reference: Reference = LOCAL_WORLD_ALIGNED,
) -> Array:
    """Acceleration of a frame's origin and its angular acceleration, (6,).

        (A_v + ω × v; A_ω)

    with `frame_acceleration` (A_v; A_ω) and `frame_velocity` (v; ω) in the given reference; in
    LOCAL_WORLD_ALIGNED it is the derivative of the latter. For WORLD it is of the point of the
    body that passes through the world's origin.
    """
    xp = namespace(q, v, a)
    V = frame_velocity(robot, q, v, frame, reference)
    A = frame_acceleration(robot, q, v, a, frame, reference)
    return A + xp.concatenate([cross(V[3:], V[:3]), xp.zeros(3)])


@checked
@pulled_back(hessian, frame_jacobian)
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
