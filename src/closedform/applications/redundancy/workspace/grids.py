"""Targets of a map: places on a grid, each with the same orientations; made when they are needed.

Cites: [Alexa2022], for orientations that are spread evenly.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, final

import numpy as np
from scipy.spatial.transform import Rotation

from closedform.applications.redundancy.tasks import PlanarPosition, Pose, Position, Task
from closedform.arrays import NO_ARRAY, ArrayLike, Floats
from closedform.errors import ArgumentError
from closedform.maths.frames import LOCAL_WORLD_ALIGNED, frame_jacobian, frame_pose
from closedform.model.robot import Robot

GOLDEN = np.sqrt(2.0), 1.533751168755204288118041
"""The two irrational numbers of the spiral: ψ⁴ = ψ + 4."""
MOST, LONGEST = 10**12, 10**7
"""Targets of a grid, and places along one of its axes."""
CLIMBS = 40
"""Steps to the end of what a frame reaches."""
STRAIGHT = 1e-6
"""How far RRᵀ of a rotation may be from 1, as of a target's."""


class Targets(Protocol):
    """Rows of targets that can be cut: an array in memory, on disk, of Dask, or a grid."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    def __getitem__(self, rows: slice) -> Any: ...


def even_rotations(count: int) -> Floats:
    """`count` rotations spread evenly over SO(3), (count, 3, 3): super-Fibonacci spirals.

        s = k + ½,  r² = s/n,  R² = 1 − s/n,  quaternion (r sin 2πs/φ, r cos 2πs/φ,
                                                          R sin 2πs/ψ, R cos 2πs/ψ)
    """
    s = np.arange(count) + 0.5
    r, R = np.sqrt(s / count), np.sqrt(1 - s / count)
    a, b = (2 * np.pi * s / x for x in GOLDEN)
    quaternions = np.stack([r * np.sin(a), r * np.cos(a), R * np.sin(b), R * np.cos(b)], axis=-1)
    found: Floats = Rotation.from_quat(quaternions).as_matrix()
    return found


NUMBERS, WHOLE = (int, float, np.integer, np.floating), (int, np.integer)


def _corner(x: Any) -> Floats:
    """Coordinates; of what are none, none."""
    try:
        return np.asarray(x, dtype=float)
    except NO_ARRAY:
        return np.zeros(0)


def _check_orientations(given: Any) -> None:
    """Refuse what is neither how many nor rotations."""
    if isinstance(given, WHOLE) and given >= 0:
        return
    try:
        R = np.asarray(given, dtype=float)
    except NO_ARRAY:
        R = np.zeros(0)
    if R.shape[1:] != (3, 3):
        raise ArgumentError("orientations must be how many, or rotations of shape (k, 3, 3), not "
                            f"{R.shape if R.ndim > 1 else repr(given)}")
    straight = np.abs(R @ np.swapaxes(R, -1, -2) - np.eye(3)).max(axis=(-2, -1)) < STRAIGHT
    bad = ~(straight & (np.linalg.det(np.nan_to_num(R)) > 0))
    if bad.any():
        raise ArgumentError(f"orientation {int(np.argmax(bad))} is no rotation: "
                            f"{R[np.argmax(bad)].tolist()}")


@final
@dataclass(frozen=True)
class Grid:
    """Places from `lower` to `upper`, `step` apart (m), of two numbers or three.

    With `orientations` (how many, spread evenly, or rotations (k, 3, 3)) targets are poses: all
    orientations of a place follow each other. Places go through the last coordinate first.
    """

    lower: Sequence[float]
    upper: Sequence[float]
    step: float
    orientations: int | ArrayLike = 0

    def __post_init__(self) -> None:
        lower, upper = _corner(self.lower), _corner(self.upper)
        if lower.shape not in ((2,), (3,)) or upper.shape != lower.shape or not (
                np.all(np.isfinite([*lower, *upper])) and np.all(upper >= lower)):
            raise ArgumentError("a grid goes from lower to upper, two numbers each or three, "
                                f"not {self.lower!r} and {self.upper!r}")
        if not (isinstance(self.step, NUMBERS) and 0 < self.step < np.inf):
            raise ArgumentError(f"a grid's step must be positive, not {self.step!r}")
        _check_orientations(self.orientations)
        if len(self.rotations) and len(lower) != 3:
            raise ArgumentError("a grid with orientations has places of three numbers")
        places = np.prod((upper - lower) / self.step + 1)           # before axes are made
        count = float(places) * max(len(self.rotations), 1)
        if not count < MOST or np.max(upper - lower) / self.step > LONGEST:
            raise ArgumentError(f"a grid has {MOST:.0e} targets at most and {LONGEST:.0e} along an "
                                f"axis, not {count:.3g}")

    @cached_property
    def axes(self) -> tuple[Floats, ...]:
        """Coordinates of the places along each axis."""
        return tuple(a + self.step * np.arange(int(np.floor((b - a) / self.step + 1e-9)) + 1)
                     for a, b in zip(self.lower, self.upper, strict=True))

    @property
    def shape(self) -> tuple[int, ...]:
        """Places along each axis."""
        return tuple(map(len, self.axes))

    @cached_property
    def rotations(self) -> Floats:
        """(k, 3, 3)."""
        if isinstance(self.orientations, WHOLE):
            return even_rotations(int(self.orientations))
        return np.asarray(self.orientations, dtype=float)

    @property
    def key(self) -> str:
        """The same text for the same targets, and another for others."""
        given = self.orientations
        turned = int(given) if isinstance(given, WHOLE) else hashlib.sha256(
            self.rotations.tobytes()).hexdigest()
        return f"{[[*map(float, x)] for x in (self.lower, self.upper)]} {float(self.step)} {turned}"

    def __len__(self) -> int:
        return int(np.prod(self.shape, dtype=object)) * max(len(self.rotations), 1)

    def __getitem__(self, rows: slice | int) -> Floats:
        """Targets: (rows, 2), (rows, 3) or (rows, 4, 4); or one of them."""
        if not isinstance(rows, slice):
            row = range(len(self))[rows]        # with the error of a list beyond the end
            one: Floats = self[row:row + 1][0]
            return one
        k = np.arange(*rows.indices(len(self)))
        each = max(len(self.rotations), 1)
        at = np.unravel_index(k // each, self.shape)
        p = np.stack([axis[i] for axis, i in zip(self.axes, at, strict=True)], axis=-1)
        if not len(self.rotations):
            return p
        T = np.tile(np.eye(4), (len(k), 1, 1))
        T[:, :3, :3], T[:, :3, 3] = self.rotations[k % each], p
        return T

    def task(self, frame: str) -> Task:
        """What a frame has to do at these targets."""
        if len(self.rotations):
            return Pose(frame)
        return Position(frame) if len(self.axes) == 3 else PlanarPosition(frame)


def grid_around(robot: Robot, frame: str, count: int, orientations: int,
                planar: bool = False) -> Grid:
    """A grid of about `count` targets over all that a frame reaches; of x and y, if it is planar.

    From the farthest of random configurations a climb goes to the end in every direction; with
    loops there are only these. Joints that slide without limits move by 1 m each way.
    """
    rng = np.random.default_rng(0)
    q = [robot.random(rng) for _ in range(60 if robot.loops else 500)]
    p = np.array([frame_pose(robot, x, frame)[:3, 3] for x in q])
    if not robot.loops:
        p = np.array([*p, *(_farthest(robot, frame, q[int(np.argmax(p @ way))], way)
                            for way in (*np.eye(3), *-np.eye(3)))])
    p = p[:, :2] if planar else p
    room = 0.05 * (p.max(axis=0) - p.min(axis=0)).max()
    lower, upper = p.min(axis=0) - room, p.max(axis=0) + room
    step = float((np.prod(upper - lower) * max(orientations, 1) / count) ** (1 / len(lower)))
    return Grid(tuple(lower.tolist()), tuple(upper.tolist()), step, orientations)


def _farthest(robot: Robot, frame: str, q: Floats, way: Floats) -> Floats:
    """The place of a frame at the end of a climb along `way`, within limits."""
    limited = np.isfinite(robot.upper - robot.lower) if robot.nq == robot.nv else np.zeros(
        robot.nv, dtype=bool)
    p, size = frame_pose(robot, q, frame)[:3, 3], 0.5
    for _ in range(CLIMBS):
        J = frame_jacobian(robot, q, frame, LOCAL_WORLD_ALIGNED)
        slope = np.where(limited | np.any(J[3:] != 0, axis=0), way @ J[:3], 0.0)
        trial = np.clip(robot.integrate(q, size * slope / (np.linalg.norm(slope) + 1e-300)),
                        robot.lower, robot.upper)
        there = frame_pose(robot, trial, frame)[:3, 3]
        if there @ way > p @ way:
            q, p = trial, there
        else:
            size *= 0.4
    return p


def checked_targets(grid: Any, task: Task, robot: Robot) -> Targets:
    """A grid, or an array of targets with one batch axis, of any library that can cut rows."""
    if isinstance(grid, Grid):
        shape = grid[:1].shape[1:]
    else:
        try:
            grid = grid if hasattr(grid, "shape") else np.asarray(grid, dtype=float)
        except NO_ARRAY:
            raise ArgumentError(f"map: grid must be a Grid or an array of targets, not "
                                f"{grid!r:.200}") from None
        shape = tuple(grid.shape[1:])
    if shape != task.shape(robot):
        raise ArgumentError(f"map: targets of {task} have the shape {task.shape(robot)}; the grid "
                            f"has rows of {shape}")
    targets: Targets = grid
    if not count_of(targets):
        raise ArgumentError("map: the grid has no targets")
    return targets


def count_of(targets: Targets) -> int:
    """How many there are; arrays on disk have no len(), and Dask's may not know theirs."""
    if isinstance(targets, Grid):
        return len(targets)
    count = targets.shape[0]
    if not isinstance(count, WHOLE):
        raise ArgumentError("map: the array of targets does not know how many there are; "
                            "array.compute_chunk_sizes() tells it")
    return int(count)
