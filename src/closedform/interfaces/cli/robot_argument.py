"""The argument ROBOT of every command, how it is loaded, and what a shell completes it with.

`--loops` and `--mapping` belong to every command that takes a robot: `reads_robots` adds them to
all, and `loading` is what they say, for the one command that runs.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from contextvars import ContextVar
from pathlib import Path
from typing import Annotated, Any

import typer

from closedform import CATALOGUES, LOOP_CATALOGUE
from closedform.errors import ArgumentError
from closedform.model.formats.mjcf.equalities import OPEN
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
    names = dict.fromkeys(row.name for rows in (*CATALOGUES.values(), LOOP_CATALOGUE)
                          for row in rows)
    return [name for name in names if name.startswith(incomplete)]


RobotArgument = Annotated[str, typer.Argument(
    metavar="ROBOT", help=SOURCES, autocompletion=complete_robot)]
OPTIONS = {
    "loops": Annotated[str | None, typer.Option(
        "--loops", metavar=OPEN, autocompletion=lambda: [OPEN],
        help=f"With `{OPEN}`, leave out what closes loops.")],
    "mapping": Annotated[list[str] | None, typer.Option(
        "--mapping", metavar="NAME=VALUE", help="An argument of a xacro file; again for others.")],
}
_LOADING: ContextVar[dict[str, Any] | None] = ContextVar("loading", default=None)


def reads_robots(app: typer.Typer) -> None:
    """Add the options of loading to every command that takes a robot."""
    for command in app.registered_commands:
        made = command.callback
        if made is not None and {"robot", "file"} & {*inspect.signature(made).parameters}:
            command.callback = _with_options(made)


def _with_options(command: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(command)
    def run(*, loops: str | None, mapping: list[str] | None, **others: Any) -> None:
        given = {"loops": loops, "mappings": dict(map(_pair, mapping)) if mapping else None}
        before = _LOADING.set(given)
        try:
            command(**others)
        finally:
            _LOADING.reset(before)

    own = inspect.signature(command, eval_str=True)
    added = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
             for name, kind in OPTIONS.items()]
    run.__signature__ = own.replace(  # type: ignore[attr-defined]
        parameters=[*own.parameters.values(), *added])
    run.__annotations__ = {**command.__annotations__, **OPTIONS}
    return run


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise ArgumentError(f"--mapping is NAME=VALUE, not {text!r}")
    return name, value


def loading() -> dict[str, Any]:
    """What `load` is told by the options of the command that runs."""
    return _LOADING.get() or {}
