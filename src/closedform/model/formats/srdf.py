"""SRDF: the named states of a robot's groups of joints, as configurations of the robot.

A joint that a state does not name is at its zero. States of one name belong to different groups
(an arm's and its hand's "home") and are one configuration.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from closedform.errors import ArgumentError, FormatError, ModelError
from closedform.model.findings import warn_once
from closedform.model.formats.urdf.read import BASE_JOINT
from closedform.model.formats.xml import Element, children, is_xml_text, line, read_xml, tag
from closedform.model.robot import Robot

LONGEST = 1e-3
"""So far from 1 may the length of a quaternion be that is written with few digits."""


def with_states(robot: Robot, srdf: str | os.PathLike[str]) -> Robot:
    """The robot with the states of an SRDF, a path or its text, among its configurations."""
    if not isinstance(srdf, str | os.PathLike):
        raise ArgumentError(f"srdf must be a path or XML text, not {srdf!r:.200}")
    text = isinstance(srdf, str) and is_xml_text(srdf)
    document = read_xml(str(srdf) if text else Path(srdf))
    root, file = document.checked_root(), document.file
    if tag(root) != "robot":
        raise FormatError(f"{file}:{line(root)}: the root element of SRDF is <robot>, not "
                          f"<{tag(root)}>")
    joints = _joints(robot, root)
    given: dict[str, dict[str, np.ndarray]] = {}
    unknown: dict[str, None] = {}
    for state in children(root, "group_state"):
        name = state.get("name") or ""
        found = given.setdefault(name, {})
        for element in children(state, "joint"):
            joint = element.get("name") or ""
            if joint not in joints:
                still = (element.get("value") or "").strip("0. ") == ""  # as of a fixed joint
                unknown |= {} if still else {joint: None}
                continue
            value = _value(robot, joints[joint], element, file)
            if not np.array_equal(found.setdefault(joint, value), value):
                raise FormatError(f"{file}:{line(element)}: two states {name!r} have different "
                                  f"values of the joint {joint!r}; rename one")
    known = {body.joint_name for body in robot.bodies} | _virtual(root) | {BASE_JOINT}
    lost = [name for name in unknown if name not in known]
    if lost:
        warn_once(file, [f"states name joints that {robot.name} does not move: {', '.join(lost)}"])
    states = {name: _coordinates(robot, joints, values) for name, values in given.items()}
    try:
        return replace(robot, configurations={**robot.configurations, **states})
    except ModelError as error:
        raise FormatError(f"{file}: {error}") from error


def _virtual(root: Element) -> set[str]:
    """The names of the joints that put the robot into its world."""
    return {element.get("name") or "" for element in children(root, "virtual_joint")}


def _joints(robot: Robot, root: Element) -> Mapping[str, str]:
    """The robot's moving joints by their names in the SRDF: the base may have another one there."""
    own = {name: name for name in robot.joint_names}
    base = next((b.joint_name for b in robot.bodies if b.parent is None and b.joint.nv == 6), None)
    return own if base is None else {**dict.fromkeys(_virtual(root), base), **own}


def _value(robot: Robot, joint: str, element: Element, file: str) -> np.ndarray:
    words = (element.get("value") or "").split()
    kind = next(body.joint for body, _, _ in robot.parts if body.joint_name == joint)
    try:
        values = np.array([float(word) for word in words])
    except ValueError:
        values = np.array([np.nan])
    good = values.shape == (kind.nq,) and bool(np.all(np.isfinite(values)))
    if good and kind.unit:
        length = np.linalg.norm(values[kind.unit])
        good = bool(abs(length - 1) < LONGEST)
        values[kind.unit] /= length if good else 1
    if not good:
        raise FormatError(f"{file}:{line(element)}: joint {joint!r} needs {kind.nq} finite numbers"
                          f"{', of which those of a rotation have the length 1' * bool(kind.unit)}"
                          f", not {' '.join(words)[:80]!r}")
    return values


def _coordinates(robot: Robot, joints: Mapping[str, str],
                 values: Mapping[str, np.ndarray]) -> np.ndarray:
    q = robot.neutral()
    for name, value in values.items():
        q[robot.q_slices[joints[name]]] = value
    return q
