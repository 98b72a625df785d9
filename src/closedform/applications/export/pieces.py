"""One function that leaves: its name, program, test vectors, letters and the lines about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from closedform.applications.export.vectors import Vectors
from closedform.program.program import Program

if TYPE_CHECKING:
    from closedform.lowerings.source.latex import Letters
    from closedform.lowerings.to_sympy import Expressions


@dataclass(frozen=True, eq=False)
class Piece:
    """What a target gets.

    `derivatives`: the partial derivatives of the only output by the first inputs, if asked for;
    `folded`: the program with limbs in lanes, where that has less to do.
    """

    name: str
    program: Program
    vectors: Vectors
    about: Sequence[str]
    letters: Letters = field(default_factory=dict)
    derivatives: Callable[[], Program | None] = lambda: None
    folded: Callable[[], Program | None] = lambda: None


@dataclass(frozen=True, eq=False)
class SymbolicPiece:
    """The same without a program: expressions in the robot's symbols."""

    name: str
    expressions: Expressions
    vectors: Vectors
    about: Sequence[str]
    letters: Letters
