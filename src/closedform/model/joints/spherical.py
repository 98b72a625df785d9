"""The spherical joint: rotations by quaternions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from closedform.arrays import Array, Namespace
from closedform.model.groups import quaternions
from closedform.model.groups.matrices import right_jacobian_so3_inverse
from closedform.model.joints.joint import Joint, PerCoordinate


@final
@dataclass(frozen=True)
class Spherical(Joint):
    """Any rotation: q a unit quaternion xyzw, v the angular velocity in the body frame."""

    nq = 4
    nv = 3
    unit = slice(0, 4)
    is_vector = False
    twists = (3, 4, 5)
    convention = "Spherical joint: q = (qx, qy, qz, qw), v the body's angular velocity."

    @cached_property
    def S(self) -> Array:
        return np.concatenate([np.zeros((3, 3)), np.eye(3)])

    def pose(self, q: Array, xp: Namespace) -> tuple[Array, Array]:
        return quaternions.rotation(q, xp), np.zeros(3)

    def neutral(self) -> np.ndarray:
        return np.array([0.0, 0.0, 0.0, 1.0])

    def integrate(self, q: Array, dv: Array) -> Array:
        return quaternions.normalised(quaternions.product(q, quaternions.exp(dv)))

    def difference(self, q0: Array, q1: Array) -> Array:
        return quaternions.log(quaternions.product(quaternions.conjugate(q0), q1))

    def rates(self, q: Array, v: Array, xp: Namespace) -> Array:
        return quaternions.rates(q, v)

    def velocities(self, q: Array, dq: Array, xp: Namespace) -> Array:
        return quaternions.body_rate(q, dq)

    def stretch(self, q: Array, xp: Namespace) -> Array:
        """w, the rotation vector from rest. Its gradient is w itself: J_r⁻ᵀ(w) w = w."""
        return turn_from(self.spring_reference, q)

    def spring_slope(self, q: Array, xp: Namespace) -> Array:
        """k J_r⁻¹(w)."""
        k = self.per_coordinate("stiffness", 3, 0.0)[0]
        return k * right_jacobian_so3_inverse(self.stretch(q, xp))


def turn_from(rest: PerCoordinate, b: Array) -> Array:
    """The rotation vector, (3,), that takes the quaternion in the end of `rest` to b."""
    if rest is None:
        return quaternions.log(b)
    return quaternions.log(quaternions.product(quaternions.conjugate(np.array(rest)[-4:]), b))
