"""∂τ/∂q, ∂τ/∂v, ∂τ/∂a of inverse dynamics: the closed form, differentiated; and their products.

    jvp    τ̇ = ∂τ/∂q q̇ + ∂τ/∂v v̇ + ∂τ/∂a ȧ           vjp    q̄ = (∂τ/∂q)ᵀ τ̄  and so on

q̇ and q̄ are tangents, of as many entries as v, left-trivialised where v is not the rate of q.

`closedform.maths.algorithms` has O(n d) algorithms that are held to it, in `one_frame` and
`own_frames`.

Cites: [Garofalo2013, eqs. (5), (24)]; [GriewankWalther2008, chapter 3] for the products.
"""

from __future__ import annotations

from typing import NamedTuple

from closedform.arrays import Array, namespace
from closedform.maths import state_pull_backs
from closedform.maths.arguments import checked
from closedform.maths.definitions.closed_form import coriolis_matrix, inverse_dynamics, mass_matrix
from closedform.maths.definitions.state_derivatives import jacobian_derivatives, state_derivatives
from closedform.maths.kinematics import body_segments
from closedform.maths.pull_backs import pulled_back
from closedform.model.robot import Robot


class InverseDynamicsDerivatives(NamedTuple):
    """Derivatives of τ(q, v, a), (nv, nv) each: row i is that of τ_i."""

    dtau_dq: Array
    dtau_dv: Array
    dtau_da: Array


class InverseDynamicsAndDerivatives(NamedTuple):
    """τ(q, v, a), (nv,), and its derivatives, (nv, nv) each; dtau_da is M."""

    tau: Array
    dtau_dq: Array
    dtau_dv: Array
    dtau_da: Array


class InverseDynamicsVjp(NamedTuple):
    """The gradient of τ̄ · τ(q, v, a), (nv,) each."""

    q_bar: Array
    v_bar: Array
    a_bar: Array


@checked
@pulled_back(state_pull_backs.inverse_dynamics_derivatives, inverse_dynamics)
def inverse_dynamics_derivatives(
    robot: Robot, q: Array, v: Array, a: Array, wrenches: Array | None = None,
) -> InverseDynamicsDerivatives:
    """∂τ/∂q, ∂τ/∂v and ∂τ/∂a = M of τ = M a + C v + g − Σ_k J_kᵀ F_k, (nv, nv) each.

        ∂τ/∂q_h = ∂M/∂q_h a + ∂C/∂q_h v + ∂g/∂q_h − Σ_k ∂J_kᵀ/∂q_h F_k
        ∂τ/∂v_h = ∂C/∂v_h v + C_h

    Derivatives by q are left-trivialised where v is not q̇; wrenches stay as they are in the body
    frames.
    """
    xp = namespace(q, v, a)
    d = state_derivatives(robot, q, v)
    C, n = coriolis_matrix(robot, q, v), range(robot.nv)
    dq = [d.dM_dq[:, :, h] @ a + d.dC_dq[:, :, h] @ v + d.dg_dq[:, h] for h in n]
    dv = [d.dC_dv[:, :, h] @ v + C[:, h] for h in n]
    if wrenches is not None:
        _, dJ = jacobian_derivatives(robot, q)
        for number, k in enumerate(body_segments(robot)):
            dq = [dq_h - dJ[k][h].T @ wrenches[number] for h, dq_h in enumerate(dq)]
    dtau_dq, dtau_dv = (xp.stack(x, axis=1) if x else xp.zeros((0, 0)) for x in (dq, dv))
    return InverseDynamicsDerivatives(dtau_dq, dtau_dv, mass_matrix(robot, q))


@checked
def inverse_dynamics_and_derivatives(
    robot: Robot, q: Array, v: Array, a: Array, wrenches: Array | None = None,
) -> InverseDynamicsAndDerivatives:
    """τ, ∂τ/∂q, ∂τ/∂v and M = ∂τ/∂a at once, as a Newton step takes them."""
    return InverseDynamicsAndDerivatives(
        inverse_dynamics(robot, q, v, a, wrenches),
        *inverse_dynamics_derivatives(robot, q, v, a, wrenches))


@checked
def inverse_dynamics_jvp(
    robot: Robot, q: Array, v: Array, a: Array, q_dot: Array, v_dot: Array, a_dot: Array,
    wrenches: Array | None = None,
) -> Array:
    """τ̇ = ∂τ/∂q q̇ + ∂τ/∂v v̇ + ∂τ/∂a ȧ, (nv,): how τ changes along a direction."""
    d = inverse_dynamics_derivatives(robot, q, v, a, wrenches)
    return d.dtau_dq @ q_dot + d.dtau_dv @ v_dot + d.dtau_da @ a_dot


@checked
def inverse_dynamics_vjp(
    robot: Robot, q: Array, v: Array, a: Array, tau_bar: Array, wrenches: Array | None = None,
) -> InverseDynamicsVjp:
    """q̄ = (∂τ/∂q)ᵀ τ̄, v̄ = (∂τ/∂v)ᵀ τ̄ and ā = M τ̄, (nv,) each: the gradient of τ̄ · τ."""
    d = inverse_dynamics_derivatives(robot, q, v, a, wrenches)
    return InverseDynamicsVjp(d.dtau_dq.T @ tau_bar, d.dtau_dv.T @ tau_bar,
                              d.dtau_da.T @ tau_bar)
