"""A robot told to people and programs: `summary` as plain data, `html_table` for notebooks."""

from __future__ import annotations

import math
from html import escape
from typing import Any

import numpy as np

from closedform.arrays import numeric
from closedform.errors import ModelError
from closedform.model.bodies import Body
from closedform.model.inertia import Inertia
from closedform.model.joints import KEYWORDS, Joint, describe
from closedform.model.loops.records import Cut, Gear, Rod
from closedform.model.tree import Tree


def summary(robot: Tree) -> dict[str, Any]:
    """The robot as plain data that JSON can hold, in SI units; symbols as text, None: not given.

    A joint's numbers are lists, one entry for each of its coordinates; an infinite limit is None.
    """
    none = slice(0, 0), slice(0, 0)
    spans = {body.name: (q, v) for body, q, v in robot.parts}
    return {
        "name": robot.name,
        "source": robot.source,
        "nq": robot.nq,
        "nv": robot.nv,
        "mass": _plain(robot.mass),
        "gravity": _plain_list(robot.gravity),
        "floating": robot.is_floating,
        "bodies": [{
            "name": body.name,
            "parent": body.parent,
            "joint": _joint(body, *(range(x.start, x.stop) for x in spans.get(body.name, none))),
            "placement": [_plain_list(row) for row in body.placement],
            "mass": _plain(body.inertia.mass),
            "com": _com(body.inertia),
            "gravity_compensation": body.gravity_compensation,
            "parameters": _plain_list(body.inertia.parameters),
        } for body in robot.bodies],
        "frames": [{
            "name": frame.name,
            "body": frame.body,
            "placement": [_plain_list(row) for row in frame.placement],
        } for frame in robot.frames],
        **_loops(robot),
        "configurations": {name: _plain_list(q) for name, q in robot.configurations.items()},
        "notes": list(robot.notes),
        "totals": {
            "bodies": len(robot.bodies),
            "joints": len(robot.joint_names),
            "mimic": sum(body.joint.driver is not None for body in robot.bodies),
            "fixed": sum(body.joint.is_fixed for body in robot.bodies),
            "frames": len(robot.frames),
        },
    }


def _loops(robot: Tree) -> dict[str, Any]:
    """The loops of a robot that has any, and which velocities of its tree are independent."""
    cuts: tuple[Cut, ...] = getattr(robot, "loops", ())
    if not cuts:
        return {}
    closure, actuated = getattr(robot, "closure", None), getattr(robot, "actuated", None)
    return {"mobility": robot.nv, "independent": list(getattr(robot, "independent", None) or ()),
            "actuated": None if actuated is None else list(actuated),
            "rows": closure.count if closure else 0, "rank": len(closure.rows) if closure else 0,
            "loops": [{"name": cut.name, "kind": "gear", "factors": dict(cut.factors),
                       "constant": cut.constant} if isinstance(cut, Gear) else
                      {"name": cut.name, "a": cut.a[0], "b": cut.b[0],
                       "kind": "rod" if isinstance(cut, Rod) else describe(cut.joint)}
                      for cut in cuts]}


def loop_text(loop: dict[str, Any]) -> str:
    """A loop of a `summary` in a line."""
    if loop["kind"] == "gear":
        terms = " + ".join(f"{c:g} {name}" for name, c in loop["factors"].items())
        return f"gear {loop['name']}: {terms} = {loop['constant']:g}"
    ends = " and ".join(x or "the world" for x in (loop["a"], loop["b"]))
    return f"loop {loop['name']}: {loop['kind']} of {ends}"


def loops_text(about: dict[str, Any]) -> list[str]:
    """Lines of a `summary` about the loops of a robot that has any."""
    if "loops" not in about:
        return []
    lines = [*map(loop_text, about["loops"]), f"independent: {', '.join(about['independent'])}"]
    if about["actuated"] is not None:
        lines += [f"actuated: {', '.join(about['actuated'])}"]
    spare = about["rows"] - about["rank"]
    return [*lines, f"mobility {about['mobility']}: {about['rows']} rows of rank {about['rank']}"
            + (f", {spare} of them redundant" if spare else "")]


def _joint(body: Body, q: range, v: range) -> dict[str, Any]:
    joint = body.joint
    return {
        "name": body.joint_name,
        "kind": describe(joint).replace("−", "-"),  # a minus that every terminal has
        "unit": _unit(joint),
        "q": list(q),
        "v": list(v),
        **{keyword: _per_coordinate(joint, keyword) for keyword in KEYWORDS[1:]},
    }


def _unit(joint: Joint) -> str | None:
    """The unit of a joint's one coordinate; None where it has none or several."""
    moving = joint.moving
    return None if moving.nq != 1 else "m" if moving.lengths else "rad"


def _per_coordinate(joint: Joint, keyword: str) -> list[Any] | None:
    if getattr(joint, keyword) is None:
        return None
    moving = joint.moving
    size = moving.nq if keyword in ("lower", "upper") else moving.nv
    return _plain_list(moving.per_coordinate(keyword, size, math.nan))


def _com(inertia: Inertia) -> list[Any] | None:
    try:
        return _plain_list(inertia.com)
    except ModelError:  # regrouped: m = 0, m c ≠ 0
        return None


def _plain(x: Any) -> float | str | None:
    if numeric(np.asarray(x)):
        return float(x) if math.isfinite(x) else None
    return str(x)


def _plain_list(values: Any) -> list[float | str | None]:
    return [_plain(x) for x in values]


# ---------------------------------------------------------------------- text for tables
def number_text(x: float | str | None) -> str:
    """Four digits; a dot for None, which is a limit that is not there."""
    if x is None:
        return "·"
    return x if isinstance(x, str) else f"{x + 0.0:.4g}"  # + 0.0: no -0


def range_text(joint: dict[str, Any]) -> str:
    """A joint's limits of q: `-2.9 … 2.9 rad`, coordinates parted by commas; empty if none."""
    lower, upper = joint["lower"], joint["upper"]
    if lower is None and upper is None:
        return ""
    n = len(lower or upper)
    pairs = zip(lower or [None] * n, upper or [None] * n, strict=True)
    given = [f"{number_text(a)} … {number_text(b)}" if (a, b) != (None, None) else "·"
             for a, b in pairs]
    if all(text == "·" for text in given):
        return ""
    return ", ".join(given) + (f" {joint['unit']}" if joint["unit"] else "")


def list_text(values: list[Any] | None) -> str:
    """`1, 2, 3`; one number where all are the same; empty for None."""
    texts = [number_text(x) for x in values or ()]
    if set(texts) == {"·"}:
        return ""
    return texts[0] if len(set(texts)) == 1 and len(texts) > 1 else ", ".join(texts)


def vector_text(values: list[Any] | None) -> str:
    """`0, 0.1, 0`, every entry shown; empty for None."""
    return ", ".join(number_text(x) for x in values or ())


def index_text(index: list[int]) -> str:
    """`3`, `0–6`, or empty."""
    if not index:
        return ""
    return str(index[0]) if len(index) == 1 else f"{index[0]}–{index[-1]}"


def headline(about: dict[str, Any]) -> str:
    """One line of what the robot is: degrees of freedom, mass, base, gravity."""
    mass = about["mass"]
    base = "floating base" if about["floating"] else "fixed base"
    weight = f"mass {mass}" if isinstance(mass, str) else f"{number_text(mass)} kg"
    return (f"nq {about['nq']}, nv {about['nv']}, {weight}, {base}, "
            f"gravity ({vector_text(about['gravity'])}) m/s²")


def totals_text(about: dict[str, Any]) -> str:
    """`7 bodies, 7 joints, 2 frames`; fixed and mimic joints where there are any."""
    totals = about["totals"]
    extra = [f"{totals[kind]} {kind}" for kind in ("mimic", "fixed") if totals[kind]]
    joints = [_count(totals["joints"], "moving joint", "moving joints"), *extra]
    return ", ".join([_count(totals["bodies"], "body", "bodies"), " + ".join(joints),
                      _count(totals["frames"], "frame", "frames")])


def _count(n: int, one: str, many: str) -> str:
    return f"{n} {one if n == 1 else many}"


# ---------------------------------------------------------------------- notebooks
COLUMNS = ("body", "parent", "joint", "kind", "q", "range", "velocity", "effort", "mass [kg]",
           "com [m]")


def html_table(robot: Tree) -> str:
    """The robot as a heading and a table, one row for each body: what a notebook shows."""
    about = summary(robot)
    head = "".join(f"<th style='text-align:left'>{name}</th>" for name in COLUMNS)
    rows = "".join(f"<tr>{_cells(body)}</tr>" for body in about["bodies"])
    frames = ", ".join(f"{f['name']} (on {f['body'] or 'the world'})" for f in about["frames"])
    foot = f"<div>frames: {escape(frames)}</div>" if frames else ""
    foot += "".join(f"<div>{escape(line)}</div>" for line in loops_text(about))
    return (f"<div><b>{escape(about['name'])}</b>: {escape(headline(about))}</div>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{foot}")


def _cells(body: dict[str, Any]) -> str:
    joint = body["joint"]
    row = (body["name"], body["parent"] or "the world", joint["name"], joint["kind"],
           index_text(joint["q"]), range_text(joint), list_text(joint["velocity"]),
           list_text(joint["effort"]), number_text(body["mass"]), vector_text(body["com"]))
    return "".join(f"<td style='text-align:left'>{escape(cell)}</td>" for cell in row)
