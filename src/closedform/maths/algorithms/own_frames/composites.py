"""Screws, their rates and composite bodies in the frames of the segments.

The rules are those of `one_frame.screws`. Here every composite is in the frame of its segment,
where the screws are constant, and wrenches are taken to the ancestors. With the parent's motion
seen at the segment's origin, in the segment's axes,

    Ṡ = V × S      Ψ̇ = V_p × S      Ψ̈ = (U s_v + a × s_ω + 2 u × (ω × s_ω); U s_ω)

where U = ω̇~ + ω~ω~ and a is the acceleration of the origin, less gravity.

Cites: [EcheandiaWensing2021]; [SinghRussellWensing2022].
"""

from __future__ import annotations

from operator import add
from typing import NamedTuple

from closedform.arrays import Array, namespace
from closedform.maths.algebra.trees import Parents, subtree_sums
from closedform.maths.algorithms.joint_steps import (
    JointStep,
    joint_steps,
    twist_in_segment,
    wrench_in_parent,
)
from closedform.maths.algorithms.moments import Moments, moments
from closedform.maths.algorithms.newton_euler import (
    OriginMotion,
    composites,
    motions_and_forces,
    rotation_rates,
)
from closedform.maths.algorithms.one_frame.screws import Screw
from closedform.maths.algorithms.operators import ChristoffelOperator, christoffel_operator
from closedform.maths.kinematics import segment_parents
from closedform.maths.spatial import cross, motion_cross
from closedform.model.robot import Robot
from closedform.model.segments import Segment


class Composites(NamedTuple):
    """Screws of every segment and all behind it, in its frame; lists start with the world."""

    way: list[JointStep]
    parent: Parents
    own: list[list[Screw]]
    I: list[Moments]
    B: list[ChristoffelOperator]
    F: list[Array]   # (6,), what moves it as q, v, a say, less external wrenches


def composites_in_motion(
    robot: Robot, q: Array, v: Array, a: Array | None = None, wrenches: Array | None = None,
) -> Composites:
    """The robot in motion under gravity; a None: no accelerations of the joints."""
    xp = namespace(q, v, *(x for x in (a, wrenches) if x is not None))
    way, parent = joint_steps(robot, q), segment_parents(robot)
    motion, F = motions_and_forces(robot, way, v, a, wrenches, xp)
    V, own = [xp.zeros(6)], [list[Screw]()]
    B = [christoffel_operator(moments(None), V[0])]
    for k, (segment, step) in enumerate(zip(robot.segments, way, strict=True), start=1):
        V_p = twist_in_segment(step, V[segment.parent])
        V_k = V_p + segment.S @ segment.velocities(v) if segment.v_index else V_p
        own.append(_screws(k, segment, step, motion[segment.parent], V_p, V_k))
        V.append(V_k)
        B.append(christoffel_operator(moments(segment.inertia), V_k))
    return Composites(
        way, parent, own, composites(robot, way),
        subtree_sums(B, parent, ChristoffelOperator.plus, lambda k, O: O.in_parent(way[k - 1])),
        subtree_sums(F, parent, add, lambda k, F_k: wrench_in_parent(way[k - 1], F_k)))


def _screws(
    k: int, segment: Segment, step: JointStep, above: OriginMotion, V_p: Array, V_k: Array,
) -> list[Screw]:
    """The screws of a segment; V_p: the parent's twist at its origin, V_k: its own."""
    u, w, a = V_p[:3], V_p[3:], step.down(above.a + above.U @ step.p)
    U, xp = rotation_rates(w, step.down(above.dw)), namespace(V_p, a)
    found = []
    for i, S in zip(segment.v_index, segment.S.T, strict=True):
        dPsi = motion_cross(V_p, S)
        dS = dPsi if len(segment.v_index) == 1 else motion_cross(V_k, S)
        linear = U @ S[:3] + cross(a, S[3:]) + 2 * cross(u, dPsi[3:])
        found.append(Screw(i, k, S, dS, dPsi, xp.concatenate([linear, U @ S[3:]])))
    return found
