"""Motions given over time: splines through samples, cosines; q and the rates v, a, j, s of them.

What is given are coordinates; the Taylor series of the velocities are those of v with q̇ = Γ(q) v.
"""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, final

import numpy as np

from closedform.arrays import OBJECTS, ArrayLike, Floats
from closedform.errors import ArgumentError, FormatError
from closedform.maths.scalars.series import Series, derivative, objects
from closedform.model.groups.quaternions import normalised
from closedform.model.joints import Joint
from closedform.model.robot import Robot

DEGREE = 7
"""Of the splines: the fourth derivative of q is still smooth."""
ROWS = 5
"""q and its four derivatives."""


class Trajectory(Protocol):
    """Coordinates as functions of time."""

    def coordinates(self, times: Floats) -> Floats:
        """q and its first four derivatives at the times, (5, points, nq)."""


@final
@dataclass(frozen=True, eq=False)
class Sampled:
    """The spline of degree 7 through samples q, (points, nq), at increasing times."""

    times: Floats
    q: Floats

    def __post_init__(self) -> None:
        if len(self.times) <= DEGREE:
            raise ArgumentError(f"a trajectory needs more than {DEGREE} samples for its four "
                                f"derivatives, not {len(self.times)}")
        if self.q.ndim != 2 or len(self.q) != len(self.times):
            raise ArgumentError(f"samples must be (points, nq) for {len(self.times)} times, "
                                f"not {self.q.shape}")
        if not np.all(np.isfinite(self.q)) or not np.all(np.diff(self.times) > 0):
            raise ArgumentError("samples must be finite, at times that increase")

    def coordinates(self, times: Floats) -> Floats:
        from scipy.interpolate import make_interp_spline  # slow to import
        spline = make_interp_spline(self.times, self.q, k=DEGREE)
        return np.stack([spline(times, nu=k) for k in range(ROWS)])


@final
@dataclass(frozen=True, eq=False)
class Cosines:
    """q_i = centre_i + amplitude_i cos(frequency_i t), as in [MuellerKumar2021, Fig. 3]."""

    centre: Floats
    amplitude: Floats
    frequency: Floats  # rad/s

    def coordinates(self, times: Floats) -> Floats:
        phase = np.multiply.outer(times, self.frequency)
        rows = [self.amplitude * self.frequency**k * np.cos(phase + k * math.pi / 2)
                for k in range(ROWS)]
        return np.stack([self.centre + rows[0], *rows[1:]])


def cosines(robot: Robot) -> Cosines:
    """Each coordinate swings within its limits at its own frequency; quaternions stand still."""
    bounded = np.isfinite(robot.lower) & np.isfinite(robot.upper)
    lower, upper = np.where(bounded, robot.lower, -2.0), np.where(bounded, robot.upper, 2.0)
    moves = np.ones(robot.nq, dtype=bool)
    for body, i, _ in robot.parts:
        if body.joint.unit:
            moves[i][body.joint.unit] = False
    centre = np.where(moves, (lower + upper) / 2, robot.neutral())
    amplitude = np.where(moves, np.minimum((upper - lower) / 4, 1.0), 0.0)
    return Cosines(centre, amplitude, 1.0 + 0.25 * np.arange(robot.nq, dtype=np.float64))


def read_samples(robot: Robot, path: str | Path) -> Sampled:
    """Samples from a CSV file: time, then the coordinates; a first line of names is allowed."""
    try:
        with Path(path).open(encoding="utf8", newline="") as file:
            lines = [line for line in csv.reader(file) if line]
    except (UnicodeDecodeError, csv.Error) as error:
        raise FormatError(f"{path}: not a text file: {error}") from error
    if lines and not _numbers(lines[0]):
        lines = lines[1:]
    for number, line in enumerate(lines, start=1):
        if not _numbers(line) or len(line) != robot.nq + 1:
            raise FormatError(f"{path}: row {number} must be a time and the {robot.nq} coordinates "
                              f"of {robot.name}, not {','.join(line)!r}")
    table = np.array(lines, dtype=float).reshape(len(lines), robot.nq + 1)
    return Sampled(table[:, 0], continuous(robot, table[:, 1:]))


def _numbers(line: list[str]) -> bool:
    try:
        [float(cell) for cell in line]
    except ValueError:
        return False
    return True


def continuous(robot: Robot, q: Floats) -> Floats:
    """The samples with every quaternion on the side of the one before: q and −q are one turn."""
    q = q.copy()
    for body, i, _ in robot.parts:
        if body.joint.quaternion:
            turn = q[:, i][:, body.joint.quaternion]
            steps = np.sign(np.sum(turn[1:] * turn[:-1], axis=1))
            turn[1:] *= np.cumprod(np.where(steps < 0, -1.0, 1.0))[:, None]
    return q


# ---------------------------------------------------------------------- velocities
def motion(robot: Robot, trajectory: Trajectory, times: ArrayLike) -> tuple[Floats, Floats]:
    """q (points, nq), its quaternions of length one, and the rates v, a, j, s (points, 4, nv)."""
    t = np.asarray(times, dtype=float)
    x = trajectory.coordinates(t)
    if x.shape != (ROWS, len(t), robot.nq):
        raise ArgumentError(f"the trajectory has {x.shape[-1]} coordinates, {robot.name} has "
                            f"{robot.nq}")
    scale = np.array([math.factorial(k) for k in range(ROWS)], dtype=float)[:, None, None]
    c, q, rates = x / scale, x[0].copy(), np.empty((ROWS - 1, len(t), robot.nv))
    for body, i, j in robot.parts:
        rates[:, :, j] = joint_velocities(body.joint, c[:, :, i]) * scale[:-1]
        if body.joint.unit:
            turn = q[:, i][:, body.joint.unit]
            turn[:] = normalised(turn)
    return q, np.moveaxis(rates, 0, 1)


def joint_velocities(joint: Joint, c: Floats) -> Floats:
    """Taylor coefficients of a joint's velocities from those of its coordinates, one fewer."""
    q = objects([Series(list(c[:, :, i])) for i in range(joint.nq)], (joint.nq,))
    v = joint.velocities(q, derivative(q), OBJECTS)
    return np.stack([np.stack([v_i.c[k] for v_i in v], axis=-1) for k in range(len(c) - 1)])
