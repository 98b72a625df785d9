"""Parts of C that all functions of a program share: numbers, prototypes, assignments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from closedform.lowerings.source.assignments import (
    Statement,
    Statements,
    Store,
    Syntax,
    output_names,
)
from closedform.program.ops import FUNCTIONS
from closedform.program.program import LEAVES, Program, Slot

Real = Literal["double", "float"]


@dataclass(frozen=True)
class CFunction:
    """What is written: the program under a name, with lines about it, in one precision."""

    program: Program
    name: str
    about: Sequence[str]
    real: Real = "double"
    batch: bool = True


def number(real: Real, x: float) -> str:
    """A literal that reads back as the same number."""
    text = repr(float(x))
    if "e" not in text and "." not in text and "n" not in text:
        text += ".0"
    return text if real == "double" else f"{text}f"


def arguments(function: CFunction) -> list[tuple[str, str]]:
    """Declarations of all arrays, and their names."""
    real, program = function.real, function.program
    pointer = "*CLOSEDFORM_RESTRICT"
    return [*((f"const {real} {pointer} {s.name}", s.name) for s in program.inputs),
            *((f"{real} {pointer} {name}", name) for name in output_names(program))]


def prototype(function: CFunction, batch: bool = False) -> str:
    declared = [text for text, _ in arguments(function)]
    head = f"void {function.name}{'_batch' if batch else ''}("
    return head + ", ".join([*(["size_t n"] if batch else []), *declared]) + ")"


class Writer:
    """The assignments of one program in C."""

    def __init__(self, function: CFunction) -> None:
        self.function, self.program = function, function.program
        self.statements = Statements(self.program)
        self.syntax = self.syntax_at("{name}[{k}]")
        self.names = self.statements.names(self.syntax)
        self.outputs = output_names(self.program)

    def syntax_at(self, entry: str) -> Syntax:
        """C, with entries of inputs written so."""
        suffix = "" if self.function.real == "double" else "f"
        functions = {op.name: f"{op.name}{suffix}({{}})" for op in FUNCTIONS}
        functions["sign"] = f"{self.function.name}_sign({{}})"       # C has none

        def text(slot: Slot, k: int) -> str:
            return entry.format(name=slot.name, k=k)

        return Syntax(lambda x: number(self.function.real, x), text, functions)

    def assignments(self, statements: Sequence[Statement], syntax: Syntax,
                    entry: str = "{name}[{k}]") -> Iterator[str]:
        """The lines of some statements; `entry` is how entries of outputs are written."""
        real, of, names = self.function.real, self.statements, self.names
        for s in statements:
            if isinstance(s, Store):
                where = entry.format(name=self.outputs[s.output], k=s.entry)
                yield f"{where} = {of.result(s, names, syntax)};"
            else:
                yield f"const {real} {names[s.place]} = {of.value(s.place, names, syntax)};"

    def used(self, piece: Sequence[Statement]) -> set[str]:
        """The arrays that a piece touches."""
        used, code = set[str](), self.program.code
        for statement in piece:
            if isinstance(statement, Store):
                used.add(self.outputs[statement.output])
                stack = [self.statements.entry(statement).index]
            else:
                stack = list(code[statement.place].args)
            while stack:
                place = stack.pop()
                if place < 0 or place in self.names:
                    continue
                op, args, _ = code[place]
                if op == "input":
                    used.add(self.program.inputs[args[0]].name)
                elif op not in LEAVES:
                    stack.extend(args)
        return used

    def unused(self, used: set[str]) -> Iterator[str]:
        """Words that keep compilers from asking about arrays that are not used."""
        yield from (f"    (void){name};" for _, name in arguments(self.function)
                    if name not in used)


def c_array(real: Real, name: str, values: Sequence[float], rows: int) -> Iterator[str]:
    """A constant matrix of so many rows as C, for test vectors."""
    width = len(values) // rows
    yield f"static const {real} {name}[{rows}][{max(width, 1)}] = {{"
    for r in range(rows):
        row = [number(real, x) for x in values[r * width:(r + 1) * width]] or ["0"]
        yield f"    {{{', '.join(row)}}},"
    yield "};"
