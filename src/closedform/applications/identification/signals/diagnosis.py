"""`diagnose`: what is wrong with a log, before anything is fitted."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np

from closedform.applications.figure_text import plain
from closedform.applications.identification.logs.columns import wanted_names
from closedform.applications.identification.logs.log import Log
from closedform.applications.identification.logs.units import slides
from closedform.applications.identification.signals.findings import findings, standing
from closedform.applications.identification.signals.survey import Survey, surveyed
from closedform.applications.identification.signals.windows import EFFORTS
from closedform.errors import ArgumentError
from closedform.model.findings import Finding, Level

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN = 20000
"""Rows of a picture."""


class JointRow(NamedTuple):
    """What is known of one velocity's column; None where nothing is."""

    joint: str
    stands: bool
    moved: float | None             # rad or m, from the least to the greatest
    speed: float | None             # root mean square
    excited: float | None           # Hz
    lag: float | None               # s, of the logged velocity
    noise: float | None             # of the position
    effort: float | None            # the greatest, of the first kind that is logged


@final
@dataclass(frozen=True, eq=False)
class Diagnosis:
    """Findings about a log, errors first; `table` has a row for each velocity."""

    log: Log
    findings: tuple[Finding, ...]
    survey: Survey

    @property
    def errors(self) -> tuple[Finding, ...]:
        return tuple(f for f in self.findings if f.level is Level.ERROR)

    @property
    def table(self) -> tuple[JointRow, ...]:
        made = self.survey
        stands = standing(made)
        effort = next((made.extremes[kind] for kind in EFFORTS if kind in made.extremes), None)
        columns = (
            made.moved, None if made.found is None else made.found.speed,
            None if made.found is None else made.found.excited,
            None if made.agreement is None else made.agreement.lag,
            None if made.found is None else made.found.noise,
            None if effort is None else np.maximum(np.abs(effort.low), np.abs(effort.high)))
        return tuple(JointRow(name, bool(stands[j]), *(_number(x, j) for x in columns))
                     for j, name in enumerate(wanted_names(self.log.robot, "v")))

    @property
    def summary(self) -> dict[str, Any]:
        """The clock and the cutoff, in numbers."""
        made = self.survey
        return {"rows": made.rows, "repeats": made.repeats, "missing": made.missing,
                "gaps": len(made.gaps), "clock": made.clock.kind, "period_s": made.clock.period,
                "duration_s": made.duration, "logged_duration_s": made.logged,
                "logged_steps_s": [_finite(x) for x in made.steps],
                "cutoff_hz": made.cutoff}

    def to_json(self) -> str:
        """All of it."""
        return json.dumps({
            "log": self.log.source, "robot": self.log.robot.name, "notes": self.log.notes,
            **self.summary,
            "joints": [row._asdict() for row in self.table],
            "findings": [{"level": f.level.value, "rule": f.rule, "subject": f.subject,
                          "message": f.message, "repair": f.repair} for f in self.findings],
        }, indent=2, ensure_ascii=False)

    def __str__(self) -> str:
        lines = [f"{f.level.value}: {f.message} [{f.rule}]" + (f"; {f.repair}" if f.repair else "")
                 for f in self.findings]
        return "\n".join(lines) or "nothing to complain about"

    def _unit(self, kind: str) -> str:
        """Of a kind's columns: angles, lengths or both."""
        if kind in ("current", "motor_torque"):
            return "A" if kind == "current" else "N m"
        order = {"q": "", "v": "/s", "a": "/s²"}
        angle, length = ("rad", "m") if kind in order else ("N m", "N")
        slide = slides(self.log.robot, kind)
        some = [angle] * bool((~slide).any()) + [length] * bool(slide.any())
        return ", ".join(unit + order.get(kind, "") for unit in some)

    def plot(self, path: str | Path | None = None) -> Figure:
        """Positions, efforts, and steps of the logged times; written where a path is given."""
        from matplotlib import pyplot

        rows = next(self.log.pieces(SHOWN))
        panels = [(kind, x) for kind in ("q", "v", *EFFORTS)
                  if (x := getattr(rows, kind)) is not None]
        figure, axes = pyplot.subplots(len(panels) + 1, 1, sharex=True, layout="constrained",
                                       figsize=(9, 2.2 * (len(panels) + 1)))
        t = rows.t - rows.t[0]
        for axis, (kind, x) in zip(axes, panels, strict=False):
            for name, column in zip(wanted_names(self.log.robot, kind), x.T, strict=True):
                axis.plot(t, column, linewidth=0.9, label=plain(name))
            axis.set_ylabel(f"{plain(kind)} [{self._unit(kind)}]")
            axis.grid(alpha=0.3)
        figure.legend(*axes[0].get_legend_handles_labels(), fontsize="x-small", ncols=6,
                      loc="outside lower center", frameon=False)
        steps, period = 1e3 * np.diff(t), 1e3 * self.survey.clock.period
        axes[-1].plot(t[1:], steps, ".", markersize=2)
        axes[-1].axhline(period, color="black", linewidth=0.8)
        axes[-1].set_ylim(min(0.0, steps.min()), 1.05 * max(2 * period, steps.max()))
        axes[-1].set_ylabel("steps of t [ms]")
        axes[-1].set_xlabel("t [s]")
        figure.suptitle(plain(f"{self.log.name} of {self.log.robot.name}"))
        if path is not None:
            figure.savefig(path, dpi=150)
            pyplot.close(figure)
        return figure


def diagnose(log: Log) -> Diagnosis:
    """What is wrong with a log: clock, repeats, gaps, lags, standing joints, saturation, units."""
    if not isinstance(log, Log):
        raise ArgumentError("log must be a Log, as identification.read gives one, not "
                            f"{type(log).__name__}")
    made = surveyed(log)
    return Diagnosis(log, findings(made), made)


def _number(x: Any, j: int) -> float | None:
    return None if x is None else _finite(x[j])


def _finite(x: Any) -> float | None:
    return float(x) if np.isfinite(x) else None
