"""An identified robot in files: TOML with all that was found, and where it came from.

The robot itself is a table of bodies with their inertias, rotors and friction, which `cf.load`
reads. What no `cf.Robot` holds stands beside it and is not read: [identification] says where the
numbers came from, each [[joint]] all that was found of it (offsets, gains, other friction), each
[[unknown]] an interval.
"""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import numpy as np

from closedform.applications.identification.estimate.found import Fit
from closedform.applications.identification.output.robot_table import (
    robot_table,
    toml_table,
    toml_value,
)
from closedform.applications.identification.result import below_zero, identified_robot
from closedform.applications.identification.verdict import Verdict
from closedform.model.inertia import PARAMETER_NAMES
from closedform.version import __version__


def toml_text(fit: Fit, verdict: Verdict | None = None) -> str:
    """The robot, and all that was found: provenance, rotors, friction, gains, intervals."""
    names, x = fit.model.standard_names, fit.standard
    impossible = below_zero(fit.model, x)
    robot = identified_robot(fit.model, np.where(np.isin(names, impossible), 0.0, x))
    top, tables = robot_table(robot)
    about = _provenance(fit, verdict)
    if impossible:
        about["zero_in_rows"] = impossible
    lines = [f"# {robot.name}, identified by closedform {__version__}", *top, "",
             "[identification]"]
    lines += [f"{key} = {toml_value(value)}" for key, value in about.items()]
    lines += tables
    for joint, numbers in _joints(fit).items():
        lines += toml_table("joint", {"name": joint, **numbers})
    for row in fit.table:
        motion = {"motion": fit.advice[row.name]} if row.name in fit.advice else {}
        lines += toml_table("unknown", {
            "name": row.name, "value": row.value, "sd": row.sd, "interval": [row.low, row.high],
            "prior": row.prior, "identified": row.identified, "essential": row.essential, **motion})
    return "\n".join(lines) + "\n"


def _provenance(fit: Fit, verdict: Verdict | None) -> dict[str, Any]:
    info, payload = fit.info, fit.payload
    about: dict[str, Any] = {
        "robot": fit.model.robot.name, "date": datetime.date.today(),
        "method": fit.method, "logs": info.logs, "signals": info.notes,
        "prior_weight": fit.weight, "total_error_percent": fit.total}
    if payload is not None:
        about["payload"] = {"frame": fit.model.payload, "parameters": payload.parameters}
    if verdict is not None:
        about |= {"holds": verdict.holds, "reasons": verdict.reasons}
    return about


def _joints(fit: Fit) -> dict[str, dict[str, float]]:
    """What was found of every joint."""
    found: dict[str, dict[str, float]] = {}
    for name, x in zip(fit.model.standard_names, fit.standard, strict=True):
        joint, _, kind = name.rpartition(".")
        if kind not in PARAMETER_NAMES:
            found.setdefault(joint, {})[kind] = float(x)
    for joint, gain in fit.gains.items():
        found.setdefault(joint, {})["gain"] = gain
    return found


def write_toml(fit: Fit, path: str | Path, verdict: Verdict | None = None) -> Path:
    """`toml_text` in a file."""
    target = Path(path)
    target.write_text(toml_text(fit, verdict), encoding="utf8")
    return target
