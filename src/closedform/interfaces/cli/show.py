"""`closedform show ROBOT`: its tree, joints, limits, masses and totals; `live`: in a page."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.measure import Measurement
from rich.text import Text
from rich.tree import Tree

from closedform.applications.compile.folding import shared_lanes
from closedform.errors import ArgumentError, ClosedformError
from closedform.interfaces.cli.export import is_flexible
from closedform.interfaces.cli.robot_argument import RobotArgument, loading
from closedform.interfaces.cli.terminal import (
    PIPE_WIDTH,
    FloatingOption,
    JsonOption,
    console,
    loaded,
    refuse_unwritable,
    table,
)
from closedform.model.describe import (
    headline,
    index_text,
    list_text,
    loops_text,
    number_text,
    range_text,
    summary,
    totals_text,
    vector_text,
)
from closedform.model.load import load
from closedform.model.robot import Robot

if TYPE_CHECKING:
    from closedform.applications.flexible import FlexibleArm

SrdfOption = Annotated[Path | None, typer.Option(
    "--srdf", help="Take the named states of this SRDF file as configurations.")]


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command(epilog="[bold]Examples:[/]  closedform show panda  |  "
                       "closedform show robot.urdf --floating  |  closedform show panda --json"
                )(show)
    app.command("live", epilog="[bold]Examples:[/]  closedform live panda -o panda.html  |  "
                "closedform live g1.urdf --floating  |  closedform live panda --q "
                "0,-0.5,0,-2,0,1.6,0.8 --still -o figure.html")(live_command)


def live_command(
    robot: RobotArgument,
    output: Annotated[Path, typer.Option(
        "--output", "-o", metavar="FILE", help="The page to write.")] = Path("live.html"),
    q: Annotated[str, typer.Option(
        "--q", metavar="X,Y,...", help="The configuration it begins at, or a named one.")] = "",
    still: Annotated[bool, typer.Option(
        "--still", help="The picture and the numbers of that configuration alone.")] = False,
    floating: FloatingOption = False,
) -> None:
    """Write a page with sliders, skeleton, M, g and τ that computes by itself, without a server."""
    refuse_unwritable(output, "--output")
    from closedform.applications.live.page import live  # slow to import: the compiler
    if is_flexible(robot):
        from closedform.applications.flexible.files import load as load_arm
        made: Robot | FlexibleArm = load_arm(robot)
    else:
        made = loaded(robot, floating)
    live(made, output, _configuration(made, q), still)
    typer.echo(f"{output}: {made.name}, {output.stat().st_size / 1e3:.0f} kB")


def _configuration(robot: Robot | FlexibleArm, text: str) -> Any:
    """Numbers between commas, or a configuration by its name; None for nothing."""
    named = robot.configurations if isinstance(robot, Robot) else {}
    if not text or text in named:
        return named.get(text)
    try:
        return [float(x) for x in text.split(",")]
    except ValueError:
        known = ", ".join(named) or "none"
        raise ArgumentError(f"--q is {robot.nq} numbers between commas or the name of a "
                            f"configuration ({known}), not {text!r}") from None


def show(robot: RobotArgument, as_json: JsonOption = False,
         floating: FloatingOption = False, srdf: SrdfOption = None) -> None:
    """Show what a robot is: its tree, joints, limits, masses and totals."""
    made = loaded(robot, floating, srdf)
    about, lanes = summary(made), _lanes(made)
    joined = [group for group in _lanes(made, joined=True) if group not in lanes]
    if as_json:
        about["lanes"] = [list(group) for group in lanes]
        about["joined_lanes"] = [list(group) for group in joined]
        typer.echo(json.dumps(about, indent=2, ensure_ascii=False))
        return
    screen = console()
    screen.print(Text.assemble((about["name"], "bold"), f": {headline(about)}"))
    if about["source"]:
        screen.print(Text(f"from {about['source']}", style="dim"))
    held = None if made.is_floating else _in_the_world(robot)
    if held:
        screen.print(Text(held))
    screen.print("", _tree(about), "", sep="\n")
    _print_joints(screen, about)
    for frame in about["frames"]:
        screen.print(Text(f"frame {frame['name']} on {frame['body'] or 'the world'}"))
    for line in loops_text(about):
        screen.print(Text(line))
    for name, q in about["configurations"].items():
        screen.print(Text(f"configuration {name}: q = {vector_text(q)}"))
    for group in lanes:
        screen.print(Text(f"{len(group)} lanes of one state: {', '.join(group)}"))
    for group in joined:
        screen.print(Text(f"{len(group)} lanes in torques and accelerations, where that is less: "
                          f"{', '.join(group)}"))
    for note in about["notes"]:
        screen.print(Text(note))
    screen.print(Text(f"{totals_text(about)}; units m, kg, s, rad, N"))


def _lanes(robot: Robot, joined: bool = False) -> tuple[tuple[str, ...], ...]:
    """The bodies that share lanes in kernels of single states; none of a robot with symbols."""
    try:
        return shared_lanes(robot, joined).groups
    except ClosedformError:
        return ()


def _in_the_world(source: str) -> str | None:
    """The root link, with what is fixed to it, that `--floating` would free, if it has mass."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            root = load(source, floating=True, **loading()).bodies[0]
    except ClosedformError:
        return None
    mass = root.inertia.mass
    return (f"{root.name}, {mass_text(float(mass))}, is part of the world; --floating frees it"
            if mass else None)


def _tree(about: dict[str, Any]) -> Tree:
    """The bodies below the world, each with its joint and mass."""
    root = Tree(Text("world", style="dim"))
    at: dict[str | None, Tree] = {None: root}
    for body in about["bodies"]:
        at[body["name"]] = at[body["parent"]].add(Text.assemble(
            (body["name"], "bold"), f"  {mass_text(body['mass'])}  ", (_joint_text(body), "cyan")))
    return root


def _joint_text(body: dict[str, Any]) -> str:
    """`shoulder: revolute z`; only the kind where the joint goes by its body's name."""
    joint = body["joint"]
    return joint["kind"] if joint["name"] == body["name"] else f"{joint['name']}: {joint['kind']}"


def mass_text(mass: float | str) -> str:
    return number_text(mass) if isinstance(mass, str) else f"{number_text(mass)} kg"


def _print_joints(screen: Console, about: dict[str, Any]) -> None:
    """A table of the joints that move, or a line for each where the terminal is too narrow."""
    columns = _joint_columns(about)
    if not columns:
        return
    rows = list(zip(*columns.values(), strict=True))
    made = table(*columns)
    for row in rows:
        made.add_row(*(escape(cell) for cell in row))
    unbounded = screen.options.update(max_width=PIPE_WIDTH)
    if Measurement.get(screen, unbounded, made).maximum <= screen.width:
        screen.print(made, "", sep="\n")
        return
    for name, *rest in rows:
        titled = zip(list(columns)[1:], rest, strict=True)
        facts = [f"{title} {cell}" for title, cell in titled if cell]
        screen.print(Text.assemble((name, "bold"), f": {', '.join(facts)}"))
    screen.print()


def _joint_columns(about: dict[str, Any]) -> dict[str, list[str]]:
    """Cells of every joint that moves, by column; columns that would be empty are left out."""
    joints = [body["joint"] for body in about["bodies"]]
    moving = [joint for joint in joints if joint["q"] or joint["unit"]]
    columns = {
        "joint": [joint["name"] for joint in moving],
        "kind": [joint["kind"] for joint in moving],
        "q": [index_text(joint["q"]) for joint in moving],
        "v": [index_text(joint["v"]) for joint in moving],
        "range": [range_text(joint) for joint in moving],
        **{title: [list_text(joint[keyword]) for joint in moving] for title, keyword in (
            ("max |v|", "velocity"), ("max |τ|", "effort"), ("rotor", "rotor_inertia"),
            ("viscous", "viscous"), ("coulomb", "coulomb"), ("stiffness", "stiffness"),
            ("spring at", "spring_reference"))},
    }
    if columns["q"] == columns["v"]:
        del columns["v"]
    return {title: cells for title, cells in columns.items() if any(cells)}
