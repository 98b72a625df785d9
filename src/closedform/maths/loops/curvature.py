"""How K and the accelerations of the gaps change along every velocity of the tree.

    D_rij = ∂_i K_rj        B_ri = ∂_i (K a + K̇ v)_r        v and a held

Of a row that holds a point P of both sides, with a joint's axis w_i and velocity v_i of P,

    ∂_i v_j = w_i × v_j for j outside of i or in the same joint, w_j × v_i for j inside of it    (i)
    ∂_i A_P = ω̇_p × v_i + ω_p × (ω_p × v_i) + 2 ω_p × (w_i × v_rel) + w_i × a_rel               (ii)

ω_p, ω̇_p being those of the body before joint i, and v_rel, a_rel what P has relative to it. Other
rows are differentiated along one direction after the other. Rows are the kept ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from closedform.arrays import Array, cross, namespace
from closedform.maths.algebra.lu import is_zero
from closedform.maths.loops.embedding import LoopEmbedding
from closedform.maths.scalars.dual import Dual, first
from closedform.model.coordinates import rates as coordinate_rates
from closedform.model.loops.gap import Columns, End, Gap, drift, ends, jacobian_rows


class Curvature(NamedTuple):
    """D and B, by row, then by velocity; entries that are not there are zero."""

    D: list[dict[int, Columns]]
    B: list[Columns]


def curvature(e: LoopEmbedding, q: Array, v: Array, a: Array) -> Curvature:
    """D and B of the kept rows."""
    D, B, at, kept = list[dict[int, Columns]](), list[Columns](), 0, set(e.closure.rows)
    for gap in e.closure.gaps:
        own = [k for k in range(len(gap.rows)) if at + k in kept]
        at += len(gap.rows)
        points = not e.free.has_followers and all(gap.rows[k].kind == "point" for k in own)
        found = _of_points(e, gap, own, q, v, a) if points else _by_duals(e, gap, own, q, v, a)
        D, B = D + found.D, B + found.B
    return Curvature(D, B)


# ---------------------------------------------------------------------- rows that hold a point
class _Moving(NamedTuple):
    """One velocity of a side: its place on the way, its axis, and the velocity of P by it."""

    i: int
    step: int
    w: Array
    v: Array


def _of_points(e: LoopEmbedding, gap: Gap, own: Sequence[int], q: Array, v: Array,
               a: Array) -> Curvature:
    D: list[dict[int, Columns]] = [{} for _ in own]
    B: list[Columns] = [{} for _ in own]
    for end, sign in zip(ends(e.free, gap, q), (1, -1), strict=True):
        moving = _moving(end)
        for x in moving:
            for y in moving:
                bent = cross(x.w, y.v) if y.step >= x.step else cross(y.w, x.v)
                for row, k in zip(D, own, strict=True):
                    _put(row.setdefault(x.i, {}), y.i, sign * (gap.rows[k].a @ bent))
        for x, change in zip(moving, _changes(end, moving, v, a), strict=True):
            for column, k in zip(B, own, strict=True):
                _put(column, x.i, sign * (gap.rows[k].a @ change))
    return Curvature(D, B)


def _put(row: Columns, i: int, x: Any) -> None:
    if not is_zero(x):
        row[i] = x


def _moving(end: End) -> list[_Moving]:
    found = []
    for n, (s, R, _, r, own) in enumerate(end.steps):
        S = s.joint.S
        for c, i in enumerate(s.v_index):
            w = R @ S[3:, c]
            v = R @ S[:3, c] + cross(w, r) if own is None else \
                R @ (S[:3, c] + cross(S[3:, c], own))
            found.append(_Moving(i, n, w, v))
    return found


def _changes(end: End, moving: Sequence[_Moving], v: Array, a: Array) -> list[Array]:
    """(ii), for every velocity of a side."""
    xp = namespace(v, a)
    w = dw = u = acc = xp.zeros(3)
    before = []
    for s, R, t, _, _ in end.steps:
        before.append((w, dw, u, acc, t))
        S, rate, change = s.joint.S, s.velocities(v), s.velocities(a)
        s_v, s_w = R @ (S[:3] @ rate), R @ (S[3:] @ rate)
        acc = acc + cross(dw, t) + cross(w, cross(w, t) + 2 * s_v) + cross(s_w, s_v) \
            + R @ (S[:3] @ change)
        u = u + cross(w, t) + s_v
        dw, w = dw + cross(w, s_w) + R @ (S[3:] @ change), w + s_w
    r = end.steps[-1].r if end.steps else xp.zeros(3)
    u_P, a_P = u + cross(w, r), acc + cross(dw, r) + cross(w, cross(w, r))
    relative = []
    for (w, dw, u, acc, t), step in zip(before, end.steps, strict=True):
        far = t + step.r                                   # of P from the parent's origin
        v_rel = u_P - (u + cross(w, far))
        relative.append((w, dw, v_rel, a_P - (acc + cross(dw, far) + cross(w, cross(w, far)))
                         - 2 * cross(w, v_rel)))
    found = []
    for x in moving:
        w, dw, v_rel, a_rel = relative[x.step]
        turned = cross(x.w, a_rel)
        found.append(turned if not x.step else cross(dw, x.v) + cross(
            w, cross(w, x.v) + 2 * cross(x.w, v_rel)) + turned)
    return found


# ---------------------------------------------------------------------- other rows
def _by_duals(e: LoopEmbedding, gap: Gap, own: Sequence[int], q: Array, v: Array,
              a: Array) -> Curvature:
    tree, xp = e.free, namespace(q)
    numbers = [n for n, _ in gap.terms] or [*gap.way_a, *gap.way_b]
    on_way = sorted({i for n in numbers for i in tree.segments[n - 1].v_index})
    D: list[dict[int, Columns]] = [{} for _ in own]
    B: list[Columns] = [{} for _ in own]
    for i in on_way:
        way = xp.eye(tree.nv)[i]
        rate, moved = coordinate_rates(tree, q, way, xp), np.empty(len(q), dtype=object)
        moved[:] = [x if is_zero(dx) else Dual(x, dx) for x, dx in zip(
            q, np.asarray(rate).tolist(), strict=True)]
        rows, bent = jacobian_rows(tree, [gap], moved), drift(tree, [gap], moved, v)
        for n, k in enumerate(own):
            change = {j: first(x) for j, x in rows[k].items() if not is_zero(first(x))}
            D[n][i] = change
            _put(B[n], i, sum((x * a[j] for j, x in change.items()), first(bent[k])))
    return Curvature(D, B)
