"""A program as a JAX function, in source that stands alone.

The function takes one state; `jax.vmap` makes batches of it. Where a program of the exact partial
derivatives is given, it becomes the function's JVP, so that gradients, Jacobians by either mode and
Hessians use it. XLA takes some 3 ms of compile time for every assignment on a CPU: a short program
is written out and takes a few seconds, a long one is a loop over tables, which takes one or two
however long it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from closedform.errors import ArgumentError
from closedform.lowerings.source.assignments import Let, Statements, Store, Syntax, index_text
from closedform.lowerings.source.comments import docstring
from closedform.lowerings.source.jax_loop import ENTRIES, Tables, loop_lines, table_lines, tables
from closedform.lowerings.source.python import array_lines, entry_name, used_entries
from closedform.program.ops import FUNCTIONS
from closedform.program.program import Entry, Output, Program

WRITTEN_OUT = 1500
"""Operations up to which a program is written out."""

SYNTAX = Syntax(repr, entry_name, {
    op.name: f"jnp.{op.ufunc}({{}})" for op in FUNCTIONS})

ARRAY = '''\
def _array(entries, shape, dtype):
    if len(shape) != 1:
        return jnp.stack([jnp.asarray(x, dtype) for x in entries]).reshape(shape)
    place, made = np.arange(shape[0]), jnp.zeros(shape, dtype)
    for k, x in enumerate(entries):
        made = jnp.where(place == k, x, made)
    return made'''
"""Entries of a vector are chosen by their place and not stacked: in a batch XLA computes all that a
stack is made of again for each of its entries (benchmarks/export.py, last table). Of matrices the
gradients would be slower."""


def jax_source(program: Program, name: str, about: Sequence[str],
               derivatives: Program | None = None) -> str:
    """A module with the function NAME.

    `derivatives` has the same inputs, and as outputs the partial derivatives of the only output by
    the first inputs, in their order.
    """
    lines = [*docstring([*about, "", *array_lines(program, "")]), "", "import jax",
             "import jax.numpy as jnp", "import numpy as np", "", ""]
    if derivatives is None:
        lines += _function(program, name)
    else:
        if derivatives.inputs != program.inputs or len(program.outputs) != 1:
            raise ArgumentError(f"the derivatives of {program.name} need its inputs "
                                f"{program.inputs}, not {derivatives.inputs}")
        lines += [*_function(program, "_value"), "", "",
                  *_function(derivatives, "_derivatives"), "", "",
                  *_custom_jvp(program, name, len(derivatives.outputs))]
    return "\n".join([*lines, "", "", ARRAY, "", "", ENTRIES]) + "\n"


def _function(program: Program, name: str) -> Iterator[str]:
    laid_out = None if program.operations.total <= WRITTEN_OUT else tables(program)
    if laid_out is not None:
        yield from (*table_lines(program, name, laid_out), "", "")
    arguments = ", ".join(slot.name for slot in program.inputs)
    yield f"def {name}({arguments}):"
    if program.inputs:
        comma = "," if len(program.inputs) == 1 else ""
        yield f"    dtype = jnp.result_type(float, {arguments})"
        yield (f"    {arguments}{comma} = (jnp.asarray(x, dtype) for x in "
               f"({arguments}{comma}))")
    else:
        yield "    dtype = jnp.result_type(float)"
    for slot, k in used_entries(program):
        where = f"[{index_text(slot.shape, k)}]" if slot.shape else ""
        yield f"    {entry_name(slot, k)} = {slot.name}{where}"
    body = _body(program) if laid_out is None else _loop(program, name, laid_out)
    yield from (f"    {line}".rstrip() for line in body)


def _body(program: Program) -> Iterator[str]:
    of = Statements(program)
    names = of.names(SYNTAX)
    for s in of.order:
        if isinstance(s, Let):
            yield f"{names[s.place]} = {of.value(s.place, names, SYNTAX)}"
    made = []
    for k, output in enumerate(program.outputs):
        entries = [of.result(Store(k, i), names, SYNTAX) for i in range(len(output.entries))]
        made.append(f"_array([{', '.join(entries)}], {output.shape!r}, dtype)")
    yield f"return {made[0]}" if len(made) == 1 else "return (" + ",\n            ".join(made) + ")"


def _loop(program: Program, name: str, laid_out: Tables) -> Iterator[str]:
    """Sines and cosines written out, and the loop."""
    entries = tuple(Entry(i, 1) for i in laid_out.before)
    early = Program(name, program.inputs, (Output("before", (len(entries),), entries),),
                    program.code)
    of = Statements(early)
    names = of.names(SYNTAX)
    needed = set(laid_out.before)
    for s in of.order:
        if isinstance(s, Let) and s.place in needed:
            yield f"{names[s.place]} = {of.value(s.place, names, SYNTAX)}"
    if entries:
        values = [of.result(Store(0, i), names, SYNTAX) for i in range(len(entries))]
        yield f"before = [{', '.join(values)}]"
    yield from loop_lines(program, name, laid_out)


def _custom_jvp(program: Program, name: str, partials: int) -> Iterator[str]:
    arguments = ", ".join(slot.name for slot in program.inputs)
    yield from ("@jax.custom_jvp", f"def {name}({arguments}):", f"    return _value({arguments})",
                "", "", f"@{name}.defjvp", "def _jvp(primals, tangents):",
                "    partials = _derivatives(*primals)" if partials > 1
                else "    partials = (_derivatives(*primals),)")
    yield f"    own, rest = primals[:{partials}], primals[{partials}:]"
    yield "    tangent = sum(d @ x for d, x in zip(partials, tangents))"
    if len(program.inputs) > partials:
        yield f"    more = jax.jvp(lambda *rest: _value(*own, *rest), rest, tangents[{partials}:])"
        yield "    return more[0], tangent + more[1]"
    else:
        yield "    return _value(*own, *rest), tangent"
