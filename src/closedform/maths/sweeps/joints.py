"""What one joint adds to the sweeps over a robot; everything is written in the world's axes.

The origin is a point that rests beside the robot, where its first joint is: a robot far from the
world's origin has large m o², of which differences would be left. The world is at o_w.

A velocity is a turn about an axis e of the joint's frame, a slide along it, or both:

    R_k = R_p L      o_k = o_p + R_p d      S = (turn o × e + slide e; turn e)
    V_k = V_p + S v      A_k = A_p + S a + Ψ̇ v      Ψ̇ = V_P × S

V_P belongs to the body that the joint hangs from: of a joint of several velocities it is not that
of the velocity before. Ṡ = V × S with V of the body behind the joint; where a joint has one
velocity, Ψ̇ is the same.

Cites: [SinghRussellWensing2022].
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from closedform.arrays import Array, Number, namespace
from closedform.maths.spatial import cross, motion_cross
from closedform.model.joints import Free, Spherical

StepArrays = dict[str, Any]
"""Results by the arrays that they are entries of."""
StepFunction = Callable[..., StepArrays]


def world(gravity: Array) -> StepArrays:
    """The axes of the world, at rest; its acceleration stands for gravity."""
    xp = namespace(gravity)
    return {"R": xp.eye(3), "V": xp.zeros(6), "VP": xp.zeros(6),
            "A": xp.concatenate([-gravity, xp.zeros(3)]), "AP": xp.zeros(6)}


def weightless_world(gravity: Array) -> StepArrays:
    """The world without gravity."""
    return world(0 * gravity)


def coordinate(q_s: Number) -> StepArrays:
    """q of a unit, where q and v are not of one length."""
    return {"x": q_s}


def local(x: Number, R0: Array, p0: Array, joint: Array) -> StepArrays:
    """The pose of a joint's frame in the one before: L = R_0 R_z and d."""
    xp = namespace(R0)
    turn, slide = joint
    angle = turn * x
    c, s = xp.cos(angle), xp.sin(angle)
    e, n, z = R0[:, 0], R0[:, 1], R0[:, 2]
    return {"L": xp.stack([c * e + s * n, c * n - s * e, z]).T, "d": p0 + z * (slide * x)}


def free(free_s: Array, R0: Array, p0: Array) -> StepArrays:
    """The same of a free joint."""
    R, p = Free().pose(free_s, namespace(free_s))
    return {"L": R0 @ R, "d": p0 + R0 @ p}


def spherical(spherical_s: Array, R0: Array, p0: Array) -> StepArrays:
    R, _ = Spherical().pose(spherical_s, namespace(spherical_s))
    return {"L": R0 @ R, "d": p0}


def planar(planar_s: Array, R0: Array, p0: Array) -> StepArrays:
    turned = local(planar_s[2], R0, p0, (1, 0))  # type: ignore[arg-type]
    return turned | {"d": p0 + R0[:, :2] @ planar_s[:2]}


def origin(d_u: Array) -> StepArrays:
    """Where the world is, seen from the first joint."""
    return {"o": -d_u}


def resting_origin(p0_u: Array) -> StepArrays:
    """The same seen from where the first joint is at q = 0: it stays there on series in time."""
    return {"o": -p0_u}


def pose(R_p: Array, o_p: Array, L: Array, d: Array) -> StepArrays:
    return {"R": R_p @ L, "o": o_p + R_p @ d}


def pose_behind(R_p: Array, o_p: Array, R: Array, o: Array) -> StepArrays:
    """The pose at the end of a row of joints that begins at (R_p, o_p), from that in its frame."""
    return {"R": R_p @ R, "o": o_p + R_p @ o}


NEUTRAL = {"R": np.eye(3)}
"""Where a row of joints begins that is in its own frame; zero is neutral among all other arrays."""


def screw(R: Array, o: Array, axis: Array, motion: Array) -> StepArrays:
    turn, slide = motion
    e = R @ axis
    return {"S": namespace(R).concatenate([cross(o, e) * turn + e * slide, e * turn])}


def velocity(V_p: Array, VP_p: Array, S: Array, v: Number, first: Number) -> StepArrays:
    """V, and beside it V_P: of a joint's further velocities, as the first has it."""
    return {"V": V_p + S * v, "VP": first * V_p + (1 - first) * VP_p}


def rates(VP: Array, S: Array) -> StepArrays:
    """Ψ̇ = V_P × S."""
    return {"dPsi": motion_cross(VP, S)}


def screw_rates(V_g: Array, S: Array) -> StepArrays:
    """Ṡ = V × S, V being that of the last velocity of the joint."""
    return {"dS": motion_cross(V_g, S)}


def acceleration(
    A_p: Array, AP_p: Array, S: Array, dPsi: Array, v: Number, a: Number, first: Number,
) -> StepArrays:
    return {"A": A_p + S * a + dPsi * v, "AP": first * A_p + (1 - first) * AP_p}


def bias_acceleration(
    A_p: Array, AP_p: Array, dPsi: Array, v: Number, first: Number,
) -> StepArrays:
    """That of a = 0."""
    return {"A": A_p + dPsi * v, "AP": first * A_p + (1 - first) * AP_p}


def reference_world(gravity: Array) -> StepArrays:
    """The world in a second motion, that of a reference."""
    xp = namespace(gravity)
    return {"VR": xp.zeros(6), "AR": xp.concatenate([-gravity, xp.zeros(3)])}


def reference_motion(
    VR_p: Array, AR_p: Array, S: Array, dS: Array, v_r: Number, a_r: Number,
) -> StepArrays:
    """V_r = Σ S v_r and A_r = Σ S a_r + Ṡ v_r."""
    return {"VR": VR_p + S * v_r, "AR": AR_p + S * a_r + dS * v_r}
