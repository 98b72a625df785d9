"""The folded tree of a robot: bodies of equal limbs share a position, each in a lane of its own.

From a position, children with equal subtrees (kinds of joints and the same branching) form groups;
8, 4 or 2 of them become one position with so many times the lanes, in every lane alike. What is
left over are positions with the lanes of their parent. Constants need not be equal, nor mirrored.
Mimics have no more lanes than what they follow: what follows a joint above it, such as the fingers
of a gripper that move as one, is not put side by side.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from closedform.model.robot import Body, Robot

WIDEST = 8
"""Lanes of a position at most: a register of eight numbers."""


class SharedPosition(NamedTuple):
    """A place of the folded tree; the world has number 0 and is not among them."""

    bodies: tuple[int, ...]                  # numbers of the robot's bodies, lane by lane
    parent: int                              # the position that they hang on, counted from 1
    limb: tuple[tuple[int, int], ...]        # the way from the trunk: (group, how many of a lane)
    hangs: tuple[tuple[int, int], ...] = ()  # at a seam: the position and the lane there, by lanes
    copies: int = 0                          # so many lanes at the end repeat the one before

    @property
    def own(self) -> tuple[int, ...]:
        """The bodies, each once."""
        return self.bodies[:len(self.bodies) - self.copies]


def positions(robot: Robot) -> tuple[SharedPosition, ...]:
    """The folded tree, parents first; a robot without equal limbs has a position for each body."""
    return tuple(_Folding(robot).found)


def is_folded(tree: Sequence[SharedPosition]) -> bool:
    """Whether bodies share positions."""
    return any(len(position.bodies) > 1 for position in tree)


class _Folding:
    """A walk from the root; lane l of a child belongs to lane l // m of its parent."""

    def __init__(self, robot: Robot) -> None:
        self.children: list[list[int]] = [[] for _ in range(len(robot.bodies) + 1)]
        for k, p in enumerate(robot.parents):
            self.children[p].append(k)
        self.shape = [0] * len(robot.bodies)             # equal numbers for equal subtrees
        self.above = [0] * len(robot.bodies)             # how far above them are those they follow
        known: dict[Any, int] = {}
        ways = [_way(robot, k) for k in range(len(robot.bodies))]
        coupled = {name for body, way in zip(robot.bodies, ways, strict=True)
                   if way is None for name in (body.name, *_drivers(body))}
        for k in reversed(range(len(robot.bodies))):
            body = robot.bodies[k]
            follows = body.name if body.name in coupled else ways[k]
            below = tuple(sorted(self.shape[c] for c in self.children[k + 1]))
            self.shape[k] = known.setdefault((follows, kind_of_joint(body), below), len(known))
            own = max(ways[k][0]) if ways[k] else 0
            self.above[k] = max([own, *(self.above[c] - 1 for c in self.children[k + 1])])
        self.found: list[SharedPosition] = []
        self.groups = 0
        left = [*self._behind((0,), 0, ())][::-1]
        while left:
            position = left.pop()
            self.found.append(position)
            bodies = tuple(k + 1 for k in position.bodies)
            left += [*self._behind(bodies, len(self.found), position.limb)][::-1]

    def _behind(self, above: tuple[int, ...], parent: int, limb: Any) -> Iterator[SharedPosition]:
        """The positions that hang on bodies (counted from 1; the world is 0) that share one."""
        rows = [self._by_shape(number) for number in above]
        for shape in rows[0]:
            children = [row[shape] for row in rows]
            apart = self.above[children[0][0]] > 0
            most = 1 if apart else WIDEST // len(above)
            for start, stop in _runs(len(children[0]), most):
                bodies = tuple(c for row in children for c in row[start:stop])
                own = limb
                if stop - start > 1:
                    own = (*limb, (self.groups, stop - start))
                    self.groups += 1
                yield SharedPosition(bodies, parent, own)

    def _by_shape(self, number: int) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for c in self.children[number]:
            found.setdefault(self.shape[c], []).append(c)
        return found


def _drivers(body: Body) -> tuple[str, ...]:
    """The bodies that a mimic follows; those of others are none."""
    return () if body.joint.driver is None else body.joint.driver.bodies


def _way(robot: Robot, k: int) -> Any:
    """How a body follows others: how far towards the root they are, and by which numbers.

    None where it does not hang on all of them.
    """
    driver = robot.bodies[k].joint.driver
    if driver is None:
        return ()
    steps, at = dict[str, int](), robot.parents[k]
    while at:
        steps[robot.bodies[at - 1].name] = 1 + len(steps)
        at = robot.parents[at - 1]
    if not all(name in steps for name in driver.bodies):
        return None
    return tuple(steps[name] for name in driver.bodies), driver.polynomial


def _runs(count: int, most: int) -> Iterator[tuple[int, int]]:
    """Children taken 8, 4, 2 or 1 at a time, at most `most`."""
    start = 0
    while start < count:
        size = 1
        while 2 * size <= min(most, count - start):
            size *= 2
        yield start, start + size
        start += size


def kind_of_joint(body: Body) -> tuple[Any, ...]:
    """What bodies that share a position have in common: the joint without name and limits."""
    joint = body.joint
    S = tuple(np.asarray(part.S, dtype=float).tobytes() for part in joint.moving.parts())
    return (type(joint).__name__, S, joint.rotor_inertia,
            joint.stiffness, joint.spring_reference, body.gravity_compensation)
