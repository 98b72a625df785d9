"""Robots from tables: Denavit-Hartenberg parameters in both conventions, and screws.

    modified DH   T_j(q) = Rz(γ) Tz(b) Rx(α) Tx(d) Rz(θ) Tz(r)    frame j on the axis of joint j
    standard DH   T_j(q) = Rz(θ) Tz(d) Tx(a) Rx(α)                frame j at the far end of link j
    screws        T_k(q) = exp(S_1 q_1) ⋯ exp(S_k q_k) M_k        S_k = (v; ω) in the world at q = 0

The joint variable is added to θ of a revolute row (σ = 0) and to the length along z of a prismatic
one (σ = 1); a row with σ = 2 is fixed. Entries are numbers or symbols; angles that are multiples of
π/2 give exact 0 and ±1.

Cites: [KhalilKleinfinger1986], columns as in [GautierKhalil1990, Table I]; [MuellerKumar2021, (3)].
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from closedform.arrays import OBJECTS, ArrayLike, cross, exact_or_float, numeric
from closedform.errors import ModelError, suggestion
from closedform.model.inertia import SYMORO_ORDER, Inertia
from closedform.model.joints import KEYWORDS, Fixed, Helical, Joint, Prismatic, Revolute
from closedform.model.pose import checked_placement, inverse
from closedform.model.robot import STANDARD_GRAVITY, Body, Robot

MODIFIED_COLUMNS = ("sigma", "alpha", "d", "theta", "r", "gamma", "b")
STANDARD_COLUMNS = ("sigma", "theta", "d", "a", "alpha")
SCREW_COLUMNS = ("screw", "home")
LIMITS = KEYWORDS[1:]
ROW_KEYS = ("antecedent", "name", "joint_name", "inertia", *LIMITS)
SYMORO_NAMES = ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "mX", "mY", "mZ", "m")

TableRow = Mapping[str, Any] | Sequence[Any]
Inertias = Sequence[Inertia | None] | None
Names = Sequence[str] | None


def from_modified_dh(rows: Sequence[TableRow], *, name: str = "robot",
                     gravity: ArrayLike = STANDARD_GRAVITY, inertias: Inertias = None,
                     names: Names = None, symbolic_inertias: bool = False) -> Robot:
    """The robot of a modified DH table; body j is frame j of the convention, joint axis z.

    A row is a mapping with the keys `sigma, alpha, d, theta, r, gamma, b` (each 0 if absent),
    `antecedent` (number or name of the row it hangs on, 0 for the base; the row above if absent),
    `name`, `joint_name`, `inertia` and the joint keywords; or it is (σ, α, d, θ, r), or
    (α, d, θ, r) of a revolute joint. Bodies without an inertia are massless, or with
    `symbolic_inertias` carry the ten SymPy symbols of `symbolic_inertia`.
    """
    table = [_dh_row(row, j, MODIFIED_COLUMNS) for j, row in _numbered(rows)]
    placed = []
    for j, row in _numbered(table):
        branch = _pose(rotation_about("z", row["gamma"]), (0, 0, row["b"]))
        link = _pose(rotation_about("x", row["alpha"]), (row["d"], 0, 0))
        turn = _pose(rotation_about("z", row["theta"]), (0, 0, row["r"]))
        placed.append((branch @ link @ turn, _dh_joint(row, j, (0, 0, 1), (0, 0, 0))))
    return Robot(name, _bodies(table, placed, inertias, names, symbolic_inertias), gravity)


def from_standard_dh(rows: Sequence[TableRow], *, name: str = "robot",
                     gravity: ArrayLike = STANDARD_GRAVITY, inertias: Inertias = None,
                     names: Names = None, symbolic_inertias: bool = False) -> Robot:
    """The robot of a standard DH table; body j is frame j, at the far end of link j.

    A row is a mapping with the keys `sigma, theta, d, a, alpha` (each 0 if absent) and the others
    of `from_modified_dh`; or it is (σ, θ, d, a, α), or (θ, d, a, α) of a revolute joint. Seen from
    frame j the axis of joint j is (0, sin α, cos α) through (−a, 0, 0).
    """
    table = [_dh_row(row, j, STANDARD_COLUMNS) for j, row in _numbered(rows)]
    placed = []
    for j, row in _numbered(table):
        cos, sin = cos_sin(row["alpha"])
        turn = _pose(rotation_about("z", row["theta"]), (0, 0, row["d"]))
        link = _pose(rotation_about("x", row["alpha"]), (row["a"], 0, 0))
        placed.append((turn @ link, _dh_joint(row, j, (0, sin, cos), (-row["a"], 0, 0))))
    return Robot(name, _bodies(table, placed, inertias, names, symbolic_inertias), gravity)


def from_screws(screws: Sequence[TableRow], homes: Sequence[Any] | None = None, *,
                parents: Sequence[int | str | None] | None = None, name: str = "robot",
                gravity: ArrayLike = STANDARD_GRAVITY, inertias: Inertias = None,
                names: Names = None, symbolic_inertias: bool = False) -> Robot:
    """The robot of a product of exponentials: T_k(q) = exp(S_1 q_1) ⋯ exp(S_k q_k) M_k.

    Screws are (v; ω), **linear part first**, in the world at q = 0: |ω| = 1 and ω·v = 0 for a
    revolute joint, ω·v = pitch (m/rad) for a helical one, ω = 0 and |v| = 1 for a prismatic one.
    `homes` are the poses M_k of the bodies at q = 0, (4, 4) each, the identity if not given;
    `parents` makes a tree: the number of an earlier screw (from 1) or its body's name, 0 or None
    for the world. Instead of six numbers a screw may be a mapping with `screw`, `home` and the
    keys of `from_modified_dh` that are not DH parameters.
    """
    table = [_screw_row(row, k) for k, row in _numbered(screws)]
    for column, given in (("home", homes), ("antecedent", parents)):
        if given is not None:
            _same_length(table, given, {"home": "homes", "antecedent": "parents"}[column])
            table = [{**row, column: x} for row, x in zip(table, given, strict=True)]
    labels = _labels(table, names)
    M = [np.eye(4)]
    placed = []
    for k, row in _numbered(table):
        M.append(checked_placement(row.get("home", np.eye(4)), f"row {k}"))
        p = _antecedent(row, k, labels)
        placed.append((exact_or_float(inverse(M[p]) @ M[k]), _screw_joint(row, M[k], k)))
    return Robot(name, _bodies(table, placed, inertias, names, symbolic_inertias), gravity)


def symbolic_inertia(j: int) -> Inertia:
    """Inertia of the SymPy symbols XXj XYj XZj YYj YZj ZZj mXj mYj mZj mj, put in our order."""
    from sympy import Symbol
    parameters: list[Any] = [None] * 10
    for at, letter in zip(SYMORO_ORDER, SYMORO_NAMES, strict=True):
        parameters[at] = Symbol(f"{letter}{j}")
    return Inertia.from_parameters(parameters)


# ---------------------------------------------------------------------- angles and poses
def cos_sin(angle: Any) -> tuple[Any, Any]:
    """cos and sin, with the integers 0 and ±1 at multiples of π/2 (of floats: within 1e-12)."""
    if numeric(np.asarray(angle)):
        cos, sin = math.cos(angle), math.sin(angle)
        exact = min(abs(cos), abs(sin)) < 1e-12
        return (round(cos), round(sin)) if exact else (cos, sin)
    pair = OBJECTS.cos(angle), OBJECTS.sin(angle)
    return next((exact for exact in ((1, 0), (0, 1), (-1, 0), (0, -1)) if pair == exact), pair)


def rotation_about(axis: str, angle: Any) -> np.ndarray:
    """Rotation matrix about "x", "y" or "z" with the exact entries of `cos_sin`, (3, 3) objects."""
    c, s = cos_sin(angle)
    entries = {"x": [[1, 0, 0], [0, c, -s], [0, s, c]],
               "y": [[c, 0, s], [0, 1, 0], [-s, 0, c]],
               "z": [[c, -s, 0], [s, c, 0], [0, 0, 1]]}
    return np.array(entries[axis], dtype=object)


def _pose(R: np.ndarray, p: Sequence[Any]) -> np.ndarray:
    """A 4x4 pose that keeps integers beside symbols."""
    return np.array([*([*R[i], p[i]] for i in range(3)), [0, 0, 0, 1]], dtype=object)


# ---------------------------------------------------------------------- rows
def _numbered(rows: Any) -> list[tuple[int, Any]]:
    if isinstance(rows, str | Mapping) or not np.iterable(rows):
        raise ModelError(f"a table must be a sequence of rows, not {rows!r}")
    numbered = list(enumerate(rows, start=1))
    if not numbered:
        raise ModelError("a table must have at least one row, got none")
    return numbered


def _same_length(table: Sequence[Any], given: Sequence[Any], what: str) -> None:
    if len(given) != len(table):
        raise ModelError(f"{what}: one for each of {len(table)} rows expected, got {len(given)}")


def unknown(what: str, key: Any, allowed: Sequence[str]) -> str:
    """The message for a name that is not among those allowed, with the nearest one that is."""
    return f"unknown {what} {key!r}; {suggestion(key, allowed)}"


def _checked_keys(row: Mapping[str, Any], j: int, columns: tuple[str, ...]) -> dict[str, Any]:
    for key in row:
        if key not in columns + ROW_KEYS:
            raise ModelError(f"row {j}: {unknown('key', key, columns + ROW_KEYS)}")
    return dict(row)


def _dh_row(given: Any, j: int, columns: tuple[str, ...]) -> dict[str, Any]:
    """A DH row as a mapping with every column filled."""
    if isinstance(given, Mapping):
        row = _checked_keys(given, j, columns)
    else:
        values = [given] if isinstance(given, str) or not np.iterable(given) else list(given)
        if len(values) not in (4, 5):
            raise ModelError(f"row {j}: ({', '.join(columns[:5])}), the same without sigma, "
                             f"or a mapping expected, not {given!r}")
        row = dict(zip(columns[5 - len(values):5], values, strict=True))
    for column in columns:
        row[column] = _number(row.get(column, 0), j, column)
    if row["sigma"] not in (0, 1, 2):
        raise ModelError(f"row {j}, sigma: 0 (revolute), 1 (prismatic) or 2 (fixed) expected, "
                         f"not {row['sigma']!r}")
    return row


def _number(x: Any, j: int, column: str) -> Any:
    """x as a finite number or symbol; 0.0 becomes 0, so that it vanishes beside symbols."""
    scalar = not np.iterable(x) and hasattr(x, "__mul__")
    a = np.asarray(x if scalar else None)
    if not scalar or a.dtype.kind in "USbcmM":
        raise ModelError(f"row {j}, {column}: a number or symbol expected, not {x!r}")
    if not numeric(a):
        return x
    try:
        value = float(a)
    except OverflowError:
        value = math.inf
    if not math.isfinite(value):
        raise ModelError(f"row {j}, {column}: a finite number expected, not {x!r}")
    return int(a) if value == 0 or isinstance(x, int) else value


@contextmanager
def _in_row(j: int) -> Iterator[None]:
    """Errors that come from inside carry the row's number."""
    try:
        yield
    except ModelError as error:
        raise ModelError(f"row {j}: {error}") from error


def _dh_joint(row: Mapping[str, Any], j: int, axis: Any, point: Any) -> Joint:
    keywords = _keywords(row, j)
    with _in_row(j):
        if row["sigma"] == 0:
            return Revolute(axis, point, **keywords)
        return Prismatic(axis, **keywords) if row["sigma"] == 1 else Fixed(**keywords)


def _keywords(row: Mapping[str, Any], j: int) -> dict[str, Any]:
    """The joint's keywords; a joint without a name is called by its body's, or `joint` and j."""
    label = row.get("joint_name") or (None if row.get("name") else f"joint{j}")
    return {"name": label, **{k: row[k] for k in LIMITS if row.get(k) is not None}}


# ---------------------------------------------------------------------- screws
def _screw_row(given: Any, k: int) -> dict[str, Any]:
    row = _checked_keys(given, k, SCREW_COLUMNS) if isinstance(given, Mapping) else {"screw": given}
    screw = row.get("screw", ())
    values = [] if isinstance(screw, str) or not np.iterable(screw) else list(screw)
    if len(values) != 6:
        raise ModelError(f"row {k}, screw: six numbers (v; ω) expected, not {screw!r}")
    row["screw"] = exact_or_float(np.array([_number(x, k, "screw") for x in values]))
    return row


def _screw_joint(row: Mapping[str, Any], M_k: np.ndarray, k: int) -> Joint:
    """The joint of a world screw S in the frame of its body, M its pose at q = 0: Ad(M)⁻¹ S."""
    v, w = row["screw"][:3], row["screw"][3:]
    M_k = M_k if numeric(row["screw"]) else _whole(M_k)
    R, p = M_k[:3, :3], M_k[:3, 3]
    turns = not all(_vanishes(x) for x in w)
    part, square = ("ω", np.dot(w, w)) if turns else ("v", np.dot(v, v))
    if numeric(square) and not abs(float(square) - 1) < 1e-9:
        raise ModelError(f"row {k}, screw: |{part}| = 1 expected, got {math.sqrt(square):.9g}")
    keywords = _keywords(row, k)
    with _in_row(k):
        if not turns:
            return Prismatic(exact_or_float(R.T @ v), **keywords)
        axis, pitch = R.T @ w, np.dot(w, v)
        point = exact_or_float(cross(axis, R.T @ (v + cross(w, p))))  # nearest to the origin
        if _vanishes(pitch):
            return Revolute(axis, point, **keywords)
        return Helical(axis, pitch, point, **keywords)


def _whole(A: np.ndarray) -> np.ndarray:
    """A with integers for whole floats, so that products with symbols stay exact."""
    entries = [int(x) if isinstance(x, float) and x.is_integer() else x for x in A.ravel().tolist()]
    return np.array(entries, dtype=object).reshape(A.shape)


def _vanishes(x: Any) -> bool:
    if numeric(np.asarray(x)):
        return bool(abs(x) < 1e-12)
    return bool(x == 0) or bool(getattr(x, "equals", bool)(0))


# ---------------------------------------------------------------------- bodies
def _bodies(table: Sequence[Mapping[str, Any]], placed: Sequence[tuple[np.ndarray, Joint]],
            inertias: Inertias, names: Names, symbolic: bool) -> list[Body]:
    labels = _labels(table, names)
    given = [None] * len(table) if inertias is None else inertias
    _same_length(table, given, "inertias")
    bodies = []
    for j, row in _numbered(table):
        if row.get("inertia") is not None and given[j - 1] is not None:
            raise ModelError(f"row {j}, inertia: given in the row and in `inertias`")
        inertia = row.get("inertia", given[j - 1])
        if inertia is None:
            inertia = symbolic_inertia(j) if symbolic else Inertia()
        p = _antecedent(row, j, labels)
        placement, joint = placed[j - 1]
        parent = labels[p - 1] if p else None
        with _in_row(j):
            bodies.append(Body(labels[j - 1], parent, joint, placement, inertia))
    return bodies


def _labels(table: Sequence[Mapping[str, Any]], names: Names) -> list[str]:
    if names is not None:
        _same_length(table, names, "names")
    other = [f"link{j}" for j, _ in _numbered(table)] if names is None else list(names)
    return [row.get("name") or label for row, label in zip(table, other, strict=True)]


def _antecedent(row: Mapping[str, Any], j: int, labels: Sequence[str]) -> int:
    """The number of the row that row j hangs on, 0 for the base."""
    given = row.get("antecedent", j - 1)
    if isinstance(given, str) and given in labels[:j - 1]:
        return labels.index(given) + 1
    given = 0 if given is None else given
    if isinstance(given, bool) or not isinstance(given, int | np.integer) or not 0 <= given < j:
        raise ModelError(f"row {j}, antecedent: an earlier row's number (0 for the base) or name "
                         f"expected, not {given!r}")
    return int(given)
