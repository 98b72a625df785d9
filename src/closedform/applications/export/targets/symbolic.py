"""Expressions: SymPy's, and a LaTeX document with a module that reads it.

SymPy is imported when something is written: the table of targets is read without it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, final

from closedform.applications.export.pieces import Piece, SymbolicPiece
from closedform.applications.export.targets.python_folder import PythonFolder

if TYPE_CHECKING:
    from closedform.lowerings.to_sympy import Expressions


def _expressions(piece: Piece | SymbolicPiece) -> Expressions:
    if isinstance(piece, SymbolicPiece):
        return piece.expressions
    from closedform.lowerings.to_sympy import program_expressions
    return program_expressions(piece.program)


@final
@dataclass(frozen=True)
class Sympy(PythonFolder):
    """A module with `inputs`, `terms` and `outputs`."""

    symbols: Annotated[bool, "names for lengths, masses and gravity (small arms)"] = False

    name: ClassVar[str] = "sympy"
    suffix: ClassVar[str] = "_sympy"
    files: ClassVar[tuple[str, ...]] = ("NAME_sympy.py",)
    needs: ClassVar[str] = "SymPy, NumPy"
    takes_symbols: ClassVar[bool] = True

    def sources(self, piece: Piece | SymbolicPiece, module: str) -> Mapping[str, str]:
        from closedform.lowerings.to_sympy import sympy_source
        return {f"{module}.py": sympy_source(_expressions(piece), piece.name, piece.about)}


@final
@dataclass(frozen=True)
class Latex(PythonFolder):
    """A document; the module beside it parses its equations, so that they are what is checked."""

    symbols: Annotated[bool, "names for lengths, masses and gravity (small arms)"] = False

    name: ClassVar[str] = "latex"
    suffix: ClassVar[str] = "_latex"
    files: ClassVar[tuple[str, ...]] = ("NAME.tex", "NAME_latex.py")
    needs: ClassVar[str] = "NumPy; amsmath for the document"
    takes_symbols: ClassVar[bool] = True

    def sources(self, piece: Piece | SymbolicPiece, module: str) -> Mapping[str, str]:
        from closedform.lowerings.source.latex import latex_reader, latex_source
        made = _expressions(piece)
        return {f"{piece.name}.tex": latex_source(made, piece.about, piece.letters),
                f"{module}.py": latex_reader(made, piece.name, piece.letters)}
