"""A program as C99: a header and a source that need nothing but libm, and compile as C++ too.

    void NAME(const double *q, ..., double *tau);                 one state
    void NAME_batch(size_t n, const double *q, ..., double *tau); n states, one behind the other

Nothing is allocated and nothing is static. A long program is cut into functions that hand their
values on in one array on the stack. The batch loop gathers a block of states and computes their
sines and cosines first, so that the arithmetic, a loop of its own over arrays of the block, has no
calls and no aliases, and the compiler vectorises it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, NamedTuple

from closedform.lowerings.statements import (
    Let,
    Statement,
    Statements,
    Store,
    Syntax,
    array_sizes,
    output_names,
    waiting,
)
from closedform.program.order import largest_live_set
from closedform.program.program import LEAVES, Program, Slot, size

Real = Literal["double", "float"]
BLOCK = 16
"""States in one block of the batch loop."""
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


@dataclass(frozen=True)
class CFunction:
    """What is written: the program under a name, with lines about it, in one precision."""

    program: Program
    name: str
    about: Sequence[str]
    real: Real = "double"
    batch: bool = True


def c_source(function: CFunction) -> CFiles:
    """The program in C."""
    body = _Body(function)
    lines = [*_comment([*function.about, "", *_layout(function), "", *body.stack_note()])]
    guard = f"{function.name.upper()}_H"
    prototypes = [_prototype(function)]
    if function.batch:
        prototypes.append(_prototype(function, batch=True))
    header = [
        *lines, f"#ifndef {guard}", f"#define {guard}", "", "#include <stddef.h>", "",
        RESTRICT, "#ifdef __cplusplus", 'extern "C" {', "#endif", "",
        *(f"{text};" for text in prototypes), "", "#ifdef __cplusplus", "}", "#endif", "",
        "#endif"]
    source = [f"/* {_safe(function.about[0])}; see {function.name}.h. */", "",
              "#include <math.h>", f'#include "{function.name}.h"', "", *body.lines()]
    return CFiles("\n".join(header) + "\n", "\n".join(source) + "\n")


def number(real: Real, x: float) -> str:
    """A literal that reads back as the same number."""
    text = repr(float(x))
    if "e" not in text and "." not in text and "n" not in text:
        text += ".0"
    return text if real == "double" else f"{text}f"


def _comment(lines: Sequence[str]) -> Iterator[str]:
    """Lines as a comment; nothing in them may end it."""
    yield "/*"
    for line in lines:
        yield f" * {_safe(line)}".rstrip()
    yield " */"


def _safe(text: str) -> str:
    return text.replace("*/", "* /").replace("/*", "/ *")


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


def _arguments(function: CFunction) -> list[tuple[str, str]]:
    """Declarations of all arrays, and their names."""
    real, program = function.real, function.program
    pointer = "*CLOSEDFORM_RESTRICT"
    return [*((f"const {real} {pointer} {s.name}", s.name) for s in program.inputs),
            *((f"{real} {pointer} {name}", name) for name in output_names(program))]


def _prototype(function: CFunction, batch: bool = False) -> str:
    declared = [text for text, _ in _arguments(function)]
    head = f"void {function.name}{'_batch' if batch else ''}("
    return head + ", ".join([*(["size_t n"] if batch else []), *declared]) + ")"


class _Body:
    """Writes the functions of one program."""

    def __init__(self, function: CFunction) -> None:
        self.function, self.program = function, function.program
        self.statements = Statements(self.program)
        self.syntax = self._syntax("{name}[{k}]")
        self.names = self.statements.names(self.syntax)
        self.slots, self.scratch = waiting(self.statements.pieces, self.statements)
        self.outputs = output_names(self.program)

    def _syntax(self, entry: str) -> Syntax:
        suffix = "" if self.function.real == "double" else "f"
        functions = {op: f"{op}{suffix}({{}})" for op in ("sin", "cos", "sqrt")}
        functions["sign"] = f"{self.function.name}_sign({{}})"

        def text(slot: Slot, k: int) -> str:
            return entry.format(name=slot.name, k=k)

        return Syntax(lambda x: number(self.function.real, x), text, functions)

    def stack_note(self) -> Iterator[str]:
        real = BYTES[self.function.real]
        live = largest_live_set(self.program)
        yield (f"Stack of {self.function.name}: about {real * (live + self.scratch)} bytes "
               f"optimised ({live} values live at once"
               + (f", {self.scratch} handed on between pieces)," if self.scratch else "),"))
        named = max(sum(isinstance(s, Let) for s in p) for p in self.statements.pieces)
        yield f"up to {real * (named + self.scratch)} bytes without optimisation."
        if self.function.batch and self._in_one_loop():
            block = real * BLOCK * (len(self._early_sines()) + sum(array_sizes(self.program)))
            yield f"{self.function.name}_batch needs {block} bytes more."

    def lines(self) -> Iterator[str]:
        if any(i.op == "sign" for i in self.program.code):
            real = self.function.real
            yield f"static {real} {self.function.name}_sign({real} x)"
            yield from ("{", f"    return x > 0 ? ({real})1 : x < 0 ? -({real})1 : x;", "}", "")
        pieces = self.statements.pieces
        if len(pieces) > 1:
            for k, piece in enumerate(pieces):
                yield from self._piece(k, piece)
        yield from (_prototype(self.function), "{")
        if len(pieces) > 1:
            yield from self._calls()
        else:
            yield from self._unused(self._used(pieces[0]))
            yield from (f"    {line}" for line in self._assignments(pieces[0], self.syntax))
        yield "}"
        if self.function.batch:
            yield ""
            yield from self._batch()

    def _assignments(self, statements: Sequence[Statement], syntax: Syntax,
                     entry: str = "{name}[{k}]") -> Iterator[str]:
        real, of, names = self.function.real, self.statements, self.names
        for s in statements:
            if isinstance(s, Store):
                where = entry.format(name=self.outputs[s.output], k=s.entry)
                yield f"{where} = {of.result(s, names, syntax)};"
            else:
                yield f"const {real} {names[s.place]} = {of.value(s.place, names, syntax)};"

    # ------------------------------------------------------------------ pieces
    def _used(self, piece: Sequence[Statement]) -> set[str]:
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

    def _unused(self, used: set[str]) -> Iterator[str]:
        yield from (f"    (void){name};" for _, name in _arguments(self.function)
                    if name not in used)

    def _piece_arguments(self, piece: Sequence[Statement]) -> list[tuple[str, str]]:
        used = self._used(piece)
        return [x for x in _arguments(self.function) if x[1] in used]

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
        for statement in piece:
            yield from (f"    {line}" for line in self._assignments([statement], self.syntax))
        for i in sorted(here & self.slots.keys()):
            yield f"    w[{self.slots[i]}] = {self.names[i]};"
        yield from ("}", "")

    def _calls(self) -> Iterator[str]:
        everything = {name for piece in self.statements.pieces for name in self._used(piece)}
        yield f"    {self.function.real} w[{max(self.scratch, 1)}];"
        yield from self._unused(everything)
        for k, piece in enumerate(self.statements.pieces):
            given = [name for _, name in self._piece_arguments(piece)]
            yield f"    {self.function.name}_{k}({', '.join([*given, 'w'])});"

    # ------------------------------------------------------------------ batches
    def _in_one_loop(self) -> bool:
        return len(self.statements.pieces) == 1

    def _early_sines(self) -> list[int]:
        """Sines and cosines whose angles are expressions of inputs alone."""
        early, of = [], self.statements
        known = set[int]()
        for statement in of.order:
            if isinstance(statement, Let) and of.reads(statement) <= known:
                if self.program.code[statement.place].op in ("sin", "cos"):
                    early.append(statement.place)
                else:
                    known.add(statement.place)
        return early

    def _batch(self) -> Iterator[str]:
        yield from (_prototype(self.function, batch=True), "{")
        if self._in_one_loop():
            yield from self._vector_loop()
        else:
            yield from self._calling_loop()
        yield "}"

    def _vector_loop(self) -> Iterator[str]:
        """Blocks of states: gathered, sines and cosines, arithmetic in one loop, scattered."""
        of, real, early = self.statements, self.function.real, self._early_sines()
        names = [name for _, name in _arguments(self.function)]
        sizes, inputs = array_sizes(self.program), len(self.program.inputs)
        at, again = "{name}_[{k}][i]", self._needed_by_the_rest(early)
        syntax, needed = self._syntax(at), self._needed_by(early)
        yield from (f"    {real} {x}_[{n}][{BLOCK}];"
                    for x, n in zip(names, sizes, strict=True) if n)
        yield from (f"    {real} {self.names[i]}_[{BLOCK}];" for i in early)
        yield f"    for (size_t first = 0; first < n; first += {BLOCK}) {{"
        yield f"        const size_t count = n - first < {BLOCK} ? n - first : {BLOCK};"
        yield from self._moved("count", names[:inputs], sizes[:inputs], inward=True)
        yield f"        for (size_t i = 0; i < {BLOCK}; ++i) {{"
        for let in (s for s in of.order if isinstance(s, Let)):
            if let.place in needed:
                yield from (f"            {x}" for x in self._assignments([let], syntax, at))
            elif let.place in early:
                yield (f"            {self.names[let.place]}_[i] = "
                       f"{of.value(let.place, self.names, syntax)};")
        yield from ("        }", f"        for (size_t i = 0; i < {BLOCK}; ++i) {{")
        for s in of.order:
            if isinstance(s, Let) and s.place in early:
                yield f"            const {real} {self.names[s.place]} = {self.names[s.place]}_[i];"
            elif isinstance(s, Store) or s.place in again:
                yield from (f"            {x}" for x in self._assignments([s], syntax, at))
        yield "        }"
        yield from self._moved("count", names[inputs:], sizes[inputs:], inward=False)
        yield "    }"

    @staticmethod
    def _moved(count: str, names: Sequence[str], sizes: Sequence[int],
               inward: bool) -> Iterator[str]:
        """Copies between the caller's arrays and a block; behind the last state it is repeated."""
        yield f"        for (size_t i = 0; i < {BLOCK if inward else count}; ++i) {{"
        if inward:
            yield f"            const size_t s = first + (i < {count} ? i : {count} - 1);"
        for name, n in zip(names, sizes, strict=True):
            block, given = f"{name}_[k][i]", f"{name}[{'s' if inward else '(first + i)'}*{n} + k]"
            left, right = (block, given) if inward else (given, block)
            if n:
                yield f"            for (size_t k = 0; k < {n}; ++k) {left} = {right};"
        yield "        }"

    def _needed_by(self, roots: Sequence[int]) -> set[int]:
        """The named values that these values are computed from."""
        found, stack = set[int](), list(roots)
        while stack:
            new = self.statements.reads(Let(stack.pop())) - found
            found |= new
            stack.extend(new)
        return found

    def _needed_by_the_rest(self, early: Sequence[int]) -> set[int]:
        """The named values that the outputs need when early sines and cosines are known."""
        found = set[int]()
        stack = [i for s in self.statements.order if isinstance(s, Store)
                 for i in self.statements.reads(s)]
        while stack:
            place = stack.pop()
            if place not in found and place not in early:
                found.add(place)
                stack.extend(self.statements.reads(Let(place)))
        return found

    def _calling_loop(self) -> Iterator[str]:
        """A long program: state by state through the function of one state."""
        names = [name for _, name in _arguments(self.function)]
        moved = [f"{name} + i*{n}"
                 for name, n in zip(names, array_sizes(self.program), strict=True)]
        yield "    for (size_t i = 0; i < n; ++i) {"
        yield f"        {self.function.name}({', '.join(moved)});"
        yield "    }"


def c_array(real: Real, name: str, values: Sequence[float], rows: int) -> Iterator[str]:
    """A constant matrix of so many rows as C, for test vectors."""
    width = len(values) // rows
    yield f"static const {real} {name}[{rows}][{max(width, 1)}] = {{"
    for r in range(rows):
        row = [number(real, x) for x in values[r * width:(r + 1) * width]] or ["0"]
        yield f"    {{{', '.join(row)}}},"
    yield "};"


def entries(shape: tuple[int, ...]) -> int:
    """How many numbers an array has in C, where none is empty."""
    return max(size(shape), 1)
