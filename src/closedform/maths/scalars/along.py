"""Any quantity along a motion, with time derivatives to any order: one source, over series.

    q(t), v(t), a(t), …  as truncated Taylor series  →  f(q(t), v(t), …) as a series

The coordinates follow from the velocities by q̇ = Γ(q) v, one coefficient after the other.

Slower than the recursions of `jets`, and for everything: regressors, energies, Jacobians, functions
of one's own.

Cites: [GriewankWalther2008, chapter 13].
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable

import numpy as np

from closedform.arrays import Array
from closedform.errors import ArgumentError
from closedform.maths.arguments import checked
from closedform.maths.embedding import embedding
from closedform.maths.scalars.moving import coordinate_series
from closedform.maths.scalars.series import coefficient, from_derivatives
from closedform.model.robot import Robot

ROWS = {"v": 0, "a": 1, "j": 2}
"""Which row of the rates an argument of that name is."""


def along(function: Callable[..., Array], robot: Robot, q: Array, rates: Array) -> Array:
    """f, df/dt, d²f/dt², … along the motion with these rates at q, (orders, ...).

    `function(robot, q, …)` takes any of v, a and j after q and returns one array. With R rows of
    rates (v, a, j, …) there are R + 1 orders for a function of q alone, one fewer for each rate
    that it takes.
    """
    names = list(inspect.signature(function).parameters)[1:]
    taken = [name for name in names if name in ROWS]
    required = [p.name for p in list(inspect.signature(function).parameters.values())[1:]
                if p.default is inspect.Parameter.empty]
    if "q" not in names or not {"q", *ROWS}.issuperset(required):
        raise ArgumentError(f"along: function must take (robot, q), (robot, q, v), …; "
                            f"{getattr(function, '__name__', function)} takes {', '.join(names)}")
    return _along(robot, q, rates, function, taken)


@checked
def _along(robot: Robot, q: Array, rates: Array, function: Callable[..., Array],
           taken: list[str]) -> Array:
    used = 1 + max((ROWS[name] for name in taken), default=-1)
    orders = len(rates) + 1 - used
    if orders < 1:
        raise ArgumentError(f"along: rates must have at least {used} rows, not {len(rates)}")
    moving = robot.tree, rates
    if robot.loops:
        moving = robot.tree, np.stack(embedding(robot).rates(q, list(rates)))
    arguments = {"q": coordinate_series(moving[0], q, moving[1])}
    arguments |= {name: from_derivatives(list(rates[ROWS[name]:])) for name in taken}
    result = np.asarray(function(robot, **arguments), dtype=object)
    stacked = np.stack([coefficient(result, k) * math.factorial(k) for k in range(orders)])
    return stacked if q.dtype == object or rates.dtype == object else stacked.astype(
        np.result_type(q, rates))
