"""The free joint: any motion of the body."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from closedform.arrays import Array, Namespace, cross, namespace
from closedform.model.groups import quaternions
from closedform.model.groups.matrices import (
    left_jacobian_so3,
    left_jacobian_so3_inverse,
    right_jacobian_so3_inverse,
)
from closedform.model.joints.joint import Joint
from closedform.model.joints.spherical import turn_from


@final
@dataclass(frozen=True)
class Free(Joint):
    """Any motion: q = (x, y, z, qx, qy, qz, qw), v the body twist, linear part first."""

    nq = 7
    nv = 6
    lengths = (0, 1, 2)
    unit = slice(3, 7)
    is_vector = False
    twists = (0, 1, 2, 3, 4, 5)
    urdf = "floating"
    convention = ("Free joint: q = (x, y, z, qx, qy, qz, qw), a unit quaternion; v is the body's "
                  "twist in its own frame.")

    @cached_property
    def S(self) -> Array:
        return np.eye(6)

    def pose(self, q: Array, xp: Namespace) -> tuple[Array, Array]:
        return quaternions.rotation(q[3:], xp), q[:3]

    def neutral(self) -> np.ndarray:
        return np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])

    def integrate(self, q: Array, dv: Array) -> Array:
        p = (left_jacobian_so3(dv[..., 3:]) @ dv[..., :3, None])[..., 0]
        turned = quaternions.product(q[..., 3:], quaternions.exp(dv[..., 3:]))
        return namespace(q, dv).concatenate([q[..., :3] + quaternions.rotate(q[..., 3:], p),
                                             quaternions.normalised(turned)], axis=-1)

    def difference(self, q0: Array, q1: Array) -> Array:
        back = quaternions.conjugate(q0[..., 3:])
        p = quaternions.rotate(back, q1[..., :3] - q0[..., :3])
        w = quaternions.log(quaternions.product(back, q1[..., 3:]))
        v = (left_jacobian_so3_inverse(w) @ p[..., None])[..., 0]
        return namespace(q0, q1).concatenate([v, w], axis=-1)

    def rates(self, q: Array, v: Array, xp: Namespace) -> Array:
        return xp.concatenate([quaternions.rotate(q[..., 3:], v[..., :3]),
                               quaternions.rates(q[..., 3:], v[..., 3:])], axis=-1)

    def velocities(self, q: Array, dq: Array, xp: Namespace) -> Array:
        """R(b)ᵀ ṗ with R(b) = (b ⊗ · ⊗ b̄)/|b|², and ω."""
        b, dp = q[..., 3:], xp.concatenate([dq[..., :3], 0 * dq[..., :1]], axis=-1)
        turned = quaternions.product(quaternions.product(quaternions.conjugate(b), dp), b)
        return xp.concatenate([turned[..., :3] / quaternions.squared_length(b),
                               quaternions.body_rate(b, dq[..., 3:])], axis=-1)

    def stretch(self, q: Array, xp: Namespace) -> Array:
        """The way and the rotation vector from rest, (p − p₀; w)."""
        rest = self.spring_reference
        way = q[:3] if rest is None else q[:3] - np.array(rest)[:3]
        return xp.concatenate([way, turn_from(rest, q[3:])])

    def pull(self, q: Array, f: Array, xp: Namespace) -> Array:
        """Rᵀ of the force; the moment as it is, see `Spherical.stretch`."""
        return xp.concatenate([quaternions.rotation(q[3:], xp).T @ f[:3], f[3:]])

    def spring_slope(self, q: Array, xp: Namespace) -> Array:
        """[[Rᵀ K R, f̃], [0, k J_r⁻¹(w)]], f the force of the spring in the body."""
        k, x = self.per_coordinate("stiffness", 6, 0.0), self.stretch(q, xp)
        R, f = quaternions.rotation(q[3:], xp), self.pull(q, k * x, xp)[:3]
        ways = [R.T @ (k[:3, None] * R) if np.any(k[:3] != k[0]) else k[0] * xp.eye(3),
                xp.stack([cross(f, e) for e in xp.eye(3)], axis=1)]
        turns = [xp.zeros((3, 3)), k[3] * right_jacobian_so3_inverse(x[3:])]
        return xp.concatenate([xp.concatenate(row, axis=1) for row in (ways, turns)])
