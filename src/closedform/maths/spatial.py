"""Spatial algebra, linear part first: twists V = (v; ω), wrenches F = (f; n), 6x6 operators.

    X_kp = [[Rᵀ, −Rᵀ p̃], [0, Rᵀ]]         motion transform of the pose (R, p) of k in p
    V×   = [[ω̃, ṽ], [0, ω̃]]               `crm`, Garofalo's adj
    V×*  = [[ω̃, 0], [ṽ, ω̃]] = −(V×)ᵀ      `crf`
    F×̄*  = [[0, −f̃], [−f̃, −ñ]]            `icrf`:  F×̄* V = V×* F

and with a body's inertia Λ the velocity parts of two Coriolis matrices, linear in the body's V:

    Ψ = Λ V× − (V×)ᵀ Λ          B = ½ (Ψ + (Λ V)×̄*)

Cites: [Garofalo2013, appendix and eq. (6b)] for Ψ; [EcheandiaWensing2021, eqs. (13)-(15)] for B.
"""

from __future__ import annotations

from collections.abc import Callable

from closedform.arrays import Array, Namespace, namespace
from closedform.arrays import cross as cross


def skew(x: Array) -> Array:
    """x̃, (3, 3): x̃ y = x × y."""
    xp = namespace(x)
    return xp.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])


def block_matrix(a: Array, b: Array, c: Array, d: Array) -> Array:
    """[[a, b], [c, d]]."""
    xp = namespace(a, b, c, d)
    return xp.concatenate([xp.concatenate([a, b], axis=1), xp.concatenate([c, d], axis=1)])


def motion_transform(R: Array, p: Array) -> Array:
    """X_kp, (6, 6): takes twists from frame p to frame k, whose pose in p is (R, p)."""
    zero = namespace(R, p).zeros((3, 3))
    return block_matrix(R.T, -(R.T @ skew(p)), zero, R.T)


def inverse_motion_transform(R: Array, p: Array) -> Array:
    """X_pk = X_kp⁻¹, (6, 6): Garofalo's Ad_{p,k}."""
    zero = namespace(R, p).zeros((3, 3))
    return block_matrix(R, skew(p) @ R, zero, R)


def crm(V: Array) -> Array:
    """V×, (6, 6)."""
    v, w = skew(V[:3]), skew(V[3:])
    return block_matrix(w, v, namespace(V).zeros((3, 3)), w)


def crf(V: Array) -> Array:
    """V×*, (6, 6)."""
    return -crm(V).T


def icrf(F: Array) -> Array:
    """F×̄*, (6, 6)."""
    f, n = skew(F[:3]), skew(F[3:])
    return block_matrix(namespace(F).zeros((3, 3)), -f, -f, -n)


def motion_cross(V: Array, S: Array) -> Array:
    """V × S, (6,), without the matrix."""
    return namespace(V, S).concatenate(
        [cross(V[3:], S[:3]) + cross(V[:3], S[3:]), cross(V[3:], S[3:])])


def force_cross(V: Array, F: Array) -> Array:
    """V ×* F, (6,), without the matrix."""
    return namespace(V, F).concatenate(
        [cross(V[3:], F[:3]), cross(V[:3], F[:3]) + cross(V[3:], F[3:])])


def power(S: Array, F: Array) -> Array:
    """S · F; the halves apart, because entries of one matrix share them."""
    return S[:3] @ F[:3] + S[3:] @ F[3:]


VelocityPart = Callable[[Array, Array], Array]
"""Of an inertia and a twist, (6, 6): what a Coriolis matrix is made of beside the rates of J."""


def passive_part(Lambda: Array, V: Array) -> Array:
    """Ψ, (6, 6), skew."""
    ad = crm(V)
    return Lambda @ ad - ad.T @ Lambda


def christoffel_part(Lambda: Array, V: Array) -> Array:
    """B, (6, 6)."""
    return (passive_part(Lambda, V) + icrf(Lambda @ V)) / 2


def homogeneous(R: Array, p: Array, xp: Namespace) -> Array:
    """[[R, p], [0, 1]], (4, 4)."""
    return xp.concatenate([xp.concatenate([R, p[:, None]], axis=1), xp.array([[0, 0, 0, 1]])])
