"""Motion of robots with elastic joints: exact by SciPy's integrators, or in a sampled closed loop.

The state is (q, v, θ, ω), θ and ω the elastic joints' motors. Beside it `simulate` integrates the
work of torques and dampers, so that energy less work is constant and every run carries its check.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from closedform.applications.elastic.laws import Controller
from closedform.applications.elastic.linear import state_space
from closedform.applications.elastic.programs import compile
from closedform.applications.motion.simulate import METHODS, Method, coordinate_rates, projected
from closedform.arrays import Array, checked_array
from closedform.errors import ArgumentError, ClosedformError
from closedform.maths.elastic.control import ElasticState
from closedform.model.elastic import ElasticJoints

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Torque = Callable[[float, ElasticState], Any]
SMOOTH = 0.5
"""Radians of the fastest vibration in one step of a closed loop: RK4 loses 1e-4 of its size."""


@final
@dataclass(frozen=True, eq=False)
class ElasticSimulation:
    """A motion at given times; motors have an entry for each velocity."""

    model: ElasticJoints
    times: Array             # (points,) s
    q: Array                 # (points, nq)
    v: Array                 # (points, nv)
    motor_position: Array    # (points, nv)
    motor_velocity: Array    # (points, nv)
    motor_torque: Array      # (points, nv); in a closed loop that held from this time on
    work: Array              # (points,) J, of torques and dampers so far; NaN in a closed loop

    @property
    def energy(self) -> Array:
        """Kinetic, potential and spring energy together, (points,)."""
        kernel = compile(self.model).energies
        return sum(kernel(self.q, self.v, self.motor_position, self.motor_velocity))

    @property
    def energy_residual(self) -> Array:
        """E(t) − E(0) − W(t), (points,) J: zero for an exact solution."""
        energy = self.energy
        return energy - energy[0] - self.work

    @property
    def deflection(self) -> Array:
        """Δq = q_M − N⁻¹ q, (points, nv), at the shafts."""
        return self.motor_position - motor_angles(self.model, self.q)

    def plot(self) -> Figure:
        """Links, deflections and torques over time."""
        from closedform.applications.elastic.pictures import motion_figure
        return motion_figure(self)


def simulate(
    model: ElasticJoints, state: Any, torque: Torque | Any | None, times: Any, *,
    method: Method = "DOP853", rtol: float = 1e-9, atol: float = 1e-10,
) -> ElasticSimulation:
    """The motion from a state under motor torques (t, state) -> (nv,), a constant, or None."""
    from scipy.integrate import solve_ivp  # slow to import
    if method not in METHODS:
        raise ArgumentError(f"method must be one of {', '.join(METHODS)}, not {method!r}")
    t, here = _times(times), _state(model, state)
    law, frame = _law(model, torque), _Frame(model)
    kernel = compile(model).forward_dynamics

    def rate(now: float, y: Array) -> Array:
        state = frame.state(y)
        u = law(now, state)
        found = kernel(*state[:4], u)
        if not np.all(np.isfinite(found.a)):
            raise ClosedformError(f"at t = {now:g} s: accelerations of {model.robot.name} are not "
                                  "finite; the motion has run away")
        slip = state.motor_velocity - state.v / model.gear_ratio
        power = u @ state.motor_velocity - model.damping @ (slip * slip)
        q_rate = coordinate_rates(model.robot, y[:model.robot.nq], state.q, state.v)
        return np.concatenate([q_rate, found.a, state.motor_velocity[frame.index],
                               found.motor_acceleration[frame.index], [power]])

    y0 = np.append(frame.vector(here), 0.0)
    path = y0[None] if len(t) == 1 else _solved(
        solve_ivp(rate, (t[0], t[-1]), y0, method=method, t_eval=t, rtol=rtol, atol=atol), method)
    states = [frame.state(y) for y in path]
    torques = np.stack([law(now, s) for now, s in zip(t, states, strict=True)])
    return _told(model, t, frame.state(path), torques, path[:, -1])


def closed_loop(
    model: ElasticJoints, state: Any, controller: Controller, times: Any, *,
    step: float | None = None,
) -> ElasticSimulation:
    """The motion under a controller that is asked at each time and whose torques are held between.

    The plant moves by compiled steps of Runge and Kutta no longer than `step`; by default half a
    radian of the fastest vibration at the start. For robots without quaternions.
    """
    t, here, frame = _times(times), _state(model, state), _Frame(model)
    kernel, law = compile(model).step, controller.start(t)
    longest = _step(model, here) if step is None else float(step)
    if not longest > 0:
        raise ArgumentError(f"step must be positive, not {step!r}")
    counts = np.maximum(np.ceil(np.diff(t) / longest - 1e-9), 1).astype(int)
    path = np.empty((len(t), frame.size))
    path[0] = frame.vector(here)
    torques, rows, split = np.empty((len(t), model.robot.nv)), list(path), frame.splitter()
    sizes, other = (np.diff(t) / counts).tolist(), np.empty(frame.size)
    for k, count in enumerate(counts.tolist()):
        torques[k] = law(k, split(rows[k]))
        held = np.append(torques[k], sizes[k])
        kernel(rows[k], held, out=rows[k + 1])
        for _ in range(count - 1):
            other[:] = rows[k + 1]
            kernel(other, held, out=rows[k + 1])
        if k % 64 == 0 and not np.all(np.isfinite(rows[k + 1])):
            break
    torques[-1] = law(len(t) - 1, split(rows[-1]))
    if not np.all(np.isfinite(path)):
        first = int(np.argmax(~np.all(np.isfinite(path), axis=1)))
        raise ClosedformError(f"the closed loop of {model.robot.name} has run away by "
                              f"t = {t[first]:g} s: unstable, or the step of {longest:.2g} s is "
                              "too long")
    return _told(model, t, frame.state(path), torques, np.full(len(t), np.nan))


def _told(model: ElasticJoints, t: Array, path: ElasticState, torques: Array,
          work: Array) -> ElasticSimulation:
    return ElasticSimulation(model, t, path.q, path.v, path.motor_position, path.motor_velocity,
                             torques, work)


# ---------------------------------------------------------------------- states
def motor_angles(model: ElasticJoints, q: Array) -> Array:
    """N⁻¹ q, (..., nv): where the motors would be without springs; 0 on quasi-velocities."""
    found = np.zeros((*q.shape[:-1], model.robot.nv))
    for i, at in enumerate(model.coordinates):
        if at is not None:
            found[..., i] = q[..., at] / model.gear_ratio[i]
    return found


class _Frame:
    """Where the parts of a state stand in one vector."""

    def __init__(self, model: ElasticJoints) -> None:
        self.model, self.index = model, list(model.elastic)
        self.nq, self.nv, self.ne = model.robot.nq, model.robot.nv, len(self.index)
        self.size = self.nq + self.nv + 2 * self.ne

    def vector(self, state: ElasticState) -> Array:
        return np.concatenate([state.q, state.v, state.motor_position[self.index],
                               state.motor_velocity[self.index]])

    def state(self, y: Array) -> ElasticState:
        """The state with unit quaternions; rigid joints' motors turn with their links.

        Batch axes first.
        """
        q, v, at = y[..., :self.nq], y[..., self.nq:self.nq + self.nv], self.nq + self.nv
        q = projected(self.model.robot, q)
        position = motor_angles(self.model, q)
        velocity = v / self.model.gear_ratio
        position[..., self.index] = y[..., at:at + self.ne]
        velocity[..., self.index] = y[..., at + self.ne:self.size]
        return ElasticState(q, v, position, velocity)

    def splitter(self) -> Callable[[Array], ElasticState]:
        """The fastest way from a vector to a state: views, where all joints are elastic."""
        if self.ne != self.nv:
            return self.state
        n = self.nv
        return lambda x: ElasticState(x[:n], x[n:2 * n], x[2 * n:3 * n], x[3 * n:])


def _state(model: ElasticJoints, state: Any) -> ElasticState:
    if not isinstance(state, tuple | list) or not 4 <= len(state) <= 6:
        raise ArgumentError("state must be a cf.elastic.ElasticState (q, v, motor_position, "
                            f"motor_velocity), not {type(state).__name__}")
    sizes = (model.robot.nq, *[model.robot.nv] * 3)
    found = [checked_array(x, (n,), f"simulate of {model.robot.name}: {name}")
             for x, n, name in zip(state[:4], sizes, ElasticState._fields[:4], strict=True)]
    for x, name in zip(found, ElasticState._fields, strict=False):
        if not np.all(np.isfinite(x)):
            raise ArgumentError(f"{name} must be finite, not {x!r}")
    return ElasticState(*found)


def _times(times: Any) -> Array:
    try:
        t = np.array(times, dtype=float)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"times must be increasing numbers, not {times!r}") from error
    if t.ndim != 1 or not len(t) or not np.all(np.isfinite(t)) or np.any(np.diff(t) <= 0):
        raise ArgumentError(f"times must be one or more increasing, finite numbers, not {times!r}")
    return t


def _law(model: ElasticJoints, torque: Torque | Any | None) -> Callable[..., Array]:
    nv, what = model.robot.nv, f"simulate of {model.robot.name}: torque"
    if callable(torque):
        return lambda t, state: checked_array(torque(t, state), (nv,), f"{what} of a law")
    constant = np.zeros(nv) if torque is None else checked_array(torque, (nv,), what)
    return lambda t, state: constant


def _solved(run: Any, method: str) -> Array:
    if not run.success:
        raise ClosedformError(f"{method} stopped after t = {run.t[-1]:g} s: {run.message}")
    return run.y.T


def _step(model: ElasticJoints, state: ElasticState) -> float:
    fastest = np.max(np.abs(np.linalg.eigvals(state_space(model, state.q).A)), initial=0.0)
    return float(SMOOTH / fastest) if fastest > 0 else np.inf
