"""Robots changed: joints locked, bodies that do not move in each other merged, loads put on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from closedform.arrays import NO_ARRAY, NUMBERS
from closedform.errors import ArgumentError, UnknownName, suggestion
from closedform.model.bodies import Body, Frame
from closedform.model.coordinates import neutral
from closedform.model.inertia import Inertia
from closedform.model.joints import Fixed, Joint
from closedform.model.pose import pose
from closedform.model.tree import Tree

T = TypeVar("T", bound=Tree)
UNIT = 1e-6
"""How far from 1 the length of a unit vector may be."""


def with_locked(robot: T, locked: Mapping[str, Any] | Sequence[str]) -> T:
    """The robot with the named joints held at the given coordinates (neutral if none are given).

    Mimic joints that follow a locked one are locked too. Every locked body merges into its parent
    and stays as a frame.
    """
    values = _checked(robot, locked)
    q = neutral(robot)
    for name, value in values.items():
        q[robot.q_slices[name]] = value
    held = {i for name in values for i in range(*robot.q_slices[name].indices(robot.nq))}
    still = {robot.bodies[s.body].name: s.coordinates(q) for s in robot.segments
             if s.body is not None and s.q_index and held.issuperset(s.q_index)}
    bodies = []
    for body in robot.bodies:
        if body.name in still:
            joint = body.joint
            own = still[body.name] if joint.driver else q[robot.q_slices[body.joint_name]]
            placement = body.placement @ pose(*joint.pose(own, NUMBERS))
            body = replace(body, joint=Fixed(name=joint.name), placement=placement)
        bodies.append(body)
    return merged(bodies, robot, set(still))


def merged(bodies: Sequence[Body], robot: T, names: set[str]) -> T:
    """The robot of these bodies; each fixed body named is part of its parent (or the world).

    It stays as a frame of its own name; as a fixed body, where another fraction of its weight is
    carried than of its parent's.
    """
    home: dict[str | None, tuple[str | None, np.ndarray]] = {None: (None, np.eye(4))}
    kept: dict[str, Body] = {}
    frames: list[Frame] = []
    for body in bodies:
        at, pose_of_parent = home[body.parent]
        placement = pose_of_parent @ body.placement
        alike = at is None or kept[at].gravity_compensation == body.gravity_compensation
        if body.name in names and body.joint.is_fixed and alike:
            home[body.name] = at, placement
            frames.append(Frame(body.name, at, placement))
            if at is not None:
                inertia = kept[at].inertia + body.inertia.seen_from(placement)
                kept[at] = replace(kept[at], inertia=inertia)
        else:
            home[body.name] = body.name, np.eye(4)
            kept[body.name] = replace(body, parent=at, placement=placement)
    for frame in robot.frames:
        at, placement = home[frame.body]
        frames.append(Frame(frame.name, at, placement @ frame.placement))
    return replace(robot, bodies=tuple(kept.values()), frames=tuple(frames),
                   configurations=_carried(robot, kept.values()))


def _carried(robot: Tree, bodies: Iterable[Body]) -> dict[str, np.ndarray]:
    """The robot's configurations with the coordinates of those joints that these bodies keep."""
    slices = robot.q_slices
    kept = [slices[b.joint_name] for b in bodies if b.joint.nv]
    return {name: np.concatenate([q[:0], *(q[at] for at in kept)])
            for name, q in robot.configurations.items()}


def with_payload(robot: T, inertia: Inertia, at: str) -> T:
    """The robot with a rigid load at a frame or body; `inertia` is in that frame.

    Of its weight the same fraction is carried as of the body's.
    """
    frame = robot.frame(at)
    if frame.body is None:
        raise ArgumentError(f"at: the frame {at!r} belongs to the world, which carries no payload")
    if not isinstance(inertia, Inertia):
        raise ArgumentError(f"inertia must be a cf.Inertia, not {inertia!r}")
    load = inertia.seen_from(frame.placement)
    return replace(robot, bodies=tuple(
        replace(body, inertia=body.inertia + load) if body.name == frame.body else body
        for body in robot.bodies))


def _checked(robot: Tree, locked: Mapping[str, Any] | Sequence[str]) -> dict[str, np.ndarray]:
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
        if joint.unit and abs(np.linalg.norm(x[joint.unit]) - 1) > UNIT:
            what = "quaternion" if joint.quaternion else "vector"
            raise ArgumentError(f"joint {name!r} needs a unit {what} to be locked at, not "
                                f"{x[joint.unit].tolist()}")
        result[name] = x
    return result


def _numbers(value: Any) -> np.ndarray:
    """A coordinate or several as an array, empty where they are no numbers."""
    try:
        return np.atleast_1d(np.asarray(value, dtype=float))
    except NO_ARRAY:
        return np.zeros(0)
