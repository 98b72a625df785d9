"""The robot with numbers made exact that a file writes with too few digits."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from closedform.arrays import Array, numeric
from closedform.model.joints import Joint
from closedform.model.pose import pose
from closedform.model.robot import Body, Frame, Robot

SMALL = 1e-7
"""Entries of a rotation that its being one to rounding does not show: their squares are 1e-14."""


def snapped(robot: Robot, tolerance: float = 1e-9) -> tuple[Robot, tuple[str, ...]]:
    """The robot with rotation entries within `tolerance` of 0 and ±1 made exact, and what changed.

    A rotation is snapped only if it stays one to rounding and no small entry is left: a tilt is
    removed as a whole or kept as it is. Axes are treated alike; offsets below a thousandth of the
    tolerance (in metres), and within it next to the placement's largest, become 0.
    """
    notes: list[str] = []

    def noted(name: str, what: str, new: Array, old: Array) -> Array:
        if not np.array_equal(new, old):
            notes.append(f"{name}: {what} changed by {np.abs(new - old).max():.1e}")
        return new

    def placement(of: Body | Frame) -> Array:
        return noted(of.name, "placement", _snapped_pose(of.placement, tolerance), of.placement)

    def joint(body: Body) -> Joint:
        moving, changes = body.joint.moving, dict[str, Any]()
        for name in moving.axes:
            axis = np.array(getattr(moving, name))
            if numeric(axis):
                changes[name] = tuple(noted(body.name, name, _snapped_axis(axis, tolerance), axis))
        return body.joint.with_moving(replace(moving, **changes))

    bodies = [replace(b, placement=placement(b), joint=joint(b)) for b in robot.bodies]
    frames = [replace(f, placement=placement(f)) for f in robot.frames]
    return Robot(robot.name, bodies, robot.gravity, frames, robot.source), tuple(notes)


def _snapped_pose(T: Array, tolerance: float) -> Array:
    if not numeric(T):
        return T
    R, p = T[:3, :3], T[:3, 3]
    tidy = _tidy(R, tolerance)
    if np.abs(tidy.T @ tidy - np.eye(3)).max() > 4e-15:
        tidy = R
    least = tolerance * min(1e-3, np.abs(p).max())
    return pose(tidy, np.where(np.abs(p) < least, 0.0, p))


def _snapped_axis(axis: Array, tolerance: float) -> Array:
    tidy = _tidy(axis, tolerance)
    return tidy if abs(np.linalg.norm(tidy) - 1) < 4e-16 else axis


def _tidy(entries: Array, tolerance: float) -> Array:
    """The entries within `tolerance` of 0 and ±1 made exact, unless other small ones are left."""
    near = np.round(entries)
    tidy = np.where(np.abs(entries - near) < tolerance, near, entries)
    return entries if np.any((tidy != 0) & (np.abs(tidy) < SMALL)) else tidy
