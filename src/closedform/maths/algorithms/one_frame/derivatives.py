"""Derivatives of inverse and forward dynamics by q, v, a or τ, in O(n d): all in one frame.

The rules are those of `screws`; the definitions are in `inverse_derivatives` and
`forward_derivatives`.

Cites: [SinghRussellWensing2022], with the Coriolis operator B in twelve numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from closedform.arrays import Array, namespace
from closedform.maths.algebra.branch_factor import branch_solve
from closedform.maths.algorithms.one_frame.screws import (
    Entries,
    Screw,
    Screws,
    applied,
    applied_transposed,
    enter,
    enter_twice,
    force_cross,
    power,
    screws,
    tensor,
    times,
)
from closedform.maths.definitions.forward_derivatives import ForwardDynamicsDerivatives
from closedform.maths.definitions.inverse_derivatives import (
    InverseDynamicsAndDerivatives,
    InverseDynamicsDerivatives,
)
from closedform.model.robot import Robot


def inverse_dynamics_derivatives(
    robot: Robot, q: Array, v: Array, a: Array, wrenches: Array | None = None, base: int = 0,
) -> InverseDynamicsDerivatives:
    """∂τ/∂q, ∂τ/∂v and ∂τ/∂a, (nv, nv) each; `base` names the frame of expression.

        ∂τ_i/∂q_j = S_i · (I Ψ̈_j + 2 B Ψ̇_j + S_j×* f)      ∂τ_i/∂v_j = S_i · (I X_j + 2 B S_j)

    with X = Ψ̇ + Ṡ and the composite behind the deeper of joints i and j; the term of f is there
    only where j lies behind i. ∂τ/∂a = M.
    """
    return InverseDynamicsDerivatives(
        *inverse_dynamics_and_derivatives(robot, q, v, a, wrenches, base)[1:])


def inverse_dynamics_and_derivatives(
    robot: Robot, q: Array, v: Array, a: Array, wrenches: Array | None = None, base: int = 0,
) -> InverseDynamicsAndDerivatives:
    """τ, ∂τ/∂q, ∂τ/∂v and M = ∂τ/∂a from one sweep: τ_i = S_i · f."""
    xp = namespace(q, v, a, *(() if wrenches is None else (wrenches,)))
    here = screws(robot, q, v, a, wrenches, base)
    n = robot.nv
    dq: Entries = {}
    dv: Entries = {}
    da: Entries = {(i, i): robot.rotor_inertia[i] for i in range(n)}
    for k in here.segments:
        _enter_rows_and_columns(here, k, dq, dv, da)
    return InverseDynamicsAndDerivatives(
        _torques(robot, here, a, xp), *(tensor(d, (n, n), xp) for d in (dq, dv, da)))


def _enter_rows_and_columns(
    here: Screws, k: int, dq: Entries, dv: Entries, da: Entries,
) -> None:
    """What joint k has to do with itself and with the joints above it."""
    I, B, f = here.I[k], here.B[k], here.f[k]
    own, above = here.own[k], here.above(k)
    for at, x in enumerate(own):                     # columns: j = x
        still = times(I, x.ddPsi) + applied(B, 2 * x.dPsi)
        moved = still + force_cross(x.S, f)
        faster = times(I, x.dPsi + x.dS) + applied(B, 2 * x.S)
        for y in own:
            enter(dq, (y.i, x.i), power(y.S, still))
            enter(dv, (y.i, x.i), power(y.S, faster))
        for y in above:
            enter(dq, (y.i, x.i), power(y.S, moved))
            enter(dv, (y.i, x.i), power(y.S, faster))
        p, b = times(I, x.S), 2 * applied_transposed(B, x.S)
        for y in above:                              # rows: i = x
            enter(dq, (x.i, y.i), power(p, y.ddPsi) + power(b, y.dPsi))
            enter(dv, (x.i, y.i), power(p, y.dPsi + y.dS) + power(b, y.S))
        _enter_mass(p, x, own[:at], above, da)


def forward_dynamics_derivatives(
    robot: Robot, q: Array, v: Array, tau: Array, wrenches: Array | None = None, base: int = 0,
) -> ForwardDynamicsDerivatives:
    """∂a/∂q, ∂a/∂v and ∂a/∂τ = M⁻¹, (nv, nv) each; `base` names the frame of expression."""
    M, bias = _mass_and_bias(robot, q, v, wrenches, base)
    return by_factor_of_mass(robot, M, tau - bias, lambda a: inverse_dynamics_derivatives(
        robot, q, v, a, wrenches, base))


def by_factor_of_mass(
    robot: Robot, M: Array, force: Array,
    derivatives: Callable[[Array], InverseDynamicsDerivatives],
) -> ForwardDynamicsDerivatives:
    """∂a/∂q = −M⁻¹ ∂τ/∂q, ∂a/∂v = −M⁻¹ ∂τ/∂v and ∂a/∂τ = M⁻¹ at a = M⁻¹ force.

    One branch-sparse factor M = Lᵀ D L serves a and all right-hand sides.
    """
    xp, n = namespace(M, force), robot.nv
    dtau_dq, dtau_dv, _ = derivatives(branch_solve(robot, M, force))
    right = xp.concatenate([-dtau_dq, -dtau_dv, xp.eye(n)], axis=1)
    solved = branch_solve(robot, M, right) if n else right
    inverse: Entries = {(i, j): solved[max(i, j), 2 * n + min(i, j)]
                        for i in range(n) for j in range(n)}
    return ForwardDynamicsDerivatives(
        solved[:, :n], solved[:, n:2 * n], tensor(inverse, (n, n), xp))


def _mass_and_bias(
    robot: Robot, q: Array, v: Array, wrenches: Array | None, base: int,
) -> tuple[Array, Array]:
    """M, (nv, nv), and C v + g − Σ J_kᵀ F_k, (nv,), in the frame in which the derivatives are."""
    xp = namespace(q, v, *(() if wrenches is None else (wrenches,)))
    here = screws(robot, q, v, None, wrenches, base)
    n = robot.nv
    M: Entries = {(i, i): robot.rotor_inertia[i] for i in range(n)}
    bias: Entries = {}
    for k in here.segments:
        own, above = here.own[k], here.above(k)
        for at, x in enumerate(own):
            enter(bias, (x.i,), power(x.S, here.f[k]))
            _enter_mass(times(here.I[k], x.S), x, own[:at], above, M)
    return tensor(M, (n, n), xp), tensor(bias, (n,), xp)


def _enter_mass(u: Array, x: Screw, before: list[Screw], above: list[Screw], M: Entries) -> None:
    """M_xy = u · S_y with u = I S_x, for x itself, the screws before it in its joint, and above."""
    enter(M, (x.i, x.i), power(u, x.S))
    for y in before + above:
        enter_twice(M, x.i, y.i, power(u, y.S))


def inverse_dynamics(
    robot: Robot, q: Array, v: Array, a: Array, wrenches: Array | None = None, base: int = 0,
) -> Array:
    """τ, (nv,), in one frame: τ_i = S_i · f."""
    xp = namespace(q, v, a, *(() if wrenches is None else (wrenches,)))
    return _torques(robot, screws(robot, q, v, a, wrenches, base), a, xp)


def _torques(robot: Robot, here: Screws, a: Array, xp: Any) -> Array:
    tau: Entries = {(i,): robot.rotor_inertia[i] * a[i] for i in range(robot.nv)}
    for k in here.segments:
        for x in here.own[k]:
            enter(tau, (x.i,), power(x.S, here.f[k]))
    return tensor(tau, (robot.nv,), xp)
