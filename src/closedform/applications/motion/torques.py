"""Torques of a motion and their first two time derivatives, as tables and as a picture.

Cites: [MuellerKumar2021, section 6.2 and Fig. 4].
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, final

import numpy as np

from closedform.applications.figure_text import plain
from closedform.applications.motion.tables import write_columns
from closedform.applications.motion.times import increasing
from closedform.applications.motion.trajectories import Trajectory, motion
from closedform.arrays import ArrayLike, Floats
from closedform.errors import ArgumentError
from closedform.lowerings import lanes
from closedform.maths.algorithms.jets import inverse_dynamics_jet
from closedform.model.coordinates import coordinate_names
from closedform.model.robot import Robot
from closedform.program.record import record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SYMBOLS = ("tau", "dtau", "ddtau")
TITLES = ("τ", "dτ/dt", "d²τ/dt²")


@final
@dataclass(frozen=True, eq=False)
class Torques:
    """τ, τ̇, τ̈ of a motion at given times, exact for the motion that the trajectory describes."""

    robot: Robot
    times: Floats   # (points,) s
    q: Floats       # (points, nq)
    rates: Floats   # (points, 4, nv): v, a, j, s
    values: Floats  # (points, 3, nv): τ, τ̇, τ̈

    @property
    def names(self) -> tuple[str, ...]:
        """The velocities' names: the joint's, with a number where it has several."""
        return tuple(coordinate_names(self.robot.v_slices))

    @property
    def columns(self) -> dict[str, Floats]:
        """The table: t, then τ, τ̇, τ̈ of every velocity."""
        return {"t": self.times, **{f"{symbol}_{name}": self.values[:, k, i]
                                    for k, symbol in enumerate(SYMBOLS)
                                    for i, name in enumerate(self.names)}}

    def differences(self) -> Floats:
        """τ and its numeric first and second central differences, (points, 3, nv).

        NaN at the ends, where there are none.
        """
        tau = self.values[:, 0]
        first = np.gradient(tau, self.times, axis=0)
        second = np.gradient(first, self.times, axis=0)
        first[[0, -1]] = second[[0, 1, -2, -1]] = np.nan
        return np.stack([tau, first, second], axis=1)

    def write(self, path: str | Path) -> None:
        """The table as CSV, or as Parquet where the name ends so."""
        if Path(path).suffix not in (".csv", ".parquet"):
            raise ArgumentError(f"{path}: the name of a table ends in .csv or .parquet")
        write_columns(self.columns, path)

    def plot(self) -> Figure:
        """τ, τ̇, τ̈ over time, with numeric differences of τ laid over them as dashes."""
        from matplotlib import pyplot
        figure, axes = pyplot.subplots(3, 1, sharex=True, figsize=(9, 9), layout="constrained")
        numeric = self.differences()
        for k, (axis, title) in enumerate(zip(axes, TITLES, strict=True)):
            lines = axis.plot(self.times, self.values[:, k], linewidth=2.2, alpha=0.65)
            if k:
                dashes = axis.plot(self.times, numeric[:, k], "k--", linewidth=0.9)
                axis.legend(dashes[:1], ["numeric differences of τ"], loc="upper right")
            axis.set_ylabel(title)
            axis.grid(alpha=0.3)
        axes[0].set_title(f"{plain(self.robot.name)}: joint torques and their time derivatives")
        axes[-1].set_xlabel("t [s]")
        names = [plain(name) for name in self.names]
        figure.legend(lines, names, loc="outside right upper", fontsize="small")
        return figure


def torques(robot: Robot, trajectory: Trajectory, times: ArrayLike) -> Torques:
    """τ, τ̇, τ̈ of the robot on a trajectory, at the increasing times."""
    t = increasing(times, 3)
    q, rates = motion(robot, trajectory, t)
    return Torques(robot, t, q, rates, jets_of(robot, q, rates))


def jets_of(robot: Robot, q: Floats, rates: Floats) -> Floats:
    """τ, τ̇, τ̈ of every row of q and rates, (points, 3, nv)."""
    shapes = {"q": (robot.nq,), "rates": rates.shape[1:]}
    program = record(lambda q, r: inverse_dynamics_jet(robot, q, r), shapes, "torques")
    with np.errstate(all="ignore"):
        values = np.asarray(lanes.run(program, q, rates)[0], dtype=float)
    if not np.all(np.isfinite(values)):
        raise ArgumentError(f"torques of {robot.name} on this motion are too large to be numbers: "
                            f"|q| up to {np.max(np.abs(q)):.3g}, its rates up to "
                            f"{np.max(np.abs(rates)):.3g}")
    return values
