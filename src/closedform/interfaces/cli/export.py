"""`closedform export ROBOT QUANTITY... --to c -o DIR`: source that stands alone, and its tests."""

from __future__ import annotations

import inspect
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from closedform.applications.compile.requests import (
    Gravity,
    Independent,
    Parameters,
    PayloadAt,
    RuntimeInput,
)
from closedform.applications.export.options import Option, options_of
from closedform.applications.export.sources import SOURCES
from closedform.applications.export.sources.robots import asked_by_name
from closedform.applications.export.targets import TARGETS
from closedform.errors import ArgumentError
from closedform.interfaces.cli.robot_argument import complete_quantity, complete_robot
from closedform.interfaces.cli.terminal import loaded

EXAMPLES = ("[bold]Examples:[/]  closedform export panda inverse_dynamics mass_matrix --to c -o out"
            "  |  closedform export planar2r inverse_dynamics_jet --to latex --symbols -o out")

InputOption = Annotated[list[str] | None, typer.Option(
    "--input", help="Given at run time: `parameters`, `gravity`, `payload:FRAME`; `independent`: "
                    "y in the place of q, of loops in closed form.")]


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("export", epilog=EXAMPLES)(_with_options(export_command))


def export_command(
    robot: Annotated[str, typer.Argument(
        metavar="ROBOT", help="A model file, or a built-in robot or flexible arm.",
        autocompletion=complete_robot)],
    quantities: Annotated[list[str], typer.Argument(
        metavar="QUANTITY...", help="Names of the catalogue; see `closedform quantities`.",
        autocompletion=complete_quantity)],
    to: Annotated[str, typer.Option("--to", help=f"One of {', '.join(TARGETS)}.",
                                    autocompletion=lambda: list(TARGETS))],
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder to write to.")],
    runtime: InputOption = None,
    frame: Annotated[str | None, typer.Option(help="The frame of frame quantities.")] = None,
    reference: Annotated[str | None, typer.Option(
        help="local, world or local_world_aligned, for frame quantities.")] = None,
    floating: Annotated[bool, typer.Option(
        "--floating", help="Put the root link on a free joint.")] = False,
    **options: Any,
) -> None:
    """Write quantities as source that stands alone, with test vectors and their runner."""
    from closedform.applications import flexible
    from closedform.applications.export.export import export
    given = {**options, "inputs": tuple(_input(x) for x in runtime or ())}
    if is_flexible(robot):
        written = export(flexible.load(robot), quantities, to, output, **given)
    else:
        asked = [asked_by_name(x, frame, reference) for x in quantities]
        written = export(loaded(robot, floating), asked, to, output, **given)
    for path in written:
        typer.echo(f"wrote {path}")
    typer.echo(f"check: cd {output} && {TARGETS[to].check}")


def _with_options(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the options of all sources and targets that words can give."""
    found: dict[str, tuple[Option, list[str]]] = {}
    for record, noun in (*((x, x.of.noun) for x in SOURCES.values()),
                         *((x, x.name) for x in TARGETS.values())):
        for name, option in options_of(record).items():
            found.setdefault(name, (option, []))[1].append(noun)
    own = inspect.signature(command, eval_str=True)
    fixed = [x for x in own.parameters.values() if x.kind is not x.VAR_KEYWORD]
    added = [_parameter(name, option, nouns) for name, (option, nouns) in found.items()
             if option.words is not None]
    command.__signature__ = own.replace(  # type: ignore[attr-defined]
        parameters=[*fixed, *added])
    return command


def _parameter(name: str, option: Option, nouns: list[str]) -> inspect.Parameter:
    flag = f"--{name}/--no-{name}" if option.usual is True else f"--{name}"
    text = f"{option.meaning[0].upper()}{option.meaning[1:]}. For {', '.join(nouns)}."
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=option.usual,
                             annotation=Annotated[option.words, typer.Option(flag, help=text)])


def _input(text: str) -> RuntimeInput:
    kind, _, frame = text.partition(":")
    if text == "parameters":
        return Parameters()
    if text == "gravity":
        return Gravity()
    if text == "independent":
        return Independent()
    if kind == "payload" and frame:
        return PayloadAt(frame)
    raise ArgumentError("--input is `parameters`, `gravity`, `independent` or `payload:FRAME`, "
                        f"not {text!r}")


def is_flexible(source: str) -> bool:
    """Whether the name or file is that of a flexible arm: a table with `links`."""
    from closedform.applications import flexible
    if source in flexible.BUILTIN_ARMS:
        return True
    path = Path(source)
    if path.suffix != ".toml" or not path.is_file():
        return False
    try:
        return "links" in tomllib.loads(path.read_text(encoding="utf8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        return False
