"""Figures of redundant motions: joints along a path, two joints against each other, tip paths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from closedform.applications.figure_text import plain
from closedform.applications.redundancy.certificate import Verdict
from closedform.applications.redundancy.tracking import Track
from closedform.arrays import Floats

Styles = Mapping[str, Mapping[str, Any]]


def track_figure(track: Track, names: Sequence[str], title: str) -> Figure:
    """Coordinates, criterion and curvature along a track; limits and the stop are marked."""
    figure = Figure(figsize=(8, 8), layout="constrained")
    top, middle, low = figure.subplots(3, 1, sharex=True, height_ratios=(3, 1, 1))
    for k in range(track.q.shape[1]):
        name = names[k] if len(names) == track.q.shape[1] else f"q{k + 1}"
        top.plot(track.times, track.q[:, k], label=plain(name))
    held = np.array([s.verdict is Verdict.LIMIT_ACTIVE for s in track.solutions])
    if np.any(held):
        at_limit = np.where(held, track.q.min(), np.nan)
        top.plot(track.times, at_limit, "k|", markersize=8, label="a joint at its limit")
    top.set(ylabel="coordinate (rad, m)", title=plain(title))
    top.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="small")
    middle.plot(track.times, [s.value for s in track.solutions], color="tab:green")
    middle.set(ylabel="criterion")
    largest = [s.reduced_hessian.max(initial=-np.inf) for s in track.solutions]
    low.plot(track.times, np.where(np.isfinite(largest), largest, np.nan), color="tab:red")
    low.axhline(0.0, color="0.7", linewidth=0.8)
    low.set(ylabel="largest eigenvalue\nof NᵀWN", xlabel="path parameter")
    for axes in (top, middle, low):
        axes.grid(alpha=0.3)
        axes.ticklabel_format(axis="y", useOffset=False)
    if track.stop is not None:
        low.axvline(track.times[-1], color="k", linestyle="--")
        middle.set_title(f"stops at {track.stop.reason.partition('(')[0].strip()}",
                         fontsize="small")
    return figure


def joint_figure(motions: Mapping[str, Floats], styles: Styles,
                 pairs: Sequence[tuple[int, int]]) -> Figure:
    """Angles in degrees against each other, one panel for each pair of joints."""
    figure = Figure(figsize=(5 * len(pairs), 4.6), layout="constrained")
    panels = np.atleast_1d(figure.subplots(1, len(pairs)))
    for axes, (i, j) in zip(panels, pairs, strict=True):
        for name, q in motions.items():
            axes.plot(np.degrees(q[:, i]), np.degrees(q[:, j]), label=name, **styles.get(name, {}))
        axes.set(xlabel=f"θ{i + 1} (°)", ylabel=f"θ{j + 1} (°)")
        axes.grid(alpha=0.3)
    panels[0].legend(fontsize="small")
    return figure


def tip_figure(paths: Mapping[str, Floats], styles: Styles) -> Figure:
    """Tip paths (points, 2) in millimetres, at one scale."""
    figure = Figure(figsize=(5.5, 5), layout="constrained")
    axes = figure.subplots()
    for name, x in paths.items():
        axes.plot(1e3 * x[:, 0], 1e3 * x[:, 1], label=name, **styles.get(name, {}))
    axes.set(xlabel="x (mm)", ylabel="y (mm)", aspect="equal")
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small", loc="center")
    return figure
