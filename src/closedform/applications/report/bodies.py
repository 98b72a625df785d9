"""The robot's section of a report: its picture, bodies, inertias, limits, and what is odd."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

import numpy as np

from closedform.applications.live.skeleton import resting
from closedform.applications.report import figures
from closedform.applications.report.record import Report
from closedform.applications.report.tables import figure, folded, minus, table
from closedform.applications.units import units
from closedform.errors import ModelError
from closedform.maths.kinematics import poses
from closedform.model.describe import (
    list_text,
    loops_text,
    number_text,
    range_text,
    summary,
    vector_text,
)
from closedform.model.robot import Robot

PLACEHOLDERS = {"lower": (10.0, 100.0, 1000.0), "upper": (10.0, 100.0, 1000.0),
                "velocity": (0.0, 100.0, 1000.0), "effort": (0.0, 1000.0, 10_000.0)}
"""Numbers that stand in files where nobody measured."""


def robot_section(report: Report) -> str:
    """Picture, masses, joints, inertias, doubts and lint."""
    robot = report.robot
    at = np.asarray(poses(robot, resting(robot)), dtype=float)[:, :3, 3]
    pose = ("as its loops close" if robot.loops else
            "as it stands, every joint at zero" if robot.is_floating else
            "bent, joints at 0.2, 0.7, 0.2, −1.1, … within their limits")
    picture = figure(
        lambda: figures.skeleton(robot, report.center), f"The robot {pose}; numbers as below",
        f"Two views of {len(robot.bodies)} bodies joined to their parents, "
        f"{np.ptp(at[:, 2]):.3g} m high",
        {"number": range(1, len(at) + 1), "body": list(robot.body_names),
         **{f"{x} [m]": at[:, k] for k, x in enumerate("xyz")}})
    loops = "".join(f"<li>{escape(line)}</li>" for line in loops_text(summary(robot)))
    return (picture + f"<p>{minus(_mass(report))}</p>" + (f"<ul>{loops}</ul>" if loops else "")
            + _joints(robot) + _inertias(robot)
            + _doubts(robot) + _lint(report))


def root_warning(report: Report) -> str:
    """A word about mass that stands on no joint, where that looks like a mistake."""
    mass, limbs = report.root
    if not mass or limbs < 2:
        return ""
    return (f'<p class="warning">The root link has {number_text(mass)} kg and {limbs} limbs, and '
            "stands on no joint: its mass is in none of these equations. If the robot is not "
            "bolted to the ground, load it with <code>--floating</code> "
            "(<code>floating=True</code>).</p>")


def _mass(report: Report) -> str:
    mass, _ = report.root
    rest = (f" The root link's {number_text(mass)} kg stand still and are not counted." if mass
            else "")
    if report.center is None:
        return "No body has mass: there is no centre of mass, and no torque but of rotors." + rest
    x = ", ".join(number_text(round(float(c), 9)) for c in report.center)
    return (f"Moving mass {number_text(float(report.robot.mass))} kg; centre of mass there "
            f"({x}) m.{rest}")


def _joints(robot: Robot) -> str:
    rows = []
    for k, b in enumerate(summary(robot)["bodies"], start=1):
        joint = b["joint"]
        rows.append([f"{k} {escape(b['name'])}", escape(joint["name"]),
                     minus(escape(joint["kind"])), _range(joint),
                     list_text(joint["velocity"]), list_text(joint["effort"])])
    return table(("body", "joint", "kind", "range", f"max |v| [{units(robot, 'rad/s', 'm/s')}]",
                  f"max |τ| [{units(robot, 'N m', 'N')}]"), rows,
                 caption="Bodies and the joints that move them")


def _range(joint: dict[str, Any]) -> str:
    """Limits in their unit, and in degrees beside radians."""
    text = escape(minus(range_text(joint)))
    if not text:
        return ""
    if joint["unit"] != "rad":
        return f'<span class="whole">{text}</span>'
    low, high = ((joint[x] or [None])[0] for x in ("lower", "upper"))
    degrees = [number_text(None if x is None else round(math.degrees(x), 1)) for x in (low, high)]
    return f'<span class="whole">{text} <small>{minus(" … ".join(degrees))}°</small></span>'


def _inertias(robot: Robot) -> str:
    rows = []
    for k, (body, b) in enumerate(zip(robot.bodies, summary(robot)["bodies"], strict=True),
                                  start=1):
        wrong = body.inertia.impossibility()
        try:
            moments = np.linalg.eigvalsh(np.asarray(body.inertia.tensor, dtype=float))
            principal = vector_text(moments.tolist())
        except ModelError:
            principal = ""
        verdict = ('<span class="holds">yes</span>' if wrong is None
                   else f'<span class="fails">no</span><small>{escape(wrong)}</small>')
        rows.append([f"{k} {escape(body.name)}", number_text(b["mass"]),
                     minus(vector_text(b["com"])), minus(principal), verdict])
    return table(("body", "mass [kg]", "centre of mass [m]", "principal moments [kg m²]",
                  "possible"), rows, (1,), caption="Inertias, each about its own centre of mass")


def _doubts(robot: Robot) -> str:
    found = list(placeholders(robot))
    if not found:
        return ""
    lines = "".join(f"<li>{escape(x)}</li>" for x in found)
    return ("<h3>Limits that look like placeholders</h3>"
            + folded(f"{_counted(found, 'number')} to be checked", f"<ul>{lines}</ul>",
                     len(found) <= 20))


def _counted(things: Sequence[Any], word: str) -> str:
    return f"{len(things)} {word}{'' if len(things) == 1 else 's'}"


def placeholders(robot: Robot) -> Iterator[str]:
    """Limits that are round numbers of the kind that nobody measured."""
    for b in summary(robot)["bodies"]:
        joint = b["joint"]
        unit = "m" if joint["unit"] == "m" else "rad"
        low, high = joint["lower"] or [], joint["upper"] or []
        both = bool(high) and low == [None if x is None else -x for x in high]
        for key, usual in PLACEHOLDERS.items():
            if key == "lower" and both:
                continue                                        # told with the upper one
            force = "N" if unit == "m" else "N m"
            shown = {"velocity": f"{unit}/s", "effort": force}.get(key, unit)
            for x in sorted({abs(x) for x in joint[key] or () if isinstance(x, float)}):
                if x in usual:
                    sign = "±" if both and key == "upper" else ""
                    yield f"{joint['name']}: {key} limit {sign}{x:g} {shown}"


def _lint(report: Report) -> str:
    if not report.findings:
        return "<h3>Lint</h3><p>Nothing to complain about.</p>"
    found = [[f'<span class="{f.level.value}">{f.level.value}</span>', escape(f.subject),
              escape(f.message), escape(f.repair)] for f in report.findings]
    return "<h3>Lint</h3>" + folded(
        _counted(found, "finding"), table(("level", "about", "finding", "repair"), found,
                                          caption="What the linter found"), len(found) <= 20)
