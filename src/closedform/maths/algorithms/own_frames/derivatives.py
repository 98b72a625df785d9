"""Derivatives of inverse and forward dynamics by composite bodies in their own frames, in O(n d).

The formulas of `one_frame_derivatives`; for a joint j and its ancestors i

    ∂τ_i/∂q_j = S_i · (Λ Ψ̈_j + 2 O Ψ̇_j + S_j×* f)      ∂τ_j/∂q_i = y · Ψ̈_i + z · Ψ̇_i
    ∂τ_i/∂v_j = S_i · (Λ (Ψ̇_j + Ṡ_j) + 2 O S_j)         ∂τ_j/∂v_i = y · (Ψ̇_i + Ṡ_i) + z · S_i

with y = Λ S_j and the moment z = 2 Oᵀ S_j, all four carried from j to its ancestors.

Cites: [SinghRussellWensing2022].
"""

from __future__ import annotations

from closedform.arrays import Array, namespace
from closedform.maths.algorithms.joint_steps import carried
from closedform.maths.algorithms.newton_euler import mass_matrix, momentum, newton_euler
from closedform.maths.algorithms.one_frame.derivatives import by_factor_of_mass
from closedform.maths.algorithms.one_frame.frame import dot
from closedform.maths.algorithms.one_frame.screws import Entries, enter, enter_twice, tensor
from closedform.maths.algorithms.own_frames.composites import (
    Composites,
    composites_in_motion,
    plus,
    turned,
    turned_back,
)
from closedform.maths.definitions.forward_derivatives import ForwardDynamicsDerivatives
from closedform.maths.definitions.inverse_derivatives import (
    InverseDynamicsAndDerivatives,
    InverseDynamicsDerivatives,
)
from closedform.maths.spatial import cross
from closedform.model.robot import Robot


def inverse_dynamics_derivatives(
    robot: Robot, q: Array, v: Array, a: Array, wrenches: Array | None = None,
) -> InverseDynamicsDerivatives:
    """∂τ/∂q, ∂τ/∂v and ∂τ/∂a, (nv, nv) each."""
    return InverseDynamicsDerivatives(
        *inverse_dynamics_and_derivatives(robot, q, v, a, wrenches)[1:])


def inverse_dynamics_and_derivatives(
    robot: Robot, q: Array, v: Array, a: Array, wrenches: Array | None = None,
) -> InverseDynamicsAndDerivatives:
    """τ, ∂τ/∂q, ∂τ/∂v and M = ∂τ/∂a from one sweep."""
    xp = namespace(q, v, a, *(() if wrenches is None else (wrenches,)))
    here, n = composites_in_motion(robot, q, v, a, wrenches), robot.nv
    tau: Entries = {(i,): robot.rotor_inertia[i] * a[i] for i in range(n)}
    dq: Entries = {}
    dv: Entries = {}
    da: Entries = {(i, i): robot.rotor_inertia[i] for i in range(n)}
    for k, own in enumerate(here.joints):
        for x in own:
            enter(tau, (x.i,), dot(x.S, here.force[k]))
        _enter_rows_and_columns(here, k, dq, dv, da)
    return InverseDynamicsAndDerivatives(
        tensor(tau, (n,), xp), *(tensor(d, (n, n), xp) for d in (dq, dv, da)))


def _enter_rows_and_columns(
    here: Composites, k: int, dq: Entries, dv: Entries, da: Entries,
) -> None:
    """What joint k has to do with itself and with the joints above it."""
    I, O, (f, n), own = here.I[k], here.flow[k], here.force[k], here.joints[k]
    for at, x in enumerate(own):
        u, w = x.S
        p, b = momentum(I, u, w), 2 * turned_back(O, x.S)
        still = plus(momentum(I, *x.ddPsi), turned(O, (2 * x.dPsi[0], 2 * x.dPsi[1])))
        faster = plus(momentum(I, *plus(x.dPsi, x.dS)), turned(O, (2 * u, 2 * w)))
        for y in own:
            enter(dq, (y.i, x.i), dot(y.S, still))
            enter(dv, (y.i, x.i), dot(y.S, faster))
        for y in own[:at]:
            enter_twice(da, x.i, y.i, dot(y.S, p))
        enter(da, (x.i, x.i), dot(x.S, p))
        moved = plus(still, (cross(w, f), cross(u, f) + cross(w, n)))
        above = k
        while here.parent[above]:
            step, above = here.way[above - 1], here.parent[above]
            moved, faster, p, b = (*(carried(step, *F) for F in (moved, faster, p)), step.up(b))
            for y in here.joints[above]:
                enter(dq, (y.i, x.i), dot(y.S, moved))
                enter(dv, (y.i, x.i), dot(y.S, faster))
                enter(dq, (x.i, y.i), dot(y.ddPsi, p) + y.dPsi[1] @ b)
                enter(dv, (x.i, y.i), dot(plus(y.dPsi, y.dS), p) + y.S[1] @ b)
                enter_twice(da, x.i, y.i, dot(y.S, p))


def forward_dynamics_derivatives(
    robot: Robot, q: Array, v: Array, tau: Array, wrenches: Array | None = None,
) -> ForwardDynamicsDerivatives:
    """∂a/∂q, ∂a/∂v and ∂a/∂τ = M⁻¹, (nv, nv) each."""
    bias = newton_euler(robot, q, v, None, wrenches)
    return by_factor_of_mass(robot, mass_matrix(robot, q), tau - bias,
                             lambda a: inverse_dynamics_derivatives(robot, q, v, a, wrenches))
