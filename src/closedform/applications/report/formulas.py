"""Readable formulas of small robots as MathML, which browsers show without help, and as LaTeX."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from closedform.applications.compile.requests import asked_request
from closedform.applications.export.symbolic import symbolic, symbolic_expressions
from closedform.model.robot import Robot

SMALL = 3
"""Velocities of a robot whose formulas are short enough to be read."""
LARGEST = 1000
"""The denominator of a fraction that is still read as one."""
SHOWN = ("mass_matrix", "christoffel_coriolis_matrix", "gravity_torque")
"""The terms of the equation of motion."""


class Formula(NamedTuple):
    """An equation, typeset and to be copied."""

    mathml: str
    latex: str


def formulas(robot: Robot) -> dict[str, list[Formula]]:
    """M, C, g entry by entry, after the terms they use; none if too large."""
    if robot.tree.nv > SMALL or robot.is_floating:
        return {}
    named, values = symbolic(robot)
    shown = {}
    for name in SHOWN:
        request = asked_request(named, name)
        found, letter = symbolic_expressions(named, request, list(values)), request.row.letter
        (entries,) = found.outputs.values()
        lines = [_equation(str(x), "", value) for x, value in found.terms]
        lines += [_equation(letter, "".join(str(i + 1) for i in index), entries[index])
                  for index in np.ndindex(*np.shape(entries))
                  if not request.row.symmetric or index[0] <= index[1]]
        shown[letter] = lines
    return shown


def _equation(letter: str, index: str, value: Any) -> Formula:
    """letter_index = value."""
    import sympy
    from sympy.printing.mathml import mathml
    left = (f"<msub><mi>{letter}</mi><mn>{index}</mn></msub>" if index
            else mathml(sympy.Symbol(letter), printer="presentation"))
    shown = sympy.sympify(value).replace(       # a measured number is read best as a decimal
        lambda x: x.is_Rational and x.q > LARGEST, lambda x: sympy.Float(x, 6))
    right = mathml(shown, printer="presentation")
    name = f"{letter}_{{{index}}}" if index else sympy.latex(sympy.Symbol(letter))
    return Formula(f"<math display='block'><mrow>{left}<mo>=</mo>{right}</mrow></math>",
                   f"{name} = {sympy.latex(shown)}")
