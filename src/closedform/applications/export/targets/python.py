"""Python modules: with NumPy over batches, as a JAX function, as a `casadi.Function`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, final

from closedform.applications.export.pieces import Piece
from closedform.applications.export.targets.python_folder import PythonFolder
from closedform.lowerings.source.jax import jax_source
from closedform.lowerings.source.python import casadi_source, numpy_source


@final
@dataclass(frozen=True)
class Python(PythonFolder):
    """A function of arrays with batch axes, in the precision of its inputs."""

    single: Annotated[bool, "test vectors in single precision"] = False

    name: ClassVar[str] = "python"
    way: ClassVar[str] = "batches"
    files: ClassVar[tuple[str, ...]] = ("NAME.py",)
    needs: ClassVar[str] = "NumPy"

    def sources(self, piece: Piece, module: str) -> Mapping[str, str]:
        return {f"{module}.py": numpy_source(piece.program, piece.name, piece.about)}


@final
@dataclass(frozen=True)
class Jax(PythonFolder):
    """A function of one state for `jax.vmap`, with exact derivatives where a row has them."""

    single: Annotated[bool, "test vectors in single precision"] = False

    name: ClassVar[str] = "jax"
    way: ClassVar[str] = "vmap"
    suffix: ClassVar[str] = "_jax"
    files: ClassVar[tuple[str, ...]] = ("NAME_jax.py",)
    needs: ClassVar[str] = "JAX"

    def sources(self, piece: Piece, module: str) -> Mapping[str, str]:
        return {f"{module}.py": jax_source(piece.program, piece.name, piece.about,
                                           piece.derivatives())}


@final
@dataclass(frozen=True)
class Casadi(PythonFolder):
    """A `casadi.Function` of scalars."""

    name: ClassVar[str] = "casadi"
    way: ClassVar[str] = "matrices"
    suffix: ClassVar[str] = "_casadi"
    files: ClassVar[tuple[str, ...]] = ("NAME_casadi.py",)
    needs: ClassVar[str] = "CasADi"

    def sources(self, piece: Piece, module: str) -> Mapping[str, str]:
        return {f"{module}.py": casadi_source(piece.program, piece.name, piece.about)}
