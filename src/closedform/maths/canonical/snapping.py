"""The robot with numbers made exact that a file writes with too few digits."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from closedform.arrays import Array, numeric
from closedform.model.joints import Joint
from closedform.model.loops.carried import with_loops_of
from closedform.model.pose import pose
from closedform.model.robot import Body, Frame, Robot

SMALL = 1e-7
"""Entries of a rotation that its being one to rounding does not show: their squares are 1e-14."""
WRITTEN = 1e-9
"""More than π and its half miss when written with nine decimals."""
ROUNDING = 2e-15
"""What is left of an entry 0 or ±1 when rotations are multiplied."""
MOVED = 1e-13
"""An offset next to the placement's largest that is lost in moving a frame: 400 roundings."""


def snapped(robot: Robot, tolerance: float | None = None) -> tuple[Robot, tuple[str, ...]]:
    """The robot with rotation entries within `tolerance` of 0 and ±1 made exact, and what changed.

    If none is told, only what writing numbers down has left is undone: rounding, and quarter turns
    of nine decimals or more, such as 1.57079632679; any other tilt is meant as it is.
    A rotation is snapped only if it stays one to rounding and no small entry is left: a tilt is
    removed as a whole or kept as it is. Axes are treated alike; offsets below a thousandth of the
    tolerance (in metres), and within it next to the placement's largest, become 0; if none is told,
    those that are lost in moving a frame.
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
    made = Robot(robot.name, bodies, robot.gravity, frames, robot.source)
    return with_loops_of(made, robot), tuple(notes)


def _snapped_pose(T: Array, tolerance: float | None) -> Array:
    if not numeric(T):
        return T
    R, p = T[:3, :3], T[:3, 3]
    tidy = _tidy(R, WRITTEN if tolerance is None else tolerance)
    if np.abs(tidy.T @ tidy - np.eye(3)).max() > 4e-15:
        tidy = R
    if tolerance is None and not any(_is_written(_turn(A)) for A in (tidy.T @ R, R @ tidy.T)):
        tidy = R
    size = np.abs(p).max()
    least = MOVED * size if tolerance is None else tolerance * min(1e-3, size)
    return pose(tidy, np.where(np.abs(p) < least, 0.0, p))


def _snapped_axis(axis: Array, tolerance: float | None) -> Array:
    tidy = _tidy(axis, WRITTEN if tolerance is None else tolerance)
    if tolerance is None and not _is_written(axis - tidy):
        return axis
    return tidy if abs(np.linalg.norm(tidy) - 1) < 4e-16 else axis


def _tidy(entries: Array, tolerance: float) -> Array:
    """The entries within `tolerance` of 0 and ±1 made exact, unless other small ones are left."""
    near = np.round(entries)
    tidy = np.where(np.abs(entries - near) < tolerance, near, entries)
    return entries if np.any((tidy != 0) & (np.abs(tidy) < SMALL)) else tidy


# ---------------------------------------------------------------------- digits
def _turn(R: Array) -> Array:
    """The vector of a small turn."""
    return 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])


def _is_written(angles: Array) -> bool:
    """Whether small angles are what rounding leaves, or writing quarter turns down, or two."""
    large = angles[np.abs(angles) > ROUNDING]
    return all(np.abs(_left_by_digits() - x).min() < ROUNDING for x in large)


@cache
def _left_by_digits() -> Array:
    """What π/2 and π miss with so many decimals, rounded or cut, once or two of them together.

    More together could be a tilt of 1e-11, and be meant: 2 · 1.57079632679 − 3.14159265359.
    """
    turns = np.array([math.pi / 2, math.pi])
    found = []
    for scale in 10.0 ** np.arange(9, 16):
        for written in (np.round(turns * scale), np.floor(turns * scale)):
            miss = turns - written / scale
            one = np.concatenate([[0.0], miss, -miss])
            found.append(np.add.outer(one, one).ravel())
    return np.unique(found)
