"""The certified numeric rank of a sampled regressor: a number, or "undecided".

Rows of Y at random states, columns normalised; the rank is where the singular values fall most. It
is certified if they fall by at least 1e6 there, down to rounding errors (and so do the columns'
sizes, between those that are rounding errors and those that are not). A sampled rank is a lower
bound of the true one, a null vector that leaves every torque alone an upper bound.

Cites: [Gautier1991] for the rank of a sampled regressor; the certificate is ours.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from closedform.arrays import Array
from closedform.errors import ClosedformError
from closedform.maths.base_parameters.declared import declared_robot
from closedform.maths.base_parameters.exact_geometry import ExactGeometry, geometry_symbols
from closedform.maths.definitions.regressor import regressor
from closedform.model.robot import Robot

GAP = 1e6
NOISE = 1e-13
EPS = float(np.finfo(float).eps)


class RankDisagreement(ClosedformError, ArithmeticError):  # noqa: N818
    """Exact and certified numeric rank differ: one of them is wrong."""


@dataclass(frozen=True)
class NumericRank:
    """A rank, the factor by which singular values fall behind it, and what is left of them there.

    `noise` is the largest value behind the cut, relative to the first of all.
    """

    rank: int
    gap: float
    columns: int
    noise: float = 0.0

    @property
    def certified(self) -> bool:
        return self.gap >= GAP and self.noise <= NOISE

    def __str__(self) -> str:
        verdict = "certified" if self.certified else "undecided"
        return (f"rank {self.rank} of {self.columns} columns, {verdict} "
                f"(gap {self.gap:.1e}, down to {self.noise:.0e})")


def numeric_rank(Y: Array) -> NumericRank:
    """The rank of a matrix by its singular values, columns normalised, with the gap."""
    size = np.linalg.norm(Y, axis=0)
    columns = len(size)
    live, column_gap, column_noise = _fall(np.sort(size)[::-1], len(Y))
    order = np.argsort(-size, kind="stable")[:live]
    if live == 0:
        return NumericRank(0, np.inf, columns)
    singular = np.linalg.svd(Y[:, order] / size[order], compute_uv=False)
    rank, gap, noise = _fall(singular, len(Y))
    return NumericRank(rank, min(gap, column_gap), columns, max(noise, column_noise))


def _fall(values: Array, rows: int) -> tuple[int, float, float]:
    """Where descending values fall most, by what factor, and to what part of the first.

    Values below rounding errors count as equal to them.
    """
    if len(values) == 0 or values[0] == 0:
        return 0, float(np.inf), 0.0
    floor = values[0] * EPS * np.sqrt(rows)
    clipped = np.append(np.maximum(values, floor), floor)
    ratios = clipped[:-1] / clipped[1:]
    at = int(np.argmax(ratios))
    return at + 1, float(ratios[at]), float(clipped[at + 1] / clipped[0])


def sampled_regressor(robot: Robot, seed: int = 0) -> Array:
    """Y at random states, one below the other, rows enough for every part of the robot.

    A body brings at least one torque and at most 16 parameters (ten, and six rotors); bodies that
    mimic joints move bring none, so then one torque must do for all columns.
    """
    rng = np.random.default_rng(seed)
    states = len(robot.parameter_names) + 8 if robot.is_coupled else 24
    wide = Robot(robot.name, [replace(b, joint=replace(b.joint, lower=None, upper=None))
                              for b in robot.bodies], robot.gravity)  # limits may leave no room
    rows = [regressor(wide, wide.random(rng), *rng.normal(size=(2, robot.nv)) * 3)
            for _ in range(states)]
    return np.concatenate(rows)


def declared_rank(robot: Robot, geometry: ExactGeometry, seed: int = 0) -> NumericRank:
    """The numeric rank for the declared geometry; symbols at random numbers."""
    rng = np.random.default_rng(seed)
    at = {name: Fraction(int(rng.integers(200, 900)), 1000) for name in geometry_symbols(robot)}
    def number(x: object) -> float:
        return float(x) if isinstance(x, int) else float(geometry.field.value(x, at))
    return numeric_rank(sampled_regressor(declared_robot(geometry, robot, number), seed))
