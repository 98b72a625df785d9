r"""Expressions as a LaTeX document, and a reader that puts numbers into that document.

    c_{1} &= \cos{\left(q_{1} \right)}
    \tau_{1} &= …

The reader is a Python module that needs nothing else: it parses the equations of the .tex file, so
that test vectors check what is printed there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import sympy
from sympy.printing.latex import LatexPrinter

from closedform.lowerings.source.comments import latex_words, line_comments
from closedform.lowerings.to_sympy import Expressions
from closedform.program.ops import FUNCTIONS

LINE = 120
"""Characters of LaTeX after which a sum goes on in a new line."""

ACCENTS = ("", r"\dot", r"\ddot", r"\dddot", r"\ddddot")
Letters = Mapping[str, tuple[str, int | None]]
"""Symbols of arrays by name; a number is the dots of the first row, each further row has one more.
Other arrays are written out."""
NO_LETTERS: Letters = MappingProxyType({})

HEAD = r"""\documentclass{article}
\usepackage[a4paper, margin=15mm]{geometry}
\usepackage{amsmath}
\allowdisplaybreaks
\begin{document}
\raggedright
"""


def latex_source(of: Expressions, about: Sequence[str], letters: Letters = NO_LETTERS) -> str:
    """A document: first the terms, then the outputs."""
    tex = symbol_texts(of, letters)
    write = _Writer(tex)
    lines = [*line_comments("%", about), HEAD + rf"\section*{{{latex_words(about[0])}}}"]
    if of.terms:
        lines += ["with", r"\begin{align*}",
                  ",\\\\\n".join(write.equation(tex[x], value) for x, value in of.terms) + ".",
                  r"\end{align*}"]
    for key, array in of.outputs.items():
        values = np.asarray(array, dtype=object)
        equations = [write.equation(_entry(key, index, letters), values[index])
                     for index in np.ndindex(*values.shape)]
        lines += [r"\begin{align*}", ",\\\\\n".join(equations) + ".", r"\end{align*}"]
    return "\n".join([*lines, r"\end{document}"]) + "\n"


def symbol_texts(of: Expressions, letters: Letters = NO_LETTERS) -> dict[Any, str]:
    """Every symbol in LaTeX: q̇_1 for an entry of v, c_{12} for the cosine of q_1 + q_2.

    In the order of factors in a product: masses, gravity, other parameters, terms, inputs.
    """
    given: dict[Any, str] = {}
    for key, array in of.inputs.items():
        for index in np.ndindex(*np.shape(array)):
            symbol = np.asarray(array, dtype=object)[index]
            given[symbol] = (sympy.latex(symbol) if key == "symbols"
                             else _entry(key, index, letters))
    parameters = sorted(np.ravel(of.inputs.get("symbols", ())), key=lambda x: (
        x.name[0] != "m", x.name[0] != "g", x.name))
    tex = {x: given.pop(x) for x in parameters}
    for symbol, _ in of.terms:
        letter = symbol.name.rstrip("0123456789_")
        parts = symbol.name[len(letter):].strip("_").split("_")
        tex[symbol] = f"{letter}_{{{('' if max(map(len, parts)) < 2 else ',').join(parts)}}}"
    return {**tex, **given}


def _entry(key: str, index: tuple[int, ...], letters: Letters) -> str:
    """\\dot{q}_{1} for an entry of an array."""
    words = key if len(key) == 1 else rf"\mathrm{{{latex_words(key)}}}"
    letter, dots = letters.get(key, (words, None))
    if dots is not None:
        letter, index = _dotted(letter, dots + index[0]), index[1:]
    if not index:
        return letter
    separator = "" if max(index) < 9 else ","
    return f"{letter}_{{{separator.join(str(i + 1) for i in index)}}}"


def _dotted(letter: str, dots: int) -> str:
    if dots < len(ACCENTS):
        return f"{ACCENTS[dots]}{{{letter}}}" if dots else letter
    return f"{{{letter}}}^{{({dots})}}"


class _Writer:
    """Writes equations.

    SymPy sorts by name: stand-ins, named in the order of `tex`, bring parameters to the front.
    """

    def __init__(self, tex: Mapping[Any, str]) -> None:
        self._order = {x: sympy.Symbol(f"x{k:06d}", real=True) for k, x in enumerate(tex)}
        names = {self._order[x]: text for x, text in tex.items()}
        self._printer = LatexPrinter({"symbol_names": names, "full_prec": False})

    def equation(self, left: str, value: Any) -> str:
        """left &= value, cut at the terms of a sum into lines."""
        value = sympy.sympify(value).xreplace(self._order)
        lines, line = [], ""
        for k, part in enumerate(value.as_ordered_terms() if value.is_Add else [value]):
            text: str = self._printer.doprint(part)
            if line and len(line) + len(text) > LINE:
                lines.append(line)
                line = ""
            if k:
                text = f" - {text[1:].lstrip()}" if text.startswith("-") else f" + {text}"
            line += text
        return f"{left} &= " + "\\\\\n&\\quad".join([*lines, line])


# -------------------------------------------------------------------------------------- reading
def latex_reader(of: Expressions, name: str, letters: Letters = NO_LETTERS) -> str:
    """A module with NAME(*arrays), which evaluates the equations of NAME.tex."""
    tex = symbol_texts(of, letters)
    inputs = [[tex[x] for x in np.ravel(array)] for array in of.inputs.values()]
    outputs = [[_entry(key, index, letters) for index in np.ndindex(*np.shape(array))]
               for key, array in of.outputs.items()]
    shapes = [np.shape(array) for array in of.outputs.values()]
    terms = [tex[x] for x, _ in of.terms]
    facts = {"INPUTS": inputs, "TERMS": terms, "OUTPUTS": outputs, "SHAPES": shapes}
    return READER.replace("@NAME@", name).replace("@FUNCTIONS@", _functions()).replace(
        "@FACTS@", "\n".join(f"{key} = {value!r}" for key, value in facts.items()))


def _functions() -> str:
    """Operations as LaTeX calls them, with what computes them in Python."""
    x = sympy.Symbol("x", real=True)
    rows = []
    for op in FUNCTIONS:
        call = sympy.latex(getattr(sympy, op.name)(x))
        text = call.removesuffix(r"{\left(x \right)}").removesuffix("{x}")
        python = "lambda x: (x > 0) - (x < 0)" if op.name == "sign" else f"math.{op.name}"
        rows.append(f"{text!r}: {python}")
    return f"{{{', '.join(rows)}}}"


READER = r'''"""Reads the equations of @NAME@.tex and puts numbers in, for the test vectors."""

import math
import pathlib
import re

import numpy as np

@FACTS@
SYMBOLS = sorted({x for part in (*INPUTS, TERMS) for x in part}, key=len, reverse=True)
TOKEN = re.compile("|".join([*map(re.escape, SYMBOLS), r"\\left\(", r"\\right\)", r"\\left\[",
                             r"\\right\]", r"\\operatorname\{[a-z]+\}", r"\\[a-z]+",
                             r"\d+\.\d*|\d+", r"[-+^{}()]"]))
FUNCTIONS = @FUNCTIONS@
BASES = {"\\frac", "\\left(", "\\left[", "(", *FUNCTIONS, *SYMBOLS}


def equations():
    text = pathlib.Path(__file__).with_name("@NAME@.tex").read_text(encoding="utf8")
    text = re.sub(r"(?m)^%.*\n", "", text)
    text = re.sub(r"\\\\\n&\\quad", " ", text)
    for block in re.findall(r"\\begin\{align\*\}\n(.*?)\\end\{align\*\}", text, re.DOTALL):
        for line in re.split(r"\\\\\n", block.strip()):
            left, right = line.split(" &= ")
            yield left.strip(), TOKEN.findall(right.rstrip(" ,.\n"))


class Reader:
    """sum = term ± term …; term = factor factor …; factor = base ^ power."""

    def __init__(self, tokens, values):
        self.tokens, self.values, self.at = tokens, values, 0

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, expected=None):
        token = self.peek()
        if not token or expected not in (None, token):
            raise ValueError(f"{expected or 'more'} is missing: {' '.join(self.tokens)}")
        self.at += 1
        return token

    def sum(self):
        sign = -1 if self.peek() == "-" else 1
        if self.peek() in ("+", "-"):
            self.take()
        total = sign * self.term()
        while self.peek() in ("+", "-"):
            sign = -1 if self.take() == "-" else 1
            total += sign * self.term()
        return total

    def term(self):
        product = self.factor()
        while self.peek() in BASES or self.peek() == "\\cdot" or self.peek()[:1].isdigit():
            if self.peek() == "\\cdot":
                self.take()
            product *= self.factor()
        return product

    def factor(self):
        base = self.base()
        return base ** self.power() if self.peek() == "^" else base

    def power(self):
        self.take("^")
        return self.group()

    def group(self):
        if self.peek() != "{":
            return self.base()
        self.take("{")
        value = self.sum()
        self.take("}")
        return value

    def base(self):
        token = self.take()
        if token in self.values:
            return self.values[token]
        if token[0].isdigit():
            return float(token)
        if token in ("\\left(", "\\left[", "("):
            value = self.sum()
            self.take({"\\left(": "\\right)", "\\left[": "\\right]", "(": ")"}[token])
            return value
        if token == "\\frac":
            top = self.group()
            return top / self.group()
        if token in FUNCTIONS:
            power = self.power() if self.peek() == "^" else 1
            return FUNCTIONS[token](self.group()) ** power
        raise ValueError(f"what is {token!r}?")


def @NAME@(*arrays):
    values = {}
    for names, numbers in zip(INPUTS, arrays):
        values.update(zip(names, np.ravel(numbers).tolist()))
    known = list(equations())
    for left, tokens in known:
        reader = Reader(tokens, values)
        values[left] = reader.sum()
        if reader.peek():
            raise ValueError(f"{reader.peek()} is left over in {left} = {' '.join(tokens)}")
    found = [np.array([values[x] for x in names]).reshape(shape)
             for names, shape in zip(OUTPUTS, SHAPES)]
    return found[0] if len(found) == 1 else tuple(found)
'''

