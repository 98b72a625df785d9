"""Flexible arms in TOML files, and their motions as tables.

    name = "two-link"
    gravity = [0, -9.81]                   # m/s², in the plane; none by default
    reference = [0, 1.57]                  # rad, where tip loads of the mode shapes are taken

    [[links]]
    length = 0.5                           # m; then density, stiffness, hub_mass, hub_inertia,
    density = 0.2                          # modes, viscous, coulomb
    stiffness = 1.0

    [payload]
    mass = 0.1                             # kg
    inertia = 0.0005                       # kg m²

    [simulation]                           # what the command line starts from
    q0 = [0, 0, 0, 0, 0.1, 0.002]          # also v0, duration, step, damping
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from closedform.applications.motion.simulation import Simulation
from closedform.applications.motion.tables import write_columns
from closedform.errors import ArgumentError, FormatError, ModelError
from closedform.maths.flexible.arm import FlexibleArm
from closedform.model.elasticity.beam import FlexibleLink, Payload
from closedform.model.formats.dh import unknown
from closedform.model.formats.toml import parse_toml
from closedform.model.formats.xml import read_bytes

BUILTIN_ARMS = ("deluca_siciliano",)
"""Names of the built-in arms."""

TOP = ("name", "about", "gravity", "reference", "links", "payload", "simulation")
LINK = ("length", "density", "stiffness", "hub_mass", "hub_inertia", "modes", "viscous", "coulomb")
START = ("q0", "v0", "duration", "step", "damping")


class ArmFile(NamedTuple):
    """What a file says: the arm, one line about it, and where a simulation starts."""

    arm: FlexibleArm
    about: str
    start: Mapping[str, Any]


def load(source: str | Path) -> FlexibleArm:
    """An arm from a TOML file, or a built-in one by name."""
    return read_arm(source).arm


def read_arm(source: str | Path) -> ArmFile:
    """All that a TOML file, or a built-in of that name, says."""
    if not isinstance(source, str | Path):
        raise ArgumentError("source must be a path or the name of a built-in arm, not "
                            f"{type(source).__name__}")
    if str(source) in BUILTIN_ARMS:
        return _builtin(str(source))
    path = Path(source)
    if not path.exists() and not path.suffix:
        raise FormatError(f"{unknown('built-in arm', str(source), BUILTIN_ARMS)}; "
                          "nor is it a file")
    return _arm(read_bytes(path), str(path))


@cache
def _builtin(name: str) -> ArmFile:
    return _arm((files("closedform.model.zoo") / "arms" / f"{name}.toml").read_bytes(), name)


def _arm(content: bytes, where: str) -> ArmFile:
    data = parse_toml(content, where, "TOML")
    _known(data, TOP, where)
    rows = data.get("links")
    if not isinstance(rows, list) or not rows or not all(isinstance(x, dict) for x in rows):
        raise FormatError(f"{where}: an arm has one or more tables [[links]]")
    try:
        links = [FlexibleLink(**_known(row, LINK, f"{where}, link {i + 1}", LINK[:3]))
                 for i, row in enumerate(rows)]
        payload = Payload(**_known(data.get("payload", {}), ("mass", "inertia"),
                                   f"{where}, payload"))
        arm = FlexibleArm(tuple(links), payload, data.get("gravity", (0.0, 0.0)),
                          data.get("reference"), str(data.get("name", Path(where).stem)))
    except FormatError:
        raise
    except ModelError as error:
        raise FormatError(f"{where}: {error}") from error
    start = _known(data.get("simulation", {}), START, f"{where}, simulation")
    return ArmFile(arm, str(data.get("about", "")), start)


def _known(table: Any, allowed: tuple[str, ...], where: str,
           needed: tuple[str, ...] = ()) -> dict[str, Any]:
    """A table whose keys are known and complete."""
    if not isinstance(table, dict):
        raise FormatError(f"{where}: {table!r} is no table")
    for key in table:
        if key not in allowed:
            raise FormatError(f"{where}: {unknown('key', key, allowed)}")
    missing = [key for key in needed if key not in table]
    if missing:
        raise FormatError(f"{where}: {', '.join(missing)} is missing")
    return dict(table)


# ---------------------------------------------------------------------- motions as tables
def motion_table(run: Simulation) -> dict[str, np.ndarray]:
    """The columns of a motion: time, coordinates, rates, torques, tip and energies."""
    names, joints = run.arm.coordinate_names, range(run.arm.n)
    ascii_names = [name.replace("θ", "theta").replace("δ", "delta") for name in names]
    return {
        "t": run.times,
        **{name: run.q[:, k] for k, name in enumerate(ascii_names)},
        **{f"v_{name}": run.v[:, k] for k, name in enumerate(ascii_names)},
        **{f"tau{k + 1}": run.tau[:, k] for k in joints},
        "tip_x": run.tip[:, 0], "tip_y": run.tip[:, 1],
        "kinetic": run.kinetic, "potential": run.potential, "work": run.work,
        "momentum": run.momentum,
    }


def write_table(run: Simulation, path: str | Path) -> None:
    """The motion as CSV, or as Parquet where the name ends so."""
    write_columns(motion_table(run), path)
