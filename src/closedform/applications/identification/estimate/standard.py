"""Standard parameters that have the columns' numbers: bodies that can be, wherever there are any.

Of all s with L s = x those near the prior by the log-det divergence, without rotors and friction
below zero. If there are none, no body can have x; then those nearest the prior, bodies or not.
"""

from __future__ import annotations

import numpy as np

from closedform.applications.identification.estimate.consistent import (
    NearPrior,
    NoSolution,
    solved,
)
from closedform.applications.identification.estimate.least_squares import Equations
from closedform.applications.identification.model import Model
from closedform.arrays import Floats
from closedform.maths.identification.pseudo_inertia import pseudo_inertia

WEIGHT = 1e-9
"""Of the divergence: x is met to about so much, and what is left is made up for after."""


def standard_of(model: Model, x: Floats, prior: Floats, eq: Equations) -> Floats:
    """s with L s = x."""
    L = model.L
    back, x = np.linalg.pinv(L), x[:len(L)]
    nearest = prior + back @ (x - L @ prior)
    size = eq.scale[:len(L)]
    here = Equations(np.diag(size), size * x, 0.0, np.zeros((0, len(x))), np.zeros(0))
    problem = NearPrior(model, here, prior)
    if _can_be(problem, nearest) or here.size == 0:
        return np.asarray(nearest)
    try:
        s, _ = solved(problem, WEIGHT, rough=WEIGHT)
    except NoSolution:
        return np.asarray(nearest)
    s = s + back @ (x - L @ s)
    return np.asarray(s if _can_be(problem, s) else nearest)


def _can_be(problem: NearPrior, s: Floats) -> bool:
    return all(np.linalg.eigvalsh(pseudo_inertia(s[at]))[0] > 0 for at in problem.bodies)
