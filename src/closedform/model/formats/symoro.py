"""Robots from SYMORO's .par files: modified DH tables with loops.

    Ant = {0, 1, 1}   Sigma = {0, 0, 0}   Alpha = {0, -Pi/2, 0}   d, theta, r, gamma, b, Mu, …

Of NL links, NJ joints and NF frames the joints after the first NL are cut: joint k with frame k on
one of its links, its axis along z, and frame k + NJ − NL on the other one; they meet where the loop
is closed. Joints with Mu = 1 have motors and are the independent ones. Names in the place of a
joint's variable are its variable; elsewhere in the geometry they are SymPy symbols.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from closedform.arrays import numeric
from closedform.errors import FormatError, ModelError
from closedform.model.formats.dh import SYMORO_NAMES, from_modified_dh
from closedform.model.formats.loops import Start, closed_robot
from closedform.model.formats.xml import read_bytes
from closedform.model.inertia import SYMORO_ORDER, Inertia
from closedform.model.joints import Fixed, Joint, Prismatic, Revolute
from closedform.model.loops.records import Loop
from closedform.model.robot import STANDARD_GRAVITY, Robot

GEOMETRY = ("sigma", "alpha", "d", "theta", "r", "gamma", "b")
DYNAMIC = ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M")
LISTS = re.compile(r"(\w+)\s*=\s*(?:\{([^}]*)\}|'([^'\n]*)'|([^\s{;]+))")
OPERATIONS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
              ast.Div: operator.truediv, ast.Pow: operator.pow}
LONGEST = 200


def read_symoro(path: Path, loops: str | None = None) -> Robot:
    """The robot of a .par file, its loops closed; with `loops="open"` its tree."""
    text = read_bytes(path).decode("utf-8", errors="replace")
    given = {m[1].lower(): m for m in LISTS.finditer(re.sub(r"\(\*.*?\*\)", "", text, flags=re.S))}
    try:
        return _robot({k: _entries(m) for k, m in given.items()}, path, loops)
    except ModelError as error:
        raise FormatError(f"{path}: {error}") from error


def _entries(match: re.Match[str]) -> list[str]:
    inside = match[2] if match[2] is not None else match[3] if match[3] is not None else match[4]
    return [x.strip() for x in inside.split(",")]


def _robot(data: Mapping[str, list[str]], path: Path, loops: str | None) -> Robot:
    if "ant" not in data:
        raise ModelError("no list Ant = {…} of antecedents; a .par file of SYMORO has one")
    frames = len(data["ant"])
    links = _count(data, "nl", frames)
    joints = _count(data, "nj", links)
    if not 0 < links <= joints <= frames or frames - joints != joints - links:
        raise ModelError(f"NL = {links} links, NJ = {joints} joints and NF = {frames} frames do "
                         "not fit: each cut joint has one frame more, NF = 2 NJ − NL")
    rows = [_row(data, j, frames) for j in range(frames)]
    tree = from_modified_dh([_with_inertia(data, rows[j], j) for j in range(links)],
                            name=_name(data, path), gravity=_gravity(data))
    tree = Robot(tree.name, tree.bodies, tree.gravity, source=str(path))
    if joints == links or loops is not None:
        return tree
    cuts = [_cut(rows, j, j + joints - links) for j in range(links, joints)]
    if "mu" not in data:
        return closed_robot(tree, cuts)
    independent = [f"link{j + 1}" for j in range(links) if rows[j]["sigma"] != 2
                   and _value(_at(data, "mu", j, frames), "Mu") == 1]
    return closed_robot(tree, cuts, Start(independent=tuple(independent)))


def _cut(rows: list[dict[str, Any]], j: int, k: int) -> Loop:
    """The cut joint of row j, whose other frame is row k's."""
    kinds: dict[int, Joint] = {0: Revolute((0, 0, 1)), 1: Prismatic((0, 0, 1)), 2: Fixed()}
    sides = []
    for number, row in ((j + 1, rows[j]), (k + 1, rows[k])):
        if not 0 <= row["antecedent"] <= len(rows) - 2 * (k - j):     # NF = NL + 2 loops
            raise ModelError(f"Ant of row {number}: the number of a link expected, not "
                             f"{row['antecedent']}")
        alone = from_modified_dh([{**row, "sigma": 2, "antecedent": 0}]).bodies[0].placement
        if not numeric(alone):
            raise ModelError(f"the cut joint {j + 1}: loops need numbers for lengths and angles")
        sides.append((f"link{row['antecedent']}" if row["antecedent"] else None,
                      np.asarray(alone, dtype=float)))
    return Loop(f"joint{j + 1}", sides[0], sides[1], kinds[rows[j]["sigma"]])


def _row(data: Mapping[str, list[str]], j: int, frames: int) -> dict[str, Any]:
    row: dict[str, Any] = {"antecedent": int(_value(data["ant"][j], "Ant"))}
    sigma = int(_value(_at(data, "sigma", j, frames), "Sigma"))
    if sigma not in (0, 1, 2):
        raise ModelError(f"Sigma of row {j + 1} must be 0, 1 or 2, not {sigma}")
    for key in GEOMETRY[1:]:
        moves = key == ("theta", "r", "")[sigma]
        row[key] = _value(_at(data, key, j, frames), key, variable=moves)
    return {**row, "sigma": sigma, "name": f"link{j + 1}"}


def _with_inertia(data: Mapping[str, list[str]], row: dict[str, Any], j: int) -> dict[str, Any]:
    given = {name: data[name.lower()] for name in DYNAMIC if name.lower() in data}
    values = [_value(given[n][j], n) if n in given and j < len(given[n]) else 0.0 for n in DYNAMIC]
    parameters: list[Any] = [0.0] * 10
    for at, x in zip(SYMORO_ORDER, values, strict=True):
        parameters[at] = x
    assert len(DYNAMIC) == len(SYMORO_NAMES)
    more = {key: x for key, name in (("rotor_inertia", "ia"), ("viscous", "fv"), ("coulomb", "fs"))
            if j < len(data.get(name, ())) and numeric(np.asarray(x := _value(data[name][j], name)))
            and x}
    return {**row, "inertia": Inertia.from_parameters(parameters), **more}


def _at(data: Mapping[str, list[str]], key: str, j: int, frames: int) -> str:
    column = data.get(key, ["0"] * frames)
    if len(column) != frames and (key != "mu" or j >= len(column)):
        raise ModelError(f"{key}: {frames} entries expected, as Ant has, not {len(column)}")
    return column[j]


def _count(data: Mapping[str, list[str]], key: str, missing: int) -> int:
    return int(_value(data[key][0], key.upper())) if key in data else missing


def _name(data: Mapping[str, list[str]], path: Path) -> str:
    return (data.get("robotname") or [""])[0] or path.stem


def _gravity(data: Mapping[str, list[str]]) -> Any:
    given = [_value(x, "G") for x in data.get("g", ())]
    return given if len(given) == 3 and numeric(np.asarray(given)) and any(given) \
        else STANDARD_GRAVITY


def _value(text: str, where: str, variable: bool = False) -> Any:
    """A number or an expression; of a joint's variable the constant that is added to it."""
    if len(text) > LONGEST:
        raise ModelError(f"{where}: an expression of more than {LONGEST} characters")
    try:
        return _evaluated(ast.parse(text.strip() or "0", mode="eval").body, variable)
    except (SyntaxError, TypeError, ZeroDivisionError, ValueError, OverflowError) as error:
        raise ModelError(f"{where}: a number or an expression expected, not {text!r}") from error


def _evaluated(node: ast.expr, variable: bool) -> Any:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        x = _evaluated(node.operand, variable)
        return -x if isinstance(node.op, ast.USub) else x
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATIONS:
        return OPERATIONS[type(node.op)](_evaluated(node.left, variable),
                                         _evaluated(node.right, variable))
    if isinstance(node, ast.Name):
        if node.id.lower() == "pi":
            return math.pi
        if variable:
            return 0.0
        import sympy
        return sympy.Symbol(node.id)
    raise ValueError("no expression")
