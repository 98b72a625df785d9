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
from closedform.errors import ArgumentError, FormatError, OpenLoop, SingularLoop, suggestion
from closedform.maths.loops.forces import loop_residual
from closedform.maths.scalars.series import Series, derivative, objects
from closedform.model.coordinates import coordinate_names, units
from closedform.model.groups.quaternions import normalised
from closedform.model.joints import Joint
from closedform.model.loops.affine import y_of
from closedform.model.robot import Robot

DEGREE = 7
"""Of the splines: the fourth derivative of q is still smooth."""
ROWS = 5
"""q and its four derivatives."""
NEARLY = 1e-3
"""How far samples may leave loops open, of the robot's size, and still tell their branch."""
TIME = ("t", "time")
"""What the column of times is called."""


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
    """Each coordinate swings within its limits at its own frequency; quaternions stand still.

    With loops, independent ones about the home configuration, as far as loops let them.
    """
    if robot.loops:
        return _closed_cosines(robot)
    bounded = np.isfinite(robot.lower) & np.isfinite(robot.upper)
    lower, upper = np.where(bounded, robot.lower, -2.0), np.where(bounded, robot.upper, 2.0)
    moves = np.ones(robot.nq, dtype=bool)
    for body, i, _ in robot.parts:
        if body.joint.unit:
            moves[i][body.joint.unit] = False
    centre = np.where(moves, (lower + upper) / 2, robot.neutral())
    amplitude = np.where(moves, np.minimum((upper - lower) / 4, 1.0), 0.0)
    return Cosines(centre, amplitude, 1.0 + 0.25 * np.arange(robot.nq, dtype=np.float64))


def _closed_cosines(robot: Robot) -> Cosines:
    home, y = robot.neutral(), y_of(robot)
    amplitude = np.zeros(robot.nq)
    room = np.minimum(robot.upper - home, home - robot.lower)
    amplitude[y] = np.clip(0.8 * room[y], 0.0, 0.4)
    for at in units(robot).values():
        amplitude[at] = 0.0
    ends = np.random.default_rng(0).choice([-1.0, 1.0], size=(8, len(y)))
    while np.any(amplitude > 1e-3):
        try:
            robot.closed(home[y] + ends * amplitude[y])
            break
        except (OpenLoop, SingularLoop):
            amplitude = amplitude / 2
    return Cosines(home, amplitude, 1.0 + 0.25 * np.arange(robot.nq, dtype=np.float64))


def read_samples(robot: Robot, path: str | Path) -> Sampled:
    """Samples from a CSV file: time, then the coordinates in the order of q.

    With a first line of names, columns are found by them: t or time, and the joints' names, with
    [0], [1], … where a joint has several coordinates; d_ and dd_ columns of velocities, as
    `closedform ik` writes them, are left out. q1, q2, … name the coordinates by their order.
    """
    try:
        with Path(path).open(encoding="utf-8-sig", newline="") as file:
            lines = [[cell.strip() for cell in line] for line in csv.reader(file) if line]
    except (UnicodeDecodeError, csv.Error) as error:
        raise FormatError(f"{path}: not a text file: {error}") from error
    order: list[int] | None = None
    if lines and not any(map(_is_number, lines[0])):
        order, width, lines = _order(robot, lines[0], path), len(lines[0]), lines[1:]
    else:
        width = robot.nq + 1
    for number, line in enumerate(lines, start=1):
        if not all(map(_is_number, line)) or len(line) != width:
            what = (f"a time and the {robot.nq} coordinates of {robot.name}" if order is None
                    else f"{width} numbers, as many as there are names")
            raise FormatError(f"{path}: row {number} must be {what}, not {','.join(line)!r}")
    table = np.array(lines, dtype=float).reshape(len(lines), width)[:, order or slice(None)]
    return Sampled(table[:, 0], continuous(robot, table[:, 1:]))


def _order(robot: Robot, names: list[str], path: str | Path) -> list[int]:
    """The columns of time and of each coordinate in the order of q, from the names in a file."""
    known = coordinate_names(robot.q_slices)
    time = next((k for k, name in enumerate(names) if name.lower() in TIME), 0)
    given = {name: k for k, name in enumerate(names) if k != time}
    if len(given) < len(names) - 1 or names[time] in known:
        twice = next((name for name in names if names.count(name) > 1), None)
        raise FormatError(f"{path}: two columns are named {twice!r}" if twice else
                          f"{path}: a column t or time is missing")
    if list(given) == [f"q{k}" for k in range(1, robot.nq + 1)] and given.keys() != set(known):
        return [time, *given.values()]
    rates = {f"{d}{name}" for name in coordinate_names(robot.v_slices) for d in ("d_", "dd_")}
    for name in given:
        if name not in known and name not in rates:
            raise FormatError(f"{path}: no joint of {robot.name} is named {name!r}; "
                              f"{suggestion(name, known)}")
    missing = [name for name in known if name not in given]
    if missing:
        raise FormatError(f"{path}: there is no column for {', '.join(missing)}")
    return [time, *(given[name] for name in known)]


def _is_number(cell: str) -> bool:
    try:
        float(cell)
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
    """q (points, nq), its quaternions of length one, and the rates v, a, j, s (points, 4, nv).

    Of a robot with loops the independent coordinates are followed, and the others closed.
    """
    t = np.asarray(times, dtype=float)
    x = trajectory.coordinates(t)
    if x.shape != (ROWS, len(t), robot.nq):
        raise ArgumentError(f"the trajectory has {x.shape[-1]} coordinates, {robot.name} has "
                            f"{robot.nq}")
    if not np.all(np.isfinite(x)):
        raise ArgumentError("the trajectory or its derivatives are too large to be numbers: |q| up "
                            f"to {np.max(np.abs(x[0])):.3g}")
    scale = np.array([math.factorial(k) for k in range(ROWS)], dtype=float)[:, None, None]
    c, q, rates = x / scale, x[0].copy(), np.empty((ROWS - 1, len(t), robot.tree.nv))
    for body, i, j in robot.tree.parts:
        rates[:, :, j] = joint_velocities(body.joint, c[:, :, i]) * scale[:-1]
        if body.joint.unit:
            turn = q[:, i][:, body.joint.unit]
            turn[:] = normalised(turn)
    if robot.closure is not None:
        gap = max((np.abs(loop_residual(robot, x)).max(initial=0) for x in q), default=0.0)
        q = robot.closed(q[:, y_of(robot)], near=q if gap < NEARLY * robot.closure.size else None)
        rates = rates[..., list(robot.closure.independent)]
    return q, np.moveaxis(rates, 0, 1)


def joint_velocities(joint: Joint, c: Floats) -> Floats:
    """Taylor coefficients of a joint's velocities from those of its coordinates, one fewer."""
    q = objects([Series(list(c[:, :, i])) for i in range(joint.nq)], (joint.nq,))
    v = joint.velocities(q, derivative(q), OBJECTS)
    return np.stack([np.stack([v_i.c[k] for v_i in v], axis=-1) for k in range(len(c) - 1)])
