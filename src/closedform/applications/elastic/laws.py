"""Controllers of robots with elastic joints along a trajectory, sampled at given times.

`Decoupling` makes every joint's error obey a linear equation of fourth order with chosen poles;
`ComputedTorque` is the law designed on the rigid model, which knows the motors only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from closedform.applications.compile.kernels import compile
from closedform.applications.elastic.programs import compile as compile_elastic
from closedform.applications.motion.trajectories import Trajectory
from closedform.arrays import NO_ARRAY, ArrayLike
from closedform.errors import ArgumentError
from closedform.maths.elastic.control import ElasticState
from closedform.model.elasticity.joints import ElasticJoints

SampledLaw = Callable[[int, ElasticState], np.ndarray]
"""(number of the sample, state) -> motor torques (nv,)."""


def outer_loop(poles: ArrayLike, nv: int, order: int = 4) -> np.ndarray:
    """Gains K_0 … of e⁽ⁿ⁾ + Σ_k K_k e⁽ᵏ⁾ = 0 with the given poles, (order, nv).

    `poles` are `order` numbers for all joints, or (nv, order): negative, or pairs of conjugates
    with negative real parts.
    """
    try:
        p = np.asarray(poles, dtype=complex)
        p = np.broadcast_to(p, (nv, order))
    except NO_ARRAY as error:
        raise ArgumentError(f"poles must be {order} numbers, or {order} for each of {nv} joints, "
                            f"not {poles!r}") from error
    if not np.all(np.isfinite(p)) or np.any(p.real >= 0):
        raise ArgumentError(f"poles must have negative real parts, not {poles!r}")
    coefficients = np.array([np.poly(row) for row in p], dtype=complex)
    if np.any(np.abs(coefficients.imag) > 1e-9 * np.abs(coefficients)):
        raise ArgumentError(f"complex poles must come in conjugate pairs, not {poles!r}")
    return np.ascontiguousarray(coefficients.real[:, :0:-1].T)


def reference(model: ElasticJoints, trajectory: Trajectory, times: np.ndarray) -> np.ndarray:
    """q_d and its four derivatives, (points, 5, nq)."""
    rows = np.moveaxis(trajectory.coordinates(np.asarray(times, dtype=float)), 0, 1)
    if rows.shape != (len(times), 5, model.robot.nq):
        raise ArgumentError(f"the trajectory has {rows.shape[-1]} coordinates, {model.robot.name} "
                            f"has {model.robot.nq}")
    return np.ascontiguousarray(rows)


@final
@dataclass(frozen=True, eq=False)
class Decoupling:
    """The decoupling u with q⁽⁴⁾ = q_d⁽⁴⁾ + Σ_k K_k (q_d⁽ᵏ⁾ − q⁽ᵏ⁾), computed with `model`.

    For models whose joints are all elastic and undamped.
    """

    model: ElasticJoints
    trajectory: Trajectory
    poles: ArrayLike

    def start(self, times: np.ndarray) -> SampledLaw:
        kernel = compile_elastic(self.model).tracking_control
        gains = outer_loop(self.poles, self.model.robot.nv)
        rows = list(reference(self.model, self.trajectory, times))

        def law(k: int, state: ElasticState) -> np.ndarray:
            return kernel(state[0], state[1], state[2], state[3], rows[k], gains)

        return law


@final
@dataclass(frozen=True, eq=False)
class ComputedTorque:
    """The rigid law: u = N ID(q, v, a_d + K_1 (v_d − v) + K_0 (q_d − q)), motors on the links.

    q and v are measured at the links; with `at_motors` they are N q_M and N q̇_M, the motors'
    encoders seen through a gear that is taken for rigid.
    """

    model: ElasticJoints
    trajectory: Trajectory
    poles: ArrayLike
    at_motors: bool = False

    def start(self, times: np.ndarray) -> SampledLaw:
        m = self.model
        if m.robot.nq != m.robot.nv:
            raise ArgumentError(f"computed torque is for robots without quaternions; "
                                f"{m.robot.name} has some")
        robot = ElasticJoints(m.robot, None, m.motor_inertia, m.gear_ratio).link_robot
        kernel, N = compile(robot).inverse_dynamics, m.gear_ratio
        K = outer_loop(self.poles, m.robot.nv, order=2)
        rows, motors = list(reference(m, self.trajectory, times)), self.at_motors

        def law(k: int, state: ElasticState) -> np.ndarray:
            q, v = (N * state[2], N * state[3]) if motors else (state[0], state[1])
            wanted = rows[k]
            a = wanted[2] + K[1] * (wanted[1] - v) + K[0] * (wanted[0] - q)
            return N * kernel(q, v, a)

        return law


@final
@dataclass(frozen=True, eq=False)
class Feedback:
    """Any function (t, state) -> motor torques as a controller."""

    function: Callable[[float, ElasticState], Any]

    def start(self, times: np.ndarray) -> SampledLaw:
        return lambda k, state: self.function(times[k], state)
