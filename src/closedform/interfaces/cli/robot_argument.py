"""The argument ROBOT of every command, and what a shell completes it and others with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from closedform import CATALOGUES
from closedform.model.zoo.zoo import BUILTIN

SOURCES = "A model file (URDF, xacro, SDF, MJCF or a TOML table), or a built-in robot's name."
MODEL_FILES = (".urdf", ".xacro", ".sdf", ".xml", ".mjcf", ".toml")


def complete_robot(incomplete: str) -> list[str]:
    """Built-in robots, folders and model files that begin like this."""
    start = Path(incomplete)
    folder, name = (start, "") if incomplete.endswith("/") else (start.parent, start.name)
    try:
        beside = sorted(path for path in folder.iterdir() if path.name.startswith(name))
    except OSError:
        beside = []
    found = [f"{path}/" for path in beside if path.is_dir() and not path.name.startswith(".")]
    found += [str(path) for path in beside if path.suffix in MODEL_FILES]
    return [robot for robot in BUILTIN if robot.startswith(incomplete)] + found


def complete_quantity(incomplete: str) -> list[str]:
    """Names of the catalogues that begin like this."""
    names = dict.fromkeys(row.name for rows in CATALOGUES.values() for row in rows)
    return [name for name in names if name.startswith(incomplete)]


RobotArgument = Annotated[str, typer.Argument(
    metavar="ROBOT", help=SOURCES, autocompletion=complete_robot)]
