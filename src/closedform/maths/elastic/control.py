"""Nonlinear decoupling of robots with elastic joints: q⁽⁴⁾ becomes what is asked for.

Without damping the state (q, q̇, q_M, q̇_M) determines q̈ and q⁽³⁾,

    q̈    = M_R⁻¹ (N⁻¹ f(Δq) − c − g)                                                     (i)
    q⁽³⁾ = M_R⁻¹ (N⁻¹ f' Δq̇ − Ṁ_R q̈ − ċ − ġ)                                            (ii)

and u appears first in q⁽⁴⁾. Rigid joints would show it in q̈; their torque u_r and its rate are
taken as states too, and its second derivative as the input, so that all joints decouple alike.

Cites: [Grimm1990, eqs. (3)–(5)].
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from closedform.arrays import Array, checked_array, namespace
from closedform.errors import ArgumentError
from closedform.maths.algebra.ldl import branch_solve
from closedform.maths.algorithms import newton_euler
from closedform.maths.algorithms.jets import inverse_dynamics_jet
from closedform.maths.elastic.arguments import checked
from closedform.maths.elastic.joints import (
    joint_positions,
    refuse_missing_inertia,
    spread,
    spring_curves,
)
from closedform.maths.scalars.two_derivatives import curve
from closedform.model.elasticity.joints import ElasticJoints


class ElasticState(NamedTuple):
    """A state of a robot with elastic joints, as it is measured; (nv,) each but q.

    Motors of rigid joints turn with their links: their entries are not used. `rigid_torque` and its
    rate are the motor torques of rigid joints, needed where accelerations are asked for and there
    are such joints.
    """

    q: Array                              # (nq,)
    v: Array
    motor_position: Array
    motor_velocity: Array
    rigid_torque: Array | None = None
    rigid_torque_rate: Array | None = None


class Derivatives(NamedTuple):
    """The same state as link motion alone."""

    q: Array    # (nq,)
    v: Array
    a: Array
    j: Array


class GrimmTerms(NamedTuple):
    """The terms of u = H (q⁽⁴⁾_d + v) + h, in the paper's letters."""

    H: Array     # (n, n)
    h: Array     # (n,)
    Psi: Array   # (n,)
    P: Array     # (n, n)


@checked
def derivatives_from_state(model: ElasticJoints, state: ElasticState) -> Derivatives:
    """(q, v, motor side) to (q, v, a, j) by (i) and (ii)."""
    state = _checked_state(model, state)
    a, j, _, _ = _motion(model, state)
    return Derivatives(state.q, state.v, a, j)


@checked
def state_from_derivatives(
    model: ElasticJoints, q: Array, v: Array, a: Array, j: Array,
) -> ElasticState:
    """(q, v, a, j) to (q, v, motor side): f(Δq) = N τ, f' Δq̇ = N τ̇; u_r = N τ on rigid joints."""
    _refuse_damping(model)
    robot, N = model.link_robot, model.gear_ratio
    xp = namespace(q, v, a, j)
    s, ds = (N * row for row in inverse_dynamics_jet(robot, q, xp.stack([v, a, j])))
    found = [_spring_state(model, i, s[i], ds[i]) for i in model.elastic]
    x, dx = (spread(model, [pair[k] for pair in found], xp) for k in range(2))
    here = ElasticState(q, v, joint_positions(model, q) / N + x, v / N + dx)
    return here._replace(rigid_torque=s, rigid_torque_rate=ds) if model.rigid else here


def _spring_state(model: ElasticJoints, i: int, s: Any, ds: Any) -> tuple[Any, Any]:
    if i not in model.springs:
        return s / model.stiffness[i], ds / model.stiffness[i]
    x = model.springs[i].deflection(s)
    return x, ds / curve(model.springs[i].torque, x).slope


@checked
def decoupling_control(model: ElasticJoints, state: ElasticState, q4_desired: Array) -> Array:
    """The motor torques u, (nv,), under which q⁽⁴⁾ is q4_desired: the direct law.

        u = M_G (N⁻¹ q̈ + Δq̈) + f(Δq),   f' Δq̈ = N τ̈ − f'' Δq̇²                          (iii)

    with τ̈ of the motion q̈, q⁽³⁾ of (i), (ii) and q⁽⁴⁾ = q4_desired. Entries of rigid joints are
    the second derivative ü_r = N τ̈ of their motor torque. An unactuated base cannot be decoupled.
    """
    refuse_missing_inertia(model)
    state = _checked_state(model, state)
    a, j, curves, dx = _motion(model, state)
    return control_torque(model, state, (a, j, q4_desired), curves, dx)


@checked
def tracking_control(
    model: ElasticJoints, state: ElasticState, reference: Array, gains: Array,
) -> Array:
    """Decoupling with a linear outer loop, (nv,): rows of `reference` are q_d and its derivatives.

        q⁽⁴⁾ = q_d⁽⁴⁾ + Σ_k K_k (q_d⁽ᵏ⁾ − q⁽ᵏ⁾),   k = 0 … 3                              (iv)

    Rows of `gains` (4, nv) are K_0 … K_3. For robots whose joints are all elastic.
    """
    refuse_missing_inertia(model)
    state = _checked_state(model, state)
    a, j, curves, dx = _motion(model, state)
    q4 = reference[4]
    for k, x in enumerate((state.q, state.v, a, j)):
        q4 = q4 + gains[k] * (reference[k] - x)
    return control_torque(model, state, (a, j, q4), curves, dx)


def control_torque(
    model: ElasticJoints, state: ElasticState, motion: tuple[Array, Array, Array],
    curves: list[Any], dx: Array,
) -> Array:
    """(iii) from a, j, s and the springs' curves and deflection rates."""
    a, j, q4 = motion
    xp, N = namespace(state.q, a, j, q4), model.gear_ratio
    dds = N * inverse_dynamics_jet(
        model.link_robot, state.q, xp.stack([state.v, a, j, q4]))[2]
    u = [model.motor_inertia[i] * (a[i] / N[i] + (dds[i] - c.curvature * (dx[i] * dx[i])) / c.slope)
         + c.value for i, c in zip(model.elastic, curves, strict=True)]
    return spread(model, u, xp, dds)


def _motion(model: ElasticJoints, state: ElasticState) -> tuple[Array, Array, list[Any], Array]:
    """q̈, q⁽³⁾, the springs' curves and Δq̇."""
    robot, N, (q, v, position, velocity, u, du) = model.link_robot, model.gear_ratio, state
    xp = namespace(q, v, position, velocity)
    dx = velocity - v / N
    curves = spring_curves(model, position - joint_positions(model, q) / N)
    tau = spread(model, [c.value for c in curves], xp, u) / N
    dtau = spread(model, [c.slope * dx[i] for i, c in zip(model.elastic, curves, strict=True)],
                  xp, du) / N
    M = newton_euler.mass_matrix(robot, q)
    a = branch_solve(robot, M, tau - newton_euler.bias(robot, q, v))
    without = inverse_dynamics_jet(robot, q, xp.stack([v, a, xp.zeros(robot.nv)]))[1]
    return a, branch_solve(robot, M, dtau - without), curves, dx


@checked
def grimm_terms(model: ElasticJoints, state: ElasticState) -> GrimmTerms:
    """H, h, Ψ and P of the paper's law u = H (q⁽⁴⁾_d + v) + h, for linear undamped springs.

        H = M_G C⁻¹ N M_R                                                                (4)
        h = −H Ψ − P (c + g) + (P N⁻¹ + 1) C Δq                                          (5)
        Ψ = −M_R⁻¹ (M̈_R q̈ + 2 Ṁ_R q⁽³⁾ + c̈ + g̈),   P = M_G N⁻¹ M_R⁻¹                     (v)

    The paper's first page does not define Ψ and P; with (v) its law (3) is the direct law (iii).

    Cites: [Grimm1990, eqs. (3)–(5)].
    """
    if model.rigid or not model.linear:
        raise ArgumentError("Grimm's law (3)–(5) is for robots whose joints are all elastic, with "
                            "linear springs; decoupling_control is for any")
    state = _checked_state(model, state)
    q, v, position = state.q, state.v, state.motor_position
    xp, robot, N, C = namespace(*state[:4]), model.robot, model.gear_ratio, model.stiffness
    a, j, _, _ = _motion(model, state)
    M, eye = newton_euler.mass_matrix(robot, q), xp.eye(robot.nv)
    inverse = xp.stack([branch_solve(robot, M, eye[i]) for i in range(robot.nv)])
    rest = inverse_dynamics_jet(robot, q, xp.stack([v, a, j, xp.zeros(robot.nv)]))[2]
    H = (model.motor_inertia * model.compliance * N)[:, None] * M
    P = (model.motor_inertia / N)[:, None] * inverse
    Psi = -branch_solve(robot, M, rest)
    spring = C * (position - joint_positions(model, q) / N)
    h = -(H @ Psi) - P @ newton_euler.bias(robot, q, v) + (P @ (spring / N) + spring)
    return GrimmTerms(H, h, Psi, P)


def _checked_state(model: ElasticJoints, state: Any) -> ElasticState:
    _refuse_damping(model)
    if not isinstance(state, tuple | list) or not 4 <= len(state) <= 6:
        raise ArgumentError("state must be a cf.elastic.ElasticState (q, v, motor_position, "
                            f"motor_velocity), not {type(state).__name__}")
    given = ElasticState(*state)
    robot = model.robot

    def held(name: str, size: int) -> Array:
        return checked_array(getattr(given, name), (size,), f"state of {robot.name}: {name}")

    q, rest = held("q", robot.nq), [held(name, robot.nv) for name in ElasticState._fields[1:4]]
    if not model.rigid:
        return ElasticState(q, *rest)
    torques = []
    for name, x in zip(ElasticState._fields[4:], given[4:], strict=True):
        if x is None:
            raise ArgumentError(f"state must have {name}: {model.names[model.rigid[0]]} is rigid, "
                                "and its torque determines accelerations")
        torques.append(held(name, robot.nv))
    return ElasticState(q, *rest, *torques)


def _refuse_damping(model: ElasticJoints) -> None:
    if model.damped:
        first = model.names[int(np.argmax(model.damping > 0))]
        raise ArgumentError(
            f"damping of {first} is not 0: then u shows in q⁽³⁾ already. Control q⁽³⁾ by "
            "inverse_dynamics with the present deflection, or use model.changed(damping=0)")
