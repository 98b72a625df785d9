"""Robots written as TOML tables: modified or standard DH, screws, or bodies with their joints.

    name = "two-link"
    convention = "modified_dh"            # or "standard_dh", "screws", "bodies"
    gravity = [0, 0, -9.81]               # also: source, [[frames]], [base]

    [[rows]]
    alpha = "-pi/2"                       # or alpha_deg = -90
    d = 0.4
    mass = 2.0                            # with com, and tensor about it; or parameters = [ten]
    com = [0.1, 0, 0]
    tensor = [0.1, 0, 0, 0.2, 0, 0.2]     # xx xy xz yy yz zz, or three rows

`[base]` is the inertia of the root link, used when the robot is read as floating. A row of a fixed
body with `merge = true` is part of its parent and stays as a frame. `[[loops]]`, `independent`,
`actuated` and `[guess]` are for closed loops: see `loop_tables`. A file with `[identification]` is
that of an identified robot: that table, each `[[joint]]` and each `[[unknown]]` say where its
numbers came from and what no robot holds, and are not read.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from closedform.arrays import exact_or_float
from closedform.errors import FormatError, ModelError, SingularLoop, UnknownName, suggestion
from closedform.model.edits import merged
from closedform.model.findings import warn_once
from closedform.model.formats.dh import (
    LIMITS,
    MODIFIED_COLUMNS,
    STANDARD_COLUMNS,
    from_modified_dh,
    from_screws,
    from_standard_dh,
    rotation_about,
    unknown,
)
from closedform.model.formats.loop_tables import (
    LOOP_KEYS,
    LOOP_NUMBERS,
    cut,
    given_closing,
    on_base,
)
from closedform.model.formats.loops import on_bodies
from closedform.model.formats.toml import parse_toml
from closedform.model.formats.urdf.document import MAX_LINKS
from closedform.model.formats.urdf.read import base_joint, limit_faults
from closedform.model.formats.xml import read_bytes
from closedform.model.inertia import Inertia
from closedform.model.joints import KEYWORDS, KINDS, Joint, Mimic
from closedform.model.loops.records import Cut
from closedform.model.pose import pose
from closedform.model.robot import STANDARD_GRAVITY, Body, Frame, Robot

ANGLES = ("alpha", "theta", "gamma", "rpy", "lower", "upper", "velocity", "spring_reference")
INERTIA = ("mass", "com", "tensor", "parameters")
PLACE = ("xyz", "rpy")
JOINTS = {kind.__name__.lower(): kind for kind in KINDS if kind is not Mimic}
SHAPES = {name: tuple(f.name for f in fields(kind) if f.name not in KEYWORDS)
          for name, kind in JOINTS.items()}
SHAPE_KEYS = tuple(dict.fromkeys(key for shape in SHAPES.values() for key in shape))
OPTIONAL = ("point", "normal")
MIMIC = ("of", "ratio", "offset", "higher")
DH_EXTRAS = ("antecedent", "name", "joint_name", *LIMITS, *INERTIA)
SCREW_KEYS = ("screw", "home", *PLACE, *DH_EXTRAS)
BODY_KEYS = ("name", "parent", "joint", "joint_name", "mimic", "merge", *PLACE, *INERTIA, *LIMITS,
             *SHAPE_KEYS, "gravity_compensation")
TEXTS = ("name", "parent", "joint_name", "body", "of")
NUMBERS = (*MODIFIED_COLUMNS, *STANDARD_COLUMNS, *INERTIA, *PLACE, *LIMITS, "screw", "home",
           *SHAPE_KEYS, "ratio", "offset", "gravity_compensation", *LOOP_NUMBERS)
LARGEST = 2**53
"""The largest integer that is read as a number."""
TOP_KEYS = ("name", "convention", "gravity", "source", "rows", "frames", "base", "loops",
            "independent", "actuated", "guess")
FOUND = ("identification", "joint", "unknown")
"""Tables that an identified robot's file has beside its rows."""
PI = re.compile(r"([+-]?)\s*(?:(\d+(?:\.\d*)?)\s*\*\s*)?pi\s*(?:/\s*(\d+(?:\.\d*)?))?")


def read_table(source: Path | str, floating: bool = False) -> Robot:
    """The robot in a TOML file (a path) or TOML text (a str with a line break or `=`).

    With `floating` the root link, whose inertia is in `[base]`, is body 0 on a free joint.
    """
    where, data = _parsed(source)
    try:
        robot = _robot(data)
        robot = _on_free_base(robot, data) if floating else robot
    except (ModelError, UnknownName, SingularLoop) as error:
        raise FormatError(f"{where}: {error}") from error
    warn_once(where, limit_faults(robot))
    return robot


def _parsed(source: Path | str) -> tuple[str, dict[str, Any]]:
    is_text = isinstance(source, str) and ("\n" in source or "=" in source)
    where = "<text>" if is_text else str(source)
    content = str(source) if is_text else read_bytes(Path(source))
    return where, parse_toml(content, where, "TOML table of a robot")


def _robot(data: Mapping[str, Any]) -> Robot:
    _known(data, TOP_KEYS + FOUND if FOUND[0] in data else TOP_KEYS, "top level")
    convention = data.get("convention")
    if not isinstance(convention, str) or convention not in CONVENTIONS:
        raise ModelError(f"no convention {convention!r}; {suggestion(convention, CONVENTIONS)}")
    rows = [_row(row, f"row {k}") for k, row in enumerate(_tables(data, "rows"), start=1)]
    if not rows:
        raise ModelError("no [[rows]] are given")
    robot = CONVENTIONS[convention](rows)
    frames = [_frame(f, k) for k, f in enumerate(_tables(data, "frames"), start=1)]
    base = _base(data)
    if base is not None:
        frames.insert(0, Frame(base[0], None))
    name, source = _text(data, "name", "robot"), _text(data, "source", "")
    gravity = _numbers(data.get("gravity", list(STANDARD_GRAVITY)), False, "gravity")
    cuts = [_loop(row, k) for k, row in enumerate(_tables(data, "loops"), start=1)]
    whole = Robot(name, robot.bodies, gravity, frames, source)
    parts = {row["name"] for row in rows if row.get("merge")}
    tree = merged(whole.bodies, whole, parts) if parts else whole
    closing = given_closing(data, bool(cuts))
    return replace(tree, loops=tuple(on_bodies(tree, cuts, {})), **closing) if cuts or closing \
        else tree


def _on_free_base(robot: Robot, data: Mapping[str, Any]) -> Robot:
    """The robot with its root link on a free joint; what hung on the world hangs on that link."""
    if robot.is_floating:
        raise ModelError(f"{robot.name} has a free root already; read it without floating")
    name, inertia = _base(data) or ("base", Inertia())
    joint = base_joint({b.joint_name for b in robot.bodies})
    bodies = [Body(name, None, joint, inertia=inertia)]
    bodies += [replace(b, parent=b.parent or name) for b in robot.bodies]
    frames = [replace(f, body=f.body or name) for f in robot.frames if f.name != name]
    if not robot.loops:
        return Robot(robot.name, bodies, robot.gravity, frames, robot.source)
    return on_base(robot, name, bodies, frames)


def _base(data: Mapping[str, Any]) -> tuple[str, Inertia] | None:
    """Name and inertia of the root link."""
    if "base" not in data:
        return None
    row = data["base"]
    if not isinstance(row, Mapping):
        raise ModelError(f"base: a table [base] expected, not {row!r}")
    _known(row, ("name", *INERTIA), "base")
    full = _row(row, "base")
    return full.get("name", "base"), _inertia(full, "base") or Inertia()


# ---------------------------------------------------------------------- conventions
def _dh_robot(build: Callable[..., Robot], columns: tuple[str, ...]) -> Callable[..., Robot]:
    def robot(rows: list[dict[str, Any]]) -> Robot:
        for k, row in enumerate(rows, start=1):
            _known(row, columns + DH_EXTRAS, f"row {k}")
        return build([_with_inertia(row, k) for k, row in enumerate(rows, start=1)])
    return robot


def _screw_robot(rows: list[dict[str, Any]]) -> Robot:
    table = []
    for k, row in enumerate(rows, start=1):
        _known(row, SCREW_KEYS, f"row {k}")
        if "home" in row and ("xyz" in row or "rpy" in row):
            raise ModelError(f"row {k}: give home, or xyz and rpy, not both")
        home = row["home"] if "home" in row else _placement(row, f"row {k}")
        bare = {key: x for key, x in row.items() if key not in PLACE}
        table.append({**_with_inertia(bare, k), "home": home})
    return from_screws(table)


def _body_robot(rows: list[dict[str, Any]]) -> Robot:
    bodies = []
    for k, row in enumerate(rows, start=1):
        where = f"row {k}"
        _known(row, BODY_KEYS, where)
        if "name" not in row:
            raise ModelError(f"{where}, name: a text expected, it is missing")
        where = f"{where} ({row['name']})"
        inertia, placement = _inertia(row, where) or Inertia(), _placement(row, where)
        joint = _joint(row, where)
        try:
            bodies.append(Body(row["name"], row.get("parent"), joint, placement, inertia,
                               row.get("gravity_compensation", 0.0)))
        except ModelError as error:
            raise ModelError(f"{where}: {error}") from error
    return Robot("bodies", bodies)


CONVENTIONS: dict[str, Callable[..., Robot]] = {
    "modified_dh": _dh_robot(from_modified_dh, MODIFIED_COLUMNS),
    "standard_dh": _dh_robot(from_standard_dh, STANDARD_COLUMNS),
    "screws": _screw_robot,
    "bodies": _body_robot,
}


def _joint(row: Mapping[str, Any], where: str) -> Joint:
    kind = row.get("joint")
    if not isinstance(kind, str) or kind not in SHAPES:
        raise ModelError(f"{where}: no joint {kind!r}; {suggestion(kind, SHAPES)}")
    other = set(SHAPE_KEYS) - set(SHAPES[kind])
    for key in sorted(other & set(row)):
        raise ModelError(f"{where}: a {kind} joint has no {key}; {suggestion(key, SHAPES[kind])}")
    shape = {key: row[key] for key in SHAPES[kind] if key in row}
    missing = [key for key in SHAPES[kind] if key not in row and key not in OPTIONAL]
    if missing:
        raise ModelError(f"{where}: a {kind} joint needs {', '.join(missing)}")
    if row.get("merge", False) not in ((False, True) if kind == "fixed" else (False,)):
        raise ModelError(f"{where}, merge: true or false of a fixed joint expected, "
                         f"not {row['merge']!r} of a {kind} one")
    keywords = {key: row[key] for key in LIMITS if key in row}
    try:
        joint = JOINTS[kind](**shape)
        if "mimic" in row:
            joint = _mimic(joint, row["mimic"])
        return replace(joint, name=row.get("joint_name"), **keywords)
    except ModelError as error:
        raise ModelError(f"{where}: {error}") from error


def _mimic(joint: Joint, given: Any) -> Mimic:
    if not isinstance(given, Mapping):
        raise ModelError(f"mimic: a table with {', '.join(MIMIC)} expected, not {given!r}")
    _known(given, MIMIC, "mimic")
    return Mimic(joint, **{"of": None, **_row(given, "mimic")})


# ---------------------------------------------------------------------- values
def _known(row: Mapping[str, Any], allowed: tuple[str, ...], where: str) -> None:
    for key in row:
        if key not in allowed:
            raise ModelError(f"{where}: {unknown('key', key, allowed)}")


def _tables(data: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    rows = data.get(key, [])
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        raise ModelError(f"{key}: tables [[{key}]] expected, not {rows!r:.200}")
    if len(rows) > MAX_LINKS:
        raise ModelError(f"a robot has at most {MAX_LINKS} [[{key}]], this has {len(rows)}")
    return rows


def _text(data: Mapping[str, Any], key: str, missing: str) -> str:
    value = data.get(key, missing)
    if not isinstance(value, str):
        raise ModelError(f"{key}: a text expected, not {value!r}")
    return value


def _row(row: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The row with every angle in radians under its own key, and numbers where numbers belong."""
    result: dict[str, Any] = {}
    for key, value in row.items():
        name = key.removesuffix("_deg")
        degrees = name != key and name in ANGLES
        column = name if degrees else key
        if column in result:
            raise ModelError(f"{where}: {column} is given twice, in radians and in degrees")
        result[column] = value
        several = column == "of" and isinstance(value, Mapping)
        if column in TEXTS and not several and not isinstance(value, str):
            raise ModelError(f"{where}, {key}: a text expected, not {value!r}")
        if column in NUMBERS:
            numbers = _numbers(value, column in ANGLES and not degrees, f"{where}, {key}")
            result[column] = np.radians(numbers).tolist() if degrees else numbers
    return result


def _numbers(value: Any, angle: bool, where: str) -> Any:
    """A number, or lists of numbers of equal lengths; of angles also texts such as "-pi/2"."""
    if isinstance(value, list):
        numbers = [_numbers(x, angle, where) for x in value]
        if len({np.shape(x) for x in numbers}) > 1:
            raise ModelError(f"{where}: lists of equal lengths expected, not {value!r}")
        return numbers
    if isinstance(value, str) and angle and (match := PI.fullmatch(value.strip())):
        sign, factor, divisor = match.groups()
        if float(divisor or 1) != 0:
            return math.pi * float(factor or 1) / float(divisor or 1) * (-1 if sign == "-" else 1)
    if isinstance(value, bool) or not isinstance(value, int | float) or (
            isinstance(value, int) and abs(value) > LARGEST):
        expected = "a number or a text such as '-pi/2'" if angle else "a number"
        raise ModelError(f"{where}: {expected} expected, not {value!r:.100}")
    return value


def _placement(row: Mapping[str, Any], where: str) -> np.ndarray:
    """The pose of `xyz` and `rpy`: Rz(yaw) Ry(pitch) Rx(roll)."""
    xyz, rpy = _three(row, "xyz", where), _three(row, "rpy", where)
    turns = [rotation_about(letter, x) for letter, x in zip("xyz", rpy, strict=True)]
    return pose(exact_or_float(turns[2] @ turns[1] @ turns[0]), xyz)


def _three(row: Mapping[str, Any], key: str, where: str) -> list[Any]:
    value = row.get(key, [0, 0, 0])
    if np.shape(value) != (3,) or not np.all(np.isfinite(value)):
        raise ModelError(f"{where}, {key}: three finite numbers expected, not {value!r}")
    return list(value)


def _frame(row: Mapping[str, Any], k: int) -> Frame:
    where = f"frame {k}"
    full = _row(row, where)
    _known(full, ("name", "body", *PLACE), where)
    return Frame(full.get("name", ""), full.get("body"), _placement(full, where))


def _loop(row: Mapping[str, Any], k: int) -> Cut:
    where = f"loop {k}"
    _known(row, (*LOOP_KEYS, *SHAPE_KEYS), where)
    full = _row({key: x for key, x in row.items() if key not in ("a", "b")}, where)
    sides = {side: row[side] for side in ("a", "b") if side in row}
    for side, given in sides.items():
        if isinstance(given, Mapping):
            at = _row(given, f"{where}, {side}")
            _known(at, ("body", *PLACE), f"{where}, {side}")
            sides[side] = at.get("body"), _placement(at, f"{where}, {side}")
    shape = {key: x for key, x in full.items() if key in ("joint", *SHAPE_KEYS)}
    joint = None if full.get("joint") in ("rod", "gear") else _joint(shape, where)
    return cut({**full, **sides}, joint, where)


def _with_inertia(row: Mapping[str, Any], k: int) -> dict[str, Any]:
    bare = {key: x for key, x in row.items() if key not in INERTIA}
    inertia = _inertia(row, f"row {k}")
    return bare if inertia is None else {**bare, "inertia": inertia}


def _inertia(row: Mapping[str, Any], where: str) -> Inertia | None:
    given = {key: row[key] for key in INERTIA if key in row}
    if not given:
        return None
    try:
        if "parameters" in given:
            if len(given) > 1:
                raise ModelError("give parameters, or mass, com and tensor, not both")
            return Inertia.from_parameters(given["parameters"])
        tensor = given.get("tensor")
        if isinstance(tensor, list) and len(tensor) == 6:
            xx, xy, xz, yy, yz, zz = tensor
            tensor = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
        return Inertia(given.get("mass", 0.0), given.get("com", (0.0, 0.0, 0.0)), tensor)
    except ModelError as error:
        raise ModelError(f"{where}: {error}") from error


