"""Pictures of flexible arms: mode shapes, vibrations, motions, and a motion as an animated GIF."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from closedform.applications.figure_text import plain
from closedform.applications.flexible.vibration import vibration
from closedform.applications.motion.simulation import Simulation
from closedform.arrays import Array, ArrayLike
from closedform.errors import ArgumentError
from closedform.maths.flexible.arm import FlexibleArm
from closedform.maths.flexible.dynamics import PAPER, Model, Truncated
from closedform.maths.flexible.kinematics import LinearRotation, link_motions

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

POINTS = 25
"""Points drawn on each link."""


def arm_points(arm: FlexibleArm, q: Array, model: Model = PAPER) -> Array:
    """Points on the bent links, (n, POINTS, 2)."""
    q = np.asarray(q, dtype=float)
    rotation = LinearRotation() if isinstance(model, Truncated) else model
    found = []
    for modes, at, motion in zip(arm.modes, arm.deflections,
                                 link_motions(arm, q, 0 * q, rotation), strict=True):
        x = np.linspace(0, modes.link.length, POINTS)
        y, along = modes.deflections(x) @ q[at], x
        if rotation.foreshortening:
            fine = np.linspace(0, modes.link.length, 20 * POINTS)
            squares = (modes.slopes(fine) @ q[at])**2 / 2
            sums = np.concatenate([[0.0], np.cumsum((squares[1:] + squares[:-1]) / 2)])
            along = x - np.interp(x, fine, sums * (fine[1] - fine[0]))
        r, w = motion.basis[0].value, complex(*motion.direction.value)
        p = complex(*r) + w * (along + 1j * y)
        found.append(np.stack([p.real, p.imag], axis=1))
    return np.array(found)


def shapes_figure(arm: FlexibleArm) -> Figure:
    """The assumed mode shapes, one panel for each link, divided by the link's length."""
    figure, axes = _figure(1, arm.n, (4.5 * arm.n, 3.5))
    for i, (modes, panel) in enumerate(zip(arm.modes, axes.ravel(), strict=True)):
        x = np.linspace(0, modes.link.length, 201)
        for j, curve in enumerate(modes.deflections(x).T / modes.link.length):
            panel.plot(x, curve, label=f"φ{i + 1}{j + 1}, {modes.frequencies[j]:.2f} Hz")
        panel.axhline(0, color="0.7", linewidth=0.8)
        panel.set(title=f"link {i + 1}", xlabel="x [m]", ylabel="φ / ℓ")
        if len(modes.shapes):
            panel.legend(frameon=False)
    return figure


def vibration_figure(arm: FlexibleArm, q: ArrayLike | None = None, locked: bool = False,
                     model: Model = PAPER) -> Figure:
    """Mode pictures of the assembled arm: each vibration over the arm at rest."""
    found = vibration(arm, q, locked, model)
    moving = [k for k, f in enumerate(found.frequencies) if f > 0]
    if not moving:
        raise ArgumentError(f"{arm.name} does not vibrate: none of its links has modes")
    columns = min(len(moving), 4)
    rows = -(-len(moving) // columns)
    figure, axes = _figure(rows, columns, (3.2 * columns, 3.2 * rows))
    rest = arm_points(arm, found.q, model)
    for panel, k in zip(axes.ravel(), moving, strict=False):
        shape = found.shapes[k]
        moved = arm_points(arm, found.q + 1e-6 * shape, model) - rest
        size = 0.2 * sum(link.length for link in arm.links) / (np.max(np.abs(moved)) or 1.0)
        for sign, color in ((-1, "0.8"), (1, "C0")):
            panel.plot(*np.concatenate(rest + sign * size * moved).T, color=color)
        panel.plot(*np.concatenate(rest).T, "k:", linewidth=1)
        panel.set(aspect="equal", title=f"{found.frequencies[k]:.4g} Hz")
    for panel in axes.ravel()[len(moving):]:
        panel.set_axis_off()
    figure.suptitle(f"{plain(arm.name)}, joints {'locked' if locked else 'free'}")
    return figure


def write_animation(run: Simulation, path: Path, frames: int = 80, fps: int = 20) -> None:
    """An animated GIF of the arm and its tip's trace, in `frames` pictures over the whole run."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from PIL import Image

    if frames < 2 or fps < 1:
        raise ArgumentError(f"an animation has 2 frames or more, at 1 or more a second; {frames} "
                            f"and {fps} were given")
    chosen = np.unique(np.linspace(0, len(run.times) - 1, frames).astype(int))
    poses = [arm_points(run.arm, run.q[k], run.model) for k in chosen]
    figure = Figure(figsize=(4.8, 4.8))
    canvas: Any = FigureCanvasAgg(figure)
    draw = _Stage(figure.add_subplot(), run, poses).draw
    pictures = []
    for k, pose in zip(chosen, poses, strict=True):
        draw(int(k), pose)
        canvas.draw()
        pictures.append(Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3].copy()))
    pictures[0].save(path, save_all=True, append_images=pictures[1:], duration=1000 // fps, loop=0)


class _Stage:
    """The axes of an animation, wide enough for all of it, and what moves on them."""

    def __init__(self, panel: Axes, run: Simulation, poses: list[Array]) -> None:
        everything = np.concatenate([*(np.reshape(p, (-1, 2)) for p in poses), run.tip])
        low, high = everything.min(axis=0), everything.max(axis=0)
        middle, half = (low + high) / 2, 0.55 * max(*(high - low), 1e-6)
        x, y = (tuple(m + np.array([-half, half])) for m in middle)
        panel.set(xlim=x, ylim=y, aspect="equal", xlabel="x [m]", ylabel="y [m]")
        self.run = run
        self.trace, = panel.plot([], [], color="C1", linewidth=0.8)
        self.links = [panel.plot([], [], color="C0", linewidth=3, solid_capstyle="round")[0]
                      for _ in run.arm.links]
        self.joints, = panel.plot([], [], "o", color="0.2")
        self.title = panel.set_title("")

    def draw(self, k: int, pose: Array) -> None:
        """Move everything to the k-th time."""
        for line, points in zip(self.links, pose, strict=True):
            line.set_data(*points.T)
        self.joints.set_data(*np.concatenate([pose[:, 0], pose[-1:, -1]]).T)
        self.trace.set_data(*self.run.tip[:k + 1].T)
        self.title.set_text(f"{self.run.arm.name}, t = {self.run.times[k]:.2f} s")


def _figure(rows: int, columns: int, size: tuple[float, float]) -> tuple[Figure, np.ndarray]:
    from matplotlib import pyplot

    return pyplot.subplots(rows, columns, figsize=size, layout="constrained", squeeze=False)
