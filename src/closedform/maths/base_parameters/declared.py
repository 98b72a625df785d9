"""A robot rebuilt in floats from its exact geometry: the robot about which exact ranks speak."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from closedform.arrays import Array, numeric
from closedform.maths.base_parameters.exact_geometry import ExactGeometry, ExactSegment
from closedform.maths.base_parameters.modified_dh import ExactPose
from closedform.model.inertia import Inertia
from closedform.model.pose import pose
from closedform.model.robot import Robot


def declared_robot(geometry: ExactGeometry, robot: Robot, number: Callable[[Any], float]) -> Robot:
    """The robot with the declared poses, axes and gravity; `number` reads an exact number.

    Inertias that hold symbols are left out: ranks do not depend on them.
    """
    parts: dict[int, list[ExactSegment]] = {}
    for s in geometry.segments:
        parts.setdefault(s.segment.owner, []).append(s)
    bodies = []
    for k, body in enumerate(robot.bodies):
        screws = [_floats(s.screws, number) for s in parts[k]]
        joint = body.joint.with_moving(body.joint.moving.with_screws(screws))
        inertia = body.inertia if numeric(body.inertia.array) else Inertia()
        if joint.rotor_inertia is not None and not numeric(np.asarray(joint.rotor_inertia)):
            joint = replace(joint, rotor_inertia=0.0 if np.ndim(joint.rotor_inertia) == 0
                            else (0.0,) * len(joint.rotor_inertia))
        bodies.append(replace(body, joint=joint, inertia=inertia,
                              placement=_pose(parts[k][0].pose, number)))
    strength = np.linalg.norm(robot.gravity.astype(float)) if numeric(robot.gravity) else 9.81
    direction = np.array([number(x) for x in geometry.gravity])
    return Robot(robot.name, bodies, direction * strength, (), robot.source)


def _floats(screws: list[list[Any]], number: Callable[[Any], float]) -> Array:
    return np.array([[number(x) for x in screw] for screw in screws]).reshape(len(screws), 6)


def _pose(at: ExactPose, number: Callable[[Any], float]) -> Array:
    return pose(np.array([[number(x) for x in row] for row in at.R]),
                np.array([number(x) for x in at.p]))

