"""Exponential and logarithm of the joints' groups: SO(3) and SE(3) with quaternions xyzw, SE(2).

Batch axes first; small angles by series, so that every function is smooth at the identity.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]


def _over(f_num: Numbers, x: Numbers, series: Numbers) -> Numbers:
    """f_num / x where x is not small, the series elsewhere."""
    small = np.abs(x) < 1e-4
    return np.where(small, series, f_num / np.where(small, 1.0, x))


def quaternion_product(a: Numbers, b: Numbers) -> Numbers:
    """a ⊗ b, both xyzw."""
    av, aw, bv, bw = a[..., :3], a[..., 3:], b[..., :3], b[..., 3:]
    vector = aw * bv + bw * av + np.cross(av, bv)
    return np.concatenate([vector, aw * bw - np.sum(av * bv, axis=-1, keepdims=True)], axis=-1)


def quaternion_conjugate(a: Numbers) -> Numbers:
    return np.concatenate([-a[..., :3], a[..., 3:]], axis=-1)


def normalised(a: Numbers) -> Numbers:
    return a / np.linalg.norm(a, axis=-1, keepdims=True)


def rotate(a: Numbers, x: Numbers) -> Numbers:
    """R(a) x."""
    t = 2.0 * np.cross(a[..., :3], x)
    return x + a[..., 3:] * t + np.cross(a[..., :3], t)


def so3_exp(w: Numbers) -> Numbers:
    """Quaternion of the rotation vector w: (½ sinc(½|w|) w, cos ½|w|)."""
    h = 0.5 * np.linalg.norm(w, axis=-1, keepdims=True)
    sinc = _over(np.sin(h), h, 1 - h**2 / 6)
    return np.concatenate([0.5 * sinc * w, np.cos(h)], axis=-1)


def so3_log(a: Numbers) -> Numbers:
    """Rotation vector of a unit quaternion, |w| ≤ π."""
    a = a * np.where(a[..., 3:] < 0, -1.0, 1.0)
    s = np.linalg.norm(a[..., :3], axis=-1, keepdims=True)
    return 2.0 * _over(np.arctan2(s, a[..., 3:]), s, 1 + s**2 / 6) * a[..., :3]


def _translation_coefficients(w: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """(1 − cos θ)/θ², (θ − sin θ)/θ³ and (1 − θ/2 cot(θ/2))/θ² with θ = |w|."""
    t = np.linalg.norm(w, axis=-1, keepdims=True)
    t2 = t**2
    small = t < 1e-2
    s = np.where(small, 1.0, t)
    b = np.where(small, 0.5 - t2 / 24 + t2**2 / 720, 2 * np.sin(s / 2) ** 2 / s**2)
    c = np.where(small, 1 / 6 - t2 / 120 + t2**2 / 5040, (s - np.sin(s)) / s**3)
    d = np.where(small, 1 / 12 + t2 / 720 + t2**2 / 30240, (1 - s / 2 / np.tan(s / 2)) / s**2)
    return b, c, d


def se3_exp(u: Numbers) -> tuple[Numbers, Numbers]:
    """Translation and quaternion of exp of the twist u = (v; w): p = (1 + b w̃ + c w̃²) v."""
    v, w = u[..., :3], u[..., 3:]
    b, c, _ = _translation_coefficients(w)
    wv = np.cross(w, v)
    return v + b * wv + c * np.cross(w, wv), so3_exp(w)


def se3_log(p: Numbers, a: Numbers) -> Numbers:
    """Twist (v; w) with se3_exp(v; w) = (p, a): v = (1 − ½ w̃ + d w̃²) p."""
    w = so3_log(a)
    _, _, d = _translation_coefficients(w)
    wp = np.cross(w, p)
    return np.concatenate([p - 0.5 * wp + d * np.cross(w, wp), w], axis=-1)


def se2_exp(u: Numbers) -> Numbers:
    """(x, y, θ) of exp of the plane twist u = (vx, vy, ω)."""
    vx, vy, w = u[..., 0], u[..., 1], u[..., 2]
    s = _over(np.sin(w), w, 1 - w**2 / 6)
    c = _over(2 * np.sin(w / 2) ** 2, w, w / 2 - w**3 / 24)
    return np.stack([s * vx - c * vy, c * vx + s * vy, w], axis=-1)


def se2_log(x: Numbers) -> Numbers:
    """Plane twist of (x, y, θ), the angle taken within ±π."""
    w = np.arctan2(np.sin(x[..., 2]), np.cos(x[..., 2]))
    half = w / 2
    cot = _over(half, np.tan(half), 1 - half**2 / 3)  # (w/2) cot(w/2)
    px, py = x[..., 0], x[..., 1]
    return np.stack([cot * px + half * py, -half * px + cot * py, w], axis=-1)
