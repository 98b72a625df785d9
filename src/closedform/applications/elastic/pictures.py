"""Pictures of motions with elastic joints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from closedform.applications.figure_text import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from closedform.applications.elastic.simulation import ElasticSimulation
    from closedform.applications.elastic.torques import ElasticTorques
    from closedform.arrays import Array

LEGEND_ROWS = 14


def motion_figure(run: ElasticSimulation) -> Figure:
    """Three panels over time: link positions, deflections seen at the links, torques."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(3, 1, sharex=True, figsize=(9, 8), layout="constrained")
    model = run.model
    index = list(model.elastic)
    at = [model.coordinates[i] for i in index]
    names = [model.names[i] for i in index]
    N = model.gear_ratio
    panel(axes[0], run.times, run.q[:, at], names, "q [rad, m]")
    panel(axes[1], run.times, 1e3 * (N * run.deflection)[:, index], [],
          "deflection at the link\n[mrad, mm]")
    panel(axes[2], run.times, (run.motor_torque / N)[:, index], [],
          "motor torque at the link\n[N m, N]")
    axes[0].set_title(f"{plain(model.robot.name)}: elastic joints")
    axes[-1].set_xlabel("t [s]")
    return figure


def torques_figure(result: ElasticTorques) -> Figure:
    """Motor torques at the links, with the rigid robot's as dashes; and the springs' deflection."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(3, 1, sharex=True, figsize=(9, 9), layout="constrained")
    model, t, N = result.model, result.times, result.model.gear_ratio
    names = list(model.names)
    panel(axes[0], t, result.motor_torque / N, names, "motor torque at the link\n[N m, N]")
    axes[0].plot(t, result.rigid_torque / N, "k--", linewidth=0.7)
    axes[0].plot([], [], "k--", linewidth=0.7, label="rigid joints")
    axes[0].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize="x-small", frameon=False,
                   ncols=-(-(len(names) + 1) // LEGEND_ROWS))
    panel(axes[1], t, (result.motor_torque - result.rigid_torque) / N, [],
          "what elasticity adds\n[N m, N]")
    panel(axes[2], t, 1e3 * N * result.deflection, [], "deflection at the link\n[mrad, mm]")
    axes[0].set_title(f"{plain(model.robot.name)}: torques of motors on springs")
    axes[-1].set_xlabel("t [s]")
    return figure


def comparison_figure(times: Array, errors: Mapping[str, Mapping[str, Array]]) -> Figure:
    """One panel for each case: the largest joint error of each controller over time."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(len(errors), 1, sharex=True, squeeze=False,
                                   figsize=(9, 2.2 * len(errors) + 0.8), layout="constrained")
    for axis, (case, curves) in zip(axes[:, 0], errors.items(), strict=True):
        for name, error in curves.items():
            axis.semilogy(times, np.maximum(1e3 * np.max(np.abs(error), axis=1), 1e-6),
                          linewidth=1.1, label=name)
        axis.set_title(case, fontsize="medium", loc="left")
        axis.set_ylabel("|q − q_d| [mrad]")
        axis.grid(alpha=0.3)
    lines, names = axes[0, 0].get_legend_handles_labels()
    figure.legend(lines, names, loc="outside lower center", fontsize="small", ncols=len(names))
    axes[-1, 0].set_xlabel("t [s]")
    return figure


def panel(axes: Axes, times: Array, curves: Array, names: Sequence[str], label: str) -> None:
    """Curves over time, with a legend beside them where they have names."""
    lines = axes.plot(times, curves, linewidth=1.1)
    axes.set_ylabel(label)
    axes.grid(alpha=0.3)
    if names:
        for line, name in zip(lines, names, strict=True):
            line.set_label(plain(name))
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize="x-small",
                    frameon=False, ncols=-(-len(names) // LEGEND_ROWS))
