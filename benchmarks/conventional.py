"""Inverse dynamics and mass matrix in plain 6-D spatial algebra, for the code generators.

What a user of CasADi or JAX writes by hand after Featherstone: 6x6 transforms and inertias in the
frames of the file, nothing regrouped. Twists are linear part first.

Cites: [Featherstone2008, tables 5.1 and 6.2].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from building import MissingError

import closedform as cf
from closedform.maths.canonical.snapping import snapped
from closedform.model.robot import Body, Robot


@dataclass(frozen=True)
class Scalars:
    """What the algorithms need of a library: constants, arrays from lists, sine and cosine."""

    constant: Callable[[Any], Any]
    array: Callable[[Any], Any]
    sin: Callable[[Any], Any]
    cos: Callable[[Any], Any]


def prepared(robot: Robot) -> Robot:
    """The robot with the zeros that rounded numbers in its file hide."""
    result, _ = snapped(robot, 1e-9)
    return result


def inverse_dynamics(robot: Robot, q: Any, v: Any, a: Any, of: Scalars) -> list[Any]:
    """τ, a list of nv scalars, by the recursive Newton-Euler algorithm."""
    g = of.constant(np.concatenate([-np.asarray(robot.gravity), np.zeros(3)]))
    V, A, F = [of.constant(np.zeros(6))], [g], [None]
    X, S = transforms(robot, q, of), [of.constant(_axes(body)) for body in robot.bodies]
    for k, (body, p) in enumerate(zip(robot.bodies, robot.parents, strict=True)):
        part, I_k = robot.v_slices[body.joint_name], of.constant(body.inertia.matrix)
        rate = S[k] @ v[part]
        V_k = X[k] @ V[p] + rate
        crm = _crm(V_k, of)
        A_k = X[k] @ A[p] + S[k] @ a[part] + crm @ rate
        V.append(V_k); A.append(A_k); F.append(I_k @ A_k - crm.T @ (I_k @ V_k))
    tau: list[Any] = [None] * robot.nv
    for k in reversed(range(len(robot.bodies))):
        tau[robot.v_slices[robot.bodies[k].joint_name]] = list(S[k].T @ F[k + 1])
        p = robot.parents[k]
        if p:
            F[p] = F[p] + X[k].T @ F[k + 1]
    return tau


def mass_matrix(robot: Robot, q: Any, of: Scalars) -> list[list[Any]]:
    """M, nv rows, by composite rigid bodies."""
    X, S = transforms(robot, q, of), [of.constant(_axes(body)) for body in robot.bodies]
    I = [None, *(of.constant(body.inertia.matrix) for body in robot.bodies)]
    M: list[list[Any]] = [[0.0] * robot.nv for _ in range(robot.nv)]
    for k in reversed(range(len(robot.bodies))):
        p = robot.parents[k]
        if p:
            I[p] = I[p] + X[k].T @ I[k + 1] @ X[k]
        F, j = I[k + 1] @ S[k], k
        while True:
            _place(robot, M, S[j].T @ F, j, k)
            if not robot.parents[j]:
                break
            F, j = X[j].T @ F, robot.parents[j] - 1
    return M


def forward_dynamics(robot: Robot, q: Any, v: Any, tau: Any, of: Scalars) -> list[Any]:
    """a from M a = τ − bias, by M = L D Lᵀ."""
    n, M = robot.nv, mass_matrix(robot, q, of)
    bias = inverse_dynamics(robot, q, v, of.constant(np.zeros(n)), of)
    L, D = [[0.0] * n for _ in range(n)], [0.0] * n
    for i in range(n):
        for j in range(i):
            L[i][j] = (M[i][j] - sum(L[i][k] * D[k] * L[j][k] for k in range(j))) / D[j]
        D[i] = M[i][i] - sum(L[i][k] * L[i][k] * D[k] for k in range(i))
    x = [tau[i] - bias[i] for i in range(n)]
    for i in range(n):
        x[i] = x[i] - sum(L[i][k] * x[k] for k in range(i))
    x = [x[i] / D[i] for i in range(n)]
    for i in reversed(range(n)):
        x[i] = x[i] - sum(L[k][i] * x[k] for k in range(i + 1, n))
    return x


def transforms(robot: Robot, q: Any, of: Scalars) -> list[Any]:
    """X_kp = [[Rᵀ, −Rᵀ p̃], [0, Rᵀ]] of each body, (6, 6)."""
    result = []
    for body in robot.bodies:
        T, part = body.placement, q[robot.q_slices[body.joint_name]]
        R, p = of.constant(T[:3, :3]) @ _turn(body, part, of), of.constant(T[:3, 3])
        if isinstance(body.joint, cf.Free):
            p = p + of.constant(T[:3, :3]) @ part[:3]
        right = R.T @ _tilde(p, of)
        result.append(of.array([[*R.T[i], *(-x for x in right[i])] for i in range(3)]
                               + [[0.0, 0.0, 0.0, *R.T[i]] for i in range(3)]))
    return result


def _turn(body: Body, q: Any, of: Scalars) -> Any:
    """A joint's rotation: aaᵀ + cos q (1 − aaᵀ) + sin q ã, or that of a quaternion."""
    if isinstance(body.joint, cf.Free):
        x, y, z, w = q[3], q[4], q[5], q[6]
        return of.array([
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]])
    if not isinstance(body.joint, cf.Revolute) or np.any(np.asarray(body.joint.point) != 0):
        raise MissingError(f"spatial algebra is written for turns and free bases only, "
                      f"not {type(body.joint).__name__}")
    axis = np.asarray(body.joint.axis, dtype=float)
    along = np.outer(axis, axis)
    x, y, z = axis
    across = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return (of.constant(along) + of.constant(np.eye(3) - along) * of.cos(q[0])
            + of.constant(across) * of.sin(q[0]))


def _axes(body: Body) -> Any:
    if isinstance(body.joint, cf.Revolute):
        return np.array([0.0, 0.0, 0.0, *body.joint.axis])[:, None]
    return np.eye(6)


def _place(robot: Robot, M: list[list[Any]], block: Any, j: int, k: int) -> None:
    """Write a block of M and its transpose."""
    rows, columns = (robot.v_slices[robot.bodies[i].joint_name] for i in (j, k))
    for r in range(rows.start, rows.stop):
        for c in range(columns.start, columns.stop):
            M[r][c] = M[c][r] = block[r - rows.start, c - columns.start]


def _tilde(x: Any, of: Scalars) -> Any:
    return of.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])


def _crm(V: Any, of: Scalars) -> Any:
    """V× = [[ω̃, ṽ], [0, ω̃]], (6, 6)."""
    w, u = _tilde(V[3:], of), _tilde(V[:3], of)
    return of.array([[*w[i], *u[i]] for i in range(3)]
                    + [[0.0, 0.0, 0.0, *w[i]] for i in range(3)])
