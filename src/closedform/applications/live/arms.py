"""What a live page shows of a flexible arm: bent links, sliders of angles and deflections, B, g, τ.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from closedform.applications.bones import Bone
from closedform.applications.live.model import SLIDES, TURNS, LiveModel, slider
from closedform.applications.live.skeleton import Skeleton
from closedform.arrays import Array, ArrayLike, namespace, real_array
from closedform.errors import ArgumentError
from closedform.maths.flexible.arm import FlexibleArm
from closedform.maths.flexible.dynamics import (
    gravity_torque,
    inertia_matrix,
    inverse_dynamics,
    tip_position,
)
from closedform.maths.flexible.kinematics import LinearRotation, link_motions
from closedform.program.pipeline import optimised
from closedform.program.record import record

POINTS = 8
"""Points behind the joint of each link that are joined by lines."""
BENT = 0.2
"""The largest deflection of a mode, of the link's length."""


def live_arm(arm: FlexibleArm, q: ArrayLike | None) -> LiveModel:
    """A flexible arm at q, every angle at 0.3 rad unless it is given."""
    start = np.concatenate([np.full(arm.n, 0.3), np.zeros(arm.nq - arm.n)])
    if q is not None:
        start = real_array(q, (arm.nq,), f"live page of {arm.name}: q")
        if start.ndim > 1 or not np.isfinite(start).all():
            raise ArgumentError(f"live page of {arm.name}: q must be {arm.nq} finite numbers")
    shapes = dict.fromkeys("qva", (arm.nq,))
    program = optimised(record(lambda q, v, a: {
        "poses": _poses(arm, q), "inertia_matrix": inertia_matrix(arm, q),
        "gravity_torque": gravity_torque(arm, q), "tip_position": tip_position(arm, q),
        "inverse_dynamics": inverse_dynamics(arm, q, v, a)}, shapes, "live_arm"))
    names = arm.coordinate_names
    angles = [k < arm.n for k in range(arm.nq)]
    ranges = [TURNS] * arm.n + [BENT * link.length for link in arm.links for _ in range(link.modes)]
    sliders = "".join(slider(name, {"of": "q", "at": k, "zero": start[k],
                                    "unit": "rad" if angles[k] else "m"},
                             (min(-most, start[k]), max(most, start[k]), start[k]))
                      for k, (name, most) in enumerate(zip(names, ranges, strict=True)))
    told = (f"{arm.n} flexible links in a plane, {arm.nq - arm.n} modes, gravity "
            f"({', '.join(f'{x:g}' for x in arm.gravity)}) m/s²")
    return LiveModel(
        arm.name, told, program, start, _lines(arm), "bent links, joined at their joints",
        [f"joint {k + 1}" for k in range(arm.n)], sliders, names,
        ["N m" if x else "N" for x in angles], [np.inf] * arm.nq, [np.inf] * arm.nq,
        ("inertia_matrix", "B(q) [kg m², kg m, kg]"), {"tip_position": "Tip [m]"},
        torque="τ = B a + h + K q + g")


def _poses(arm: FlexibleArm, q: Array) -> Array:
    """Places of the joints, then of the points of each link, (n + n POINTS, 4, 4)."""
    xp = namespace(q)
    joints, points = [], []
    for modes, at, motion in zip(arm.modes, arm.deflections,
                                 link_motions(arm, q, 0 * q, LinearRotation()), strict=True):
        r, (c, s) = motion.basis[0].value, motion.direction.value
        joints.append(r)
        along = np.linspace(0, modes.link.length, POINTS + 1)[1:]
        for x, shape in zip(along, modes.deflections(along), strict=True):
            y = shape @ q[at]
            points.append(xp.stack([r[0] + c * x - s * y, r[1] + s * x + c * y]))
    one, none = np.eye(4), 0 * q[0]
    return xp.stack([xp.stack([
        xp.stack([one[i, j] + (p[i] if j == 3 and i < 2 else none) for j in range(4)])
        for i in range(4)]) for p in [*joints, *points]])


def _lines(arm: FlexibleArm) -> Skeleton:
    """Each link from its joint through its points, seen from above."""
    o, bones = (0.0, 0.0, 0.0), []
    for i in range(arm.n):
        row = [i + 1, *range(arm.n + 1 + i * POINTS, arm.n + 1 + (i + 1) * POINTS)]
        bones += [Bone(a, o, b, o) for a, b in pairwise(row)]
    reach = round(float(sum(link.length for link in arm.links)) * (1 + BENT / 2), 4)
    return Skeleton(tuple(bones), (), (), (), o, reach or SLIDES, False, (0.0, 1.1))
