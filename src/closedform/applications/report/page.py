"""The report as one HTML page: no network, light and dark, for phones and for paper.

It is whole without scripts; they move the robot at its head, sort tables and unfold for printing.
"""

from __future__ import annotations

import shlex
from html import escape
from pathlib import Path

import numpy as np

from closedform.applications.base_parameters.picture import picture
from closedform.applications.base_parameters.summary import (
    BaseParameters,
    by_body,
    entries,
    shares,
)
from closedform.applications.live.cells import matrix
from closedform.applications.live.page import POLICY, live_part
from closedform.applications.live.page import STYLE as LIVE_STYLE
from closedform.applications.live.skeleton import resting
from closedform.applications.report import figures
from closedform.applications.report.bodies import robot_section, root_warning
from closedform.applications.report.record import Report, difference_residuals, machine
from closedform.applications.report.tables import (
    TableCell,
    figure,
    folded,
    minus,
    plain_words,
    power,
    table,
)
from closedform.applications.units import inertia_units, parameter_unit, units
from closedform.maths.catalogue import quantity
from closedform.model.coordinates import coordinate_names
from closedform.model.describe import headline, summary

HERE = Path(__file__).parent
STYLE = LIVE_STYLE + (HERE / "report.css").read_text(encoding="utf8")
SCRIPT = (HERE / "report.js").read_text(encoding="utf8")


def page(report: Report) -> str:
    """The whole page."""
    name = escape(report.robot.name)
    parts = (("robot", "The robot", robot_section), ("equations", "Its equations", equations),
             ("parameters", "Minimum inertial parameters", parameters),
             ("derivatives", "Derivatives", derivatives),
             ("certificates", "Certificates", certificates),
             ("speed", "Operations and speed", speed), ("redundancy", "Redundancy", redundancy),
             ("export", "Take it away", export))
    links = "".join(f'<a href="#{key}">{title}</a>' for key, title, _ in parts)
    body = "".join(f'<section id="{key}"><h2>{k}. {title}</h2>{make(report)}</section>'
                   for k, (key, title, make) in enumerate(parts, start=1))
    moving = live_part(report.robot, resting(report.robot)) if report.robot.nv else ""
    return (f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{name}: model '
            'report</title><meta name="viewport" content="width=device-width, initial-scale=1">'
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
            '<meta name="color-scheme" content="light dark"><link rel="icon" href="data:,">'
            f"<style>{STYLE}</style></head><body><header><h1>{name}</h1>"
            f"<p>{escape(minus(headline(summary(report.robot))))}</p>{_verdict(report)}"
            f"{_provenance(report)}<nav>{links}</nav></header>"
            f'<main><section id="live" aria-label="The robot, to be moved">{moving}</section>{body}'
            f"</main><script>{SCRIPT}</script></body></html>\n")


def _verdict(report: Report) -> str:
    checked = [c for c in report.certificates if c.checked]
    failed = [c.law for c in checked if not c.holds]
    said = escape(report.massless[:1].upper() + report.massless[1:])
    note = (f'<p class="warning">{said}. Kinematics and torques are here, what needs the inverse '
            "of M is not.</p>" if said else "") + root_warning(report)
    badge = (f'<span class="verdict fails">Fails: {escape(", ".join(failed))}</span>' if failed
             else f'<span class="verdict holds">All {len(checked)} certificates hold</span>')
    ready, late = len(report.times), len(report.quantities) - len(report.times)
    kernels = (f'<span class="verdict {"warning" if late else "holds"}">{ready} of '
               f"{len(report.quantities)} kernels ready</span>")
    return f'<p class="badges">{badge} {kernels}</p>{note}'


def _provenance(report: Report) -> str:
    told = {**report.provenance, "made in": f"{report.seconds:.1f} s on {machine()}"}
    rows = "".join(f"<dt>{escape(key)}</dt><dd>{escape(value)}</dd>" for key, value in told.items())
    return f'<dl class="provenance">{rows}</dl>'


# ---------------------------------------------------------------------- sections
def equations(report: Report) -> str:
    names = coordinate_names(report.robot.v_slices)
    robot = report.robot
    v, a = units(robot, "rad/s", "m/s"), units(robot, "rad/s²", "m/s²")
    titles = {"M": f"M [{inertia_units(robot)}]",
              "C": f"C [{units(robot, 'N m s', 'N s/m', 'N s')}]",
              "∂τ/∂q": f"∂τ/∂q [{units(robot, 'N m/rad', 'N/m', 'N')}]"}
    maps = "".join(f'<div class="map">{matrix(letter, sizes, names, titles.get(letter, letter))}'
                   "</div>" for letter, sizes in report.maps.items())
    text = ("<p>Mean sizes of the entries of M, C and ∂τ/∂q over 200 random states: q uniform "
            f"within the limits, v and a normal with a deviation of 1 {v} and 1 {a}, seed 0. "
            "Shade is the root of the part of the largest entry; a cell's title has all digits."
            f'</p><div class="maps matrices">{maps}</div>')
    for letter, lines in report.formulas.items():
        text += f'<h3>{letter}</h3><div class="scroll" tabindex="0">{"".join(lines)}</div>'
    return text


def _without_kernel(report: Report) -> str:
    """One sentence for each reason, with the quantities that it is the reason of."""
    left: dict[str, list[str]] = {}
    for q in report.quantities:
        if q.reason:
            left.setdefault(q.reason, []).append(f"<code>{q.name}</code>")
    lines = "".join(f"<li>{len(names)} {escape(reason)}: {', '.join(names)}</li>"
                    for reason, names in left.items())
    return folded("Without a kernel here", f"<ul>{lines}</ul>", len(left) < 4) if left else ""


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
            "</p>" + figure(
                lambda: picture(base), "What became of every parameter",
                f"A row for each of {len(base.source.bodies)} bodies, a column for each parameter",
                {"parameter": list(base.source.parameter_names), "became": _became(base)}))
    rows = [[f"<code>{escape(e.name)}</code>", f"{minus(escape(e.value))} {parameter_unit(e.name)}",
             minus(escape(e.sum))] for e in entries(base)]
    text += folded(f"The {base.count} that are kept", table(
        ("keeps", "value", "stands for"), rows, (1,), "Base parameters"), base.count <= 80)
    return text + _dropped(base)


def _became(base: BaseParameters) -> list[str]:
    kept, idle = set(base.names), set(base.no_effect)
    return ["kept" if x in kept else "without effect" if x in idle else "regrouped"
            for x in base.source.parameter_names]


def _dropped(base: BaseParameters) -> str:
    text = ""
    if base.regrouped:
        rows = [[f"<code>{escape(name)}</code>", minus(escape(held))]
                for name, held in shares(base)]
        text += folded(f"The {len(base.regrouped)} that are regrouped",
                        table(("parameter", "goes into"), rows, caption="Regrouped parameters"),
                        len(rows) <= 40)
    if base.no_effect:
        lines = "".join(f"<li>{escape(line)}</li>" for line in by_body(base.no_effect))
        text += folded(f"The {len(base.no_effect)} without effect: no torque depends on them",
                        f"<ul>{lines}</ul>", len(base.no_effect) <= 40)
    return text


def derivatives(report: Report) -> str:
    motion = report.motion
    first, second = difference_residuals(motion)
    step = motion.times[1] - motion.times[0]
    text = (f"<p>Every joint swings by a cosine of its own frequency. Numeric differences with a "
            f"step of {step:g} s miss τ̇ by {power(first)} and τ̈ by {power(second)} of the "
            "largest value: their error, since the exact ones are certified below. Curves are "
            'numbered where they are largest.</p><div class="maps">')
    for shown in figures.limbs(report.robot):
        names = [motion.names[k] for k in shown]
        columns = {"t [s]": motion.times, **{
            f"{symbol} {name}": motion.values[:, k, i] for i, name in zip(shown, names, strict=True)
            for k, symbol in enumerate(("τ", "τ̇", "τ̈"))}}
        text += figure(lambda shown=shown: figures.torque_figure(motion, shown),
                       f"τ, τ̇ and τ̈ of {names[0]}" + (f" to {names[-1]}" if names[1:] else ""),
                       f"{len(names)} smooth curves over {motion.times[-1]:g} s; τ up to "
                       f"{np.abs(motion.values[:, 0, shown]).max():.3g}", columns)
    return text + figure(
        lambda: figures.difference_figure(motion), "What numeric differences of τ miss",
        f"Errors over time, at most {first:.1e} and {second:.1e} of the largest value",
        {"t [s]": motion.times, **figures.difference_errors(motion)}) + "</div>"


def certificates(report: Report) -> str:
    rows = [[escape(c.law), f'<span class="{c.verdict.split()[0]}">{c.verdict}</span>',
             power(c.residual), power(c.tolerance),
             escape(c.equation) + (f"<small>{escape(c.note)}</small>" if c.note else "")]
            for c in report.certificates]
    text = ("<p>Laws of mechanics, checked on the compiled kernels at random states. Residuals are "
            "relative to the largest term; a tolerance is the number of operations times the "
            "rounding error.</p>" + _snapped(report) + table(
                ("law", "verdict", "residual", "tolerance", "equation"), rows, (2, 3),
                "Certificates"))
    run = report.run
    if run is None:
        return text
    return text + figure(
        lambda: figures.swing_figure(run), "Energy in a swing without torques",
        f"T + U stays within {np.abs(run.energy_residual).max():.1e} J over "
        f"{run.times[-1]:g} s", {"t [s]": run.times, "T [J]": run.kinetic, "U [J]": run.potential,
                                 "T + U − E₀ [J]": run.energy_residual})


def _snapped(report: Report) -> str:
    """What was made exact before recording, which the laws are checked with too."""
    if not report.snapped:
        return ""
    lines = "".join(f"<li>{escape(note)}</li>" for note in report.snapped)
    return folded(f"{len(report.snapped)} placements or axes were a rounding away from exact "
                   "ones, and were made exact first", f"<ul>{lines}</ul>", False)


def speed(report: Report) -> str:
    names = list(dict.fromkeys(n for found in report.ratios.values() for n in found))
    times = {t.name: t for t in report.times}
    listed = sorted((q for q in report.quantities if q.operations is not None),
                    key=lambda q: not quantity(q.name).essential)
    rows: list[list[TableCell]] = [[
        (q.name, f"<code>{q.name}</code><small>{escape(plain_words(q.about))}</small>"),
        *((x, f"{x:,}") for x in (q.operations, q.multiplications, q.additions, q.trigonometric)),
        _shapes(q.shapes),
        *((x, _time(x) if x else "") for x in (
            (times[q.name].call, times[q.name].batch) if q.name in times else (None, None))),
        *((x, f"{x:.1f}×" if x else "") for x in (
            report.ratios.get(q.name, {}).get(n) for n in names))] for q in listed]
    titles = ("quantity", "operations", "×", "+", "sin, cos", "shape", "one call",
              "a batch state", *(f"{n} takes" for n in names))
    more = (" MuJoCo's calls also find contacts and constraints, of which there are none here."
            if "MuJoCo" in names else "")
    told = ("<p>What is needed most comes first; a click on a head sorts. Calls from Python on one "
            "thread; a batch of 256 states goes into arrays that are there already. A peer's "
            "column says how many times longer its own call from Python takes, the median of "
            f"rounds in which the two take turns.{more}</p>" if times else
            f"<p>No times: {escape(report.no_times)}.</p>")
    text = told + table(titles, rows, range(1, len(titles)), "Every quantity of the catalogue",
                        "sortable") + _without_kernel(report)
    if times:
        text += figure(
            lambda: figures.speed_figure(report.times), "Time of every quantity",
            f"One call takes {_time(min(t.call for t in report.times))} to "
            f"{_time(max(t.call for t in report.times))}",
            {"quantity": [t.name for t in report.times],
             "one call [ns]": [t.call for t in report.times],
             "a batch state [ns]": [t.batch or float("nan") for t in report.times]})
    return text + (_on_gpu(report) if times else "")


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
            "the last bit.</p>" + table(titles, rows, range(1, len(titles)), "On a GPU"))


def _time(ns: float | None) -> str:
    if ns is None:
        return "–"
    scaled = ((1e3, f"{ns:.0f} ns"), (1e6, f"{ns / 1e3:.3g} µs"))
    return next((text for limit, text in scaled if ns < limit), f"{ns / 1e6:.3g} ms")


def redundancy(report: Report) -> str:
    found = report.redundancy
    if isinstance(found, str):
        return f"<p>Not a redundant arm for this section: {escape(found)}.</p>"
    names, curve, unit = found.names, found.curve, units(report.robot, "rad", "m")
    stop = "" if found.track.stop is None else f" It stops at {found.track.stop.reason}."
    end = ("is a surface: there is more than one freedom" if curve is None
           else "closes" if curve.closed else "ends at joint limits")
    text = (f"<p>The tip follows a circle of {found.radius:.3g} m ({found.task}), manipulability "
            f"at its maximum everywhere.{escape(stop)} The self-motion at the first pose {end}.</p>"
            + figure(lambda: figures.path_figure(found.track, names, unit),
                     "Joints and manipulability along a closed path",
                     f"{len(names)} joints at {len(found.track.times)} points of the path",
                     {"point": found.track.times, **{f"q {n}": found.track.q[:, k]
                                                     for k, n in enumerate(names)}}))
    if curve is None:
        return text
    return text + figure(
        lambda: figures.self_motion_figure(curve, found.values, names, unit),
        "The self-motion curve of one pose",
        f"Manipulability from {found.values.min():.3g} to {found.values.max():.3g}",
        {"length": curve.s, "√det J Jᵀ": found.values,
         **{f"q {n}": curve.q[:, k] for k, n in enumerate(names)}})


def export(report: Report) -> str:
    """Lines that take the robot's equations elsewhere."""
    source = escape(shlex.quote(report.provenance.get("file") or report.robot.name))
    floating = " --floating" if "as asked" in report.provenance.get("base", "") else ""
    lines = "\n".join((
        f"closedform export {source} inverse_dynamics mass_matrix --to c -o out{floating}",
        f"closedform export {source} inverse_dynamics --to wasm -o out{floating}",
        f"closedform live {source} -o page.html{floating}"))
    python = "\n".join((
        "import closedform as cf", f"robot = cf.load({escape(repr(report.provenance.get('file')))}"
        f"{', floating=True' if floating else ''})" if "file" in report.provenance
        else f"robot = cf.load({escape(repr(report.robot.name))})",
        "arm = cf.compile(robot)", "tau = arm.inverse_dynamics(q, v, a)"))
    return f"<pre>{lines}</pre><pre>{python}</pre>"
