"""Screws of the joints, their rates and composite bodies in one frame: what state derivatives need.

As in `one_frame`, everything is written in the frame of a segment `base`, taken as standing still
for the instant. For a screw S of a joint that connects p with k,

    Ṡ  = V_k × S          Ψ̇  = V_p × S          Ψ̈  = A_p × S + V_p × Ψ̇

V and A are twists and spatial accelerations, A of the world being −gravity. A joint with several
velocities has several screws; a mimic's screw stands for the velocity of its driver.

Moving along a screw S_k carries all behind its joint, S_k included, like a rigid body, and

    ∂_k S_m = S_k × S_m      ∂_k V_m = S_k × V_m + Ψ̇_k      ∂_k A_m = S_k × A_m + Ψ̇_k × V_m + Ψ̈_k
    ∂_k Ψ̇_j = S_k × Ψ̇_j + Ψ̇_k × S_j      ∂_k Ψ̈_j = S_k × Ψ̈_j + Ψ̈_k × S_j + 2 Ψ̇_k × Ψ̇_j
    ∂_k I   = S_k×* I − I S_k×            ∂_k B = S_k×* B − B S_k× + B(I, Ψ̇_k)
    ∂_k f   = S_k×* f + I Ψ̈_k + 2 B Ψ̇_k

for m and j behind or in the joint of k, and with the part of I, B, f that lies behind it. For
j in the same joint Jacobi's identity makes them true.

Cites: [SinghRussellWensing2022], in this package's order of twists.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from closedform.arrays import Array, namespace
from closedform.maths.algorithms.joint_steps import steps
from closedform.maths.algorithms.newton_euler import Moments, momentum
from closedform.maths.algorithms.one_frame.frame import (
    Operator,
    christoffel_operator,
    in_one_frame,
    rotations_seen_from,
)
from closedform.maths.kinematics import body_segments
from closedform.maths.spatial import cross
from closedform.model.robot import Robot

Part = TypeVar("Part")


class Screw(NamedTuple):
    """One screw of a joint; all (6,)."""

    i: int        # the velocity that drives it
    k: int        # its segment: of two screws on one way to the world the larger lies behind
    S: Array
    dS: Array     # Ṡ
    dPsi: Array   # Ψ̇
    ddPsi: Array  # Ψ̈


class Screws(NamedTuple):
    """Screws and composites of every segment; lists start with the world."""

    own: list[list[Screw]]
    V: list[Array]
    body: list[Moments]    # of the segments alone
    I: list[Moments]       # of the composites behind the joints
    B: list[Operator]
    f: list[Array]
    parent: list[int]
    gamma: Array           # (6,), the acceleration that stands for gravity

    @property
    def segments(self) -> range:
        """The numbers of the segments, root to leaf."""
        return range(1, len(self.own))

    def above(self, k: int) -> list[Screw]:
        """Screws of all joints between the world and segment k, its own left out."""
        found: list[Screw] = []
        while self.parent[k]:
            k = self.parent[k]
            found += self.own[k]
        return found


# ---------------------------------------------------------------------- algebra
def motion_cross(V: Array, S: Array) -> Array:
    """V × S, (6,)."""
    xp = namespace(V, S)
    return xp.concatenate([cross(V[3:], S[:3]) + cross(V[:3], S[3:]), cross(V[3:], S[3:])])


def force_cross(V: Array, F: Array) -> Array:
    """V ×* F, (6,)."""
    xp = namespace(V, F)
    return xp.concatenate([cross(V[3:], F[:3]), cross(V[:3], F[:3]) + cross(V[3:], F[3:])])


def power(S: Array, F: Array) -> Array:
    """S · F of a twist and a wrench; the halves apart, because entries of C and M share them."""
    return S[:3] @ F[:3] + S[3:] @ F[3:]


def times(I: Moments, X: Array) -> Array:
    """I X, (6,)."""
    return namespace(X).concatenate(momentum(I, X[:3], X[3:]))


def applied(B: Operator, X: Array) -> Array:
    """B X, (6,)."""
    return namespace(X).concatenate(B @ (X[:3], X[3:]))


def applied_transposed(B: Operator, X: Array) -> Array:
    """Bᵀ X, (6,)."""
    return namespace(X).concatenate(B.transposed_times((X[:3], X[3:])))


def joined(a: Moments, b: Moments) -> Moments:
    """Moments of two bodies together."""
    x, y = a.Sigma, b.Sigma
    return Moments(a.m + b.m, a.h + b.h, (
        x[0] + y[0], x[1] + y[1], x[2] + y[2], x[3] + y[3], x[4] + y[4], x[5] + y[5]))


def carried(I: Moments, X: Array) -> Moments:
    """X×* I − I X×, the rate of an inertia that moves with the twist X = (u; ω), as moments.

        ṁ = 0,   ḣ = ω × h + m u,   Σ̇ = G + Gᵀ,   G = ω~ Σ + u hᵀ
    """
    m, h, (xx, xy, yy, xz, yz, zz) = I
    u, (x, y, z) = X[:3], X[3:]
    return Moments(0, cross(X[3:], h) + m * u, (
        2 * (y * xz - z * xy + u[0] * h[0]),
        y * yz - z * yy + z * xx - x * xz + u[0] * h[1] + u[1] * h[0],
        2 * (z * xy - x * yz + u[1] * h[1]),
        y * zz - z * yz + x * xy - y * xx + u[0] * h[2] + u[2] * h[0],
        z * xz - x * zz + x * yy - y * xy + u[1] * h[2] + u[2] * h[1],
        2 * (x * yz - y * xz + u[2] * h[2])))


def composite(
    parts: list[Part], parent: list[int], plus: Callable[[Part, Part], Part],
) -> list[Part]:
    """Sums over subtrees; `parts` and `parent` start with the world, which stays as it is."""
    found = list(parts)
    for k in range(len(found) - 1, 0, -1):
        p = parent[k]
        if p:
            found[p] = plus(found[p], found[k])
    return found


# ---------------------------------------------------------------------- the sweep
def screws(
    robot: Robot, q: Array, v: Array | None = None, a: Array | None = None,
    wrenches: Array | None = None, base: int = 0,
) -> Screws:
    """The robot's screws and composites in the frame of segment `base`; v or a None: zero.

        V_k = V_p + S v      A_k = A_p + S a + Ψ̇ v      f_k = I_k A_k + B_k V_k − F_k

    B is the Christoffel operator of `one_frame`, of twelve numbers.
    """
    xp = namespace(q, *(x for x in (v, a, wrenches) if x is not None))
    speed = xp.zeros(robot.nv) if v is None else v
    here = in_one_frame(robot, q, speed, base)
    T = rotations_seen_from(robot, steps(robot, q), base, xp)
    parent = [0, *(segment.parent for segment in robot.segments)]
    V = [xp.concatenate(V_k) for V_k in here.V]
    A = [xp.concatenate([T[0][0] @ -robot.gravity, xp.zeros(3)])]
    own: list[list[Screw]] = [[]]
    for k, segment in enumerate(robot.segments, start=1):
        p, A_k = segment.parent, A[segment.parent]
        found = []
        for i, twist in zip(segment.v_index, here.S[k], strict=True):
            S = xp.concatenate(twist)
            dPsi = motion_cross(V[p], S)
            dS = dPsi if len(segment.v_index) == 1 else motion_cross(V[k], S)
            ddPsi = motion_cross(A[p], S) + motion_cross(V[p], dPsi)
            found.append(Screw(i, k, S, dS, dPsi, ddPsi))
            A_k = A_k + dPsi * speed[i]
            A_k = A_k if a is None else A_k + S * a[i]
        own.append(found)
        A.append(A_k)
    none = Moments(0, xp.zeros(3), (0, 0, 0, 0, 0, 0))
    body = [I_k or none for I_k in here.body]
    B = [christoffel_operator(I_k, V_k) for I_k, V_k in zip(body, here.V, strict=True)]
    f = [times(I_k, A_k) + applied(B_k, V_k)
         for I_k, A_k, B_k, V_k in zip(body, A, B, V, strict=True)]
    if wrenches is not None:
        for number, k in enumerate(body_segments(robot)):
            f[k] = f[k] - _seen(wrenches[number], *T[k])
    return Screws(own, V, body, composite(body, parent, joined),
                  composite(B, parent, Operator.plus), composite(f, parent, lambda x, y: x + y),
                  parent, A[0])


def _seen(F: Array, R: Array, p: Array) -> Array:
    """A wrench of the frame (R, p), written in the frame that the pose refers to."""
    force = R @ F[:3]
    return namespace(F, R).concatenate([force, R @ F[3:] + cross(p, force)])


# ---------------------------------------------------------------------- tensors
Entries = dict[tuple[int, ...], Any]
"""Entries of a tensor that are not zero by structure."""


def enter(entries: Entries, index: tuple[int, ...], value: Any) -> None:
    """Add to an entry: mimic joints give several contributions to one."""
    entries[index] = entries[index] + value if index in entries else value


def enter_twice(M: Entries, i: int, j: int, value: Any) -> None:
    """M_ij and M_ji; for a mimic i may be j, and both halves belong there."""
    enter(M, (i, j), value)
    enter(M, (j, i), value)


def tensor(entries: Entries, shape: tuple[int, ...], xp: Any) -> Array:
    """The array of these entries, exact zeros elsewhere."""
    if 0 in shape:
        return xp.zeros(shape)
    zero = xp.zeros(())

    def part(index: tuple[int, ...]) -> Any:
        if len(index) == len(shape):
            return entries.get(index, 0) + zero
        return xp.stack([part((*index, n)) for n in range(shape[len(index)])])

    return part(())
