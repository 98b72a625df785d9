"""A program as one function file for MATLAB and Octave.

Vectors come out as columns; as inputs rows and columns are alike. Scalars are 1 x 1.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from closedform.lowerings.source.assignments import (
    Let,
    Statements,
    Syntax,
    index_text,
    output_names,
)
from closedform.lowerings.source.comments import line_comments
from closedform.program.ops import FUNCTIONS
from closedform.program.program import Program, Slot

NAME_LENGTH = 63
"""The longest name that MATLAB tells apart."""


def matlab_source(program: Program, name: str, about: Sequence[str]) -> str:
    """The text of NAME.m."""
    inputs = ", ".join(slot.name for slot in program.inputs)
    outputs = output_names(program)
    syntax = Syntax(repr, _entry, {op.name: f"{op.name}({{}})" for op in FUNCTIONS}, 1)
    statements = Statements(program)
    names = statements.names(syntax)
    lines = [f"function {_results(outputs)} = {name}({inputs})",
             *line_comments("%", [*about, "", *_layout(program)]),
             *(f"  {out} = zeros({_sizes(o.shape)});"
               for out, o in zip(outputs, program.outputs, strict=True))]
    for s in statements.order:
        if isinstance(s, Let):
            lines.append(f"  {names[s.place]} = {statements.value(s.place, names, syntax)};")
            continue
        entry, shape = statements.entry(s), program.outputs[s.output].shape
        if entry.index >= 0 or entry.constant:
            where = f"({index_text(shape, s.entry, 1)})" if shape else ""
            text = statements.result(s, names, syntax)
            lines.append(f"  {outputs[s.output]}{where} = {text};")
    return "\n".join([*lines, "end"]) + "\n"


def matlab_array(values: Sequence[float]) -> str:
    """Numbers as a row, a few on each line."""
    numbers = [repr(float(x)) for x in values]
    rows = [" ".join(numbers[k:k + 8]) for k in range(0, len(numbers), 8)]
    return "[" + " ...\n      ".join(rows) + "]"


def is_name(text: str) -> bool:
    """Whether MATLAB takes this for the name of a function."""
    return bool(re.fullmatch(r"[A-Za-z]\w*", text, re.ASCII)) and len(text) <= NAME_LENGTH


def _entry(slot: Slot, k: int) -> str:
    return f"{slot.name}({index_text(slot.shape, k, 1)})" if slot.shape else slot.name


def _results(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"[{', '.join(names)}]"


def _sizes(shape: tuple[int, ...]) -> str:
    return ", ".join(map(str, shape if len(shape) > 1 else (*shape, 1) if shape else (1, 1)))


def _layout(program: Program) -> list[str]:
    def shaped(name: str, shape: tuple[int, ...]) -> str:
        return f"{name} ({_sizes(shape).replace(', ', ' x ')})"

    inputs = ", ".join(shaped(s.name, s.shape) for s in program.inputs)
    outputs = ", ".join(shaped(name, o.shape) for name, o in
                        zip(output_names(program), program.outputs, strict=True))
    return [f"in:  {inputs}", f"out: {outputs}"]
