"""What a simulation answers: the motion, and what it says about its own accuracy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np

from closedform.applications.motion.pictures import Panel, panels_figure
from closedform.applications.motion.system import System

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@final
@dataclass(frozen=True, eq=False, repr=False)
class Simulation:
    """A motion at the output times, the points.

    What only some systems have is found here under its name too: `robot`; `arm`, `model`, `tip`,
    `slope`, `momentum` and `momentum_residual` of a flexible arm; `model`, `motor_position`,
    `motor_velocity`, `motor_torque` and `deflection` of elastic joints. Energies and all that is
    derived from the path are computed when first asked for.
    """

    system: System
    times: np.ndarray          # (points,) s
    path: np.ndarray           # (points, size): states as they were integrated, then accounts
    inputs: np.ndarray         # (points, n), as given: without friction and wrenches
    method: str
    evaluations: int      # of the right-hand side

    @cached_property
    def state(self) -> Any:
        """The states at all points as one record, points first."""
        return self.system.state(self.path)

    @property
    def q(self) -> np.ndarray:
        """Positions, (points, nq)."""
        return self.state.q

    @property
    def v(self) -> np.ndarray:
        """Velocities, (points, nv)."""
        return self.state.v

    @property
    def tau(self) -> np.ndarray:
        """The inputs under another name."""
        return self.inputs

    @property
    def work(self) -> np.ndarray:
        """Work of the inputs, of wrenches and of all that dissipates so far, (points,) J."""
        return self.path[:, len(self.system.state_names)]

    # ------------------------------------------------------------------ certificates
    @property
    def kinetic(self) -> np.ndarray:
        """Kinetic energy, (points,) J."""
        return self._observed["kinetic"]

    @property
    def potential(self) -> np.ndarray:
        """Potential energy, also of springs, (points,) J."""
        return self._observed["potential"]

    @property
    def energy(self) -> np.ndarray:
        """T + U, (points,) J."""
        return self.kinetic + self.potential

    @property
    def energy_residual(self) -> np.ndarray:
        """E(t) − E(0) − W(t), (points,) J: zero for an exact solution."""
        return self.energy - self.energy[0] - self.work

    @property
    def energy_drift(self) -> float:
        """max |energy_residual| over the largest of kinetic energy, change of potential, work."""
        scale = max(np.max(self.kinetic), np.ptp(self.potential), np.max(np.abs(self.work)))
        return float(np.max(np.abs(self.energy_residual)) / (scale or 1.0))

    @property
    def constraint_residual(self) -> np.ndarray:
        """How far integrated quaternions are from unit ones, (points,); 0 where there are none."""
        return np.max(np.abs(self.path - self.system.retracted(self.path)), axis=1, initial=0.0)

    @cached_property
    def smallest_inertia(self) -> np.ndarray:
        """The smallest eigenvalue of the inertia matrix, (points,): positive for a sound model."""
        return np.min(np.linalg.eigvalsh(self.system.inertia(self.path)), axis=1, initial=np.inf)

    # ------------------------------------------------------------------ what systems add
    @cached_property
    def _observed(self) -> Mapping[str, Any]:
        return self.system.observed(self.path, self.inputs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        for known in (self._observed, vars(self.system)):
            if name in known:
                return known[name]
        raise AttributeError(f"a simulation of {self.system.name} has no {name!r}")

    def plot(self) -> Figure:
        """A figure of the motion and its energies, for `pyplot.show()` or `figure.savefig(...)`."""
        energies = np.stack([self.kinetic, self.potential, self.energy, self.work], axis=1)
        return panels_figure(
            f"{self.system.name}, {self.method}, energy drift {self.energy_drift:.1e}", self.times,
            [*self.system.panels(self),
             Panel("energy [J]", energies, ("kinetic", "potential", "total", "work"))])

    def animate(self, path: str | Path, **options: Any) -> None:
        """Write the motion as an animated GIF, of flexible arms."""
        self.system.animate(self, Path(path), **options)

    def __repr__(self) -> str:
        return (f"<Simulation of {self.system.name}: {len(self.times)} times from "
                f"{self.times[0]:g} to {self.times[-1]:g} s, {self.method}, energy drift "
                f"{self.energy_drift:.1e}>")
