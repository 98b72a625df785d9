"""∂a/∂q, ∂a/∂v, ∂a/∂τ of forward dynamics, from those of inverse dynamics; and their products.

`closedform.maths.algorithms.forward_derivatives` has the algorithm with the branch-sparse factor of
M.

Cites: [CarpentierMansard2018].
"""

from __future__ import annotations

from typing import NamedTuple

from closedform.arrays import Array, namespace
from closedform.maths.arguments import checked
from closedform.maths.definitions.closed_form import forward_dynamics
from closedform.maths.definitions.inverse_derivatives import inverse_dynamics_derivatives
from closedform.maths.regularity import solved
from closedform.model.robot import Robot


class ForwardDynamicsDerivatives(NamedTuple):
    """Derivatives of a(q, v, τ), (nv, nv) each: row i is that of a_i."""

    da_dq: Array
    da_dv: Array
    da_dtau: Array


class ForwardDynamicsVjp(NamedTuple):
    """The gradient of ā · a(q, v, τ), (nv,) each."""

    q_bar: Array
    v_bar: Array
    tau_bar: Array


@checked
def forward_dynamics_derivatives(
    robot: Robot, q: Array, v: Array, tau: Array, wrenches: Array | None = None,
) -> ForwardDynamicsDerivatives:
    """∂a/∂q, ∂a/∂v and ∂a/∂τ of a = M⁻¹ (τ + Σ_k J_kᵀ F_k − C v − g), (nv, nv) each.

        ∂a/∂q = −M⁻¹ ∂τ/∂q      ∂a/∂v = −M⁻¹ ∂τ/∂v      ∂a/∂τ = M⁻¹

    with the derivatives of inverse dynamics at this a: differentiate τ = ID(q, v, FD(q, v, τ)).
    """
    xp = namespace(q, v, tau)
    a = forward_dynamics(robot, q, v, tau, wrenches)
    dtau_dq, dtau_dv, M = inverse_dynamics_derivatives(robot, q, v, a, wrenches)

    n = robot.nv
    if not n:
        return ForwardDynamicsDerivatives(M, M, M)
    found = solved(robot, M, xp.concatenate([-dtau_dq, -dtau_dv, xp.eye(n)], axis=1))
    return ForwardDynamicsDerivatives(found[:, :n], found[:, n:2 * n], found[:, 2 * n:])


@checked
def forward_dynamics_jvp(
    robot: Robot, q: Array, v: Array, tau: Array, q_dot: Array, v_dot: Array, tau_dot: Array,
    wrenches: Array | None = None,
) -> Array:
    """ȧ = ∂a/∂q q̇ + ∂a/∂v v̇ + ∂a/∂τ τ̇, (nv,): how a changes along a direction."""
    d = forward_dynamics_derivatives(robot, q, v, tau, wrenches)
    return d.da_dq @ q_dot + d.da_dv @ v_dot + d.da_dtau @ tau_dot


@checked
def forward_dynamics_vjp(
    robot: Robot, q: Array, v: Array, tau: Array, a_bar: Array, wrenches: Array | None = None,
) -> ForwardDynamicsVjp:
    """q̄ = (∂a/∂q)ᵀ ā, v̄ = (∂a/∂v)ᵀ ā and τ̄ = M⁻¹ ā, (nv,) each: the gradient of ā · a."""
    d = forward_dynamics_derivatives(robot, q, v, tau, wrenches)
    return ForwardDynamicsVjp(d.da_dq.T @ a_bar, d.da_dv.T @ a_bar, d.da_dtau.T @ a_bar)
