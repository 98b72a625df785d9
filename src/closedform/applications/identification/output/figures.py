"""Pictures of a fit: torques, what is left of them, which parameters are known."""

from __future__ import annotations

from typing import Any

import numpy as np

from closedform.applications.figure_text import plain
from closedform.applications.identification.estimate.found import Fit
from closedform.applications.identification.validate import Validation

INK, BLUE, ORANGE = "#444444", "#2166ac", "#d6604d"


def torque_figure(trial: Validation) -> Any:
    """Measured and predicted torques of each joint, and what is left."""
    from matplotlib.figure import Figure
    trace, n = trial.trace, len(trial.names)
    figure = Figure(figsize=(8.0, 0.6 + 1.25 * n), layout="constrained")
    axes = figure.subplots(n, 1, sharex=True, squeeze=False)[:, 0]
    for j, (ax, name) in enumerate(zip(axes, trial.names, strict=True)):
        ax.plot(trace.t, trace.measured[:, j], color=INK, lw=1.0, label="measured")
        ax.plot(trace.t, trace.measured[:, j] - trace.left[:, j], color=BLUE, lw=0.8,
                label="predicted")
        ax.plot(trace.t, trace.left[:, j], color=ORANGE, lw=0.7, label="left")
        ax.set_ylabel(plain(name), fontsize="small", rotation=0, ha="right", va="center")
        ax.tick_params(labelsize="small")
        ax.spines[["top", "right"]].set_visible(False)
    axes[-1].set_xlabel("time [s]")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper right", ncols=3,
                  frameon=False, fontsize="small")
    return figure


def spectrum_figure(trial: Validation) -> Any:
    """The power of what is left, over frequency."""
    from matplotlib.figure import Figure
    figure = Figure(figsize=(8.0, 3.2), layout="constrained")
    axes = figure.add_subplot()
    for j, name in enumerate(trial.names):
        left = trial.spectrum[1:, j]
        axes.loglog(trial.frequencies[1:], np.where(left > 0, left, np.nan), lw=1.0,
                    label=plain(name))
    axes.set_xlabel("frequency [Hz]")
    axes.set_ylabel("power of what is left [(N m)²/Hz]")
    figure.legend(fontsize="small", frameon=False, ncols=4, loc="outside lower center")
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def interval_figure(fit: Fit) -> Any:
    """How far each unknown is known: half of its interval, relative to its value."""
    from matplotlib.figure import Figure
    rows = fit.table
    size = [min(abs((r.high - r.low) / 2) / max(abs(r.value), 1e-12), 1e3) for r in rows]
    naive = [min(1.96 * r.naive_sd / max(abs(r.value), 1e-12), 1e3) for r in rows]
    figure = Figure(figsize=(8.0, 0.8 + 0.17 * len(rows)), layout="constrained")
    axes = figure.add_subplot()
    at = np.arange(len(rows))
    axes.barh(at, np.maximum(size, 1e-4), height=0.7,
              color=[BLUE if r.identified else ORANGE for r in rows])
    axes.plot(np.maximum(naive, 1e-4), at, "|", color=INK, ms=7, label="if every sample were new")
    for colour, words in ((BLUE, "identified"), (ORANGE, "not by this motion")):
        axes.barh([0], [0], color=colour, label=words)
    axes.set_xscale("log")
    axes.set_yticks(at, [plain(r.name) for r in rows], fontsize="x-small")
    axes.axvline(1.0, color=INK, lw=0.6, ls=":")
    axes.invert_yaxis()
    axes.margins(y=0.005)
    axes.set_xlabel("half of the 95 % interval, relative to the value")
    figure.legend(fontsize="small", frameon=False, loc="outside upper right", ncols=3)
    axes.spines[["top", "right"]].set_visible(False)
    return figure
