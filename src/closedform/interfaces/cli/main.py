"""The command line: `closedform show`, `closedform lint`, `closedform robots`.

Results go to standard output, warnings and errors to standard error, one line each. Exit status:
0 for done, 1 for a model with errors (`lint`), 2 for a request that cannot be met.
"""

from __future__ import annotations

import io
import json
import os
import sys
import warnings
from dataclasses import asdict
from typing import Annotated, Any, TextIO

import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from closedform.errors import ClosedformError
from closedform.interfaces.cli import (
    base as cli_base,
)
from closedform.interfaces.cli import (
    elastic as cli_elastic,
)
from closedform.interfaces.cli import (
    export as cli_export,
)
from closedform.interfaces.cli import (
    flexible as cli_flexible,
)
from closedform.interfaces.cli import (
    ik as cli_ik,
)
from closedform.interfaces.cli import (
    report as cli_report,
)
from closedform.interfaces.cli import (
    torques as cli_torques,
)
from closedform.interfaces.cli.robot_argument import SOURCES, RobotArgument, complete_robot
from closedform.model.describe import (
    headline,
    index_text,
    list_text,
    number_text,
    range_text,
    summary,
    totals_text,
)
from closedform.model.findings import Finding, Level
from closedform.model.lint.lint import lint
from closedform.model.load import load
from closedform.model.robot import Robot
from closedform.model.zoo.zoo import BUILTIN, builtin
from closedform.version import __version__

PIPE_WIDTH = 160  # columns when nobody's terminal says how many there are
FACTS = ("nq", "nv", "mass", "floating")

app = typer.Typer(
    no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode="rich",
    help="Closed-form robot models that are exact, readable, differentiable and fast.",
    epilog="Start with [bold]closedform robots[/], [bold]closedform show panda[/] and "
           "[bold]closedform report panda[/].",
)

FileArgument = Annotated[str, typer.Argument(
    metavar="FILE", help=SOURCES, autocompletion=complete_robot)]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
FloatingOption = Annotated[bool, typer.Option(
    "--floating", help="Put the root link on a free joint instead of the world.")]


def main() -> None:
    """The program `closedform`: runs a command, turns a refusal into one line and status 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without τ shows ? and goes on
    warnings.showwarning = _warn
    try:
        app(prog_name="closedform")
    except (ClosedformError, OSError) as error:
        _complain("error", error)
        sys.exit(2)


def _warn(message: Warning | str, category: type[Warning], filename: str, lineno: int,
          file: TextIO | None = None, line: str | None = None) -> None:
    _complain("warning", message)


def _complain(level: str, message: object) -> None:
    print(f"{level}: {' '.join(str(message).split())}", file=sys.stderr)


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"closedform {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[bool, typer.Option(
        "--version", callback=_print_version, is_eager=True,
        help="Print the version and exit.")] = False,
) -> None:
    """Closed-form robot models: look at a robot, check a model file."""


# ---------------------------------------------------------------------- show
@app.command(epilog="[bold]Examples:[/]  closedform show panda  |  "
                    "closedform show robot.urdf --floating  |  closedform show panda --json")
def show(robot: RobotArgument, as_json: JsonOption = False,
         floating: FloatingOption = False) -> None:
    """Show what a robot is: its tree, joints, limits, masses and totals."""
    loaded = _loaded(robot, floating)
    about = summary(loaded)
    if as_json:
        typer.echo(json.dumps(about, indent=2, ensure_ascii=False))
        return
    console = _console()
    console.print(Text.assemble((about["name"], "bold"), f": {headline(about)}"))
    if about["source"]:
        console.print(Text(f"from {about['source']}", style="dim"))
    console.print("", _tree(about), "", sep="\n")
    _print_joints(console, about)
    for frame in about["frames"]:
        console.print(Text(f"frame {frame['name']} on {frame['body'] or 'the world'}"))
    console.print(Text(f"{totals_text(about)}; units m, kg, s, rad, N"))


def _loaded(source: str, floating: bool) -> Robot:
    """The robot, with every warning of the loader as one line on standard error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        robot = load(source, floating=floating)
    for warning in caught:
        _complain("warning", warning.message)
    return robot


def _console() -> Console:
    sized = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console(highlight=False, width=None if sized else PIPE_WIDTH)


def _tree(about: dict[str, Any]) -> Tree:
    """The bodies below the world, each with its joint and mass."""
    root = Tree(Text("world", style="dim"))
    at: dict[str | None, Tree] = {None: root}
    for body in about["bodies"]:
        at[body["name"]] = at[body["parent"]].add(Text.assemble(
            (body["name"], "bold"), f"  {_mass_text(body['mass'])}  ", (_joint_text(body), "cyan")))
    return root


def _joint_text(body: dict[str, Any]) -> str:
    """`shoulder: revolute z`; only the kind where the joint goes by its body's name."""
    joint = body["joint"]
    return joint["kind"] if joint["name"] == body["name"] else f"{joint['name']}: {joint['kind']}"


def _mass_text(mass: float | str) -> str:
    return number_text(mass) if isinstance(mass, str) else f"{number_text(mass)} kg"


def _print_joints(console: Console, about: dict[str, Any]) -> None:
    """A table of the joints that move, or a line for each where the terminal is too narrow."""
    columns = _joint_columns(about)
    if not columns:
        return
    rows = list(zip(*columns.values(), strict=True))
    table = _table(*columns)
    for row in rows:
        table.add_row(*(escape(cell) for cell in row))
    unbounded = console.options.update(max_width=PIPE_WIDTH)
    if Measurement.get(console, unbounded, table).maximum <= console.width:
        console.print(table, "", sep="\n")
        return
    for name, *rest in rows:
        titled = zip(list(columns)[1:], rest, strict=True)
        facts = [f"{title} {cell}" for title, cell in titled if cell]
        console.print(Text.assemble((name, "bold"), f": {', '.join(facts)}"))
    console.print()


def _joint_columns(about: dict[str, Any]) -> dict[str, list[str]]:
    """Cells of every joint that moves, by column; columns that would be empty are left out."""
    joints = [body["joint"] for body in about["bodies"]]
    moving = [joint for joint in joints if joint["v"] or joint["unit"]]
    columns = {
        "joint": [joint["name"] for joint in moving],
        "kind": [joint["kind"] for joint in moving],
        "q": [index_text(joint["q"]) for joint in moving],
        "v": [index_text(joint["v"]) for joint in moving],
        "range": [range_text(joint) for joint in moving],
        **{title: [list_text(joint[keyword]) for joint in moving] for title, keyword in (
            ("max |v|", "velocity"), ("max |τ|", "effort"), ("rotor", "rotor_inertia"),
            ("viscous", "viscous"), ("coulomb", "coulomb"))},
    }
    if columns["q"] == columns["v"]:
        del columns["v"]
    return {title: cells for title, cells in columns.items() if any(cells)}


def _table(*titles: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for title in titles:
        table.add_column(escape(title), overflow="fold")
    return table


# ---------------------------------------------------------------------- lint
@app.command("lint", epilog="[bold]Examples:[/]  closedform lint robot.urdf  |  "
                            "closedform lint robot.xml --json")
def lint_file(file: FileArgument, as_json: JsonOption = False) -> None:
    """Check a model file; exit with 1 if it has errors."""
    findings = lint(file)
    if as_json:
        plain = [{**asdict(finding), "level": finding.level.value} for finding in findings]
        typer.echo(json.dumps(plain, indent=2, ensure_ascii=False))
    else:
        for finding in findings:
            typer.echo(_finding_text(finding))
        typer.echo(_verdict(findings))
    if any(finding.level is Level.ERROR for finding in findings):
        raise typer.Exit(1)


def _finding_text(finding: Finding) -> str:
    """`robot.urdf:12: error: message [rule]`, and the repair on a line of its own."""
    place = f"{finding.place}: " if finding.file else ""
    text = f"{place}{finding.level.value}: {finding.message} [{finding.rule}]"
    return text + (f"\n    repair: {finding.repair}" if finding.repair else "")


def _verdict(findings: list[Finding]) -> str:
    """`2 errors, 1 warning`, or `nothing to complain about`."""
    found = [finding.level for finding in findings]
    words = {Level.ERROR: ("error", "errors"), Level.WARNING: ("warning", "warnings"),
             Level.INFO: ("remark", "remarks")}
    counts = [f"{found.count(level)} {one if found.count(level) == 1 else many}"
              for level, (one, many) in words.items() if level in found]
    return ", ".join(counts) or "nothing to complain about"


# ---------------------------------------------------------------------- robots
@app.command(epilog="[bold]Example:[/]  closedform robots --json")
def robots(as_json: JsonOption = False) -> None:
    """List the built-in robots, which every command takes by name."""
    known = [(name, about, summary(builtin(name))) for name, about in BUILTIN.items()]
    if as_json:
        told = [{"name": name, "about": about, **{key: facts[key] for key in FACTS}}
                for name, about, facts in known]
        typer.echo(json.dumps(told, indent=2, ensure_ascii=False))
        return
    table = _table("name", "nv", "mass", "base", "about")
    for name, about, facts in known:
        base = "floating" if facts["floating"] else "fixed"
        table.add_row(name, str(facts["nv"]), _mass_text(facts["mass"]), base, escape(about))
    _console().print(table)


for room in (cli_report, cli_torques, cli_base, cli_ik, cli_flexible, cli_elastic, cli_export):
    room.register(app)
