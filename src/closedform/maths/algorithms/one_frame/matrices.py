"""M, C and g from one sweep in one frame, in O(n d); definitions in `dynamics_matrices`.

    M_ij = S_i · I S_j      C_ij = S_i · (I Ṡ_j + O S_j)      g_i = γ · I S_i

with the composites I and O behind the deeper of joints i and j; O is one of `operators`.

Cites: [EcheandiaWensing2021, algorithm 1]; with the passive operator it gives [Garofalo2013, (6b)].
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from closedform.arrays import Array, namespace
from closedform.maths import pull_backs
from closedform.maths.algebra.entries import Entries, diagonal, enter, enter_twice, tensor
from closedform.maths.algebra.trees import way_up
from closedform.maths.algorithms.moments import Moments
from closedform.maths.algorithms.one_frame.screws import screws
from closedform.maths.algorithms.operators import BlockOperator
from closedform.maths.definitions.dynamics_matrices import DynamicsMatrices
from closedform.maths.kinematics import segment_parents
from closedform.maths.loads import with_loads
from closedform.maths.pull_backs import pulled_back
from closedform.maths.quantity import folds
from closedform.maths.spatial import power
from closedform.model.robot import Robot


class RatedScrew(Protocol):
    """A screw of a joint and its rate, (6,) each."""

    @property
    def i(self) -> int:
        """The velocity that drives it."""

    @property
    def S(self) -> Array: ...

    @property
    def dS(self) -> Array: ...


@folds
@pulled_back(pull_backs.matrices)
@with_loads
def passive_dynamics_matrices(
    robot: Robot, q: Array, v: Array, base: int = 0,
) -> DynamicsMatrices:
    """M, the passive C of (6b) and g; `base` names the frame of expression."""
    here = screws(robot, q, v, base=base)
    return matrices(robot, here.own, here.I, here.passive_operators(), here.gamma)


@pulled_back(pull_backs.matrices)
@with_loads
def christoffel_dynamics_matrices(
    robot: Robot, q: Array, v: Array, base: int = 0,
) -> DynamicsMatrices:
    """M, the C of Christoffel symbols and g; `base` names the frame of expression."""
    here = screws(robot, q, v, base=base)
    return matrices(robot, here.own, here.I, here.B, here.gamma)


def matrices(
    robot: Robot, screws: Sequence[Sequence[RatedScrew]], I: Sequence[Moments],
    O: Sequence[BlockOperator], gamma: Array,
) -> DynamicsMatrices:
    """M, C and g of the screws and composites of every segment; lists start with the world."""
    M = diagonal(robot.rotor_inertia)
    C: Entries = {}
    g: Entries = {}
    parent = segment_parents(robot)
    for k, own in enumerate(screws):
        above = [y for p in way_up(parent, k) for y in screws[p]]
        for at, x in enumerate(own):
            u, o = I[k] @ x.S, O[k].transposed_times(x.S)
            force = I[k] @ x.dS + O[k] @ x.S
            enter(g, (x.i,), power(gamma, u))
            for y in (*own, *above):
                enter(C, (y.i, x.i), power(y.S, force))
            for y in above:
                enter(C, (x.i, y.i), power(u, y.dS) + power(o, y.S))
            for y in (*own[:at], *above):
                enter_twice(M, x.i, y.i, power(u, y.S))
            enter(M, (x.i, x.i), power(u, x.S))
    n, xp = robot.nv, namespace(gamma, *(x.dS for own in screws for x in own))
    return DynamicsMatrices(tensor(M, (n, n), xp), tensor(C, (n, n), xp), tensor(g, (n,), xp))


def mass_matrix(robot: Robot, q: Array, base: int = 0) -> Array:
    """M, (nv, nv), in one frame."""
    return christoffel_dynamics_matrices(robot, q, namespace(q).zeros(robot.nv), base).M


def gravity_torque(robot: Robot, q: Array, base: int = 0) -> Array:
    """g, (nv,), in one frame."""
    return christoffel_dynamics_matrices(robot, q, namespace(q).zeros(robot.nv), base).g


@folds
def coriolis_matrix(robot: Robot, q: Array, v: Array, base: int = 0) -> Array:
    """The passive C of (6b), (nv, nv), in one frame."""
    return passive_dynamics_matrices(robot, q, v, base).C


def christoffel_coriolis_matrix(robot: Robot, q: Array, v: Array, base: int = 0) -> Array:
    """The C of Christoffel symbols, (nv, nv), in one frame."""
    return christoffel_dynamics_matrices(robot, q, v, base).C
