"""Closed loops in tables of TOML.

    independent = ["crank"]               # or left out; also: actuated
    [[loops]]
    name = "pin"
    joint = "revolute"                    # a kind of joint that may be cut, or "rod", "gear"
    axis = [0, 0, 1]
    a = {body = "coupler", xyz = [0.5, 0, 0]}
    b = {body = "rocker", xyz = [0.4, 0, 0]}   # without body: the world
    [guess]
    crank = 0.7

A rod has a `length`, a gear `factors = {joint = number}` and a `constant`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from closedform.errors import ModelError
from closedform.model.bodies import Body, Frame
from closedform.model.joints import Joint
from closedform.model.loops.records import Cut, Gear, Loop, Rod
from closedform.model.robot import Robot

LOOP_KEYS = ("name", "joint", "a", "b", "length", "factors", "constant")
LOOP_NUMBERS = ("length", "constant")
_NEEDS = {"rod": ("a", "b", "length"), "gear": ("factors",)}


def cut(row: Mapping[str, Any], joint: Joint | None, where: str) -> Cut:
    """The record of a row whose sides are read; `joint` is None for rods and gears."""
    kind = row.get("joint", "")
    needs = ("name", *_NEEDS.get(kind, ("a", "b")))
    missing = [key for key in needs if key not in row]
    if missing:
        raise ModelError(f"{where}: a {kind} loop needs {', '.join(missing)}")
    for key in ("length", "factors", "constant"):
        if key in row and key not in (*needs, *(("constant",) if kind == "gear" else ())):
            raise ModelError(f"{where}: a {kind} loop has no {key}")
    if kind == "gear":
        return Gear(row["name"], row["factors"], row.get("constant", 0.0))
    for side in ("a", "b"):
        if not isinstance(row[side], tuple):
            raise ModelError(f"{where}, {side}: a table with body, xyz, rpy expected, "
                             f"not {row[side]!r}")
    if joint is None:
        return Rod(row["name"], row["a"], row["b"], row["length"])
    return Loop(row["name"], row["a"], row["b"], joint)


def given_closing(data: Mapping[str, Any], looped: bool) -> dict[str, Any]:
    """`independent`, `actuated` and `guess` of a table, as `Robot` takes them."""
    found: dict[str, Any] = {}
    for key in ("independent", "actuated"):
        if key in data:
            names = data[key]
            if not isinstance(names, list) or not all(isinstance(x, str) for x in names):
                raise ModelError(f"{key}: names of joints expected, not {names!r:.200}")
            found[key] = names
    if "guess" in data:
        if not looped:
            raise ModelError("guess is for robots with [[loops]], and there are none")
        found["guess"] = data["guess"]
    return found


def on_base(robot: Robot, base: str, bodies: Sequence[Body], frames: Sequence[Frame]) -> Robot:
    """A robot with loops whose root link has become a body: what was the world is that body."""
    cuts = [c if isinstance(c, Gear) else
            replace(c, a=(c.a[0] or base, c.a[1]), b=(c.b[0] or base, c.b[1]))
            for c in robot.loops]
    home = robot.neutral()
    guess = {b.name: home[i] for b, i, _ in robot.parts}
    independent = (base, *(robot.independent or ()))
    return Robot(robot.name, bodies, robot.gravity, frames, robot.source, loops=cuts,
                 independent=independent, guess=guess, actuated=robot.actuated)
