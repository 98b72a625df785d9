"""A program as Python source: with NumPy over batches, or as a CasADi function.

Both are modules that stand alone, with one function under the name that is given:

    NumPy    NAME(q, v, a)      arrays (..., n), batch axes first; float32 if all inputs are
    CasADi   NAME               a casadi.Function with named inputs and outputs
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from closedform.lowerings.source.assignments import (
    Let,
    Statement,
    Statements,
    Store,
    Syntax,
    index_text,
    output_names,
)
from closedform.lowerings.source.comments import docstring
from closedform.program.ops import FUNCTIONS
from closedform.program.program import Program, Slot, size


def numpy_source(program: Program, name: str, about: Sequence[str]) -> str:
    """A module that needs nothing but NumPy; its function takes batches."""
    arguments = ", ".join(slot.name for slot in program.inputs)
    lines = [
        *docstring(about), "", "import numpy as np", "", "", f"def {name}({arguments}):",
        *(f"    {line}" for line in docstring(array_lines(program, "..., "))),
        *(f"    {s.name} = _floats({s.name})" for s in program.inputs),
        f"    batch = np.broadcast_shapes({_batches(program)})" if program.inputs
        else "    batch = ()",
        f"    dtype = np.result_type({arguments or 'float'})",
        *(f"    {out} = np.zeros((*batch, {_tuple(o.shape)}), dtype)" if o.shape
          else f"    {out} = np.zeros(batch, dtype)"
          for out, o in zip(output_names(program), program.outputs, strict=True)),
        *(f"    {line}" for line in _entries(program, "{name}[..., {index}]", "{name}[...]")),
        *(f"    {line}" for line in _numpy_lines(program)),
        f"    return {result(program)}", "", "",
        "def _floats(x):", "    x = np.asarray(x)",
        "    return x if x.dtype == np.float32 else x.astype(np.float64)"]
    return "\n".join(lines) + "\n"


def casadi_source(program: Program, name: str, about: Sequence[str]) -> str:
    """A module with a `casadi.Function`; arrays of more than two axes have those behind joined."""
    symbols = [f"{s.name} = SX.sym({s.name!r}, {_rows_and_columns(s.shape)})"
               for s in program.inputs]
    outputs = output_names(program)
    made = [f"{out} = SX({_rows_and_columns(o.shape)})"
            for out, o in zip(outputs, program.outputs, strict=True)]
    statements, syntax = Statements(program), _syntax({op.name: op.name for op in FUNCTIONS})
    imported = ["densify", *(op.name for op in FUNCTIONS)]
    names = statements.names(syntax)
    body = list(_entries(program, "{name}[{pair}]", "{name}", casadi=True))
    for s in statements.order:
        if isinstance(s, Let):
            body.append(f"{names[s.place]} = {statements.value(s.place, names, syntax)}")
        elif _is_zero(statements, s):
            continue
        else:
            where = _pair(program.outputs[s.output].shape, s.entry)
            body.append(f"{outputs[s.output]}[{where}] = {statements.result(s, names, syntax)}")
    returned = (f"return Function({name!r}, [{', '.join(x.name for x in program.inputs)}], "
                f"[{', '.join(f'densify({x})' for x in outputs)}], "
                f"{[x.name for x in program.inputs]!r}, {outputs!r})")
    lines = [*docstring([*about, "", *array_lines(program, "")]), "",
             f"from casadi import SX, Function, {', '.join(sorted(imported))}", "", "",
             "def _function():", *(f"    {line}" for line in (*symbols, *made, *body, returned)),
             "", "", f"{name} = _function()"]
    return "\n".join(lines) + "\n"


def array_lines(program: Program, batch: str) -> list[str]:
    """One line for each array: its name and shape."""
    def shaped(name: str, shape: tuple[int, ...]) -> str:
        return f"    {name} ({batch}{_tuple(shape)})".replace(", )", ")")

    lines = ["Arrays, the new index last:"]
    lines += [f"{shaped(s.name, s.shape)}" for s in program.inputs]
    lines += ["to"]
    lines += [shaped(n, o.shape) for n, o in zip(output_names(program), program.outputs,
                                                 strict=True)]
    return lines


def result(program: Program) -> str:
    """What the function returns: an array, or a tuple of them."""
    names = output_names(program)
    return names[0] if len(names) == 1 else f"({', '.join(names)})"


def entry_name(slot: Slot, k: int) -> str:
    """q for a scalar, q2 for an entry of a vector, rates_1_2 for one of a matrix."""
    if len(slot.shape) < 2:
        return f"{slot.name}{k if slot.shape else '_'}"
    return f"{slot.name}_{index_text(slot.shape, k).replace(', ', '_')}"


def used_entries(program: Program) -> Iterator[tuple[Slot, int]]:
    """The entries of inputs that a program reads."""
    places = sorted(args for op, args, _ in program.code if op == "input")
    return ((program.inputs[slot], k) for slot, k in places)


def _numpy_lines(program: Program) -> Iterator[str]:
    statements = Statements(program)
    syntax = _syntax({op.name: f"np.{op.ufunc}" for op in FUNCTIONS})
    names, outputs = statements.names(syntax), output_names(program)
    for s in statements.order:
        if isinstance(s, Let):
            yield f"{names[s.place]} = {statements.value(s.place, names, syntax)}"
        elif not _is_zero(statements, s):
            shape = program.outputs[s.output].shape
            index = f"..., {index_text(shape, s.entry)}" if shape else "..."
            yield f"{outputs[s.output]}[{index}] = {statements.result(s, names, syntax)}"


def _is_zero(statements: Statements, s: Statement) -> bool:
    """Whether an entry is zero whatever the inputs."""
    entry = statements.entry(s) if isinstance(s, Store) else None
    return entry is not None and entry.index < 0 and entry.constant == 0.0


def _syntax(names: Mapping[str, str]) -> Syntax:
    return Syntax(repr, entry_name, {op: f"{name}({{}})" for op, name in names.items()})


def _entries(program: Program, text: str, scalar: str, casadi: bool = False) -> Iterator[str]:
    """Assignments that take entries out of the inputs."""
    for slot, k in used_entries(program):
        entry = (scalar if not slot.shape else text).format(
            name=slot.name, index=index_text(slot.shape, k) if slot.shape else "",
            pair=_pair(slot.shape, k) if casadi else "")
        yield f"{entry_name(slot, k)} = {entry}"


def _batches(program: Program) -> str:
    return ", ".join(f"{s.name}.shape[:{s.name}.ndim - {len(s.shape)}]" for s in program.inputs)


def _tuple(shape: tuple[int, ...]) -> str:
    return ", ".join(map(str, shape))


def _rows_and_columns(shape: tuple[int, ...]) -> str:
    rows = shape[0] if shape else 1
    return f"{rows}, {size(shape[1:])}"


def _pair(shape: tuple[int, ...], k: int) -> str:
    columns = size(shape[1:])
    return f"{k // columns}, {k % columns}" if shape else "0, 0"
