"""Systems with a symmetric positive definite matrix, and the pivots that tell whether it is."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from closedform.arrays import Array, namespace
from closedform.errors import SingularMatrix


class DefiniteSolution(NamedTuple):
    """x = A⁻¹ b, and the pivots of A = L D Lᵀ, which are positive if and only if A is definite."""

    x: Array             # (n,)
    pivots: Array        # (n,)


def solve_definite(A: Array, b: Array) -> DefiniteSolution:
    """A⁻¹ b by A = L D Lᵀ; half the operations of elimination, since A is symmetric."""
    xp, n = namespace(A, b), len(b)
    rows = [[A[i, j] for j in range(i + 1)] for i in range(n)]
    right = [b[i] for i in range(n)]
    pivots: list[Any] = []
    L: list[list[Any]] = [[None] * n for _ in range(n)]
    for k in range(n):
        pivots.append(rows[k][k])
        for i in range(k + 1, n):
            L[i][k] = rows[i][k] / pivots[k]
            for j in range(k + 1, i + 1):
                rows[i][j] = rows[i][j] - L[i][k] * rows[j][k]
            right[i] = right[i] - L[i][k] * right[k]
    x = [right[i] / pivots[i] for i in range(n)]
    for i in reversed(range(n)):
        for j in range(i + 1, n):
            x[i] = x[i] - L[j][i] * x[j]
    return DefiniteSolution(xp.stack(x), xp.stack(pivots))


def refuse_indefinite(A: Array, pivots: Array, what: str) -> None:
    """A `SingularMatrix` with the smallest eigenvalue, if numbers say that A is not definite."""
    if np.asarray(pivots).dtype == object or np.all(np.real(pivots) > 0):
        return
    if not np.all(np.isfinite(A)):
        raise SingularMatrix(f"{what} is not finite")
    smallest = np.linalg.eigvalsh(np.real(A))[0]
    raise SingularMatrix(f"{what} is not positive definite: its smallest eigenvalue is "
                         f"{smallest:.3g}; these deflections are outside the range of the model")
