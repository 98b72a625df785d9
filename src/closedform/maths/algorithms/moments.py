"""Mass, first and second moments of bodies: their sums, in other frames, in motion.

    m      h = ∫ x dm      Σ = ∫ x xᵀ dm

about a frame's origin. As an operator on twists, moments are the inertia

    Λ = [[m 1, −h~], [h~, tr(Σ) 1 − Σ]]

and every zero among the ten numbers saves operations when this is recorded.

Cites: [Featherstone2008, chapter 2] for Λ in another frame and its rate.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from closedform.arrays import Array, Number, namespace
from closedform.maths.algorithms.joint_steps import JointStep, Symmetric
from closedform.maths.spatial import cross
from closedform.model.inertia import Inertia


class Moments(NamedTuple):
    """Mass, first and second moments about a frame's origin."""

    m: Number
    h: Array          # (3,)
    Sigma: Symmetric  # xx, xy, yy, xz, yz, zz

    def __matmul__(self, V: Array) -> Array:
        """Λ V, (6,), of V = (u; ω): (m u + ω × h; h × u + (tr Σ 1 − Σ) ω)."""
        m, h, (xx, xy, yy, xz, yz, zz) = self
        u, w = V[:3], V[3:]
        xp = namespace(V, h)
        turning = xp.stack([(yy + zz) * w[0] - xy * w[1] - xz * w[2],
                            (xx + zz) * w[1] - xy * w[0] - yz * w[2],
                            (xx + yy) * w[2] - xz * w[0] - yz * w[1]])
        return xp.concatenate([m * u + cross(w, h), cross(h, u) + turning])

    def plus(self, other: Moments) -> Moments:
        """Of two bodies together."""
        x, y = self.Sigma, other.Sigma
        return Moments(self.m + other.m, self.h + other.h, (
            x[0] + y[0], x[1] + y[1], x[2] + y[2], x[3] + y[3], x[4] + y[4], x[5] + y[5]))

    def in_parent(self, step: JointStep) -> Moments:
        """About the origin of the frame to which a step (R, p) leads.

            h ← R h + m p,   Σ ← R Σ Rᵀ + p tᵀ + t pᵀ,   t = R h + ½ m p
        """
        p, mp, h = step.p, self.m * step.p, step.up(self.h)
        t, (xx, xy, yy, xz, yz, zz) = h + mp / 2, step.up_symmetric(self.Sigma)
        return Moments(self.m, h + mp, (
            xx + 2 * p[0] * t[0], xy + (p[0] * t[1] + t[0] * p[1]), yy + 2 * p[1] * t[1],
            xz + (p[0] * t[2] + t[0] * p[2]), yz + (p[1] * t[2] + t[1] * p[2]),
            zz + 2 * p[2] * t[2]))

    def rate(self, V: Array) -> Moments:
        """V×* Λ − Λ V×, the rate of what moves with the twist V = (u; ω), as moments.

            ṁ = 0,   ḣ = ω × h + m u,   Σ̇ = G + Gᵀ,   G = ω~ Σ + u hᵀ
        """
        m, h, (xx, xy, yy, xz, yz, zz) = self
        u, (x, y, z) = V[:3], V[3:]
        return Moments(0, cross(V[3:], h) + m * u, (
            2 * (y * xz - z * xy + u[0] * h[0]),
            y * yz - z * yy + z * xx - x * xz + u[0] * h[1] + u[1] * h[0],
            2 * (z * xy - x * yz + u[1] * h[1]),
            y * zz - z * yz + x * xy - y * xx + u[0] * h[2] + u[2] * h[0],
            z * xz - x * zz + x * yy - y * xy + u[1] * h[2] + u[2] * h[1],
            2 * (x * yz - y * xz + u[2] * h[2])))


NOTHING = Moments(0, np.zeros(3, dtype=int), (0, 0, 0, 0, 0, 0))
"""The moments of a segment without a body; whole zeros, which leave exact scalars exact."""


def moments(inertia: Inertia | None) -> Moments:
    """m, h and Σ = ½ tr(I) 1 − I of an inertia."""
    if inertia is None:
        return NOTHING
    xx, xy, yy, xz, yz, zz = inertia.array[4:]
    return Moments(inertia.mass, inertia.first_moment,
                   ((yy + zz - xx) / 2, -xy, (xx + zz - yy) / 2, -xz, -yz, (xx + yy - zz) / 2))
