"""Curves over time in panels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from closedform.applications.figure_text import plain
from closedform.arrays import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LEGEND_ROWS = 14


class Panel(NamedTuple):
    """Curves that share an axis."""

    label: str             # of the axis
    curves: Array          # (points, n)
    names: Sequence[str]   # of the curves; none: without a legend


def panels_figure(title: str, times: Array, panels: Sequence[Panel]) -> Figure:
    """Panels below each other, in two columns where there are many."""
    from matplotlib import pyplot

    columns = 1 if len(panels) < 5 else 2
    rows = -(-len(panels) // columns)
    figure, axes = pyplot.subplots(rows, columns, sharex=True, squeeze=False, layout="constrained",
                                   figsize=(6.5 * columns + 2.5 / columns, 2.6 * rows))
    for axis, panel in zip(axes.ravel(), panels, strict=False):
        draw(axis, times, panel)
    for axis in axes.ravel()[len(panels):]:
        axis.set_axis_off()
    for axis in axes[-1]:
        axis.set_xlabel("t [s]")
    figure.suptitle(plain(title))
    return figure


def draw(axes: Axes, times: Array, panel: Panel) -> None:
    """The curves of a panel, with a legend beside them where they have names."""
    lines = axes.plot(times, panel.curves, linewidth=1.1)
    axes.set_ylabel(panel.label)
    axes.grid(alpha=0.3)
    if panel.names:
        for line, name in zip(lines, panel.names, strict=True):
            line.set_label(plain(name))
        legend(axes, len(panel.names))


def legend(axes: Axes, names: int) -> None:
    """Beside the axes, in as many columns as the names need."""
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize="x-small", frameon=False,
                ncols=-(-names // LEGEND_ROWS))
