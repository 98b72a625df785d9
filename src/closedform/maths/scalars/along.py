"""Any quantity along a motion, with time derivatives to any order: one source, over series.

    q(t), v(t), a(t), …  as truncated Taylor series  →  f(q(t), v(t), …) as a series

The coordinates of joints with quasi-velocities follow from their velocities:

    quaternion  ḃ = ½ b ⊗ (ω, 0)        free  ṗ = R(b) v        planar  (ẋ, ẏ) = R(θ) (v_x, v_y)

Slower than the recursions of `jets`, and for everything: regressors, energies, Jacobians, functions
of one's own.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from closedform.arrays import OBJECTS, Array
from closedform.errors import ArgumentError
from closedform.maths.arguments import checked
from closedform.maths.scalars.series import Series, coefficient, from_derivatives, objects
from closedform.model.joints import Free, Planar, Spherical, quaternion_rotation
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
    arguments = {"q": coordinate_series(robot, q, rates)}
    arguments |= {name: from_derivatives(list(rates[ROWS[name]:])) for name in taken}
    result = np.asarray(function(robot, **arguments), dtype=object)
    stacked = np.stack([coefficient(result, k) * math.factorial(k) for k in range(orders)])
    return stacked if q.dtype == object or rates.dtype == object else stacked.astype(
        np.result_type(q, rates))


def coordinate_series(robot: Robot, q: Array, rates: Array) -> Array:
    """q(t), (nq,), as series with one more coefficient than there are rates."""
    found: list[Any] = []
    for body, i, j in robot.parts:
        x, v = q[i], from_derivatives(list(rates[:, j]))
        if isinstance(body.joint, Spherical):
            found += _quaternion(x, v)
        elif isinstance(body.joint, Free):
            b = _quaternion(x[3:], v[3:])
            dp = quaternion_rotation(objects(b, (4,)), OBJECTS) @ v[:3]
            found += [_integral(x[k], dp[k]) for k in range(3)] + b
        elif isinstance(body.joint, Planar):
            turn = _integral(x[2], v[2])
            c, s = turn.cos(), turn.sin()
            found += [_integral(x[0], c * v[0] - s * v[1]), _integral(x[1], s * v[0] + c * v[1]),
                      turn]
        else:
            found += [_integral(x[k], v[k]) for k in range(len(x))]
    return objects(found, (robot.nq,))


def _integral(start: Any, rate: Series) -> Series:
    """x with x(0) = start and this rate: x_{k+1} = rate_k / (k + 1)."""
    return Series([start, *(c / (k + 1) for k, c in enumerate(rate.c))])


def _quaternion(b: Array, w: Array) -> list[Series]:
    """The quaternion xyzw that turns with the body rate ω(t), coefficient by coefficient."""
    c = [np.asarray(b)]
    for k in range(len(w[0].c)):
        total = sum(_half_product(c[i], [x.c[k - i] for x in w]) for i in range(k + 1))
        c.append(total / (k + 1))
    return [Series([row[i] for row in c]) for i in range(4)]


def _half_product(b: Array, w: list[Any]) -> Array:
    """½ b ⊗ (ω, 0)."""
    x, y, z, s = b
    return np.array([s * w[0] + y * w[2] - z * w[1], s * w[1] + z * w[0] - x * w[2],
                     s * w[2] + x * w[1] - y * w[0], -(x * w[0] + y * w[1] + z * w[2])]) / 2
