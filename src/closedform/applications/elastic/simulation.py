"""Motion of robots with elastic joints, free or in a sampled closed loop."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from closedform.applications.elastic.linear import linearisation
from closedform.applications.elastic.system import ElasticSystem
from closedform.applications.motion.inputs import Controller, Input
from closedform.applications.motion.integrator import integrated
from closedform.applications.motion.methods import RK4, Method, chosen
from closedform.applications.motion.simulation import Simulation
from closedform.applications.motion.times import increasing
from closedform.arrays import ArrayLike
from closedform.model.elasticity.joints import ElasticJoints

SMOOTH = 0.5
"""Radians of the fastest vibration in one step of a closed loop: RK4 loses 1e-4 of its size."""


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
