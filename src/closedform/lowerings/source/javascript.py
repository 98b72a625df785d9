"""A program as a module of JavaScript, for browsers and Node; and the module around WebAssembly.

    import { NAME } from "./NAME.mjs";
    const tau = NAME(q, v, a);                         arrays of numbers, flat, in C order

What comes back is a `Float64Array`, or an object of them by name. Arrays given behind the inputs
are written to and come back, so that a loop makes none. A long program is cut into functions that
hand their values on in one array: engines do not optimise very long ones.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from closedform.lowerings.source.assignments import (
    Let,
    Statement,
    Statements,
    Syntax,
    array_sizes,
    output_names,
    waiting,
)
from closedform.lowerings.source.comments import c_comment
from closedform.program.ops import FUNCTIONS
from closedform.program.program import Program


def javascript_source(program: Program, name: str, about: Sequence[str]) -> str:
    """The text of NAME.mjs."""
    return "\n".join([*_head(program, about), *_Body(program, name).lines()]) + "\n"


def javascript_loader(program: Program, name: str, about: Sequence[str]) -> str:
    """The text of NAME_wasm.mjs: the same function, by the module NAME.wasm beside it."""
    arguments = [s.name for s in program.inputs]
    outputs, sizes = output_names(program), array_sizes(program)
    views = ", ".join(f'{x}: view("{x}", {n})' for x, n in zip(
        [*arguments, *outputs], sizes, strict=True))
    return "\n".join([
        *_head(program, about), LOADER.replace("@NAME@", name).replace("@VIEWS@", views), "",
        _signature(program, name), *(f"  at.{x}.set({x});" for x in arguments),
        "  kernel(...places);", *(f"  {x}.set(at.{x});" for x in outputs),
        f"  return {_result(outputs)};", "}"]) + "\n"


LOADER = """\
const url = new URL("./@NAME@.wasm", import.meta.url);
const bytes = url.protocol === "file:"
  ? await (await import("node:fs/promises")).readFile(url)
  : await (await fetch(url)).arrayBuffer();
const { instance } = await WebAssembly.instantiate(bytes);

/** kernel(addresses), batch(n, addresses), memory, and the address of each array and of `free`. */
export const wasm = instance.exports;
const { kernel, memory } = wasm;
const view = (name, size) => new Float64Array(memory.buffer, wasm[name].value, size);
const at = { @VIEWS@ };
const places = Object.keys(at).map(name => wasm[name].value);"""
"""A grown memory has another buffer: who grows it for batches works with `wasm` alone."""


def javascript_number(x: float) -> str:
    """A literal that reads back as the same number."""
    if math.isfinite(x):
        return repr(float(x)).removesuffix(".0")
    return "NaN" if x != x else "Infinity" if x > 0 else "-Infinity"


def _head(program: Program, about: Sequence[str]) -> list[str]:
    def shaped(name: str, shape: tuple[int, ...]) -> str:
        return name + "".join(f"[{n}]" for n in shape or (1,))

    outputs = zip(output_names(program), program.outputs, strict=True)
    return c_comment([
        *about, "", "Flat arrays in C order: the last index runs fastest.",
        *(f"  in   {shaped(s.name, s.shape)}" for s in program.inputs),
        *(f"  out  {shaped(name, o.shape)}" for name, o in outputs)])


def _signature(program: Program, name: str) -> str:
    sizes = array_sizes(program)[len(program.inputs):]
    made = [f"{x} = new Float64Array({n})" for x, n in zip(
        output_names(program), sizes, strict=True)]
    return f"export function {name}({', '.join([*(s.name for s in program.inputs), *made])}) {{"


def _result(outputs: Sequence[str]) -> str:
    return outputs[0] if len(outputs) == 1 else f"{{ {', '.join(outputs)} }}"


class _Body:
    """Writes the functions of one program."""

    def __init__(self, program: Program, name: str) -> None:
        self.program, self.name = program, name
        self.outputs = output_names(program)
        self.statements = Statements(program)
        functions = {op.name: f"Math.{op.name}({{}})" for op in FUNCTIONS}
        self.syntax = Syntax(javascript_number, lambda slot, k: f"{slot.name}[{k}]", functions)
        self.names = self.statements.names(self.syntax)

    def lines(self) -> Iterator[str]:
        pieces = self.statements.pieces
        arrays = ", ".join([*(s.name for s in self.program.inputs), *self.outputs, "waiting"])
        if len(pieces) == 1:
            yield from (_signature(self.program, self.name), *self._assignments(pieces[0]))
        else:
            slots, count = waiting(pieces, self.statements)
            yield from (f"const waiting = new Float64Array({count});", "")
            for k, piece in enumerate(pieces):
                yield f"function {self.name}_{k}({arrays}) {{"
                yield from (*self._piece(piece, slots), "}", "")
            yield _signature(self.program, self.name)
            yield from (f"  {self.name}_{k}({arrays});" for k in range(len(pieces)))
        yield from (f"  return {_result(self.outputs)};", "}")

    def _piece(self, piece: Sequence[Statement], slots: dict[int, int]) -> Iterator[str]:
        """Reads what waits, computes, and leaves what others need."""
        here = {s.place for s in piece if isinstance(s, Let)}
        for i in sorted({i for s in piece for i in self.statements.reads(s)} - here):
            yield f"  const {self.names[i]} = waiting[{slots[i]}];"
        yield from self._assignments(piece)
        for i in sorted(here & slots.keys()):
            yield f"  waiting[{slots[i]}] = {self.names[i]};"

    def _assignments(self, statements: Sequence[Statement]) -> Iterator[str]:
        of, names = self.statements, self.names
        for s in statements:
            if isinstance(s, Let):
                yield f"  const {names[s.place]} = {of.value(s.place, names, self.syntax)};"
            else:
                text = of.result(s, names, self.syntax)
                yield f"  {self.outputs[s.output]}[{s.entry}] = {text};"
