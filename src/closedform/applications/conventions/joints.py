"""How Pinocchio, MuJoCo and Drake write the numbers of one joint; see `conventions` for robots.

    v' = B(q) v,    a' = B a + Ḃ v,    B orthogonal

Batch axes come first. `PINOCCHIO`, `MUJOCO` and `DRAKE` say how each kind of joint is written
there; a joint without a row has no counterpart.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from closedform.errors import ModelError
from closedform.model.bodies import Body
from closedform.model.groups import quaternions
from closedform.model.joints import (
    Free,
    Gimbal,
    Helical,
    Joint,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
    describe,
)


class Habit(ABC):
    """How another library writes one joint: `nq` numbers there, and the same velocities up to B."""

    nq: int

    @abstractmethod
    def q_to(self, q: np.ndarray) -> np.ndarray:
        """Their coordinates (..., nq) of ours."""

    @abstractmethod
    def q_from(self, q: np.ndarray) -> np.ndarray:
        """Our coordinates of theirs."""

    def B(self, q: np.ndarray, nv: int) -> np.ndarray:
        """(..., nv, nv), orthogonal: v' = B v; q is ours."""
        return np.broadcast_to(np.eye(nv), (*q.shape[:-1], nv, nv))

    def dB_v(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Ḃ v, (..., nv)."""
        return np.zeros(np.broadcast_shapes(q.shape[:-1], v.shape[:-1]) + v.shape[-1:])


@final
@dataclass(frozen=True)
class Same(Habit):
    """As ours."""

    nq: int

    def q_to(self, q: np.ndarray) -> np.ndarray:
        return q

    def q_from(self, q: np.ndarray) -> np.ndarray:
        return q


@final
@dataclass(frozen=True)
class CosSin(Habit):
    """The last coordinate, an angle, as (cos, sin); the way back answers within ±π."""

    nq: int

    def q_to(self, q: np.ndarray) -> np.ndarray:
        return np.concatenate([q[..., :-1], np.cos(q[..., -1:]), np.sin(q[..., -1:])], axis=-1)

    def q_from(self, q: np.ndarray) -> np.ndarray:
        angle = np.arctan2(q[..., -1:], q[..., -2:-1])
        return np.concatenate([q[..., :-2], angle], axis=-1)


@final
@dataclass(frozen=True)
class ScalarFirst(Habit):
    """A quaternion wxyz."""

    nq = 4

    def q_to(self, q: np.ndarray) -> np.ndarray:
        return np.roll(q, 1, axis=-1)

    def q_from(self, q: np.ndarray) -> np.ndarray:
        return np.roll(q, -1, axis=-1)


@final
@dataclass(frozen=True)
class PlanarRates(Habit):
    """A planar joint whose velocities are (ẋ, ẏ, θ̇)."""

    nq = 3

    def q_to(self, q: np.ndarray) -> np.ndarray:
        return q

    def q_from(self, q: np.ndarray) -> np.ndarray:
        return q

    def B(self, q: np.ndarray, nv: int) -> np.ndarray:
        c, s, zero = np.cos(q[..., 2]), np.sin(q[..., 2]), np.zeros(q.shape[:-1])
        rows = [[c, -s, zero], [s, c, zero], [zero, zero, zero + 1]]
        return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)

    def dB_v(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
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

    placement: np.ndarray  # (4, 4), of our free joint
    turn_first: bool
    nq = 7

    def q_to(self, q: np.ndarray) -> np.ndarray:
        R_0, p_0 = self.placement[:3, :3], self.placement[:3, 3]
        p = p_0 + q[..., :3] @ R_0.T
        a = quaternions.product(np.broadcast_to(self._turn(), q[..., 3:].shape), q[..., 3:])
        return self._joined(p, np.roll(a, 1, axis=-1))

    def q_from(self, q: np.ndarray) -> np.ndarray:
        p, a = (q[..., 4:], q[..., :4]) if self.turn_first else (q[..., :3], q[..., 3:])
        R_0, p_0 = self.placement[:3, :3], self.placement[:3, 3]
        back = np.broadcast_to(quaternions.conjugate(self._turn()), a.shape)
        turned = quaternions.product(back, np.roll(a, -1, axis=-1))
        return np.concatenate([(p - p_0) @ R_0, turned], axis=-1)

    def B(self, q: np.ndarray, nv: int) -> np.ndarray:
        R, zero = self._R(q), np.zeros((*q.shape[:-1], 3, 3))
        turn = R if self.turn_first else np.broadcast_to(np.eye(3), R.shape)
        linear_rows = np.concatenate([R, zero], axis=-1)
        turning_rows = np.concatenate([zero, turn], axis=-1)
        order = (turning_rows, linear_rows) if self.turn_first else (linear_rows, turning_rows)
        return np.concatenate(order, axis=-2)

    def dB_v(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """R (ω × v) for the linear part; Ṙ ω = R (ω × ω) = 0."""
        linear = (self._R(q) @ np.cross(v[..., 3:], v[..., :3])[..., None])[..., 0]
        return self._joined(linear, np.zeros_like(linear))

    def _joined(self, linear: np.ndarray, turn: np.ndarray) -> np.ndarray:
        return np.concatenate([turn, linear] if self.turn_first else [linear, turn], axis=-1)

    def _turn(self) -> np.ndarray:
        """The placement's rotation as a quaternion xyzw."""
        from scipy.spatial.transform import Rotation  # slow to import
        return Rotation.from_matrix(self.placement[:3, :3]).as_quat()

    def _R(self, q: np.ndarray) -> np.ndarray:
        """Rotation of the body in the world, (..., 3, 3)."""
        columns = quaternions.rotate(q[..., None, 3:], np.eye(3))  # row i is R e_i
        return self.placement[:3, :3] @ np.swapaxes(columns, -1, -2)


# ---------------------------------------------------------------------- tables
class Row(NamedTuple):
    """A kind of joint in another library: a pattern of its name there, and how it is written.

    `habit` takes the body and whether the other library has a continuous joint; None: not so.
    """

    name: str
    habit: Callable[[Body, bool], Habit | None]


def _same(body: Body, continuous: bool) -> Habit | None:
    return None if continuous else Same(body.joint.moving.nq)


def _across_z(habit: Habit) -> Callable[[Body, bool], Habit | None]:
    """The habit of a joint whose own frame has the body's axes."""
    return lambda body, _: habit if np.array_equal(body.joint.frame, np.eye(4)) else None


def _world_free(turn_first: bool) -> Callable[[Body, bool], Habit | None]:
    return lambda body, _: None if body.parent else WorldFree(body.placement, turn_first)


Table = Mapping[type[Joint], Row]

PINOCCHIO: Table = {
    Revolute: Row(r"R(UB)?[XYZ]|Revolute(Unbounded)?Unaligned",
                  lambda _, continuous: CosSin(2) if continuous else Same(1)),
    Prismatic: Row(r"P[XYZ]|PrismaticUnaligned", _same),
    Helical: Row(r"H[XYZ]|HelicalUnaligned", _same),
    Universal: Row(r"Universal", _same),
    Gimbal: Row(r"SphericalZYX", _same),
    Spherical: Row(r"Spherical", _same),
    Planar: Row(r"Planar", _across_z(CosSin(4))),
    Free: Row(r"FreeFlyer", _same),
}
MUJOCO: Table = {
    Revolute: Row("hinge", _same),
    Prismatic: Row("slide", _same),
    Spherical: Row("ball", lambda *_: ScalarFirst()),
    Free: Row("free", _world_free(turn_first=False)),
}
DRAKE: Table = {
    Revolute: Row("revolute", _same),
    Prismatic: Row("prismatic", _same),
    Helical: Row("screw", _same),
    Universal: Row("universal", _same),
    Planar: Row("planar", _across_z(PlanarRates())),
    Free: Row("quaternion_floating", _world_free(turn_first=True)),
}


def habit_of(body: Body, library: str, table: Table, continuous: bool = False) -> Habit:
    """How the library writes the body's joint, or an error that says that it cannot."""
    row = table.get(type(body.joint.moving))
    habit = row.habit(body, continuous) if row else None
    if habit is None:
        row_of = body.joint.series()
        instead = f"; it is {len(row_of)} joints in a row: {', '.join(map(describe, row_of))}" \
            if len(row_of) > 1 else ""
        raise ModelError(f"the joint {body.joint_name!r} ({describe(body.joint)}) has no "
                         f"counterpart in {library} that this convention knows{instead}")
    return habit
