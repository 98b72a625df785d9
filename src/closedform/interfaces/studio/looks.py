"""Meshes for the scene: the files of a robot's visuals, loaded once for all clients, or primitives.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from closedform.arrays import Floats
from closedform.model.formats.visuals import Visual
from closedform.model.robot import Robot

FACES = 40_000
"""Of one mesh; more are not shown."""
BYTES = 64 << 20
"""Of all mesh files of a robot."""


class Look(NamedTuple):
    """A mesh on a body: −1 is the world."""

    body: int
    placement: Floats
    mesh: Any              # trimesh


def looks(robot: Robot, visuals: Sequence[Visual]) -> list[Look]:
    """What can be drawn of the visuals; a mesh is decoration, so what fails is left out."""
    import trimesh
    places = {name: (k, np.eye(4)) for k, name in enumerate(robot.body_names)}
    places |= {f.name: (robot.body_names.index(f.body) if f.body else -1,
                        np.asarray(f.placement, dtype=float)) for f in robot.frames}
    left, made = BYTES, []
    for visual in visuals:
        if visual.link not in places:
            continue
        try:
            left -= 0 if visual.file is None else visual.file.stat().st_size
            mesh = _mesh(trimesh, visual) if left >= 0 else None
        except Exception:         # any of a dozen readers' errors: the robot does without
            continue
        if mesh is not None and 0 < len(mesh.faces) <= FACES:
            k, T = places[visual.link]
            made.append(Look(k, T @ visual.placement, mesh))
    return made


def _mesh(trimesh: Any, visual: Visual) -> Any:
    if visual.file is not None:
        made = trimesh.load(visual.file, force="mesh", process=False)
        made.apply_scale(visual.scale)
        if visual.file.suffix.lower() != ".stl":
            return made
    elif visual.mesh is not None:
        made = trimesh.Trimesh(*visual.mesh, process=False)
    elif visual.shape == "box":
        made = trimesh.creation.box(visual.size)
    elif visual.shape == "sphere":
        made = trimesh.creation.icosphere(2, visual.size[0])
    elif visual.shape == "ellipsoid":
        made = trimesh.creation.icosphere(2, 1.0)
        made.apply_scale(visual.size)
    else:
        make = getattr(trimesh.creation, visual.shape)
        made = make(radius=visual.size[0], height=visual.size[1])
        if visual.shape == "capsule":
            made.apply_translation([0, 0, -made.bounds.mean(axis=0)[2]])
    rgba = np.clip(255 * np.array(visual.colour), 0, 255).astype(np.uint8)
    made.visual = trimesh.visual.ColorVisuals(made, face_colors=rgba)
    return made
