"""A robot whose joints follow others by polynomials, as motions of one whose joints are all free.

    q̂ = γ(q)      v̂ = G v      â = G a + Ġ v      G = ∂γ/∂q

The hats are those of the free robot, where a follower has a coordinate of its own: there S is
constant, and every equation and algorithm holds. Every v̂_r has one source: v̂_r = γ'_r v_d, with
γ'_r = 1 for joints that follow none. So G is known by the numbers γ'_r, its rates by theirs, and
a product with Gᵀ is a sum of few terms, `folded`. What follows by a ratio stays as it is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

from closedform.arrays import Array, namespace
from closedform.maths.loops.embedding import LoopEmbedding
from closedform.maths.scalars.series import Series
from closedform.model.joints.polynomial import Polynomial, slope, value
from closedform.model.robot import Robot

Factors = Mapping[int, Any]
"""By the number of a free velocity, what multiplies it; none: zero."""


@dataclass(frozen=True, eq=False)
class Embedding:
    """The free robot, and where each of its coordinates and velocities comes from.

    `q_source` and `v_source` are entries of the coupled robot's q and v; `curves` are the
    polynomials by which free coordinates follow, the others are the same.
    """

    free: Robot
    nv: int
    q_source: tuple[int, ...]
    v_source: tuple[int, ...]
    curves: Mapping[int, Polynomial]     # by free coordinate
    velocity: Mapping[int, int]            # of these, the free velocity

    def coordinates(self, q: Array) -> Array:
        """q̂ = γ(q), (n̂q,)."""
        return namespace(q).stack([value(self.curves[k], q[i]) if k in self.curves else q[i]
                                   for k, i in enumerate(self.q_source)])

    def slopes(self, q: Array, order: int = 1) -> Factors:
        """The derivatives γ' (order 1), γ'', … by the own driver; of order 1 all have one."""
        found = dict.fromkeys(range(len(self.v_source)), 1) if order == 1 else dict[int, Any]()
        for k, c in self.curves.items():
            for _ in range(order):
                c = slope(c)
            if c:
                found[self.velocity[k]] = value(c, q[self.q_source[k]])
        return found

    def slope_rates(self, q: Array, rates: Sequence[Array]) -> list[Factors]:
        """γ' and its time derivatives along a motion with the rates v, a, …, one for each."""
        found: list[dict[int, Any]] = [dict(self.slopes(q)), *({} for _ in rates)]
        for k, c in self.curves.items():
            i, r = self.q_source[k], self.velocity[k]
            motion = Series([q[i], *(x[self.v_source[r]] / math.factorial(m)
                                     for m, x in enumerate(rates, start=1))])
            for m, x in enumerate(value(slope(c), motion).c):
                found[m][r] = x * math.factorial(m)
        return [*found]

    def rates(self, q: Array, rates: Sequence[Array]) -> list[Array]:
        """v̂, â, … of the motion with the rates v, a, …:  v̂⁽ⁿ⁾ = Σ_m (n over m) G⁽ᵐ⁾ v⁽ⁿ⁻ᵐ⁾."""
        g = self.slope_rates(q, rates[:-1])
        result = []
        for n in range(len(rates)):
            parts = [self.raised(rates[n - m] * math.comb(n, m), g[m]) for m in range(n + 1)]
            result.append(sum(parts[1:], parts[0]))
        return result

    def raised(self, x: Array, factors: Factors) -> Array:
        """The free vector with the entries factors_r x_d, (n̂,): G x for those of γ'."""
        xp = namespace(x)
        return xp.stack([factors[r] * x[d] if r in factors else xp.zeros(())
                         for r, d in enumerate(self.v_source)])

    def folded(self, x: Array, *factors: Factors | None) -> Array:
        """x with its axes, the first ones first, taken to the velocities: x_d = Σ_r factors_r x_r.

        With those of γ' it is a product with Gᵀ. An axis of None stays as it is.
        """
        for axis, f in enumerate(factors):
            x = x if f is None else self._folded(x, axis, f)
        return x

    def _folded(self, x: Array, axis: int, factors: Factors) -> Array:
        xp, before = namespace(x, *factors.values()), (slice(None),) * axis
        zero = xp.zeros((*x.shape[:axis], *x.shape[axis + 1:]))
        total = [zero] * self.nv
        for r, f in factors.items():
            total[self.v_source[r]] = total[self.v_source[r]] + x[(*before, r)] * f
        return xp.stack(total, axis=axis)


_known: WeakKeyDictionary[Robot, Embedding | LoopEmbedding] = WeakKeyDictionary()


def embedding(robot: Robot) -> Any:
    """The embedding of a robot in its tree, or in the robot whose joints follow by ratios only."""
    if robot not in _known:
        _known[robot] = LoopEmbedding(robot) if robot.loops else _embedding(robot)
    return _known[robot]


def _embedding(robot: Robot) -> Embedding:
    bent = {body.name for body in robot.bodies if body.joint.driver and body.joint.driver.higher}
    free = replace(robot, configurations={}, bodies=tuple(
        replace(b, joint=b.joint.moving) if b.name in bent else b for b in robot.bodies))
    own = {body.name: (q, v) for body, q, v in robot.parts}
    at = {segment.name: segment for segment in robot.segments}
    q_source: list[int] = []
    v_source: list[int] = []
    curves: dict[int, Polynomial] = {}
    velocity: dict[int, int] = {}
    for body, q, v in free.parts:
        if body.name in bent:
            s = at[body.name]
            curves[q.start] = (s.offset, s.ratio, *s.higher)
            velocity[q.start] = v.start
            q_source, v_source = [*q_source, *s.q_index], [*v_source, *s.v_index]
        else:
            q_own, v_own = own[body.name]
            q_source += range(q_own.start, q_own.stop)
            v_source += range(v_own.start, v_own.stop)
    return Embedding(free, robot.nv, tuple(q_source), tuple(v_source), curves, velocity)

