"""The fit as one HTML page, verdict first: no scripts, no network."""

from __future__ import annotations

from html import escape
from pathlib import Path

from closedform.applications.identification.estimate.found import Fit
from closedform.applications.identification.logs.units import slides
from closedform.applications.identification.output import figures
from closedform.applications.identification.validate import Validation
from closedform.applications.identification.verdict import Verdict, verdict
from closedform.applications.report.page import STYLE
from closedform.applications.report.tables import figure, table
from closedform.version import __version__


def page(fit: Fit, trial: Validation | None = None, judged: Verdict | None = None) -> str:
    """The whole page."""
    said = judged or verdict(fit, trial)
    name = escape(fit.model.robot.name)
    sections = [("What was done to the signals", _signals(fit)), ("Torques", _torques(fit, trial)),
                ("What was found", _found(fit)), ("How", _method(fit))]
    body = "".join(f"<section><h2>{k}. {title}</h2>{text}</section>"
                   for k, (title, text) in enumerate(sections, start=1))
    return (f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{name}: '
            'identification</title><meta name="viewport" content="width=device-width, '
            'initial-scale=1"><meta name="color-scheme" content="light dark">'
            f'<link rel="icon" href="data:,"><style>{STYLE}</style></head><body><header>'
            f"<h1>{name}</h1><p>Identified from {escape(', '.join(fit.info.logs))}</p>"
            f"{_verdict(said)}</header><main>{body}</main>"
            f"<footer>Made by closedform {__version__}.</footer></body></html>\n")


def write_page(fit: Fit, path: str | Path, trial: Validation | None = None,
               judged: Verdict | None = None) -> Path:
    """`page` in a file."""
    target = Path(path)
    text = page(fit, trial, judged)
    target.write_text(text, encoding="utf8")
    return target


def _verdict(said: Verdict) -> str:
    if said.holds:
        head = '<p class="verdict holds">The identified robot holds on motion it has not seen</p>'
    else:
        head = '<p class="verdict fails">The identified robot does not hold</p>'
    reasons = "".join(f"<li>{escape(r)}</li>" for r in (*said.reasons, *said.remarks))
    return head + (f"<ul>{reasons}</ul>" if reasons else "")


def _signals(fit: Fit) -> str:
    notes = "".join(f"<li>{escape(n)}</li>" for n in fit.info.notes)
    rows = max((fit.info.rows(j) for j in range(len(fit.info.support))), default=0)
    return (f"<ul>{notes}</ul><p>{rows:,} rows at {fit.info.rate:.4g} Hz in "
            f"{len(fit.info.blocks)} blocks.</p>")


def _torques(fit: Fit, trial: Validation | None) -> str:
    rows = []
    for j, (name, (percent, rms)) in enumerate(fit.residuals.items()):
        held = ["", "", ""] if trial is None else [
            f"{trial.joints[j]:.2f}", f"{trial.rms[j]:.3g}", f"{100 * trial.explained[j]:.1f}"]
        rows.append([escape(name), f"{percent:.2f}", f"{rms:.3g}", *held])
    total = "" if trial is None else f"{trial.total:.2f}"
    rows.append(["<b>all</b>", f"{fit.total:.2f}", "", total, "", ""])
    text = table(("torque", "fit [%]", "fit [Nm]", "held out [%]", "held out [Nm]",
                  "explained [%]"), rows, (1, 2, 3, 4, 5))
    if trial is None:
        return text
    return (text + figure(lambda: figures.torque_figure(trial),
                          f"Torques of {trial.log}, in N m (slides: N)")
            + figure(lambda: figures.spectrum_figure(trial), "Spectrum of what is left"))


def _found(fit: Fit) -> str:
    rows = [[f"<code>{escape(r.name)}</code>", f"{r.prior:.5g}", f"{r.value:.5g}",
             f"{r.low:.4g} … {r.high:.4g}", f"{r.sd:.2g}", f"{r.naive_sd:.2g}",
             unit(fit, r.name).replace(" ", "&nbsp;"),
             "yes" if r.identified else '<span class="warning">no</span>',
             "yes" if r.essential else "no"] for r in fit.table]
    motions: dict[str, list[str]] = {}
    for name in fit.unidentified:
        motions.setdefault(fit.advice.get(name, "not known"), []).append(f"<code>{escape(name)}"
                                                                         "</code>")
    advised = "".join(f"<li>{escape(motion)}: {', '.join(names)}</li>"
                      for motion, names in motions.items())
    gains = "".join(f"<li>{escape(n)}: {g:.5g} Nm/A</li>" for n, g in fit.gains.items())
    exact = len(fit.unidentifiable)
    return (f"<p>{len(fit.x)} unknowns; {exact} parameters of the file are in sums with them or "
            "without effect, and no motion would tell them apart."
            "</p>" + (f"<ul>{gains}</ul>" if gains else "")
            + figure(lambda: figures.interval_figure(fit), "How well each unknown is known")
            + (f"<p>Not identified by this motion; what would tell them:</p><ul>{advised}</ul>"
               if advised else "")
            + table(("unknown", "before", "found", "95 % interval", "sd", "naive sd", "unit",
                     "identified", "essential"), rows, (1, 2, 3, 4, 5))
            + "<p>The naive sd is that of samples whose errors had nothing to do with each other."
              "</p>")


def unit(fit: Fit, name: str) -> str:
    """Of an unknown, by its name."""
    of, _, kind = name.rpartition(".")
    if kind.startswith(("m", "I")):
        return "kg" if kind == "m" else "kg m" if kind.startswith("m") else "kg m²"
    velocities = dict(zip(fit.model.velocity_names, slides(fit.model.robot, "v"), strict=True))
    slide = velocities.get(of, False)
    if kind.startswith("rotor"):
        return "kg" if slide else "kg m²"
    force = "N" if slide else "N m"
    return f"{force} s/{'m' if slide else 'rad'}" if "viscous" in kind else force


def _method(fit: Fit) -> str:
    lines = [f"<p>Method: {escape(fit.method)}; condition number {fit.equations.condition:.3g}, "
             f"rank {fit.equations.rank} of {len(fit.x)}.</p>"]
    if fit.certificate is not None:
        c = fit.certificate
        lines.append(f"<p>Prior's weight {fit.weight:.1e}; smallest eigenvalue of the "
                     f"pseudo-inertia matrices {c.smallest_eigenvalue:.2e} of the prior's, gap to "
                     f"the optimum {c.gap:.0e}, {c.steps} steps; a step in log-Cholesky numbers "
                     f"moves the unknowns by {c.polish:.0e}.</p>")
    if fit.held_out:
        lines.append(table(("weight of the prior", "held-out error [%]"),
                           [[f"{w:.0e}", f"{e:.4f}"] for w, e in fit.held_out], (0, 1)))
    return "".join(lines)
