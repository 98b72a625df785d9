"""Axes that miss being parallel to the one before them by a little."""

from __future__ import annotations

import numpy as np

from closedform.arrays import Array, numeric
from closedform.model.robot import Robot

LEAST, MOST = 1e-13, 1e-2
"""Between these angles, in rad, an axis is nearly parallel; below the first it is parallel."""


def tilts(robot: Robot) -> dict[str, float]:
    """Joints whose axis is nearly parallel to that of the moving joint before it: name to angle."""
    found: dict[str, float] = {}
    before: dict[str | None, Array | None] = {None: None}     # the last axis, in the body's frame
    for body in robot.bodies:
        line, R, last = body.joint.moving.line, body.placement[:3, :3], before[body.parent]
        last = last if last is None else R.T @ last
        axis = last if line is None or body.joint.is_fixed else line[0]
        if axis is not None and last is not None and numeric(axis) and numeric(last):
            angle = float(np.linalg.norm(np.cross(axis, last)))
            if LEAST < angle < MOST:
                found[body.joint_name] = angle
        turns = line is None and not body.joint.is_fixed      # a ball is parallel to nothing
        before[body.name] = None if turns else axis
    return found
