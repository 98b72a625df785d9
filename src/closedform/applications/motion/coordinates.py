"""Coordinates of a robot while they are integrated: q̇ = Γ(q) v, unit vectors, names.

A quaternion is integrated as four numbers, by ½ q ⊗ (ω, 0), whose direction is right for any length
of q; equations and the reader of a result see it normalised. Over generic arrays, so that steps
are recorded too.
"""

from __future__ import annotations

from collections.abc import Mapping

from closedform.arrays import Array, namespace
from closedform.model.groups.quaternions import normalised, squared_length
from closedform.model.robot import Robot


def coordinate_rates(robot: Robot, y: Array, q: Array, v: Array) -> Array:
    """q̇ = Γ(q) v, (nq,), for q with unit vectors normalised; y is the same q as integrated."""
    xp = namespace(y, q, v)
    rates = xp.concatenate([xp.zeros(0), *(body.joint.rates(q[i], v[j], xp)
                                           for body, i, j in robot.parts)])
    for at in units(robot).values():
        rates = _with(rates, at, rates[at] * xp.sqrt(squared_length(y[at])))
    return rates


def projected(robot: Robot, q: Array) -> Array:
    """q with unit vectors (quaternions) at length one, batch axes first."""
    for at in units(robot).values():
        q = _with(q, at, normalised(q[..., at]))
    return q


def units(robot: Robot) -> dict[str, slice]:
    """Where unit vectors stand in q, by joint."""
    return {body.joint_name: slice(i.start + body.joint.unit.start, i.start + body.joint.unit.stop)
            for body, i, _ in robot.parts if body.joint.unit}


def _with(q: Array, at: slice, x: Array) -> Array:
    return namespace(q, x).concatenate([q[..., :at.start], x, q[..., at.stop:]], axis=-1)


def coordinate_names(slices: Mapping[str, slice]) -> list[str]:
    """One name for each coordinate: the joint's, with a number where it has several."""
    return [name if at.stop - at.start == 1 else f"{name}[{i}]"
            for name, at in slices.items() for i in range(at.stop - at.start)]
