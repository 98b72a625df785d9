"""The report as one HTML page: no scripts, no network, light and dark, for phones and for paper."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any

from closedform.applications.base_parameters.picture import picture
from closedform.applications.base_parameters.summary import (
    BaseParameters,
    by_body,
    entries,
    shares,
)
from closedform.applications.report import figures as figures
from closedform.applications.report.record import Report, difference_residuals, machine
from closedform.model.describe import (
    headline,
    list_text,
    number_text,
    range_text,
    summary,
    vector_text,
)

STYLE = (Path(__file__).parent / "report.css").read_text(encoding="utf8")


def page(report: Report) -> str:
    """The whole page."""
    name = escape(report.robot.name)
    parts = (("robot", "The robot", robot_section), ("equations", "Its equations", equations),
             ("parameters", "Minimum inertial parameters", parameters),
             ("derivatives", "Derivatives", derivatives),
             ("certificates", "Certificates", certificates), ("speed", "Speed", speed),
             ("redundancy", "Redundancy", redundancy))
    links = "".join(f'<a href="#{key}">{title}</a>' for key, title, _ in parts)
    body = "".join(f'<section id="{key}"><h2>{k}. {title}</h2>{make(report)}</section>'
                   for k, (key, title, make) in enumerate(parts, start=1))
    return (f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{name}: model '
            'report</title><meta name="viewport" content="width=device-width, initial-scale=1">'
            '<meta name="color-scheme" content="light dark"><link rel="icon" href="data:,">'
            f"<style>{STYLE}</style></head><body><header><h1>{name}</h1>"
            f"<p>{escape(headline(summary(report.robot)))}</p>{_verdict(report)}"
            f"<nav>{links}</nav></header><main>{body}</main><footer>Made by closedform in "
            f"{report.seconds:.1f} s on {escape(machine())}.</footer></body></html>\n")


def _verdict(report: Report) -> str:
    checked = [c for c in report.certificates if c.checked]
    failed = [c.law for c in checked if not c.holds]
    said = escape(report.massless[:1].upper() + report.massless[1:])
    note = (f'<p class="warning">{said}. Kinematics and torques are here, what needs the inverse '
            "of M is not.</p>" if said else "")
    if failed:
        return f'<p class="verdict fails">Fails: {escape(", ".join(failed))}</p>{note}'
    return f'<p class="verdict holds">All {len(checked)} certificates hold</p>{note}'


def table(titles: Sequence[str], rows: Iterable[Sequence[str]], numbers: Sequence[int] = ()) -> str:
    """A table of HTML cells that scrolls by itself; `numbers` are columns set to the right."""
    def cell(tag: str, k: int, text: str) -> str:
        return f'<{tag}{" class=n" if k in numbers else ""}>{text}</{tag}>'
    head = "".join(cell("th", k, text) for k, text in enumerate(titles))
    body = "".join("<tr>" + "".join(cell("td", k, text) for k, text in enumerate(row)) + "</tr>"
                   for row in rows)
    return (f'<div class="scroll" tabindex="0"><table><thead><tr>{head}</tr></thead>'
            f"<tbody>{body}</tbody></table></div>")


def figure(make: Any, caption: str) -> str:
    return (f'<figure><div class="scroll" tabindex="0">{figures.svg(make, escape(caption))}</div>'
            f"<figcaption>{escape(caption)}</figcaption></figure>")


# ---------------------------------------------------------------------- sections
def robot_section(report: Report) -> str:
    about = summary(report.robot)
    rows = [[escape(b["name"]), escape(b["joint"]["name"]), escape(b["joint"]["kind"]),
             f'<span class="whole">{escape(range_text(b["joint"]))}</span>',
             list_text(b["joint"]["velocity"]), list_text(b["joint"]["effort"]),
             number_text(b["mass"]), vector_text(b["com"])]
            for b in about["bodies"]]
    text = figure(lambda: figures.skeleton(report.robot, report.center), "Skeleton in two views")
    text += f"<p>{_mass(report)}</p>"
    text += table(("body", "joint", "kind", "range", "max |v|", "max |τ|", "mass [kg]", "com [m]"),
                  rows, (6,))
    if not report.findings:
        return text + "<h3>Lint</h3><p>Nothing to complain about.</p>"
    found = [[f'<span class="{f.level.value}">{f.level.value}</span>', escape(f.subject),
              escape(f.message), escape(f.repair)] for f in report.findings]
    return text + "<h3>Lint</h3>" + _folded(
        f"{len(found)} findings", table(("level", "about", "finding", "repair"), found),
        len(found) <= 20)


def _mass(report: Report) -> str:
    if report.center is None:
        return "No body has mass: there is no centre of mass, and no torque but of rotors."
    x = ", ".join(number_text(round(float(c), 9)) for c in report.center)
    return f"Mass {number_text(float(report.robot.mass))} kg; centre of mass there ({x}) m."


def equations(report: Report) -> str:
    text = figure(lambda: figures.heat_maps(report.maps),
                  "Mean size of the entries of M, C and ∂τ/∂q over 200 random states; "
                  "blank entries are zero or rounding")
    for letter, lines in report.formulas.items():
        text += f'<h3>{letter}</h3><div class="scroll" tabindex="0">{"".join(lines)}</div>'
    counted = [[f"<code>{q.name}</code><small>{escape(q.about)}</small>",
                f"{q.operations:,}", f"{q.multiplications:,}", f"{q.additions:,}",
                f"{q.trigonometric}", _shapes(q.shapes)]
               for q in report.quantities if q.operations is not None]
    text += "<h3>Operations of every quantity</h3>" + table(
        ("quantity", "operations", "×", "+", "sin, cos", "shape"), counted, (1, 2, 3, 4))
    return text + _without_kernel(report)


def _without_kernel(report: Report) -> str:
    """One line for each reason, with the quantities that it is the reason of."""
    left: dict[str, list[str]] = {}
    for q in report.quantities:
        if q.reason:
            left.setdefault(q.reason, []).append(f"<code>{q.name}</code>")
    lines = "".join(f"<li>{len(names)} {escape(reason)}: {', '.join(names)}</li>"
                    for reason, names in left.items())
    return f"<h3>Without a kernel here</h3><ul>{lines}</ul>" if left else ""


def _shapes(shapes: dict[str, tuple[int, ...]]) -> str:
    each = dict.fromkeys("×".join(map(str, shape)) or "1" for shape in shapes.values())
    return ", ".join(each)


def parameters(report: Report) -> str:
    base = report.base
    if isinstance(base, str):
        return f"<p>{escape(base)}</p>"
    total = len(base.source.parameter_names)
    text = (f"<p>{base.count} of {total} parameters can be told from the torques; "
            f"{len(base.regrouped)} are regrouped into them, {len(base.no_effect)} have no effect."
            "</p>" + figure(lambda: picture(base), "What became of every parameter"))
    rows = [[f"<code>{escape(e.name)}</code>", escape(e.value), escape(e.sum)]
            for e in entries(base)]
    text += _folded(f"The {base.count} that are kept", table(
        ("keeps", "value", "stands for"), rows, (1,)), base.count <= 80)
    return text + _dropped(base)


def _dropped(base: BaseParameters) -> str:
    text = ""
    if base.regrouped:
        rows = [[f"<code>{escape(name)}</code>", escape(held)] for name, held in shares(base)]
        text += _folded(f"The {len(base.regrouped)} that are regrouped",
                        table(("parameter", "goes into"), rows), len(rows) <= 40)
    if base.no_effect:
        lines = "".join(f"<li>{escape(line)}</li>" for line in by_body(base.no_effect))
        text += _folded(f"The {len(base.no_effect)} without effect: no torque depends on them",
                        f"<ul>{lines}</ul>", len(base.no_effect) <= 40)
    return text


def _folded(title: str, inside: str, shown: bool) -> str:
    return f"<details{' open' if shown else ''}><summary>{title}</summary>{inside}</details>"


def derivatives(report: Report) -> str:
    first, second = difference_residuals(report.motion)
    step = report.motion.times[1] - report.motion.times[0]
    return (f"<p>Every joint swings by a cosine of its own frequency. Numeric differences with a "
            f"step of {step:g} s miss τ̇ by {first:.1e} and τ̈ by {second:.1e} of the largest "
            "value: their error, since the exact ones are certified below.</p>"
            + figure(report.motion.plot, "τ, τ̇ and τ̈ along a smooth motion"))


def certificates(report: Report) -> str:
    rows = [[escape(c.law), f'<span class="{c.verdict.split()[0]}">{c.verdict}</span>',
             f"{c.residual:.1e}" if c.residual is not None else "",
             f"{c.tolerance:.1e}" if c.tolerance is not None else "",
             escape(c.equation) + (f"<small>{escape(c.note)}</small>" if c.note else "")]
            for c in report.certificates]
    text = ("<p>Laws of mechanics, checked on the compiled kernels at random states. Residuals are "
            "relative to the largest term; a tolerance is the number of operations times the "
            "rounding error.</p>" + _snapped(report) + table(
                ("law", "verdict", "residual", "tolerance", "equation"), rows, (2, 3)))
    run = report.run
    if run is None:
        return text
    return text + figure(lambda: figures.swing_figure(run), "Energy in a swing without torques")


def _snapped(report: Report) -> str:
    """What was made exact before recording, which the laws are checked with too."""
    if not report.snapped:
        return ""
    lines = "".join(f"<li>{escape(note)}</li>" for note in report.snapped)
    return _folded(f"{len(report.snapped)} placements or axes were a rounding away from exact "
                   "ones, and were made exact first", f"<ul>{lines}</ul>", False)


def speed(report: Report) -> str:
    if not report.times:
        return f"<p>No times: {escape(report.no_times)}.</p>"
    names = list(dict.fromkeys(n for found in report.ratios.values() for n in found))
    rows = [[f"<code>{t.name}</code>", _time(t.call), _time(t.batch),
             *(f"{report.ratios[t.name][n]:.1f}×" if n in report.ratios.get(t.name, {}) else ""
               for n in names)] for t in report.times]
    titles = ("quantity", "one call", "a batch state", *(f"{n} takes" for n in names))
    more = (" MuJoCo's calls also find contacts and constraints, of which there are none here."
            if "MuJoCo" in names else "")
    return ("<p>Calls from Python on one thread; a batch of 256 states goes into arrays that are "
            "there already. A peer's column says how many times longer its "
            "own call from Python takes, the median of rounds in which the two take turns."
            f"{more}</p>"
            + table(titles, rows, range(1, len(titles)))
            + figure(lambda: figures.speed_figure(report.times), "Time of every quantity")
            + _on_gpu(report))


def _on_gpu(report: Report) -> str:
    """Rates on a GPU beside those of one thread, or why there are none."""
    found = report.gpu
    if isinstance(found, str):
        return f"<p>On a GPU: {escape(found)}.</p>" if found else ""
    batch = {t.name: t.batch for t in report.times}
    rows = []
    for row in found.rows:
        one = batch.get(row.name)
        rows.append([f"<code>{row.name}</code>", f"{row.rate / 1e9:.3g}", f"{100 * row.part:.0f} %",
                     "–" if one is None else f"{row.rate * one * 1e-9:.0f}×"])
    titles = ("quantity", "10⁹ states a second", "of the copy bandwidth", "one thread takes")
    return (f"<p>On {escape(found.device)}, whose memory copies {found.copying / 1e12:.3g} TB/s: "
            "float64, states in rows, without the way there and back; results are the CPU's to "
            "the last bit.</p>" + table(titles, rows, range(1, len(titles))))


def _time(ns: float | None) -> str:
    if ns is None:
        return "–"
    scaled = ((1e3, f"{ns:.0f} ns"), (1e6, f"{ns / 1e3:.3g} µs"))
    return next((text for limit, text in scaled if ns < limit), f"{ns / 1e6:.3g} ms")


def redundancy(report: Report) -> str:
    found = report.redundancy
    if isinstance(found, str):
        return f"<p>Not a redundant arm for this section: {escape(found)}.</p>"
    names, curve = found.names, found.curve
    stop = "" if found.track.stop is None else f" It stops at {found.track.stop.reason}."
    end = ("is a surface: there is more than one freedom" if curve is None
           else "closes" if curve.closed else "ends at joint limits")
    text = (f"<p>The tip follows a circle of {found.radius:.3g} m ({found.task}), manipulability "
            f"at its maximum everywhere.{escape(stop)} The self-motion at the first pose {end}.</p>"
            + figure(lambda: figures.path_figure(found.track, names),
                     "Joints and manipulability along a closed path"))
    if curve is None:
        return text
    return text + figure(lambda: figures.self_motion_figure(curve, found.values, names),
                         "The self-motion curve of one pose")
