"""Derivatives of inverse and forward dynamics by q, v, a or τ, in O(n d): all in one frame.

The rules are those of `screws`; the definitions are in `inverse_derivatives` and
`forward_derivatives`.

Cites: [SinghRussellWensing2022], with the Coriolis operator B in twelve numbers.
"""

from __future__ import annotations

from closedform.arrays import Array, Namespace, namespace
from closedform.maths import state_pull_backs
from closedform.maths.algebra.entries import Entries, diagonal, enter, enter_twice, tensor
from closedform.maths.algorithms.forward_derivatives import by_factor_of_mass
from closedform.maths.algorithms.one_frame.screws import Screw, Screws, screws
from closedform.maths.definitions.forward_derivatives import ForwardDynamicsDerivatives
from closedform.maths.definitions.inverse_derivatives import (
    InverseDynamicsAndDerivatives,
    InverseDynamicsDerivatives,
)
from closedform.maths.loads import with_loads
from closedform.maths.pull_backs import COVECTOR, pulled_back, solved_derivatives
from closedform.maths.spatial import force_cross, power
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


@pulled_back(state_pull_backs.inverse_dynamics_and_derivatives)
@with_loads
def inverse_dynamics_and_derivatives(
    robot: Robot, q: Array, v: Array, a: Array, wrenches: Array | None = None, base: int = 0,
) -> InverseDynamicsAndDerivatives:
    """τ, ∂τ/∂q, ∂τ/∂v and M = ∂τ/∂a from one sweep: τ_i = S_i · f."""
    xp = namespace(q, v, a, *(() if wrenches is None else (wrenches,)))
    here = screws(robot, q, v, a, wrenches, base)
    n = robot.nv
    dq: Entries = {}
    dv: Entries = {}
    da = diagonal(robot.rotor_inertia)
    for k in here.segments:
        _enter_rows_and_columns(here, k, dq, dv, da)
    return InverseDynamicsAndDerivatives(
        _torques(robot, here, a, xp), *(tensor(d, (n, n), xp) for d in (dq, dv, da)))


def _enter_rows_and_columns(
    here: Screws, k: int, dq: Entries, dv: Entries, da: Entries,
) -> None:
    """Entries of ∂τ/∂q, ∂τ/∂v and M of a screw of segment k with another of k or one above."""
    I, B, f = here.I[k], here.B[k], here.f[k]
    own, above = here.own[k], here.above(k)
    for at, x in enumerate(own):                     # columns: j = x
        still = I @ x.ddPsi + B @ (2 * x.dPsi)
        moved = still + force_cross(x.S, f)
        faster = I @ (x.dPsi + x.dS) + B @ (2 * x.S)
        for y in own:
            enter(dq, (y.i, x.i), power(y.S, still))
            enter(dv, (y.i, x.i), power(y.S, faster))
        for y in above:
            enter(dq, (y.i, x.i), power(y.S, moved))
            enter(dv, (y.i, x.i), power(y.S, faster))
        p, b = I @ x.S, 2 * B.transposed_times(x.S)
        for y in above:                              # rows: i = x
            enter(dq, (x.i, y.i), power(p, y.ddPsi) + power(b, y.dPsi))
            enter(dv, (x.i, y.i), power(p, y.dPsi + y.dS) + power(b, y.S))
        _enter_mass(p, x, own[:at], above, da)


@pulled_back(solved_derivatives, by_factor_of_mass, inverse_dynamics_and_derivatives)
@with_loads
def forward_dynamics_derivatives(
    robot: Robot, q: Array, v: Array, tau: Array, wrenches: Array | None = None, base: int = 0,
) -> ForwardDynamicsDerivatives:
    """∂a/∂q, ∂a/∂v and ∂a/∂τ = M⁻¹, (nv, nv) each; `base` names the frame of expression."""
    M, bias = _mass_and_bias(robot, q, v, wrenches, base)
    return by_factor_of_mass(robot, M, tau - bias, lambda a: inverse_dynamics_derivatives(
        robot, q, v, a, wrenches, base))


def _mass_and_bias(
    robot: Robot, q: Array, v: Array, wrenches: Array | None, base: int,
) -> tuple[Array, Array]:
    """M, (nv, nv), and C v + g − Σ J_kᵀ F_k, (nv,), in the frame in which the derivatives are."""
    xp = namespace(q, v, *(() if wrenches is None else (wrenches,)))
    here = screws(robot, q, v, None, wrenches, base)
    n = robot.nv
    M = diagonal(robot.rotor_inertia)
    bias: Entries = {}
    for k in here.segments:
        own, above = here.own[k], here.above(k)
        for at, x in enumerate(own):
            enter(bias, (x.i,), power(x.S, here.f[k]))
            _enter_mass(here.I[k] @ x.S, x, own[:at], above, M)
    return tensor(M, (n, n), xp), tensor(bias, (n,), xp)


def _enter_mass(u: Array, x: Screw, before: list[Screw], above: list[Screw], M: Entries) -> None:
    """M_xy = u · S_y with u = I S_x, for x itself, the screws before it in its joint, and above."""
    enter(M, (x.i, x.i), power(u, x.S))
    for y in before + above:
        enter_twice(M, x.i, y.i, power(u, y.S))


@pulled_back(COVECTOR)
@with_loads
def inverse_dynamics(
    robot: Robot, q: Array, v: Array, a: Array, wrenches: Array | None = None, base: int = 0,
) -> Array:
    """τ, (nv,), in one frame: τ_i = S_i · f."""
    xp = namespace(q, v, a, *(() if wrenches is None else (wrenches,)))
    return _torques(robot, screws(robot, q, v, a, wrenches, base), a, xp)


def _torques(robot: Robot, here: Screws, a: Array, xp: Namespace) -> Array:
    tau: Entries = {(i,): robot.rotor_inertia[i] * a[i] for i in range(robot.nv)}
    for k in here.segments:
        for x in here.own[k]:
            enter(tau, (x.i,), power(x.S, here.f[k]))
    return tensor(tau, (robot.nv,), xp)
