"""M, C and g from one sweep in one frame, in O(n d); definitions in `dynamics_matrices`.

    M_ij = S_i · I S_j      C_ij = S_i · (I Ṡ_j + O S_j)      g_i = γ · I S_i

with the composites I and O behind the deeper of joints i and j; O is an operator of `one_frame`.
"""

from __future__ import annotations

from closedform.arrays import Array, namespace
from closedform.maths.algorithms.one_frame.frame import Operator, passive_operator
from closedform.maths.algorithms.one_frame.screws import (
    Entries,
    Screws,
    applied,
    applied_transposed,
    composite,
    enter,
    enter_twice,
    power,
    screws,
    tensor,
    times,
)
from closedform.maths.definitions.dynamics_matrices import DynamicsMatrices
from closedform.model.robot import Robot


def passive_dynamics_matrices(
    robot: Robot, q: Array, v: Array, base: int = 0,
) -> DynamicsMatrices:
    """M, the passive C of (6b) and g; `base` names the frame of expression."""
    here = screws(robot, q, v, base=base)
    O = composite([passive_operator(I_k, (V_k[:3], V_k[3:]))
                   for I_k, V_k in zip(here.body, here.V, strict=True)], here.parent, Operator.plus)
    return _matrices(robot, here, O)


def christoffel_dynamics_matrices(
    robot: Robot, q: Array, v: Array, base: int = 0,
) -> DynamicsMatrices:
    """M, the C of Christoffel symbols and g; `base` names the frame of expression."""
    here = screws(robot, q, v, base=base)
    return _matrices(robot, here, here.B)


def _matrices(robot: Robot, here: Screws, O: list[Operator]) -> DynamicsMatrices:
    n = robot.nv
    M: Entries = {(i, i): robot.rotor_inertia[i] for i in range(n)}
    C: Entries = {}
    g: Entries = {}
    for k in here.segments:
        own, above = here.own[k], here.above(k)
        for at, x in enumerate(own):
            u, o = times(here.I[k], x.S), applied_transposed(O[k], x.S)
            force = times(here.I[k], x.dS) + applied(O[k], x.S)
            enter(g, (x.i,), power(here.gamma, u))
            for y in own + above:
                enter(C, (y.i, x.i), power(y.S, force))
            for y in above:
                enter(C, (x.i, y.i), power(u, y.dS) + power(o, y.S))
            for y in own[:at] + above:
                enter_twice(M, x.i, y.i, power(u, y.S))
            enter(M, (x.i, x.i), power(u, x.S))
    xp = namespace(here.gamma, *here.V)
    return DynamicsMatrices(tensor(M, (n, n), xp), tensor(C, (n, n), xp), tensor(g, (n,), xp))


def mass_matrix(robot: Robot, q: Array, base: int = 0) -> Array:
    """M, (nv, nv), in one frame."""
    return christoffel_dynamics_matrices(robot, q, namespace(q).zeros(robot.nv), base).M


def gravity_torque(robot: Robot, q: Array, base: int = 0) -> Array:
    """g, (nv,), in one frame."""
    return christoffel_dynamics_matrices(robot, q, namespace(q).zeros(robot.nv), base).g


def coriolis_matrix(robot: Robot, q: Array, v: Array, base: int = 0) -> Array:
    """The passive C of (6b), (nv, nv), in one frame."""
    return passive_dynamics_matrices(robot, q, v, base).C


def christoffel_coriolis_matrix(robot: Robot, q: Array, v: Array, base: int = 0) -> Array:
    """The C of Christoffel symbols, (nv, nv), in one frame."""
    return christoffel_dynamics_matrices(robot, q, v, base).C
