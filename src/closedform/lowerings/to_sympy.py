"""A program as SymPy expressions with named intermediate terms, and these as a module.

    c1 = cos(q1), s1 = sin(q1), t3 = 0.2*c1*v2, …          terms, in order
    inverse_dynamics = [t3*s1 + …, …]                       outputs, in the terms and the inputs
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from keyword import kwlist
from typing import Any, NamedTuple

import numpy as np
import sympy
from sympy.printing.str import StrPrinter

from closedform.lowerings.source.assignments import Statements, Syntax, index_text, output_names
from closedform.lowerings.source.comments import docstring
from closedform.program.ops import FUNCTIONS, OPS
from closedform.program.program import Program, Slot, size
from closedform.program.record import object_array

IMPORTED = ("Float", "Rational", "Symbol", *sorted(("sympify", *(op.name for op in FUNCTIONS))))
"""What an exported module takes from SymPy."""


class Expressions(NamedTuple):
    """Arrays of expressions over arrays of symbols, with terms that have a symbol of their own."""

    inputs: Mapping[str, np.ndarray]
    terms: Sequence[tuple[Any, Any]]
    outputs: Mapping[str, np.ndarray]

    @property
    def symbols(self) -> list[Any]:
        """All symbols: of the inputs in order, then of the terms."""
        return [*(x for array in self.inputs.values() for x in np.ravel(array)),
                *(symbol for symbol, _ in self.terms)]


def input_symbols(slot: Slot) -> np.ndarray:
    """q1, q2, … for a vector, rates_1_2 for an entry of a matrix, counted from one."""
    names = [_entry_name(slot, k) for k in range(size(slot.shape))]
    return object_array([sympy.Symbol(name, real=True) for name in names], slot.shape)


def program_expressions(program: Program) -> Expressions:
    """The expressions of a program: what is used more than once is a term."""
    of, syntax = Statements(program), Syntax(repr, _entry_name, {}, first=1)
    names = of.names(syntax)
    inputs = {s.name: input_symbols(s) for s in program.inputs}
    flat = [np.ravel(x) for x in inputs.values()]
    values: list[Any] = []
    terms: list[tuple[Any, Any]] = []
    for place, (op, args, value) in enumerate(program.code):
        if op == "input":
            values.append(flat[args[0]][args[1]])
            continue
        made = (sympy.Float(value) if value is not None
                else OPS[op].on(*[values[i] for i in args]))
        if place in names:
            terms.append((sympy.Symbol(names[place], real=True), made))
            made = terms[-1][0]
        values.append(made)
    outputs = {name: object_array(
        [sympy.Float(e.constant) if e.index < 0 and e.constant else sympy.Integer(0)
         if e.index < 0 else e.sign * values[e.index] for e in output.entries], output.shape)
        for name, output in zip(output_names(program), program.outputs, strict=True)}
    return Expressions(inputs, terms, outputs)


def sympy_source(of: Expressions, name: str, about: Sequence[str]) -> str:
    """A module with `inputs`, `terms`, `outputs`, and NAME(*arrays) that puts numbers in."""
    names = _variables(of.symbols)
    printer = _Printer(names)
    lines = [*docstring(about), "",
             f"from sympy import {', '.join(IMPORTED)}", ""]
    lines += [f"{names[x]} = Symbol({x.name!r}, real=True)" for x in of.symbols]
    lines += ["", "inputs = {"]
    lines += [f"    {key!r}: {_nested(array, printer)}," for key, array in of.inputs.items()]
    lines += ["}", "terms = ["]
    lines += [f"    ({names[x]}, {printer.doprint(value)})," for x, value in of.terms]
    lines += ["]", "outputs = {"]
    lines += [f"    {key!r}: {_nested(array, printer)}," for key, array in of.outputs.items()]
    lines += ["}", "", "", f"def {name}(*arrays):", EVALUATION]
    return "\n".join(lines) + "\n"


EVALUATION = '''\
    """The outputs as nested lists of numbers, for arrays of numbers in the order of `inputs`."""
    values = {}
    for symbols, numbers in zip(inputs.values(), arrays):
        values.update(zip(_flat(symbols), (Float(float(x)) for x in _flat(numbers))))
    for symbol, term in terms:
        values[symbol] = sympify(term).xreplace(values)
    found = [_numbers(array, values) for array in outputs.values()]
    return found[0] if len(found) == 1 else tuple(found)


def _flat(x):
    if not hasattr(x, "__iter__") or getattr(x, "ndim", 1) == 0:
        return [x]
    return [z for y in x for z in _flat(y)]


def _numbers(x, values):
    if isinstance(x, list):
        return [_numbers(y, values) for y in x]
    return float(sympify(x).xreplace(values))'''


class _Printer(StrPrinter):  # type: ignore[misc]
    """Python text; floats with all their digits, symbols as variables."""

    def __init__(self, names: Mapping[Any, str]) -> None:
        super().__init__()
        self._names = names

    def _print_Float(self, x: Any) -> str:  # noqa: N802
        return repr(float(x))

    def _print_Symbol(self, x: Any) -> str:  # noqa: N802
        return self._names.get(x, str(x.name))

    def _print_Rational(self, x: Any) -> str:  # noqa: N802
        return f"Rational({x.p}, {x.q})"


def _variables(symbols: Sequence[Any]) -> dict[Any, str]:
    """For every symbol a Python variable of its own, named like it as far as letters allow."""
    names: dict[Any, str] = {}
    taken = {*kwlist, *IMPORTED, "inputs", "terms", "outputs"}
    for symbol in symbols:
        name = re.sub(r"\W", "_", re.sub("[{}]", "", symbol.name), flags=re.ASCII)
        name = name if name[:1].isalpha() else f"x_{name}"
        while name in taken:
            name += "_"
        taken.add(name)
        names[symbol] = name
    return names


def _nested(array: np.ndarray, printer: _Printer) -> str:
    if isinstance(array, np.ndarray) and array.ndim:
        return f"[{', '.join(_nested(x, printer) for x in array)}]"
    return str(printer.doprint(array.item() if isinstance(array, np.ndarray) else array))


def _entry_name(slot: Slot, k: int) -> str:
    if not slot.shape:
        return slot.name
    indices = index_text(slot.shape, k, 1)
    return f"{slot.name}{indices}" if len(slot.shape) == 1 else (
        f"{slot.name}_{indices.replace(', ', '_')}")
