"""Names and constant poses of MuJoCo's bodies and sites."""

from __future__ import annotations

from typing import Any

import numpy as np

from closedform.arrays import NUMBERS
from closedform.model.bodies import Frame
from closedform.model.groups.quaternions import rotation as quaternion_rotation
from closedform.model.pose import pose


def body_name(model: Any, b: int) -> str:
    return model.body(b).name or f"body{b}"


def placement(position: np.ndarray, quaternion: np.ndarray) -> np.ndarray:
    """The pose of a position and a unit quaternion wxyz; 0 and ±1 without rounding."""
    w, *xyz = map(float, quaternion)
    R = quaternion_rotation(np.array([*xyz, w]), NUMBERS)
    whole = np.round(R)
    return pose(np.where(np.abs(R - whole) < 1e-15, whole, R) + 0.0, np.array(position))


def in_moving_body(model: Any, b: int) -> tuple[int, np.ndarray]:
    """The body with joints (or the world) that b is a fixed part of, and b's pose in it."""
    offset = np.eye(4)
    while b and not model.body_jntnum[b]:
        offset = placement(model.body_pos[b], model.body_quat[b]) @ offset
        b = int(model.body_parentid[b])
    return b, offset


def sites(model: Any, taken: set[str]) -> list[Frame]:
    """The named sites as frames; one that is named as a body gets `/site` behind its name."""
    frames = []
    for s in range(model.nsite):
        name, b = model.site(s).name, int(model.site_bodyid[s])
        if name:
            label = f"{name}/site" if name in taken else name
            at = placement(model.site_pos[s], model.site_quat[s])
            frames.append(Frame(label, body_name(model, b) if b else None, at))
    return frames
