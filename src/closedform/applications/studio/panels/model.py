"""The model itself: bodies with their inertia, base parameters, what lint says."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial

from closedform.applications.base_parameters.picture import COLUMNS, KINDS, states
from closedform.applications.base_parameters.summary import entries, headline, shares
from closedform.applications.report.tables import minus
from closedform.applications.studio import cells
from closedform.applications.studio.shown import Shown
from closedform.applications.units import parameter_unit
from closedform.maths.base_parameters.base_parameters import BaseParameters, base_parameters
from closedform.model.findings import Finding, Level
from closedform.model.inertia import PARAMETER_NAMES
from closedform.model.lint.lint import lint
from closedform.model.robot import Robot

CLASS = {Level.ERROR: "bad", Level.WARNING: "warn", Level.INFO: "good"}


def bodies(s: Shown) -> str:
    """Mass and centre of mass of every body; what no body can have is said."""
    robot = s.subject.robot
    head = ("<tr><th>body</th><th>joint</th><th>mass [kg]</th><th>com [m]</th><th>inertia</th>"
            "</tr>")
    lines = []
    for body in robot.bodies:
        fault = body.inertia.impossibility()
        com = "" if body.inertia.mass == 0 else ", ".join(
            cells.number(float(x), 1.0) for x in body.inertia.com)
        verdict = (f'<span class="bad">{cells.escape(fault)}</span>' if fault
                   else '<span class="good">possible</span>')
        name = cells.escape(body.name).replace("_", "_<wbr>")       # where a long one is parted
        lines.append(f'<tr><th scope="row">{name}</th>'
                     f"<td>{cells.escape(body.joint.kind)}</td>"
                     f'<td title="{float(body.inertia.mass)!r}">'
                     f"{cells.number(float(body.inertia.mass))}</td><td>{com}</td>"
                     f"<td>{verdict}</td></tr>")
    return (f"<p>{cells.escape(robot.name)}: {len(robot.bodies)} bodies, nq {robot.nq}, nv "
            f'{robot.nv}, {cells.number(float(robot.mass))} kg</p><table class="f n" '
            f'aria-label="bodies">{head}{"".join(lines)}</table>')


def findings(s: Shown) -> str:
    """What lint says of the robot, with the repair."""
    return finding_list(robot_lint(s.subject.robot))


@lru_cache(maxsize=8)
def robot_lint(robot: Robot) -> tuple[Finding, ...]:
    return tuple(lint(robot))


def finding_list(found: Sequence[Finding]) -> str:
    """Findings as a list, worst first."""
    if not found:
        return '<p class="good">nothing to complain about</p>'
    order, said = list(Level), partial(cells.escape, longest=cells.SENTENCE)
    items = [f'<li><span class="{CLASS[f.level]}">{f.level.value}</span> '
             f"{'' if f.line is None else f'line {f.line}: '}{said(f.message)}"
             + (f"<br><i>repair: {said(f.repair)}</i>" if f.repair else "") + "</li>"
             for f in sorted(found, key=lambda f: order.index(f.level))[:50]]
    more = f"<p>and {len(found) - 50} more</p>" if len(found) > 50 else ""
    return f"<ul>{''.join(items)}</ul>{more}"


# ---------------------------------------------------------------------- base parameters
@lru_cache(maxsize=8)
def base_of(robot: Robot) -> BaseParameters:
    return base_parameters(robot)


@lru_cache(maxsize=8)
def base_picture(robot: Robot) -> str:
    """A row a body, a column a parameter, coloured by what became of it; each opens its sum."""
    base = base_of(robot)
    kinds = states(base)
    titles = [PARAMETER_NAMES[i] for i in COLUMNS]
    titles += ["rotor"] * (kinds.shape[1] - len(COLUMNS))
    sums = {x.name: minus(f"{x.sum or x.name} = {x.value} {parameter_unit(x.name)}")
            for x in entries(base)}
    went = {name: minus(held) for name, held in shares(base)}
    lines = []
    for k, body in enumerate(robot.bodies):
        cells_of = []
        for at, kind in enumerate(kinds[k]):
            if kind < 0:
                cells_of.append("<td></td>")
                continue
            name = f"{body.name}.{titles[at]}"
            told = sums.get(name) or went.get(name) or KINDS[0]
            cells_of.append(f'<td class="k{kind}" data-told=".told" title="{cells.escape(name)}: '
                            f'{cells.escape(told)}">{"●" if kind == 3 else ""}</td>')
        lines.append(f'<tr><th scope="row">{cells.escape(body.name)}</th>{"".join(cells_of)}</tr>')
    head = "".join(f'<th scope="col">{title}</th>' for title in titles)
    legend = " ".join(f'<span class="k{i}">&nbsp;{kind}: {int((kinds == i).sum())}&nbsp;</span>'
                      for i, kind in enumerate(KINDS))
    folded = "".join(
        f"<details><summary>{cells.escape(x.name)} = {minus(cells.escape(x.value))} "
        f"{parameter_unit(x.name)}</summary>{minus(cells.escape(x.sum)) or 'as it is'}</details>"
        for x in entries(base))
    return (f'<p>{cells.escape(headline(base))}</p><table class="base" aria-label="base '
            f'parameters"><tr><td></td>{head}</tr>{"".join(lines)}</table><p>{legend}</p>'
            f'<p class="told">A click on a cell says what became of the parameter.</p>{folded}')
