"""What scenes are made of: the stage, lines and arrows, joints' ranges, nodes in nodes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from closedform.arrays import Floats
from closedform.model.joints import Joint

ARC = 24
"""Points of a range."""
DEEP = 48
"""Nodes within nodes; a browser draws a chain of hundreds one within the other slowly."""
NARROW, SHEET = 0.75, 0.45
"""Width over height of a screen below which it is a phone's, and the part its sheet covers."""


def is_phone(camera: Any) -> bool:
    """Whether the widgets lie on a sheet over the lower part of the picture."""
    return float(camera.image_width) < NARROW * float(camera.image_height)


def free(camera: Any, beside: float = 0.0) -> tuple[float, float]:
    """The part of the picture's height and width, in heights, that widgets leave free."""
    width, height = float(camera.image_width), max(float(camera.image_height), 1.0)
    return (1.0 - SHEET, width / height) if is_phone(camera) else (
        1.0, max(width - beside, 0.2 * width) / height)


def behind_sheet(camera: Any, way: Floats) -> float:
    """m below what is shown where a camera looks that stands so far away, so that a phone's sheet
    covers nothing of it; 0 elsewhere."""
    seen = 2 * float(np.linalg.norm(way)) * float(np.tan(float(camera.fov) / 2))
    return SHEET / 2 * seen if is_phone(camera) else 0.0


def nested(parents: Sequence[int]) -> tuple[list[int], list[str]]:
    """For each body the one that its node stands in, −1 for none, and the name of its node."""
    above: list[int] = []
    paths: list[str] = []
    for k, p in enumerate(parents):
        inside = p > 0 and paths[p - 1].count("/") < DEEP
        above.append(p - 1 if inside else -1)
        paths.append(f"{paths[p - 1] if inside else ''}/b{k}")
    return above, paths


def stage(scene: Any, gravity: Floats, size: float) -> Floats:
    """Light and ground, and what is up.

    Without a GPU the default environment takes 15 s, shadows 29 of 30 frames.
    """
    scene.configure_environment_map(None)
    scene.configure_default_lights(True, cast_shadow=False)
    scene.add_light_hemisphere("/sky", ground_color=(190, 195, 205), intensity=1.6)
    length = float(np.linalg.norm(gravity))
    up: Floats = -gravity / length if length > 0 else np.array([0.0, 0.0, 1.0])
    scene.set_up_direction(tuple(up))
    ground(scene, size)
    return up


def ground(scene: Any, size: float) -> None:
    """A grid in greys that are seen on white and on black."""
    scene.add_grid("/grid", width=3 * size, height=3 * size, cell_size=size / 10,
                   cell_color=(150, 155, 165), section_color=(120, 125, 135), cell_thickness=0.6,
                   section_thickness=0.8, shadow_opacity=0.0)


def lines(scene: Any, name: str, points: Floats, colour: tuple[int, int, int],
          pixels: int) -> Any:
    """Lines between pairs of points, (k, 2, 3), so many pixels thick; hidden at first."""
    return scene.add_line_segments(name, points.astype(np.float32), colour, thickness=pixels,
                                   thickness_units="screen", visible=False)


def arrows(scene: Any, name: str, colour: tuple[int, int, int], size: float) -> Any:
    return scene.add_arrows(name, np.zeros((1, 2, 3)), colour, shaft_radius=0.004 * size,
                            head_radius=0.011 * size, head_length=0.025 * size, visible=False)


def pairs(at: Floats, way: Floats) -> Floats:
    if not len(at):
        return np.zeros((1, 2, 3), dtype=np.float32)
    return np.stack([at, at + way], axis=1).astype(np.float32)


def towards(d: Floats) -> Floats:
    """The turn of z onto a direction."""
    w, axis = 1.0 + d[2], np.array([-d[1], d[0], 0.0])
    x = np.array([w, *axis]) if w > 1e-9 else np.array([0.0, 1.0, 0.0, 0.0])
    return x / np.linalg.norm(x)


def axis_and_range(joint: Joint, r: float) -> Floats | None:
    """Lines of a joint of one coordinate: its axis, and its range as an arc or a slide."""
    moves = joint.moving
    line = moves.line if moves.nv == 1 else None
    if line is None:
        return None
    e, p = (np.asarray(x, dtype=float) for x in line)
    parts = [[p - r * e, p + r * e]]
    low, high = (float(moves.per_coordinate(k, 1, np.nan)[0]) for k in ("lower", "upper"))
    if np.isfinite(low) and np.isfinite(high) and moves.lengths:
        parts = [[p + low * e, p + high * e]]
    elif np.isfinite(low) and np.isfinite(high):
        side = np.eye(3)[int(np.argmin(np.abs(e)))]
        a = np.cross(e, side)
        a /= np.linalg.norm(a)
        b = np.cross(e, a)
        turn = np.linspace(low, high, ARC)
        points = p + r * (np.outer(np.cos(turn), a) + np.outer(np.sin(turn), b))
        parts += [[x, y] for x, y in pairwise(points)]
        parts += [[p, points[0]], [p, points[-1]]]
    return np.array(parts)
