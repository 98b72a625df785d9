"""One function that leaves: its name, program, test vectors and the lines about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from closedform.applications.export.vectors import Vectors
from closedform.lowerings.to_sympy import Expressions
from closedform.program.program import Program


@dataclass(frozen=True, eq=False)
class Piece:
    """What an exporter gets.

    `derivatives` are the partial derivatives of the only output by the first inputs, for JAX.
    """

    name: str
    program: Program
    vectors: Vectors
    about: Sequence[str]
    single: bool = False
    batch: bool = True
    derivatives: Program | None = None


@dataclass(frozen=True, eq=False)
class SymbolicPiece:
    """The same without a program: expressions in the robot's symbols, for SymPy and LaTeX."""

    name: str
    expressions: Expressions
    vectors: Vectors
    about: Sequence[str]
