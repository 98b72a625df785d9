"""Screws of the joints, their rates and composite bodies in one frame: what state derivatives need.

As in `frame`, everything is written in the frame of a segment `base`, taken as standing still
for the instant. For a screw S of a joint that connects p with k,

    Ṡ  = V_k × S          Ψ̇  = V_p × S          Ψ̈  = A_p × S + V_p × Ψ̇

V and A are twists and spatial accelerations, A of the world being −gravity. A joint with several
velocities has several screws; a mimic's screw stands for the velocity of its driver.

Moving along a screw S_k moves all behind its joint, S_k included, like a rigid body, and

    ∂_k S_m = S_k × S_m      ∂_k V_m = S_k × V_m + Ψ̇_k      ∂_k A_m = S_k × A_m + Ψ̇_k × V_m + Ψ̈_k
    ∂_k Ψ̇_j = S_k × Ψ̇_j + Ψ̇_k × S_j      ∂_k Ψ̈_j = S_k × Ψ̈_j + Ψ̈_k × S_j + 2 Ψ̇_k × Ψ̇_j
    ∂_k I   = S_k×* I − I S_k×            ∂_k B = S_k×* B − B S_k× + B(I, Ψ̇_k)
    ∂_k f   = S_k×* f + I Ψ̈_k + 2 B Ψ̇_k

for m and j behind or in the joint of k, and with the part of I, B, f that lies behind it. For
j in the same joint Jacobi's identity makes them true.

Cites: [SinghRussellWensing2022], in this package's order of twists.
"""

from __future__ import annotations

from operator import add
from typing import NamedTuple

from closedform.arrays import Array, namespace
from closedform.maths.algebra.trees import Parents, subtree_sums, way_up
from closedform.maths.algorithms.joint_steps import wrench_in_parent
from closedform.maths.algorithms.moments import Moments
from closedform.maths.algorithms.one_frame.frame import in_one_frame
from closedform.maths.algorithms.operators import (
    BlockOperator,
    christoffel_operator,
    passive_operator,
)
from closedform.maths.kinematics import body_segments, segment_parents
from closedform.maths.spatial import motion_cross
from closedform.model.robot import Robot


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
    body: list[Moments]             # of the segments alone
    I: list[Moments]                # of the composites behind the joints
    B: list[BlockOperator]
    f: list[Array]
    parent: Parents
    gamma: Array                    # (6,), the acceleration that stands for gravity

    @property
    def segments(self) -> range:
        """The numbers of the segments, root to leaf."""
        return range(1, len(self.own))

    def passive_operators(self) -> list[BlockOperator]:
        """O, the passive C's operators of the composites."""
        own = [passive_operator(I_k, V_k) for I_k, V_k in zip(self.body, self.V, strict=True)]
        return subtree_sums(own, self.parent, BlockOperator.plus)

    def above(self, k: int) -> list[Screw]:
        """Screws of all joints between the world and segment k, its own left out."""
        return [x for p in way_up(self.parent, k) for x in self.own[p]]


def screws(
    robot: Robot, q: Array, v: Array | None = None, a: Array | None = None,
    wrenches: Array | None = None, base: int = 0,
) -> Screws:
    """The robot's screws and composites in the frame of segment `base`; v or a None: zero.

        V_k = V_p + S v      A_k = A_p + S a + Ψ̇ v      f_k = I_k A_k + B_k V_k − F_k

    B is the Christoffel symbols' operator, of twelve numbers.
    """
    xp = namespace(q, *(x for x in (v, a, wrenches) if x is not None))
    speed = xp.zeros(robot.nv) if v is None else v
    T, S_all, V, body = in_one_frame(robot, q, speed, base)
    A = [xp.concatenate([T[0].up(-robot.gravity), xp.zeros(3)])]
    own: list[list[Screw]] = [[]]
    for k, segment in enumerate(robot.segments, start=1):
        p, A_k = segment.parent, A[segment.parent]
        found = []
        for i, S in zip(segment.v_index, S_all[k], strict=True):
            dPsi = motion_cross(V[p], S)
            dS = dPsi if len(segment.v_index) == 1 else motion_cross(V[k], S)
            ddPsi = motion_cross(A[p], S) + motion_cross(V[p], dPsi)
            found.append(Screw(i, k, S, dS, dPsi, ddPsi))
            A_k = A_k + dPsi * speed[i]
            A_k = A_k if a is None else A_k + S * a[i]
        own.append(found)
        A.append(A_k)
    B = [christoffel_operator(I_k, V_k).in_blocks() for I_k, V_k in zip(body, V, strict=True)]
    f = [I_k @ A_k + B_k @ V_k for I_k, A_k, B_k, V_k in zip(body, A, B, V, strict=True)]
    if wrenches is not None:
        for number, k in enumerate(body_segments(robot)):
            f[k] = f[k] - wrench_in_parent(T[k], wrenches[number])
    parent = segment_parents(robot)
    return Screws(own, V, body, subtree_sums(body, parent, Moments.plus),
                  subtree_sums(B, parent, BlockOperator.plus), subtree_sums(f, parent, add),
                  parent, A[0])
