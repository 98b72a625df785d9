"""Base parameters to be read: as rows of text, as LaTeX, as a plain dictionary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from closedform.arrays import numeric
from closedform.lowerings.source.comments import latex_words
from closedform.maths.base_parameters.base_parameters import BaseParameters as BaseParameters
from closedform.maths.base_parameters.base_parameters import base_parameters as base_parameters
from closedform.model.inertia import PARAMETER_NAMES

SYMBOLS = {"m": "m", "mcx": "mc_x", "mcy": "mc_y", "mcz": "mc_z",
           **{n: f"I_{{{n[1:]}}}" for n in PARAMETER_NAMES[4:]}}
"""The ten kinds in LaTeX; the body goes into a superscript."""


class BaseParameterText(NamedTuple):
    """One base parameter: the kept parameter, the sum it stands for, its value."""

    name: str
    sum: str
    value: str


def entries(base: BaseParameters, digits: int = 6) -> list[BaseParameterText]:
    """The base parameters as text."""
    values = [_value_text(x, digits) for x in base.values]
    return [BaseParameterText(n, _sum_text(n, e, digits), x)
            for n, e, x in zip(base.names, base.expressions, values, strict=True)]


def shares(base: BaseParameters, digits: int = 6) -> list[tuple[str, str]]:
    """Where every regrouped parameter went: `("link3.m", "0.209 link1.Izz + 0.4318 link2.mcx")`.

    The sum says how much of it each base parameter holds: the column of K.
    """
    import sympy
    columns = {name: k for k, name in enumerate(base.source.parameter_names)}
    found = []
    for name in base.regrouped:
        held = sum(((int(c) if c in (1, -1) else sympy.sympify(c)) * sympy.Symbol(kept)
                    for kept, c in zip(base.names, base.K[:, columns[name]], strict=True)
                    if c != 0), sympy.Integer(0))
        found.append((name, _sum_text("", held, digits) or str(held)))
    return found


def headline(base: BaseParameters) -> str:
    """`puma560: 36 base parameters of 60; 11 without effect, 13 regrouped`."""
    total = len(base.source.parameter_names)
    return (f"{base.source.name}: {base.count} base parameters of {total}; "
            f"{len(base.no_effect)} without effect, {len(base.regrouped)} regrouped")


def on_paper_only(base: BaseParameters) -> list[str]:
    """What is identifiable on paper only, and by which angles and lengths; nothing: no lines."""
    if not base.on_paper_only:
        return []
    return ["on paper only, as they rest on angles and lengths too small to measure by: "
            f"{len(base.on_paper_only)}", *(f"  {line}" for line in by_body(base.on_paper_only)),
            *(f"  by {x.where}: {x.what} = {x.given:.6g}, {x.change:.1e} from {x.exact}"
              for x in base.small_geometry)]


def by_body(names: Sequence[str]) -> list[str]:
    """`link1: m mcx`, one line a body."""
    groups: dict[str, list[str]] = {}
    for name in names:
        body, _, kind = name.rpartition(".")
        groups.setdefault(body, []).append(kind)
    return [f"{body}: {' '.join(kinds)}" for body, kinds in groups.items()]


def latex(base: BaseParameters, digits: int = 6) -> str:
    """An `align*` with one base parameter a line, the kept one marked R where it carries more."""
    import sympy
    known = {sympy.Symbol(n): _latex_name(n) for n in base.source.parameter_names}
    lines = []
    for name, expression in zip(base.names, base.expressions, strict=True):
        mark = _latex_name(name, "" if len(expression.args) < 2 else "R")
        written = sympy.latex(_rounded(expression, digits), symbol_names=known)
        lines.append(rf"  {mark} &= {written} \\")
    return "\n".join([r"\begin{align*}", *lines, r"\end{align*}"])


def summary(base: BaseParameters) -> dict[str, Any]:
    """Everything as numbers and text, for JSON."""
    numbers = numeric(base.K)
    evidence = base.evidence
    return {
        "robot": base.source.name, "count": base.count,
        "names": list(base.names),
        "expressions": [str(e) for e in base.expressions],
        "values": [float(x) if numeric(x) else str(x) for x in base.values],
        "on_paper_only": list(base.on_paper_only),
        "no_effect": list(base.no_effect), "regrouped": list(base.regrouped),
        "parameters": list(base.source.parameter_names),
        "K": [[float(x) if numbers else str(x) for x in row] for row in base.K],
        "evidence": {
            "method": evidence.method, "field": evidence.field, "tolerance": evidence.tolerance,
            "snaps": [str(s) for s in evidence.snaps], "near": [str(s) for s in evidence.near],
            "twin": None if evidence.twin is None else {
                "rank": evidence.twin.rank, "gap": evidence.twin.gap,
                "certified": evidence.twin.certified}},
    }


def _rounded(expression: Any, digits: int) -> Any:
    import sympy
    return expression.xreplace({x: sympy.Float(float(x), digits)
                                for x in expression.atoms(sympy.Float)})


def _sum_text(name: str, expression: Any, digits: int) -> str:
    """The sum as text, the kept parameter first; empty if it is that alone."""
    import sympy
    terms = sympy.Add.make_args(expression)
    if str(expression) == name:
        return ""
    groups: dict[Any, list[str]] = {}
    for term in terms:
        factor, rest = term.as_coeff_Mul()
        groups.setdefault(factor, []).append(str(rest))
    ones = sorted(groups.pop(sympy.Integer(1), []), key=lambda t: t != name)
    parts = [f" + {t}" for t in ones]
    for factor, rests in groups.items():
        sign, size = (" − ", -factor) if factor < 0 else (" + ", factor)
        if size == 1:
            parts += [f" − {t}" for t in sorted(rests)]
        else:
            inner, number = " + ".join(sorted(rests)), f"{float(size):.{digits}g}"
            parts.append(f"{sign}{number} " + (f"({inner})" if len(rests) > 1 else inner))
    return "".join(parts).removeprefix(" + ").strip().replace("**2", "²").replace("*", " ")


def _value_text(x: Any, digits: int) -> str:
    return f"{float(x):.{digits}g}" if numeric(x) else ""


def _latex_name(name: str, mark: str = "") -> str:
    body, _, kind = name.rpartition(".")
    symbol = SYMBOLS.get(kind, r"I_{\mathrm{" + kind + "}}")
    return rf"{symbol}^{{\mathrm{{{latex_words(body)}}}{',' + mark if mark else ''}}}"
