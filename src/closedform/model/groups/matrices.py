"""Rotations SO(3) and rigid motions SE(3): exponential, logarithm and their Jacobians.

    exp(w + δ) = exp(J_l δ) exp(w) = exp(w) exp(J_r δ)    to first order in δ

Rotations are 3x3 matrices, motions 4x4 poses; tangent vectors are rotation vectors w (3,) and
twists (v; w) (6,), **linear part first**. Batch axes come first. Every function takes numbers,
complex numbers (for complex steps), recorded scalars and symbols, and is smooth at the identity;
logarithms answer with an angle of at most π.

Cites: [Barfoot2017, section 7.1.5].
"""

from __future__ import annotations

from typing import Any

import numpy as np

from closedform.arrays import Array, ArrayLike, Namespace, Number, exact_or_float, namespace
from closedform.errors import ArgumentError
from closedform.model.groups.quaternions import from_rotation, log, squared_length
from closedform.model.groups.stumpff import Six, inverse_coefficient, stumpff


# ---------------------------------------------------------------------- SO(3)
def exp_so3(w: ArrayLike) -> Array:
    """R = 1 + sin θ/θ w̃ + (1 − cos θ)/θ² w̃², (3, 3), with θ = |w|."""
    w = _given(w, (3,), "exp_so3: w")
    c, W, xp = _of_angle(w)
    return _combined(xp, c[1], W, c[2], W @ W)


def log_so3(R: ArrayLike) -> Array:
    """The rotation vector w with exp_so3(w) = R, (3,), |w| ≤ π."""
    return log(from_rotation(_given(R, (3, 3), "log_so3: R")))


def left_jacobian_so3(w: ArrayLike) -> Array:
    """J_l = 1 + (1 − cos θ)/θ² w̃ + (θ − sin θ)/θ³ w̃², (3, 3)."""
    w = _given(w, (3,), "left_jacobian_so3: w")
    c, W, xp = _of_angle(w)
    return _combined(xp, c[2], W, c[3], W @ W)


def right_jacobian_so3(w: ArrayLike) -> Array:
    """J_r(w) = J_l(−w), (3, 3)."""
    return left_jacobian_so3(-_given(w, (3,), "right_jacobian_so3: w"))


def left_jacobian_so3_inverse(w: ArrayLike) -> Array:
    """J_l⁻¹ = 1 − ½ w̃ + (1 − θ/2 cot θ/2)/θ² w̃², (3, 3); singular at θ = 2π."""
    w = _given(w, (3,), "left_jacobian_so3_inverse: w")
    c, W, xp = _of_angle(w)
    return _combined(xp, -0.5, W, inverse_coefficient(c), W @ W)


def right_jacobian_so3_inverse(w: ArrayLike) -> Array:
    """J_r⁻¹(w) = J_l⁻¹(−w), (3, 3)."""
    return left_jacobian_so3_inverse(-_given(w, (3,), "right_jacobian_so3_inverse: w"))


# ---------------------------------------------------------------------- SE(3)
def exp_se3(u: ArrayLike) -> Array:
    """T = [[exp w, J_l(w) v], [0, 1]], (4, 4), of the twist u = (v; w)."""
    u = _given(u, (6,), "exp_se3: u")
    xp, v, w = namespace(u), u[..., :3], u[..., 3:]
    p = left_jacobian_so3(w) @ v[..., None]
    last = xp.concatenate([0 * v, 1 + 0 * v[..., :1]], axis=-1)[..., None, :]
    return xp.concatenate([xp.concatenate([exp_so3(w), p], axis=-1), last], axis=-2)


def log_se3(T: ArrayLike) -> Array:
    """The twist u with exp_se3(u) = T, (6,): w = log R, v = J_l⁻¹(w) p."""
    T = _given(T, (4, 4), "log_se3: T")
    w = log_so3(T[..., :3, :3])
    v = left_jacobian_so3_inverse(w) @ T[..., :3, 3:]
    return namespace(T).concatenate([v[..., 0], w], axis=-1)


def left_jacobian_se3(u: ArrayLike) -> Array:
    """[[J_l(w), Q], [0, J_l(w)]], (6, 6)."""
    u = _given(u, (6,), "left_jacobian_se3: u")
    J = left_jacobian_so3(u[..., 3:])
    return _upper(J, _coupling(u))


def right_jacobian_se3(u: ArrayLike) -> Array:
    """J_r(u) = J_l(−u), (6, 6)."""
    return left_jacobian_se3(-_given(u, (6,), "right_jacobian_se3: u"))


def left_jacobian_se3_inverse(u: ArrayLike) -> Array:
    """[[J_l⁻¹, −J_l⁻¹ Q J_l⁻¹], [0, J_l⁻¹]], (6, 6)."""
    u = _given(u, (6,), "left_jacobian_se3_inverse: u")
    K = left_jacobian_so3_inverse(u[..., 3:])
    return _upper(K, -(K @ _coupling(u) @ K))


def right_jacobian_se3_inverse(u: ArrayLike) -> Array:
    """J_r⁻¹(u) = J_l⁻¹(−u), (6, 6)."""
    return left_jacobian_se3_inverse(-_given(u, (6,), "right_jacobian_se3_inverse: u"))


def ad_se3(u: Array) -> Array:
    """[u, ·] of twists: [[w̃, ṽ], [0, w̃]], (6, 6)."""
    return _upper(_skew(u[..., 3:]), _skew(u[..., :3]))


def _coupling(u: Array) -> Array:
    """Q of the left Jacobian, (..., 3, 3).

        Q = ½ ṽ + c_3 (w̃ṽ + ṽw̃ + w̃ṽw̃) + c_4 (w̃²ṽ + ṽw̃² − 3 w̃ṽw̃) + ½ (c_4 − 3 c_5)(w̃ṽw̃² + w̃²ṽw̃)
    """
    c, W, xp = _of_angle(u[..., 3:])
    V = _skew(u[..., :3])
    WV, VW = W @ V, V @ W
    WVW = WV @ W
    return (V / 2 + _matrix(xp, c[3]) * (WV + VW + WVW)
            + _matrix(xp, c[4]) * (W @ WV + VW @ W - 3 * WVW)
            + _matrix(xp, (c[4] - 3 * c[5]) / 2) * (WVW @ W + W @ WVW))


# ---------------------------------------------------------------------- parts
def _given(x: Any, shape: tuple[int, ...], what: str) -> Array:
    """An array whose last axes have this shape; plain numbers as floats."""
    a = x if hasattr(x, "__array_namespace__") and not isinstance(x, np.ndarray) \
        else exact_or_float(x)
    if tuple(a.shape[-len(shape):]) != shape:
        size = ", ".join(map(str, shape))
        raise ArgumentError(f"{what} must have the shape (..., {size}), not {tuple(a.shape)}")
    return a


def _of_angle(w: Array) -> tuple[Six, Array, Namespace]:
    """Stumpff's functions of |w|², the matrix w̃, and the array functions of w."""
    xp = namespace(w)
    return stumpff(squared_length(w)[..., 0], xp), _skew(w), xp


def _skew(w: Array) -> Array:
    """w̃ with w̃ x = w × x, (..., 3, 3)."""
    xp, (x, y, z) = namespace(w), (w[..., i] for i in range(3))
    rows = ([0 * x, -z, y], [z, 0 * x, -x], [-y, x, 0 * x])
    return xp.stack([xp.stack(row, axis=-1) for row in rows], axis=-2)


def _combined(xp: Namespace, a: Number, A: Array, b: Number, B: Array) -> Array:
    """1 + a A + b B."""
    return xp.eye(3) + _matrix(xp, a) * A + _matrix(xp, b) * B


def _matrix(xp: Namespace, c: Number) -> Array:
    """Scalars (...) as (..., 1, 1), to stand before matrices."""
    return xp.array(c)[..., None, None]


def _upper(A: Array, B: Array) -> Array:
    """[[A, B], [0, A]]."""
    xp = namespace(A, B)
    return xp.concatenate([xp.concatenate([A, B], axis=-1),
                           xp.concatenate([0 * A, A], axis=-1)], axis=-2)
