"""M, C and g at once, Garofalo's (6), with either C: what a controller takes in one call."""

from __future__ import annotations

from typing import NamedTuple

from closedform.arrays import Array
from closedform.maths.arguments import checked
from closedform.maths.definitions.closed_form import (
    christoffel_coriolis_matrix,
    coriolis_matrix,
    gravity_torque,
    mass_matrix,
)
from closedform.model.robot import Robot


class DynamicsMatrices(NamedTuple):
    """M a + C v + g = τ."""

    M: Array   # (nv, nv)
    C: Array   # (nv, nv)
    g: Array   # (nv,)


@checked
def passive_dynamics_matrices(robot: Robot, q: Array, v: Array) -> DynamicsMatrices:
    """M, the passive C of (6b) and g.

    Cites: [Garofalo2013, eq. (6)].
    """
    return DynamicsMatrices(
        mass_matrix(robot, q), coriolis_matrix(robot, q, v), gravity_torque(robot, q))


@checked
def christoffel_dynamics_matrices(robot: Robot, q: Array, v: Array) -> DynamicsMatrices:
    """M, the C of Christoffel symbols and g."""
    return DynamicsMatrices(
        mass_matrix(robot, q), christoffel_coriolis_matrix(robot, q, v), gravity_torque(robot, q))
