"""`closedform map`: reachability and dexterity of a workspace, certified target by target."""

from __future__ import annotations

import json
import math
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from closedform.applications.redundancy import Pose, Position
from closedform.applications.redundancy.problem import chosen_numbers
from closedform.applications.redundancy.tasks import Task
from closedform.applications.whole_files import save_picture, whole_file
from closedform.errors import ArgumentError, suggestion
from closedform.interfaces.cli.ik import CRITERIA, complete_criterion, middle_of
from closedform.interfaces.cli.robot_argument import RobotArgument
from closedform.interfaces.cli.terminal import JsonOption, complain, console, loaded, table

FORMATS, SPREAD = ("zarr", "parquet"), 12
ClientOption = Annotated[str | None, typer.Option(
    help="The address of a Dask scheduler; else threads of this machine.")]
AsideOption = Annotated[bool, typer.Option(
    "--aside", help="Set bad blocks aside and report them, and do not stop at the first.")]
FormatOption = Annotated[str, typer.Option(
    "--format", help=f"Of the table: {' or '.join(FORMATS)}.")]


def check_format(kind: str) -> None:
    """Refuse a table's format that there is not."""
    if kind not in FORMATS:
        raise ArgumentError(f"--format: no {kind!r}; {suggestion(kind, FORMATS)}")


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command("map", epilog="[bold]Example:[/]  closedform map panda --count 100000 "
                              "--orientations 12 -o panda_map")(map_)


def map_(
    robot: RobotArgument,
    frame: Annotated[str | None, typer.Option(
        help="The frame or body to be placed; else the last one that most joints move.")] = None,
    criterion: Annotated[str, typer.Option(
        autocompletion=complete_criterion,
        help=f"What is maximised: {', '.join(CRITERIA)}.")] = "manipulability",
    count: Annotated[int, typer.Option(
        help="About how many targets, where no --step is given.")] = 20_000,
    orientations: Annotated[int | None, typer.Option(
        help=f"Of each place, spread evenly; 0 for places alone. Else {SPREAD} where the joints "
             "can turn the frame every way.")] = None,
    lower: Annotated[str | None, typer.Option(
        help="x,y,z (or x,y) of a corner of the grid; else around all that the frame reaches."
    )] = None,
    upper: Annotated[str | None, typer.Option(help="The opposite corner.")] = None,
    step: Annotated[float | None, typer.Option(help="Between places, m.")] = None,
    limits: Annotated[bool, typer.Option(help="Keep joints within their limits.")] = True,
    starts: Annotated[int, typer.Option(help="Seeds that a target is tried from.")] = 8,
    block: Annotated[int, typer.Option(help="Targets of a block.")] = 4096,
    client: ClientOption = None,
    aside: AsideOption = False,
    kind: FormatOption = "zarr",
    output: Annotated[Path, typer.Option("--output", "-o", help="A folder.")] = Path("map"),
    as_json: JsonOption = False,
) -> None:
    """Map a workspace: every target solved to a certified optimum, or why it is not.

    Writes a table, pictures and a page. A run that was stopped goes on where it was.
    """
    from closedform.applications.redundancy.workspace.maps import map as mapped
    from closedform.applications.studies.map_page import map_page
    check_format(kind)
    if criterion not in CRITERIA:
        raise ArgumentError(f"no criterion {criterion!r}; {suggestion(criterion, CRITERIA)}")
    arm = loaded(robot)
    tip = arm.tip if frame is None else frame
    grid = _grid(arm, tip, (lower, upper, step), count, orientations)
    fresh = not (output / f"map.{kind}").exists()
    began = time.perf_counter(), time.process_time()
    found = mapped(arm, grid.task(tip), grid, CRITERIA[criterion](middle_of(arm)), client,
                   limits=limits, starts=starts, block=block, out=output / f"map.{kind}",
                   aside=aside)
    wall, cpu = time.perf_counter() - began[0], time.process_time() - began[1]
    asked = {"frame": tip, "criterion": criterion, "grid": _told(grid), "starts": str(starts),
             "limits": "kept" if limits else "not kept"}
    _pictures(found, criterion, output)
    with whole_file(output / "index.html") as place:
        place.write_text(map_page(found, asked), encoding="utf8")
    _report(found, wall, cpu if fresh and not client else None, output, as_json)


def _told(grid: Any) -> str:
    """A grid in words of four digits."""
    sides = " × ".join(f"{a:.4g} … {b:.4g}" for a, b in zip(grid.lower, grid.upper, strict=True))
    places = " × ".join(map(str, grid.shape))
    each = len(grid) // math.prod(grid.shape)
    turned = f", {each} orientations each" if each > 1 else ""
    return f"{sides} m, every {grid.step:.4g} m: {places} places{turned}"


def _grid(arm: Any, tip: str, box: tuple[str | None, str | None, float | None], count: int,
          orientations: int | None) -> Any:
    """The grid that is asked for; what is not told is as the joints can choose."""
    from closedform.applications.redundancy.workspace.grids import Grid, grid_around
    lower, upper, step = box
    if count < 1 or (orientations or 0) < 0:
        raise ArgumentError("--count must be positive and --orientations not negative, not "
                            f"{count} and {orientations}")
    given = [_numbers(text, name) for text, name in ((lower, "--lower"), (upper, "--upper"))
             if text is not None]
    planar = len(given[0]) == 2 if given else not _chooses(arm, Position(tip))
    each = orientations if orientations is not None else (
        SPREAD if not planar and _chooses(arm, Pose(tip)) else 0)
    around = None if len(given) == 2 else grid_around(arm, tip, count, each, planar and each == 0)
    corners = given if around is None else [
        given[0] if lower is not None else list(around.lower),
        given[0] if upper is not None else list(around.upper)]
    if step is None:
        sides = [max(b - a, 1e-9) for a, b in zip(*corners, strict=False)]
        step = (math.prod(sides) * max(each, 1) / count) ** (1 / max(len(sides), 1))
    return Grid(tuple(corners[0]), tuple(corners[1]), step, each)


def _chooses(arm: Any, task: Task) -> bool:
    """Whether the joints can choose all numbers of a task."""
    rank, count = chosen_numbers(arm, task)
    return rank == count


def _numbers(text: str, option: str) -> list[float]:
    try:
        return [float(x) for x in text.split(",")]
    except ValueError:
        raise ArgumentError(f"{option}: numbers with commas between expected, not "
                            f"{text!r}") from None


def _pictures(found: Any, criterion: str, output: Path) -> None:
    from closedform.applications.redundancy.workspace import pictures
    save_picture(pictures.slices_figure(found), output / "slices.png")
    save_picture(pictures.histogram_figure(found, criterion), output / "histogram.png")
    if len(found.targets.shape) == 3:
        save_picture(pictures.surface_figure(found), output / "surface.png")


def _report(found: Any, wall: float, cpu: float | None, output: Path, as_json: bool) -> None:
    counts, total = found.counts(), len(found)
    rate = None if cpu is None or cpu <= 0 else total / cpu
    if as_json:
        typer.echo(json.dumps({
            "targets": total, "certified": int(found.certified.sum()),
            "verdicts": {str(v): n for v, n in counts.items()}, "seconds": wall,
            "per_core_and_second": rate, "aside": [str(x) for x in found.aside]}, indent=2))
    else:
        shown = table("verdict", "targets", "%")
        for verdict, n in counts.items():
            shown.add_row(str(verdict), str(n), f"{100 * n / total:.2f}")
        console().print(shown)
        each = "" if rate is None else f", {rate:,.0f} a second and core"
        typer.echo(f"{total} targets in {wall:.1f} s{each}")
    for x in found.aside:
        complain("warning", f"set aside: {x}")
    complain("wrote", output / "index.html")
