"""A motion to be played: its times and states, and the curves that are drawn of it.

Made of a swing of all joints, of samples in a file, of a log, or of a simulation.
"""

from __future__ import annotations

import contextlib
import io
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np

from closedform.applications.elastic.system import ElasticSystem
from closedform.applications.motion.inputs import Input
from closedform.applications.motion.simulation import Simulation
from closedform.applications.motion.torques import Torques, torques
from closedform.applications.motion.trajectories import Sampled, continuous, cosines
from closedform.applications.simulate import simulate
from closedform.applications.studio.cells import Strip
from closedform.applications.studio.shown import as_robot
from closedform.applications.studio.state import StudioState
from closedform.applications.studio.subject import StudioRobot
from closedform.applications.units import units
from closedform.arrays import Floats
from closedform.errors import ArgumentError, ClosedformError
from closedform.model.coordinates import coordinate_names
from closedform.model.elasticity.joints import ElasticJoints
from closedform.model.loops.closure import y_index

POINTS, SECONDS = 501, 5.0
LONGEST = 60.0
"""Seconds of a simulation, at most."""
SWUNG = 0.4
"""rad or m by which the independent joints of a robot with loops swing."""
BASE = 0.2
"""m by which a base that floats swings, at most."""
SPLINED = 5_000
"""Rows of a trajectory, at most; a file with more is a log."""
MOST = 20_000
"""Moments of a recording; longer logs are thinned."""


@final
@dataclass(frozen=True, eq=False)
class Recording:
    """Moments (t, q, v, a), strips over the same times, and facts about the whole."""

    title: str
    times: Floats
    q: Floats
    v: Floats
    a: Floats
    strips: tuple[Strip, ...]
    facts: tuple[tuple[str, str | float], ...] = ()

    @property
    def seconds(self) -> float:
        return float(self.times[-1] - self.times[0])

    def index(self, t: float) -> int:
        """The moment at t seconds from the beginning."""
        at = int(np.searchsorted(self.times, self.times[0] + t))
        return min(max(at, 0), len(self.times) - 1)

    def moment(self, t: float) -> tuple[Floats, Floats, Floats]:
        """q, v, a at the moment."""
        k = self.index(t)
        return self.q[k], self.v[k], self.a[k]

    def csv(self) -> str:
        """All that is drawn, every number to the last bit."""
        columns = {"t": self.times}
        for strip in self.strips:
            for i, name in enumerate(strip.names):
                columns[f"{strip.title} {name} [{strip.unit}]"] = strip.values[:, i]
                if strip.over is not None:
                    columns[f"{strip.title} {name} numeric [{strip.unit}]"] = strip.over[:, i]
        text = io.StringIO()
        text.write(",".join('"' + name.replace('"', '""') + '"' for name in columns) + "\r\n")
        for row in zip(*(x.tolist() for x in columns.values()), strict=True):
            text.write(",".join(map(repr, row)) + "\r\n")
        return text.getvalue()


class PlayedRows(NamedTuple):
    """A motion without anything measured, as `of_log` takes it."""

    t: Floats
    q: Floats
    v: Floats | None = None
    a: Floats | None = None
    tau: Floats | None = None


def swing(subject: StudioRobot, state: StudioState) -> Recording:
    """Every joint swings within its limits; τ, τ̇, τ̈ exactly, numeric differences beside."""
    robot = as_robot(subject, state)
    if robot.closure is not None:
        return _closed_swing(subject, state, y_index(robot.tree, robot.closure))
    path = cosines(robot)
    for body, i, _ in robot.parts[:robot.is_floating]:       # the base stays in the picture
        far = [i.start + k for k in body.joint.moving.lengths]
        path.amplitude[far] = np.minimum(path.amplitude[far], BASE)
    return _of_torques("swing of all joints",
                       torques(robot, path, np.linspace(0, SECONDS, POINTS)))


def _closed_swing(subject: StudioRobot, state: StudioState, own: Floats) -> Recording:
    """The independent joints swing about where they are, as far as the loops let them."""
    robot, t = subject.robot, np.linspace(0, SECONDS, POINTS)
    low, high, y = subject.lower[own], subject.upper[own], state.q[own]
    far = np.minimum(SWUNG, np.minimum(high - y, y - low))
    phases = np.outer(t, 2 * np.pi / SECONDS * (1 + np.arange(len(own))))
    for part in (1.0, 0.5, 0.25, 0.1, 0.02):
        with contextlib.suppress(ClosedformError):
            q = robot.closed(y + part * far * np.sin(phases), near=state.q)
            return of_log(subject, state, PlayedRows(t, q), "swing of the independent joints")
    raise ArgumentError(f"{robot.name} does not swing here: its loops are at a singularity")


def of_rows(subject: StudioRobot, state: StudioState, rows: Any, name: str) -> Recording:
    """The motion in a file: rows of q alone are a trajectory, those with v or τ a log."""
    if rows.v is not None or rows.tau is not None or len(rows.t) > SPLINED:
        return of_log(subject, state, rows, name)
    robot = as_robot(subject, state)
    path = Sampled(rows.t, continuous(robot, rows.q))     # by a spline of degree 7
    return _of_torques(name, torques(robot, path, np.linspace(rows.t[0], rows.t[-1], POINTS)))


def _of_torques(title: str, found: Torques) -> Recording:
    numeric, names = found.differences(), found.names
    robot = found.robot
    forces = [units(robot, f"N m{per}", f"N{per}") for per in ("", "/s", "/s²")]
    strips = tuple(Strip(what, unit, found.values[:, k], names, numeric[:, k] if k else None)
                   for k, (what, unit) in enumerate(zip(("τ", "τ̇", "τ̈"), forces, strict=True)))
    apart = np.nanmax(np.abs(numeric[:, 1] - found.values[:, 1]), initial=0.0)
    return Recording(title, found.times, found.q, found.rates[:, 0], found.rates[:, 1], strips,
                     ((f"largest |τ| [{forces[0]}]", float(np.abs(found.values[:, 0]).max())),
                      (f"numeric τ̇ is off by [{forces[1]}]", float(apart))))


def of_log(subject: StudioRobot, state: StudioState, log: Any, name: str) -> Recording:
    """A log played back: what was measured, and what the model says, laid over it."""
    robot = as_robot(subject, state)
    every = max(1, len(log.t) // MOST)
    t, q = log.t[::every], log.q[::every]
    if len(t) < 3 or not np.all(np.diff(t) > 0):
        raise ArgumentError(f"{name}: three rows or more at increasing times are played")
    dt = np.gradient(t)[:, None]
    v = log.v[::every] if log.v is not None else _rates(robot, q, t)
    a = log.a[::every] if log.a is not None else np.gradient(v, axis=0) / dt
    from closedform.applications.compile.kernels import compile as compile_robot
    tau = np.asarray(compile_robot(robot).inverse_dynamics(
        *(np.ascontiguousarray(x, dtype=float) for x in (q, v, a))))
    names = tuple(coordinate_names(robot.v_slices))
    angle, force = units(robot, "rad", "m"), units(robot, "N m", "N")
    strips = [Strip("q", angle, q, tuple(coordinate_names(robot.q_slices)))]
    told: list[tuple[str, str | float]] = [("rows", f"{len(log.t)}")]
    if log.v is None:
        told.append(("v and a of the model's τ", "differences of q, unfiltered"))
    if log.tau is None:
        strips.append(Strip("τ of the model", force, tau, names))
    else:
        measured = log.tau[::every]
        strips.append(Strip("τ measured, the model's dashed", force, measured, names, tau))
        told.append((f"RMS of measured − model [{force}]",
                     float(np.sqrt(np.nanmean((measured - tau) ** 2)))))
    return Recording(name, t, q, v, a, tuple(strips), tuple(told))


def _rates(robot: Any, q: Floats, t: Floats) -> Floats:
    """v by differences on the joints' groups."""
    step = robot.difference(q[:-1], q[1:]) / np.diff(t)[:, None]
    return np.concatenate([step, step[-1:]])


# ---------------------------------------------------------------------- simulations
def released(subject: StudioRobot, state: StudioState, seconds: float, torque: Input = None,
             title: str = "released under gravity", springs: ElasticJoints | None = None,
             ) -> Recording:
    """The motion from this state under torques, with the account of its energy."""
    if not 0 < seconds <= LONGEST:
        raise ArgumentError(f"a simulation takes between 0 and {LONGEST:g} s, not {seconds:g}")
    robot, times = as_robot(subject, state), np.linspace(0, seconds, 1 + int(100 * seconds))
    model = robot if springs is None else springs
    run = simulate(model, (state.q, state.v), torque, times, progress=False,
                   max_evaluations=200_000)
    a = np.gradient(run.v, times, axis=0)
    names = tuple(coordinate_names(robot.v_slices))
    strips = [Strip("v", units(robot, "rad/s", "m/s"), run.v, names),
              Strip("torques", units(robot, "N m", "N"), np.asarray(run.inputs, float), names),
              *_of_springs(run, names), *_of_energy(run)]
    return Recording(title, times, run.q, run.v, a, tuple(strips), (
        ("energy drift", float(run.energy_drift)), ("method", run.method),
        ("evaluations", f"{run.evaluations}")))


def _of_energy(run: Simulation) -> list[Strip]:
    energies = np.stack([run.kinetic, run.potential - run.potential[0], run.work], axis=1)
    return [Strip("energies", "J", energies, ("kinetic", "potential − start", "work")),
            Strip("energy residual E − E₀ − W", "J", run.energy_residual[:, None], ("residual",))]


def _of_springs(run: Simulation, names: tuple[str, ...]) -> list[Strip]:
    if not isinstance(run.system, ElasticSystem):
        return []
    model = run.system.model
    at_link = np.asarray(run.motor_position) * model.gear_ratio
    shown = list(model.elastic)
    links = np.stack([run.q[:, c] if (c := model.coordinates[k]) is not None
                      else np.zeros(len(run.times)) for k in shown], axis=1)
    which, robot = tuple(names[k] for k in shown), model.robot
    return [Strip("motor angle at the link, link angle dashed", units(robot, "rad", "m"),
                  at_link[:, shown], which, links),
            Strip("deflection", units(robot, "mrad", "mm"),
                  1e3 * (np.asarray(run.deflection) * model.gear_ratio)[:, shown], which)]


def pd(subject: StudioRobot, state: StudioState, goal: Floats, stiffness: float,
       damping: float) -> Input:
    """u = g(q) + K (goal ⊖ q) − D v: a PD law with gravity, for `released`."""
    from closedform.applications.compile.kernels import compile as compile_robot
    if not (0 <= stiffness <= 1e6 and 0 <= damping <= 1e6):
        raise ArgumentError("stiffness and damping must be between 0 and 1e6")
    robot = as_robot(subject, state)
    arm = compile_robot(robot)

    def law(t: float, q: Floats, v: Floats) -> Floats:
        return (arm.gravity_torque(q) + stiffness * robot.difference(q, goal) - damping * v)

    return law
