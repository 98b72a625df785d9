"""Coordinates that follow from velocities, as Taylor series: q̇ = Γ(q) v, one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from closedform.arrays import OBJECTS, Array
from closedform.maths.scalars.series import (
    coefficient,
    from_coefficients,
    from_derivatives,
    objects,
    truncated,
)
from closedform.model.joints import Joint
from closedform.model.robot import Robot


def coordinate_series(robot: Robot, q: Array, rates: Array) -> Array:
    """q(t), (nq,), as series with one more coefficient than there are rates."""
    found: list[Any] = []
    for body, i, j in robot.parts:
        found += list(joint_series(body.joint, q[i], from_derivatives(list(rates[:, j]))))
    return objects(found, (robot.nq,))


def joint_series(joint: Joint, q: Array, v: Array) -> Array:
    """One joint's coordinates: (k + 1) q_{k+1} = (Γ(q) v)_k, for which q up to k is enough."""
    c = [np.asarray(q)]
    for k in range(len(v[0].c)):
        dq = joint.rates(from_coefficients(c), truncated(v, k + 1), OBJECTS)
        c.append(coefficient(dq, k) / (k + 1))
    return from_coefficients(c)
