"""The spherical joint: rotations by quaternions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from closedform.arrays import Array, Namespace
from closedform.model.groups import quaternions
from closedform.model.joints.joint import Joint


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
