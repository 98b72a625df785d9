"""A rigid robot as a system.

    q̇ = Γ(q) v                                            (i)
    v̇ = M⁻¹ (f − C v − g)                                 (ii)
    f = u + Σ_k J_kᵀ F_k − friction(q, v),   Ẇ = vᵀ f        (iii)

Of a robot with loops q is closed by steps of Newton's wherever (i)–(iii) are asked for, and after
every step of `RK4`; q̇ = Γ(q) G v there, of all joints of the tree.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
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
from closedform.model.loops.closure import velocity_names
from closedform.model.loops.elimination import determinant_sign, suitable, values_text
from closedform.model.loops.gap import jacobian, residual
from closedform.model.robot import Robot
from closedform.program.pipeline import optimised
from closedform.program.program import Program
from closedform.program.record import record

COME_OPEN = 1e-3
"""Loops as far open as this, next to the robot's size, are beyond where they could be closed."""
NEARLY_SINGULAR = 1e-6
"""Loops with a smaller singular value, next to the largest, are what a run that ends broke down at.
"""


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
        refuse_singular(robot, mass_matrix(robot, projected(robot.tree, q)))
        return np.concatenate([q, v])

    def state(self, y: Array) -> MotionState:
        nq, nv = self.robot.nq, self.robot.nv
        return MotionState(self._retracted(y[..., :nq]), y[..., nq:nq + nv])

    def _retracted(self, q: Array) -> Array:
        """q with unit vectors at length one and loops closed."""
        q = projected(self.robot.tree, q)
        if self.robot.loops:
            step = compile(self.robot).loop_step if q.dtype.kind == "f" \
                else embedding(self.robot).stepped
            q = step(step(q))
        return q

    def rate(self, y: Array, u: Array) -> Array:
        try:
            with np.errstate(all="ignore"):
                found = self._looped_rate(y, u) if self.robot.loops else \
                    self._equations(self._dynamics, y, u)
        except SingularMatrix as error:
            raise SingularMatrix(f"the mass matrix of {self.name} is singular") from error
        refuse_infinite(self.robot, found, y[self.robot.nq:-1])
        return found

    def _equations(self, dynamics: Callable[..., Array], y: Array, u: Array) -> Array:
        """(i)–(iii) over generic arrays; `dynamics` are (q, v, f) -> v̇."""
        xp, robot, (q, v) = namespace(y, u), self.robot, self.state(y)
        f = u - self.resistance(q, v) if self.friction else u
        whole = embedding(robot).rates(q, [v])[0] if robot.loops else v
        return xp.concatenate([integrand(robot.tree, y[:robot.nq], q, whole), dynamics(q, v, f),
                               xp.stack([v @ f])])

    @cached_property
    def _looped_rate(self) -> Kernel:
        """(i)–(iii) of a robot with loops, which closes them in the same program."""
        nq, nv = self.robot.nq, self.robot.nv
        key = f"rigid rate {robot_digest(self.robot)} {self.friction} {self.slip_velocity!r}"
        return self._kernel(key, {"y": (nq + nv + 1,), "u": (nv,)}, "rigid_rate", lambda rate: rate)

    def _kernel(self, key: str, shapes: Mapping[str, tuple[int, ...]], name: str,
                made: Callable[[Callable[..., Array]], Callable[..., Array]]) -> Kernel:
        """What is `made` of the equations as a program, on canonical links."""
        robot, forms = self.robot, Forms(self.robot)

        def definition(*given: Array) -> Array:
            return made(partial(self._equations, partial(forward_dynamics, robot)))(*given)

        def inputs(rng: np.random.Generator) -> dict[str, Array]:
            found: dict[str, Array] = {k: 0.3 * rng.normal(size=shape)
                                       for k, shape in shapes.items()}
            if robot.loops:
                found["y"] = np.concatenate([robot.random(rng), found["y"][robot.nq:]])
            return found

        def program() -> Program:
            return optimised(*(record(made(partial(self._equations, partial(
                self._canonical, forms, x))), shapes, name)
                for x in quantity("forward_dynamics").algorithms if applies(x, robot)))

        trial = replace(function_trial(name, shapes, definition), inputs=inputs)
        return Kernel.load(key, lambda: trial.program(program()), judge=trial.code)

    @staticmethod
    def _canonical(forms: Forms, algorithm: Callable[..., Array], q: Array, v: Array,
                   f: Array) -> Array:
        return algorithm(forms.base, q + forms.canonical.offset, v, f)

    @cached_property
    def step(self) -> Kernel:
        key = f"rigid step {robot_digest(self.robot)} {self.friction} {self.slip_velocity!r}"
        nq, nv = self.robot.nq, self.robot.nv
        shapes = {"y": (nq + nv + 1,), "held": (nv + 1,)}

        def made(rate: Callable[..., Array]) -> Callable[..., Array]:
            step = rk4_step(rate, nv)
            return step if not self.robot.loops else lambda y, held: self.retracted(step(y, held))

        return self._kernel(key, shapes, "rigid_step", made)

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
        if self.robot.loops:
            nq = self.robot.nq
            return namespace(y).concatenate([self._retracted(y[..., :nq]), y[..., nq:]], axis=-1)
        return projected(self.robot, y)

    def stopped(self, first: Array, last: Array) -> str | None:
        """Loops beyond or at a place where the independent joints do not tell the others."""
        closure, nq = self.robot.closure, self.robot.nq
        if closure is None:
            return None
        Ks = [np.asarray(jacobian(self.robot.tree, closure.gaps, y[:nq])) for y in (first, last)]
        names, rank = velocity_names(self.robot.tree), len(closure.dependent)
        loops = ", ".join(map(repr, dict.fromkeys(closure.names())))
        own = ", ".join(self.robot.independent or ())
        phi = residual(self.robot.tree, closure.gaps, last[:nq])
        if not np.abs(phi).max(initial=0) < COME_OPEN * closure.size:
            would = ", ".join(names[i] for i in suitable(Ks[0], rank, closure.dependent))
            return (f"the loops {loops} of {self.name} came open beyond a singular configuration, "
                    f"where the independent joints {own} do not tell the others; as independent "
                    f"joints would do: {would}")
        signs = [float(determinant_sign(closure.K_d(K))) for K in Ks]
        values = np.linalg.svd(closure.K_d(Ks[1]), compute_uv=False)
        if signs[0] == signs[1] and values[-1] > NEARLY_SINGULAR * values[0]:
            return None
        would = ", ".join(names[i] for i in suitable(Ks[1], rank))
        return (f"the loops {loops} of {self.name} went into a singular configuration, where the "
                f"independent joints {own} do not tell the others (singular values "
                f"{values_text(closure.K_d(Ks[1]))}); as independent joints would do: {would}")

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
