"""What programs of a robot depend on: as one key, and whether it is all numbers."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from closedform.applications.compile.requests import RuntimeInput
from closedform.arrays import numeric
from closedform.model.joints import Joint, geometry
from closedform.model.robot import Robot


def robot_digest(robot: Robot, inputs: Sequence[RuntimeInput] = ()) -> str:
    """sha256 of the numbers and the structure of a robot; names count where frames are named."""
    text = hashlib.sha256()
    text.update(repr((robot.parents, robot.gravity.tolist(), inputs)).encode())
    for body in robot.bodies:
        text.update(repr((body.name, body.gravity_compensation, _joint_text(body.joint))).encode())
        text.update(np.ascontiguousarray(body.placement).tobytes())
        text.update(np.ascontiguousarray(body.inertia.array).tobytes())
    for frame in robot.frames:
        text.update(repr((frame.name, frame.body)).encode())
        text.update(np.ascontiguousarray(frame.placement).tobytes())
    if robot.closure is not None:
        text.update(repr((robot.closure.key, robot.closure.rows, robot.closure.pivots)).encode())
    return text.hexdigest()


def _joint_text(joint: Joint) -> tuple[Any, ...]:
    own = [(f.name, getattr(joint, f.name)) for f in fields(joint)
           if f.name not in ("name", "lower", "upper", "velocity", "effort")]
    return joint.kind, own


def in_numbers(robot: Robot) -> bool:
    """Whether everything that programs of the robot depend on is plain numbers."""
    given: list[Any] = [robot.gravity, *(frame.placement for frame in robot.frames)]
    for body in robot.bodies:
        joint = body.joint
        given += [body.placement, body.inertia.array, *geometry(joint.moving).values()]
        given += [x for x in (joint.rotor_inertia, *(joint.driver or ())[1:]) if x is not None]
    return all(numeric(x) for x in given)
