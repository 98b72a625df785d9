"""M, the C of Christoffel symbols and g by composite bodies in their own frames, in O(n d).

    y = Λ S_j      w = Λ Ṡ_j + O S_j      z = Oᵀ S_j
    M_ij = S_i · y      C_ij = S_i · w      C_ji = Ṡ_i · y + S_i · z      for ancestors i of j

y, w and the moment z are carried to the ancestors; definitions in `dynamics_matrices`.

Cites: [EcheandiaWensing2021, algorithm 1].
"""

from __future__ import annotations

from closedform.arrays import Array, namespace
from closedform.maths.algorithms.joint_steps import carried
from closedform.maths.algorithms.newton_euler import gravity_torque, momentum
from closedform.maths.algorithms.one_frame.frame import dot
from closedform.maths.algorithms.one_frame.screws import Entries, enter, enter_twice, tensor
from closedform.maths.algorithms.own_frames.composites import (
    composites_in_motion,
    plus,
    turned,
    turned_back,
)
from closedform.maths.definitions.dynamics_matrices import DynamicsMatrices
from closedform.model.robot import Robot


def christoffel_dynamics_matrices(robot: Robot, q: Array, v: Array) -> DynamicsMatrices:
    """M, the C of Christoffel symbols and g."""
    xp = namespace(q, v)
    here, n = composites_in_motion(robot, q, v), robot.nv
    M: Entries = {(i, i): robot.rotor_inertia[i] for i in range(n)}
    C: Entries = {}
    for k, own in enumerate(here.joints):
        for at, x in enumerate(own):
            y, z = momentum(here.I[k], *x.S), turned_back(here.flow[k], x.S)
            w = plus(momentum(here.I[k], *x.dS), turned(here.flow[k], x.S))
            for other in own:
                enter(C, (other.i, x.i), dot(other.S, w))
            for other in own[:at]:
                enter_twice(M, x.i, other.i, dot(other.S, y))
            enter(M, (x.i, x.i), dot(x.S, y))
            above = k
            while here.parent[above]:
                step, above = here.way[above - 1], here.parent[above]
                y, w, z = carried(step, *y), carried(step, *w), step.up(z)
                for other in here.joints[above]:
                    enter(C, (other.i, x.i), dot(other.S, w))
                    enter(C, (x.i, other.i), dot(other.dS, y) + other.S[1] @ z)
                    enter_twice(M, x.i, other.i, dot(other.S, y))
    return DynamicsMatrices(tensor(M, (n, n), xp), tensor(C, (n, n), xp), gravity_torque(robot, q))


def christoffel_coriolis_matrix(robot: Robot, q: Array, v: Array) -> Array:
    """The C of Christoffel symbols, (nv, nv)."""
    return christoffel_dynamics_matrices(robot, q, v).C
