"""A = L U with an order of elimination that is known beforehand, over any scalars.

    L_ip = A_ic / A_pc,      A_ij ← A_ij − L_ip A_pj      for each pivot (p, c) in turn

Zeros that are plain numbers are left out, so that sparse matrices take few operations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

Pivots = Sequence[tuple[int, int]]
"""(row, column) of every pivot, in the order of elimination."""
SparseRows = Mapping[int, Mapping[int, Any]]
"""SparseRows of a matrix, by column."""


def is_zero(x: Any) -> bool:
    """Whether a scalar is the plain number zero."""
    return isinstance(x, int | float) and x == 0


class Pivot(NamedTuple):
    """One entry that is divided by."""

    row: int
    column: int
    inverse: Any

    @property
    def rows(self) -> tuple[int, ...]:
        return (self.row,)

    @property
    def columns(self) -> tuple[int, ...]:
        return (self.column,)

    def solve(self, b: Sequence[Any]) -> tuple[Any, ...]:
        return (b[0] if is_zero(b[0]) else b[0] * self.inverse,)

    def solve_transposed(self, b: Sequence[Any]) -> tuple[Any, ...]:
        return self.solve(b)


class PivotPair(NamedTuple):
    """Two rows and columns that are solved by their determinant, whichever entry is zero.

        [a b; c d]⁻¹ = [d −b; −c a] / (a d − b c)
    """

    rows: tuple[int, int]
    columns: tuple[int, int]
    inverse: tuple[Any, Any, Any, Any]    # d, b, c and a over the determinant

    def solve(self, b: Sequence[Any]) -> tuple[Any, ...]:
        d, right, below, a = self.inverse
        return _difference(d, b[0], right, b[1]), _difference(a, b[1], below, b[0])

    def solve_transposed(self, b: Sequence[Any]) -> tuple[Any, ...]:
        d, right, below, a = self.inverse
        return _difference(d, b[0], below, b[1]), _difference(a, b[1], right, b[0])


def _difference(m: Any, x: Any, n: Any, y: Any) -> Any:
    """m x − n y, without what is plainly zero."""
    if is_zero(y):
        return y if is_zero(x) else m * x
    return -(n * y) if is_zero(x) else m * x - n * y


@dataclass(frozen=True)
class Factor:
    """A factorised matrix."""

    pivots: Sequence[Pivot | PivotPair]
    L: SparseRows                         # by pivot row: what of it is taken from other rows
    U: SparseRows                         # rows after elimination, without the pivots' columns

    def solve(self, b: Sequence[Any]) -> list[Any]:
        """A⁻¹ b: b by rows, the result by columns; entries may be rows of a matrix."""
        y = list(b)
        for pivot in self.pivots:
            for p in pivot.rows:
                for i, l in self.L[p].items():
                    if not is_zero(y[p]):
                        y[i] = y[i] - l * y[p]
        x: dict[int, Any] = {}
        for pivot in reversed(self.pivots):
            totals = []
            for p in pivot.rows:
                total = y[p]
                for j, u in self.U[p].items():
                    if not is_zero(x[j]):
                        total = total - u * x[j]
                totals.append(total)
            x |= zip(pivot.columns, pivot.solve(totals), strict=True)
        return [x[j] for j in sorted(x)]

    def solve_transposed(self, b: Sequence[Any]) -> list[Any]:
        """A⁻ᵀ b: b by columns, the result by rows."""
        left, z = list(b), dict[int, Any]()
        for pivot in self.pivots:
            z |= zip(pivot.rows, pivot.solve_transposed([left[c] for c in pivot.columns]),
                     strict=True)
            for p in pivot.rows:
                for j, u in self.U[p].items():
                    if not is_zero(z[p]):
                        left[j] = left[j] - u * z[p]
        for pivot in reversed(self.pivots):
            for p in pivot.rows:
                for i, l in self.L[p].items():
                    if not is_zero(z[i]):
                        z[p] = z[p] - l * z[i]
        return [z[p] for p in sorted(z)]


def lu(rows: Sequence[Mapping[int, Any]], pivots: Pivots) -> Factor:
    """The factor of a square matrix given by the entries of its rows, by column."""
    left = {i: {j: x for j, x in row.items() if not is_zero(x)} for i, row in enumerate(rows)}
    L: dict[int, dict[int, Any]] = {}
    U: dict[int, dict[int, Any]] = {}
    found, order = list[Pivot | PivotPair](), list(pivots)
    while order:
        (p, c), row = order[0], left.pop(order[0][0])
        if len(order) > 1 and (pair := _pair(order[:2], row, left)) is not None:
            found.append(pair)
            for i in pair.rows:
                own = row if i == p else left.pop(i)
                L[i], U[i] = {}, {j: u for j, u in own.items() if j not in pair.columns}
            order = order[2:]
            continue
        inverse = 1 / row.pop(c)
        found.append(Pivot(p, c, inverse))
        U[p], L[p], order = row, {}, order[1:]
        for i, other in left.items():
            if c in other:
                l = L[p][i] = other.pop(c) * inverse
                for j, u in row.items():
                    other[j] = other[j] - l * u if j in other else -(l * u)
    return Factor(tuple(found), L, U)


def _pair(pivots: Pivots, row: Mapping[int, Any], left: SparseRows) -> PivotPair | None:
    """The next two pivots at once, if either might be zero and no other row has their columns."""
    (p, c), (i, j) = pivots
    other = left[i]
    elsewhere = any(x in rest for k, rest in left.items() if k != i for x in (c, j))
    if elsewhere or c not in other or j not in row or j not in other or isinstance(
            row[c], int | float):
        return None
    a, right, below, d = row[c], row[j], other[c], other[j]
    inverse = 1 / (a * d - right * below)
    return PivotPair((p, i), (c, j), (d * inverse, right * inverse, below * inverse, a * inverse))
