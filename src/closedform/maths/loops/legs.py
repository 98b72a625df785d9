"""∂τ of platforms on legs, by what each leg does to the point of the platform that it holds.

A leg has three velocities v_L and ends in a ball at P, a point of the platform's limb, whose
velocities are x: with J and P_x the velocities of P by both, T = J⁻¹,

    v_L = T P_x x        ẏ = L x,      L = E_L T P_x        r(x) = τ_x + Σ P_xᵀ Tᵀ τ_L = Lᵀ τ    (i)

How a leg's forces follow the acceleration, velocity and place of P is N = Tᵀ m T, 3 x 3, with

    m_a = M            m_v = τ_v − 2 M T W            m_q = τ_q − S − m_v T W − M T B

τ_q, τ_v and M being those of the tree, S the stiffness of the forces, W and B of `PointMotion`. The
leg's own ẏ and ÿ do so by m T, with E_L for M and no forces. In the axes of the platform

    r_a = M + Σ P_xᵀ N_a P_x                      r_v = τ_v − M ad_x + Σ P_xᵀ (N_v P_x + 2 N_a W_x)
    r_q = τ_q − S + Σ P_xᵀ (N_q P_x + N_v W_x + N_a B_x)                                        (ii)

    ∂τ/∂ÿ = L⁻ᵀ r_a L⁻¹                           ∂τ/∂ẏ = (L⁻ᵀ r_v − 2 M_y ∂ẏ/∂X) L⁻¹
    ∂τ/∂y = (L⁻ᵀ r_q − M_y ∂ÿ/∂X − (∂τ/∂ẏ) ∂ẏ/∂X) L⁻¹                                          (iii)

P̈ changes with x by W_x + Ṗ_x = 2 W_x + P_x ad_x, where ad_x is the bracket of turns of one joint,
and the last term with a change −ad_x of ẋ is none of P's: that leaves −M ad_x of the platform. No
leg meets another before (ii), and nothing has more columns than there are y.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from closedform.arrays import Array, Namespace, cross, namespace
from closedform.maths.algebra.lu import lu
from closedform.maths.spatial import crm
from closedform.model.loops.closure import Closure, samples
from closedform.model.loops.elimination import pivots
from closedform.model.robot import Robot
from closedform.model.segments import Segment

BodyPoint = tuple[tuple[int, ...], np.ndarray]
"""The segments from the root to a body, and a point of that body."""


class Leg(NamedTuple):
    """A limb of three velocities, the point that it holds on both sides, and which are its ẏ."""

    velocities: tuple[int, ...]
    end: BodyPoint
    held: BodyPoint
    driven: tuple[int, ...]      # of the three
    places: tuple[int, ...]      # and where they are in ẏ


class Platform(NamedTuple):
    """What stands on legs: its velocities x, those of them that are in ẏ, and an order for L."""

    legs: tuple[Leg, ...]
    x: tuple[int, ...]
    own: dict[int, int]          # by place in ẏ, the place in x
    pivots: tuple[tuple[int, int], ...]


# ---------------------------------------------------------------------- which robots stand so
def platform_of(tree: Robot, closure: Closure) -> Platform | None:
    """The platform on legs that a robot is; None if it is none, or if x is no longer than P is.

    There the 3 x 3 matrices of legs take more operations than columns by y do.
    """
    limb = [0]
    for k, s in enumerate(tree.segments, start=1):
        limb.append(limb[s.parent] if s.parent else k)
    balls = all([row.kind for row in gap.rows] == ["point"] * 3 and gap.way_a and gap.way_b
                for gap in closure.gaps)
    if tree.has_followers or len(closure.gaps) < 2 or len(closure.rows) < closure.count or \
            not balls or any(tree.segments[way[0] - 1].parent
                             for gap in closure.gaps for way in (gap.way_a, gap.way_b)):
        return None
    ends = [{limb[gap.way_a[0]]: (gap.way_a, gap.A[:3, 3]),
             limb[gap.way_b[0]]: (gap.way_b, gap.B[:3, 3])} for gap in closure.gaps]
    shared = set.intersection(*map(set, ends))
    if len(shared) != 1:
        return None
    platform, = shared
    legs = [_leg(tree, closure, limb, both, platform) for both in ends]
    found = [leg for leg in legs if leg is not None]
    taken = [i for leg in found for i in leg.velocities]
    x = tuple(i for i in range(tree.nv) if i not in taken)
    if len(found) < len(legs) or len(set(taken)) < len(taken) or len(x) <= 3:
        return None
    own = {n: x.index(i) for n, i in enumerate(closure.independent) if i in x}
    whole = Platform(tuple(found), x, own, ())
    still = np.zeros(tree.nv)
    Ls = [_slopes(whole, [_held(tree, leg, q, still, still) for leg in found],
                  np.zeros((len(x), len(x)))).L for q in samples(tree, closure)]
    return whole._replace(pivots=pivots(np.stack(Ls)))


def _leg(tree: Robot, closure: Closure, limb: Sequence[int], both: dict[int, BodyPoint],
         platform: int) -> Leg | None:
    """A leg whose T exists wherever K_d is regular: none of it is driven, or one along its normal.
    """
    (end,) = (x for k, x in both.items() if k != platform)
    members = [s for k, s in enumerate(tree.segments, start=1) if limb[k] == limb[end[0][0]]]
    velocities = tuple(i for s in members for i in s.v_index)
    driven = tuple(n for n, i in enumerate(velocities) if i in closure.independent)
    if len(velocities) != 3 or len(driven) > 1 or not all(s.joint.is_vector for s in members) or \
            len(velocities) != sum(len(tree.segments[k - 1].v_index) for k in end[0]):
        return None
    rng = np.random.default_rng(0)
    for n in driven:
        for _ in range(3):
            q = closure.home + rng.normal(size=len(closure.home))
            J = point_motion(tree, end, q, *np.zeros((2, tree.nv))).J
            others = [m for m in range(3) if m != n]
            normal = np.cross(J[:, others[0]], J[:, others[1]])
            if np.linalg.norm(np.cross(normal, J[:, n])) > 1e-9 * np.linalg.norm(normal):
                return None
    return Leg(velocities, end, both[platform], driven,
               tuple(closure.independent.index(velocities[n]) for n in driven))


# ---------------------------------------------------------------------- a point that moves
class PointMotion(NamedTuple):
    """A point P of a body and how it moves by the velocities on its way, in the body's axes.

    (3, k) each: J the velocities of P, W = ∂(J v)/∂q and B = ∂(J a + J̇ v)/∂q with v and a held; R
    are the body's axes in fixed ones, `ways` its velocities, and D[i][j] is ∂_i J_j.
    """

    R: Array
    ways: tuple[int, ...]
    J: Array
    W: Array
    B: Array
    D: list[list[Array]]


def point_motion(tree: Robot, point: BodyPoint, q: Array, v: Array, a: Array) -> PointMotion:
    """With w_i the axis of joint i, ω_p of the body before it, v_p, a_p of P relative to that body,

        W_i = ω_p × J_i + w_i × v_p
        B_i = ω̇_p × J_i + ω_p × (ω_p × J_i + 2 w_i × v_p) + w_i × a_p
    """
    xp = namespace(q, v, a)
    Q, r, steps = xp.eye(3), point[1] + xp.zeros(3), []
    for k in reversed(point[0]):
        s = tree.segments[k - 1]
        R_j, p_j = s.joint.pose(s.coordinates(q), xp)
        R_0, p_0 = s.placement[:3, :3], s.placement[:3, 3]
        S_v, S_w = Q @ s.joint.S[:3], Q @ s.joint.S[3:]
        J = [S_v[:, c] + cross(S_w[:, c], r) for c in range(len(s.v_index))]
        steps.append((s, S_v, S_w, J, r))
        Q = Q @ (R_0 @ R_j).T
        r = r + Q @ (p_0 + R_0 @ p_j)
    moving, after = [], (xp.zeros(3), xp.zeros(3))
    for s, S_v, S_w, J, far in steps:                       # relative to the body before
        rate, gain = s.velocities(v), s.velocities(a)
        w, dw = S_w @ rate, S_w @ gain
        here = S_v @ rate + cross(w, far)
        u = here + after[0]
        acc = S_v @ gain + cross(dw, far) + cross(w, here + 2 * after[0]) + after[1]
        moving.append((s, S_w, J, w, dw, u, acc))
        after = (u, acc)
    W, B, ways, axes, slopes, joints = [], [], list[int](), [], [], []
    w_p = dw_p = xp.zeros(3)
    for n, (s, S_w, J, w, dw, v_p, a_p) in enumerate(reversed(moving)):
        for c, J_i in enumerate(J):
            w_i = S_w[:, c]
            W.append(cross(w_p, J_i) + cross(w_i, v_p))
            B.append(cross(dw_p, J_i) + cross(w_p, cross(w_p, J_i) + 2 * cross(w_i, v_p))
                     + cross(w_i, a_p))
            axes.append(w_i)
            slopes.append(J_i)
            joints.append(n)
        ways += s.v_index
        dw_p, w_p = dw_p + cross(w_p, w) + dw, w_p + w
    D = [[cross(axes[i], slopes[j]) if joints[j] >= joints[i] else cross(axes[j], slopes[i])
          for j in range(len(ways))] for i in range(len(ways))]
    slope, change, bend = (xp.stack(x, axis=1) for x in (slopes, W, B))
    return PointMotion(Q.T, tuple(ways), slope, change, bend, D)


# ---------------------------------------------------------------------- what a leg does
class HeldLeg(NamedTuple):
    """A leg at one instant: P by its own velocities and by the platform's."""

    leg: Leg
    near: PointMotion
    far: PointMotion
    T: Array
    F: Array                     # T of velocities of P in the platform's axes


class LegForms(NamedTuple):
    """How something follows from an acceleration, a velocity and a place."""

    a: Array
    v: Array
    q: Array


def _held(tree: Robot, leg: Leg, q: Array, v: Array, a: Array) -> HeldLeg:
    near, far = (point_motion(tree, point, q, v, a) for point in (leg.end, leg.held))
    x, y, z = near.J.T
    b = [cross(y, z), cross(z, x), cross(x, y)]
    T = namespace(near.J).stack(b) * (1 / (x @ b[0]))
    return HeldLeg(leg, near, far, T, T @ (near.R.T @ far.R))


def _forms(held: HeldLeg, a: Array, v: Any, q: Any) -> LegForms:
    """m_a, m_v and m_q."""
    T, near = held.T, held.near
    TW = T @ near.W
    by_v = v - a @ (2 * TW)
    return LegForms(a, by_v, q - by_v @ TW - a @ (T @ near.B))


def _by_x(N: LegForms, far: PointMotion) -> LegForms:
    """The same by the velocities that move P on the platform's side."""
    return LegForms(N.a @ far.J, N.v @ far.J + 2 * (N.a @ far.W),
                 N.q @ far.J + N.v @ far.W + N.a @ far.B)


# ---------------------------------------------------------------------- all legs together
class DriveSlopes(NamedTuple):
    """How ẏ and ÿ follow, (n_y, n_y) each; ∂ÿ/∂ẋ is L too."""

    L: Array                     # ∂ẏ/∂x
    y_X: Array                   # ∂ẏ/∂X
    yy_x: Array                  # ∂ÿ/∂x − L ad_x
    yy_X: Array                  # ∂ÿ/∂X


def _slopes(platform: Platform, legs: Sequence[HeldLeg], ad: Array) -> DriveSlopes:
    xp, n = namespace(legs[0].T, ad), len(platform.x)
    none = xp.zeros(n)
    rows = {place: [xp.eye(n)[at], none, -ad[at], none] for place, at in platform.own.items()}
    for held in legs:
        for m, place in zip(held.leg.driven, held.leg.places, strict=True):
            N = LegForms(*(x @ held.F for x in _forms(held, xp.eye(3)[m], 0, 0)))
            x = LegForms(*(_spread(platform, held.far.ways, x) for x in _by_x(N, held.far)))
            rows[place] = [x.a, x.v / 2, x.v, x.q]
    return DriveSlopes(*(xp.stack([rows[k][part] for k in range(n)]) for part in range(4)))


def joint_bracket(s: Segment, v: Array) -> Array:
    """ad_v of a joint's own velocities, (k, k): zero but for turns that do not commute."""
    S = np.asarray(s.joint.S, dtype=float)
    return np.round(np.linalg.pinv(S), 12) @ crm(S @ s.velocities(v)) @ S


def _bracket(platform: Platform, tree: Robot, v: Array) -> Array:
    """ad_x, (n_y, n_y)."""
    xp, n = namespace(v), len(platform.x)
    total = _Sum(xp.zeros((n, n)))
    for s in tree.segments:
        if not s.joint.is_vector and s.v_index:
            total.add([platform.x.index(i) for i in s.v_index], joint_bracket(s, v))
    return total.array(xp)


def _spread(platform: Platform, ways: Sequence[int], row: Array) -> Array:
    """A row by some of the velocities x as one by all."""
    xp, entry = namespace(row), dict(zip(ways, row, strict=True))
    return xp.stack([entry[i] + xp.zeros(()) if i in entry else xp.zeros(()) for i in platform.x])


class TorqueSlopes(NamedTuple):
    """τ and its derivatives by ÿ, ẏ and y; of the tree those by its a, v and q."""

    tau: Array
    a: Array
    v: Array
    q: Array


def derivatives(platform: Platform, tree: Robot, state: tuple[Array, Array, Array],
                loads: TorqueSlopes) -> TorqueSlopes:
    """(iii): those of the robot from those of the tree, at the tree's q, v and a."""
    legs = [_held(tree, leg, *state) for leg in platform.legs]
    ad = _bracket(platform, tree, state[1])
    Y = _slopes(platform, legs, ad)

    def over(X: Array) -> Array:
        return _solve_transposed(Y.L, platform.pivots, X)

    tau = over(_gathered(platform, legs, loads.tau))
    M, V, Q = _residual(platform, legs, loads, tau)
    M_y = _mirrored(over(over(M).T).T)
    own = loads.a[np.ix_(platform.x, platform.x)] @ ad
    by_v = over((over(V - own) - M_y @ Y.yy_x).T).T
    return TorqueSlopes(tau, M_y, by_v, over((over(Q) - M_y @ Y.yy_X - by_v @ Y.y_X).T).T)


def _gathered(platform: Platform, legs: Sequence[HeldLeg], tau: Array) -> Array:
    """r of the tree's torques, of no motors."""
    found = tau[np.array(platform.x)]
    for held in legs:
        force = held.F.T @ tau[np.array(held.near.ways)]
        found = found + _spread(platform, held.far.ways, held.far.J.T @ force)
    return found


def _residual(platform: Platform, legs: Sequence[HeldLeg], loads: TorqueSlopes,
              tau: Array) -> LegForms:
    """(ii), with τ at the motors."""
    x = np.ix_(platform.x, platform.x)
    sums = [_Sum(X[x]) for X in loads[1:]]
    for held in legs:
        near, far, leg, F = held.near, held.far, held.leg, held.F
        own, at = np.ix_(near.ways, near.ways), [platform.x.index(i) for i in far.ways]
        load = loads.tau[np.array(near.ways)]
        for n, place in zip(leg.driven, leg.places, strict=True):
            load = load - namespace(load).eye(3)[n] * tau[place]
        M, V, Q = (X[own] for X in loads[1:])
        m = _forms(held, M, V, Q - _stiffness(near, held.T.T @ load))
        N = LegForms(_product(F, M @ F), *(F.T @ (x @ F) for x in m[1:]))
        by_x = _by_x(N, far)
        sums[0].add(at, _product(far.J, by_x.a))
        sums[1].add(at, far.J.T @ by_x.v)
        sums[2].add(at, far.J.T @ by_x.q + _stiffness(far, F.T @ load))
    xp = namespace(legs[0].T, loads.tau)
    return LegForms(*(total.array(xp) for total in sums))


def _stiffness(point: PointMotion, force: Array) -> Array:
    """S_ji = f · ∂_i J_j."""
    return namespace(force).stack([namespace(force).stack([D_ij @ force for D_ij in row])
                                   for row in point.D], axis=1)


class _Sum:
    """A square matrix to which smaller ones are added."""

    def __init__(self, first: Array) -> None:
        self.rows = [list(row) for row in first]

    def add(self, at: Sequence[int], X: Array) -> None:
        for i, row in zip(at, X, strict=True):
            for j, x in zip(at, row, strict=True):
                self.rows[i][j] = self.rows[i][j] + x

    def array(self, xp: Namespace) -> Array:
        return xp.stack([xp.stack(row) for row in self.rows])


def _product(A: Array, B: Array) -> Array:
    """Aᵀ B that is symmetric."""
    return _mirrored(A.T @ B)


def _mirrored(X: Array) -> Array:
    """A symmetric X by the entries on and above its diagonal."""
    xp = namespace(X)
    return xp.stack([xp.stack([X[min(i, j), max(i, j)] for j in range(len(X))])
                     for i in range(len(X))])


def _solve_transposed(L: Array, pivots: Sequence[tuple[int, int]], X: Array) -> Array:
    """L⁻ᵀ X."""
    xp = namespace(L, X)
    if L.dtype != object:
        return np.linalg.solve(L.T, X) if isinstance(L, np.ndarray) else xp.solve(L.T, X)
    return xp.stack(lu([dict(enumerate(row)) for row in L], pivots).solve_transposed(list(X)))
