"""Motion of a rigid robot in time, by SciPy's integrators.

    q̇ = Γ(q) v                                            (1)
    v̇ = M⁻¹ (f − C v − g)                                 (2)
    f = τ(t, q, v) + Σ_k J_kᵀ F_k(t, q, v) − friction(v)  (3)
    Ẇ = vᵀ f                                              (4)

The work W is integrated beside the motion, so that T + U − W is constant and every run carries its
own check. Quaternions are integrated as four numbers, by ½ q ⊗ (ω, 0), whose direction is right for
any length of q; the equations see them normalised, and so does the reader of the result.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, final, get_args

import numpy as np
from rich.console import Console
from rich.progress import Progress

from closedform.applications.compile.kernels import compile
from closedform.applications.figure_text import plain
from closedform.arrays import Array
from closedform.errors import ArgumentError, ClosedformError, SingularMatrix
from closedform.maths.definitions.closed_form import mass_matrix, wrench_torque
from closedform.maths.definitions.energy import kinetic_energy, potential_energy
from closedform.maths.definitions.friction import joint_friction
from closedform.model import groups
from closedform.model.joints import Free, Joint, Planar, Spherical
from closedform.model.robot import Robot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Method = Literal["RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA"]
METHODS = get_args(Method)
"""SciPy's integrators; the last three are for stiff motion: much friction on little inertia."""

Law = Callable[[float, Array, Array], Any]
"""(t, q, v) -> an array: torques (nv,), or wrenches (bodies, 6)."""
Dynamics = Callable[[Array, Array, Array], Array]
"""(q, v, f) -> a, the forward dynamics under the generalised force f."""
Rate = Callable[[float, Array], Array]
"""(t, y) -> ẏ."""


@final
@dataclass(frozen=True, eq=False)
class Simulation:
    """A motion at the output times; `work` is that of torques, wrenches and friction so far."""

    robot: Robot
    times: Array          # (points,) s
    q: Array              # (points, nq)
    v: Array              # (points, nv)
    tau: Array            # (points, nv), the given torque: without friction
    kinetic: Array        # (points,) J
    potential: Array      # (points,) J
    work: Array           # (points,) J
    method: str
    evaluations: int      # of the right-hand side

    @property
    def energy(self) -> Array:
        """T + U, (points,)."""
        return self.kinetic + self.potential

    @property
    def energy_residual(self) -> Array:
        """E(t) − E(0) − W(t), (points,) J: zero for an exact solution."""
        return self.energy - self.energy[0] - self.work

    @property
    def energy_drift(self) -> float:
        """max |energy_residual| over the largest of kinetic energy, change of potential, work."""
        scale = max(np.max(self.kinetic), np.ptp(self.potential), np.max(np.abs(self.work)))
        return float(np.max(np.abs(self.energy_residual)) / (scale or 1.0))

    def plot(self) -> Figure:
        """A figure of q, v and energies over time, for `pyplot.show()` or `figure.savefig(...)`."""
        return _figure(self)

    def __repr__(self) -> str:
        span = f"{len(self.times)} times from {self.times[0]:g} to {self.times[-1]:g} s"
        return (f"<Simulation of {self.robot.name}: {span}, {self.method}, "
                f"energy drift {self.energy_drift:.1e}>")


def simulate(robot: Robot, q0: Any, v0: Any, torque: Law | Any | None, times: Any, *,
             method: Method = "DOP853", rtol: float = 1e-9, atol: float = 1e-10,
             friction: bool = False, slip_velocity: float = 1e-3, wrenches: Law | None = None,
             progress: bool | None = None, max_evaluations: int = 1_000_000) -> Simulation:
    """The motion from (q0, v0) at times[0], told at the increasing `times`.

    `torque` is a function (t, q, v) -> τ (nv,), a constant (nv,), or None for no torque; `wrenches`
    a function (t, q, v) -> (bodies, 6), the loads on the bodies in their frames. With
    `friction=True` the robot's joint friction acts, Coulomb's sign(v) smoothed to
    tanh(v / slip_velocity), because integrators stall at a jump. `progress` shows a bar on standard
    error (None: if that is a terminal). A run that needs more than `max_evaluations` of the
    right-hand side is stopped with an error.
    """
    t, q, v = _checked_times(times), _checked(q0, robot.nq, "q0"), _checked(v0, robot.nv, "v0")
    if method not in METHODS:
        raise ArgumentError(f"method must be one of {', '.join(METHODS)}, not {method!r}")
    torque_law = _law(torque, robot.nv)
    _check_quaternions(robot, q)
    _check_inertia(robot, projected(robot, q), t[0])

    resist = smooth_friction(robot, slip_velocity) if friction else None
    force = total_force(robot, torque_law, wrenches, resist)
    rate = right_hand_side(robot, force, compile(robot).forward_dynamics)
    with _watched(rate, t, progress, max_evaluations) as (watched, count):
        y = _integrated(watched, t, np.concatenate([q, v, [0.0]]), method, rtol, atol)

    q, v, work = projected(robot, y[:, :robot.nq]), y[:, robot.nq:-1], y[:, -1]
    rows = list(zip(t, q, v, strict=True))
    return Simulation(
        robot, t, q, v,
        tau=np.stack([_answer(torque_law, *row, (robot.nv,), "torque") for row in rows]),
        kinetic=np.array([kinetic_energy(robot, q_i, v_i) for _, q_i, v_i in rows]),
        potential=np.array([potential_energy(robot, q_i) for q_i in q]),
        work=work, method=method, evaluations=count())


# ---------------------------------------------------------------------- the equations
def right_hand_side(robot: Robot, force: Law, dynamics: Dynamics) -> Rate:
    """(t, y) -> ẏ of y = (q, v, W) by (1), (2), (4); `dynamics` is a compiled kernel."""
    nq = robot.nq

    def rate(t: float, y: Array) -> Array:
        q, v = projected(robot, y[:nq]), y[nq:-1]
        f = force(t, q, v)
        try:
            with np.errstate(all="ignore"):
                a = dynamics(q, v, f)
        except SingularMatrix as error:
            raise SingularMatrix(
                f"at t = {t:g} s: the mass matrix of {robot.name} is singular") from error
        if not np.all(np.isfinite(a)):
            raise ClosedformError(
                f"at t = {t:g} s: accelerations of {robot.name} are not finite; its mass matrix "
                f"is singular or the motion has run away (|v| up to {np.max(np.abs(v)):.3g})")
        return np.concatenate([coordinate_rates(robot, y[:nq], q, v), a, [v @ f]])

    return rate


def total_force(robot: Robot, torque: Law, wrenches: Law | None,
                friction: Callable[[Array], Array] | None) -> Law:
    """The generalised force f of (3)."""
    def force(t: float, q: Array, v: Array) -> Array:
        f = _answer(torque, t, q, v, (robot.nv,), "torque")
        if wrenches is not None:
            F = _answer(wrenches, t, q, v, (len(robot.bodies), 6), "wrenches")
            f = f + wrench_torque(robot, q, F)
        return f if friction is None else f - friction(v)

    return force


def smooth_friction(robot: Robot, slip_velocity: float) -> Callable[[Array], Array]:
    """v -> d v + c tanh(v / slip_velocity), where `joint_friction` is d v + c sign(v)."""
    if not (np.isfinite(slip_velocity) and slip_velocity > 0):
        raise ArgumentError(f"slip_velocity must be a positive number, not {slip_velocity!r}")
    at_one, at_two = (joint_friction(robot, np.full(robot.nv, speed)) for speed in (1.0, 2.0))
    d, c = at_two - at_one, 2 * at_one - at_two
    return lambda v: d * v + c * np.tanh(v / slip_velocity)


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
    q = np.array(q)
    for at in _quaternions(robot).values():
        q[..., at] = groups.normalised(q[..., at])
    return q


def _quaternions(robot: Robot) -> dict[str, slice]:
    """Where quaternions stand in q, by joint."""
    stops = {body.joint_name: robot.q_slices[body.joint_name].stop for body in robot.bodies
             if isinstance(body.joint, Spherical | Free)}
    return {name: slice(stop - 4, stop) for name, stop in stops.items()}


# ---------------------------------------------------------------------- running
def _integrated(rate: Rate, t: Array, y0: Array, method: Method, rtol: float, atol: float) -> Array:
    """The state at the times t, (points, size)."""
    if len(t) == 1:
        return y0[None]
    from scipy.integrate import solve_ivp  # slow to import
    run = solve_ivp(rate, (t[0], t[-1]), y0, method=method, t_eval=t, rtol=rtol, atol=atol)
    if not run.success:
        reached = run.t[-1] if len(run.t) else t[0]
        raise ClosedformError(f"{method} stopped after t = {reached:g} s: {run.message}")
    return run.y.T


@contextmanager
def _watched(rate: Rate, t: Array, progress: bool | None,
             limit: int) -> Iterator[tuple[Rate, Callable[[], int]]]:
    """`rate` that counts its calls up to `limit` and moves a bar; and the count."""
    terminal = sys.stderr.isatty()
    shown = terminal if progress is None else progress
    calls = 0
    with Progress(console=Console(stderr=True), transient=terminal, disable=not shown) as bar:
        task = bar.add_task("simulating", total=t[-1] - t[0])

        def watched(now: float, y: Array) -> Array:
            nonlocal calls
            calls += 1
            if calls > limit:
                raise ClosedformError(
                    f"more than {limit} evaluations by t = {now:g} s of {t[-1]:g} s: the motion is "
                    "stiff or rtol too small; try method='Radau', or raise max_evaluations")
            if calls % 20 == 0:
                bar.update(task, completed=now - t[0])
            return rate(now, y)

        yield watched, lambda: calls


# ---------------------------------------------------------------------- checking
def _checked(x: Any, size: int, what: str) -> Array:
    try:
        a = np.array(x, dtype=float)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"{what} must be {size} numbers, not {x!r}") from error
    if a.shape != (size,) or not np.all(np.isfinite(a)):
        raise ArgumentError(f"{what} must be {size} finite numbers, not {x!r}")
    return a


def _checked_times(times: Any) -> Array:
    try:
        t = np.array(times, dtype=float)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"times must be increasing numbers, not {times!r}") from error
    if t.ndim != 1 or not len(t) or not np.all(np.isfinite(t)) or np.any(np.diff(t) <= 0):
        raise ArgumentError(f"times must be one or more increasing, finite numbers, not {times!r}")
    return t


def _law(torque: Law | Any | None, nv: int) -> Law:
    if callable(torque):
        return torque
    constant = np.zeros(nv) if torque is None else _checked(torque, nv, "torque")
    return lambda t, q, v: constant


def _answer(law: Law, t: float, q: Array, v: Array, shape: tuple[int, ...], what: str) -> Array:
    """What a user's law says at one instant, if it is finite numbers of this shape."""
    given = law(t, q, v)
    wrong = f"at t = {t:g} s: {what} returned {given!r}, not finite numbers of shape {shape}"
    try:
        a = np.asarray(given, dtype=float)
    except (TypeError, ValueError) as error:
        raise ArgumentError(wrong) from error
    if a.shape != shape or not np.all(np.isfinite(a)):
        raise ArgumentError(wrong)
    return a


def _check_quaternions(robot: Robot, q: Array) -> None:
    for name, at in _quaternions(robot).items():
        length = np.linalg.norm(q[at])
        if abs(length - 1) > 1e-6:
            raise ArgumentError(f"q0: the quaternion of {name} must have unit length, it has "
                                f"{length:g}")


def _check_inertia(robot: Robot, q: Array, t: float) -> None:
    """Refuse a mass matrix that is not positive definite, naming joints that move nothing."""
    M = mass_matrix(robot, q)
    names = [name for name, at in robot.v_slices.items() for _ in range(at.start, at.stop)]
    diagonal = np.diag(M)
    if np.any(diagonal <= 0):
        without = dict.fromkeys(name for name, d in zip(names, diagonal, strict=True) if d <= 0)
        raise SingularMatrix(
            f"at t = {t:g} s: the mass matrix of {robot.name} is singular: no inertia moves with "
            f"{', '.join(without)}; give the bodies mass or the joints a rotor_inertia")
    scale = 1 / np.sqrt(diagonal)
    values, vectors = np.linalg.eigh(M * np.outer(scale, scale))
    if len(values) and values[0] < 4 * len(values) * np.finfo(float).eps:
        worst = names[int(np.argmax(np.abs(vectors[:, 0])))]
        raise SingularMatrix(f"at t = {t:g} s: the mass matrix of {robot.name} is singular "
                             f"(smallest eigenvalue {values[0]:.1e}, scaled), most at {worst}")


# ---------------------------------------------------------------------- plotting
LEGEND_ROWS = 14


def _figure(run: Simulation) -> Figure:
    """Three panels over time: coordinates, velocities, energies."""
    from matplotlib import pyplot

    figure, (positions, velocities, energies) = pyplot.subplots(
        3, 1, sharex=True, figsize=(9, 8), layout="constrained")
    _panel(positions, run.times, run.q, coordinate_names(run.robot.q_slices), "q [rad, m]")
    _panel(velocities, run.times, run.v, coordinate_names(run.robot.v_slices), "v [rad/s, m/s]")
    balance = np.stack([run.kinetic, run.potential, run.energy, run.work], axis=1)
    _panel(energies, run.times, balance, ["kinetic", "potential", "total", "work"], "energy [J]")
    positions.set_title(f"{plain(run.robot.name)}, {run.method}, "
                        f"energy drift {run.energy_drift:.1e}")
    energies.set_xlabel("t [s]")
    return figure


def _panel(axes: Axes, times: Array, curves: Array, names: list[str], label: str) -> None:
    for curve, name in zip(curves.T, names, strict=True):
        axes.plot(times, curve, label=plain(name))
    axes.set_ylabel(label)
    axes.grid(alpha=0.3)
    if names:
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize="x-small",
                    frameon=False, ncols=-(-len(names) // LEGEND_ROWS))


def coordinate_names(slices: dict[str, slice]) -> list[str]:
    """One name for each coordinate: the joint's, with a number where it has several."""
    return [name if at.stop - at.start == 1 else f"{name}[{i}]"
            for name, at in slices.items() for i in range(at.stop - at.start)]
