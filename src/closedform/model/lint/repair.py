"""A robot without those faults whose repair is one and the same for everyone."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from closedform.model.joints import Joint, swapped_limits
from closedform.model.robot import Robot


class Repaired(NamedTuple):
    """A robot, and what was changed in it; nothing where it had no such fault."""

    robot: Robot
    changes: tuple[str, ...]


def repaired(robot: Robot) -> Repaired:
    """Impossible inertias become the nearest possible ones, swapped limits are put in order.

    What needs a decision (a missing mass, a unit) stays as it is: `lint` goes on to say so.
    """
    bodies, changes = [], list[str]()
    for body in robot.bodies:
        inertia = body.inertia
        if inertia.impossibility() is not None and inertia.mass > 0:
            body = replace(body, inertia=inertia.nearest_possible())
            changes.append(f"body {body.name!r}: the nearest inertia that a body can have")
        if swapped_limits(body.joint.moving):
            body = replace(body, joint=_ordered(body.joint))
            changes.append(f"joint {body.joint_name!r}: its limits in order")
        bodies.append(body)
    return Repaired(replace(robot, bodies=tuple(bodies)) if changes else robot, tuple(changes))


def _ordered(joint: Joint) -> Joint:
    """The joint with each lower limit below the upper."""
    moves = joint.moving
    low, high = np.broadcast_arrays(np.asarray(moves.lower, float), np.asarray(moves.upper, float))
    return joint.with_moving(replace(moves, lower=np.minimum(low, high).tolist(),
                                     upper=np.maximum(low, high).tolist()))
