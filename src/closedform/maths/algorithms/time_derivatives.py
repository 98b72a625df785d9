"""Time derivatives of M, C and g in O(n d): C and g as Taylor series in a frame that stands still.

    C_ij(t) = S_i · (Λ Ṡ_j + O S_j)      g_j(t) = γ · Λ S_j      Ṁ = C + Cᵀ      M̈ = Ċ + Ċᵀ

with the composites Λ, O behind the deeper of joints i and j, as in `one_frame.matrices`; there γ is
constant. The definition is in `definitions.time_derivatives`.

Cites: [Garofalo2013, eq. (25) and remark 5] for what is computed; the series are ours.
"""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import NamedTuple

from closedform.arrays import OBJECTS, Array, namespace
from closedform.maths import pull_backs
from closedform.maths.algebra.trees import subtree_sums
from closedform.maths.algorithms.jacobian_jets import screw_series
from closedform.maths.algorithms.moments import Moments
from closedform.maths.algorithms.one_frame.frame import in_one_frame
from closedform.maths.algorithms.one_frame.matrices import matrices, passive_dynamics_matrices
from closedform.maths.algorithms.operators import BlockOperator, passive_operator
from closedform.maths.definitions.time_derivatives import TimeDerivatives
from closedform.maths.kinematics import segment_parents
from closedform.maths.loads import with_loads
from closedform.maths.pull_backs import pulled_back
from closedform.maths.quantity import folds
from closedform.maths.scalars.series import (
    coefficient,
    derivative,
    derivatives,
    from_coefficients,
    from_derivatives,
    known_terms,
    truncated,
)
from closedform.maths.spatial import cross, skew
from closedform.model.robot import Robot


class MovingScrew(NamedTuple):
    """A screw of a joint as a function of time, (6,) series."""

    i: int
    S: Array
    dS: Array


@folds
@pulled_back(pull_backs.time_derivatives, passive_dynamics_matrices)
@with_loads
def time_derivatives(
    robot: Robot, q: Array, v: Array, a: Array, j: Array, base: int = 0,
) -> TimeDerivatives:
    """Ṁ, M̈, Ċ, C̈, ġ and g̈; `base` names the segment at whose place the frame stands, 0 the world.
    """
    xp, rates = namespace(q, v, a, j), from_derivatives([v, a, j])
    start = in_one_frame(robot, q, v, base)
    terms = known_terms(rates, 1)
    V = [from_coefficients([OBJECTS.zeros(6)] * terms)]
    screws, body = [list[MovingScrew]()], [start.body[0]]
    for segment, S_k, body_k in zip(robot.segments, start.S[1:], start.body[1:], strict=True):
        own, V_p = segment.velocities(rates), V[segment.parent]
        S_0 = OBJECTS.stack(S_k, axis=1) if S_k else OBJECTS.zeros((6, 0))
        S = screw_series(S_0, V_p, own if len(own) > 1 else None)
        screws.append([MovingScrew(*x) for x in zip(
            segment.v_index, truncated(S, terms).T, derivative(S).T, strict=True)])
        V.append(V_p + S @ own)
        body.append(_moved(body_k, V[-1]))
    parent = segment_parents(robot)
    O = subtree_sums([passive_operator(body_k, V_k) for body_k, V_k in zip(body, V, strict=True)],
                     parent, BlockOperator.plus)
    gamma = OBJECTS.concatenate([start.T[0].up(-robot.gravity), OBJECTS.zeros(3)])
    _, C_t, g_t = matrices(robot, screws, subtree_sums(body, parent, Moments.plus), O, gamma)
    C, g = derivatives(C_t, 3, xp), derivatives(g_t, 3, xp)
    return TimeDerivatives(C[0] + C[0].T, C[1] + C[1].T, C[1], C[2], g[1], g[2])


def _moved(body: Moments, V: Array) -> Moments:
    """The series of a body's moments when it moves with the twist V = (u; ω):

        ḣ = m u + ω × h,    Σ̇ = G + Gᵀ,   G = ω~ Σ + u hᵀ
    """
    xx, xy, yy, xz, yz, zz = body.Sigma
    terms = known_terms(V, 1)
    u, w = ([coefficient(part, k) for k in range(terms)] for part in (V[:3], V[3:]))
    h, Sigma = [body.h], [OBJECTS.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])]
    for m in range(terms - 1):
        past = range(m + 1)
        G = reduce(add, [skew(w[i]) @ Sigma[m - i] + u[i][:, None] * h[m - i] for i in past])
        turning = [cross(w[i], h[m - i]) for i in past]
        h.append(reduce(add, turning, body.m * u[m]) / (m + 1))
        Sigma.append((G + G.T) / (m + 1))
    A = from_coefficients(Sigma)
    return Moments(body.m, from_coefficients(h),
                   (A[0, 0], A[0, 1], A[1, 1], A[0, 2], A[1, 2], A[2, 2]))
