"""Motion of a flexible arm in time: SciPy's integrators and the paper's RK4, on compiled rates."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np
from rich.console import Console
from rich.progress import Progress

from closedform.applications.flexible.inputs import Held, Input, input_law
from closedform.applications.flexible.programs import arm_kernels
from closedform.applications.flexible.run import METHODS, Method, Run
from closedform.arrays import Array
from closedform.errors import ArgumentError, ModelWarning, SingularMatrix
from closedform.maths.flexible.arm import FlexibleArm
from closedform.maths.flexible.dynamics import PAPER, Model, damping_matrix, inertia_matrix

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SMALL_SLOPE = 0.5
"""rad; a link bent more than this at a point is outside the small-deflection range: at it the
paper's y' differs from arctan y' by 8 %."""


@final
@dataclass(frozen=True, eq=False)
class FlexibleSimulation:
    """A motion at the output times, with what it says about its own accuracy."""

    arm: FlexibleArm
    model: Model
    times: Array          # (points,) s
    q: Array              # (points, N)
    v: Array              # (points, N)
    tau: Array            # (points, n) N m
    kinetic: Array        # (points,) J
    potential: Array      # (points,) J, elastic and gravity's
    work: Array           # (points,) J, of torques and friction
    momentum: Array       # (points,) kg m²/s, (B v)_1
    impulse: Array        # (points,) N m s, about the first joint
    tip: Array            # (points, 2) m
    slope: Array          # (points,) rad, the steepest |y'| on any link
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
    def momentum_residual(self) -> Array:
        """p_1(t) − p_1(0) − I(t), (points,): zero for an exact solution, θ_1 being cyclic."""
        return self.momentum - self.momentum[0] - self.impulse

    def plot(self) -> Figure:
        """Four panels as in the paper: deflections, joints, tip, and the two checks."""
        from closedform.applications.flexible.pictures import motion_figure

        return motion_figure(self)

    def animate(self, path: str | Path, **options: Any) -> None:
        """Write the motion as an animated GIF."""
        from closedform.applications.flexible.pictures import write_animation

        write_animation(self, Path(path), **options)

    def __repr__(self) -> str:
        return (f"<FlexibleSimulation of {self.arm.name}: {len(self.times)} times from "
                f"{self.times[0]:g} to {self.times[-1]:g} s, {self.method}, energy residual "
                f"{np.max(np.abs(self.energy_residual)):.1e} J>")


def simulate(arm: FlexibleArm, q0: Any, v0: Any = None, torque: Input = None,
             times: Any = (0.0, 1.0), damping: Any = 0.0, method: Method = "DOP853", *,
             model: Model = PAPER, step: float = 1e-3, rtol: float = 1e-9, atol: float = 1e-11,
             progress: bool | None = None,
             max_evaluations: int = 2_000_000) -> FlexibleSimulation:
    """The motion from (q0, v0) at times[0], told at the increasing `times`.

    `torque`: joint torques, as a function (t, q, v) -> (n,), a constant (n,), a `Held` input or
    None. `damping`: see `damping_matrix`. `method`: "RK4" takes steps of at most `step` seconds
    and holds the torque over each; the others adapt their steps to rtol and atol, and start anew
    where a `Held` input switches. `progress`: a bar on standard error (None: if a terminal is
    there). The run stops with a `SingularMatrix` that names the time where B ceases to be positive
    definite.
    """
    if not isinstance(arm, FlexibleArm):
        raise ArgumentError(f"arm must be a cf.FlexibleArm, not {type(arm).__name__}")
    t = _increasing(times)
    q, v = _state(arm, q0, "q0"), _state(arm, np.zeros(arm.nq) if v0 is None else v0, "v0")
    if method not in METHODS:
        raise ArgumentError(f"method must be one of {', '.join(METHODS)}, not {method!r}")
    if not isinstance(step, int | float | np.number) or not (math.isfinite(step) and step > 0):
        raise ArgumentError(f"step must be a positive number of seconds, not {step!r}")
    law = input_law(torque, arm.n)
    _check_start(arm, q, t[0], model)
    kernels = arm_kernels(arm, damping_matrix(arm, damping), model)
    held = torque if isinstance(torque, Held) else None
    run = Run(arm, model, kernels, law, held, max_evaluations)
    with _bar(t, progress) as show:
        x = np.concatenate([q, v, [0.0, 0.0]])
        path = run.rk4(x, t, step, show) if method == "RK4" else run.scipy(
            x, t, method, rtol, atol, show)
    return _told(run, t, path, method)


def _told(run: Run, t: Array, path: Array, method: Method) -> FlexibleSimulation:
    """The run as a record, with what is watched."""
    arm, N = run.arm, run.arm.nq
    q, v = np.ascontiguousarray(path[:, :N]), np.ascontiguousarray(path[:, N:2 * N])
    watched = run.kernels.watch(q, v)
    slope = steepest(arm, q)
    if np.max(slope) > SMALL_SLOPE:
        k = int(np.argmax(slope > SMALL_SLOPE))
        warnings.warn(f"from t = {t[k]:g} s on a link of {arm.name} is bent by up to "
                      f"{np.max(slope):.2g} rad, more than the {SMALL_SLOPE:g} rad of the "
                      "small-deflection range", ModelWarning, stacklevel=3)
    tau = run.torques(t, q, v)
    return FlexibleSimulation(
        arm, run.model, t, q, v, tau, watched.kinetic, watched.potential, path[:, 2 * N],
        watched.momentum, path[:, 2 * N + 1], watched.tip, slope, method, run.evaluations)


def steepest(arm: FlexibleArm, q: np.ndarray) -> np.ndarray:
    """The largest |y'| on any link, (points,), for q (points, N)."""
    found = np.zeros(len(q))
    for at, modes in zip(arm.deflections, arm.modes, strict=True):
        slopes = modes.slopes(np.linspace(0, modes.link.length, 33))
        found = np.maximum(found, np.max(np.abs(q[:, at] @ slopes.T), axis=1, initial=0.0))
    return found


@contextmanager
def _bar(t: Array, progress: bool | None) -> Iterator[Callable[[float], None]]:
    """A progress bar on standard error, and the function that moves it to a time."""
    terminal = sys.stderr.isatty()
    if not (terminal if progress is None else progress):
        yield lambda now: None
        return
    with Progress(console=Console(stderr=True), transient=terminal) as bar:
        task = bar.add_task("simulating", total=t[-1] - t[0])
        yield lambda now: bar.update(task, completed=now - t[0])


def _check_start(arm: FlexibleArm, q: Array, t: float, model: Model) -> None:
    """Refuse a start outside the small-deflection range, or with an indefinite B."""
    for i, (at, modes) in enumerate(zip(arm.deflections, arm.modes, strict=True)):
        slopes = modes.slopes(np.linspace(0, modes.link.length, 33)) @ q[at]
        worst = float(np.max(np.abs(slopes), initial=0.0))
        if worst > SMALL_SLOPE:
            raise ArgumentError(
                f"q0 bends link {i + 1} by up to {worst:.3g} rad; deflections are small up to "
                f"{SMALL_SLOPE:g} rad, which {', '.join(arm.coordinate_names[at])} = "
                f"{np.array2string(q[at] * SMALL_SLOPE / worst, precision=3)} would give")
    smallest = np.linalg.eigvalsh(inertia_matrix(arm, q, model))[0]
    if smallest <= 0:
        raise SingularMatrix(f"at t = {t:g} s: the inertia matrix B of {arm.name} is not positive "
                             f"definite at q0; its smallest eigenvalue is {smallest:.3g}")


def _state(arm: FlexibleArm, given: Any, what: str) -> Array:
    try:
        a = np.array(given, dtype=float)
    except (TypeError, ValueError):
        a = np.zeros(0)
    if a.shape != (arm.nq,) or not np.all(np.isfinite(a)):
        raise ArgumentError(f"{what} must be {arm.nq} finite numbers "
                            f"({', '.join(arm.coordinate_names)}), not {given!r}")
    return a


def _increasing(times: Any) -> Array:
    try:
        t = np.array(times, dtype=float)
    except (TypeError, ValueError):
        t = np.zeros((0, 0))
    if t.ndim != 1 or not len(t) or not np.all(np.isfinite(t)) or np.any(np.diff(t) <= 0):
        raise ArgumentError(f"times must be one or more increasing, finite numbers, not {times!r}")
    return t
