"""The rows of closed loops: how far a cut joint is from closed, and how that changes.

    φ(q) = 0      K = ∂φ/∂q      φ̈ = K a + K̇ v

Both ways from the nearest body that the two sides have in common are walked, and nothing else of
the robot enters. With A and B the frames of the two sides in the axes of that body, p their points,
t directions that are constant in A or B, the rows are

    point   p_A − p_B                       slide   t_A · (p_A − p_B)
    turn    t_A · t_B − c                   rod     ½ (|p_A − p_B|² − L²)

and that of a gear is Σ c q − c₀. Derivatives by q are left-trivialised where v is not q̇.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from closedform.arrays import Array, Namespace, cross, namespace
from closedform.errors import ModelError
from closedform.model.joints import Cylindrical, Fixed, Planar, Prismatic, Revolute, Universal
from closedform.model.joints.polynomial import slope, value
from closedform.model.loops.records import Cut, Gear, Loop, Rod, Side
from closedform.model.pose import identity
from closedform.model.segments import Segment

if TYPE_CHECKING:
    from closedform.model.tree import Tree

X, Y, Z = np.eye(3)


class LoopRow(NamedTuple):
    """One equation of a loop: its kind, directions in A and in B, and a number."""

    kind: str
    a: np.ndarray = Z
    b: np.ndarray = Z
    number: float = 0.0


@dataclass(frozen=True, eq=False)
class Gap:
    """A cut joint in a tree: the segments of both ways from the common body, frames and rows."""

    cut: Cut
    way_a: tuple[int, ...] = ()       # numbers of segments, from the common one outwards
    way_b: tuple[int, ...] = ()
    A: np.ndarray = field(default_factory=identity)         # in the last segment of the way
    B: np.ndarray = field(default_factory=identity)
    rows: tuple[LoopRow, ...] = ()
    terms: tuple[tuple[int, float], ...] = ()     # of a gear: segments with their factors


Columns = dict[int, Any]
"""By the number of a velocity, what multiplies it; none: zero."""


class WayStep(NamedTuple):
    """A segment on the way to a side of a gap, in the axes of the common body."""

    segment: Segment
    R: Array
    t: Array        # from the origin before to its own
    r: Array        # from its origin to the point of the side
    own: Array | None     # the same in its own axes, where that is constant


class End(NamedTuple):
    """A side of a gap, in the axes of the common body."""

    R: Array
    steps: list[WayStep]
    still: Array    # the point, if nothing moves on the way

    @property
    def p(self) -> Array:
        return self.steps[0].t + self.steps[0].r if self.steps else self.still


class Motion(NamedTuple):
    """How a side moves without accelerations of the joints."""

    w: Array        # angular velocity
    dw: Array       # and its rate
    v: Array        # of the point
    a: Array        # of the point


def gaps_of(tree: Tree, cuts: Sequence[Cut]) -> tuple[Gap, ...]:
    """The gaps of a tree's cut joints."""
    at = {s.name: k for k, s in enumerate(tree.segments, start=1)}
    return tuple(_gap(tree, cut, at) for cut in cuts)


def _gap(tree: Tree, cut: Cut, at: dict[str, int]) -> Gap:
    if isinstance(cut, Gear):
        for body in cut.factors:
            joint = tree.bodies[tree.segments[at[body] - 1].owner].joint.moving
            if (joint.nq, joint.nv) != (1, 1):
                raise ModelError(f"gear {cut.name!r}: the {type(joint).__name__} joint of {body!r} "
                                 "does not have one coordinate; gears tie turns and slides")
        return Gap(cut, terms=tuple((at[body], c) for body, c in cut.factors.items()),
                   rows=(LoopRow("gear", number=cut.constant),))
    ways = [_way(tree, at, side) for side in (cut.a, cut.b)]
    shared = 0
    while shared < min(map(len, ways)) and ways[0][shared] == ways[1][shared]:
        shared += 1
    A, B, rows = _frames_and_rows(cut)
    return Gap(cut, tuple(ways[0][shared:]), tuple(ways[1][shared:]), A, B, rows)


def _way(tree: Tree, at: dict[str, int], side: Side) -> list[int]:
    """The segments from the root to a body."""
    k, found = 0 if side[0] is None else at[side[0]], list[int]()
    while k:
        found, k = [k, *found], tree.segments[k - 1].parent
    return found


_POINT = tuple(LoopRow("point", e) for e in (X, Y, Z))
_AXIS = (LoopRow("turn", X, Z), LoopRow("turn", Y, Z))
_ACROSS = (LoopRow("slide", X), LoopRow("slide", Y))


def _frames_and_rows(cut: Loop | Rod) -> tuple[np.ndarray, np.ndarray, tuple[LoopRow, ...]]:
    """The frames of both sides on their bodies, and the rows in them."""
    if isinstance(cut, Rod):
        return cut.a[1], cut.b[1], (LoopRow("rod", number=float(cut.length)),)
    if type(cut.joint) in _OWN_ROWS:
        return cut.a[1], cut.b[1], _OWN_ROWS[type(cut.joint)](cut.joint)
    frame = np.asarray(cut.joint.frame, dtype=float)
    return cut.a[1] @ frame, cut.b[1] @ frame, _ROWS.get(type(cut.joint), _POINT)


def _universal(joint: Any) -> tuple[LoopRow, ...]:
    one, two = np.array(joint.axis1, dtype=float), np.array(joint.axis2, dtype=float)
    return *_POINT, LoopRow("turn", one, two, float(one @ two))


_OWN_ROWS: dict[type, Callable[[Any], tuple[LoopRow, ...]]] = {Universal: _universal}
"""Joints whose rows are written in the bodies' frames."""
_ROWS = {Revolute: (*_POINT, *_AXIS), Fixed: (*_POINT, *_AXIS, LoopRow("turn", X, Y)),
         Prismatic: (*_ACROSS, *_AXIS, LoopRow("turn", X, Y)), Cylindrical: (*_ACROSS, *_AXIS),
         Planar: (LoopRow("slide", Z), *_AXIS)}
"""Rows in the joint's own frame; a joint that is not here holds a point."""


# ---------------------------------------------------------------------- places
def ends(tree: Tree, gap: Gap, q: Array) -> tuple[End, End]:
    """Both sides of a gap at q."""
    return _end(tree, gap.way_a, gap.A, q), _end(tree, gap.way_b, gap.B, q)


def _end(tree: Tree, way: tuple[int, ...], frame: np.ndarray, q: Array) -> End:
    xp = namespace(q)
    R: Array = xp.eye(3)
    places = []
    for k in way:
        s = tree.segments[k - 1]
        R_j, p_j = s.joint.pose(s.coordinates(q), xp)
        R_0, p_0 = s.placement[:3, :3], s.placement[:3, 3]
        t = R @ (p_0 + R_0 @ p_j)
        R = R @ (R_0 @ R_j)
        places.append((s, R, t))
    own: Array | None = frame[:3, 3]
    r, steps = R @ frame[:3, 3], list[WayStep]()
    for s, R_k, t in reversed(places):
        steps.append(WayStep(s, R_k, t, r, own))
        r, own = r + t, None
    return End(R @ frame[:3, :3], steps[::-1], frame[:3, 3] + xp.zeros(3))


def coordinate_factors(s: Segment, q: Array) -> Array:
    """How the coordinate of a segment's joint changes with the velocities that move it."""
    if s.higher:
        own = q[np.array(s.q_index)]
        return value(slope((s.offset, s.ratio, *s.higher)), own)
    return np.broadcast_to(np.asarray(s.ratio), (len(s.v_index),))


# ---------------------------------------------------------------------- φ and K
def residual(tree: Tree, gaps: Sequence[Gap], q: Array) -> Array:
    """φ(q), (m,): zero where all loops are closed."""
    xp, found = namespace(q), []
    for gap in gaps:
        if isinstance(gap.cut, Gear):
            total = -gap.cut.constant
            for k, c in gap.terms:
                total = total + c * tree.segments[k - 1].coordinates(q)[0]
            found.append(total)
            continue
        A, B = ends(tree, gap, q)
        found += [_value(row, A, B) for row in gap.rows]
    return xp.stack([x + xp.zeros(()) for x in found]) if found else xp.zeros(0)


def residual_and_rows(tree: Tree, gaps: Sequence[Gap], q: Array) -> tuple[list[Any], list[Columns]]:
    """φ and the rows of K, which share the places of the bodies."""
    phi, rows = list[Any](), list[Columns]()
    for gap in gaps:
        if isinstance(gap.cut, Gear):
            phi += list(residual(tree, [gap], q))
            rows += jacobian_rows(tree, [gap], q)
            continue
        A, B = ends(tree, gap, q)
        phi += [_value(row, A, B) for row in gap.rows]
        rows += _gap_rows(gap, A, B, q)
    return phi, rows


def _value(row: LoopRow, A: End, B: End) -> Any:
    d = A.p - B.p
    if row.kind == "point":
        return row.a @ d
    if row.kind == "slide":
        return (A.R @ row.a) @ d
    if row.kind == "turn":
        return (A.R @ row.a) @ (B.R @ row.b) - row.number
    return (d @ d - row.number * row.number) / 2


def jacobian_rows(tree: Tree, gaps: Sequence[Gap], q: Array) -> list[Columns]:
    """The rows of K = ∂φ/∂q, the entries that are not zero by structure."""
    found: list[Columns] = []
    for gap in gaps:
        if isinstance(gap.cut, Gear):
            row: Columns = {}
            for k, c in gap.terms:
                s = tree.segments[k - 1]
                for i, f in zip(s.v_index, coordinate_factors(s, q), strict=True):
                    _add(row, i, c * f)
            found.append(row)
            continue
        A, B = ends(tree, gap, q)
        found += _gap_rows(gap, A, B, q)
    return found


def _gap_rows(gap: Gap, A: End, B: End, q: Array) -> list[Columns]:
    d = A.p - B.p if any(row.kind in ("slide", "rod") for row in gap.rows) else None
    forms = [_forms(row, A, B, d) for row in gap.rows]
    found: list[Columns] = [{} for _ in gap.rows]
    for end, sign in ((A, 1), (B, -1)):
        for s, R, _, r, own in end.steps:
            f = coordinate_factors(s, q)
            S, alone = s.joint.S, s.joint.S.shape[1] == 1
            for c, i in enumerate(s.v_index):
                column = S[:, 0 if alone else c]
                w = R @ column[3:]
                v = R @ column[:3] + cross(w, r) if own is None else \
                    R @ (column[:3] + cross(column[3:], own))
                for row, form in zip(found, forms, strict=True):
                    _add(row, i, (f[c] if alone else 1) * form(v, w, sign))
    return found


def _forms(row: LoopRow, A: End, B: End, d: Any) -> Callable[[Array, Array, int], Any]:
    """A row as a linear form of the velocities (v at the point, ω) of a side; B counts negative."""
    if row.kind == "point":
        return lambda v, w, sign: sign * (row.a @ v)
    if row.kind == "rod":
        return lambda v, w, sign: sign * (d @ v)
    if row.kind == "turn":
        n = cross(A.R @ row.a, B.R @ row.b)
        return lambda v, w, sign: sign * (n @ w)
    t = A.R @ row.a
    m = cross(t, d)
    return lambda v, w, sign: t @ v + m @ w if sign > 0 else -(t @ v)


def _add(row: Columns, i: int, x: Any) -> None:
    row[i] = row[i] + x if i in row else x


def dense(rows: Sequence[Columns], n: int, xp: Namespace) -> Array:
    """Rows as a matrix, (m, n)."""
    zero = xp.zeros(())
    if not rows or not n:
        return xp.zeros((len(rows), n))
    return xp.stack([xp.stack([row[i] + zero if i in row else zero for i in range(n)])
                     for row in rows])


def jacobian(tree: Tree, gaps: Sequence[Gap], q: Array) -> Array:
    """K = ∂φ/∂q, (m, nv) with the velocities of the tree."""
    return dense(jacobian_rows(tree, gaps, q), tree.nv, namespace(q))


# ---------------------------------------------------------------------- K̇ v
def drift(tree: Tree, gaps: Sequence[Gap], q: Array, v: Array) -> list[Any]:
    """K̇ v, a number for each row: the second time derivative of φ without accelerations."""
    found = []
    for gap in gaps:
        if isinstance(gap.cut, Gear):
            found.append(sum((c * _bend(tree.segments[k - 1], q, v) for k, c in gap.terms), 0))
            continue
        A, B = ends(tree, gap, q)
        a, b = (_motion(end, q, v) for end in (A, B))
        found += [_acceleration(row, A, B, a, b) for row in gap.rows]
    return found


def _bend(s: Segment, q: Array, v: Array) -> Any:
    """The acceleration of a coordinate that follows by a polynomial: γ'' v²."""
    if not s.higher:
        return 0
    i, = s.q_index
    x = v[s.v_index[0]]
    return value(slope(slope((s.offset, s.ratio, *s.higher))), q[i]) * x * x


def _motion(end: End, q: Array, v: Array) -> Motion:
    """Velocities and accelerations along a way, in fixed axes.

        ω̇_k = ω̇_p + ω_p × s_ω        a_k = a_p + ω̇_p × t + ω_p × (ω_p × t + 2 s_v) + s_ω × s_v
    """
    xp = namespace(q, v)
    w = dw = u = a = xp.zeros(3)
    if not end.steps:
        return Motion(w, dw, u, a)
    for s, R, t, _, _ in end.steps:
        f, S = coordinate_factors(s, q), s.joint.S
        own = s.velocities(v)
        if len(f) and S.shape[1] == 1:
            own = xp.stack([sum((f[c] * own[c] for c in range(1, len(f))), f[0] * own[0])])
        s_v, s_w = R @ (S[:3] @ own), R @ (S[3:] @ own)
        a = a + cross(dw, t) + cross(w, cross(w, t) + 2 * s_v) + cross(s_w, s_v)
        u = u + cross(w, t) + s_v
        dw, w = dw + cross(w, s_w), w + s_w
        bend = _bend(s, q, v)
        if s.higher:
            a, dw = a + R @ S[:3, 0] * bend, dw + R @ S[3:, 0] * bend
    r = end.steps[-1].r
    return Motion(w, dw, u + cross(w, r), a + cross(dw, r) + cross(w, cross(w, r)))


def _acceleration(row: LoopRow, A: End, B: End, a: Motion, b: Motion) -> Any:
    if row.kind == "point":
        return row.a @ (a.a - b.a)
    d, dd = A.p - B.p, a.v - b.v
    if row.kind == "rod":
        return dd @ dd + d @ (a.a - b.a)
    t = A.R @ row.a
    dt = cross(a.w, t)
    if row.kind == "slide":
        ddt = cross(a.dw, t) + cross(a.w, dt)
        return ddt @ d + 2 * (dt @ dd) + t @ (a.a - b.a)
    u = B.R @ row.b
    n, dn = cross(t, u), cross(dt, u) + cross(t, cross(b.w, u))
    return (a.dw - b.dw) @ n + (a.w - b.w) @ dn
