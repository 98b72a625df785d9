"""A rigid robot as a system.

    q̇ = Γ(q) v                                            (i)
    v̇ = M⁻¹ (f − C v − g)                                 (ii)
    f = u + Σ_k J_kᵀ F_k − friction(q, v),   Ẇ = vᵀ f        (iii)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import Any, final

import numpy as np

from closedform.applications.compile.digest import robot_digest
from closedform.applications.compile.forms import Forms
from closedform.applications.compile.kernels import compile, fuse
from closedform.applications.motion.inputs import answered, finite, pair
from closedform.applications.motion.methods import rk4_step
from closedform.applications.motion.pictures import Panel
from closedform.applications.motion.simulation import Simulation
from closedform.applications.motion.system import MotionState, System
from closedform.arrays import Array, namespace
from closedform.errors import ArgumentError, ClosedformError, SingularMatrix
from closedform.lowerings.call.kernel import Kernel
from closedform.lowerings.call.trial import function_trial
from closedform.maths.algorithms.applicability import applies
from closedform.maths.catalogue import quantity
from closedform.maths.coulomb import SLIP, smoothed_sign
from closedform.maths.definitions.closed_form import (
    forward_dynamics,
    mass_matrix,
    wrench_torque,
)
from closedform.maths.definitions.friction import joint_friction, rubs_with_q
from closedform.maths.embedding import embedding
from closedform.maths.regularity import refuse_singular
from closedform.model.coordinates import coordinate_names, integrand, projected, units
from closedform.model.robot import Robot
from closedform.program.pipeline import optimised
from closedform.program.program import Program
from closedform.program.record import record


@final
class RigidSystem(System):
    """A robot under joint torques, and under `wrenches`, a function (t, q, v) -> (bodies, 6).

    Wrenches act on the bodies in their frames. Friction of the joints, `viscous` and `coulomb`,
    acts with `friction=True` alone; Coulomb's is smoothed below `slip_velocity`.
    """

    def __init__(self, robot: Robot, friction: bool = False, slip_velocity: float = SLIP,
                 wrenches: Callable[[float, Array, Array], Any] | None = None) -> None:
        if not isinstance(robot, Robot):
            raise ArgumentError(f"robot must be a cf.Robot, not {type(robot).__name__}")
        if not (np.isfinite(slip_velocity) and slip_velocity > 0):
            raise ArgumentError(f"slip_velocity must be a positive number, not {slip_velocity!r}")
        self.robot, self.friction, self.slip_velocity = robot, friction, slip_velocity
        self.name, self.input_names = robot.name, coordinate_names(robot.v_slices)
        self.coordinates = coordinate_names(robot.q_slices)
        self.state_names = [*self.coordinates, *(f"rate of {name}" for name in self.input_names)]
        self.load = None if wrenches is None else lambda t, state: wrench_torque(
            robot, state.q, answered(wrenches(t, *state), (len(robot.bodies), 6), t, "wrenches"))

    def start(self, state: Any) -> Array:
        robot = self.robot
        q, v = (robot.neutral(), np.zeros(robot.nv)) if state is None else pair(state)
        q, v = finite(q, self.coordinates, "q0"), finite(v, self.input_names, "v0")
        for name, at in units(robot).items():
            length = np.linalg.norm(q[at])
            if abs(length - 1) > 1e-6:
                what = "quaternion" if at.stop - at.start == 4 else "vector"
                raise ArgumentError(f"q0: the {what} of {name} must have unit length, it has "
                                    f"{length:g}")
        refuse_singular(robot, mass_matrix(robot, projected(robot, q)))
        return np.concatenate([q, v])

    def state(self, y: Array) -> MotionState:
        nq, nv = self.robot.nq, self.robot.nv
        return MotionState(projected(self.robot, y[..., :nq]), y[..., nq:nq + nv])

    def rate(self, y: Array, u: Array) -> Array:
        try:
            with np.errstate(all="ignore"):
                found = self._equations(self._dynamics, y, u)
        except SingularMatrix as error:
            raise SingularMatrix(f"the mass matrix of {self.name} is singular") from error
        refuse_infinite(self.robot, found, y[self.robot.nq:-1])
        return found

    def _equations(self, dynamics: Callable[..., Array], y: Array, u: Array) -> Array:
        """(i)–(iii) over generic arrays; `dynamics` are (q, v, f) -> v̇."""
        xp, robot, (q, v) = namespace(y, u), self.robot, self.state(y)
        f = u - self.resistance(q, v) if self.friction else u
        return xp.concatenate([integrand(robot, y[:robot.nq], q, v), dynamics(q, v, f),
                               xp.stack([v @ f])])

    @cached_property
    def step(self) -> Kernel:
        key = f"rigid step {robot_digest(self.robot)} {self.friction} {self.slip_velocity!r}"
        nq, nv = self.robot.nq, self.robot.nv
        shapes = {"y": (nq + nv + 1,), "held": (nv + 1,)}
        rate = partial(self._equations, partial(forward_dynamics, self.robot))
        trial = function_trial("rigid_step", shapes, rk4_step(rate, nv))
        return Kernel.load(key, lambda: trial.program(self._step_program(shapes)),
                           judge=trial.code)

    def _step_program(self, shapes: Mapping[str, tuple[int, ...]]) -> Program:
        """A step on canonical links, by the algorithm that takes the fewest operations."""
        forms, nv = Forms(self.robot), self.robot.nv

        def recorded(algorithm: Callable[..., Array]) -> Program:
            rate = partial(self._equations, lambda q, v, f: algorithm(
                forms.base, q + forms.canonical.offset, v, f))
            return record(rk4_step(rate, nv), shapes, "rigid_step")

        return optimised(*(recorded(x) for x in quantity("forward_dynamics").algorithms
                           if applies(x, self.robot)))

    def resistance(self, q: Array, v: Array) -> Array:
        """Friction of the joints, d v + c sign(v), (nv,); where it changes with q, Gᵀ of it at G v.
        """
        if rubs_with_q(self.robot):
            e = embedding(self.robot)
            g, = e.slope_rates(q, [])
            return e.folded(self._free.resistance(q, e.raised(v, g)), g)
        d, c = self._friction
        return d * v + c * smoothed_sign(v, self.slip_velocity)

    def observed(self, y: Array, u: Array) -> dict[str, Any]:
        found = fuse(self.robot, ["kinetic_energy", "potential_energy"])(*self.state(y))
        return {"kinetic": found.kinetic_energy, "potential": found.potential_energy}

    def retracted(self, y: Array) -> Array:
        return projected(self.robot, y)

    def inertia(self, y: Array) -> Array:
        return compile(self.robot).mass_matrix(self.state(y).q)

    def panels(self, run: Simulation) -> list[Panel]:
        return [Panel("q [rad, m]", run.q, self.coordinates),
                Panel("v [rad/s, m/s]", run.v, self.input_names)]

    @cached_property
    def _dynamics(self) -> Kernel:
        return compile(self.robot).forward_dynamics

    @cached_property
    def _free(self) -> RigidSystem:
        """The robot whose joints follow by ratios only: its friction is one of v alone."""
        return RigidSystem(embedding(self.robot).free, self.friction, self.slip_velocity)

    @cached_property
    def _friction(self) -> tuple[Array, Array]:
        one, two = (joint_friction(self.robot, np.full(self.robot.nv, v)) for v in (1.0, 2.0))
        return two - one, 2 * one - two


def refuse_infinite(robot: Robot, rate: Array, v: Array) -> None:
    """An error if there is no rate of the robot's state."""
    if not np.all(np.isfinite(rate)):
        raise ClosedformError(
            f"accelerations of {robot.name} are not finite; its mass matrix is singular or the "
            f"motion has run away (|v| up to {np.max(np.abs(v)):.3g})")
