"""Velocities and accelerations of bodies and frames by recursion from root to leaf, O(n).

    V_k = X_kp V_p + S_k v_k      A_k = X_kp A_p + S_k a_k + V_k × S_k v_k

in the bodies' own frames. What a frame shows in the world's axes is carried back up the chain,
which takes fewer operations than the frame's pose.

Cites: [Featherstone2008, section 5.3].
"""

from __future__ import annotations

from closedform.arrays import Array, namespace
from closedform.maths.algorithms.joint_steps import (
    JointStep,
    body_twists,
    joint_steps,
    twist_in_parent,
    twist_in_segment,
)
from closedform.maths.frames import LOCAL, LOCAL_WORLD_ALIGNED, WORLD, Reference, located
from closedform.maths.kinematics import body_segments
from closedform.maths.pull_backs import SAME, pulled_back
from closedform.maths.quantity import folds
from closedform.maths.spatial import cross, motion_cross
from closedform.model.robot import Frame, Robot


@folds
@pulled_back(SAME)
def body_velocities(robot: Robot, q: Array, v: Array) -> Array:
    """V_k of all bodies, (bodies, 6)."""
    xp = namespace(q, v)
    V = body_twists(robot, joint_steps(robot, q), v, xp)
    return xp.stack([V[k] for k in body_segments(robot)])


@folds
@pulled_back(SAME)
def body_accelerations(robot: Robot, q: Array, v: Array, a: Array) -> Array:
    """A_k of all bodies, (bodies, 6)."""
    _, A = twists_and_accelerations(robot, joint_steps(robot, q), v, a)
    return namespace(q, v, a).stack([A[k] for k in body_segments(robot)])


def twists_and_accelerations(
    robot: Robot, way: list[JointStep], v: Array, a: Array,
) -> tuple[list[Array], list[Array]]:
    """V_k and A_k of the world and of every segment, (6,) each."""
    xp = namespace(v, a, *(step.p for step in way))
    V, A = body_twists(robot, way, v, xp), [xp.zeros(6)]
    for k, (segment, step) in enumerate(zip(robot.segments, way, strict=True), start=1):
        s, ds = (segment.S @ segment.velocities(x) for x in (v, a))
        A.append(twist_in_segment(step, A[segment.parent]) + motion_cross(V[k], s) + ds)
    return V, A


@pulled_back(SAME)
def frame_velocity(robot: Robot, q: Array, v: Array, frame: str,
                   reference: Reference = LOCAL_WORLD_ALIGNED) -> Array:
    """V of a frame, (6,)."""
    way, (place, k) = joint_steps(robot, q), located(robot, frame)
    V = body_twists(robot, way, v, namespace(q, v))
    return _shown(robot, way, frame, _at_point(place, V[k], reference), reference)


@pulled_back(SAME)
def frame_acceleration(robot: Robot, q: Array, v: Array, a: Array, frame: str,
                       reference: Reference = LOCAL_WORLD_ALIGNED) -> Array:
    """A of a frame, (6,)."""
    way, (place, k) = joint_steps(robot, q), located(robot, frame)
    _, A = twists_and_accelerations(robot, way, v, a)
    return _shown(robot, way, frame, _at_point(place, A[k], reference), reference)


@pulled_back(SAME)
def frame_classical_acceleration(robot: Robot, q: Array, v: Array, a: Array, frame: str,
                                 reference: Reference = LOCAL_WORLD_ALIGNED) -> Array:
    """(A_v + ω × v; A_ω) of a frame, (6,); at the frame's origin it is taken before it is shown."""
    way, (place, k) = joint_steps(robot, q), located(robot, frame)
    V, A = (_at_point(place, X[k], reference) for X in twists_and_accelerations(robot, way, v, a))
    if reference is not WORLD:
        return _shown(robot, way, frame, _classical(V, A), reference)
    return _classical(*(_shown(robot, way, frame, X, reference) for X in (V, A)))


def _classical(V: Array, A: Array) -> Array:
    return namespace(V, A).concatenate([A[:3] + cross(V[3:], V[:3]), A[3:]])


def _at_point(place: Frame, X: Array, reference: Reference) -> Array:
    """A twist of the body that holds a frame, moved to the frame's origin, but for WORLD."""
    if reference is WORLD:
        return X
    return namespace(X).concatenate([X[:3] + cross(X[3:], place.placement[:3, 3]), X[3:]])


def _shown(robot: Robot, way: list[JointStep], frame: str, X: Array,
           reference: Reference) -> Array:
    """A twist in the axes of the body that holds a frame, as the reference shows it."""
    xp, (place, k) = namespace(X, *(step.p for step in way)), located(robot, frame)
    if reference is LOCAL:
        R = place.placement[:3, :3]
        return xp.concatenate([R.T @ X[:3], R.T @ X[3:]])
    while k:
        step, k = way[k - 1], robot.segments[k - 1].parent
        X = (twist_in_parent(step, X) if reference is WORLD
             else xp.concatenate([step.up(X[:3]), step.up(X[3:])]))
    return X
