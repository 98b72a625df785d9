"""A program as C99: a header and a source that need nothing but libm, and compile as C++ too.

    void NAME(const double *q, ..., double *tau);                 one state
    void NAME_batch(size_t n, const double *q, ..., double *tau); n states, one behind the other

Nothing is allocated and nothing is static. A long program is cut into functions that hand their
values on in one array on the stack.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from closedform.lowerings.source.assignments import Let, Statement, output_names, waiting
from closedform.lowerings.source.c_batch import Batch
from closedform.lowerings.source.c_text import CFunction, Real, Writer, arguments, prototype
from closedform.lowerings.source.comments import c_comment, c_words
from closedform.program.ordering.live_ranges import largest_live_set

BYTES: Mapping[Real, int] = MappingProxyType({"double": 8, "float": 4})

RESTRICT = """\
#ifndef CLOSEDFORM_RESTRICT
#if defined(__cplusplus)
#define CLOSEDFORM_RESTRICT __restrict
#else
#define CLOSEDFORM_RESTRICT restrict
#endif
#endif
"""


class CFiles(NamedTuple):
    """The text of NAME.h and NAME.c."""

    header: str
    source: str


def c_source(function: CFunction) -> CFiles:
    """The program in C."""
    body = _Body(function)
    lines = c_comment([*function.about, "", *_layout(function), "", *body.stack_note()])
    guard = f"{function.name.upper()}_H"
    prototypes = [prototype(function)]
    if function.batch:
        prototypes.append(prototype(function, batch=True))
    header = [
        *lines, f"#ifndef {guard}", f"#define {guard}", "", "#include <stddef.h>", "",
        RESTRICT, "#ifdef __cplusplus", 'extern "C" {', "#endif", "",
        *(f"{text};" for text in prototypes), "", "#ifdef __cplusplus", "}", "#endif", "",
        "#endif"]
    source = [f"/* {c_words(function.about[0])}; see {function.name}.h. */", "",
              "#include <math.h>", f'#include "{function.name}.h"', "", *body.lines()]
    return CFiles("\n".join(header) + "\n", "\n".join(source) + "\n")


def _layout(function: CFunction) -> Iterator[str]:
    program = function.program
    yield "Arguments (C order: the last index runs fastest; arrays may not overlap):"
    for slot in program.inputs:
        yield f"  in   {_shaped(slot.name, slot.shape)}"
    for name, output in zip(output_names(program), program.outputs, strict=True):
        yield f"  out  {_shaped(name, output.shape)}"
    if function.batch:
        yield f"{function.name}_batch does n states, one behind the other in each array."


def _shaped(name: str, shape: tuple[int, ...]) -> str:
    return name + "".join(f"[{n}]" for n in shape or (1,))


class _Body:
    """Writes the functions of one program."""

    def __init__(self, function: CFunction) -> None:
        self.function, self.writer = function, Writer(function)
        self.program, self.statements = function.program, self.writer.statements
        self.names, self.batch = self.writer.names, Batch(self.writer)
        self.slots, self.scratch = waiting(self.statements.pieces, self.statements)

    def stack_note(self) -> Iterator[str]:
        real = BYTES[self.function.real]
        live = largest_live_set(self.program)
        yield (f"Stack of {self.function.name}: about {real * (live + self.scratch)} bytes "
               f"optimised ({live} values live at once"
               + (f", {self.scratch} handed on between pieces)," if self.scratch else "),"))
        named = max(sum(isinstance(s, Let) for s in p) for p in self.statements.pieces)
        yield f"up to {real * (named + self.scratch)} bytes without optimisation."
        if self.function.batch and self.batch.in_one_loop:
            yield f"{self.function.name}_batch needs {real * self.batch.numbers()} bytes more."

    def lines(self) -> Iterator[str]:
        if any(f"{self.function.name}_sign(" in x for x in self.writer.assignments(
                self.statements.order, self.writer.syntax)):
            real = self.function.real
            yield f"static {real} {self.function.name}_sign({real} x)"
            yield from ("{", f"    return x > 0 ? ({real})1 : x < 0 ? -({real})1 : x;", "}", "")
        pieces = self.statements.pieces
        if len(pieces) > 1:
            for k, piece in enumerate(pieces):
                yield from self._piece(k, piece)
        yield from (prototype(self.function), "{")
        if len(pieces) > 1:
            yield from self._calls()
        else:
            yield from self.writer.unused(self.writer.used(pieces[0]))
            yield from self._written(pieces[0])
        yield "}"
        if self.function.batch:
            yield ""
            yield from self.batch.lines()

    def _written(self, statements: Sequence[Statement]) -> Iterator[str]:
        lines = self.writer.assignments(statements, self.writer.syntax)
        return (f"    {line}" for line in lines)

    def _piece_arguments(self, piece: Sequence[Statement]) -> list[tuple[str, str]]:
        used = self.writer.used(piece)
        return [x for x in arguments(self.function) if x[1] in used]

    def _piece(self, k: int, piece: Sequence[Statement]) -> Iterator[str]:
        """One function: reads what waits in w, computes, and leaves in w what others need."""
        real, here = self.function.real, {s.place for s in piece if isinstance(s, Let)}
        declared = [text for text, _ in self._piece_arguments(piece)]
        declared.append(f"{real} *CLOSEDFORM_RESTRICT w")
        yield f"static void {self.function.name}_{k}({', '.join(declared)})"
        yield "{"
        if not any(i in self.slots for s in piece for i in self.statements.reads(s)) \
                and not here & self.slots.keys():
            yield "    (void)w;"
        old = sorted({i for s in piece for i in self.statements.reads(s)} - here)
        for i in old:
            yield f"    const {real} {self.names[i]} = w[{self.slots[i]}];"
        yield from self._written(piece)
        for i in sorted(here & self.slots.keys()):
            yield f"    w[{self.slots[i]}] = {self.names[i]};"
        yield from ("}", "")

    def _calls(self) -> Iterator[str]:
        everything = {name for piece in self.statements.pieces for name in self.writer.used(piece)}
        yield f"    {self.function.real} w[{max(self.scratch, 1)}];"
        yield from self.writer.unused(everything)
        for k, piece in enumerate(self.statements.pieces):
            given = [name for _, name in self._piece_arguments(piece)]
            yield f"    {self.function.name}_{k}({', '.join([*given, 'w'])});"
