"""A robot written in one frame: screws, twists and masses, and the operators of C.

Composites are then sums, with nothing to carry. The frame may be the world's or that of any segment
`base`, taken as standing still for the instant: what is computed does not depend on the choice, the
number of operations does.

    S_j         screws of the joints;  Ṡ_j = V_j × S_j
    V_k         twists of the segments:  V_k = Σ S_j v_j over the joints j on the way to k
    m, h, Σ     moments of the bodies about the frame's origin; sums over subtrees are composites
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from closedform.arrays import Array, namespace
from closedform.maths.algorithms.joint_steps import Step, congruent, steps
from closedform.maths.algorithms.newton_euler import Moments, moments, momentum
from closedform.maths.spatial import cross
from closedform.model.robot import Robot

Twist = tuple[Array, Array]
"""Linear and angular part, (3,) each."""


class OneFrame(NamedTuple):
    """The robot's screws, twists and masses in one frame; lists start with the world."""

    S: list[list[Twist]]
    V: list[Twist]
    body: list[Moments | None]


def rotations_seen_from(
    robot: Robot, way: list[Step], base: int, xp: Any,
) -> list[tuple[Array, Array]]:
    """(R_bk, p_bk) of the world and of every segment in the frame of segment `base`.

        T_bp = T_bk T_pk⁻¹  from `base` to the world (number 0),   T_bk = T_bp T_pk  elsewhere
    """
    seen: dict[int, tuple[Array, Array]] = {base: (xp.eye(3), xp.zeros(3))}
    k = base
    while k:
        R, p = seen[k]
        step = way[k - 1]
        for factor in reversed(step.factors):
            R = R @ factor.T
        k = robot.segments[k - 1].parent
        seen[k] = R, p - R @ step.p
    for k, (segment, step) in enumerate(zip(robot.segments, way, strict=True), start=1):
        if k not in seen:
            R, p = seen[segment.parent]
            p = p + R @ step.p
            for factor in step.factors:
                R = R @ factor
            seen[k] = R, p
    return [seen[k] for k in range(len(robot.segments) + 1)]


def in_one_frame(robot: Robot, q: Array, v: Array, base: int = 0) -> OneFrame:
    """Screws, twists and body moments in the frame b of segment `base`, root to leaf.

        S_k = (R_bk s_v + p_bk × R_bk s_ω; R_bk s_ω),   V_k = V_p + S_k v_k
    """
    xp = namespace(q, v)
    T = rotations_seen_from(robot, steps(robot, q), base, xp)
    zero = xp.zeros(3)
    S: list[list[Twist]] = [[]]
    V: list[Twist] = [(zero, zero)]
    body: list[Moments | None] = [None]
    for k, segment in enumerate(robot.segments, start=1):
        R, p = T[k]
        screws, (u, w) = [], V[segment.parent]
        for c, i in enumerate(segment.v_index):
            s_w = R @ segment.S[3:, c]
            s_u = R @ segment.S[:3, c] + cross(p, s_w)
            screws.append((s_u, s_w))
            u, w = u + s_u * v[i], w + s_w * v[i]
        S.append(screws)
        V.append((u, w))
        body.append(None if segment.inertia is None else _seen(moments(segment.inertia), R, p))
    return OneFrame(S, V, body)


def _seen(body: Moments, R: Array, p: Array) -> Moments:
    """Moments about the origin of the frame in which the body's frame has the pose (R, p).

        h ← R h + m p,   Σ ← R Σ Rᵀ + p tᵀ + t pᵀ,   t = R h + ½ m p
    """
    h = R @ body.h
    t, (xx, xy, yy, xz, yz, zz) = h + body.m * p / 2, congruent(R, body.Sigma)
    return Moments(body.m, h + body.m * p, (
        xx + 2 * p[0] * t[0], xy + (p[0] * t[1] + t[0] * p[1]), yy + 2 * p[1] * t[1],
        xz + (p[0] * t[2] + t[0] * p[2]), yz + (p[1] * t[2] + t[1] * p[2]), zz + 2 * p[2] * t[2]))


class Operator(NamedTuple):
    """The velocity part of a Coriolis matrix, [[a~, B], [C, D]] on twists (u; ω).

    Like inertias, the operators of the bodies in a subtree add up to that of the composite.
    """

    a: Array   # (3,)
    B: Array   # (3, 3)
    C: Array   # (3, 3)
    D: Array   # (3, 3)

    def __matmul__(self, s: Twist) -> Twist:
        u, w = s
        return cross(self.a, u) + self.B @ w, self.C @ u + self.D @ w

    def transposed_times(self, s: Twist) -> Twist:
        """The transpose of the operator on s."""
        u, w = s
        return self.C.T @ w - cross(self.a, u), self.B.T @ u + self.D.T @ w

    def plus(self, other: Operator) -> Operator:
        return Operator(self.a + other.a, self.B + other.B, self.C + other.C, self.D + other.D)


def passive_operator(body: Moments, V: Twist) -> Operator:
    """V×* Λ of one body, the velocity part of (6b) in a frame at rest.

        [[m ω~, −ω~h~], [m u~ + ω~h~, ω~J − u~h~]],   J = tr(Σ) 1 − Σ
    """
    xp = namespace(body.h, *V)
    m, h, (xx, xy, yy, xz, yz, zz) = body
    u, w = V
    wh = _skew_product(w, h, xp)                                # ω~h~
    uh = _skew_product(u, h, xp)
    J = xp.array([[yy + zz, -xy, -xz], [-xy, xx + zz, -yz], [-xz, -yz, xx + yy]])
    wJ = xp.stack([w[1] * J[2] - w[2] * J[1], w[2] * J[0] - w[0] * J[2], w[0] * J[1] - w[1] * J[0]])
    mu = m * u
    skew_mu = xp.array([[0, -mu[2], mu[1]], [mu[2], 0, -mu[0]], [-mu[1], mu[0], 0]])
    return Operator(m * w, -wh, skew_mu + wh, wJ - uh)


def _skew_product(a: Array, b: Array, xp: Any) -> Array:
    """a~b~ = b aᵀ − (a·b) 1, (3, 3)."""
    xx, yy, zz = a[0] * b[0], a[1] * b[1], a[2] * b[2]
    return xp.array([[-(yy + zz), b[0] * a[1], b[0] * a[2]],
                     [b[1] * a[0], -(xx + zz), b[1] * a[2]],
                     [b[2] * a[0], b[2] * a[1], -(xx + yy)]])


class Flow(NamedTuple):
    """What the Christoffel symbols' operator is made of; like inertias, flows add up."""

    p: Array   # (3,), linear momentum
    G: Array   # (3, 3), ∫ ẋ xᵀ dm


def flow(body: Moments, V: Twist) -> Flow:
    """p = m u + ω × h and G = ω~ Σ + u hᵀ of one body."""
    m, h, (xx, xy, yy, xz, yz, zz) = body
    u, w = V
    Sigma = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
    wS = [[w[1] * Sigma[2][j] - w[2] * Sigma[1][j] for j in range(3)],
          [w[2] * Sigma[0][j] - w[0] * Sigma[2][j] for j in range(3)],
          [w[0] * Sigma[1][j] - w[1] * Sigma[0][j] for j in range(3)]]
    G = [[wS[i][j] + u[i] * h[j] for j in range(3)] for i in range(3)]
    return Flow(m * u + cross(w, h), namespace(body.h, *V).array(G))


def christoffel_operator(body: Moments, V: Twist) -> Operator:
    """½ (V×* Λ − Λ V× + (Λ V)×̄*) of one body, twelve numbers: [[0, −p~], [0, tr(G) 1 − G]]."""
    xp = namespace(body.h, *V)
    p, G = flow(body, V)
    minus_p = xp.array([[0, p[2], -p[1]], [-p[2], 0, p[0]], [p[1], -p[0], 0]])
    D = xp.array([[G[1, 1] + G[2, 2], -G[0, 1], -G[0, 2]],
                  [-G[1, 0], G[0, 0] + G[2, 2], -G[1, 2]],
                  [-G[2, 0], -G[2, 1], G[0, 0] + G[1, 1]]])
    return Operator(xp.zeros(3), minus_p, xp.zeros((3, 3)), D)


def velocity_matrix(
    robot: Robot, here: OneFrame, rate: list[list[Twist]],
    operator: Callable[[Moments, Twist], Operator], xp: Any,
) -> Array:
    """The Coriolis matrix of an operator's velocity part, (nv, nv).

        C_ij = S_i · (Λ Ṡ_j + O S_j)

    Λ and O are the inertia and the operator of the composite behind the deeper of joints i and j;
    `rate` are the Ṡ of the screws.
    """
    n = len(robot.segments)
    none, zero = Moments(0, xp.zeros(3), (0, 0, 0, 0, 0, 0)), xp.zeros((3, 3))
    Lambda: list[Moments] = [b or none for b in here.body]
    O = [Operator(xp.zeros(3), zero, zero, zero) if b is None else operator(b, V)
         for b, V in zip(here.body, here.V, strict=True)]
    for k in range(n, 0, -1):
        p = robot.segments[k - 1].parent
        if p:
            Lambda[p], O[p] = moments_sum(Lambda[p], Lambda[k]), O[p].plus(O[k])
    C: dict[tuple[int, int], Any] = {}
    for k, segment in enumerate(robot.segments, start=1):
        own = list(zip(segment.v_index, here.S[k], rate[k], strict=True))
        above = _above(robot, here, rate, k)
        for j, S_j, dS_j in own:
            f, g = momentum(Lambda[k], *dS_j), O[k] @ S_j
            w = f[0] + g[0], f[1] + g[1]
            for i, S_i, _ in own + above:
                C[i, j] = C.get((i, j), 0) + dot(S_i, w)
        for i, S_i, _ in own:
            u1, u2 = momentum(Lambda[k], *S_i), O[k].transposed_times(S_i)
            for j, S_j, dS_j in above:
                C[i, j] = C.get((i, j), 0) + (dot(u1, dS_j) + dot(u2, S_j))
    return xp.stack([xp.stack([C.get((i, j), 0) + xp.zeros(()) for j in range(robot.nv)])
                     for i in range(robot.nv)]) if robot.nv else xp.zeros((0, 0))


def _above(
    robot: Robot, here: OneFrame, rate: list[list[Twist]], k: int,
) -> list[tuple[int, Twist, Twist]]:
    """(velocity, S, Ṡ) of every joint between the world and segment k, k left out."""
    found = []
    k = robot.segments[k - 1].parent
    while k:
        found += list(zip(robot.segments[k - 1].v_index, here.S[k], rate[k], strict=True))
        k = robot.segments[k - 1].parent
    return found


def moments_sum(a: Moments, b: Moments) -> Moments:
    x, y = a.Sigma, b.Sigma
    return Moments(a.m + b.m, a.h + b.h, (
        x[0] + y[0], x[1] + y[1], x[2] + y[2],
        x[3] + y[3], x[4] + y[4], x[5] + y[5]))


def motion_times(V: Twist, s: Twist) -> Twist:
    """V × S = (ω × s_v + u × s_ω; ω × s_ω)."""
    return cross(V[1], s[0]) + cross(V[0], s[1]), cross(V[1], s[1])


def dot(a: Twist, b: Twist) -> Any:
    """a · b of a twist and a wrench."""
    return a[0] @ b[0] + a[1] @ b[1]
