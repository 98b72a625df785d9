"""One call that moves any system: a rigid robot, a flexible arm, elastic joints, or one's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, overload

from closedform.applications.elastic.system import ElasticSystem
from closedform.applications.flexible.system import FlexibleSystem
from closedform.applications.motion.inputs import Input
from closedform.applications.motion.integrator import EVALUATIONS, integrated
from closedform.applications.motion.methods import DOP853, Method, chosen
from closedform.applications.motion.rigid import RigidSystem
from closedform.applications.motion.simulation import Simulation
from closedform.applications.motion.system import System
from closedform.arrays import ArrayLike
from closedform.errors import ArgumentError
from closedform.maths.flexible.arm import FlexibleArm
from closedform.model.elasticity.joints import ElasticJoints
from closedform.model.robot import Robot

Movable = Robot | FlexibleArm | ElasticJoints
SYSTEMS: dict[type, Callable[..., System]] = {
    Robot: RigidSystem, FlexibleArm: FlexibleSystem, ElasticJoints: ElasticSystem}
"""The system that a model becomes."""
WHOLE, APART = ("system", "state", "input", "times"), ("system", "q0", "v0", "torque", "times")
"""The two ways to ask for a motion: with the state as one argument, and with q and v apart."""
DEFAULT = DOP853()


@overload
def simulate(system: System | Movable, state: Any, input: Input, times: ArrayLike, *,
             method: Method | str = DEFAULT, progress: bool | None = None,
             max_evaluations: int = EVALUATIONS, **options: Any) -> Simulation: ...


@overload
def simulate(system: Robot | FlexibleArm, q0: ArrayLike, v0: ArrayLike | None,
             torque: Input, times: ArrayLike, *,
             method: Method | str = "DOP853", rtol: float = 1e-9, atol: float = 1e-10,
             progress: bool | None = None, max_evaluations: int = EVALUATIONS,
             **options: Any) -> Simulation: ...


def simulate(*given: Any, method: Method | str = "DOP853", rtol: float | None = None,
             atol: float | None = None, step: float | None = None, progress: bool | None = None,
             max_evaluations: int = EVALUATIONS, **options: Any) -> Simulation:
    """The motion of a system from a state at times[0] under an input, told at increasing `times`.

    `system` is a `Robot`, a `FlexibleArm`, an `ElasticJoints`, or a system made of one: of a robot
    `RigidSystem(robot, friction=True)`, whose options may be given here as well. `state` is a
    pair (q, v), or what the model calls its state; None is its state at rest. `input` are torques:
    a function (t, state) or (t, q, v) -> (n,), a constant (n,), a `cf.flexible.Held`, a controller
    that is asked at the times and held between them, or None for no torque.

    Joint friction, `viscous` and `coulomb`, acts on a robot with `friction=True` alone, on a
    flexible arm always, on elastic joints never. `wrenches` is a function (t, q, v) -> (bodies, 6),
    the loads on a robot's bodies in their frames. `method` is one of `cf.DOP853(rtol, atol)`,
    `RK23`, `RK45`, `Radau`, `BDF`, `LSODA`, `cf.RK4(step)`, or the name of one. `progress` shows a
    bar on standard error (None: if that is a terminal). A run that needs more than
    `max_evaluations` of the right-hand side is stopped with an error.

    The result carries its own checks: `energy_residual`, `constraint_residual`,
    `smallest_inertia`.
    """
    apart = len(given) + ("times" in options) == 5 or bool({"q0", "v0", "torque"} & set(options))
    names = APART if apart else WHOLE
    asked = dict(zip(names, given, strict=False))
    asked |= {name: options.pop(name) for name in names[len(given):] if name in options}
    if len(given) > len(names) or len(asked) < len(names):
        raise TypeError(f"simulate takes {', '.join(WHOLE)} or {', '.join(APART)}; these were "
                        f"given: {', '.join(asked)}")
    system, *state, u, times = (asked[name] for name in names)
    return integrated(as_system(system, **options), tuple(state) if apart else state[0], u, times,
                      chosen(method, rtol=rtol, atol=atol, step=step), progress=progress,
                      max_evaluations=max_evaluations, what="torque" if apart else "input")


def as_system(model: System | Movable, **options: Any) -> System:
    """A model as the system that it is; a system as it is."""
    for kind, make in SYSTEMS.items():
        if isinstance(model, kind):
            return make(model, **options)
    if isinstance(model, Movable) or not callable(getattr(model, "rate", None)):
        raise ArgumentError("system must be a cf.Robot, cf.FlexibleArm, cf.ElasticJoints or a "
                            f"system made of one, not {type(model).__name__}")
    if options:
        raise ArgumentError(f"{', '.join(options)} belong to the system: give "
                            f"{type(model).__name__}(..., {'=..., '.join(options)}=...)")
    return model
