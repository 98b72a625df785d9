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

from typing import NamedTuple

from closedform.arrays import Array, namespace
from closedform.maths.algorithms.joint_steps import Step, carried, steps
from closedform.maths.algorithms.newton_euler import (
    Moments,
    Motion,
    composites,
    moments,
    motions_and_forces,
    rotation_rates,
)
from closedform.maths.algorithms.one_frame.frame import Flow, Twist, flow, motion_times
from closedform.maths.spatial import cross
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
    motion, f, n = motions_and_forces(robot, way, v, a, wrenches, xp)
    force, velocity = list(zip(f, n, strict=True)), [zero]
    joints: list[list[Joint]] = [[]]
    flows = [Flow(zero, xp.zeros((3, 3)))]
    for segment, step, here in zip(robot.segments, way, motion[1:], strict=True):
        above = motion[segment.parent]
        u = step.down(velocity[segment.parent] + cross(above.w, step.p))
        own = u + (segment.S @ segment.velocities(v))[:3] if segment.v_index else u
        joints.append(_joints(segment, step, above, u, (own, here.w)))
        velocity.append(own)
        flows.append(flows[0] if segment.inertia is None
                     else flow(moments(segment.inertia), (own, here.w)))
    parent = [0, *(segment.parent for segment in robot.segments)]
    for k in range(len(way), 0, -1):
        p, step = parent[k], way[k - 1]
        if p:
            flows[p] = _joined(flows[p], flows[k], step)
            force[p] = plus(force[p], carried(step, *force[k]))
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
