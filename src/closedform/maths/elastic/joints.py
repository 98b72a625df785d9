"""Robots with elastic joints: motors on springs behind gears, as equations over generic arrays.

    u = M_G (N⁻¹ q̈ + Δq̈) + D Δq̇ + f(Δq),   Δq = q_M − N⁻¹ q                             (1)
    τ = M_R q̈ + c + g = N⁻¹ (D Δq̇ + f(Δq)),   f(Δq) = C Δq for a linear spring           (2)

u, q_M, C, D and the motor inertia M_G are at the motors' shafts; N is link speed over motor speed.
A rigid joint has Δq = 0, and its torque is u = N τ + M_G N⁻¹ q̈. The kinetic energy of a motor that
comes from other joints' motion is neglected.

Arrays of motors have an entry for each velocity: a rigid joint's motor turns with its link, and on
quasi-velocities (free, planar, spherical), which have no angle, its position is 0.

Cites: [Grimm1990, eqs. (1), (2)], with f for his C Δq; his q_a is our q. (3)–(5), and what the
paper leaves open, Ψ and P, are in `closedform.maths.elastic.control`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from closedform.arrays import Array, Namespace, Number, checked_array, namespace
from closedform.errors import ArgumentError
from closedform.maths.algorithms import newton_euler
from closedform.maths.algorithms.jets import inverse_dynamics_jet
from closedform.maths.definitions.energy import kinetic_energy, potential_energy
from closedform.maths.elastic.arguments import checked
from closedform.maths.scalars.two_derivatives import Curve, curve
from closedform.model.elasticity.joints import ElasticJoints, Spring

QUADRATURE = np.polynomial.legendre.leggauss(16)
ROWS = "v, a, j, s"


class ElasticMotion(NamedTuple):
    """What a motion demands of the motors; each (nv,) but the last."""

    motor_torque: Array              # at the shaft
    motor_position: Array
    motor_velocity: Array
    motor_acceleration: Array
    spring_torque: Array             # f(Δq), at the shaft; what a rigid joint's gear carries
    spring_torque_rate: Array
    spring_torque_acceleration: Array
    motor_torque_rates: Array        # (rows − 4, nv): u̇, ü, … where rates go beyond s


class ElasticAcceleration(NamedTuple):
    """Accelerations of links and motors, (nv,) each."""

    a: Array
    motor_acceleration: Array


class ElasticEnergy(NamedTuple):
    """Energies, scalars in J."""

    kinetic: Number     # of links and motors
    potential: Number   # in gravity
    spring: Number

    @property
    def total(self) -> Number:
        return self.kinetic + self.potential + self.spring


# ---------------------------------------------------------------------- springs
def spring_curves(model: ElasticJoints, deflection: Array) -> list[Curve]:
    """Torque, stiffness and its slope of every elastic joint's spring, in their order."""
    return [curve(model.springs[i].torque, deflection[i]) if i in model.springs
            else Curve(model.stiffness[i] * deflection[i], model.stiffness[i], 0.0)
            for i in model.elastic]


def spring_torques(model: ElasticJoints, deflection: Array) -> Array:
    """f(Δq), (nv,); 0 for rigid joints."""
    return spread(model, [c.value for c in spring_curves(model, deflection)],
                  namespace(deflection))


def spring_energy(model: ElasticJoints, deflection: Array) -> Number:
    """Σ ∫ f dΔq, J; by quadrature for nonlinear springs whose energy is not given."""
    total: Number = 0.0
    for i in model.elastic:
        x = deflection[i]
        if i in model.springs:
            total = total + _energy(model.springs[i], x)
        else:
            total = total + (model.stiffness[i] / 2) * (x * x)
    return total


def _energy(spring: Spring, x: Number) -> Number:
    if spring.energy is not None:
        return spring.energy(x)
    terms = [(w / 2) * spring.torque(((1 + p) / 2) * x) for p, w in zip(*QUADRATURE, strict=True)]
    return x * sum(terms[1:], terms[0])


def spread(model: ElasticJoints, values: list[Any], xp: Namespace,
           rigid: Array | None = None) -> Array:
    """Values of the elastic joints among all velocities, (nv,); the others from `rigid`, or 0."""
    found = dict(zip(model.elastic, values, strict=True))
    return xp.stack([found[i] + xp.zeros(()) if i in found
                     else xp.zeros(()) if rigid is None else rigid[i] + xp.zeros(())
                     for i in range(model.robot.nv)])


def joint_positions(model: ElasticJoints, q: Array) -> Array:
    """The coordinate of each velocity, (nv,); 0 on quasi-velocities."""
    xp = namespace(q)
    return xp.stack([xp.zeros(()) if at is None else q[at] for at in model.coordinates])


# ---------------------------------------------------------------------- the dynamics
@checked
def inverse_dynamics(
    model: ElasticJoints, q: Array, rates: Array, deflection: Array | None = None,
) -> ElasticMotion:
    """What the motion with the rates v, a, j, s (rows) demands of the motors.

        s = N τ,   f(Δq) = s,   f' Δq̇ = ṡ,   f' Δq̈ = s̈ − f'' Δq̇²                          (i)
        q_M = N⁻¹ q + Δq,       u = M_G (N⁻¹ q̈ + Δq̈) + s                                 (ii)

    τ, τ̇, τ̈ come from the second-order jet. Where a spring is damped, s = D Δq̇ + f(Δq) is a stable
    filter with the time constant D/C, and its state Δq is not determined by the motion's present:

        Δq̇ = D⁻¹ (s − f),   Δq̈ = D⁻¹ (ṡ − f' Δq̇)                                        (iii)

    with the given `deflection` (nv,), which needs j only (relative degree 3). Without it the
    filter is taken as settled, to the order that the rates allow, T = D/C:

        C Δq = s − T ṡ + T² s̈,   C Δq̇ = ṡ − T s̈,   C Δq̈ = s̈                             (iv)

    wrong by T³ times the third derivative of s. (iv) is for linear springs, and so are rates beyond
    s, which give u̇, ü, ….
    """
    rates = _checked_rates(model, rates)
    return motion_from_jet(model, q, rates, inverse_dynamics_jet(model.robot, q, rates),
                           deflection)


def motion_from_jet(
    model: ElasticJoints, q: Array, rates: Array, jet: Array, deflection: Array | None = None,
) -> ElasticMotion:
    """`inverse_dynamics` from τ, τ̇, τ̈, … (rows of `jet`)."""
    xp = namespace(q, rates, jet)
    N, M_G = model.gear_ratio, model.motor_inertia
    s = [N * row for row in jet]
    found = [_deflections(model, i, s, deflection) for i in model.elastic]
    x, dx, ddx = (spread(model, [row[k] for row in found], xp) for k in range(3))
    f, df, ddf = (spread(model, [row[k] for row in found], xp, s[k - 3]) for k in range(3, 6))
    v, a = rates[0], rates[1]
    further = [M_G * (rates[k + 1] / N + model.compliance * s[k + 2]) + s[k]
               for k in range(1, len(jet) - 2)]
    return ElasticMotion(
        M_G * (a / N + ddx) + s[0], joint_positions(model, q) / N + x, v / N + dx, a / N + ddx,
        f, df, ddf, xp.stack(further) if further else xp.zeros((0, model.robot.nv)))


def _deflections(
    model: ElasticJoints, i: int, s: list[Array], deflection: Array | None,
) -> tuple[Any, ...]:
    """Δq, Δq̇, Δq̈ and f, ḟ, f̈ of an elastic joint by (i), (iii) or (iv)."""
    f, df, ddf = s[0][i], s[1][i], s[2][i]
    D, C = model.damping[i], model.stiffness[i]
    if i not in model.springs and (D == 0 or deflection is None):
        T = D / C
        x, dx, ddx = (f - T * df + (T * T) * ddf) / C, (df - T * ddf) / C, ddf / C
        return x, dx, ddx, C * x, C * dx, ddf
    if D == 0:
        x = model.springs[i].deflection(f)
        at = curve(model.springs[i].torque, x)
        dx = df / at.slope
        return x, dx, (ddf - at.curvature * (dx * dx)) / at.slope, f, df, ddf
    if deflection is None:
        raise ArgumentError(f"deflection must be given: {model.names[i]} has a damped nonlinear "
                            "spring, whose settled state has no formula")
    x = deflection[i]
    at = (curve(model.springs[i].torque, x) if i in model.springs else Curve(C * x, C, 0.0))
    dx = (f - at.value) / D
    ddx = (df - at.slope * dx) / D
    return x, dx, ddx, at.value, at.slope * dx, at.slope * ddx + at.curvature * (dx * dx)


@checked
def forward_dynamics(
    model: ElasticJoints, q: Array, v: Array, motor_position: Array, motor_velocity: Array,
    motor_torque: Array, dynamics: Any = newton_euler.forward_dynamics,
) -> ElasticAcceleration:
    """q̈ and q̈_M under the motor torques u, (nv,) each.

        M_R q̈ = N⁻¹ t − c − g,   M_G q̈_M = u − t,   t = D Δq̇ + f(Δq)                     (v)

    A rigid joint has t = u, and M_G N⁻² beside M_R. Entries of rigid joints' motors are not used.
    An unactuated base is one whose entries of u are 0. `dynamics` is the forward dynamics of the
    links.
    """
    refuse_missing_inertia(model)
    u, N = motor_torque, model.gear_ratio
    xp = namespace(q, v, motor_position, motor_velocity, u)
    t = spring_torques(model, motor_position - joint_positions(model, q) / N)
    t = t + model.damping * (motor_velocity - v / N)
    driven = spread(model, [t[i] for i in model.elastic], xp, u)
    a = dynamics(model.link_robot, q, v, driven / N)
    motors = [(u[i] - t[i]) / model.motor_inertia[i] for i in model.elastic]
    return ElasticAcceleration(a, spread(model, motors, xp, a / N))


@checked
def energies(
    model: ElasticJoints, q: Array, v: Array, motor_position: Array, motor_velocity: Array,
) -> ElasticEnergy:
    """Kinetic energy of links and motors, potential energy in gravity and of the springs.

        d/dt (T + U + U_spring) = uᵀ q̇_M − Δq̇ᵀ D Δq̇                                     (vi)
    """
    T = kinetic_energy(model.link_robot, q, v)
    for i in model.elastic:
        T = T + (model.motor_inertia[i] / 2) * (motor_velocity[i] * motor_velocity[i])
    deflection = motor_position - joint_positions(model, q) / model.gear_ratio
    return ElasticEnergy(T, potential_energy(model.robot, q), spring_energy(model, deflection))


# ---------------------------------------------------------------------- checking
def _checked_rates(model: ElasticJoints, rates: Array) -> Array:
    rows = len(rates) if np.ndim(rates) else 0
    if rows < 4:
        raise ArgumentError(f"rates must have the four rows {ROWS} or more: the motor torque needs "
                            f"four derivatives of q; there are {rows}")
    if rows > 4 and (model.damped or not model.linear):
        raise ArgumentError(f"rates must have the four rows {ROWS} where springs are damped or "
                            f"nonlinear, not {rows}")
    return checked_array(rates, (rows, model.robot.nv),
                         f"inverse_dynamics of {model.robot.name}: rates")


def refuse_other_models(model: object) -> None:
    """An error if this is no robot with elastic joints, say the robot itself."""
    if not isinstance(model, ElasticJoints):
        raise ArgumentError(f"model must be a cf.ElasticJoints, not {type(model).__name__}")


def refuse_missing_inertia(model: ElasticJoints) -> None:
    """An error if a motor on a spring has no inertia: its acceleration is not defined."""
    refuse_other_models(model)
    for i in model.elastic:
        if model.motor_inertia[i] == 0:
            raise ArgumentError(f"motor_inertia of {model.names[i]} is 0: a motor on a spring "
                                "needs some for forward dynamics and control")
