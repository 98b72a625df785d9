"""A robot as a TOML table of bodies on joints, as `cf.load` reads it."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from closedform.model.bodies import Body
from closedform.model.joints.joint import KEYWORDS, Joint, geometry
from closedform.model.pose import to_rpy
from closedform.model.robot import Robot


def robot_table(robot: Robot) -> tuple[list[str], list[str]]:
    """The keys at the top, and the tables, of a robot without loops."""
    top = [f"name = {toml_value(robot.name)}", 'convention = "bodies"',
           f"gravity = {toml_value(robot.gravity)}"]
    tables: list[str] = []
    for body in robot.bodies:
        tables += toml_table("rows", {**_row(body), **_placed(body.placement)})
    for frame in robot.frames:
        own = {} if frame.body is None else {"body": frame.body}
        tables += toml_table("frames", {"name": frame.name, **own, **_placed(frame.placement)})
    return top, tables


def _row(body: Body) -> dict[str, Any]:
    joint = body.joint
    row: dict[str, Any] = {"name": body.name}
    if body.parent is not None:
        row["parent"] = body.parent
    row["joint"] = joint.moving.kind
    if joint.name is not None:
        row["joint_name"] = joint.name
    row |= geometry(joint.moving) | _mimicked(joint)
    row |= {k: x for k in KEYWORDS[1:] if (x := getattr(joint, k)) is not None}
    row["parameters"] = body.inertia.parameters
    if body.gravity_compensation:
        row["gravity_compensation"] = body.gravity_compensation
    return row


def _mimicked(joint: Joint) -> dict[str, Any]:
    driver = joint.driver
    if driver is None:
        return {}
    if isinstance(driver.of, tuple):
        return {"mimic": {"of": dict(zip(driver.of, driver.ratio, strict=True)),
                          "offset": driver.offset}}
    more = {"higher": driver.higher} if driver.higher else {}
    return {"mimic": {"of": driver.of, "ratio": driver.ratio, "offset": driver.offset, **more}}


def _placed(placement: Any) -> dict[str, Any]:
    T = np.asarray(placement, dtype=float)
    return {key: x for key, x in (("xyz", T[:3, 3]), ("rpy", to_rpy(T[:3, :3]))) if np.any(x)}


# ---------------------------------------------------------------------- TOML
def toml_table(name: str, values: Mapping[str, Any]) -> list[str]:
    """One more [[name]]."""
    return ["", f"[[{name}]]", *(f"{key} = {toml_value(x)}" for key, x in values.items())]


def toml_value(x: Any) -> str:
    """A text, a day, a truth, a number, a list or an inline table."""
    if isinstance(x, str):
        return _text(x)
    if isinstance(x, datetime.date):
        return x.isoformat()
    if isinstance(x, bool | np.bool_):
        return str(bool(x)).lower()
    if isinstance(x, Mapping):
        return "{" + ", ".join(f"{_text(k)} = {toml_value(y)}" for k, y in x.items()) + "}"
    if isinstance(x, Iterable):
        return "[" + ", ".join(map(toml_value, x)) + "]"
    if isinstance(x, int | np.integer):
        return str(int(x))
    return "nan" if math.isnan(x) else repr(float(x))


def _text(text: str) -> str:
    escaped = "".join(c if c.isprintable() and c not in '"\\' else f"\\u{ord(c):04x}"
                      if ord(c) < 0x10000 else f"\\U{ord(c):08x}" for c in text)
    return f'"{escaped}"'
