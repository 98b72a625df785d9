"""Pictures of motions with elastic joints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def comparison_figure(times: np.ndarray, errors: Mapping[str, Mapping[str, np.ndarray]]) -> Figure:
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
