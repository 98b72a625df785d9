"""Vectors, twists, wrenches and second moments across a joint, in as few operations as it allows.

The pose of segment k in its parent is (R_0 R_j, p): a constant rotation and the joint's own. A
constant rotation of zeros and ones costs nothing when it is applied apart from the joint's; a dense
one is multiplied into it first.

    V_p ← (R v + p × R ω; R ω)      V_k ← (Rᵀ (v + ω × p); Rᵀ ω)      F_p ← (R f; R n + p × R f)

Cites: [KhalilKleinfinger1987].
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from closedform.arrays import Array, Namespace, Number, namespace, numeric
from closedform.maths.algebra.trees import way_up
from closedform.maths.spatial import cross
from closedform.model.robot import Robot
from closedform.model.segments import Segment

Symmetric = tuple[Number, Number, Number, Number, Number, Number]
"""xx, xy, yy, xz, yz, zz of a symmetric 3x3 matrix."""


class JointStep(NamedTuple):
    """The way from a segment to its parent, or from any frame k to another p."""

    factors: tuple[Array, ...]   # rotations whose product is R_pk, the parent's side first
    p: Array                     # (3,), p_pk
    turn: tuple[Number, Number] | None = None   # (sin, cos) if the last factor turns about z

    def up(self, x: Array) -> Array:
        """R_pk x: a vector of the segment, seen in the parent."""
        for R in reversed(self.factors):
            x = R @ x
        return x

    def down(self, x: Array) -> Array:
        """R_pkᵀ x: a vector of the parent, seen in the segment."""
        for R in self.factors:
            x = R.T @ x
        return x

    def up_symmetric(self, A: Symmetric) -> Symmetric:
        """R_pk A R_pkᵀ for a symmetric A."""
        factors = self.factors
        if self.turn is not None:
            A, factors = turned_about_z(*self.turn, A), factors[:-1]
        for R in reversed(factors):
            A = congruent(R, A)
        return A

    def up_matrix(self, A: Array) -> Array:
        """R_pk A R_pkᵀ for any A, (3, 3)."""
        factors = self.factors
        if self.turn is not None:
            A, factors = matrix_turned_about_z(*self.turn, A), factors[:-1]
        for R in reversed(factors):
            A = R @ A @ R.T
        return A


class Crossing(Protocol):
    """What takes vectors across a joint: a `JointStep`, or one that moves."""

    @property
    def p(self) -> Array: ...

    def up(self, x: Array) -> Array: ...

    def down(self, x: Array) -> Array: ...


def twist_in_parent(step: Crossing, V: Array) -> Array:
    """X_pk V, (6,): a twist of the segment, at its parent's origin and in the parent's axes."""
    w = step.up(V[3:])
    return _joined(step.up(V[:3]) + cross(step.p, w), w)


def twist_in_segment(step: Crossing, V: Array) -> Array:
    """X_kp V, (6,): a twist of the parent, at the segment's origin and in the segment's axes."""
    return _joined(step.down(V[:3] + cross(V[3:], step.p)), step.down(V[3:]))


def wrench_in_parent(step: Crossing, F: Array) -> Array:
    """X_kpᵀ F, (6,): a wrench on the segment, about its parent's origin and in those axes."""
    f = step.up(F[:3])
    return _joined(f, step.up(F[3:]) + cross(step.p, f))


def _joined(linear: Array, angular: Array) -> Array:
    return namespace(linear, angular).concatenate([linear, angular])


def joint_steps(robot: Robot, q: Array) -> list[JointStep]:
    """The steps of all segments."""
    return [_step(segment, q) for segment in robot.segments]


def body_twists(robot: Robot, way: list[JointStep], v: Array, xp: Namespace) -> list[Array]:
    """V_k = X_kp V_p + S_k v_k of the world and of every segment, (6,) each."""
    V = [xp.zeros(6)]
    for segment, step in zip(robot.segments, way, strict=True):
        V.append(twist_in_segment(step, V[segment.parent]) + segment.S @ segment.velocities(v))
    return V


def gravity_in_segments(robot: Robot, way: list[JointStep]) -> list[Array]:
    """γ_k = Rᵀ γ_p, (3,) each: the world's γ_0 = −gravity, seen in every segment."""
    gamma: list[Array] = [-robot.gravity]
    for segment, step in zip(robot.segments, way, strict=True):
        gamma.append(step.down(segment.above(gamma)))
    return gamma


def at_ancestors(
    way: Sequence[Crossing], parent: list[int], k: int, *wrenches: Array,
) -> Iterator[tuple[int, list[Array]]]:
    """Wrenches on segment k, taken to each segment between it and the world, nearest first."""
    found = list(wrenches)
    for above in way_up(parent, k):
        found, k = [wrench_in_parent(way[k - 1], F) for F in found], above
        yield above, found


def _step(segment: Segment, q: Array) -> JointStep:
    xp = namespace(q)
    R_j, p_j = segment.joint.pose(segment.coordinates(q), xp)
    R_0, p_0 = segment.placement[:3, :3], segment.placement[:3, 3]
    p = p_0 + R_0 @ p_j
    if not sparse(R_0):
        return JointStep((R_0 @ R_j,), p)
    return JointStep((R_0, R_j), p, (R_j[1, 0], R_j[0, 0]) if segment.turns_about_z else None)


def sparse(R: Array) -> bool:
    """Whether a constant rotation has at most four entries other than 0 and ±1."""
    if not numeric(R):
        return True
    a = np.abs(np.asarray(R, dtype=float))
    return int(np.sum((a != 0) & (a != 1))) <= 4


def turned_about_z(s: Number, c: Number, A: Symmetric) -> Symmetric:
    """Rz A Rzᵀ for a symmetric A, in 8 multiplications.

        e = s (xx − yy) + 2 c xy,   the 2x2 block is [[xx − s e, c e − xy], [·, yy + s e]]
    """
    xx, xy, yy, xz, yz, zz = A
    e = s * (xx - yy) + (2 * c) * xy
    u = s * e
    return xx - u, c * e - xy, yy + u, c * xz - s * yz, s * xz + c * yz, zz


def matrix_turned_about_z(s: Number, c: Number, A: Array) -> Array:
    """Rz A Rzᵀ, (3, 3), in 12 multiplications.

        e = s (xx − yy) + c (xy + yx)
        the 2x2 block is [[xx − s e, c e − yx], [c e − xy, yy + s e]]
    """
    ((xx, xy, xz), (yx, yy, yz), (zx, zy, zz)) = A
    e = s * (xx - yy) + c * (xy + yx)
    u, w = s * e, c * e
    return namespace(A, s).array([[xx - u, w - yx, c * xz - s * yz],
                                  [w - xy, yy + u, s * xz + c * yz],
                                  [c * zx - s * zy, s * zx + c * zy, zz]])


def congruent(R: Array, A: Symmetric) -> Symmetric:
    """R A Rᵀ for a symmetric A."""
    xx, xy, yy, xz, yz, zz = A
    full = namespace(R, np.asarray(xx)).array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    T = R @ full
    return (T[0] @ R[0], T[0] @ R[1], T[1] @ R[1], T[0] @ R[2], T[1] @ R[2], T[2] @ R[2])
