"""The energies of a rigid body as linear functions of its ten parameters, in exact numbers.

    E = DE(V) · X,   U = DU · X,   X = (m, mcx, mcy, mcz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz)

    DE is quadratic in the body twist V: 2 DE(V) = `polar(V, V)`, twice its polar form
    DU = (−gᵀp, −Rᵀg, 0₆) at the pose (R, p)

`transport` takes parameters from a frame to its parent's, `generator` is its derivative along a
joint's screw. These are the λ of the paper and the constant matrices by which its entries change
with q, for any frame and screw.

Cites: [GautierKhalil1990, eqs. (2), (3), (A2)-(A12)]; `gautier_khalil` has them as printed.
"""

from __future__ import annotations

from typing import Any

from closedform.maths.base_parameters.exact_linear import (
    ExactVector,
    Matrix,
    dot,
    times,
    transposed,
)

ENTRIES = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))
"""Places of Ixx, Ixy, Iyy, Ixz, Iyz, Izz in the tensor."""


def cross(x: ExactVector, y: ExactVector) -> ExactVector:
    """x × y."""
    return [_minus(x[i], y[j], x[j], y[i]) for i, j in ((1, 2), (2, 0), (0, 1))]


def _minus(a: Any, b: Any, c: Any, d: Any) -> Any:
    """a b − c d without the products that are zero."""
    return (a * b if a and b else 0) - (c * d if c and d else 0)


def polar(V: ExactVector, W: ExactVector) -> ExactVector:
    """2 B(V, W), (10,): V and W twists (linear part first), B(V, V) = DE(V)."""
    (v, w), (v2, w2) = (V[:3], V[3:]), (W[:3], W[3:])
    first = [a + b for a, b in zip(cross(v, w2), cross(v2, w), strict=True)]
    second = [w[i] * w2[j] + (w[j] * w2[i] if i != j else 0) for i, j in ENTRIES]
    return [dot(v, v2), *first, *second]


def transport(R: Matrix, p: ExactVector) -> Matrix:
    """Λ, (10, 10): X seen in the parent, where the body's frame has the pose (R, p), is Λ X.

        m' = m,   h' = R h + m p,   I' = R I Rᵀ + tr(P) 1 − P,   P = p (Rh)ᵀ + (Rh) pᵀ + m p pᵀ

    Derivatives of the energy go the other way: DE_k = Λᵀ DE_p for a body that moves with its
    parent; Λᵀ is λ of (A2).
    """
    columns = [[1, *p, *_tensor(_outer(p, p))]]
    for c in range(3):
        u = [row[c] for row in R]
        columns.append([0, *u, *_tensor(_plus_transpose(_outer(p, u)))])
    for i, j in ENTRIES:
        a, b = ([row[i] for row in R], [row[j] for row in R])
        second = _outer(a, b) if i == j else _plus_transpose(_outer(a, b))
        columns.append([0, 0, 0, 0, *(second[r][c] for r, c in ENTRIES)])
    return transposed(columns)


def generator(S: ExactVector) -> Matrix:
    """G, (10, 10): d/dq of Λᵀ(exp(S q)) at q = 0, so that DE turns by exp(q G) with the joint.

    For a turn about z: dIxx = Ixy, dIxy = 2Iyy − 2Ixx, …, dmcx = mcy, dmcy = −mcx, a constant
    matrix of integers.
    """
    v, w = S[:3], S[3:]
    turn = transposed([cross(w, e) for e in _basis()])
    columns = [[0, *v, 0, 0, 0, 0, 0, 0]]
    for c, e in enumerate(_basis()):
        moved = _tensor(_plus_transpose(_outer(v, e)))
        columns.append([0, *(row[c] for row in turn), *moved])
    for i, j in ENTRIES:
        second = [[0] * 3 for _ in range(3)]
        second[i][j] = second[j][i] = 1
        half = [[dot(turn[r], [row[c] for row in second]) for c in range(3)] for r in range(3)]
        turned = _plus_transpose(half)
        columns.append([0, 0, 0, 0, *(turned[r][c] for r, c in ENTRIES)])
    return columns  # transposed twice


def motion(R: Matrix, p: ExactVector, V: ExactVector) -> ExactVector:
    """The parent's twist V in the body's frame: (Rᵀ (v + ω × p); Rᵀ ω)."""
    v, w = V[:3], V[3:]
    moved = [a + b for a, b in zip(v, cross(w, p), strict=True)]
    back = transposed(R)
    return times(back, moved) + times(back, w)


def bracket(S: ExactVector) -> Matrix:
    """S×, (6, 6): how twists of the parent change in the body's frame as the joint moves."""
    v, w = S[:3], S[3:]
    columns = [[*cross(w, e), 0, 0, 0] for e in _basis()]
    columns += [cross(v, e) + cross(w, e) for e in _basis()]
    return transposed(columns)


def _basis() -> Matrix:
    return [[1, 0, 0], [0, 1, 0], [0, 0, 1]]


def _outer(x: ExactVector, y: ExactVector) -> Matrix:
    return [[a * b if a and b else 0 for b in y] for a in x]


def _plus_transpose(A: Matrix) -> Matrix:
    return [[A[i][j] + A[j][i] for j in range(3)] for i in range(3)]


def _tensor(P: Matrix) -> ExactVector:
    """The six entries of tr(P) 1 − P."""
    trace = P[0][0] + P[1][1] + P[2][2]
    return [(trace if i == j else 0) - P[i][j] for i, j in ENTRIES]
