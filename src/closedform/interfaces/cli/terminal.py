"""What commands share: lines of warnings, consoles, tables, robots, names of pictures."""

from __future__ import annotations

import json
import math
import os
import sys
import warnings
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from closedform.errors import ArgumentError
from closedform.interfaces.cli.robot_argument import loading
from closedform.model.load import load
from closedform.model.robot import Robot

PICTURES = (".png", ".svg", ".pdf")
PIPE_WIDTH = 160  # columns when nobody's terminal says how many there are

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
FloatingOption = Annotated[bool, typer.Option(
    "--floating", help="Put the root link on a free joint instead of the world.")]


def complain(level: str, message: object) -> None:
    """One line on standard error."""
    print(f"{level}: {' '.join(str(message).split())}", file=sys.stderr)


def loaded(source: str, floating: bool = False, srdf: Path | None = None) -> Robot:
    """The robot, with every warning of the loader as one line on standard error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        robot = load(source, floating=floating, srdf=srdf, **loading())
    for warning in caught:
        complain("warning", warning.message)
    return robot


def console() -> Console:
    """Standard output, as wide as the terminal, or wide where there is none."""
    sized = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console(highlight=False, width=None if sized else PIPE_WIDTH)


def table(*titles: str) -> Table:
    """A table with these columns."""
    made = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for title in titles:
        made.add_column(escape(title), overflow="fold")
    return made


def json_text(value: object) -> str:
    """JSON, with null for what it has no number for: infinities and what is no number."""
    def told(x: object) -> object:
        if isinstance(x, dict):
            return {key: told(y) for key, y in x.items()}
        if isinstance(x, list | tuple):
            return [told(y) for y in x]
        return None if isinstance(x, float) and not math.isfinite(x) else x
    return json.dumps(told(value), indent=2)


def refuse_other_pictures(picture: Path | None, option: str) -> None:
    """An error, before anything is computed, if matplotlib could not write this file."""
    if picture is not None and picture.suffix.lower() not in PICTURES:
        raise ArgumentError(f"{option}: a file ending in {', '.join(PICTURES)} expected, "
                            f"not {picture}")
    if picture is not None:
        refuse_unwritable(picture, option)


def refuse_unwritable(file: Path, option: str) -> None:
    """An error, before anything is computed, if there is no folder for this file."""
    if file.is_dir():
        raise ArgumentError(f"{option}: {file} is a folder; a file is to be written")
    if not file.parent.is_dir():
        raise ArgumentError(f"{option}: there is no folder {file.parent} to write {file.name} into")
    if not os.access(file.parent, os.W_OK) and not file.exists():
        raise ArgumentError(f"{option}: nothing may be written into the folder {file.parent}")
