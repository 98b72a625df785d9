"""`read`: a file or arrays as the log of a robot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from closedform.applications.identification.logs.columns import (
    KINDS,
    Match,
    Matching,
    driven,
    width,
)
from closedform.applications.identification.logs.csv import open_csv
from closedform.applications.identification.logs.log import Log, LogColumn, Samples
from closedform.applications.identification.logs.names import meaning
from closedform.applications.identification.logs.npz import open_npz
from closedform.applications.identification.logs.parquet import open_parquet
from closedform.applications.identification.logs.table import Arrays, LogTable
from closedform.applications.identification.logs.topics import open_topics
from closedform.applications.identification.logs.units import ANGLES, factors, unit_of_time
from closedform.errors import ArgumentError, FormatError, suggestion
from closedform.model.loops.affine import without_loops
from closedform.model.robot import Robot

TEXTS = (".csv", ".txt", ".tsv", ".dat")
FORMATS = (*TEXTS, ".parquet", ".npz", ".npy", ".db3", ".mcap")
ALONE = "tau is of the joints alone: nothing else acts on the floating base, its wrench is zero"
PEEK = 4096
"""Rows at the beginning that tell the unit of time."""


def read(source: str | Path | Mapping[str, Any] | Samples | np.ndarray, robot: Robot,
         columns: Mapping[str, Any] | None = None, topic: str | Sequence[str] | None = None,
         units: Mapping[str, str] | str | None = None) -> Log:
    """The log of a robot: a .csv, .parquet, .npz, .db3 or .mcap file, a bag's folder, or arrays.

    `columns` says which columns are t, q, v, a, tau, current, motor_position and motor_torque: by
    name, number or slice; `{"joints": {"panda_joint1": "fer_joint1"}}` says what the log calls the
    joints. What is not said is matched by the columns' names; an array of two dimensions has none.
    `topic` is the one of a bag to read; columns of others are called `/topic/field`, and taken at
    its times.
    `units` by kind (`{"q": "deg", "t": "ms"}`; "deg" alone: all angles); the default is what the
    names or the file state, else SI, times by their size. Nothing but the beginning is read yet.
    Of a robot with parallelograms the log has the independent joints.
    """
    if not isinstance(robot, Robot):
        raise ArgumentError(f"robot must be a cf.Robot, such as cf.load('panda'), not {robot!r}")
    robot = without_loops(robot, "read")
    if columns is not None and not isinstance(columns, Mapping):
        raise ArgumentError("columns must be a mapping from kinds to columns, such as "
                            f"{{'q': slice(1, 8)}}, not {columns!r}")
    table, where = _table(source, topic, columns or {})
    found, notes = Matching(table, robot, columns or {}, where).matches()
    told = _told_units(units, found)
    placed, changed = _placed(found, told, robot, where)
    log = Log(Path(where).stem, robot, where, (*table.notes, *notes, *changed), table, placed)
    return log if told.get("t") or found["t"].unit else _with_time(log)


def _table(source: object, topic: str | Sequence[str] | None,
           columns: Mapping[str, Any]) -> tuple[LogTable, str]:
    if isinstance(source, Samples):
        kept = {kind: x for kind, x in source._asdict().items() if x is not None}
        return Arrays(kept), "the log"
    if hasattr(source, "keys") and hasattr(source, "__getitem__"):
        return _arrays(source), "the log"
    if isinstance(source, np.ndarray):
        named = source.dtype.names           # of a structured array
        return (Arrays({"data": source}) if named is None
                else _arrays({name: source[name] for name in named})), "the log"
    if not isinstance(source, str | Path):
        raise ArgumentError("a log must be a file, arrays by name or Samples, not "
                            f"{type(source).__name__}")
    path = Path(source)
    if not path.exists():
        raise FormatError(f"{path}: no such file")
    if path.is_dir() or path.suffix in (".db3", ".mcap"):
        return open_topics(path, topic, columns), str(path)
    if topic is not None:
        raise ArgumentError(f"topic: {path} is no bag and has no topics")
    if path.suffix == ".parquet":
        return open_parquet(path), str(path)
    if path.suffix in (".npz", ".npy"):
        return open_npz(path), str(path)
    if path.suffix.lower() in TEXTS:
        return open_csv(path), str(path)
    if path.suffix.lower() in (".xlsx", ".xls", ".ods"):
        raise FormatError(f"{path}: save the sheet as .csv first")
    if path.suffix in (".zstd", ".zst", ".gz", ".zip"):
        raise FormatError(f"{path}: unpack the file first; a log must end in {', '.join(FORMATS)}")
    raise FormatError(f"{path}: a log must end in {', '.join(FORMATS)}, or be the folder of a bag")


def _arrays(source: Any) -> Arrays:
    """The arrays of a mapping; what is no column and has no column's name is left aside."""
    kept, aside = {}, []
    for name in map(str, source.keys()):
        columnar = meaning(name, ()) is not None
        try:
            x = source[name]
            if columnar or _is_column(x):
                kept[name] = x
                continue
        except ValueError as error:             # a pickle in an open .npz file
            if columnar:
                raise FormatError(f"the log: {name}: {error}") from None
        aside.append(name)
    note = f"what is no column of numbers is left aside: {', '.join(aside)}"
    return Arrays(kept, notes=(note,) if aside else ())


def _is_column(x: object) -> bool:
    """Whether it has a number for each row."""
    try:
        return np.asarray(x).astype(float).ndim > 0
    except (TypeError, ValueError):
        return False


def _told_units(units: object, found: Mapping[str, Match]) -> dict[str, str]:
    if units is None:
        return {}
    if isinstance(units, str):
        if units.lower() not in ANGLES:
            raise ArgumentError(f"units must be by kind, or a unit of angles: "
                                f"{suggestion(units, ANGLES)}")
        return {kind: units for kind in ("q", "v", "a", "motor_position") if kind in found}
    if not isinstance(units, Mapping):
        raise ArgumentError(f"units must be a mapping such as {{'q': 'deg'}}, not {units!r}")
    for kind in units:
        if kind not in KINDS:
            raise ArgumentError(f"units: no kind {kind!r}; {suggestion(kind, KINDS)}")
    return {str(kind): str(unit) for kind, unit in units.items()}


def _placed(found: Mapping[str, Match], told: Mapping[str, str], robot: Robot, where: str,
            ) -> tuple[dict[str, LogColumn], list[str]]:
    placed, notes = {}, []
    for kind, match in found.items():
        unit = told.get(kind) or match.unit
        try:
            factor = np.ones(width(robot, kind)) if unit is None else factors(robot, kind, unit)
        except ArgumentError as error:
            raise ArgumentError(f"{where}: {error}") from None
        if np.any(factor != 1):
            notes.append(f"{kind}: converted from {unit}")
        into = None if len(match.columns) == len(factor) else driven(robot)
        if into is not None:
            factor = factor[list(into)]
            if kind == "tau":
                notes.append(ALONE)
        placed[kind] = LogColumn(match.columns, factor, into)
    return placed, notes


def _with_time(log: Log) -> Log:
    """The log with times in seconds, whose unit nobody stated."""
    head = next(log.pieces(PEEK), None) if "q" in log.kinds else None
    if head is None or len(head.t) < 2:
        return log
    try:
        unit = unit_of_time(head.t, _period(head, log.robot))
    except ArgumentError as error:
        raise ArgumentError(f"{log.source}: {error}") from None
    if unit == "s":
        return log
    where = {**log.where, "t": LogColumn(log.where["t"].columns, factors(log.robot, "t", unit))}
    note = f"t: taken for {unit}, by the size of its steps"
    return Log(log.name, log.robot, log.source, (*log.notes, note), log.table, where)


def _period(head: Samples, robot: Robot) -> float | None:
    """Seconds between rows as q and v tell them, Δq·v/v·v, where the robot moves."""
    if head.v is None or not (np.isfinite(head.q).all() and np.isfinite(head.v).all()):
        return None
    dq, v = robot.difference(head.q[:-1], head.q[1:]), head.v[1:]
    speed = np.sum(v * v, axis=1)
    fast = (speed > 0.01 * speed.max()) & np.any(dq != 0, axis=1)
    if fast.sum() < 10:
        return None
    period = float(np.median(np.sum(dq * v, axis=1)[fast] / speed[fast]))
    return period if period > 0 else None
