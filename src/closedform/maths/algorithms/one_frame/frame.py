"""The robot in one frame: its screws, twists and masses, so that composites are sums.

The frame may be the world's or that of any segment `base`, taken as standing still for the instant:
quantities of the joints do not depend on the choice, the number of operations does.

    S_j         screws of the joints;  Ṡ_j = V_j × S_j
    V_k         twists of the segments:  V_k = Σ S_j v_j over the joints j on the way to k
    m, h, Σ     moments of the bodies about the frame's origin; sums over subtrees are composites

Cites: [EcheandiaWensing2021, algorithm 1]; the choice of the frame is ours.
"""

from __future__ import annotations

from typing import NamedTuple

from closedform.arrays import Array, Namespace, namespace
from closedform.maths.algorithms.joint_steps import JointStep, joint_steps, twist_in_parent
from closedform.maths.algorithms.moments import Moments, moments
from closedform.model.robot import Robot


class OneFrame(NamedTuple):
    """The robot's screws, twists and masses in one frame; lists start with the world."""

    T: list[JointStep]       # from every segment's frame to the one frame
    S: list[list[Array]]     # (6,) each
    V: list[Array]           # (6,) each
    body: list[Moments]


def steps_to(robot: Robot, way: list[JointStep], base: int, xp: Namespace) -> list[JointStep]:
    """(R_bk, p_bk) of the world and of every segment in the frame of segment `base`.

        T_bp = T_bk T_pk⁻¹  from `base` to the world (number 0),   T_bk = T_bp T_pk  elsewhere
    """
    seen: dict[int, tuple[Array, Array]] = {base: (xp.eye(3), xp.zeros(3))}
    k = base
    while k:
        R, p = seen[k]
        step = way[k - 1]
        for factor in reversed(step.factors):
            R = R @ factor.T
        k = robot.segments[k - 1].parent
        seen[k] = R, p - R @ step.p
    for k, (segment, step) in enumerate(zip(robot.segments, way, strict=True), start=1):
        if k not in seen:
            R, p = seen[segment.parent]
            p = p + R @ step.p
            for factor in step.factors:
                R = R @ factor
            seen[k] = R, p
    return [JointStep((R,), p) for R, p in (seen[k] for k in range(len(robot.segments) + 1))]


def in_one_frame(robot: Robot, q: Array, v: Array, base: int = 0) -> OneFrame:
    """Screws, twists and body moments in the frame of segment `base`, root to leaf.

        S_k = X_bk s,   V_k = V_p + S_k v_k
    """
    xp = namespace(q, v)
    T = steps_to(robot, joint_steps(robot, q), base, xp)
    here = OneFrame(T, [[]], [xp.zeros(6)], [moments(None)])
    for segment, step in zip(robot.segments, T[1:], strict=True):
        V_k = here.V[segment.parent]
        screws = [twist_in_parent(step, s) for s in segment.S.T]
        for i, S in zip(segment.v_index, screws, strict=True):
            V_k = V_k + S * v[i]
        here.S.append(screws)
        here.V.append(V_k)
        here.body.append(moments(segment.inertia).in_parent(step))
    return here
