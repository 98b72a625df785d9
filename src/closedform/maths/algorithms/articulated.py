"""Forward dynamics by articulated bodies: O(n), for robots without mimic couplings.

Newton–Euler without joint accelerations gives the wrenches F_k of all velocities and of gravity.
What the joints add to the accelerations of the frames' origins, δ_k, then meets bodies at rest:

    δ_k = X_kp δ_p + S q̈              F_k + Λ_k δ_k is the wrench on body k              (i)

The articulated inertia I = [[A, H], [Hᵀ, J]] of a body and all behind it takes the place of Λ once
the accelerations behind are eliminated. With U = I S and D = Sᵀ U + the rotors' inertia,

    u = τ − Sᵀ F      K = D⁻¹ Uᵀ      q̈ = D⁻¹ u − K X_kp δ_p                             (ii)
    I ← I − U K       F ← F + U D⁻¹ u                   for the parent                   (iii)

Without rotor inertia (I − U K) S = U D⁻¹ (D − Sᵀ U) = 0, and Sᵀ (F + U D⁻¹ u) = τ: along an axis on
which a joint moves its body freely, the body gives its parent no inertia and the torque τ itself,
and K is one. These zeros and ones are written down here; computed, they would only be so to
rounding, and a recorder could not see them.

Cites: [Featherstone2008, section 7.3].
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from closedform.arrays import Array, Namespace, namespace, numeric
from closedform.maths.algorithms.applicability import uncoupled
from closedform.maths.algorithms.joint_steps import (
    JointStep,
    Symmetric,
    joint_steps,
    twist_in_segment,
    wrench_in_parent,
)
from closedform.maths.algorithms.moments import moments
from closedform.maths.algorithms.newton_euler import motions_and_forces
from closedform.maths.loads import with_loads
from closedform.maths.quantity import joins
from closedform.maths.spatial import cross, skew
from closedform.model.inertia import Inertia
from closedform.model.robot import Robot
from closedform.model.segments import Segment

SIX = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))
"""Where the numbers of a `Symmetric` stand."""


class Articulated(NamedTuple):
    """Inertia and wrench of an articulated body, in its frame."""

    A: Symmetric
    H: Array      # (3, 3)
    J: Symmetric
    F: Array      # (6,)

    def plus(self, other: Articulated) -> Articulated:
        """Of two bodies on one frame."""
        return Articulated(_six([x + y for x, y in zip(self.A, other.A, strict=True)]),
                           self.H + other.H,
                           _six([x + y for x, y in zip(self.J, other.J, strict=True)]),
                           self.F + other.F)


class Eliminated(NamedTuple):
    """A joint whose acceleration is eliminated: q̈ = z − δ along the free axes, z = rest − K δ."""

    free: Mapping[int, int]   # axis to column of S; there K is left out
    U: Array                  # (6, n_k)
    K: Array                  # (n_k, 6)
    rest: Array               # (n_k,), D⁻¹ u


@joins
@with_loads
@uncoupled
def forward_dynamics(
    robot: Robot, q: Array, v: Array, tau: Array, wrenches: Array | None = None,
) -> Array:
    """a = M⁻¹ (τ + Σ J_kᵀ F_k − C v − g), (nv,), by articulated bodies."""
    xp = namespace(q, v, tau, *(x for x in (wrenches,) if x is not None))
    way = joint_steps(robot, q)
    _, F = motions_and_forces(robot, way, v, None, wrenches, xp)
    joints = _eliminated(robot, way, F, tau, xp)
    return _accelerations(robot, way, joints, xp)


@uncoupled
def mass_solve(robot: Robot, q: Array, b: Array) -> Array:
    """M⁻¹ b, (nv,): the accelerations of the torques b at rest without gravity."""
    xp, way = namespace(q, b), joint_steps(robot, q)
    still = [xp.zeros(6) for _ in range(len(way) + 1)]
    return _accelerations(robot, way, _eliminated(robot, way, still, b, xp), xp)


def _eliminated(
    robot: Robot, way: list[JointStep], F: list[Array], tau: Array, xp: Namespace,
) -> list[Eliminated]:
    """All joints, leaves first: (ii) and (iii)."""
    body = [_rigid(None, F[0])]
    body += [_rigid(s.inertia, F_k) for s, F_k in zip(robot.segments, F[1:], strict=True)]
    joints: list[Any] = [None] * len(way)
    for k in range(len(way), 0, -1):
        segment, p = robot.segments[k - 1], robot.segments[k - 1].parent
        joints[k - 1] = joint = _eliminate(segment, body[k], tau, robot.rotor_inertia, xp)
        if p:
            rest = _without_joint(segment, body[k], joint, tau, xp)
            for above, share in segment.shares(_in_parent(rest, way[k - 1], xp)):
                if above:
                    body[above] = body[above].plus(share)
    return joints


def _rigid(inertia: Inertia | None, F: Array) -> Articulated:
    m, h, (xx, xy, yy, xz, yz, zz) = moments(inertia)
    return Articulated((m, 0, m, 0, 0, m), -skew(h), (yy + zz, -xy, xx + zz, -xz, -yz, xx + yy), F)


def _eliminate(
    segment: Segment, here: Articulated, tau: Array, rotor: Array, xp: Namespace,
) -> Eliminated:
    """(ii)."""
    S, index, n = segment.S, list(segment.v_index), len(segment.v_index)
    A, H, J, F = here
    U = xp.concatenate([_full(A, xp) @ S[:3] + H @ S[3:], H.T @ S[:3] + _full(J, xp) @ S[3:]])
    free = _free_axes(segment, rotor)
    if not n:
        return Eliminated(free, U, xp.zeros((0, 6)), xp.zeros(0))
    D = S.T @ U + xp.eye(n) * rotor[index]
    bound = [i for i in range(6) if i not in free]
    right = xp.stack([*(U[i] for i in bound), tau[index] - S.T @ F], axis=1)
    solved = xp.solve(D, right)
    K = {i: solved[:, c] for c, i in enumerate(bound)}
    return Eliminated(free, U, xp.stack([K.get(i, xp.zeros(n)) for i in range(6)], axis=1),
                      solved[:, -1])


def _free_axes(segment: Segment, rotor: Array) -> dict[int, int]:
    """Axes along which one velocity alone moves the body, without a rotor, and its column of S."""
    S = segment.S
    if not numeric(S):
        return {}
    found = {}
    for c, i in enumerate(segment.v_index):
        axes = np.flatnonzero(S[:, c])
        if (len(axes) == 1 and S[axes[0], c] == 1 and np.count_nonzero(S[axes[0]]) == 1
                and numeric(rotor[i]) and rotor[i] == 0):
            found[int(axes[0])] = c
    return found


def _without_joint(
    segment: Segment, here: Articulated, joint: Eliminated, tau: Array, xp: Namespace,
) -> Articulated:
    """(iii)."""
    free, U, K, rest = joint
    n = len(rest)

    def left(i: int, j: int, I_ij: Any) -> Any:
        return 0 if i in free or j in free else I_ij - sum(U[i, r] * K[r, j] for r in range(n))

    A = _six([left(i, j, x) for (i, j), x in zip(SIX, here.A, strict=True)])
    J = _six([left(i + 3, j + 3, x) for (i, j), x in zip(SIX, here.J, strict=True)])
    H = xp.array([[left(i, j + 3, here.H[i, j]) for j in range(3)] for i in range(3)])
    F = [tau[segment.v_index[free[i]]] if i in free
         else here.F[i] + sum(U[i, r] * rest[r] for r in range(n)) for i in range(6)]
    return Articulated(A, H, J, xp.stack(F))


def _in_parent(x: Articulated, step: JointStep, xp: Namespace) -> Articulated:
    """The articulated body seen from the parent: rotated, then moved by p.

        H ← H − A p~,   J ← J − Hᵀ p~ + p~ H   (the H on the left already moved)
    """
    A, H, J, p = step.up_symmetric(x.A), step.up_matrix(x.H), step.up_symmetric(x.J), step.p
    rows = _full(A, xp)
    moved = H + xp.stack([cross(p, rows[i]) for i in range(3)])          # −A p~, by rows: p × A_i
    back = xp.stack([cross(p, H[:, i]) for i in range(3)])               # −Hᵀ p~, by rows
    front = xp.stack([cross(p, moved[:, j]) for j in range(3)], axis=1)  # p~ H, by columns
    J = _six([J_ij + (back[i, j] + front[i, j]) for (i, j), J_ij in zip(SIX, J, strict=True)])
    return Articulated(A, moved, J, wrench_in_parent(step, x.F))


def _accelerations(
    robot: Robot, way: list[JointStep], joints: list[Eliminated], xp: Namespace,
) -> Array:
    """q̈ from the root to the leaves, by (ii) and (i)."""
    delta = [xp.zeros(6)]
    found: list[Any] = [0] * robot.nv
    for segment, step, (free, _, K, rest) in zip(robot.segments, way, joints, strict=True):
        before = twist_in_segment(step, segment.above(delta))
        z = rest - K @ before
        moved = {column: axis for axis, column in free.items()}
        a = [z[c] - before[moved[c]] if c in moved else z[c] for c in range(len(rest))]
        for i, a_i in zip(segment.v_index, a, strict=True):
            found[i] = a_i
        S = segment.S
        delta.append(xp.stack([z[free[i]] if i in free else before[i] + sum(
            S[i, c] * a_c for c, a_c in enumerate(a)) for i in range(6)]))
    return xp.stack(found) if found else xp.zeros(0)


def _six(x: list[Any]) -> Symmetric:
    return x[0], x[1], x[2], x[3], x[4], x[5]


def _full(x: Symmetric, xp: Namespace) -> Array:
    return xp.array([[x[0], x[1], x[3]], [x[1], x[2], x[4]], [x[3], x[4], x[5]]])
