"""The velocity parts of two Coriolis matrices as operators on twists, in few numbers.

In a frame at rest, with a body's inertia Λ and twist V = (u; ω),

    V×* Λ                          the passive C's, Garofalo's (6b): [[a~, B], [C, D]]
    ½ (V×* Λ − Λ V× + (Λ V)×̄*)     the Christoffel symbols': [[0, −p~], [0, tr(G) 1 − G]]

where p is the linear momentum and G = ∫ ẋ xᵀ dm. Like inertias, the operators of the bodies in a
subtree add up to that of the composite body.

Cites: [Garofalo2013, eq. (6b)]; [EcheandiaWensing2021, eqs. (13)-(15)], here in twelve numbers.
"""

from __future__ import annotations

from typing import NamedTuple

from closedform.arrays import Array, Namespace, namespace
from closedform.maths.algorithms.joint_steps import JointStep
from closedform.maths.algorithms.moments import Moments
from closedform.maths.spatial import cross, skew


class BlockOperator(NamedTuple):
    """[[a~, B], [C, D]]: cheaper than `ChristoffelOperator` where composites are plain sums."""

    a: Array   # (3,)
    B: Array   # (3, 3)
    C: Array   # (3, 3)
    D: Array   # (3, 3)

    def __matmul__(self, X: Array) -> Array:
        """O X, (6,)."""
        u, w = X[:3], X[3:]
        return namespace(X).concatenate([cross(self.a, u) + self.B @ w, self.C @ u + self.D @ w])

    def transposed_times(self, X: Array) -> Array:
        """Oᵀ X, (6,)."""
        u, w = X[:3], X[3:]
        return namespace(X).concatenate(
            [self.C.T @ w - cross(self.a, u), self.B.T @ u + self.D.T @ w])

    def plus(self, other: BlockOperator) -> BlockOperator:
        return BlockOperator(
            self.a + other.a, self.B + other.B, self.C + other.C, self.D + other.D)


def passive_operator(body: Moments, V: Array) -> BlockOperator:
    """V×* Λ of one body.

        [[m ω~, −ω~h~], [m u~ + ω~h~, ω~J − u~h~]],   J = tr(Σ) 1 − Σ
    """
    xp = namespace(body.h, V)
    m, h, (xx, xy, yy, xz, yz, zz) = body
    u, w = V[:3], V[3:]
    wh, uh = _skew_product(w, h, xp), _skew_product(u, h, xp)
    J = xp.array([[yy + zz, -xy, -xz], [-xy, xx + zz, -yz], [-xz, -yz, xx + yy]])
    return BlockOperator(m * w, -wh, skew(m * u) + wh, skew(w) @ J - uh)


def _skew_product(a: Array, b: Array, xp: Namespace) -> Array:
    """a~b~ = b aᵀ − (a·b) 1, (3, 3)."""
    xx, yy, zz = a[0] * b[0], a[1] * b[1], a[2] * b[2]
    return xp.array([[-(yy + zz), b[0] * a[1], b[0] * a[2]],
                     [b[1] * a[0], -(xx + zz), b[1] * a[2]],
                     [b[2] * a[0], b[2] * a[1], -(xx + yy)]])


class ChristoffelOperator(NamedTuple):
    """[[0, −p~], [0, tr(G) 1 − G]], by p and G, which are easily seen from another frame."""

    p: Array   # (3,), linear momentum
    G: Array   # (3, 3), ∫ ẋ xᵀ dm

    def __matmul__(self, X: Array) -> Array:
        w = X[3:]
        return namespace(X).concatenate([-cross(self.p, w), _less_than_trace(self.G, w)])

    def transposed_times(self, X: Array) -> Array:
        """Oᵀ X = (0; p × u + (tr(G) 1 − Gᵀ) ω), a pure moment."""
        xp = namespace(X)
        return xp.concatenate(
            [xp.zeros(3), cross(self.p, X[:3]) + _less_than_trace(self.G.T, X[3:])])

    def plus(self, other: ChristoffelOperator) -> ChristoffelOperator:
        return ChristoffelOperator(self.p + other.p, self.G + other.G)

    def in_blocks(self) -> BlockOperator:
        """The same operator by its blocks."""
        xp, G = namespace(self.p, self.G), self.G
        D = xp.array([[G[1, 1] + G[2, 2], -G[0, 1], -G[0, 2]],
                      [-G[1, 0], G[0, 0] + G[2, 2], -G[1, 2]],
                      [-G[2, 0], -G[2, 1], G[0, 0] + G[1, 1]]])
        return BlockOperator(xp.zeros(3), -skew(self.p), xp.zeros((3, 3)), D)

    def in_parent(self, step: JointStep) -> ChristoffelOperator:
        """About the origin of the parent: p ← R p, G ← R G Rᵀ + (R p) dᵀ, d the segment's place."""
        p = step.up(self.p)
        return ChristoffelOperator(p, step.up_matrix(self.G) + p[:, None] * step.p)


def christoffel_operator(body: Moments, V: Array) -> ChristoffelOperator:
    """p = m u + ω × h and G = ω~ Σ + u hᵀ of one body."""
    m, h, (xx, xy, yy, xz, yz, zz) = body
    u, w = V[:3], V[3:]
    Sigma = namespace(body.h, V).array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return ChristoffelOperator(m * u + cross(w, h), skew(w) @ Sigma + u[:, None] * h)


def _less_than_trace(G: Array, w: Array) -> Array:
    """(tr(G) 1 − G) ω."""
    return namespace(G, w).stack([
        (G[1, 1] + G[2, 2]) * w[0] - G[0, 1] * w[1] - G[0, 2] * w[2],
        (G[0, 0] + G[2, 2]) * w[1] - G[1, 0] * w[0] - G[1, 2] * w[2],
        (G[0, 0] + G[1, 1]) * w[2] - G[2, 0] * w[0] - G[2, 1] * w[1]])
