"""A robot identified from a dropped log: the fit, its residuals and its verdict, as a page."""

from __future__ import annotations

from typing import Any, NamedTuple

from closedform.applications.studio import cells
from closedform.applications.units import units
from closedform.errors import ArgumentError
from closedform.model.robot import Robot

HELD_OUT = 0.7
"""The part of a log's time that is fitted; the rest is held out."""
TOLD = 60
"""Unknowns in the table."""


class Fitted(NamedTuple):
    """Identification's own records."""

    fit: Any
    trial: Any
    verdict: Any


def fitted(robot: Robot, samples: Any) -> Fitted:
    """`cf.identification` of a log: the first part is fitted, the rest judges it."""
    from closedform.applications import identification as idn
    if samples.tau is None:
        raise ArgumentError("identification needs torques in the log")
    log = idn.read(samples, robot)
    first, last = float(samples.t[0]), float(samples.t[-1])
    middle = first + HELD_OUT * (last - first)
    found = idn.fit(idn.information(idn.Model(robot), log.between(first, middle)))
    trial = idn.validate(found, log.between(middle, last))
    return Fitted(found, trial, idn.verdict(found, trial))


def page(found: Fitted) -> str:
    """Verdict, residuals of fit and held-out motion a joint, unknowns with their intervals."""
    fit, trial, said = found
    unit = units(fit.model.robot, "N m", "N")
    good, head = ("good", "holds") if said.holds else ("bad", "does not hold")
    reasons = "".join(f"<li>{cells.escape(x, cells.SENTENCE)}</li>"
                      for x in (*said.reasons, *said.remarks))
    rows = "".join(
        f'<tr><th scope="row">{cells.escape(name)}</th><td>{percent:.2f}</td>'
        f"<td>{cells.number(rms)}</td><td>{float(trial.joints[j]):.2f}</td>"
        f"<td>{cells.number(float(trial.rms[j]))}</td></tr>"
        for j, (name, (percent, rms)) in enumerate(fit.residuals.items()))
    unknowns = "".join(
        f'<tr><th scope="row">{cells.escape(r.name)}</th><td>{cells.number(float(r.prior))}</td>'
        f"<td>{cells.number(float(r.value))}</td><td>{cells.number(float(r.low))} … "
        f"{cells.number(float(r.high))}</td><td>{'yes' if r.identified else 'no'}</td></tr>"
        for r in fit.table[:TOLD])
    return (f'<p class="{good}" data-verdict>the identified robot {head}</p><ul>{reasons}</ul>'
            '<table class="f" aria-label="residuals"><tr><th>torque</th><th>fit %</th>'
            f"<th>rms [{unit}]</th><th>held out %</th><th>rms [{unit}]</th></tr>{rows}</table>"
            "<details><summary>unknowns</summary>"
            '<table class="f" aria-label="unknowns"><tr><th>name</th><th>before</th><th>found</th>'
            f"<th>95 %</th><th>identified</th></tr>{unknowns}</table></details>")
