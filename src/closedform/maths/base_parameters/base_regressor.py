"""The regressor of the base parameters: as many columns as torques can tell apart, none to spare.

    τ = Y_b π_b,     Y_b = the columns of Y that `base_parameters` keeps

Packed, it is the entries that are not zero in every state, row by row: `packed_entries` says which.
Zero is what rounding alone makes different from it.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from closedform.arrays import Array, numeric
from closedform.errors import ArgumentError
from closedform.maths.algorithms import regressors
from closedform.maths.arguments import checked
from closedform.maths.base_parameters.base_parameters import base_parameters
from closedform.maths.definitions.regressor import regressor
from closedform.model.robot import Robot

STATES = 3
"""Random states in all of which an entry is zero if it is zero always."""
ROUNDING = 16 * np.finfo(float).eps
"""For each velocity of a robot: what rounding leaves of an entry that is zero, at most, as a part
of its column's largest. Processors round sums differently; which entries there are may not."""
_kept: WeakKeyDictionary[Robot, list[int]] = WeakKeyDictionary()


def base_columns(robot: Robot) -> list[int]:
    """The columns of the regressor that are kept: decided once for a robot."""
    if robot not in _kept:
        if not numeric(robot.gravity):
            raise ArgumentError(f"the base parameters of {robot.name} depend on the direction of "
                                "gravity, which is no number here; `regressor` does without them")
        bare = robot.with_parameters(np.ones(len(robot.parameters)))
        _kept[robot] = list(base_parameters(bare).kept)
    return _kept[robot]


def base(robot: Robot) -> int:
    """How many base parameters there are."""
    return len(base_columns(robot))


def packed_entries(robot: Robot) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of the entries of Y_b that are not zero in every state."""
    rng, columns = np.random.default_rng(0), base_columns(robot)
    bare = robot.with_parameters(np.ones(len(robot.parameters)))
    largest = np.zeros((robot.nv, len(columns)))
    for _ in range(STATES):
        v, a = rng.normal(size=(2, robot.nv))
        Y = regressors.regressor(bare, robot.random(rng), v, a)[:, columns]
        largest = np.maximum(largest, np.abs(Y))
    rows, at = np.nonzero(largest > robot.nv * ROUNDING * largest.max(axis=0, initial=0))
    return rows, at


def base_entries(robot: Robot) -> int:
    """How many entries of Y_b are not zero in every state."""
    return len(packed_entries(robot)[0])


@checked
def base_regressor(robot: Robot, q: Array, v: Array, a: Array) -> Array:
    """Y_b, (nv, base parameters): the torque M a + C v + g is Y_b π_b.

    π_b and the names of the columns are those of `base_parameters(robot)`.

    Cites: [GautierKhalil1990].
    """
    return regressor(robot, q, v, a)[:, base_columns(robot)]


@checked
def packed_base_regressor(robot: Robot, q: Array, v: Array, a: Array) -> Array:
    """The entries of Y_b that are not zero in every state, (entries,), row by row.

    `packed_entries` has their rows and columns.
    """
    return base_regressor(robot, q, v, a)[packed_entries(robot)]


def fast_base_regressor(robot: Robot, q: Array, v: Array, a: Array) -> Array:
    """`base_regressor` by recursion."""
    return regressors.regressor(robot, q, v, a)[:, base_columns(robot)]


def fast_packed_base_regressor(robot: Robot, q: Array, v: Array, a: Array) -> Array:
    """`packed_base_regressor` by recursion."""
    return fast_base_regressor(robot, q, v, a)[packed_entries(robot)]
