"""How Pinocchio, MuJoCo and Drake write the numbers of one joint; see `conventions` for robots.

    v' = B(q) v,    a' = B a + Ḃ v,    B orthogonal

Batch axes come first.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import final

import numpy as np

from closedform.arrays import Array
from closedform.model import groups


class Habit(ABC):
    """How another library writes one joint: `nq` numbers there, and the same velocities up to B."""

    nq: int

    @abstractmethod
    def q_to(self, q: Array) -> Array:
        """Their coordinates (..., nq) of ours."""

    @abstractmethod
    def q_from(self, q: Array) -> Array:
        """Our coordinates of theirs."""

    def B(self, q: Array, nv: int) -> Array:
        """(..., nv, nv), orthogonal: v' = B v; q is ours."""
        return np.broadcast_to(np.eye(nv), (*q.shape[:-1], nv, nv))

    def dB_v(self, q: Array, v: Array) -> Array:
        """Ḃ v, (..., nv)."""
        return np.zeros(np.broadcast_shapes(q.shape[:-1], v.shape[:-1]) + v.shape[-1:])


@final
@dataclass(frozen=True)
class Same(Habit):
    """As ours."""

    nq: int

    def q_to(self, q: Array) -> Array:
        return q

    def q_from(self, q: Array) -> Array:
        return q


@final
@dataclass(frozen=True)
class CosSin(Habit):
    """The last coordinate, an angle, as (cos, sin); the way back answers within ±π."""

    nq: int

    def q_to(self, q: Array) -> Array:
        return np.concatenate([q[..., :-1], np.cos(q[..., -1:]), np.sin(q[..., -1:])], axis=-1)

    def q_from(self, q: Array) -> Array:
        angle = np.arctan2(q[..., -1:], q[..., -2:-1])
        return np.concatenate([q[..., :-2], angle], axis=-1)


@final
@dataclass(frozen=True)
class ScalarFirst(Habit):
    """A quaternion wxyz."""

    nq = 4

    def q_to(self, q: Array) -> Array:
        return np.roll(q, 1, axis=-1)

    def q_from(self, q: Array) -> Array:
        return np.roll(q, -1, axis=-1)


@final
@dataclass(frozen=True)
class PlanarRates(Habit):
    """A planar joint whose velocities are (ẋ, ẏ, θ̇)."""

    nq = 3

    def q_to(self, q: Array) -> Array:
        return q

    def q_from(self, q: Array) -> Array:
        return q

    def B(self, q: Array, nv: int) -> Array:
        c, s, zero = np.cos(q[..., 2]), np.sin(q[..., 2]), np.zeros(q.shape[:-1])
        rows = [[c, -s, zero], [s, c, zero], [zero, zero, zero + 1]]
        return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)

    def dB_v(self, q: Array, v: Array) -> Array:
        vx, vy, w = v[..., 0], v[..., 1], v[..., 2]
        turned = np.stack([-w * vy, w * vx, 0 * w], axis=-1)
        return (self.B(q, 3) @ turned[..., None])[..., 0]


@final
@dataclass(frozen=True, eq=False)
class WorldFree(Habit):
    """A free joint by its body's pose in the world, ṗ in the world's axes, the quaternion wxyz.

    MuJoCo: q = (p, quaternion), v = (ṗ, ω in the body); Drake (`turn_first`): q = (quaternion, p),
    v = (ω in the world, ṗ).
    """

    placement: Array  # (4, 4), of our free joint
    turn_first: bool
    nq = 7

    def q_to(self, q: Array) -> Array:
        R_0, p_0 = self.placement[:3, :3], self.placement[:3, 3]
        p = p_0 + q[..., :3] @ R_0.T
        a = groups.quaternion_product(np.broadcast_to(self._turn(), q[..., 3:].shape), q[..., 3:])
        return self._joined(p, np.roll(a, 1, axis=-1))

    def q_from(self, q: Array) -> Array:
        p, a = (q[..., 4:], q[..., :4]) if self.turn_first else (q[..., :3], q[..., 3:])
        R_0, p_0 = self.placement[:3, :3], self.placement[:3, 3]
        back = np.broadcast_to(groups.quaternion_conjugate(self._turn()), a.shape)
        turned = groups.quaternion_product(back, np.roll(a, -1, axis=-1))
        return np.concatenate([(p - p_0) @ R_0, turned], axis=-1)

    def B(self, q: Array, nv: int) -> Array:
        R, zero = self._R(q), np.zeros((*q.shape[:-1], 3, 3))
        turn = R if self.turn_first else np.broadcast_to(np.eye(3), R.shape)
        linear_rows = np.concatenate([R, zero], axis=-1)
        turning_rows = np.concatenate([zero, turn], axis=-1)
        order = (turning_rows, linear_rows) if self.turn_first else (linear_rows, turning_rows)
        return np.concatenate(order, axis=-2)

    def dB_v(self, q: Array, v: Array) -> Array:
        """R (ω × v) for the linear part; Ṙ ω = R (ω × ω) = 0."""
        linear = (self._R(q) @ np.cross(v[..., 3:], v[..., :3])[..., None])[..., 0]
        return self._joined(linear, np.zeros_like(linear))

    def _joined(self, linear: Array, turn: Array) -> Array:
        return np.concatenate([turn, linear] if self.turn_first else [linear, turn], axis=-1)

    def _turn(self) -> Array:
        """The placement's rotation as a quaternion xyzw."""
        from scipy.spatial.transform import Rotation  # slow to import
        return Rotation.from_matrix(self.placement[:3, :3]).as_quat()

    def _R(self, q: Array) -> Array:
        """Rotation of the body in the world, (..., 3, 3)."""
        columns = groups.rotate(q[..., None, 3:], np.eye(3))  # row i is R e_i
        return self.placement[:3, :3] @ np.swapaxes(columns, -1, -2)
