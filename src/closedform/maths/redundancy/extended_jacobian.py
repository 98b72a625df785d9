"""Redundant arms: the derivatives of tasks and criteria, and the extended Jacobian.

A task is f(q) = x with m equations, J = ∂f/∂q, n − m ≥ 0; a criterion H(q) is to be maximised with
gradient h. A stationary point has Nᵀh = 0 with N an orthonormal basis of the null space of J. All
derivatives are those along tangent vectors (left-trivialised); second derivatives are symmetric,
those of H(q ⊕ δ) by δ.

Cites: [Chang1987, eqs. (3)–(13)].
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from closedform.arrays import Array, Namespace, Scalar, namespace
from closedform.maths.kinematics import body_segments, world_poses
from closedform.model.robot import Robot


class Screw(NamedTuple):
    """A joint's motion as it moves a frame: of which segment and velocity, turn and shift."""

    depth: int          # the segment: deeper ones come later on the way to the frame
    velocity: int       # its place in v
    w: Array            # (3,) angular velocity in the world's axes
    p: Array            # (3,) velocity of the frame's origin in the world's axes


class Motion(NamedTuple):
    """A frame's place and how the joints move it."""

    R: Array                    # (3, 3)
    p: Array                    # (3,)
    screws: tuple[Screw, ...]   # base to frame
    nv: int


class Terms(NamedTuple):
    """A criterion at q: what its value is made of, its gradient and its Hessian."""

    raw: Array          # (k,)
    h: Array            # (nv,)
    B: Array            # (nv, nv), symmetric


def cross(a: Array, b: Array) -> Array:
    """a × b, (3,)."""
    return namespace(a, b).stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
                                  a[0] * b[1] - a[1] * b[0]])


def frame_motion(robot: Robot, q: Array, frame: str) -> Motion:
    """The frame's pose and the screws of all joints between the world and the frame.

        w_a = R_0k ω_a,   p_a = R_0k v_a + w_a × (p − p_0k)             (1)

    (v_a; ω_a): a column of S_k, k the segment of joint a.
    """
    place = robot.frame(frame)
    T = world_poses(robot, q)
    k = 0 if place.body is None else body_segments(robot)[robot.body_names.index(place.body)]
    p = T[k][1] + T[k][0] @ place.placement[:3, 3]
    R = T[k][0] @ place.placement[:3, :3]
    screws: list[Screw] = []
    while k:
        segment, (R_k, p_k) = robot.segments[k - 1], T[k]
        for column, i in enumerate(segment.v_index):
            w = R_k @ segment.S[3:, column]
            screws.insert(0, Screw(k, i, w, R_k @ segment.S[:3, column] + cross(w, p - p_k)))  # (1)
        k = segment.parent
    return Motion(R, p, tuple(screws), robot.nv)


def jacobian_of(motion: Motion) -> Array:
    """J (6, nv) of the frame, linear part first, at its origin in the world's axes."""
    return _gathered([(s.velocity, (*s.p, *s.w)) for s in motion.screws], motion.nv)


def jacobian_derivative(motion: Motion) -> Array:
    """∂J/∂q of `jacobian_of`, (6, nv, nv), the new index last.

        ∂_k p_a = w_k × p_a if k ≤ a, else w_a × p_k                    (2)
        ∂_k w_a = w_k × w_a if k ≤ a, else 0                            (3)

    k ≤ a: joint k lies nearer to the base, or both belong to one body. (2) is symmetric for joints
    with one velocity.
    """
    s, n = motion.screws, motion.nv
    columns: list[list[tuple[int, tuple[Any, ...]]]] = [[] for _ in range(n)]
    dp, dw = _screw_derivatives(motion)
    for a, s_a in enumerate(s):
        for k, s_k in enumerate(s):
            columns[s_a.velocity].append((s_k.velocity, (*dp[a][k], *dw[a][k])))
    xp = namespace(motion.p)
    return xp.stack([_gathered(column, n) for column in columns], axis=1)


def _screw_derivatives(motion: Motion) -> tuple[list[list[Array]], list[list[Array]]]:
    """(2) and (3): [a][k] = ∂_k of p_a and w_a."""
    s = motion.screws
    zero = 0 * motion.p
    dp = [[cross(s_k.w, s_a.p) if s_k.depth <= s_a.depth else cross(s_a.w, s_k.p) for s_k in s]
          for s_a in s]
    dw = [[cross(s_k.w, s_a.w) if s_k.depth <= s_a.depth and s_k is not s_a else zero
           for s_k in s] for s_a in s]
    return dp, dw


def _gathered(columns: Sequence[tuple[int, Any]], n: int) -> Array:
    """(6, n): six-vectors added up by their column."""
    xp = namespace(*(x for _, x in columns))
    sums: list[Any] = [[0.0] * 6 for _ in range(n)]
    for i, x in columns:
        sums[i] = [y + z for y, z in zip(sums[i], x, strict=True)]
    return xp.array(sums).T if n else xp.zeros((6, 0))


# ---------------------------------------------------------------------- the task's own terms
class Inverse(NamedTuple):
    """A = J Jᵀ = L Lᵀ and what follows from it."""

    L: Array            # (m, m) lower
    orthonormal: Array  # (m, n)  L⁻¹ J, whose rows are orthonormal
    G: Array            # (m, n)  A⁻¹ J, the transpose of J⁺
    det: Scalar         # det J Jᵀ


def inverse_terms(J: Array) -> Inverse:
    """Cholesky's factor of J Jᵀ, written out: stable without pivoting where J has full rank."""
    xp, m = namespace(J), len(J)
    A = J @ J.T
    L: list[list[Any]] = [[0.0] * m for _ in range(m)]
    for i in range(m):
        for j in range(i + 1):
            rest = A[i, j] - sum(L[i][k] * L[j][k] for k in range(j))
            L[i][j] = xp.sqrt(rest) if i == j else rest / L[j][j]
    factor = xp.array(L)
    O = lower_solve(factor, J)
    G: list[Any] = [None] * m
    for i in reversed(range(m)):
        G[i] = (O[i] - sum(L[k][i] * G[k] for k in range(i + 1, m))) / L[i][i]
    det = 1.0
    for i in range(m):
        det = det * L[i][i] * L[i][i]
    return Inverse(factor, O, xp.stack(G), det)


def lower_solve(L: Array, B: Array) -> Array:
    """L⁻¹ B for a lower triangular L."""
    rows: list[Any] = []
    for i in range(len(L)):
        rows.append((B[i] - sum(L[i, k] * rows[k] for k in range(i))) / L[i, i])
    return namespace(B).stack(rows)


def lagrangian_hessian(B: Array, dJ: Array, G: Array, h: Array) -> tuple[Array, Array]:
    """λ (m,) and W (n, n).

        λ = −(J Jᵀ)⁻¹ J h,   W = ∇²H + Σ_k λ_k ∇²f_k,   ∇²f_k = sym ∂J_k/∂q          (4)
    """
    multipliers = -(G @ h)
    n = len(h)
    W = [[B[i, j] + sum(multipliers[k] * (dJ[k, i, j] + dJ[k, j, i]) for k in range(len(G))) * 0.5
          for j in range(i + 1)] for i in range(n)]
    return multipliers, symmetric(W, namespace(h))


def symmetric(lower: list[list[Any]], xp: Namespace) -> Array:
    """A symmetric matrix from the rows of its lower triangle."""
    n = len(lower)
    return xp.array([[lower[max(i, j)][min(i, j)] for j in range(n)] for i in range(n)])


def extended_jacobian(J: Array, N: Array, W: Array) -> Array:
    """J_e = [J; NᵀW], (n, n): the derivative of (f; Nᵀh) at a stationary point.

        |det J_e| = √det(J Jᵀ) |det NᵀWN|                               (5)
    """
    return namespace(J).concatenate([J, N.T @ W])


# ---------------------------------------------------------------------- criteria
def log_manipulability(motion: Motion, rows: Sequence[int], J: Array, dJ: Array,
                       inverse: Inverse) -> Terms:
    """½ log det J Jᵀ of the chosen rows of a frame's Jacobian; `raw` is det J Jᵀ.

        h_k  = Σ_a g_a·∂_kJ_a = tr(J⁺ ∂_kJ),   g_a the columns of (J⁺)ᵀ            (6)
        B_kl = Σ_a g_a·∂_l∂_kJ_a − ½ ⟨S_k, S_l⟩ + ⟨K_k, K_l⟩                       (7)

    with K_k = L⁻¹ ∂_kJ, S_k = M_k + M_kᵀ, M_k = K_k (L⁻¹J)ᵀ. The sums over a run over the joints
    before or behind joint k alone, so that the gradient takes O(n) operations.
    """
    n, m = motion.nv, len(rows)
    g = [[_padded(inverse.G, rows, s.velocity, part) for s in motion.screws] for part in (0, 3)]
    h, T = _contracted(motion, g[0], g[1])
    K = [lower_solve(inverse.L, dJ[:, :, k]) for k in range(n)]
    entries = [[x for row in K_k for x in row] for K_k in K]
    M = [K_k @ inverse.orthonormal.T for K_k in K]
    S = [[M_k[i, j] + M_k[j, i] for i in range(m) for j in range(i)] for M_k in M]
    D = [[M_k[i, i] for i in range(m)] for M_k in M]
    B = [[(T[k, l] + T[l, k]) * 0.5 - _dot(S[k], S[l]) - 2.0 * _dot(D[k], D[l])
          + _dot(entries[k], entries[l]) for l in range(k + 1)] for k in range(n)]
    xp = namespace(h)
    return Terms(xp.array([inverse.det]), h, symmetric(B, xp))


def _padded(G: Array, rows: Sequence[int], i: int, part: int) -> Array:
    """The linear (part 0) or angular (3) half of a column of G, zero where a row is not asked."""
    entries = [G[rows.index(r), i] if r in rows else 0.0 for r in range(part, part + 3)]
    return namespace(G).array(entries)


def _contracted(motion: Motion, g: list[Array], g_w: list[Array]) -> tuple[Array, Array]:
    """Σ_a g_a·∂_kJ_a, (nv,), and Σ_a g_a·∂_l∂_kJ_a, (nv, nv), by (2), (3) and the product rule.

        h_k  = w_k·C_k + p_k·D_k
        T_kl = ∂_lw_k·C_k + w_k·E_kl + p_k·F_kl + ∂_lp_k·D_k
        C_k  = Σ_{a≥k} (p_a×g_a + w_a×γ_a),        D_k  = Σ_{a<k} g_a×w_a
        E_kl = Σ_{a≥k} (∂_lp_a×g_a + ∂_lw_a×γ_a),  F_kl = Σ_{a<k} g_a×∂_lw_a

    g_a and γ_a: the linear and the angular half.
    """
    s, n, xp = motion.screws, motion.nv, namespace(motion.p, *g)
    dp, dw = _screw_derivatives(motion)
    each = range(len(s))
    behind = [[a for a in each if s[a].depth >= s[k].depth] for k in each]
    before = [[a for a in each if s[a].depth < s[k].depth] for k in each]
    zero = xp.zeros(3)
    c = [cross(s[a].p, g[a]) + cross(s[a].w, g_w[a]) for a in each]
    d = [cross(g[a], s[a].w) for a in each]
    e = [[cross(dp[a][l], g[a]) + cross(dw[a][l], g_w[a]) for l in each] for a in each]
    f = [[cross(g[a], dw[a][l]) for l in each] for a in each]
    h: list[Any] = [0.0] * n
    T: list[list[Any]] = [[0.0] * n for _ in range(n)]
    for k in each:
        C, D = sum((c[a] for a in behind[k]), zero), sum((d[a] for a in before[k]), zero)
        i = s[k].velocity
        h[i] = h[i] + _dot(s[k].w, C) + _dot(s[k].p, D)
        for l in each:
            E = sum((e[a][l] for a in behind[k]), zero)
            F = sum((f[a][l] for a in before[k]), zero)
            j = s[l].velocity
            T[i][j] = (T[i][j] + _dot(dw[k][l], C) + _dot(s[k].w, E)
                       + _dot(s[k].p, F) + _dot(dp[k][l], D))
    return xp.array(h), xp.array(T)


def _dot(a: Any, b: Any) -> Any:
    return sum(x * y for x, y in zip(a, b, strict=True))


def power_of_manipulability(log_terms: Terms, power: int) -> Terms:
    """(det J Jᵀ)^(power/2) from the terms of y = ½ log det: with e = exp(power · y)

        ∇e = power e ∇y,   ∇²e = power e (∇²y + power ∇y ∇yᵀ)                      (8)
    """
    xp, det, h = namespace(log_terms.h), log_terms.raw[0], log_terms.h
    e = xp.sqrt(det) if power == 1 else det
    B = [[power * e * (log_terms.B[i, j] + power * h[i] * h[j]) for j in range(i + 1)]
         for i in range(len(h))]
    return Terms(xp.array([e]), power * e * h, symmetric(B, xp))


def quadratic(d: Array, weights: Array) -> Terms:
    """−½ Σ w_i d_i², of coordinates d_i that add."""
    xp, n = namespace(d), len(d)
    value = -0.5 * sum(w * x * x for w, x in zip(weights, d, strict=True))
    B = xp.array([[-weights[i] if i == j else 0.0 for j in range(n)] for i in range(n)])
    return Terms(xp.array([value]), -(weights * d), B)


def limit_barrier(d: Array, reach: Array) -> Terms:
    """−Σ_i 1/(r_i² − d_i²), the second sum of (12), for d_i = q_i − middle and half range r_i.

    `raw` holds r_i² − d_i², to be positive.
    """
    xp, n = namespace(d), len(d)
    room = [r * r - x * x for r, x in zip(reach, d, strict=True)]
    h = [-2.0 * d[i] / (room[i] * room[i]) for i in range(n)]
    B = xp.array([[-(2.0 * room[i] + 8.0 * d[i] * d[i]) / (room[i] * room[i] * room[i])
                   if i == j else 0.0 for j in range(n)] for i in range(n)])
    return Terms(xp.array(room), xp.array(h), B)


class Ellipsoid(NamedTuple):
    """An obstacle of (13): centre and radii (m), and the even roundness exponent s."""

    centre: tuple[float, float, float]
    radii: tuple[float, float, float]
    exponent: int = 2


def obstacle_distance(motion: Motion, obstacle: Ellipsoid) -> Terms:
    """−1/(C_O(x) − 1), the first sum of (12), for a point x of the arm; `raw` is C_O(x) − 1.

        C_O = Σ_k ((x_k − c_k)/r_k)^s                                   (13)

    The value makes sense outside the obstacle alone, where raw > 0.
    """
    xp, s, n = namespace(motion.p), obstacle.exponent, motion.nv
    J, dJ = jacobian_of(motion)[:3], jacobian_derivative(motion)[:3]
    u = [(motion.p[k] - obstacle.centre[k]) / obstacle.radii[k] for k in range(3)]
    room = sum(x ** s for x in u) - 1.0
    first = [s * u[k] ** (s - 1) / obstacle.radii[k] for k in range(3)]
    second = [s * (s - 1) * u[k] ** (s - 2) / obstacle.radii[k] ** 2 for k in range(3)]
    dC = [sum(first[k] * J[k, i] for k in range(3)) for i in range(n)]
    scale = 1.0 / (room * room)
    B = [[scale * (sum(second[k] * J[k, i] * J[k, j]
                       + first[k] * (dJ[k, i, j] + dJ[k, j, i]) * 0.5 for k in range(3))
                   - 2.0 * dC[i] * dC[j] / room) for j in range(i + 1)] for i in range(n)]
    return Terms(xp.array([room]), xp.array([scale * x for x in dC]), symmetric(B, xp))
