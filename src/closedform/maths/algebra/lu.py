"""A = L U with an order of elimination that is known beforehand, over any scalars.

    L_ip = A_ic / A_pc,      A_ij ← A_ij − L_ip A_pj      for each pivot (p, c) in turn

Zeros that are plain numbers are left out, so that sparse matrices take few operations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Pivots = Sequence[tuple[int, int]]
"""(row, column) of every pivot, in the order of elimination."""


def is_zero(x: Any) -> bool:
    """Whether a scalar is the plain number zero."""
    return isinstance(x, int | float) and x == 0


@dataclass(frozen=True)
class Factor:
    """A factorised matrix."""

    pivots: Pivots
    L: Mapping[int, Mapping[int, Any]]    # by pivot row: what of it is taken from other rows
    U: Mapping[int, Mapping[int, Any]]    # rows after elimination, by column
    inverse: Mapping[int, Any]            # 1 / pivot, by row

    def solve(self, b: Sequence[Any]) -> list[Any]:
        """A⁻¹ b: b by rows, the result by columns; entries may be rows of a matrix."""
        y = list(b)
        for p, _ in self.pivots:
            for i, l in self.L[p].items():
                if not is_zero(y[p]):
                    y[i] = y[i] - l * y[p]
        x: dict[int, Any] = {}
        for p, c in reversed(self.pivots):
            total = y[p]
            for j, u in self.U[p].items():
                if j != c and not is_zero(x[j]):
                    total = total - u * x[j]
            x[c] = total if is_zero(total) else total * self.inverse[p]
        return [x[j] for j in sorted(x)]

    def solve_transposed(self, b: Sequence[Any]) -> list[Any]:
        """A⁻ᵀ b: b by columns, the result by rows."""
        left, z = list(b), dict[int, Any]()
        for p, c in self.pivots:
            z[p] = left[c] if is_zero(left[c]) else left[c] * self.inverse[p]
            for j, u in self.U[p].items():
                if j != c and not is_zero(z[p]):
                    left[j] = left[j] - u * z[p]
        for p, _ in reversed(self.pivots):
            for i, l in self.L[p].items():
                if not is_zero(z[i]):
                    z[p] = z[p] - l * z[i]
        return [z[p] for p in sorted(z)]


def lu(rows: Sequence[Mapping[int, Any]], pivots: Pivots) -> Factor:
    """The factor of a square matrix given by the entries of its rows, by column."""
    left = {i: {j: x for j, x in row.items() if not is_zero(x)} for i, row in enumerate(rows)}
    L: dict[int, dict[int, Any]] = {}
    U: dict[int, dict[int, Any]] = {}
    inverse: dict[int, Any] = {}
    for p, c in pivots:
        row = U[p] = left.pop(p)
        inverse[p], L[p] = 1 / row[c], {}
        for i, other in left.items():
            if c in other:
                l = L[p][i] = other.pop(c) * inverse[p]
                for j, u in row.items():
                    if j != c:
                        other[j] = other[j] - l * u if j in other else -(l * u)
    return Factor(tuple(pivots), L, U, inverse)
