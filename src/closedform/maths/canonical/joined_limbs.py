"""Unlike limbs side by side: legs and arms, as far as their joints agree.

Limbs that hang on different places, or on one with different joints further out, have parts whose
joints are of the same kinds. Such parts become positions with the lanes of both:

    pelvis ─ hips ─ knees ─ feet                   pelvis, torso ─ [shoulders hips] ─ [elbows knees]
       torso ─ shoulders ─ elbows ─ hands     →      ─ [wrists feet], whose lanes 0, 1 ─ hands

Their lanes hang on lanes of several positions, and only some of them go on; where that is so, a
position has a *seam* (`SharedPosition.hangs`). Registers have 2, 4 or 8 lanes: those that are left
over repeat the last one.

Constants differ from lane to lane, and what is zero in the legs alone is computed with. A frame may
be turned by a quarter about the axis of its joint, which changes nothing but which numbers are
zero; frames of the second of two limbs are turned where fewer are then zero in one alone.
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
"""Instructions of inverse dynamics that a position takes whatever its constants, and a seam."""
TURN, SHIFT, PRODUCT = 5, 5, 3
"""Those for each entry of a rotation other than 0 and ±1, of a place or a first moment, and for
each product of inertia: so many vectors are multiplied with them."""
QUARTER = np.array([[0.0, -1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0],
                    [0.0, 0.0, 0.0, 1.0]])
"""The pose of a turned frame in the one that it was."""


class SideBySide(NamedTuple):
    """A folded tree, and the bodies whose frames are turned by a quarter about their axes."""

    tree: tuple[SharedPosition, ...]
    turned: frozenset[int]


class Alike(NamedTuple):
    """Two positions that become one; `turned`: the frames of the second."""

    a: int
    b: int
    turned: bool


class Zeros(NamedTuple):
    """Which constants of a position are zero, bit by bit: a bit is set where one lane has none."""

    rotation: int
    not_one: int       # entries of the rotation that are not ±1 in all lanes
    vectors: int       # place and first moment
    products: int      # of inertia

    @property
    def cost(self) -> int:
        """Instructions that these constants take."""
        return (TURN * (self.rotation & self.not_one).bit_count()
                + SHIFT * self.vectors.bit_count() + PRODUCT * self.products.bit_count())

    def beside(self, other: Zeros) -> Zeros:
        """Of both in one register."""
        return Zeros(*(x | y for x, y in zip(self, other, strict=True)))


def joined(robot: Robot, tree: Sequence[SharedPosition]) -> SideBySide:
    """The folded tree with unlike limbs side by side; as it is, where that saves nothing.

    Robots with followers stay as they are: those have to have the lanes of what they follow.
    """
    walk = None if robot.has_followers or len(tree) > MOST else _Joining(robot, tree)
    if walk is None or not walk.beside:
        return SideBySide(tuple(tree), frozenset())
    return SideBySide(walk.positions(), frozenset(
        b for pair in walk.beside.values() if pair.turned for b in walk.tree[pair.b].bodies))


def in_turned_frames(robot: Robot, turned: frozenset[int]) -> Robot:
    """The robot with the frames of these bodies turned by a quarter about the axes of their joints.

    All that such a joint does is about z or along it, so its coordinate stays what it was.
    """
    if not turned:
        return robot
    return replace(robot, bodies=tuple(
        _in_turned_frame(body, p - 1 in turned, k in turned)
        for k, (body, p) in enumerate(zip(robot.bodies, robot.parents, strict=True))))


def _in_turned_frame(body: Body, above: bool, own: bool) -> Body:
    T, inertia = body.placement, body.inertia
    if above:
        T = QUARTER.T @ T
    if own:
        T, inertia = T @ QUARTER, inertia.seen_from(QUARTER.T)
    return replace(body, placement=T, inertia=inertia)


class _Joining:
    """Which positions of a folded tree share lanes, counted from 1; 0 is the world."""

    def __init__(self, robot: Robot, tree: Sequence[SharedPosition]) -> None:
        self.tree = [SharedPosition((-1,), 0, ()), *tree]
        self.bodies = [[], *([robot.bodies[b] for b in at.bodies] for at in tree)]
        self.kinds = [(), *(kind_of_joint(bodies[0]) for bodies in self.bodies[1:])]
        self.children: list[list[int]] = [[] for _ in self.tree]
        self.behind = [1] * len(self.tree)               # positions behind each, with itself
        for k, at in reversed([*enumerate(tree, start=1)]):
            self.children[at.parent].insert(0, k)
            self.behind[at.parent] += self.behind[k]
        self.above: list[set[int]] = [set()]             # those between each and the world
        for at in tree:
            self.above.append(self.above[at.parent] | {at.parent})
        self.zeros, self.agreeing = cache(self._zeros), cache(self._agreeing)
        self.beside: dict[int, Alike] = {}                # by the first of them
        for _, pairs in sorted(self._candidates(), key=lambda x: -x[0]):
            taken = {k for pair in self.beside.values() for k in pair[:2]}
            more = self.beside | {pair.a: pair for pair in pairs}
            if not any(k in taken for pair in pairs for k in pair[:2]) and self._order(more):
                self.beside = more

    # ------------------------------------------------------------------ what is saved
    def _candidates(self) -> list[tuple[int, tuple[Alike, ...]]]:
        """Parts of two limbs that agree, with what they save; of equal ones the longer is first."""
        found = []
        for pair in combinations(range(1, len(self.tree)), 2):
            a, b = sorted(pair, key=lambda k: -self.behind[k])
            if a in self.above[b]:
                continue
            saved, pairs = max(self.agreeing(a, b, False), self.agreeing(b, a, False),
                               key=lambda x: x[0])
            if saved > SEAM * (1 if self.tree[a].parent == self.tree[b].parent else 2):
                found.append((saved, pairs))
        return found

    def _alike(self, a: int, b: int) -> bool:
        """Whether two positions could be one."""
        return a != b and self.kinds[a] == self.kinds[b] and (
            self._width(a) + self._width(b) <= WIDEST)

    def _agreeing(self, a: int, b: int, above: bool) -> tuple[int, tuple[Alike, ...]]:
        """What is saved from a and b outwards, and how; `above`: b's parent is turned."""
        best: tuple[int, tuple[Alike, ...]] = 0, ()
        if not self._alike(a, b) or self._width(a) < self._width(b):
            return best
        own, other = self.zeros(a, False, False), self.zeros(b, False, False)
        for turned in (False, True)[:1 + self._may_turn(b)]:
            both = own.beside(self.zeros(b, above, turned))
            saved, pairs = POSITION + own.cost + other.cost - both.cost, [Alike(a, b, turned)]
            left = list(self.children[b])
            for c in self.children[a]:
                more, further = max((self.agreeing(c, d, turned) for d in left),
                                    key=lambda x: x[0], default=(0, ()))
                if further:
                    left.remove(further[0].b)
                    saved, pairs = saved + more, [*pairs, *further]
            if saved > best[0]:
                best = saved, tuple(pairs)
        return best

    def _may_turn(self, k: int) -> bool:
        """Whether all that the joint does is about z or along it."""
        parts = self.bodies[k][0].joint.moving.parts()
        return len(parts) == 1 and not np.any(np.asarray(parts[0].S, dtype=float)[[0, 1, 3, 4]])

    def _zeros(self, k: int, above: bool, turned: bool) -> Zeros:
        bodies = [_in_turned_frame(body, above, turned) for body in self.bodies[k]]
        T = np.stack([np.asarray(body.placement, dtype=float) for body in bodies])
        I = np.stack([np.asarray(body.inertia.array, dtype=float) for body in bodies])
        R, p, h, products = T[:, :3, :3], T[:, :3, 3], I[:, 1:4], I[:, (5, 7, 8)]
        return Zeros(_bits(R != 0), _bits(np.abs(R) != 1), _bits(np.hstack([p, h]) != 0),
                     _bits(products != 0))

    def _width(self, k: int) -> int:
        return len(self.tree[k].bodies)

    # ------------------------------------------------------------------ the tree
    def _order(self, beside: Mapping[int, Alike]) -> list[tuple[int, ...]]:
        """The places, each one position or two, parents first; none where they go in a circle."""
        seconds = {pair.b for pair in beside.values()}
        places = {k: beside[k][:2] if k in beside else (k,)
                  for k in range(1, len(self.tree)) if k not in seconds}
        order: list[tuple[int, ...]] = []
        done, left = {0}, list(places.values())
        while left:
            later = []
            for place in left:
                if all(self.tree[k].parent in done for k in place):
                    order.append(place)
                    done.update(place)
                else:
                    later.append(place)
            if len(later) == len(left):
                return []
            left = later
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
            found.append(_position(found, number, bodies, hangs))
        return tuple(found[1:])

    def _above(self, k: int, lane: int, at: Mapping[int, tuple[int, int]]) -> tuple[int, int]:
        """The place and the lane there on which a lane of a position hangs."""
        p = self.tree[k].parent
        number, first = at[p]
        return number, first + lane * self._width(p) // self._width(k)


def _position(before: Sequence[SharedPosition], number: int, bodies: tuple[int, ...],
              hangs: tuple[tuple[int, int], ...]) -> SharedPosition:
    """A place of the tree; those `before` it are known, the world first."""
    copies = (1 << (len(bodies) - 1).bit_length()) - len(bodies)
    wide, parent = len(bodies) + copies, max(p for p, _ in hangs)
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


def _bits(entries: np.ndarray) -> int:
    """A number with a bit for each entry that is true in a lane; lanes come first."""
    found = entries.any(axis=0).ravel()
    return int(found @ (1 << np.arange(found.size)))
