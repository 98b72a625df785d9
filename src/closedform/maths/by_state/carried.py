"""Screws, their rates and composite bodies in the frames of the segments, and carrying wrenches.

The rules are those of `screws`, which writes everything in one frame. Here every composite is in
the frame of its segment, where the screws are constant, and wrenches are carried to the ancestors.
With the parent's motion seen at the segment's origin, in the segment's axes,

    Ṡ = V × S      Ψ̇ = V_p × S      Ψ̈ = (U s_v + a × s_ω + 2 u × (ω × s_ω); U s_ω)

where U = ω̇~ + ω~ω~ and a is the acceleration of the origin, less gravity. The Christoffel operator
of a composite, O = [[0, −p~], [0, tr(G) 1 − G]], is carried to the parent by

    p ← R p,   G ← R G Rᵀ + (R p) dᵀ      d: the segment's origin in the parent

and its transpose gives a pure moment.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from closedform.arrays import Array, namespace
from closedform.maths.by_state.screws import Entries, enter
from closedform.maths.kinematics import body_segments
from closedform.maths.one_frame import Flow, Twist, flow, motion_times
from closedform.maths.recursive import (
    Moments,
    Motion,
    body_force,
    composites,
    moments,
    next_motion,
    rotation_rates,
    world_motion,
)
from closedform.maths.spatial import cross
from closedform.maths.transport import Step, steps
from closedform.model.robot import Robot
from closedform.model.segments import Segment

Wrench = tuple[Array, Array]
"""Force and moment, (3,) each."""


class Joint(NamedTuple):
    """One screw of a segment, each part linear and angular, (3,) each."""

    i: int         # the velocity that drives it
    S: Twist
    dS: Twist      # Ṡ
    dPsi: Twist    # Ψ̇
    ddPsi: Twist   # Ψ̈


class Composites(NamedTuple):
    """Screws of every segment and all that it carries; lists start with the world."""

    way: list[Step]
    parent: list[int]
    joints: list[list[Joint]]
    I: list[Moments]
    flow: list[Flow]
    force: list[Wrench]   # that moves it as q, v, a say, less external wrenches


def composites_in_motion(
    robot: Robot, q: Array, v: Array, a: Array | None = None, wrenches: Array | None = None,
) -> Composites:
    """The robot in motion under gravity; a None: no accelerations of the joints."""
    xp = namespace(q, v, *(x for x in (a, wrenches) if x is not None))
    way, zero = steps(robot, q), xp.zeros(3)
    motion, velocity = [world_motion(robot, xp)], [zero]
    joints: list[list[Joint]] = [[]]
    flows, force = [Flow(zero, xp.zeros((3, 3)))], [(zero, zero)]
    for segment, step in zip(robot.segments, way, strict=True):
        above = motion[segment.parent]
        here = next_motion(segment, step, above, v, a)
        u = step.down(velocity[segment.parent] + cross(above.w, step.p))
        own = u + (segment.S @ segment.velocities(v))[:3] if segment.v_index else u
        joints.append(_joints(segment, step, above, u, (own, here.w)))
        motion.append(here)
        velocity.append(own)
        body = None if segment.inertia is None else moments(segment.inertia)
        flows.append(flows[0] if body is None else flow(body, (own, here.w)))
        force.append(force[0] if body is None else body_force(body, here.w, here.U, here.a))
    if wrenches is not None:
        for number, k in enumerate(body_segments(robot)):
            f, n = force[k]
            force[k] = f - wrenches[number][:3], n - wrenches[number][3:]
    parent = [0, *(segment.parent for segment in robot.segments)]
    for k in range(len(way), 0, -1):
        p, step = parent[k], way[k - 1]
        if p:
            flows[p] = _joined(flows[p], flows[k], step)
            force[p] = plus(force[p], carried(force[k], step))
    return Composites(way, parent, joints, composites(robot, way, xp), flows, force)


def _joints(segment: Segment, step: Step, above: Motion, u: Array, V: Twist) -> list[Joint]:
    """The screws of a segment; u: the parent's velocity at its origin, V: its own twist."""
    w, a = step.down(above.w), step.down(above.a + above.U @ step.p)
    U = rotation_rates(w, step.down(above.dw))
    found = []
    for i, column in zip(segment.v_index, segment.S.T, strict=True):
        S = column[:3], column[3:]
        dPsi = motion_times((u, w), S)
        dS = dPsi if len(segment.v_index) == 1 else motion_times(V, S)
        ddPsi = U @ S[0] + cross(a, S[1]) + 2 * cross(u, dPsi[1]), U @ S[1]
        found.append(Joint(i, S, dS, dPsi, ddPsi))
    return found


def _joined(parent: Flow, child: Flow, step: Step) -> Flow:
    p = step.up(child.p)
    return Flow(parent.p + p, parent.G + step.up_matrix(child.G) + p[:, None] * step.p)


def carried(wrench: Wrench, step: Step) -> Wrench:
    """The same wrench about the origin of the parent's frame, in its axes."""
    f = step.up(wrench[0])
    return f, step.up(wrench[1]) + cross(step.p, f)


def turned(part: Flow, S: Twist) -> Wrench:
    """O S = (−p × ω; tr(G) ω − G ω)."""
    return -cross(part.p, S[1]), _less_than_trace(part.G, S[1])


def turned_back(part: Flow, S: Twist) -> Array:
    """The moment of Oᵀ S, p × u + tr(G) ω − Gᵀ ω; it has no force."""
    return cross(part.p, S[0]) + _less_than_trace(part.G.T, S[1])


def _less_than_trace(G: Array, w: Array) -> Array:
    """(tr(G) 1 − G) ω."""
    return namespace(G, w).stack([
        (G[1, 1] + G[2, 2]) * w[0] - G[0, 1] * w[1] - G[0, 2] * w[2],
        (G[0, 0] + G[2, 2]) * w[1] - G[1, 0] * w[0] - G[1, 2] * w[2],
        (G[0, 0] + G[1, 1]) * w[2] - G[2, 0] * w[0] - G[2, 1] * w[1]])


def plus(x: Twist, y: Twist) -> Twist:
    return x[0] + y[0], x[1] + y[1]


def dot(S: Twist, wrench: Wrench) -> Any:
    return S[0] @ wrench[0] + S[1] @ wrench[1]


def enter_twice(M: Entries, i: int, j: int, value: Any) -> None:
    """M_ij and M_ji; for a mimic i may be j, and both halves belong there."""
    enter(M, (i, j), value)
    enter(M, (j, i), value)


