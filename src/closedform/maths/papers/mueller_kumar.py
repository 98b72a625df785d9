"""Müller and Kumar's closed form: one matrix for the whole robot, 6 rows and columns a segment.

    V = J v,   J = A X,   A = (1 − D)⁻¹                                     (8), (9), (16)

Their equations, in our twist order: they write (ω; v), we (v; ω), so that every 6x6 block here is
theirs with its two halves exchanged; Ad, ad and the inertia become `motion_transform`, `crm` and
`Inertia.matrix`. Two things are more general than the citation:

- trees: only D changes, it has its blocks at (k, parent of k); several roots are fine;
- joints with several degrees of freedom: a X = 0 holds for one only, so that their A a J (12) is
  written P J with P = A a D. For one degree of freedom both are the same.

Rotor inertias are no part of it. External wrenches W are those that the bodies exert, the negative
of the loads that `inverse_dynamics` takes.

Cites: [MuellerKumar2021]; misprints and their corrections are in
`tests/papers/test_mueller_kumar.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from closedform.arrays import Array, Namespace, namespace
from closedform.maths.arguments import checked
from closedform.maths.kinematics import body_segments, motion_subspace, relative_poses, world_poses
from closedform.maths.spatial import crm, motion_transform
from closedform.model.robot import Robot


class SystemMatrices(NamedTuple):
    """The matrices of a configuration; N segments, 6N rows."""

    D: Array  # (6N, 6N), Ad of every segment over its parent, (17)
    A: Array  # (6N, 6N), (10)
    X: Array  # (6N, nv), the joint screws, (10)
    M: Array  # (6N, 6N), the body inertias, (21)
    U: Array  # (6N, 6), Ad of every segment over the world, (26)

    @property
    def J(self) -> Array:
        """The system Jacobian, (6N, nv), (9)."""
        return self.A @ self.X


class Rates(NamedTuple):
    """A matrix or vector and its first two time derivatives."""

    value: Array
    first: Array
    second: Array


def diagonal(parts: Sequence[Array], xp: Namespace) -> Array:
    """The block diagonal matrix of 6x6 parts."""
    zero = xp.zeros((6, 6))
    return xp.concatenate([
        xp.concatenate([part if i == j else zero for j in range(len(parts))], axis=1)
        for i, part in enumerate(parts)])


def system_matrices(robot: Robot, q: Array) -> SystemMatrices:
    """D, A, X, M and U at q.

    A row by row, A_k = D_kp A_p + 1, which is (1 − D)⁻¹ (16); U from the world (26).
    """
    xp = namespace(q)
    n = len(robot.segments)
    unit, zero = xp.eye(6), xp.zeros((6, 6))
    D: list[Array] = []
    A: list[Array] = []
    for k, (segment, T) in enumerate(zip(robot.segments, relative_poses(robot, q), strict=True)):
        Ad, p = motion_transform(*T), segment.parent - 1
        D.append(xp.concatenate([Ad if j == p else zero for j in range(n)], axis=1))
        own = xp.concatenate([unit if j == k else zero for j in range(n)], axis=1)
        A.append(own if p < 0 else Ad @ A[p] + own)
    U = [motion_transform(*T) for T in world_poses(robot, q)[1:]]
    X = [motion_subspace(segment, robot.nv, xp) for segment in robot.segments]
    M = [zero if s.inertia is None else s.inertia.matrix for s in robot.segments]
    return SystemMatrices(xp.concatenate(D), xp.concatenate(A), xp.concatenate(X),
                          diagonal(M, xp), xp.concatenate(U))


def joint_ad(robot: Robot, v: Array) -> Array:
    """a(v) = diag(v_k ad_{X_k}), (6N, 6N); ȧ = a(q̈), ä = a(q⃛).  (13)"""
    return diagonal([crm(s.S @ s.velocities(v)) for s in robot.segments], namespace(v))


def body_ad(V: Array) -> Array:
    """b(V) = diag(ad_{V_k}), (6N, 6N); ḃ = b(V̇), b̈ = b(V̈).  (23)"""
    return diagonal([crm(V[k:k + 6]) for k in range(0, len(V), 6)], namespace(V))


def propagation(robot: Robot, now: SystemMatrices, v: Array, a: Array, j: Array) -> Rates:
    """P = A a D with J̇ = −P J (12), and its derivatives.

        Ḋ = −a D,   Ȧ = A Ḋ A                                              (18)
        Ṗ = A (ȧ − a a) D − P P
        P̈ = A (ä − ȧ a − a ȧ − (ȧ − a a) a) D − P A (ȧ − a a) D − Ṗ P − P Ṗ

    In the citation Ṗ and P̈ are written out wherever they occur: (33), (41), (47), (48), (49).
    """
    D, A = now.D, now.A
    a_0, a_1, a_2 = (joint_ad(robot, rate) for rate in (v, a, j))
    P, K = A @ a_0 @ D, a_1 - a_0 @ a_0
    dP = A @ K @ D - P @ P
    ddP = A @ (a_2 - a_1 @ a_0 - a_0 @ a_1 - K @ a_0) @ D - P @ A @ K @ D - dP @ P - P @ dP
    return Rates(P, dP, ddP)


def system_twists(now: SystemMatrices, P: Rates, v: Array, a: Array, j: Array) -> Rates:
    """V (8), V̇ (15) and V̈, (6N,) each; V̈ is used in the citation and not given there.

        V = J v,   V̇ = J a − P V,   V̈ = J j − 2 P V̇ − (Ṗ + P P) V
    """
    V = now.J @ v
    dV = now.J @ a - P.value @ V
    ddV = now.J @ j - 2 * P.value @ dV - (P.first + P.value @ P.value) @ V
    return Rates(V, dV, ddV)


def projected(now: SystemMatrices, P: Rates, inner: Rates) -> Rates:
    """Jᵀ Y J and its derivatives of a block matrix Y(t), (nv, nv) each.

        Y⁽¹⁾ = Ẏ − Y P − Pᵀ Y                                              (32)
        Y⁽²⁾ = d/dt Y⁽¹⁾ − Y⁽¹⁾ P − Pᵀ Y⁽¹⁾                                  (46)

    Of M and of C the citation gives them with everything put in, as is said at the lines.
    """
    Y, dY, ddY = inner
    p, dp, _ = P
    Y1 = dY - Y @ p - p.T @ Y                               # of M (30); of C (32), (34), (35)
    dY1 = ddY - dY @ p - Y @ dp - dp.T @ Y - p.T @ dY       # of M (41), (42); of C (47)
    Y2 = dY1 - Y1 @ p - p.T @ Y1                            # of M (43), (44); of C (50), (51)
    return Rates(*(now.J.T @ y @ now.J for y in (Y, Y1, Y2)))


@checked
def mass_rates(robot: Robot, q: Array, v: Array, a: Array, j: Array) -> Rates:
    """M = Jᵀ M J (20), Ṁ (29) and M̈ (39), (40), (nv, nv) each, without rotor inertias."""
    now = system_matrices(robot, q)
    zero = now.M * 0
    return projected(now, propagation(robot, now, v, a, j), Rates(now.M, zero, zero))


@checked
def coriolis_rates(robot: Robot, q: Array, v: Array, a: Array, j: Array) -> Rates:
    """C = Jᵀ C J with C = −M P − bᵀ M (22), Ċ (31) and C̈ (45), (nv, nv) each.

        Ċ = −M Ṗ − ḃᵀ M   (33),        C̈ = −M P̈ − b̈ᵀ M   (48), (49)        of the inner C

    Not the passive one: Ṁ ≠ C + Cᵀ. `passive_coriolis_rates` is; both have the same C v.
    """
    now = system_matrices(robot, q)
    P = propagation(robot, now, v, a, j)
    twists = system_twists(now, P, v, a, j)
    inner = (-now.M @ p - body_ad(V).T @ now.M              # (22), (33), (48)
             for p, V in zip(P, twists, strict=True))
    return projected(now, P, Rates(*inner))


@checked
def passive_coriolis_rates(robot: Robot, q: Array, v: Array, a: Array, j: Array) -> Rates:
    """C̄ = −Jᵀ (M P + bᵀ M − M b) J (54) and its derivatives, (nv, nv) each: Ṁ = C̄ + C̄ᵀ (56).

    The same matrix as [Garofalo2013, eq. (6b)], which is `coriolis_matrix`.
    """
    now = system_matrices(robot, q)
    P = propagation(robot, now, v, a, j)
    twists = system_twists(now, P, v, a, j)
    inner = (-now.M @ p - body_ad(V).T @ now.M + now.M @ body_ad(V)
             for p, V in zip(P, twists, strict=True))
    return projected(now, P, Rates(*inner))


@checked
def gravity_rates(robot: Robot, q: Array, v: Array, a: Array, j: Array) -> Rates:
    """Q_grav = Jᵀ M U G (25), Q̇_grav (36) and Q̈_grav (52), (nv,) each, with G = −(⁰g; 0).

        U̇ = −A a U,   Ü = (A a A a − d/dt(A a)) U,   d/dt(A a) = A ȧ + A a a − A a A a   (19)
    """
    xp = namespace(q, v, a, j)
    now = system_matrices(robot, q)
    p, dp, _ = propagation(robot, now, v, a, j)
    a_0, a_1 = joint_ad(robot, v), joint_ad(robot, a)
    L = now.A @ a_0
    dL = now.A @ (a_1 + a_0 @ a_0) - L @ L
    field = now.U @ xp.concatenate([-robot.gravity, xp.zeros(3)])
    fields = field, -L @ field, (L @ L - dL) @ field
    return _pulled_back(now, p, dp, Rates(*(now.M @ x for x in fields)))


def _pulled_back(now: SystemMatrices, p: Array, dp: Array, F: Rates) -> Rates:
    """Jᵀ F and its derivatives for a system wrench F(t), with J̇ = −P J.  (37), (53)"""
    first = F.first - p.T @ F.value
    second = F.second - 2 * p.T @ F.first + (p.T @ p.T - dp.T) @ F.value
    return Rates(now.J.T @ F.value, now.J.T @ first, now.J.T @ second)


@checked
def exerted_wrench_rates(
    robot: Robot, q: Array, v: Array, a: Array, j: Array, W: Sequence[Array],
) -> Rates:
    """Q_ext = Jᵀ W (27), Q̇_ext (37) and Q̈_ext (53), (nv,) each.

    W, Ẇ, Ẅ are the wrenches that the bodies exert, (bodies, 6) each, in their frames.
    """
    xp = namespace(q, v)
    now = system_matrices(robot, q)
    p, dp, _ = propagation(robot, now, v, a, j)
    number = {k: i for i, k in enumerate(body_segments(robot))}
    system = [xp.concatenate([w[number[k]] if k in number else xp.zeros(6)
                              for k in range(1, len(robot.segments) + 1)]) for w in W]
    return _pulled_back(now, p, dp, Rates(*system))


def generalized_forces(
    robot: Robot, q: Array, rates: Sequence[Array], W: Sequence[Array] | None = None,
) -> Rates:
    """Q (1), Q̇ (28) and Q̈ (38), (nv,) each, of a motion with the rates v, a, j, s.

        Q = M a + C v + Q_grav + Q_ext
        Q̇ = M j + (Ṁ + C) a + Ċ v + Q̇_grav + Q̇_ext
        Q̈ = M s + (2 Ṁ + C) j + (M̈ + 2 Ċ) a + C̈ v + Q̈_grav + Q̈_ext
    """
    v, a, j, s = rates
    M, dM, ddM = mass_rates(robot, q, v, a, j)
    C, dC, ddC = coriolis_rates(robot, q, v, a, j)
    own = (M @ a + C @ v,
           M @ j + (dM + C) @ a + dC @ v,
           M @ s + (2 * dM + C) @ j + (ddM + 2 * dC) @ a + ddC @ v)
    loads = gravity_rates(robot, q, v, a, j)
    Q = [x + g for x, g in zip(own, loads, strict=True)]
    if W is not None:
        Q = [x + w for x, w in zip(Q, exerted_wrench_rates(robot, q, v, a, j, W), strict=True)]
    return Rates(*Q)
