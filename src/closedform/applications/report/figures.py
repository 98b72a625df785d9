"""Figures of the report as SVG that takes the page's text colour, so that it suits light and dark.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import matplotlib
import numpy as np
from matplotlib import pyplot
from matplotlib.figure import Figure

from closedform.applications.bones import bone_ends, bones, cut_points, rods
from closedform.applications.figure_text import plain
from closedform.applications.live.skeleton import resting
from closedform.applications.motion.simulation import Simulation
from closedform.applications.motion.torques import Torques
from closedform.applications.redundancy.curves import SelfMotion
from closedform.applications.redundancy.tracking import Track
from closedform.arrays import Array
from closedform.maths.kinematics import poses
from closedform.model.robot import Robot

INK = "#010203"
"""Stands for the page's text colour, until the SVG is written."""
NARROW = 5.2
"""Inches, at which text is still read on a phone."""
TOGETHER = 7
"""Curves of one panel, at most: each can be told from the others."""
STYLE: dict[Any, Any] = {
    "text.color": INK, "axes.labelcolor": INK, "axes.edgecolor": INK, "axes.titlecolor": INK,
    "xtick.color": INK, "ytick.color": INK, "legend.frameon": False, "svg.fonttype": "none",
    "font.family": "sans-serif", "font.size": 10.0, "axes.spines.top": False,
    "axes.spines.right": False, "grid.alpha": 0.3,
}


def svg(make: Callable[[], Figure], title: str, mark: str = "f") -> str:
    """The figure as an inline SVG element with words for those who cannot see it.

    `mark` stands before its ids, so that several figures may be in one page.
    """
    with matplotlib.rc_context(STYLE):
        figure, file = make(), io.StringIO()
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    pyplot.close(figure)                # of no effect on figures that pyplot does not know
    text = file.getvalue()
    text = text[text.index("<svg"):]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = text.replace(INK, "currentColor").replace("#000000", "currentColor")
    text = re.sub(r'(<svg[^>]*?) width="([\d.]+)pt" height="[\d.]+pt"', r"\1", text, count=1)
    text = re.sub(r"(<text\b)", r'\1 fill="currentColor"', text)
    text = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{mark}-", text)
    return text.replace("<svg", f'<svg role="img" aria-label="{title}"', 1)


def skeleton(robot: Robot, center: Array | None) -> Figure:
    """The bodies' frames joined to their parents' and loops, along two axes, with their numbers.

    Frames are joined to bodies that carry no other, as a tool; all others are faint dots, of which
    those that fall together are drawn once.
    """
    T = np.asarray(poses(robot, resting(robot)), dtype=float)
    figure = Figure(figsize=(NARROW, 7.6), layout="constrained")
    panels = figure.subplots(2, 1)
    side = 1 if np.ptp(T[:, 0, 3]) < np.ptp(T[:, 1, 3]) else 0
    tools, others = _frames(robot, T)
    places = np.concatenate([np.eye(4)[None], T])
    cuts = np.array([(places[k] @ [*p, 1.0])[:3] for _, k, p in cut_points(robot)]).reshape(-1, 3)
    for axes, (x, y) in zip(panels, ((side, 2), (0, 1)), strict=True):
        axes.plot(others[:, x], others[:, y], "s", color="#3f9b63", markersize=2.5, alpha=0.45)
        for kind, colour, width in ((bones, "#4a7fb5", 3), (rods, "#7a8798", 1.5)):
            for start, end in (bone_ends(places, bone) for bone in kind(robot)):
                axes.plot([start[x], end[x]], [start[y], end[y]], color=colour, linewidth=width,
                          solid_capstyle="round")
        for a, b in tools:
            axes.plot([a[x], b[x]], [a[y], b[y]], color="#3f9b63", linewidth=1.5)
        if len(tools) + len(others):
            ends = np.array([b for _, b in tools]).reshape(-1, 3)
            axes.plot(ends[:, x], ends[:, y], "s", color="#3f9b63", markersize=4, label="frames")
        axes.plot(T[:, x, 3], T[:, y, 3], "o", color="#d9722c", markersize=5, label="joints")
        if len(cuts):
            axes.plot(cuts[:, x], cuts[:, y], "o", color="#d9722c", markersize=5,
                      markerfacecolor="white", label="loops close")
        _numbered(axes, T[:, [x, y], 3])
        if center is not None:
            axes.plot(center[x], center[y], "P", color="#b13a6c", markersize=9,
                      label="centre of mass")
        axes.set(xlabel=f"{'xyz'[x]} [m]", ylabel=f"{'xyz'[y]} [m]", title=SEEN[x, y])
        axes.set_aspect("equal", adjustable="datalim")
        axes.grid()
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center",
                  ncols=4 if len(cuts) else 3)
    return figure


SEEN = {(0, 2): "from the side, along y", (1, 2): "from the front, along x",
        (0, 1): "from above, along z"}


def _numbered(axes: Any, at: Array) -> None:
    """Numbers of bodies beside their places; those at one place in one label."""
    size, places = float(np.ptp(at, axis=0).max(initial=0)) or 1.0, dict[Any, list[int]]()
    for k, p in enumerate(np.asarray(at)):
        places.setdefault(tuple(np.round(p / size, 2)), []).append(k)
    for found in places.values():
        text = str(found[0] + 1) if len(found) == 1 else f"{found[0] + 1}–{found[-1] + 1}" if (
            found == list(range(found[0], found[-1] + 1))) else ", ".join(
                str(k + 1) for k in found)
        axes.annotate(text, at[found[0]], (5, 4), textcoords="offset points", fontsize=7)


def _frames(robot: Robot, T: Array) -> tuple[list[tuple[Array, Array]], Array]:
    """The lines from leaves to their furthest frames, and the places of all others, (n, 3)."""
    index = {name: k for k, name in enumerate(robot.body_names)}
    leaves = set(robot.body_names) - {body.parent for body in robot.bodies}
    far: dict[str, tuple[Array, Array]] = {}
    places: dict[tuple[float, ...], Array] = {}
    size = float(np.ptp(T[:, :3, 3], axis=0).max(initial=0)) or 1.0
    for frame in robot.frames:
        if frame.body is None:
            continue
        T_k = T[index[frame.body]]
        line = T_k[:3, 3], (T_k @ np.asarray(frame.placement, float))[:3, 3]
        places[tuple(np.round(line[1] / size, 2))] = line[1]
        length = np.linalg.norm(line[1] - line[0])
        if frame.body in leaves and length > 0 and (
                frame.body not in far or length > np.linalg.norm(np.subtract(*far[frame.body]))):
            far[frame.body] = line
    return list(far.values()), np.array(list(places.values())).reshape(-1, 3)


def limbs(robot: Robot) -> list[list[int]]:
    """Velocities in groups to be shown together: up to `TOGETHER`, of one limb and one unit."""
    groups: dict[tuple[str, bool], list[int]] = {}
    root: dict[str, str] = {}
    children = Counter(body.parent for body in robot.bodies)
    for body in robot.bodies:
        start = body.parent is None or children[body.parent] > 1
        root[body.name] = body.name if start else root[str(body.parent)]
    for k, (name, slides) in enumerate(_velocities(robot)):
        groups.setdefault((root[name], slides), []).append(k)
    return [part.tolist() for x in groups.values()
            for part in np.array_split(x, -(-len(x) // TOGETHER))]


def _velocities(robot: Robot) -> list[tuple[str, bool]]:
    """For each velocity its body, and whether it slides."""
    found = [(body.name, k in body.joint.moving.lengths) for body, _, _ in robot.parts
             for k in range(body.joint.nv)]
    return [found[i] for i in robot.closure.independent] if robot.closure else found


def torque_figure(motion: Torques, shown: Sequence[int]) -> Figure:
    """τ, τ̇ and τ̈ of some velocities that have one unit, each named where it is largest."""
    figure = Figure(figsize=(NARROW, 6.0), layout="constrained")
    slides = _velocities(motion.robot)
    slide = any(slides[k][1] for k in shown)
    unit = "N" if slide else "N m"
    for k, axes in enumerate(figure.subplots(3, 1, sharex=True)):
        for i in shown:
            curve = motion.values[:, k, i]
            line, = axes.plot(motion.times, curve, linewidth=1.3)
            top = int(np.abs(curve).argmax())
            axes.annotate(str(i + 1), (motion.times[top], curve[top]), (0, 3), fontsize=8,
                          textcoords="offset points", color=line.get_color(), ha="center")
            line.set_label(f"{i + 1} {plain(motion.names[i])}")
        axes.set(ylabel=f"{('τ', 'τ̇', 'τ̈')[k]} [{unit}{('', '/s', '/s²')[k]}]")
        axes.margins(y=0.15)
        axes.grid()
    axes.set(xlabel="t [s]")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=2,
                  fontsize="small")
    return figure


def difference_figure(motion: Torques) -> Figure:
    """What numeric differences miss, at every time the worst velocity, of the largest value."""
    figure = Figure(figsize=(NARROW, 2.8), layout="constrained")
    axes = figure.subplots()
    for name, error in difference_errors(motion).items():
        axes.semilogy(motion.times, error, label=name)
    axes.set(xlabel="t [s]", ylabel="error / largest value")
    axes.legend(fontsize="small")
    axes.grid()
    return figure


def difference_errors(motion: Torques) -> dict[str, Array]:
    found = np.abs(motion.values - motion.differences())
    return {name: found[:, k].max(axis=1) / (np.abs(motion.values[:, k]).max() or 1.0)
            for k, name in ((1, "τ̇"), (2, "τ̈"))}


def swing_figure(run: Simulation) -> Figure:
    """Energies of the swing, and what is left of their balance."""
    figure = Figure(figsize=(NARROW, 4.0), layout="constrained")
    top, low = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
    for values, name in ((run.kinetic, "kinetic T"), (run.potential, "potential U"),
                         (run.energy, "T + U")):
        top.plot(run.times, values, label=name)
    top.set(ylabel="energy [J]")
    figure.legend(loc="outside lower center", ncols=3, fontsize="small")
    low.plot(run.times, run.energy_residual, color="#b13a6c")
    low.set(ylabel="T + U − E₀ [J]", xlabel="t [s]")
    top.grid(), low.grid()
    return figure


def path_figure(track: Track, names: Sequence[str], unit: str) -> Figure:
    """Joints, manipulability along a closed path."""
    values = np.exp([s.value for s in track.solutions])
    return _joints_figure(track.times, track.q, values, names, "point of the closed path", unit)


def self_motion_figure(curve: SelfMotion, values: Array, names: Sequence[str],
                       unit: str) -> Figure:
    """Joints and manipulability over the length of the curve of one pose."""
    return _joints_figure(curve.s, curve.q, values, names,
                          f"length along the self-motion [{unit}]", unit)


def _joints_figure(x: Array, q: Array, values: Array, names: Sequence[str], along: str,
                   unit: str) -> Figure:
    figure = Figure(figsize=(NARROW, 5.0), layout="constrained")
    top, low = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    for k, name in enumerate(names):
        top.plot(x, q[:, k], label=plain(name))
    top.set(ylabel=f"q [{unit}]")
    figure.legend(loc="outside lower center", ncols=3, fontsize="small")
    low.plot(x, values, color="#3f9b63")
    low.set(ylabel="√det J Jᵀ", xlabel=along)
    top.grid(), low.grid()
    return figure


def speed_figure(rows: Sequence[Any]) -> Figure:
    """Times of all quantities as dots on a logarithmic axis, call and batch state."""
    figure = Figure(figsize=(NARROW, 1.2 + 0.2 * len(rows)), layout="constrained")
    axes = figure.subplots()
    at = np.arange(len(rows))
    axes.plot([r.call / 1e3 for r in rows], at, "o", color="#4a7fb5", label="one call")
    axes.plot([(r.batch or np.nan) / 1e3 for r in rows], at, "D", color="#d9722c", markersize=4,
              label="each state of a batch")
    axes.set_yticks(at, [r.name for r in rows], fontsize=7)
    axes.invert_yaxis()
    axes.set(xscale="log", xlabel="µs")
    axes.grid()
    figure.legend(loc="outside lower center", ncols=2)
    return figure
