"""Certificates: laws of mechanics checked on the kernels of a robot at random states.

The kernels answer for themselves and to the closed form on floats, with exact derivatives by
complex steps,

    d/dh f(q ⊕ h d) = Im f(q ⊕ i h d) / h,    h = 10⁻³⁰.

A residual is relative to the largest term of its equation. Its tolerance is the number of
operations N behind it times the rounding error ε, the bound of a sum whose every step rounds once.
With closed loops all velocities come from a linear system, K_d G_d = −K_y, whose solution by
elimination is that of a system changed by N ε in each row:

    |δG_d| ≤ N ε κ |G_d|,      κ = cond(D K_d), D: rows of length one

(row scaling changes no step of the elimination). Rates of G are solved with the same factor, and
their terms are as much larger; so each state has the tolerance N ε κ of its own, and the state that
comes closest to it is reported. κ is 1 for trees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from closedform.applications.compile.kernels import CompiledRobot
from closedform.applications.motion.integrator import integrated
from closedform.applications.motion.methods import DOP853
from closedform.applications.motion.rigid import RigidSystem
from closedform.applications.motion.simulation import Simulation
from closedform.applications.report.peers import Peer
from closedform.arrays import Array
from closedform.errors import ClosedformError, SingularMatrix
from closedform.maths.definitions import closed_form, energy
from closedform.maths.loops import forces
from closedform.maths.regularity import refuse_singular
from closedform.maths.spatial import crf
from closedform.maths.springs import spring_torque
from closedform.model import coordinates
from closedform.model.robot import Robot

EPS = float(np.finfo(float).eps)
STEP = 1e-30
STATES = 12
RTOL = 1e-9


@final
@dataclass(frozen=True)
class Certificate:
    """A law with its residual and tolerance; `note` says why it was not checked, if so."""

    law: str
    equation: str
    residual: float | None
    tolerance: float | None
    note: str = ""

    @property
    def checked(self) -> bool:
        return self.residual is not None

    @property
    def holds(self) -> bool:
        """Whether the residual is within the tolerance; NaN is not."""
        return (self.residual is None or self.tolerance is None
                or self.residual <= self.tolerance)

    @property
    def verdict(self) -> str:
        return ("holds" if self.holds else "fails") if self.checked else "not checked"


# ---------------------------------------------------------------------- exact derivatives
def along(robot: Robot, f: Callable[[Array], Any], q: Array, d: Array) -> Any:
    """The derivative of f at q along the velocities d, exact to rounding."""
    return np.imag(f(stepped(robot, q, 1j * STEP * d))) / STEP


def stepped(robot: Robot, q: Array, d: Array) -> Array:
    """q ⊕ d to first order in the (complex) d: q + Γ(q) d, with loops q + Γ(q) G d."""
    whole = forces.loop_embedding(robot, q) @ d if robot.loops else d
    return q + coordinates.rates(robot.tree, q, whole)


# ---------------------------------------------------------------------- laws
class State:
    """One random state and what the kernels say there."""

    def __init__(self, robot: Robot, arm: CompiledRobot, rng: np.random.Generator) -> None:
        self.robot, self.arm = robot, arm
        self.q, (self.v, self.a, self.d) = robot.random(rng), rng.normal(size=(3, robot.nv))
        self.M, self.C = arm.mass_matrix(self.q), arm.coriolis_matrix(self.q, self.v)
        self.g, self.tau = (arm.gravity_torque(self.q),
                            arm.inverse_dynamics(self.q, self.v, self.a))


Law = Callable[[State], tuple[Any, Any, float]]
"""Both sides of an equation at a state, and the size of its largest term."""


def _largest(*terms: Any) -> float:
    return max((float(np.abs(x).max(initial=0)) for x in map(np.asarray, terms)), default=0.0)


def _symmetry(s: State) -> tuple[Any, Any, float]:
    return s.M, s.M.T, _largest(s.M)


def _definite(s: State) -> tuple[Any, Any, float]:
    """The negative part of the eigenvalues against none."""
    values = np.linalg.eigvalsh((s.M + s.M.T) / 2)
    return np.minimum(values, 0.0), 0.0 * values, _largest(values)


def _passivity(s: State) -> tuple[Any, Any, float]:
    dM = along(s.robot, lambda q: closed_form.mass_matrix(s.robot, q), s.q, s.v)
    return s.C + s.C.T, dM, _largest(s.C, dM, s.M * _largest(s.v))


def _assembly(s: State) -> tuple[Any, Any, float]:
    return s.M @ s.a + s.C @ s.v + s.g, s.tau, _largest(s.M @ s.a, s.C @ s.v, s.g)


def _power(s: State) -> tuple[Any, Any, float]:
    dT = along(s.robot, lambda q: energy.kinetic_energy(s.robot, q, s.v), s.q, s.v)
    dU = along(s.robot, lambda q: energy.potential_energy(s.robot, q), s.q, s.v)
    inertial = s.v @ closed_form.mass_matrix(s.robot, s.q) @ s.a
    return s.v @ s.tau, dT + dU + inertial, _largest(s.v * s.tau, dT, dU, inertial)


def _gradient(s: State) -> tuple[Any, Any, float]:
    dU = along(s.robot, lambda q: energy.potential_energy(s.robot, q), s.q, s.d)
    weight = float(s.robot.mass) * _largest(s.robot.gravity)
    return s.g @ s.d, dU, _largest(s.g * s.d, dU, weight)


def _closed_form(s: State) -> tuple[Any, Any, float]:
    tau = closed_form.inverse_dynamics(s.robot, s.q, s.v, s.a)
    return s.tau, tau, _largest(tau, s.M @ s.a, s.g)


def _regressor(s: State) -> tuple[Any, Any, float]:
    Y, pi = s.arm.regressor(s.q, s.v, s.a), s.robot.parameters
    springs = spring_torque(s.robot, s.q)
    return Y @ pi + springs, s.tau, _largest(Y * pi, s.tau, springs)


def _momentum(s: State) -> tuple[Any, Any, float]:
    """Of every root that moves freely, with all it carries: p = (M v)_b, linear and angular."""
    dM = along(s.robot, lambda q: closed_form.mass_matrix(s.robot, q), s.q, s.v)
    p, dp, free = s.M @ s.v, s.M @ s.a + dM @ s.v, _free_roots(s.robot)
    rates = [dp[b] + crf(s.v[b]) @ p[b] for b in free]
    forces = [s.tau[b] - s.g[b] for b in free]
    return np.array(forces), np.array(rates), _largest(dM @ s.v, s.M @ s.a, s.tau, s.g)


def _free_roots(robot: Robot) -> list[slice]:
    return [v for body, _, v in robot.parts if robot.is_floating and body.parent is None
            and body.joint.nv == v.stop - v.start == 6]


def _inversion(s: State) -> tuple[Any, Any, float]:
    """a = M⁻¹ (τ − C v − g), terms that may be much larger than what is left of them."""
    a, values = s.arm.forward_dynamics(s.q, s.v, s.tau), np.linalg.eigvalsh(s.M)
    terms = _largest(s.M @ s.a, s.C @ s.v, s.g, s.tau) / float(values[0])
    return a, s.a, max(terms, _largest(a, s.a) * float(values[-1] / values[0]))


def _derivatives(s: State) -> tuple[Any, Any, float]:
    """dτ along a direction of all arguments at once."""
    D = s.arm.inverse_dynamics_derivatives(s.q, s.v, s.a)
    h = 1j * STEP
    moved = closed_form.inverse_dynamics(s.robot, stepped(s.robot, s.q, h * s.d), s.v + h * s.a,
                                         s.a + h * s.v)
    parts = (D.dtau_dq @ s.d, D.dtau_dv @ s.a, D.dtau_da @ s.v)
    return sum(parts), np.imag(moved) / STEP, _largest(*parts, D.dtau_dq * _largest(s.d))


def _jet(s: State) -> tuple[Any, Any, float]:
    """τ̇ of the jet against the partial derivatives along the motion."""
    jet = s.arm.inverse_dynamics_jet(s.q, np.stack([s.v, s.a, s.d, s.v]))
    D = s.arm.inverse_dynamics_derivatives(s.q, s.v, s.a)
    parts = (D.dtau_dq @ s.v, D.dtau_dv @ s.a, D.dtau_da @ s.d)
    return jet[1], sum(parts), _largest(*parts, D.dtau_dq * _largest(s.v))


LAWS: tuple[tuple[str, str, str, Law], ...] = (
    ("symmetry", "M = Mᵀ", "mass_matrix", _symmetry),
    ("positive inertia", "vᵀ M v ≥ 0", "mass_matrix", _definite),
    ("passivity", "Ṁ = C + Cᵀ", "coriolis_matrix", _passivity),
    ("equations of motion", "M a + C v + g = τ", "inverse_dynamics", _assembly),
    ("power", "vᵀ τ = d/dt (T + U)", "inverse_dynamics", _power),
    ("gravity", "g = ∂U/∂q", "gravity_torque", _gradient),
    ("kernel and closed form", "τ of both", "inverse_dynamics", _closed_form),
    ("regressor identity", "Y π (and springs) = τ", "regressor", _regressor),
    ("forward and inverse dynamics", "a(τ(a)) = a", "forward_dynamics", _inversion),
    ("derivatives of τ", "∂τ/∂(q, v, a) by complex step", "inverse_dynamics_derivatives",
     _derivatives),
    ("time derivative of τ", "τ̇ = ∂τ/∂q v + ∂τ/∂v a + ∂τ/∂a ȧ", "inverse_dynamics_jet", _jet),
)
"""Name, equation, the kernel whose operations bound the rounding, both sides."""
FLOATING: tuple[tuple[str, str, str, Law], ...] = (
    ("momentum", "ṗ + V×* p = τ − g of the base, p = (M v) of the base", "inverse_dynamics",
     _momentum),
)
"""Laws of robots with a base that moves freely: its linear and its angular momentum."""


def massless(robot: Robot) -> str:
    """Why the robot has no accelerations: which joints move no inertia; nothing if it has."""
    try:
        q = robot.random(np.random.default_rng(3))
        refuse_singular(robot, closed_form.mass_matrix(robot, q))
    except SingularMatrix as error:
        return str(error)
    return ""


def laws(robot: Robot, arm: CompiledRobot, count: int = STATES) -> Iterator[Certificate]:
    """Every law on the kernels `arm` of the robot, the worst of `count` random states."""
    rng = np.random.default_rng(0)
    at = [State(robot, arm, rng) for _ in range(count)]
    sums = 36 * robot.nv * len(robot.bodies)        # of the closed form Σ_k J_kᵀ I_k J_k
    singular = massless(robot)
    losses = [_loop_condition(robot, s.q) for s in at]
    for name, equation, quantity, law in (*LAWS, *(FLOATING if _free_roots(robot) else ())):
        if singular and quantity == "forward_dynamics":
            yield Certificate(name, equation, None, None, singular)
            continue
        try:
            rounding = (getattr(arm, quantity).operations.total + sums) * EPS
            found = [(_residual(*law(state)), rounding * loss)
                     for state, loss in zip(at, losses, strict=True)]
        except (ClosedformError, ArithmeticError) as error:
            yield Certificate(name, equation, None, None, str(error))
        else:
            yield Certificate(name, equation, *max(found, key=lambda x: _badness(x[0] / x[1])))


def _loop_condition(robot: Robot, q: Array) -> float:
    """κ: how much solving for the dependent joints enlarges rounding."""
    if robot.closure is None:
        return 1.0
    K_d = robot.closure.K_d(np.asarray(forces.loop_jacobian(robot, q)))
    return float(np.linalg.cond(K_d / np.linalg.norm(K_d, axis=1, keepdims=True)))


def _residual(left: Any, right: Any, size: float) -> float:
    difference = np.abs(np.asarray(left) - np.asarray(right)).max(initial=0)
    return float(difference / size) if size else float(difference)


def _badness(residual: float) -> float:
    return residual if np.isfinite(residual) else np.inf


# ---------------------------------------------------------------------- motion and peers
def swing(robot: Robot, seconds: float = 1.0) -> tuple[Certificate, Simulation | None]:
    """The energy of a motion without torques, by an integrator of relative accuracy 10⁻⁹."""
    law, equation = "energy in a swing", "T + U = const without torques"
    rng = np.random.default_rng(1)
    try:
        run = integrated(RigidSystem(robot), (robot.random(rng), 0.5 * rng.normal(size=robot.nv)),
                         None, np.linspace(0.0, seconds, 101), DOP853(rtol=RTOL), progress=False,
                         max_evaluations=50_000)
    except ClosedformError as error:
        return Certificate(law, equation, None, None, str(error)), None
    return Certificate(law, equation, run.energy_drift, RTOL * run.evaluations), run


def agreements(robot: Robot, arm: CompiledRobot, found: list[Peer],
               reasons: dict[str, str]) -> Iterator[Certificate]:
    """M and C v + g beside the peers'."""
    for peer in found:
        rng, worst = np.random.default_rng(2), 0.0
        for _ in range(STATES):
            q, v = robot.random(rng), rng.normal(size=robot.nv)
            M = peer.mass_matrix(q)
            bias = peer.bias(q, v)
            ours = arm.inverse_dynamics(q, v, np.zeros(robot.nv))
            worst = max(worst, _badness(_residual(arm.mass_matrix(q), M, _largest(M))),
                        _badness(_residual(ours, bias, _largest(bias))))
        yield Certificate(f"agreement with {peer.name} {peer.version}", "M, C v + g of both",
                          worst, peer.tolerance)
    for name, reason in reasons.items():
        yield Certificate(f"agreement with {name}", "M, C v + g of both", None, None, reason)
