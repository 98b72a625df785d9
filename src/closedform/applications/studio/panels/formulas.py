"""Formulas: M, C and g of small robots as MathML with their values; the listing of others."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from closedform.applications.compile.kernels import compile as compile_robot
from closedform.applications.report.formulas import Formula, formulas
from closedform.applications.studio import cells
from closedform.applications.studio.parting import text
from closedform.applications.studio.shown import Shown
from closedform.model.robot import Robot

LISTED = 40_000
"""Characters of a listing that are shown; the export has it all."""
TYPESET = 2500
"""Operations up to which the listing is had as LaTeX as well."""


class Formulas(NamedTuple):
    """What is said of a robot in symbols: MathML by letter, or a listing; LaTeX to copy."""

    lines: dict[str, list[Formula]]
    listing: str
    latex: str


@lru_cache(maxsize=8)
def prepared(robot: Robot) -> Formulas:
    """The formulas of a robot; SymPy is slow, so this is made in the background."""
    found, arm = formulas(robot), compile_robot(robot)
    kernel = arm.inverse_dynamics
    if found:
        return Formulas(found, "", _latex(found))
    count = kernel.operations
    head = (f"inverse dynamics of {robot.name}: {count.mul} multiplications, {count.add} "
            f"additions, {count.trig} sines and cosines\n\n")
    listing = head + kernel.listing()
    return Formulas({}, listing, kernel.latex() if count.total < TYPESET else "")


def _latex(found: dict[str, list[Formula]]) -> str:
    """All formulas as one `align*` a letter, and the equation that they belong to."""
    parts = ["\\[ \\tau = M a + C v + g \\]"]
    for lines in found.values():
        rows = " \\\\\n".join(x.latex.replace(" = ", " &= ", 1) for x in lines)
        parts.append(f"\\begin{{align*}}\n{rows}\n\\end{{align*}}")
    return "\n\n".join(parts) + "\n"


def page(found: Formulas, s: Shown) -> str:
    """The formulas with the values of this state put in."""
    latex = ('<p><button type="button" data-copy="[data-latex]">Copy as LaTeX</button></p>'
             f"<details><summary>LaTeX</summary><pre data-latex>{text(found.latex)}</pre></details>"
             ) if found.latex else ""
    if not found.lines:
        more = "\n…" if len(found.listing) > LISTED else ""
        return f"{latex}<pre data-listing>{text(found.listing[:LISTED])}{more}</pre>"
    if s.terms is None:
        return "<p>…</p>"
    made = [f"<h4>{letter}</h4>{_with_values(lines, _entries(letter, s))}"
            for letter, lines in found.lines.items()]
    return latex + "".join(made) + _equation(s)


def _entries(letter: str, s: Shown) -> list[float]:
    """The values in the order of the formulas: symmetric matrices by their upper half."""
    n = s.subject.robot.nv
    if letter == "M":
        return [float(s.terms.mass_matrix[i, j]) for i in range(n) for j in range(i, n)]
    if letter == "C":
        from closedform.maths.definitions.closed_form import christoffel_coriolis_matrix
        C = christoffel_coriolis_matrix(s.robot, s.state.q, s.state.v)
        return [float(x) for x in np.ravel(C)]
    return [float(x) for x in s.terms.gravity_torque]


def _with_values(lines: list[Formula], values: list[float]) -> str:
    """The last formulas are the entries; before them stand the terms that they use."""
    first = len(lines) - len(values)
    return "".join(line.mathml for line in lines[:first]) + "".join(
        f'{line.mathml}<p class="x" title="{cells.digits(x)}">= {cells.number(x)}</p>'
        for line, x in zip(lines[first:], values, strict=True))


def _equation(s: Shown) -> str:
    """τ = M a + C v + g with the numbers put in, a row a joint."""
    t = s.terms
    rows = {}
    for i, name in enumerate(s.subject.names):
        parts = [f"{cells.number(float(m))}·{cells.number(float(a))}"
                 for m, a in zip(t.mass_matrix[i], s.state.a, strict=True)]
        rows[f"τ of {cells.escape(name)}"] = (
            f'<span title="{cells.digits(t.inverse_dynamics[i])}">{" + ".join(parts)} + '
            f"{cells.number(float(t.coriolis_torque[i]))} + "
            f"{cells.number(float(t.gravity_torque[i]))} = "
            f"{cells.number(float(t.inverse_dynamics[i]))}</span>")
    return "<h4>τ = M a + C v + g</h4>" + cells.facts(rows, "equation of motion")
