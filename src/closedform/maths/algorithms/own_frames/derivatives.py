"""Derivatives of inverse and forward dynamics by composite bodies in their own frames, in O(n d).

The formulas of `one_frame.derivatives`; for a joint j and its ancestors i

    ∂τ_i/∂q_j = S_i · (Λ Ψ̈_j + 2 O Ψ̇_j + S_j×* f)      ∂τ_j/∂q_i = y · Ψ̈_i + z · Ψ̇_i
    ∂τ_i/∂v_j = S_i · (Λ (Ψ̇_j + Ṡ_j) + 2 O S_j)         ∂τ_j/∂v_i = y · (Ψ̇_i + Ṡ_i) + z · S_i

with y = Λ S_j and the moment z = 2 Oᵀ S_j, all four taken from j to its ancestors.

Cites: [SinghRussellWensing2022].
"""

from __future__ import annotations

from closedform.arrays import Array, namespace
from closedform.maths import state_pull_backs
from closedform.maths.algebra.entries import Entries, diagonal, enter, enter_twice, tensor
from closedform.maths.algorithms.forward_derivatives import by_factor_of_mass
from closedform.maths.algorithms.joint_steps import at_ancestors
from closedform.maths.algorithms.newton_euler import mass_matrix, newton_euler
from closedform.maths.algorithms.own_frames.composites import Composites, composites_in_motion
from closedform.maths.definitions.forward_derivatives import ForwardDynamicsDerivatives
from closedform.maths.definitions.inverse_derivatives import (
    InverseDynamicsAndDerivatives,
    InverseDynamicsDerivatives,
)
from closedform.maths.loads import with_loads
from closedform.maths.pull_backs import pulled_back, solved_derivatives
from closedform.maths.quantity import folds
from closedform.maths.spatial import force_cross
from closedform.model.robot import Robot


@folds
def inverse_dynamics_derivatives(
    robot: Robot, q: Array, v: Array, a: Array, wrenches: Array | None = None,
) -> InverseDynamicsDerivatives:
    """∂τ/∂q, ∂τ/∂v and ∂τ/∂a, (nv, nv) each."""
    return InverseDynamicsDerivatives(
        *inverse_dynamics_and_derivatives(robot, q, v, a, wrenches)[1:])


@folds
@pulled_back(state_pull_backs.inverse_dynamics_and_derivatives)
@with_loads
def inverse_dynamics_and_derivatives(
    robot: Robot, q: Array, v: Array, a: Array, wrenches: Array | None = None,
) -> InverseDynamicsAndDerivatives:
    """τ, ∂τ/∂q, ∂τ/∂v and M = ∂τ/∂a from one sweep."""
    xp = namespace(q, v, a, *(() if wrenches is None else (wrenches,)))
    here, n = composites_in_motion(robot, q, v, a, wrenches), robot.nv
    tau: Entries = {(i,): robot.rotor_inertia[i] * a[i] for i in range(n)}
    dq: Entries = {}
    dv: Entries = {}
    da = diagonal(robot.rotor_inertia)
    for k, own in enumerate(here.own):
        for x in own:
            enter(tau, (x.i,), x.S @ here.F[k])
        _enter_rows_and_columns(here, k, dq, dv, da)
    return InverseDynamicsAndDerivatives(
        tensor(tau, (n,), xp), *(tensor(d, (n, n), xp) for d in (dq, dv, da)))


def _enter_rows_and_columns(
    here: Composites, k: int, dq: Entries, dv: Entries, da: Entries,
) -> None:
    """Entries of ∂τ/∂q, ∂τ/∂v and M of a screw of segment k with another of k or one above."""
    I, O, own = here.I[k], here.B[k], here.own[k]
    for at, x in enumerate(own):
        y, z = I @ x.S, 2 * O.transposed_times(x.S)
        still = I @ x.ddPsi + O @ (2 * x.dPsi)
        faster = I @ (x.dPsi + x.dS) + O @ (2 * x.S)
        for i in own:
            enter(dq, (i.i, x.i), i.S @ still)
            enter(dv, (i.i, x.i), i.S @ faster)
        for i in own[:at]:
            enter_twice(da, x.i, i.i, i.S @ y)
        enter(da, (x.i, x.i), x.S @ y)
        moved = still + force_cross(x.S, here.F[k])
        ways = at_ancestors(here.way, here.parent, k, moved, faster, y, z)
        for above, (moved, faster, y, z) in ways:
            for i in here.own[above]:
                enter(dq, (i.i, x.i), i.S @ moved)
                enter(dv, (i.i, x.i), i.S @ faster)
                enter(dq, (x.i, i.i), i.ddPsi @ y + i.dPsi @ z)
                enter(dv, (x.i, i.i), (i.dPsi + i.dS) @ y + i.S @ z)
                enter_twice(da, x.i, i.i, i.S @ y)


@pulled_back(solved_derivatives, by_factor_of_mass, inverse_dynamics_and_derivatives)
@with_loads
def forward_dynamics_derivatives(
    robot: Robot, q: Array, v: Array, tau: Array, wrenches: Array | None = None,
) -> ForwardDynamicsDerivatives:
    """∂a/∂q, ∂a/∂v and ∂a/∂τ = M⁻¹, (nv, nv) each."""
    bias = newton_euler(robot, q, v, None, wrenches)
    return by_factor_of_mass(robot, mass_matrix(robot, q), tau - bias,
                             lambda a: inverse_dynamics_derivatives(robot, q, v, a, wrenches))
