"""A robot with elastic joints as a system.

The state is (q, v, θ, ω), θ and ω the elastic joints' motors; the work is that of torques and
dampers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from closedform.applications.compile.kernels import compile as compile_robot
from closedform.applications.elastic.programs import CompiledElastic, compile
from closedform.applications.motion.inputs import finite
from closedform.applications.motion.pictures import Panel
from closedform.applications.motion.rigid import refuse_infinite
from closedform.applications.motion.simulation import Simulation
from closedform.applications.motion.system import Stepper, System
from closedform.arrays import Array
from closedform.errors import ArgumentError
from closedform.maths.elastic.control import ElasticState
from closedform.maths.elastic.joints import refuse_missing_inertia
from closedform.model.coordinates import (
    coordinate_names,
    projected,
)
from closedform.model.elasticity.joints import ElasticJoints


@final
@dataclass(frozen=True, eq=False)
class ElasticSystem(System):
    """A robot with elastic joints under motor torques, an entry for each velocity.

    Friction of the robot's joints, `viscous` and `coulomb`, does not act; springs have `damping`.
    A start (q, v) has its springs at rest.
    """

    model: ElasticJoints

    def __post_init__(self) -> None:
        refuse_missing_inertia(self.model)

    @property
    def name(self) -> str:
        return self.model.robot.name

    @cached_property
    def state_names(self) -> tuple[str, ...]:
        m = self.model
        motors = [m.names[i] for i in m.elastic]
        return (*coordinate_names(m.robot.q_slices), *(f"rate of {name}" for name in m.names),
                *(f"motor of {name}" for name in motors),
                *(f"rate of motor of {name}" for name in motors))

    @property
    def input_names(self) -> tuple[str, ...]:
        return self.model.names

    def start(self, state: Any) -> Array:
        m, robot = self.model, self.model.robot
        given = (robot.neutral(), np.zeros(robot.nv)) if state is None else state
        if not isinstance(given, tuple | list) or len(given) not in (2, 4, 5, 6):
            raise ArgumentError("state must be a pair (q, v) or a cf.elastic.ElasticState (q, v, "
                                f"motor_position, motor_velocity), not {state!r}")
        q = finite(given[0], coordinate_names(robot.q_slices), "q")
        v = finite(given[1], m.names, "v")
        motors = given[2:4] or (motor_angles(m, q), v / m.gear_ratio)
        position, velocity = (finite(x, m.names, name)[list(m.elastic)] for x, name in zip(
            motors, ("motor_position", "motor_velocity"), strict=True))
        return np.concatenate([q, v, position, velocity])

    def state(self, y: Array) -> ElasticState:
        """With unit quaternions; rigid joints' motors turn with their links."""
        m = self.model
        a, b, c, d = self._ends
        q, v, position, velocity = y[..., :a], y[..., a:b], y[..., b:c], y[..., c:d]
        if m.rigid:
            q, index = projected(m.robot, q), list(m.elastic)
            angles, rates = motor_angles(m, q), v / m.gear_ratio
            angles[..., index], rates[..., index] = position, velocity
            position, velocity = angles, rates
        return ElasticState(q, v, position, velocity)

    def rate(self, y: Array, u: Array) -> Array:
        found = self._kernels.rate(y, u)
        refuse_infinite(self.model.robot, found, self.state(y).v)
        return found

    @property
    def step(self) -> Stepper:
        return self._kernels.step

    def retracted(self, y: Array) -> Array:
        nq = self.model.robot.nq
        return np.concatenate([projected(self.model.robot, y[..., :nq]), y[..., nq:]], axis=-1)

    def inertia(self, y: Array) -> Array:
        """Of the links and the rigid joints' motors."""
        return compile_robot(self.model.link_robot).mass_matrix(self.state(y).q)

    def observed(self, y: Array, u: Array) -> dict[str, Any]:
        """Also the deflection Δq = q_M − N⁻¹ q, (points, nv), at the shafts."""
        state = self.state(y)
        found = self._kernels.energies(*map(np.ascontiguousarray, state[:4]))
        return {"kinetic": found.kinetic, "potential": found.potential + found.spring,
                "motor_position": state.motor_position, "motor_velocity": state.motor_velocity,
                "motor_torque": u,
                "deflection": state.motor_position - motor_angles(self.model, state.q)}

    def panels(self, run: Simulation) -> list[Panel]:
        m, index = self.model, list(self.model.elastic)
        links, N = [m.coordinates[i] for i in index], m.gear_ratio
        return [Panel("q [rad, m]", run.q[:, links], [m.names[i] for i in index]),
                Panel("deflection at the link\n[mrad, mm]",
                      1e3 * (N * run.deflection)[:, index], ()),
                Panel("motor torque at the link\n[N m, N]", (run.tau / N)[:, index], ())]

    @cached_property
    def _ends(self) -> list[int]:
        """Where the parts of a state end in y."""
        nq, nv, ne = self.model.robot.nq, self.model.robot.nv, len(self.model.elastic)
        return [nq, nq + nv, nq + nv + ne, nq + nv + 2 * ne]

    @cached_property
    def _kernels(self) -> CompiledElastic:
        return compile(self.model)


def motor_angles(model: ElasticJoints, q: Array) -> Array:
    """N⁻¹ q, (..., nv): where the motors would be without springs; 0 on quasi-velocities."""
    found = np.zeros((*q.shape[:-1], model.robot.nv))
    for i, at in enumerate(model.coordinates):
        if at is not None:
            found[..., i] = q[..., at] / model.gear_ratio[i]
    return found
