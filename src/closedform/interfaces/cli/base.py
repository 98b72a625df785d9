"""`closedform base ROBOT`: the base parameters of a robot as a table, LaTeX, JSON or a picture."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from closedform.applications.base_parameters.picture import picture as picture_of
from closedform.applications.base_parameters.summary import (
    BaseParameters,
    base_parameters,
    by_body,
    entries,
    headline,
    latex,
    on_paper_only,
    summary,
)
from closedform.applications.whole_files import save_picture
from closedform.interfaces.cli.robot_argument import RobotArgument
from closedform.interfaces.cli.terminal import (
    FloatingOption,
    JsonOption,
    console,
    loaded,
    refuse_other_pictures,
)

KeepOption = Annotated[str, typer.Option(
    "--keep", metavar="NAMES", help="Parameters to keep before others, first ones first: "
    "kinds (Iyy or YY) or names (link2.Iyy), with commas between.")]
LatexOption = Annotated[bool, typer.Option("--latex", help="Print LaTeX instead of a table.")]
PictureOption = Annotated[Path | None, typer.Option(
    "--picture", metavar="FILE", help="Write a picture (png, svg, pdf) of which body keeps what.")]
CheckOption = Annotated[bool, typer.Option(
    "--check", help="Take the rank of a sampled regressor beside the exact one.")]
ToleranceOption = Annotated[float, typer.Option(
    "--tolerance", help="How near to 0 or a right angle a number (rad, or of the robot's size) is "
    "taken as that.")]


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command(epilog="[bold]Examples:[/]  closedform base puma560  |  closedform base ur5 "
                       "--picture ur5.png  |  closedform base panda --keep m,YY --json")(base)


def base(robot: RobotArgument, keep: KeepOption = "", as_latex: LatexOption = False,
         as_json: JsonOption = False, picture: PictureOption = None, check: CheckOption = False,
         tolerance: ToleranceOption = 1e-6, floating: FloatingOption = False) -> None:
    """Show the base parameters: what the joint torques can tell about masses and inertias."""
    refuse_other_pictures(picture, "--picture")
    wanted = [name.strip() for name in keep.split(",") if name.strip()] or None
    found = base_parameters(loaded(robot, floating), wanted, tolerance=tolerance, twin=check)
    if picture is not None:
        save_picture(picture_of(found), picture)
    if as_json:
        typer.echo(json.dumps(summary(found), indent=2, ensure_ascii=False))
    elif as_latex:
        typer.echo(latex(found))
    else:
        _print_table(found)
    if picture is not None and not (as_json or as_latex):
        typer.echo(f"picture: {picture}")


def _print_table(found: BaseParameters) -> None:
    """The kept parameters by body, then what was dropped, then on what all rests."""
    screen = console()
    screen.print(Text(headline(found), style="bold"), "", sep="\n")
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("keeps")
    table.add_column("value", justify="right", style="cyan")
    table.add_column("stands for", overflow="fold")
    last = ""
    for entry in entries(found):
        body = entry.name.rpartition(".")[0]
        if last and body != last:
            table.add_section()
        last = body
        table.add_row(escape(entry.name), entry.value, escape(entry.sum))
    screen.print(table)
    for title, names in (("no effect", found.no_effect), ("regrouped", found.regrouped)):
        if names:
            screen.print(Text(f"\n{title}: {len(names)}", style="bold"))
            for line in by_body(names):
                screen.print(Text(f"  {line}"))
    for k, line in enumerate(on_paper_only(found)):
        screen.print(Text(line if k else f"\n{line}", style="" if k else "bold yellow"))
    screen.print(Text(f"\n{found.evidence}", style="dim"))
