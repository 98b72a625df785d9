"""4x4 poses of constant placements: building, checking, combining. Numbers or symbols."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from closedform.arrays import (
    Array,
    ArrayLike,
    Namespace,
    Number,
    exact_or_float,
    namespace,
    numeric,
)
from closedform.errors import ModelError
from closedform.model.vectors import as_given

ROUNDING = 1e-12
"""How far from 1 RᵀR of a rotation may be that counts as written with all its digits."""


def pose(rotation: ArrayLike | None = None, translation: ArrayLike | None = None) -> np.ndarray:
    """[[R, p], [0, 1]]."""
    R = np.eye(3) if rotation is None else exact_or_float(rotation)
    p = np.zeros(3) if translation is None else exact_or_float(translation)
    last = np.array([[0, 0, 0, 1]])
    return exact_or_float(np.concatenate([np.concatenate([R, p[:, None]], axis=1), last]))


def identity() -> np.ndarray:
    return np.eye(4)


def inverse(T: Array) -> np.ndarray:
    """[[Rᵀ, −Rᵀ p], [0, 1]]."""
    R, p = T[:3, :3], T[:3, 3]
    return pose(R.T, -(R.T @ p))


def rotation(axis: Iterable[Any], angle: Number, xp: Namespace | None = None) -> np.ndarray:
    """Rotation matrix about a unit axis e: c (1 − e eᵀ) + s ẽ + e eᵀ, exact zeros kept."""
    xp = xp or namespace(np.asarray(angle), np.asarray(axis))
    x, y, z = axis
    c, s = xp.cos(angle), xp.sin(angle)
    e = np.array([[x * x, x * y, x * z], [x * y, y * y, y * z], [x * z, y * z, z * z]])
    skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return c * (np.eye(3, dtype=int) - e) + s * skew + e


def from_rpy(roll: float, pitch: float, yaw: float) -> np.ndarray:
    """Rz(yaw) Ry(pitch) Rx(roll), as in URDF."""
    Rx, Ry, Rz = (rotation(e, a) for e, a in zip(np.eye(3), (roll, pitch, yaw), strict=True))
    return Rz @ Ry @ Rx


def to_rpy(R: Array) -> tuple[float, float, float]:
    """Roll, pitch and yaw of a rotation matrix; at a pitch of ±π/2 the yaw is 0.

    The roll is read from Rz(−yaw) R, so that R comes back to rounding near ±π/2 too, where roll and
    yaw read each for itself would not fit together.
    """
    c = np.hypot(R[0, 0], R[1, 0])
    yaw = np.arctan2(R[1, 0], R[0, 0]) if c > 1e-12 else 0.0
    sine, cosine = np.sin(yaw), np.cos(yaw)
    roll = np.arctan2(sine * R[0, 2] - cosine * R[1, 2], cosine * R[1, 1] - sine * R[0, 1])
    return float(roll), float(np.arctan2(-R[2, 0], c)), float(yaw)


def basis_with_third(n: Iterable[Any]) -> np.ndarray:
    """Rotation matrix whose third column is the unit vector n: the shortest turn from z to n.

    Next to −z, where no turn is the shortest, a half turn about x and then the shortest from −z.
    """
    x, y, z = n
    if numeric(np.asarray(n)) and float(z) < -1 + 1e-9:
        return basis_with_third((-x, -y, -z)) * np.array([1.0, -1.0, -1.0])
    near = numeric(np.asarray(n)) and float(z) < 0    # there 1 + z has lost digits
    k = (1 - z) / (x * x + y * y) if near else 1 / (1 + z)
    return np.array([[1 - k * x * x, -k * x * y, x], [-k * x * y, 1 - k * y * y, y], [-x, -y, z]])


def _orthonormal(R: np.ndarray) -> np.ndarray:
    """The rotation nearest to R, by R ← R (3 − RᵀR)/2, which squares the error and keeps zeros."""
    for _ in range(3):
        R = R @ (3 * np.eye(3) - R.T @ R) / 2
    return R


def checked_placement(T: object, what: str) -> np.ndarray:
    """T as a read-only 4x4 pose, or an error that says what is wrong with it.

    A rotation written with seven digits or more is made orthonormal.
    """
    A = as_given(T, f"{what}: placement must be a 4x4 pose")
    if A.shape != (4, 4):
        raise ModelError(f"{what}: placement must be a 4x4 pose, not an array of shape {A.shape}")
    if numeric(A):
        if not np.all(np.isfinite(A)):
            raise ModelError(f"{what}: placement holds a number that is not finite")
        R = A[:3, :3]
        off = np.abs(R.T @ R - np.eye(3)).max()
        if off > 1e-6 or np.linalg.det(R) < 0 or not np.array_equal(A[3], [0, 0, 0, 1]):
            raise ModelError(
                f"{what}: placement is no rigid pose (RᵀR differs from 1 by {off:.2g}, "
                f"det R = {np.linalg.det(R):.3g}, last row {A[3]})")
        if off > ROUNDING:
            A = pose(_orthonormal(R), A[:3, 3])
    A = A.copy()
    A.setflags(write=False)
    return A
