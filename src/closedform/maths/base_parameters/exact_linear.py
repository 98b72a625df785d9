"""Small exact linear algebra: subspaces, closures and echelon forms without a tolerance.

The numbers come from a field: `Rationals` (fractions), `RationalFunctions` (SymPy's, in the robot's
symbols) or `Residues` (integers modulo the prime 2⁶¹ − 1, symbols at random values). A polynomial
identity that holds modulo the prime at a random point holds for all but a fraction degree/2⁶¹ of
the points, so ranks modulo the prime are the generic ranks.

Vectors are lists; matrices are lists of rows.

Cites: [Schwartz1980].
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, final

from closedform.errors import ArgumentError

PRIME = 2**61 - 1

ExactVector = list[Any]
Matrix = list[ExactVector]


class NumberField(ABC):
    """Where exact numbers live: how they are made from fractions, and how they are read."""

    name: str

    @abstractmethod
    def number(self, x: int | Fraction) -> Any:
        """The fraction x as an element of the field."""

    @abstractmethod
    def symbol(self, name: str) -> Any:
        """The element that stands for a symbol (an angle's name stands for tan of its half)."""

    @abstractmethod
    def value(self, x: Any, at: Mapping[str, Fraction]) -> Fraction:
        """The element x with numbers for the symbols."""


@final
@dataclass(frozen=True)
class Rationals(NumberField):
    """Fractions of integers."""

    name = "rational numbers"

    def number(self, x: int | Fraction) -> Any:
        return Fraction(x)

    def symbol(self, name: str) -> Any:
        raise ArgumentError(f"the symbol {name} is no rational number; "
                            "field=None chooses rational functions")

    def value(self, x: Any, at: Mapping[str, Fraction]) -> Fraction:
        return x


@final
class RationalFunctions(NumberField):
    """Quotients of polynomials in the robot's symbols, with rational coefficients."""

    def __init__(self, symbols: Sequence[str]) -> None:
        from sympy import QQ, Symbol
        from sympy.polys.fields import FracField
        self.symbols = tuple(symbols)
        self.home = FracField([Symbol(name) for name in self.symbols], QQ)
        self.name = f"rational functions of {', '.join(self.symbols)}"

    def number(self, x: int | Fraction) -> Any:
        from sympy import QQ
        x = Fraction(x)
        return self.home(QQ(x.numerator, x.denominator))

    def symbol(self, name: str) -> Any:
        return self.home.gens[self.symbols.index(name)]

    def value(self, x: Any, at: Mapping[str, Fraction]) -> Fraction:
        from sympy import QQ
        point = [QQ(at[s].numerator, at[s].denominator) for s in self.symbols]
        y = x.numer(*point) / x.denom(*point)
        return Fraction(int(y.numerator), int(y.denominator))


class Residues(NumberField):
    """Integers modulo a prime; a symbol is a fixed random residue."""

    def __init__(self, seed: int = 0, prime: int = PRIME) -> None:
        self.prime, self.seed = prime, seed
        self.name = f"integers modulo {'2⁶¹ − 1' if prime == PRIME else prime}"

    def number(self, x: int | Fraction) -> Residue:
        x = Fraction(x)
        return Residue(x.numerator * pow(x.denominator, -1, self.prime), self.prime)

    def symbol(self, name: str) -> Residue:
        import random
        return Residue(random.Random(f"{self.seed} {name}").randrange(2, self.prime), self.prime)

    def value(self, x: Any, at: Mapping[str, Fraction]) -> Fraction:
        raise ArgumentError("modulo a prime only counts and names are decided, no numbers; "
                            "field=None gives those")


@final
class Residue:
    """An integer modulo a prime, with its arithmetic."""

    __slots__ = ("n", "p")

    def __init__(self, n: int, p: int) -> None:
        self.n, self.p = n % p, p

    def _of(self, other: Any) -> int:
        return other.n if isinstance(other, Residue) else int(other)

    def __add__(self, other: Any) -> Residue:
        return Residue(self.n + self._of(other), self.p)

    def __sub__(self, other: Any) -> Residue:
        return Residue(self.n - self._of(other), self.p)

    def __rsub__(self, other: Any) -> Residue:
        return Residue(self._of(other) - self.n, self.p)

    def __mul__(self, other: Any) -> Residue:
        return Residue(self.n * self._of(other), self.p)

    def __truediv__(self, other: Any) -> Residue:
        return Residue(self.n * pow(self._of(other), -1, self.p), self.p)

    def __rtruediv__(self, other: Any) -> Residue:
        return Residue(self._of(other) * pow(self.n, -1, self.p), self.p)

    def __neg__(self) -> Residue:
        return Residue(-self.n, self.p)

    def __eq__(self, other: Any) -> bool:
        return self.n == self._of(other) % self.p

    def __bool__(self) -> bool:
        return self.n != 0

    def __hash__(self) -> int:
        return hash(self.n)

    __radd__, __rmul__ = __add__, __mul__


# ---------------------------------------------------------------------- vectors and matrices
def dot(x: ExactVector, y: ExactVector) -> Any:
    """Σ x_i y_i; zeros are skipped, since most entries are."""
    return sum((a * b for a, b in zip(x, y, strict=True) if a and b), 0)


def times(A: Matrix, x: ExactVector) -> ExactVector:
    """A x."""
    return [dot(row, x) for row in A]


def product(A: Matrix, B: Matrix) -> Matrix:
    """A B."""
    columns = transposed(B)
    return [[dot(row, column) for column in columns] for row in A]


def transposed(A: Matrix) -> Matrix:
    return [list(column) for column in zip(*A, strict=True)]


def units(n: int) -> Matrix:
    """The rows of the n x n identity, in integers."""
    return [[int(i == j) for j in range(n)] for i in range(n)]


# ---------------------------------------------------------------------- subspaces
@dataclass
class Span:
    """A subspace of the vectors of `size` numbers, grown one vector at a time.

    `rows` are a basis: each has a one at its own pivot, where the rows after it are zero.
    """

    size: int
    rows: Matrix = field(default_factory=list)
    pivots: list[int] = field(default_factory=list)

    @property
    def full(self) -> bool:
        return len(self.rows) == self.size

    def remainder(self, x: ExactVector) -> ExactVector:
        """x without its part along the rows: zero exactly if x lies in the subspace."""
        for row, pivot in zip(self.rows, self.pivots, strict=True):
            factor = x[pivot]
            if factor:
                x = [a - factor * b if b else a for a, b in zip(x, row, strict=True)]
        return x

    def add(self, x: ExactVector) -> ExactVector | None:
        """Take x in; the new basis vector, or None if x was in the subspace already."""
        if self.full:
            return None
        x = self.remainder(x)
        pivot = next((i for i, a in enumerate(x) if a), None)
        if pivot is None:
            return None
        x = _leading_one(x, pivot)
        self.rows.append(x)
        self.pivots.append(pivot)
        if self.full:
            self.rows, self.pivots = units(self.size), list(range(self.size))
        return x


def whole(size: int) -> Span:
    """All vectors of `size` numbers."""
    return Span(size, units(size), list(range(size)))


def span(vectors: Iterable[ExactVector], size: int) -> Span:
    """The subspace that the vectors span."""
    result = Span(size)
    for x in vectors:
        result.add(x)
    return result


def closure(vectors: Iterable[ExactVector], generators: Sequence[Matrix], size: int) -> Span:
    """The smallest subspace with these vectors that every generator maps into itself."""
    result, waiting = Span(size), list(vectors)
    while waiting and not result.full:
        new = result.add(waiting.pop())
        if new is not None:
            waiting += [times(G, new) for G in generators]
    return result


def echelon(rows: Iterable[ExactVector], order: Sequence[int]) -> tuple[Matrix, list[int]]:
    """Reduced row-echelon form with the columns taken in that order; its rows and their pivots.

    The pivots are the first independent columns of the order. Row i has a one in the column of its
    pivot, every other row a zero.
    """
    left: Matrix = [list(row) for row in rows]
    done: Matrix = []
    pivots: list[int] = []
    for column in order:
        at = next((i for i, row in enumerate(left) if row[column]), None)
        if at is None:
            continue
        chosen = _leading_one(left.pop(at), column)
        done = [_without(row, chosen, column) for row in done] + [chosen]
        left = [_without(row, chosen, column) for row in left]
        pivots.append(column)
    return done, pivots


def _leading_one(row: ExactVector, column: int) -> ExactVector:
    lead = row[column]
    return row if lead == 1 else [a / lead if a else 0 for a in row]


def _without(row: ExactVector, chosen: ExactVector, column: int) -> ExactVector:
    factor = row[column]
    if not factor:
        return row
    return [a - factor * b if b else a for a, b in zip(row, chosen, strict=True)]
