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
from closedform.model.joints import (
    Cylindrical,
    Helical,
    Joint,
    Mimic,
    Planar,
    Prismatic,
    Revolute,
    Universal,
)
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
        joint = _joint(body.joint, [_floats(s.screws, number) for s in parts[k]])
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


def _joint(joint: Joint, screws: list[Array]) -> Joint:
    """The joint with its axes and points read from its screws (v; ω): the point is ω × v."""
    if isinstance(joint, Mimic):
        return replace(joint, joint=_joint(joint.joint, screws))
    if isinstance(joint, Universal):
        return replace(joint, axis1=screws[0][0][3:], axis2=screws[1][0][3:])
    if isinstance(joint, Prismatic):
        return replace(joint, axis=screws[0][0][:3])
    if isinstance(joint, Planar):
        return replace(joint, normal=screws[0][2][3:])
    if isinstance(joint, Revolute | Helical | Cylindrical):
        v, axis = screws[0][-1][:3], screws[0][-1][3:]
        moved = replace(joint, axis=axis, point=np.cross(axis, v))
        return replace(moved, pitch=float(axis @ v)) if isinstance(moved, Helical) else moved
    return joint
