"""Robots with fewer bodies: joints locked, bodies that do not move against each other merged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from closedform.arrays import NUMBERS, Array
from closedform.errors import ArgumentError, UnknownName, suggestion
from closedform.model.joints import Fixed, Free, Joint, Mimic, Spherical
from closedform.model.pose import pose
from closedform.model.robot import Body, Frame, Robot

UNIT = 1e-6
"""How far from 1 the length of a quaternion may be."""


def locked_robot(robot: Robot, locked: Mapping[str, Any] | Sequence[str]) -> Robot:
    """The robot with the named joints held at the given coordinates (neutral if none are given).

    Mimic joints that follow a locked one are locked too. Every locked body merges into its parent
    and stays as a frame.
    """
    values = _checked(robot, locked)
    q = robot.neutral()
    for name, value in values.items():
        q[robot.q_slices[name]] = value
    held = {i for name in values for i in range(*robot.q_slices[name].indices(robot.nq))}
    still = {robot.bodies[s.body].name: s.coordinates(q) for s in robot.segments
             if s.body is not None and s.q_index and held.issuperset(s.q_index)}
    bodies = []
    for body in robot.bodies:
        if body.name in still:
            joint = body.joint
            mimic = isinstance(joint, Mimic)
            own = still[body.name] if mimic else q[robot.q_slices[body.joint_name]]
            placement = body.placement @ pose(*joint.pose(own, NUMBERS))
            body = replace(body, joint=Fixed(name=joint.name), placement=placement)
        bodies.append(body)
    return merged(bodies, robot, set(still))


def merged(bodies: Sequence[Body], robot: Robot, names: set[str]) -> Robot:
    """The robot of these bodies; each fixed body named is part of its parent (or the world).

    It stays as a frame of its own name.
    """
    home: dict[str | None, tuple[str | None, Array]] = {None: (None, np.eye(4))}
    kept: dict[str, Body] = {}
    frames: list[Frame] = []
    for body in bodies:
        at, T = home[body.parent]
        placement = T @ body.placement
        if body.name in names and isinstance(body.joint, Fixed):
            home[body.name] = at, placement
            frames.append(Frame(body.name, at, placement))
            if at is not None:
                inertia = kept[at].inertia + body.inertia.seen_from(placement)
                kept[at] = replace(kept[at], inertia=inertia)
        else:
            home[body.name] = body.name, np.eye(4)
            kept[body.name] = replace(body, parent=at, placement=placement)
    for frame in robot.frames:
        at, T = home[frame.body]
        frames.append(Frame(frame.name, at, T @ frame.placement))
    return Robot(robot.name, kept.values(), robot.gravity, frames, robot.source)


def _checked(robot: Robot, locked: Mapping[str, Any] | Sequence[str]) -> dict[str, Array]:
    joints: dict[str, Joint] = {b.joint_name: b.joint for b in robot.bodies if b.joint.nv}
    if isinstance(locked, str) or not isinstance(locked, Iterable):
        raise ArgumentError("locked must map names of joints to coordinates, or be a sequence of "
                            f"names, not {locked!r}")
    pairs = locked.items() if isinstance(locked, Mapping) else [(name, None) for name in locked]
    result = {}
    for name, value in pairs:
        if name not in joints:
            raise UnknownName(f"no moving joint {name!r} in {robot.name}; "
                              f"{suggestion(name, joints)}")
        joint = joints[name]
        x = joint.neutral() if value is None else _numbers(value)
        if x.shape != (joint.nq,) or not np.all(np.isfinite(x)):
            raise ArgumentError(f"joint {name!r} needs {joint.nq} finite numbers to be locked at, "
                                f"not {value!r}")
        if isinstance(joint, Free | Spherical) and abs(np.linalg.norm(x[-4:]) - 1) > UNIT:
            raise ArgumentError(f"joint {name!r} needs a unit quaternion to be locked at, not "
                                f"{x[-4:].tolist()}")
        result[name] = x
    return result


def _numbers(value: Any) -> Array:
    """A coordinate or several as an array, empty where they are no numbers."""
    try:
        return np.atleast_1d(np.asarray(value, dtype=float))
    except (TypeError, ValueError):
        return np.zeros(0)
