"""`closedform export ROBOT QUANTITY... --to c -o DIR`: source that stands alone, and its tests."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated

import typer

from closedform.applications.compile.requests import (
    Gravity,
    Parameters,
    PayloadAt,
    RuntimeInput,
)
from closedform.errors import ArgumentError
from closedform.interfaces.cli.robot_argument import complete_quantity, complete_robot
from closedform.model.formats.load import load

EXAMPLES = ("[bold]Examples:[/]  closedform export panda inverse_dynamics mass_matrix --to c -o out"
            "  |  closedform export planar2r inverse_dynamics_jet --to latex --symbols -o out")
TARGETS = ("c", "matlab", "python", "jax", "casadi", "sympy", "latex")
RUNNERS = {"c": "cc *.c -lm && ./a.out", "matlab": "octave test_vectors.m"}

InputOption = Annotated[list[str] | None, typer.Option(
    "--input", help="Given at run time: `parameters`, `gravity` or `payload:FRAME`.")]


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("export", epilog=EXAMPLES)(export_command)


def export_command(
    robot: Annotated[str, typer.Argument(
        metavar="ROBOT", help="A model file, or a built-in robot or flexible arm.",
        autocompletion=complete_robot)],
    quantities: Annotated[list[str], typer.Argument(
        metavar="QUANTITY...", help="Names of the catalogue.",
        autocompletion=complete_quantity)],
    to: Annotated[str, typer.Option("--to", help=f"One of {', '.join(TARGETS)}.",
                                    autocompletion=lambda: list(TARGETS))],
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder to write to.")],
    runtime: InputOption = None,
    frame: Annotated[str | None, typer.Option(help="The frame of frame quantities.")] = None,
    reference: Annotated[str | None, typer.Option(
        help="local, world or local_world_aligned, for frame quantities.")] = None,
    wrenches: Annotated[bool, typer.Option(
        "--wrenches", help="Loads on the bodies are an input.")] = False,
    fused: Annotated[bool, typer.Option(
        "--fused", help="One function for all quantities.")] = False,
    name: Annotated[str | None, typer.Option(help="The name of the fused function.")] = None,
    single: Annotated[bool, typer.Option("--single", help="float instead of double.")] = False,
    batch: Annotated[bool, typer.Option(
        "--batch/--no-batch", help="In C a loop over states too.")] = True,
    order: Annotated[int, typer.Option(min=0, help="The order of jets.")] = 2,
    symbols: Annotated[bool, typer.Option(
        "--symbols", help="Name lengths, masses and gravity (sympy, latex; small arms).")] = False,
    floating: Annotated[bool, typer.Option(
        "--floating", help="Put the root link on a free joint.")] = False,
) -> None:
    """Write quantities as source that stands alone, with test vectors and their runner."""
    from closedform.applications import flexible
    from closedform.applications.export.export import (  # slow: SymPy
        ExportOptions,
        asked_by_name,
        export,
    )
    options = ExportOptions(inputs=[_input(x) for x in runtime or ()], wrenches=wrenches,
                            fused=fused, name=name, single=single, batch=batch, order=order,
                            symbols=symbols)
    if _is_flexible(robot):
        written = export(flexible.load(robot), quantities, to, output, options)
    else:
        asked = [asked_by_name(x, frame, reference) for x in quantities]
        written = export(load(robot, floating), asked, to, output, options)
    for path in written:
        typer.echo(f"wrote {path}")
    typer.echo(f"check: cd {output} && {RUNNERS.get(to, 'python test_vectors.py')}")


def _input(text: str) -> RuntimeInput:
    kind, _, frame = text.partition(":")
    if text == "parameters":
        return Parameters()
    if text == "gravity":
        return Gravity()
    if kind == "payload" and frame:
        return PayloadAt(frame)
    raise ArgumentError(f"--input is `parameters`, `gravity` or `payload:FRAME`, not {text!r}")


def _is_flexible(source: str) -> bool:
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
