"""Which lanes a number has: the way from the trunk to the limbs that it belongs to.

    ()                  the trunk, one lane
    ((0, 2),)           two arms
    ((0, 2), (1, 4))    the four fingers of both: lane l belongs to the arm of lane l // 4
    ((2, 2),)           two legs, which have no lane in common with the arms
"""

from __future__ import annotations

from functools import cache
from math import prod

from closedform.errors import ArgumentError

Limb = tuple[tuple[int, int], ...]
"""Groups of limbs from the trunk outwards: (number of the group, how many there are in a lane)."""
LaneMap = tuple[int, ...]
"""For every lane of one limb the lane of another."""

TRUNK: Limb = ()


class LanesMeetError(ArgumentError):
    """Lanes are used in a way that has no meaning: the computation has to do without."""


@cache
def width(limb: Limb) -> int:
    """How many lanes there are."""
    return prod(count for _, count in limb)


@cache
def outer(a: Limb, b: Limb) -> Limb:
    """The farther from the trunk of two limbs, one of which is on the way to the other."""
    near, far = sorted((a, b), key=len)
    if far[:len(near)] != near:
        raise LanesMeetError(f"values of different limbs meet, {a} and {b}: they share no lanes")
    return far


@cache
def lanes_of(far: Limb, near: Limb) -> LaneMap:
    """The lane of `near` to which each lane of `far` belongs."""
    if outer(far, near) != far:
        raise LanesMeetError(f"{near} is not on the way from the trunk to {far}")
    count = width(far) // width(near)
    return tuple(lane // count for lane in range(width(far)))
