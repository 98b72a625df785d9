"""Unlike limbs side by side: legs and arms, as far as their joints agree.

Limbs that hang on different places, or on one with different joints further out, have parts whose
joints are of the same kinds. Such parts of equally many lanes become positions of twice the lanes:

    pelvis ─ hips ─ knees ─ feet                   pelvis, torso ─ [shoulders hips] ─ [elbows knees]
       torso ─ shoulders ─ elbows ─ hands     →      ─ [wrists feet], whose lanes 0, 1 ─ hands

Their lanes hang on lanes of several positions, and only some of them go on; where that is so, a
position has a *seam* (`SharedPosition.hangs`). Constants differ from lane to lane, zeros too: what
is zero in the legs alone is computed with.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from closedform.maths.canonical.limbs import WIDEST, SharedPosition, kind_of_joint
from closedform.model.robot import Robot

MOST = 100
"""Positions of a tree up to which its limbs are compared; larger ones have enough to do."""
FEWEST = 2
"""Positions that a pair of limbs has to save: a seam costs about as much as half a position."""


def joined(robot: Robot, tree: Sequence[SharedPosition]) -> tuple[SharedPosition, ...]:
    """The folded tree with unlike limbs side by side, parents first; as it is, where there are none.

    Robots with followers stay as they are: those have to have the lanes of what they follow.
    """
    if robot.has_followers or len(tree) > MOST:
        return tuple(tree)
    walk = _Joining(robot, tree)
    return walk.positions() if walk.beside else tuple(tree)


class _Joining:
    """Which positions of a folded tree share lanes, counted from 1; 0 is the world."""

    def __init__(self, robot: Robot, tree: Sequence[SharedPosition]) -> None:
        self.tree = [SharedPosition((-1,), 0, ()), *tree]
        self.kinds = [(), *(kind_of_joint(robot.bodies[at.bodies[0]]) for at in tree)]
        self.children: list[list[int]] = [[] for _ in self.tree]
        self.behind = [1] * len(self.tree)               # positions behind each, with itself
        for k in range(len(tree), 0, -1):
            self.children[self.tree[k].parent].insert(0, k)
            self.behind[self.tree[k].parent] += self.behind[k]
        self.beside: dict[int, int] = {}                 # the second of a pair by the first
        for matched in self._candidates():
            taken = {k for pair in self.beside.items() for k in pair}
            more = self.beside | dict(matched)
            if not any(k in taken for pair in matched for k in pair) and self._order(more):
                self.beside = more

    def _candidates(self) -> list[list[tuple[int, int]]]:
        """Parts of two limbs that agree, the longest first."""
        starts = [k for k, at in enumerate(self.tree)
                  if len(at.bodies) > 1 and self.tree[at.parent].limb != at.limb]
        found = [self._agreeing(*sorted(pair, key=lambda k: -self.behind[k]))
                 for pair in combinations(starts, 2)]
        return sorted((x for x in found if len(x) >= FEWEST), key=len, reverse=True)

    def _agreeing(self, a: int, b: int) -> list[tuple[int, int]]:
        """Pairs of positions with joints of the same kinds, from a and b outwards."""
        width = self._width(a)
        if self.kinds[a] != self.kinds[b] or self._width(b) != width or 2 * width > WIDEST:
            return []
        found, left = [(a, b)], list(self.children[b])
        for c in self.children[a]:
            best: list[tuple[int, int]] = max(
                (self._agreeing(c, d) for d in left), key=len, default=[])
            if best:
                left.remove(best[0][1])
                found += best
        return found

    def _width(self, k: int) -> int:
        return len(self.tree[k].bodies)

    def _order(self, beside: dict[int, int]) -> list[tuple[int, ...]]:
        """The places, each one position or two, parents first; none where they go in a circle."""
        seconds = {b: a for a, b in beside.items()}
        places = {k: (k, beside[k]) if k in beside else (k,)
                  for k in range(1, len(self.tree)) if k not in seconds}
        order: list[tuple[int, ...]] = []
        done = {0}
        while len(order) < len(places):
            free = next((p for k, p in places.items() if k not in done
                         and all(self.tree[x].parent in done for x in p)), None)
            if free is None:
                return []
            order.append(free)
            done.update(free)
        return order

    def positions(self) -> tuple[SharedPosition, ...]:
        """The tree with the pairs in one position each."""
        order = self._order(self.beside)
        at = {0: (0, 0)}                                 # where a position's first lane is
        for number, place in enumerate(order, start=1):
            for k in place:
                at[k] = number, 0 if k == place[0] else self._width(place[0])
        found = [self.tree[0]]
        for number, place in enumerate(order, start=1):
            hangs = tuple(self._above(k, lane, at) for k in place for lane in range(self._width(k)))
            bodies = tuple(b for k in place for b in self.tree[k].bodies)
            parent = max(p for p, _ in hangs)
            wide, near = len(bodies), len(found[parent].bodies)
            within = wide % near == 0 and hangs == tuple(
                (parent, lane * near // wide) for lane in range(wide))
            limb = found[parent].limb if within else ()
            if not within or wide > near:
                limb = (*limb, (number, wide // near if within else wide))
            found.append(SharedPosition(bodies, parent, limb, () if within else hangs))
        return tuple(found[1:])

    def _above(self, k: int, lane: int, at: dict[int, tuple[int, int]]) -> tuple[int, int]:
        """The place and the lane there on which a lane of a position hangs."""
        p = self.tree[k].parent
        number, first = at[p]
        return number, first + lane * self._width(p) // self._width(k)
