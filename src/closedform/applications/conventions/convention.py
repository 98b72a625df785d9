"""A robot's numbers in another library's habits, joint by joint: what is where, and who follows.

    q' = G q + q_0,    v' = B(q) v,    a' = B a + Ḃ v,    τ = Bᵀ τ'

A joint that follows another here may be a joint of its own there: it has rows in B and none of its
own in v. Without followers B is orthogonal, and τ' = B τ; with them τ' is the one that is zero at
followers, and the way back from q' and v' reads the joints that they follow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from closedform.applications.conventions.joints import Habit
from closedform.arrays import ArrayLike, real_array
from closedform.model.joints.polynomial import slope, value
from closedform.model.robot import Robot


@dataclass(frozen=True)
class Place:
    """A joint's habit and where its numbers stand: in our q and v, and in theirs."""

    habit: Habit
    q: slice
    v: slice
    their_q: slice
    their_v: slice


@dataclass(frozen=True)
class Follower:
    """A joint of theirs at ratio · q[index] + offset, v' = ratio · v[index]; held still at ratio 0.

    `q` and `v` are the indices of the one that it follows in our coordinates. With `higher` it is
    at a polynomial of it; with `others`, (q, v, ratio) each, it follows those as well.
    """

    habit: Habit
    their_q: slice
    their_v: slice
    q: int
    v: int
    ratio: float
    offset: np.ndarray
    higher: tuple[float, ...] = ()
    others: tuple[tuple[int, int, float], ...] = ()

    def own(self, q: np.ndarray) -> np.ndarray:
        """The joint's own coordinates of ours, (..., n)."""
        found = np.asarray(value((self.offset, self.ratio, *self.higher), q[..., self.q, None]))
        return sum((r * q[..., k, None] for k, _, r in self.others), found)

    def slope(self, q: np.ndarray, order: int = 1) -> np.ndarray:
        """γ' or γ'' of its polynomial γ, (..., 1)."""
        c = slope((0.0, self.ratio, *self.higher))
        c = c if order == 1 else slope(c)
        return np.asarray(value(c, q[..., self.q, None]) if c else np.zeros(1)) + 0 * q[..., :1]


@final
@dataclass(frozen=True, eq=False)
class Convention:
    """A robot's q, v, a, τ in another library's habits. Every `q` beside v, a, τ is **ours**."""

    library: str
    robot: Robot
    places: tuple[Place, ...]
    followers: tuple[Follower, ...] = ()

    @property
    def nq(self) -> int:
        """How many coordinates the other library has."""
        return sum(at.habit.nq for at in self._theirs)

    @property
    def nv(self) -> int:
        """How many velocities the other library has."""
        return sum(at.their_v.stop - at.their_v.start for at in self._theirs)

    @property
    def _theirs(self) -> tuple[Place | Follower, ...]:
        return (*self.places, *self.followers)

    def q_to(self, q: ArrayLike) -> np.ndarray:
        """Their q (..., nq) of ours."""
        x = self._sized(q, self.robot.nq, "q")
        result = np.empty((*x.shape[:-1], self.nq))
        for place in self.places:
            result[..., place.their_q] = place.habit.q_to(x[..., place.q])
        for at in self.followers:
            result[..., at.their_q] = at.habit.q_to(at.own(x))
        return result

    def q_from(self, q: ArrayLike) -> np.ndarray:
        """Our q (..., robot.nq) of theirs; what follows is not read."""
        x = self._sized(q, self.nq, "their q")
        result = np.empty((*x.shape[:-1], self.robot.nq))
        for place in self.places:
            result[..., place.q] = place.habit.q_from(x[..., place.their_q])
        return result

    def B(self, q: ArrayLike) -> np.ndarray:
        """(..., nv, robot.nv): v' = B v, τ = Bᵀ τ', M = Bᵀ M' B, J = J' B."""
        result, x = self._own(q), self._sized(q, self.robot.nq, "q")
        for at in self.followers:
            result[..., at.their_v, at.v] = at.slope(x)
            for _, v, ratio in at.others:
                result[..., at.their_v, v] = ratio
        return result

    def _own(self, q: ArrayLike) -> np.ndarray:
        """The rows of B of joints that follow none; its transpose is a left inverse of B."""
        x = self._sized(q, self.robot.nq, "q")
        result = np.zeros((*x.shape[:-1], self.nv, self.robot.nv))
        for place in self.places:
            size = place.v.stop - place.v.start
            result[..., place.their_v, place.v] = place.habit.B(x[..., place.q], size)
        return result

    def v_to(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """B v."""
        return _times(self.B(q), self._sized(v, self.robot.nv, "v"))

    def v_from(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """The v with v' = B v."""
        return _times(_transposed(self._own(q)), self._sized(v, self.nv, "their v"))

    def a_to(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> np.ndarray:
        """B a + Ḃ v; v is ours."""
        return _times(self.B(q), self._sized(a, self.robot.nv, "a")) + self._drag(q, v)

    def a_from(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> np.ndarray:
        """The a with a' = B a + Ḃ v; v is ours."""
        own = self._sized(a, self.nv, "their a") - self._drag(q, v)
        return _times(_transposed(self._own(q)), own)

    def tau_to(self, q: ArrayLike, tau: ArrayLike) -> np.ndarray:
        """The τ' with τ'ᵀ v' = τᵀ v that is zero at followers."""
        return _times(self._own(q), self._sized(tau, self.robot.nv, "tau"))

    def tau_from(self, q: ArrayLike, tau: ArrayLike) -> np.ndarray:
        """Bᵀ τ'."""
        return _times(_transposed(self.B(q)), self._sized(tau, self.nv, "their tau"))

    def _sized(self, x: ArrayLike, size: int, what: str) -> np.ndarray:
        convention = f"convention of {self.robot.name} for {self.library}"
        return real_array(x, (size,), f"{convention}: {what}")

    def _drag(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """Ḃ v, (..., nv)."""
        x, u = self._sized(q, self.robot.nq, "q"), self._sized(v, self.robot.nv, "v")
        result = np.zeros((*np.broadcast_shapes(x.shape[:-1], u.shape[:-1]), self.nv))
        for place in self.places:
            result[..., place.their_v] = place.habit.dB_v(x[..., place.q], u[..., place.v])
        for at in self.followers:
            if at.higher:
                result[..., at.their_v] = at.slope(x, 2) * u[..., at.v, None]**2
        return result


def _times(matrix: np.ndarray, x: np.ndarray) -> np.ndarray:
    return (matrix @ x[..., None])[..., 0]


def _transposed(matrix: np.ndarray) -> np.ndarray:
    return np.swapaxes(matrix, -1, -2)
