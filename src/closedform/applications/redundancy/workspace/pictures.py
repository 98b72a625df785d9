"""Pictures of a map: slices, the surface of what is reached, values and verdicts."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from closedform.applications.figure_text import plain
from closedform.applications.redundancy.certificate import Verdict
from closedform.applications.redundancy.workspace.grids import Grid
from closedform.applications.redundancy.workspace.maps import Map
from closedform.arrays import Floats
from closedform.errors import ArgumentError

COLOURS = {Verdict.MAXIMUM: "tab:green", Verdict.LIMIT_ACTIVE: "tab:olive",
           Verdict.UNREACHABLE: "0.8", Verdict.LIMIT: "tab:orange", Verdict.SINGULAR: "tab:red",
           Verdict.FOLD: "tab:purple", Verdict.FORBIDDEN: "k"}
FINEST = 28
"""Voxels along an axis of the surface: matplotlib draws every face."""
AXES = "xyz"


def _grid(found: Map) -> Grid:
    if not isinstance(found.targets, Grid):
        raise ArgumentError("pictures of a map need targets on a Grid")
    return found.targets


def slices_figure(found: Map) -> Figure:
    """Reachability in planes through the middle of the grid, or in the plane of a planar one."""
    grid, part = _grid(found), found.reachability
    planes = [(0, 1, 2), (0, 2, 1), (1, 2, 0)] if part.ndim == 3 else [(0, 1, -1)]
    figure = Figure(figsize=(4.2 * len(planes) + 1, 4.2), layout="constrained")
    image = None
    for axes, (i, j, k) in zip(figure.subplots(1, len(planes), squeeze=False)[0], planes,
                               strict=True):
        at = grid.shape[k] // 2
        shown = part if k < 0 else np.take(part, at, axis=k)
        image = axes.imshow(shown.T, origin="lower", vmin=0, vmax=1, cmap="viridis",
                            extent=_extent(grid, i, j), interpolation="nearest")
        title = "" if k < 0 else f"{AXES[k]} = {grid.axes[k][at]:.3g} m"
        axes.set(xlabel=f"{AXES[i]} (m)", ylabel=f"{AXES[j]} (m)", title=title)
    assert image is not None
    figure.colorbar(image, ax=figure.axes, label="certified part of the targets", shrink=0.8)
    return figure


def _extent(grid: Grid, i: int, j: int) -> tuple[float, float, float, float]:
    half = grid.step / 2
    x, y = grid.axes[i], grid.axes[j]
    return float(x[0] - half), float(x[-1] + half), float(y[0] - half), float(y[-1] + half)


def surface_figure(found: Map, level: float = 0.5) -> Figure:
    """The surface within which at least `level` of the orientations of a place are reached."""
    grid, part = _grid(found), found.reachability
    if part.ndim != 3:
        raise ArgumentError("a surface needs places of three numbers")
    every = [max(1, -(-n // FINEST)) for n in part.shape]
    coarse = part[tuple(slice(None, None, s) for s in every)]
    corners = [np.append(a[::s], a[::s][-1] + s * grid.step) - s * grid.step / 2
               for a, s in zip(grid.axes, every, strict=True)]
    figure = Figure(figsize=(6, 6), layout="constrained")
    axes = figure.add_subplot(projection="3d")
    x, y, z = np.meshgrid(*corners, indexing="ij")
    filled = coarse >= level
    colours = np.empty((*filled.shape, 4))
    colours[...] = _shades(coarse)
    axes.voxels(x, y, z, filled, facecolors=colours)
    axes.set(xlabel="x (m)", ylabel="y (m)", zlabel="z (m)", aspect="equal",
             title=f"at least {100 * level:g} % of the targets of a place")
    return figure


def _shades(part: Floats) -> Floats:
    from matplotlib import colormaps
    shades: Floats = np.asarray(colormaps["viridis"](part))
    return shades


def histogram_figure(found: Map, criterion: str = "criterion") -> Figure:
    """The values of what is certified, and how many targets there are of each verdict."""
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    values = found.value[found.certified & np.isfinite(found.value)]
    if len(values):
        left.hist(values, bins=60, color="tab:green")
    left.set(xlabel=plain(criterion), ylabel="certified targets")
    counts = found.counts()
    right.barh([str(v) for v in counts], list(counts.values()),
               color=[COLOURS.get(v, "k") for v in counts])
    right.set(xlabel="targets")
    right.xaxis.set_major_locator(MaxNLocator(4, integer=True))
    right.xaxis.set_major_formatter("{x:,.0f}")
    right.invert_yaxis()
    return figure
