"""One coordinate of a loop from those that are known, in closed form, on a branch.

A loop is walked from the frame B of its cut to the frame A, the tip. What is already known stands
in its place, and the joints that are asked for at zero. With o a point of an axis k, the tip x, and
e = (x − o) across k, a turn by θ takes the tip to o + a + e cos θ + (k × e) sin θ:

    distance    |x(θ) − f| = ℓ      P cos θ + Q sin θ = R,      S = ±√(P² + Q² − R²)            (i)
    projection  k'·x(θ) = 0         cos θ = (P R − Q S)/(P² + Q²),  sin θ = (Q R + P S)/(P² + Q²)
    slide       |x + u n − f| = ℓ   u = −b ± √(b² − |x − f|² + ℓ²),      b = n·(x − f)         (ii)
    direction   x(θ) = 0            cos θ = −e·o/|e|²,      sin θ = −(k × e)·o/|e|²           (iii)

A turn leaves the distance to the points of its axis as it is: so the other joint of a dyad, and
what stands beside a universal joint, is solved by distance, then the turn itself by direction. The
sign of the root is the branch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from closedform.arrays import OBJECTS, Array, cross, namespace
from closedform.model.joints import Joint
from closedform.model.loops.angles import Angle
from closedform.model.loops.gap import Gap
from closedform.model.loops.records import Gear, Rod
from closedform.model.segments import Segment

if TYPE_CHECKING:
    from closedform.model.tree import Tree


class LoopAxis(NamedTuple):
    """A joint on the way from B to A: a point of its axis, and the direction it moves along."""

    o: Array
    k: Array


class LoopWay(NamedTuple):
    """A loop walked from B to A, in the frame of B: its joints in order, and the tip."""

    axes: dict[int, LoopAxis]
    x: Array
    R: Array


def walked(tree: Tree, gap: Gap, q: Array) -> LoopWay:
    """The joints and the tip in the frame of B."""
    xp, axes = namespace(q), dict[int, LoopAxis]()
    R: Array = gap.B[:3, :3].T
    p: Array = -(R @ gap.B[:3, 3])
    for n in reversed(gap.way_b):
        s = tree.segments[n - 1]
        axes |= _axis(n, s, p, R, -1)
        R_j, p_j = s.joint.pose(s.coordinates(q), xp)
        R = R @ np.asarray(R_j).T
        p = p - R @ p_j
        R = R @ s.placement[:3, :3].T
        p = p - R @ s.placement[:3, 3]
    for n in gap.way_a:
        s = tree.segments[n - 1]
        p, R = p + R @ s.placement[:3, 3], R @ s.placement[:3, :3]
        axes |= _axis(n, s, p, R, 1)
        R_j, p_j = s.joint.pose(s.coordinates(q), xp)
        p, R = p + R @ p_j, R @ R_j
    return LoopWay(axes, p + R @ gap.A[:3, 3], R @ gap.A[:3, :3])


def turns(joint: Joint) -> bool:
    """Whether it is one turn about an axis."""
    return joint.nv == 1 and bool(joint.angles)


def slides(joint: Joint) -> bool:
    """Whether it is one slide along an axis."""
    return joint.nv == 1 and bool(joint.lengths)


def _axis(n: int, s: Segment, p: Array, R: Array, sign: int) -> dict[int, LoopAxis]:
    """The axis of a turn or slide, against itself where it is walked from its body to its parent.
    """
    if s.joint.line is None or not (turns(s.joint) or slides(s.joint)):
        return {}
    axis, point = (np.asarray(x, dtype=float) for x in s.joint.line)
    return {n: LoopAxis(p + R @ point if np.any(point) else p, R @ (sign * axis))}


Signed = Callable[[Callable[[Any], Any]], Any]
"""Of a function of the coordinate that is positive on one branch, the sign that is meant."""


@dataclass(frozen=True)
class LoopStep:
    """How one coordinate, the entry `at` of q, follows from those before it.

    `segment` is its joint, `other` the one whose motion is eliminated; `held` are constants of the
    loop: a squared length, or where the cut holds the tip.
    """

    how: str
    gap: Gap
    at: int
    segment: int
    other: int = 0
    held: Any = None

    @property
    def has_branch(self) -> bool:
        """Whether there are two roots."""
        return self.how in ("distance", "projection", "line", "slide")

    def solved(self, tree: Tree, q: Array, signed: Signed) -> Any:
        """The coordinate: an `Angle`, or the number of a slide."""
        return _HOW[self.how](self, tree, q, signed)

    def squared(self, way: LoopWay) -> Any:
        """The squared length that `held` is, where it is constant."""
        if self.how == "direction":
            e = _parts(way, self.segment, way.x)[1]
            return e @ e
        return self.measured(way)[2]

    def measured(self, way: LoopWay) -> tuple[Array, Array, Any]:
        """The point that moves with the joint, the one it is measured from, and their distance²."""
        if not self.other:
            length = float(self.gap.cut.length) if isinstance(self.gap.cut, Rod) else 0.0
            return way.x, np.zeros(3), length * length
        o, order = way.axes[self.other].o, list(way.axes)
        if order.index(self.other) < order.index(self.segment):
            return way.x, o, o @ o
        return o, np.zeros(3), (way.x - o) @ (way.x - o)


def _parts(way: LoopWay, n: int, point: Array) -> tuple[Array, Array, Array]:
    """What of a point that the turn n moves stays, and what goes with its cosine and sine."""
    o, k = way.axes[n]
    w = point - o
    along = k * (k @ w)
    return o + along, w - along, cross(k, w)


def _root(P: Any, Q: Any, R: Any, signed: Signed) -> Angle:
    """(i)."""
    D = P * P + Q * Q
    sign = signed(lambda x: P * OBJECTS.sin(x) - Q * OBJECTS.cos(x))
    S = sign * OBJECTS.sqrt(_not_below_zero(D - R * R, D))
    return Angle((P * R - Q * S) / D, (Q * R + P * S) / D)


def _not_below_zero(x: Any, scale: Any) -> Any:
    """x; NaN for a number below zero, but zero if that is by rounding alone."""
    if isinstance(x, float):
        return x if x >= 0 else 0.0 if x > -1e-14 * scale else np.nan
    return x.not_below_zero(scale) if hasattr(x, "not_below_zero") else x


def _by_distance(step: LoopStep, tree: Tree, q: Array, signed: Signed) -> Angle:
    way = walked(tree, step.gap, q)
    point, f, squared = step.measured(way)
    rest, e, t = _parts(way, step.segment, point)
    d = rest - f
    squared = squared if step.held is None else step.held
    return _root(d @ e, d @ t, (squared - d @ d - e @ e) / 2, signed)


def _by_projection(step: LoopStep, tree: Tree, q: Array, signed: Signed) -> Angle:
    way = walked(tree, step.gap, q)
    rest, e, t = _parts(way, step.segment, way.x)
    k = way.axes[step.other].k
    return _root(k @ e, k @ t, -(k @ rest), signed)


def _by_line(step: LoopStep, tree: Tree, q: Array, signed: Signed) -> Angle:
    """A turn whose tip, held in orientation, stays on the slide of the cut."""
    way, (lever, normal) = walked(tree, step.gap, q), step.held
    rest, e, t = _parts(way, step.segment, way.axes[step.other].o)
    return _root(normal @ e, normal @ t, -(normal @ (rest + lever)), signed)


def _by_slide(step: LoopStep, tree: Tree, q: Array, signed: Signed) -> Any:
    """(ii)."""
    way = walked(tree, step.gap, q)
    n = way.axes[step.segment].k
    point, f, squared = step.measured(way)
    d = point - f
    b = n @ d
    squared = squared if step.held is None else step.held
    root = OBJECTS.sqrt(_not_below_zero(b * b - d @ d + squared, squared))
    return signed(lambda u: u + b) * root - b


def _by_direction(step: LoopStep, tree: Tree, q: Array, signed: Signed) -> Angle:
    """(iii)."""
    way = walked(tree, step.gap, q)
    o = way.axes[step.segment].o
    _, e, t = _parts(way, step.segment, way.x)
    length = e @ e if step.held is None else step.held
    return Angle(-(e @ o) / length, -(t @ o) / length)


def _by_orientation(step: LoopStep, tree: Tree, q: Array, signed: Signed) -> Angle:
    """A turn that takes a direction of the tip to where the cut holds it."""
    way, (a, held) = walked(tree, step.gap, q), step.held
    k, u = way.axes[step.segment].k, way.R @ a
    return Angle(u @ held - (k @ u) * (k @ held), cross(k, u) @ held)


def _by_meeting(step: LoopStep, tree: Tree, q: Array, signed: Signed) -> Any:
    """A slide alone, that takes the tip to B."""
    way = walked(tree, step.gap, q)
    return -(way.axes[step.segment].k @ way.x)


def _by_gear(step: LoopStep, tree: Tree, q: Array, signed: Signed) -> Any:
    """Σ c q = c₀."""
    assert isinstance(step.gap.cut, Gear)
    factor, total = dict(step.gap.terms)[step.segment], -step.gap.cut.constant
    for n, c in step.gap.terms:
        x = tree.segments[n - 1].coordinates(q)[0]
        total = total + c * (x.number if isinstance(x, Angle) else x)
    return total * (-1 / factor)


_HOW: Mapping[str, Callable[[LoopStep, Tree, Array, Signed], Any]] = {
    "distance": _by_distance, "projection": _by_projection, "line": _by_line, "slide": _by_slide,
    "direction": _by_direction, "orientation": _by_orientation, "meeting": _by_meeting,
    "gear": _by_gear}
