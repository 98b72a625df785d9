"""What the logs alone say of other motions that the robot's limits allow.

A log of small motions is explained by numbers that say next to nothing of others: without one
block of it or another the torques elsewhere change by as much as they are. At states within the
limits,

    (B − 1)/B Σ_b |W (x_−b − mean)|²    relative to    |W x|²
"""

from __future__ import annotations

import numpy as np

from closedform.applications.identification.estimate.least_squares import Equations
from closedform.applications.identification.estimate.uncertainty import jackknife
from closedform.applications.identification.excitation.limits import Limits, room_of
from closedform.applications.identification.excitation.rows import MotionRows
from closedform.applications.identification.triangles import Information
from closedform.arrays import Floats
from closedform.errors import ClosedformError

STATES, SEED = 200, 0
PART = 0.5
"""Of the limits of velocities and accelerations, which a usual motion reaches."""


def elsewhere(info: Information, weights: Floats, by_data: Floats, x: Floats,
              eq: Equations) -> float:
    """The sd of torques at states within the limits, of the torques there; 0 where none are."""
    model, rng = info.model, np.random.default_rng(SEED)
    try:
        room = room_of(model, Limits())
    except ClosedformError:              # none of its joints has plain coordinates, or can move
        return 0.0
    shape = (STATES, len(room.at))
    rows = MotionRows(model, room).rows(rng.uniform(room.lower, room.upper, shape),
                                        PART * room.velocity * rng.uniform(-1, 1, shape),
                                        PART * room.acceleration * rng.uniform(-1, 1, shape))
    left_out = jackknife(info, weights, by_data, eq)
    moved, share = left_out - left_out.mean(axis=0), 1 - 1 / len(left_out)
    spread = size = 0.0
    for W, support in zip(rows, model.support, strict=True):
        spread += share * float(np.sum((W @ moved[:, list(support)].T)**2))
        size += float(np.sum((W @ x[list(support)])**2))
    return float(np.sqrt(spread / size)) if size > 0 else 0.0
