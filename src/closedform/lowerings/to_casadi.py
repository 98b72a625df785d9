"""A program as a `casadi.Function` of SX scalars, for optimal control."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from closedform.errors import MissingDependency
from closedform.lowerings.source.assignments import output_names
from closedform.program.program import Program, size
from closedform.program.record import replay


def casadi_function(program: Program, name: str | None = None) -> Any:
    """The program as a function with named inputs and outputs.

    CasADi has matrices only: vectors are columns, and an array of more axes has those behind the
    first joined, in C order.
    """
    casadi = casadi_module()
    inputs = [casadi.SX.sym(s.name, *_rows_and_columns(s.shape)) for s in program.inputs]
    results = replay(program, [_entries(x) for x in inputs])
    outputs = [_matrix(casadi, list(array.ravel()), array.shape) for array in results.values()]
    return casadi.Function(name or program.name, inputs, outputs,
                           [s.name for s in program.inputs], output_names(program))


def casadi_module() -> Any:
    try:
        import casadi
    except ImportError:
        raise MissingDependency(
            "CasADi is not installed; pip install 'closedform[casadi]'") from None
    return casadi


def _rows_and_columns(shape: tuple[int, ...]) -> tuple[int, int]:
    return (shape[0] if shape else 1), size(shape[1:])


def _entries(x: Any) -> Any:
    """The scalars of a matrix, row by row."""
    rows, columns = x.shape
    flat = np.empty(rows * columns, dtype=object)
    flat[:] = [x[i, j] for i in range(rows) for j in range(columns)]
    return flat


def _matrix(casadi: Any, entries: Sequence[Any], shape: tuple[int, ...]) -> Any:
    rows, columns = _rows_and_columns(shape)
    made = [casadi.horzcat(*entries[k * columns:(k + 1) * columns]) for k in range(rows)]
    return casadi.densify(casadi.vertcat(*made))
