"""A planned motion in four panels: positions, velocities, torques, what will be known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from closedform.applications.figure_text import plain
from closedform.applications.motion.pictures import Panel, draw

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from closedform.applications.identification.excitation.plan import Plan

POINTS = 1001


def plan_figure(plan: Plan) -> Figure:
    """Positions, velocities and torques as shares of their limits; relative sds, sorted."""
    from matplotlib import pyplot
    room = plan.rows.room
    t = np.linspace(0, plan.duration, POINTS)
    q, v, _ = plan.at(t)
    full = room.full
    middle, half = (full["upper"] + full["lower"]) / 2, (full["upper"] - full["lower"]) / 2
    tau = [i for i in range(len(full["torque"])) if np.isfinite(full["torque"][i])]
    panels = [
        Panel("q / limit", (q[:, list(room.q_at)] - middle) / half, plan.joints),
        Panel("v / limit", v[:, list(room.at)] / full["velocity"], ()),
        Panel("τ / limit", plan.torques(t)[:, tau] / full["torque"][tau], ())]
    figure, axes = pyplot.subplots(4, 1, figsize=(9, 11), layout="constrained")
    for axis, panel in zip(axes, panels, strict=False):
        draw(axis, t, panel)
        for side in (-1, 1):
            axis.axhline(side, color="black", linewidth=0.8, linestyle="--")
        axis.set_ylim(-1.08, 1.08)
    axes[2].set_xlabel("t [s]")
    _sds(axes[3], plan)
    figure.suptitle(f"{plain(plan.rows.model.robot.name)}: {plan.criterion}, condition number "
                    f"{plan.conditions.condition:.0f}")
    return figure


def _sds(axis: Axes, plan: Plan) -> None:
    """sd / size of every unknown, the best first."""
    relative = plan.predicted_sd / plan.scale
    order = np.argsort(np.where(np.isfinite(relative), relative, np.inf))
    told = [k for k in order if np.isfinite(relative[k])]
    axis.bar(range(len(told)), relative[told], width=0.8)
    axis.axhline(0.3, color="black", linewidth=0.8, linestyle="--")
    axis.set_yscale("log")
    axis.set_ylabel("sd / size")
    names = [plain(plan.rows.model.names[k]) for k in told]
    axis.set_xticks(range(len(told)), names, rotation=90, fontsize=5 if len(told) < 90 else 3)
    axis.grid(alpha=0.3, axis="y")
