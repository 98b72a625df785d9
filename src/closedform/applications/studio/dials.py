"""Dials: the numbers that a hand turns, one to a slider, and the coordinates q that they stand for.

A joint whose coordinates add up has a dial for each of them. A quaternion has three, the angles of
roll, pitch and yaw. Of a robot with loops the independent joints have dials.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from closedform.arrays import NUMBERS, Floats
from closedform.model.bodies import Body
from closedform.model.groups.quaternions import rotation
from closedform.model.pose import from_rpy, to_rpy
from closedform.model.robot import Robot

STEP = 1e-3
"""rad or m between two positions of a dial; 0 is one of them."""
METRES, TURN = 2.0, np.pi
"""How far a dial goes where the model has no limit."""
ANGLES = ("roll", "pitch", "yaw")


@final
@dataclass(frozen=True)
class Dial:
    """One slider: its name, its range, and whether it is an angle (rad) or a length (m)."""

    name: str
    low: float
    high: float
    turns: bool


@final
class Dials:
    """All dials of a robot, in the order of q."""

    def __init__(self, robot: Robot) -> None:
        turned_by_hand = [(body, i) for body, i, j in robot.parts
                          if robot.closure is None or j.stop > j.start]
        self.parts = [(body.joint.unit, i) for body, i in turned_by_hand]
        self.all = tuple(dial for body, i in turned_by_hand for dial in _dials(robot, body, i))
        self.low = np.array([dial.low for dial in self.all])
        self.high = np.array([dial.high for dial in self.all])

    def values(self, q: Floats) -> Floats:
        """Where the dials stand at q."""
        found = []
        for unit, i in self.parts:
            x = q[i]
            if unit is not None:
                angles = to_rpy(turned(np.roll(x[unit], 1)))
                x = np.concatenate([x[:unit.start], angles, x[unit.stop:]])
            found.append(x)
        return np.concatenate([np.zeros(0), *found])

    def coordinates(self, values: Floats, q: Floats) -> Floats:
        """q for positions of the dials; coordinates without dials stay, loops are then open."""
        q, at = q.copy(), 0
        for unit, i in self.parts:
            size = i.stop - i.start - (unit is not None)
            x = values[at:at + size]
            if unit is not None:
                turn = np.roll(wxyz(np.asarray(from_rpy(*x[unit.start:unit.start + 3]))), -1)
                x = np.concatenate([x[:unit.start], turn, x[unit.start + 3:]])
            q[i] = x
            at += size
        return q


def _dials(robot: Robot, body: Body, i: slice) -> list[Dial]:
    joint, name = body.joint, body.joint_name
    lower, upper, made = robot.lower[i], robot.upper[i], []
    for k in range(joint.nq):
        if joint.unit is None or not joint.unit.start <= k < joint.unit.stop:
            turns = k not in joint.moving.lengths
            label = name if joint.nq == 1 else f"{name}[{k}]"
            made.append(Dial(label, *_range(float(lower[k]), float(upper[k]), turns), turns))
        elif k == joint.unit.start:
            made += [Dial(f"{name} {a}", *_range(-np.inf, np.inf, True), True) for a in ANGLES]
    return made


def _range(low: float, high: float, turns: bool) -> tuple[float, float]:
    """Finite, and with 0 on its steps: a slider counts them from its lower end."""
    far = TURN if turns else METRES
    low = low if np.isfinite(low) else min(-far, high - far)
    high = high if np.isfinite(high) else max(far, low + far)
    first, last = np.ceil(low / STEP), np.floor(high / STEP)
    return float(first * STEP), float(max(last, first + 1) * STEP)


def wxyz(R: Floats) -> Floats:
    """Quaternions (w, x, y, z) of rotation matrices, (..., 4) of (..., 3, 3); many at once.

    4 x xᵀ = 1 + K: the row of the largest entry of its diagonal is x but for its length.
    """
    (a, b, c), (d, e, f), (g, h, i) = np.moveaxis(R, (-2, -1), (0, 1))
    K = np.stack([np.stack(row, axis=-1) for row in (
        (a + e + i, h - f, c - g, d - b), (h - f, a - e - i, b + d, c + g),
        (c - g, b + d, e - a - i, f + h), (d - b, c + g, f + h, i - a - e))], axis=-2)
    K = K + np.eye(4)
    k = np.argmax(np.diagonal(K, axis1=-2, axis2=-1), axis=-1)
    found = np.take_along_axis(K, k[..., None, None], axis=-2)[..., 0, :]
    return found / np.linalg.norm(found, axis=-1, keepdims=True)


def turned(x: Floats) -> Floats:
    """The rotation matrix of a quaternion (w, x, y, z) of any length but zero."""
    return np.asarray(rotation(np.roll(x / np.linalg.norm(x), -1), NUMBERS), dtype=float)


def tilted(gravity: Floats, roll: float, pitch: float) -> Floats:
    """Gravity as a robot sees it whose mount is turned by roll and pitch: Rᵀ g."""
    return np.asarray(from_rpy(roll, pitch, 0.0)).T @ gravity
