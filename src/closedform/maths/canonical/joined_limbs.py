"""Unlike limbs side by side: legs and arms, as far as their joints agree.

Limbs that hang on different places, or on one with different joints further out, have parts whose
joints are of the same kinds. Such parts become positions with the lanes of both:

    pelvis ─ hips ─ knees ─ feet                   pelvis, torso ─ [shoulders hips] ─ [elbows knees]
       torso ─ shoulders ─ elbows ─ hands     →      ─ [wrists feet], whose lanes 0, 1 ─ hands

Their lanes hang on lanes of several positions, and only some of them go on; where that is so, a
position has a *seam* (`SharedPosition.hangs`). Registers have 2, 4 or 8 lanes: those that are left
over repeat the last one.

Constants differ from lane to lane, and what is zero in the legs alone is computed with. A frame may
be turned by quarters about the axis of its joint, which changes nothing but which numbers are zero;
the second of two limbs is turned so that the fewest are zero in one alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations
from typing import NamedTuple

import numpy as np

from closedform.maths.canonical.limbs import WIDEST, SharedPosition, kind_of_joint
from closedform.model.robot import Body, Robot

MOST = 100
"""Positions of a tree up to which its limbs are compared; larger ones have enough to do."""
POSITION, SEAM = 45, 40
"""Instructions that a position and a seam take, whatever their constants."""
TURN, SHIFT, PRODUCT = 5, 5, 3
"""Those for each entry of a rotation other than 0 and ±1, of a place or a first moment, and for
each product of inertia: so many vectors are multiplied with them."""
QUARTERS = tuple(np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]])
                 for c, s in ((1, 0), (0, 1), (-1, 0), (0, -1)))
"""Turns about z."""


class Joined(NamedTuple):
    """A folded tree, and by how many quarters the frames of bodies are turned about their axes."""

    tree: tuple[SharedPosition, ...]
    quarters: Mapping[int, int]


class Pair(NamedTuple):
    """Two positions that become one, the second turned by so many quarters."""

    a: int
    b: int
    quarters: int


def joined(robot: Robot, tree: Sequence[SharedPosition]) -> Joined:
    """The folded tree with unlike limbs side by side; as it is, where that saves nothing.

    Robots with followers stay as they are: those have to have the lanes of what they follow.
    """
    if robot.has_followers or len(tree) > MOST:
        return Joined(tuple(tree), {})
    walk = _Joining(robot, tree)
    return Joined(walk.positions(), {b: pair.quarters for pair in walk.beside.values()
                                     for b in walk.tree[pair.b].bodies})


class _Joining:
    """Which positions of a folded tree share lanes, counted from 1; 0 is the world."""

    def __init__(self, robot: Robot, tree: Sequence[SharedPosition]) -> None:
        self.tree = [SharedPosition((-1,), 0, ()), *tree]
        self.bodies = [[robot.bodies[b] for b in at.bodies] for at in tree]
        self.kinds = [(), *(kind_of_joint(bodies[0]) for bodies in self.bodies)]
        self.children: list[list[int]] = [[] for _ in self.tree]
        self.behind = [1] * len(self.tree)               # positions behind each, with itself
        for k, at in reversed([*enumerate(tree, start=1)]):
            self.children[at.parent].insert(0, k)
            self.behind[at.parent] += self.behind[k]
        self.constants = cache(self._constants)
        self.agreeing = cache(self._agreeing)
        self.beside: dict[int, Pair] = {}                # by the first of them
        for _, pairs in sorted(self._candidates(), key=lambda x: -x[0]):
            taken = {k for pair in self.beside.values() for k in pair[:2]}
            more = self.beside | {pair.a: pair for pair in pairs}
            if not any(k in taken for pair in pairs for k in pair[:2]) and self._order(more):
                self.beside = more

    # ------------------------------------------------------------------ what is saved
    def _candidates(self) -> list[tuple[float, tuple[Pair, ...]]]:
        """Parts of two limbs that agree, with what they save."""
        found = []
        for a, b in combinations(range(1, len(self.tree)), 2):
            both = sorted(((a, b), (b, a)), key=lambda pair: -self.behind[pair[0]])
            saved, pairs = max((self.agreeing(*pair, 0) for pair in both), key=lambda x: x[0])
            same = self.tree[a].parent == self.tree[b].parent
            if pairs and saved > SEAM * (1 if same else 2):
                found.append((saved, pairs))
        return found

    def _agreeing(self, a: int, b: int, above: int) -> tuple[float, tuple[Pair, ...]]:
        """What is saved from a and b outwards, b's parent being turned by so many quarters."""
        wa, wb = self._width(a), self._width(b)
        if self.kinds[a] != self.kinds[b] or wa + wb > WIDEST or wa < wb:
            return 0.0, ()
        best: tuple[float, tuple[Pair, ...]] = 0.0, ()
        for quarters in range(4 if self._turns(b) else 1):
            saved = POSITION + _cost(self.constants(a, 0, 0)) + _cost(self.constants(b, 0, 0)) \
                - _cost(tuple(np.concatenate(x) for x in zip(
                    self.constants(a, 0, 0), self.constants(b, above, quarters), strict=True)))
            pairs = [Pair(a, b, quarters)]
            left = list(self.children[b])
            for c in self.children[a]:
                more, further = max((self.agreeing(c, d, quarters) for d in left),
                                    key=lambda x: x[0], default=(0.0, ()))
                if further:
                    left.remove(further[0].b)
                    saved, pairs = saved + more, [*pairs, *further]
            if saved > best[0]:
                best = saved, tuple(pairs)
        return best

    def _turns(self, k: int) -> bool:
        """Whether frames may be turned: all that the joint does is about z or along it."""
        parts = self.bodies[k - 1][0].joint.moving.parts()
        return len(parts) == 1 and not np.any(np.asarray(parts[0].S, dtype=float)[[0, 1, 3, 4]])

    def _constants(self, k: int, above: int, quarters: int) -> tuple[np.ndarray, ...]:
        """Rotations, places, first moments and products of inertia of a position, lane by lane."""
        turned = [turned_by_quarters(body, above, quarters) for body in self.bodies[k - 1]]
        T = np.stack([np.asarray(body.placement, dtype=float) for body in turned])
        I = np.stack([np.asarray(body.inertia.array, dtype=float) for body in turned])
        return T[:, :3, :3], T[:, :3, 3], I[:, 1:4], I[:, (5, 7, 8)]

    def _width(self, k: int) -> int:
        return len(self.tree[k].bodies)

    # ------------------------------------------------------------------ the tree
    def _order(self, beside: Mapping[int, Pair]) -> list[tuple[int, ...]]:
        """The places, each one position or two, parents first; none where they go in a circle."""
        seconds = {pair.b for pair in beside.values()}
        places = {k: beside[k][:2] if k in beside else (k,)
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
            bodies = tuple(b for k in place for b in self.tree[k].bodies)
            hangs = tuple(self._above(k, lane, at) for k in place for lane in range(self._width(k)))
            copies = (1 << (len(bodies) - 1).bit_length()) - len(bodies)
            found.append(_position(found, number, bodies, hangs, copies))
        return tuple(found[1:])

    def _above(self, k: int, lane: int, at: Mapping[int, tuple[int, int]]) -> tuple[int, int]:
        """The place and the lane there on which a lane of a position hangs."""
        p = self.tree[k].parent
        number, first = at[p]
        return number, first + lane * self._width(p) // self._width(k)


def _position(before: Sequence[SharedPosition], number: int, bodies: tuple[int, ...],
              hangs: tuple[tuple[int, int], ...], copies: int) -> SharedPosition:
    """A place of the tree; `before` it are those that are known, the world first."""
    wide = len(bodies) + copies
    parent = max(p for p, _ in hangs)
    above = before[parent]
    near = len(above.bodies)
    within = wide % near == 0 and copies * near == above.copies * wide and hangs == tuple(
        (parent, lane * near // wide) for lane in range(len(bodies)))
    bodies += bodies[-1:] * copies
    if within and wide == near:
        return SharedPosition(bodies, parent, above.limb, (), copies)
    if within:
        return SharedPosition(bodies, parent, (*above.limb, (number, wide // near)), (), copies)
    return SharedPosition(bodies, parent, ((number, wide),) if wide > 1 else (), hangs, copies)


def turned_by_quarters(body: Body, above: int, own: int) -> Body:
    """The body with its frame turned about its joint's axis, and with its parent's turned."""
    if not above and not own:
        return body
    back = turn_back(own)
    return replace(body, placement=turn_back(above) @ body.placement @ back.T,
                   inertia=body.inertia.seen_from(back))


def turn_back(quarters: int) -> np.ndarray:
    """The pose of a frame as it was in the one that is turned."""
    T = np.eye(4)
    T[:3, :3] = QUARTERS[quarters].T
    return T


def _cost(constants: Sequence[np.ndarray]) -> float:
    """Instructions that the constants of a position take, those of each lane in a row."""
    R, *others = constants
    plain = np.all(R == 0, axis=0) | np.all(np.abs(R) == 1, axis=0)
    p, h, products = (np.count_nonzero(np.any(x != 0, axis=0)) for x in others)
    return float(TURN * np.count_nonzero(~plain) + SHIFT * (p + h) + PRODUCT * products)
