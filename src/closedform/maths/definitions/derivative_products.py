"""Derivatives of inverse and forward dynamics, times a direction (jvp) or weights (vjp).

    jvp    ẏ = Σ (∂y/∂x) ẋ           vjp    x̄ = (∂y/∂x)ᵀ ȳ

q̇ and q̄ are tangents, left-trivialised where v is not the rate of q: of as many entries as v.
`closedform.maths.algorithms.derivative_products` has recursions in O(n) without the matrices.

Cites: [GriewankWalther2008, chapter 3].
"""

from __future__ import annotations

from typing import NamedTuple

from closedform.arrays import Array
from closedform.maths.arguments import checked
from closedform.maths.definitions.forward_derivatives import forward_dynamics_derivatives
from closedform.maths.definitions.inverse_derivatives import inverse_dynamics_derivatives
from closedform.model.robot import Robot


class InverseDynamicsVjp(NamedTuple):
    """The gradient of τ̄ · τ(q, v, a), (nv,) each."""

    q_bar: Array
    v_bar: Array
    a_bar: Array


class ForwardDynamicsVjp(NamedTuple):
    """The gradient of ā · a(q, v, τ), (nv,) each."""

    q_bar: Array
    v_bar: Array
    tau_bar: Array


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
