"""A robot with elastic joints as a system, and its motion, free or in a sampled closed loop.

The state is (q, v, θ, ω), θ and ω the elastic joints' motors; the work is that of torques and
dampers.
"""

from __future__ import annotations

import sys
from functools import cached_property
from typing import Any, final

import numpy as np

from closedform.applications.compile.kernels import compile as compile_robot
from closedform.applications.elastic.linear import linearisation
from closedform.applications.elastic.programs import compile
from closedform.applications.motion.inputs import Controller, Input, finite
from closedform.applications.motion.integrator import integrated
from closedform.applications.motion.methods import RK4, Method, chosen
from closedform.applications.motion.pictures import Panel
from closedform.applications.motion.rigid import refuse_infinite
from closedform.applications.motion.simulation import Simulation
from closedform.applications.motion.system import System
from closedform.applications.motion.times import increasing
from closedform.arrays import Array, ArrayLike
from closedform.errors import ArgumentError
from closedform.lowerings.call.kernel import Kernel
from closedform.maths.elastic.control import ElasticState
from closedform.maths.elastic.joints import refuse_missing_inertia
from closedform.model.coordinates import coordinate_names, projected
from closedform.model.elasticity.joints import ElasticJoints

SMOOTH = 0.5
"""Radians of the fastest vibration in one step of a closed loop: RK4 loses 1e-4 of its size."""


@final
class ElasticSystem(System):
    """A robot with elastic joints under motor torques, an entry for each velocity.

    Friction of the robot's joints, `viscous` and `coulomb`, does not act; springs have `damping`.
    A start (q, v) has its springs at rest.
    """

    def __init__(self, model: ElasticJoints) -> None:
        refuse_missing_inertia(model)
        self.model, self.name, self.input_names = model, model.robot.name, model.names
        motors = [f"motor of {model.names[i]}" for i in model.elastic]
        self.coordinates = coordinate_names(model.robot.q_slices)
        self.state_names = [*self.coordinates, *(f"rate of {name}" for name in model.names),
                            *motors, *(f"rate of {name}" for name in motors)]
        sizes = [model.robot.nq, model.robot.nv, len(motors), len(motors)]
        self._ends = np.cumsum(sizes).tolist()

    def start(self, state: Any) -> Array:
        m, robot = self.model, self.model.robot
        given = (robot.neutral(), np.zeros(robot.nv)) if state is None else state
        if not isinstance(given, tuple | list) or len(given) not in (2, 4, 5, 6):
            raise ArgumentError("state must be a pair (q, v) or a cf.elastic.ElasticState (q, v, "
                                f"motor_position, motor_velocity), not {state!r}")
        q, v = finite(given[0], self.coordinates, "q"), finite(given[1], m.names, "v")
        position, velocity = given[2:4] or (motor_angles(m, q), v / m.gear_ratio)
        return np.concatenate([
            q, v, finite(position, m.names, "motor_position")[list(m.elastic)],
            finite(velocity, m.names, "motor_velocity")[list(m.elastic)]])

    def state(self, y: Array) -> ElasticState:
        """Rigid joints' motors turn with their links."""
        m, (a, b, c, d) = self.model, self._ends
        q, v, position, velocity = y[..., :a], y[..., a:b], y[..., b:c], y[..., c:d]
        if m.rigid:
            q, index = projected(m.robot, q), list(m.elastic)
            angles, rates = motor_angles(m, q), np.asarray(v) / m.gear_ratio
            angles[..., index], rates[..., index] = position, velocity
            position, velocity = angles, rates
        return ElasticState(q, v, position, velocity)

    def rate(self, y: Array, u: Array) -> Array:
        found = self._rate(y, u)
        refuse_infinite(self.model.robot, found, self.state(y).v)
        return found

    @cached_property
    def _rate(self) -> Kernel:
        return compile(self.model).rate

    @cached_property
    def step(self) -> Kernel:
        return compile(self.model).step

    def observed(self, y: Array, u: Array) -> dict[str, Any]:
        """Also the deflection Δq = q_M − N⁻¹ q, (points, nv), at the shafts."""
        state = self.state(y)
        found = compile(self.model).energies(*map(np.ascontiguousarray, state[:4]))
        return {"kinetic": found.kinetic, "potential": found.potential + found.spring,
                "motor_position": state.motor_position, "motor_velocity": state.motor_velocity,
                "motor_torque": u,
                "deflection": state.motor_position - motor_angles(self.model, state.q)}

    def retracted(self, y: Array) -> Array:
        return projected(self.model.robot, y)

    def inertia(self, y: Array) -> Array:
        """Of the links and the rigid joints' motors."""
        return compile_robot(self.model.link_robot).mass_matrix(self.state(y).q)

    def panels(self, run: Simulation) -> list[Panel]:
        m, index = self.model, list(self.model.elastic)
        links, N = [at for i in index if (at := m.coordinates[i]) is not None], m.gear_ratio
        return [Panel("q [rad, m]", run.q[:, links], [m.names[i] for i in index]),
                Panel("deflection at the link\n[mrad, mm]",
                      1e3 * (N * run.deflection)[:, index], ()),
                Panel("motor torque at the link\n[N m, N]", (run.tau / N)[:, index], ())]


def motor_angles(model: ElasticJoints, q: Array) -> np.ndarray:
    """N⁻¹ q, (..., nv): where the motors would be without springs; 0 on quasi-velocities."""
    found = np.zeros((*q.shape[:-1], model.robot.nv))
    for i, at in enumerate(model.coordinates):
        if at is not None:
            found[..., i] = q[..., at] / model.gear_ratio[i]
    return found


def simulate(
    model: ElasticJoints, state: Any, torque: Input, times: ArrayLike, *,
    method: Method | str = "DOP853", rtol: float | None = None, atol: float | None = None,
) -> Simulation:
    """`cf.simulate` of elastic joints under motor torques; rtol and atol for methods by name."""
    return integrated(ElasticSystem(model), state, torque, times,
                      chosen(method, rtol=rtol, atol=atol), what="torque")


def closed_loop(
    model: ElasticJoints, state: Any, controller: Controller, times: ArrayLike, *,
    step: float | None = None,
) -> Simulation:
    """The motion under a controller that is asked at each time and whose torques are held between.

    The plant moves by compiled steps of Runge and Kutta no longer than `step`; by default half a
    radian of the fastest vibration at the start.
    """
    t, system = increasing(times), ElasticSystem(model)
    if step is None:
        q = system.state(system.start(state)).q
        fastest = np.max(np.abs(np.linalg.eigvals(linearisation(model, q).A)), initial=0.0)
        step = SMOOTH / fastest if fastest > 0 else max(t[-1] - t[0], 1.0)
    return integrated(system, state, controller, t, RK4(step), max_evaluations=sys.maxsize)
