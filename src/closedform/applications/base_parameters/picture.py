"""A picture of base parameters: which body keeps which of its ten, and where the others went."""

from __future__ import annotations

from typing import Any

import numpy as np

from closedform.applications.figure_text import plain
from closedform.maths.base_parameters.base_parameters import BaseParameters
from closedform.maths.base_parameters.rotor_parameters import rotor_columns
from closedform.model.inertia import PARAMETER_NAMES

COLUMNS = (9, 4, 5, 7, 8, 1, 2, 6, 3, 0)
"""The ten parameters, those that revolute z axes keep first."""
KINDS = ("without effect", "regrouped into others", "kept as it is", "kept, carries others")
COLOURS = ("#f2f2f2", "#f4a582", "#92c5de", "#2166ac")


def picture(base: BaseParameters) -> Any:
    """A matplotlib figure: a row a body, a column a parameter, coloured by what became of it."""
    from matplotlib.colors import ListedColormap
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch
    robot, cells = base.source, states(base)
    rotors = cells.shape[1] - len(COLUMNS)
    titles = [PARAMETER_NAMES[i] for i in COLUMNS]
    titles += ["rotor"] if rotors == 1 else [f"rotor{i}" for i in range(rotors)]
    figure = Figure(figsize=(1.6 + 0.4 * len(titles), 1.9 + 0.28 * len(robot.bodies)),
                    layout="constrained")
    axes = figure.add_subplot()
    axes.pcolormesh(np.ma.masked_less(cells, 0), cmap=ListedColormap(COLOURS), vmin=0, vmax=3,
                    edgecolors="white", linewidth=2)
    kept = (cells >= 2).sum(axis=1)
    labels = [f"{plain(b.name)}  ({n})" for b, n in zip(robot.bodies, kept, strict=True)]
    axes.set_yticks(np.arange(len(labels)) + 0.5, labels)
    axes.set_xticks(np.arange(len(titles)) + 0.5, titles, fontsize=8)
    axes.xaxis.tick_top()
    axes.invert_yaxis()
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_title(f"{plain(robot.name)}: {base.count} base parameters "
                   f"of {len(robot.parameter_names)}")
    shown = [Patch(color=c, label=f"{k}: {int((cells == i).sum())}")
             for i, (c, k) in enumerate(zip(COLOURS, KINDS, strict=True))]
    figure.legend(handles=shown, loc="outside lower center", ncols=2, frameon=False,
                  fontsize="small")
    return figure


def states(base: BaseParameters) -> Any:
    """(bodies, 10 + rotors at most): the number of each parameter's kind in KINDS, −1 for none."""
    robot = base.source
    kind: dict[int, int] = {}
    idle = set(base.no_effect)
    for column, name in enumerate(robot.parameter_names):
        kind[column] = 0 if name in idle else 1
    for column, row in zip(base.kept, base.rows, strict=True):
        kind[column] = 2 if len(row) == 1 else 3
    rotors = rotor_columns(robot)
    width = 10 + max(len(columns) for columns in rotors)
    cells = np.full((len(robot.bodies), width), -1)
    for k, extra in enumerate(rotors):
        for at, i in enumerate(COLUMNS):
            cells[k, at] = kind[10 * k + i]
        for at, column in enumerate(extra, start=10):
            cells[k, at] = kind[column]
    return cells
