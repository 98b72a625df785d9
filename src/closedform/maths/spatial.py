"""Spatial algebra, linear part first: twists V = (v; ω), wrenches F = (f; n), 6x6 operators.

    X_kp = [[Rᵀ, −Rᵀ p̃], [0, Rᵀ]]         motion transform of the pose (R, p) of k in p
    V×   = [[ω̃, ṽ], [0, ω̃]]               `crm`, Garofalo's adj
    V×*  = [[ω̃, 0], [ṽ, ω̃]] = −(V×)ᵀ      `crf`
    F×̄*  = [[0, −f̃], [−f̃, −ñ]]            `icrf`:  F×̄* V = V×* F

Cites: [Garofalo2013, appendix].
"""

from __future__ import annotations

from typing import Any

from closedform.arrays import Array, namespace


def skew(x: Array) -> Array:
    """x̃, (3, 3): x̃ y = x × y."""
    xp = namespace(x)
    return xp.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])


def cross(x: Array, y: Array) -> Array:
    """x × y, (3,)."""
    xp = namespace(x, y)
    return xp.stack([x[1] * y[2] - x[2] * y[1],
                     x[2] * y[0] - x[0] * y[2],
                     x[0] * y[1] - x[1] * y[0]])


def blocks(a: Array, b: Array, c: Array, d: Array) -> Array:
    """[[a, b], [c, d]]."""
    xp = namespace(a, b, c, d)
    return xp.concatenate([xp.concatenate([a, b], axis=1), xp.concatenate([c, d], axis=1)])


def motion_transform(R: Array, p: Array) -> Array:
    """X_kp, (6, 6): takes twists from frame p to frame k, whose pose in p is (R, p)."""
    zero = namespace(R, p).zeros((3, 3))
    return blocks(R.T, -(R.T @ skew(p)), zero, R.T)


def inverse_motion_transform(R: Array, p: Array) -> Array:
    """X_pk = X_kp⁻¹, (6, 6): Garofalo's Ad_{p,k}."""
    zero = namespace(R, p).zeros((3, 3))
    return blocks(R, skew(p) @ R, zero, R)


def crm(V: Array) -> Array:
    """V×, (6, 6)."""
    v, w = skew(V[:3]), skew(V[3:])
    return blocks(w, v, namespace(V).zeros((3, 3)), w)


def crf(V: Array) -> Array:
    """V×*, (6, 6)."""
    return -crm(V).T


def icrf(F: Array) -> Array:
    """F×̄*, (6, 6)."""
    f, n = skew(F[:3]), skew(F[3:])
    return blocks(namespace(F).zeros((3, 3)), -f, -f, -n)


def homogeneous(R: Array, p: Array, xp: Any) -> Array:
    """[[R, p], [0, 1]], (4, 4)."""
    return xp.concatenate([xp.concatenate([R, p[:, None]], axis=1), xp.array([[0, 0, 0, 1]])])
