"""A rigid robot as a system.

    q̇ = Γ(q) v                                            (i)
    v̇ = M⁻¹ (f − C v − g)                                 (ii)
    f = u + Σ_k J_kᵀ F_k − friction(v),   Ẇ = vᵀ f        (iii)

Quaternions are integrated as four numbers, by ½ q ⊗ (ω, 0), whose direction is right for any length
of q; the equations see them normalised, and so does the reader of the result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from closedform.applications.compile.kernels import compile
from closedform.applications.motion.inputs import answered, finite
from closedform.applications.motion.pictures import Panel
from closedform.applications.motion.simulation import Simulation
from closedform.applications.motion.system import State, System, pair
from closedform.arrays import Array
from closedform.errors import ArgumentError, ClosedformError, SingularMatrix
from closedform.maths.coulomb import SLIP, smoothed_sign
from closedform.maths.definitions.closed_form import mass_matrix, wrench_torque
from closedform.maths.definitions.energy import joint_friction
from closedform.model import groups
from closedform.model.joints import Free, Joint, Planar, Spherical
from closedform.model.robot import Robot


@final
@dataclass(frozen=True, eq=False)
class RigidSystem(System):
    """A robot under joint torques and, as functions (t, q, v) -> (bodies, 6), under `wrenches`.

    Wrenches act on the bodies in their frames. Friction of the joints, `viscous` and `coulomb`,
    acts with `friction=True` alone; Coulomb's is smoothed below `slip_velocity`.
    """

    robot: Robot
    friction: bool = False
    slip_velocity: float = SLIP
    wrenches: Callable[[float, Array, Array], Any] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.robot, Robot):
            raise ArgumentError(f"robot must be a cf.Robot, not {type(self.robot).__name__}")
        if not (np.isfinite(self.slip_velocity) and self.slip_velocity > 0):
            raise ArgumentError("slip_velocity must be a positive number, "
                                f"not {self.slip_velocity!r}")

    @property
    def name(self) -> str:
        return self.robot.name

    @cached_property
    def state_names(self) -> tuple[str, ...]:
        robot = self.robot
        return (*coordinate_names(robot.q_slices),
                *(f"rate of {name}" for name in coordinate_names(robot.v_slices)))

    @cached_property
    def input_names(self) -> list[str]:
        return coordinate_names(self.robot.v_slices)

    def start(self, state: Any) -> Array:
        robot = self.robot
        q, v = (robot.neutral(), np.zeros(robot.nv)) if state is None else pair(state)
        q = finite(q, coordinate_names(robot.q_slices), "q0")
        v = finite(v, coordinate_names(robot.v_slices), "v0")
        for name, at in quaternions(robot).items():
            length = np.linalg.norm(q[at])
            if abs(length - 1) > 1e-6:
                raise ArgumentError(f"q0: the quaternion of {name} must have unit length, it has "
                                    f"{length:g}")
        refuse_singular(robot, projected(robot, q))
        return np.concatenate([q, v])

    def state(self, y: Array) -> State:
        nq, nv = self.robot.nq, self.robot.nv
        return State(projected(self.robot, y[..., :nq]), y[..., nq:nq + nv])

    def rate(self, y: Array, u: Array) -> Array:
        q, v = self.state(y)
        f, robot = u - self.resistance(v), self.robot
        try:
            with np.errstate(all="ignore"):
                a = self._dynamics(q, v, f)
        except SingularMatrix as error:
            raise SingularMatrix(f"the mass matrix of {robot.name} is singular") from error
        refuse_infinite(robot, a, v)
        return np.concatenate([coordinate_rates(robot, y[:robot.nq], q, v), a, [v @ f]])

    def resistance(self, v: Array) -> Array:
        """Friction of the joints, (nv,)."""
        d, c = self._friction
        return d * v + c * smoothed_sign(v, self.slip_velocity)

    def observed(self, y: Array, u: Array) -> dict[str, Any]:
        found = compile(self.robot, ["kinetic_energy", "potential_energy"])(*self.state(y))
        return {"kinetic": found.kinetic_energy, "potential": found.potential_energy}

    @property
    def load(self) -> Callable[[float, Any], Array] | None:
        wrenches, robot = self.wrenches, self.robot
        if wrenches is None:
            return None
        shape = (len(robot.bodies), 6)
        return lambda t, state: wrench_torque(
            robot, state.q, answered(wrenches(t, *state), shape, t, "wrenches"))

    def retracted(self, y: Array) -> Array:
        nq = self.robot.nq
        return np.concatenate([projected(self.robot, y[..., :nq]), y[..., nq:]], axis=-1)

    def inertia(self, y: Array) -> Array:
        return compile(self.robot).mass_matrix(self.state(y).q)

    def panels(self, run: Simulation) -> list[Panel]:
        return [Panel("q [rad, m]", run.q, coordinate_names(self.robot.q_slices)),
                Panel("v [rad/s, m/s]", run.v, self.input_names)]

    @cached_property
    def _dynamics(self) -> Callable[[Array, Array, Array], Array]:
        return compile(self.robot).forward_dynamics

    @cached_property
    def _friction(self) -> tuple[Array, Array]:
        """d and c of the friction d v + c sign(v)."""
        if not self.friction:
            return np.zeros(self.robot.nv), np.zeros(self.robot.nv)
        one, two = (joint_friction(self.robot, np.full(self.robot.nv, v)) for v in (1.0, 2.0))
        return two - one, 2 * one - two


def refuse_infinite(robot: Robot, a: Array, v: Array) -> None:
    """An error if the robot has no accelerations here."""
    if not np.all(np.isfinite(a)):
        raise ClosedformError(
            f"accelerations of {robot.name} are not finite; its mass matrix is singular or the "
            f"motion has run away (|v| up to {np.max(np.abs(v)):.3g})")


# ---------------------------------------------------------------------- coordinates
def coordinate_rates(robot: Robot, y: Array, q: Array, v: Array) -> Array:
    """q̇ = Γ(q) v, (nq,), for q with quaternions normalised; y is the same q as integrated."""
    moving = [body.joint for body in robot.bodies if body.joint.nv]
    places = zip(moving, robot.q_slices.values(), robot.v_slices.values(), strict=True)
    rates = [_rates(joint, y[i], q[i], v[j]) for joint, i, j in places]
    return np.concatenate([np.zeros(0), *rates])


def _rates(joint: Joint, y: Array, q: Array, v: Array) -> Array:
    if isinstance(joint, Spherical):
        return _quaternion_rate(y, v)
    if isinstance(joint, Free):
        return np.concatenate([groups.rotate(q[3:], v[:3]), _quaternion_rate(y[3:], v[3:])])
    if isinstance(joint, Planar):
        c, s = np.cos(q[2]), np.sin(q[2])
        return np.array([c * v[0] - s * v[1], s * v[0] + c * v[1], v[2]])
    return v


def _quaternion_rate(y: Array, w: Array) -> Array:
    """½ y ⊗ (ω, 0)."""
    return 0.5 * groups.quaternion_product(y, np.append(w, 0.0))


def projected(robot: Robot, q: Array) -> Array:
    """q with unit quaternions, batch axes first."""
    if robot.nq == robot.nv:
        return q
    q = np.array(q)
    for at in quaternions(robot).values():
        q[..., at] = groups.normalised(q[..., at])
    return q


def quaternions(robot: Robot) -> dict[str, slice]:
    """Where quaternions stand in q, by joint."""
    stops = {body.joint_name: robot.q_slices[body.joint_name].stop for body in robot.bodies
             if isinstance(body.joint, Spherical | Free)}
    return {name: slice(stop - 4, stop) for name, stop in stops.items()}


def coordinate_names(slices: Mapping[str, slice]) -> list[str]:
    """One name for each coordinate: the joint's, with a number where it has several."""
    return [name if at.stop - at.start == 1 else f"{name}[{i}]"
            for name, at in slices.items() for i in range(at.stop - at.start)]


# ---------------------------------------------------------------------- checking
def refuse_singular(robot: Robot, q: Array) -> None:
    """Refuse a mass matrix that is not positive definite, naming joints that move nothing."""
    M, names = mass_matrix(robot, q), coordinate_names(robot.v_slices)
    diagonal = np.diag(M)
    if np.any(diagonal <= 0):
        without = [name for name, d in zip(names, diagonal, strict=True) if d <= 0]
        raise SingularMatrix(
            f"the mass matrix of {robot.name} is singular: no inertia moves with "
            f"{', '.join(without)}; give the bodies mass or the joints a rotor_inertia")
    scale = 1 / np.sqrt(diagonal)
    values, vectors = np.linalg.eigh(M * np.outer(scale, scale))
    if len(values) and values[0] < 4 * len(values) * np.finfo(float).eps:
        worst = names[int(np.argmax(np.abs(vectors[:, 0])))]
        raise SingularMatrix(f"the mass matrix of {robot.name} is singular "
                             f"(smallest eigenvalue {values[0]:.1e}, scaled), most at {worst}")
