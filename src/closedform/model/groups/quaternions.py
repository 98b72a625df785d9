"""Unit quaternions xyzw: algebra, exponential and logarithm; batch axes first, generic arrays."""

from __future__ import annotations

from typing import Any

from closedform.arrays import Array, Namespace, cross, namespace
from closedform.model.groups.stumpff import arctangent_ratio, cosine_and_sinc


def product(a: Array, b: Array) -> Array:
    """a ⊗ b."""
    ax, ay, az, aw = (a[..., i] for i in range(4))
    bx, by, bz, bw = (b[..., i] for i in range(4))
    return namespace(a, b).stack([aw * bx + ax * bw + ay * bz - az * by,
                                  aw * by + ay * bw + az * bx - ax * bz,
                                  aw * bz + az * bw + ax * by - ay * bx,
                                  aw * bw - ax * bx - ay * by - az * bz], axis=-1)


def conjugate(a: Array) -> Array:
    return namespace(a).concatenate([-a[..., :3], a[..., 3:]], axis=-1)


def squared_length(a: Array) -> Array:
    """a·a of vectors of any size, (..., 1)."""
    return sum(a[..., i:i + 1] * a[..., i:i + 1] for i in range(a.shape[-1]))


def normalised(a: Array) -> Array:
    """Vectors of any size at length one."""
    return a / namespace(a).sqrt(squared_length(a))


def rotate(a: Array, x: Array) -> Array:
    """R(a) x."""
    t = 2 * cross(a, x)
    return x + a[..., 3:] * t + cross(a, t)


def rotation(q: Array, xp: Namespace) -> Array:
    """Rotation matrix (3, 3) of one quaternion (4,)."""
    x, y, z, w = q[0], q[1], q[2], q[3]
    x2, y2, z2 = 2 * x, 2 * y, 2 * z
    xx, xy, xz, xw = x2 * x, x2 * y, x2 * z, x2 * w
    yy, yz, yw, zz, zw = y2 * y, y2 * z, y2 * w, z2 * z, z2 * w
    return xp.array([[1 - (yy + zz), xy - zw, xz + yw],
                     [xy + zw, 1 - (xx + zz), yz - xw],
                     [xz - yw, yz + xw, 1 - (xx + yy)]])


def from_rotation(R: Array) -> Array:
    """The quaternion with w ≥ 0 of a rotation matrix: the largest column of 4 q qᵀ, at length one.

    The column is chosen by arithmetic with signs, so that recorded scalars can choose too.
    """
    xp = namespace(R)
    r = [[R[..., i, j] for j in range(3)] for i in range(3)]
    xx, yy, zz = (1 + 2 * r[i][i] - (r[0][0] + r[1][1] + r[2][2]) for i in range(3))
    ww = 1 + (r[0][0] + r[1][1] + r[2][2])
    xy, xz, yz = r[0][1] + r[1][0], r[0][2] + r[2][0], r[1][2] + r[2][1]
    xw, yw, zw = r[2][1] - r[1][2], r[0][2] - r[2][0], r[1][0] - r[0][1]
    x, y = [xx, xx, xy, xz, xw], [yy, xy, yy, yz, yw]  # each behind its diagonal entry
    z, w = [zz, xz, yz, zz, zw], [ww, xw, yw, zw, ww]
    _, *column = _larger(_larger(x, y, xp), _larger(z, w, xp), xp)
    return normalised(_step(column[3], xp)[..., None] * xp.stack(column, axis=-1))


def _larger(a: list[Any], b: list[Any], xp: Namespace) -> list[Any]:
    """The list whose first entry is larger."""
    one = (1 + _step(a[0] - b[0], xp)) / 2  # 1 or 0, so that nothing is rounded
    return [one * x + (1 - one) * y for x, y in zip(a, b, strict=True)]


def _step(x: Array, xp: Namespace) -> Array:
    """1 where x ≥ 0, −1 elsewhere."""
    return xp.array(xp.sign(xp.sign(x) + 0.5))


def exp(w: Array) -> Array:
    """The quaternion of the rotation vector w: (½ sinc(½|w|) w, cos ½|w|)."""
    xp = namespace(w)
    cosine, sinc = cosine_and_sinc(squared_length(w) / 4, xp)
    return xp.concatenate([sinc / 2 * w, cosine], axis=-1)


def log(a: Array) -> Array:
    """The rotation vector of a unit quaternion, |w| ≤ π: 2h/sin h = 4 atan(t)/(t (1 + cos h)).

    t = tan h/2 = sin h / (1 + cos h), with h half the angle.
    """
    return log_of_sine(a[..., :3], a[..., 3:])


def log_of_sine(sine: Array, cosine: Array) -> Array:
    """`log` of (n sin h, cos h): 2h n within π, of vectors of any size; h within ±π/2 of 0 or π."""
    xp = namespace(sine, cosine)
    sign = _step(cosine, xp)
    vector, d = sign * sine, 1 + sign * cosine
    return 4 * arctangent_ratio(squared_length(vector) / (d * d), xp) / d * vector


def rates(b: Array, w: Array) -> Array:
    """ḃ = ½ b ⊗ (ω, 0), for the body rate ω."""
    xp = namespace(b, w)
    return product(b, xp.concatenate([w, 0 * w[..., :1]], axis=-1)) / 2


def body_rate(b: Array, db: Array) -> Array:
    """ω = 2 vec(b̄ ⊗ ḃ) / |b|², for any length of b."""
    return 2 * product(conjugate(b), db)[..., :3] / squared_length(b)
