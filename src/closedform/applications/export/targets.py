"""Where exports go: for each target what is written for a function, and the folder's runner."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from closedform.applications.export.pieces import Piece, SymbolicPiece
from closedform.applications.export.runners import (
    MATLAB_MAIN,
    PYTHON_MAIN,
    c_main,
    c_vectors,
    matlab_vectors,
    python_vectors,
)
from closedform.errors import ArgumentError
from closedform.lowerings.source.c_source import c_source
from closedform.lowerings.source.c_text import CFunction, Real
from closedform.lowerings.source.jax import jax_source
from closedform.lowerings.source.latex import latex_reader, latex_source
from closedform.lowerings.source.matlab import is_name, matlab_source
from closedform.lowerings.source.python import casadi_source, numpy_source
from closedform.lowerings.to_sympy import Expressions, program_expressions, sympy_source


@dataclass(frozen=True)
class Target:
    """A language: `write` a function into a folder, and the `runner` of the folder's vectors."""

    write: Callable[[Any, Path], list[Path]]
    runner: Callable[[Path], Path]


def _written(folder: Path, texts: Mapping[str, str]) -> list[Path]:
    paths = []
    for name, text in texts.items():
        path = folder / name
        path.write_text(text, encoding="utf8", newline="\n")
        paths.append(path)
    return paths


def _write_c(piece: Piece, folder: Path) -> list[Path]:
    real: Real = "float" if piece.single else "double"
    made = c_source(CFunction(piece.program, piece.name, piece.about, real, piece.batch))
    return _written(folder, {
        f"{piece.name}.h": made.header, f"{piece.name}.c": made.source,
        f"{piece.name}_vectors.h": c_vectors(piece.program, piece.name, piece.vectors, real,
                                             piece.batch)})


def _c_runner(folder: Path) -> Path:
    names = sorted(p.name.removesuffix("_vectors.h") for p in folder.glob("*_vectors.h"))
    return _written(folder, {"test_vectors.c": c_main([x for x in names if is_name(x)])})[0]


def _write_matlab(piece: Piece, folder: Path) -> list[Path]:
    if piece.single:
        raise ArgumentError("MATLAB functions take the precision of their inputs; "
                            "give them singles")
    return _written(folder, {
        f"{piece.name}.m": matlab_source(piece.program, piece.name, piece.about),
        f"{piece.name}_vectors.m": matlab_vectors(piece.program, piece.name, piece.vectors)})


def _matlab_runner(folder: Path) -> Path:
    return _written(folder, {"test_vectors.m": MATLAB_MAIN})[0]


def _python(target: str, source: Callable[[Piece], str]) -> Target:
    """A target whose files are Python modules; all but NumPy's have the target in their name."""
    def write(piece: Piece, folder: Path) -> list[Path]:
        module = piece.name if target == "python" else f"{piece.name}_{target}"
        text = python_vectors(module, piece.name, target, piece.vectors, piece.single)
        return _written(folder, {f"{module}.py": source(piece), f"{module}_vectors.json": text})

    return Target(write, _python_runner)


def _python_runner(folder: Path) -> Path:
    return _written(folder, {"test_vectors.py": PYTHON_MAIN})[0]


def _expressions(piece: Piece | SymbolicPiece) -> Expressions:
    if isinstance(piece, SymbolicPiece):
        return piece.expressions
    return program_expressions(piece.program)


def _write_sympy(piece: Piece | SymbolicPiece, folder: Path) -> list[Path]:
    module = f"{piece.name}_sympy"
    return _written(folder, {
        f"{module}.py": sympy_source(_expressions(piece), piece.name, piece.about),
        f"{module}_vectors.json": python_vectors(module, piece.name, "sympy", piece.vectors)})


def _write_latex(piece: Piece | SymbolicPiece, folder: Path) -> list[Path]:
    made, module = _expressions(piece), f"{piece.name}_latex"
    return _written(folder, {
        f"{piece.name}.tex": latex_source(made, piece.about),
        f"{module}.py": latex_reader(made, piece.name),
        f"{module}_vectors.json": python_vectors(module, piece.name, "latex", piece.vectors)})


TARGETS: Mapping[str, Target] = MappingProxyType({
    "c": Target(_write_c, _c_runner),
    "matlab": Target(_write_matlab, _matlab_runner),
    "python": _python("python", lambda p: numpy_source(p.program, p.name, p.about)),
    "jax": _python("jax", lambda p: jax_source(p.program, p.name, p.about, p.derivatives)),
    "casadi": _python("casadi", lambda p: casadi_source(p.program, p.name, p.about)),
    "sympy": Target(_write_sympy, _python_runner),
    "latex": Target(_write_latex, _python_runner),
})
"""Every target by its name."""
