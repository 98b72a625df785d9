"""M, the C of Christoffel symbols and g by composite bodies in their own frames, in O(n d).

    y = Λ S_j      w = Λ Ṡ_j + O S_j      z = Oᵀ S_j
    M_ij = S_i · y      C_ij = S_i · w      C_ji = Ṡ_i · y + S_i · z      for ancestors i of j

y, w and the moment z are taken to the ancestors; definitions in `dynamics_matrices`.

Cites: [EcheandiaWensing2021, algorithm 1].
"""

from __future__ import annotations

from closedform.arrays import Array, namespace
from closedform.maths.algebra.entries import Entries, diagonal, enter, enter_twice, tensor
from closedform.maths.algorithms.joint_steps import at_ancestors
from closedform.maths.algorithms.own_frames.composites import composites_in_motion
from closedform.maths.definitions.dynamics_matrices import DynamicsMatrices
from closedform.maths.loads import weight_torque, with_loads
from closedform.maths.pull_backs import matrices, pulled_back
from closedform.maths.quantity import folds
from closedform.model.robot import Robot


@folds
@pulled_back(matrices)
@with_loads
def christoffel_dynamics_matrices(robot: Robot, q: Array, v: Array) -> DynamicsMatrices:
    """M, the C of Christoffel symbols and g."""
    here, n = composites_in_motion(robot, q, v), robot.nv
    M = diagonal(robot.rotor_inertia)
    C: Entries = {}
    for k, own in enumerate(here.own):
        I, O = here.I[k], here.B[k]
        for at, x in enumerate(own):
            y, w, z = I @ x.S, I @ x.dS + O @ x.S, O.transposed_times(x.S)
            for other in own:
                enter(C, (other.i, x.i), other.S @ w)
            for other in own[:at]:
                enter_twice(M, x.i, other.i, other.S @ y)
            enter(M, (x.i, x.i), x.S @ y)
            ways = at_ancestors(here.way, here.parent, k, y, w, z)
            for above, (y, w, z) in ways:
                for other in here.own[above]:
                    enter(C, (other.i, x.i), other.S @ w)
                    enter(C, (x.i, other.i), other.dS @ y + other.S @ z)
                    enter_twice(M, x.i, other.i, other.S @ y)
    xp = namespace(q, v)
    return DynamicsMatrices(tensor(M, (n, n), xp), tensor(C, (n, n), xp), weight_torque(robot, q))


@folds
def christoffel_coriolis_matrix(robot: Robot, q: Array, v: Array) -> Array:
    """The C of Christoffel symbols, (nv, nv)."""
    return christoffel_dynamics_matrices(robot, q, v).C
