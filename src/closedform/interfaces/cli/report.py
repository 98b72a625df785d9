"""`closedform report ROBOT`: the whole model on one page; `closedform bench ROBOT`: its times."""

from __future__ import annotations

import json
import shlex
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from closedform.errors import ArgumentError
from closedform.interfaces.cli.export import is_flexible
from closedform.interfaces.cli.robot_argument import RobotArgument, loading
from closedform.interfaces.cli.terminal import (
    FloatingOption,
    JsonOption,
    console,
    refuse_unwritable,
)
from closedform.model.findings import Level
from closedform.model.load import load

if TYPE_CHECKING:
    from closedform.applications.report.bench import Bench
    from closedform.applications.report.gpu import GpuTimes
    from closedform.applications.report.record import Report
    from closedform.applications.report.report import Told

DeviceOption = Annotated[str, typer.Option(
    "--device", metavar="cpu|cuda", help="Where to compute: with cuda on a GPU too.")]
OutputOption = Annotated[Path, typer.Option(
    "--output", "-o", metavar="FILE", help="The page to write.")]


def register(app: typer.Typer) -> None:
    """Add both commands to the program."""
    app.command("report", epilog="[bold]Examples:[/]  closedform report iiwa14  |  closedform "
                "report robot.urdf -o robot.html  |  closedform report g1.urdf --floating --json"
                )(report_command)
    app.command("bench", epilog="[bold]Examples:[/]  closedform bench panda  |  closedform bench "
                "robot.urdf --json  |  closedform bench panda --device cuda")(bench_command)


def report_command(robot: RobotArgument, output: OutputOption = Path("report.html"),
                   as_json: JsonOption = False, floating: FloatingOption = False) -> None:
    """Write one page about a robot: model, equations, parameters, laws, speed.

    Exits with 1 if a certificate fails. Errors that `closedform lint` finds are told as warnings.
    """
    refuse_unwritable(output, "--output")
    if is_flexible(robot):
        raise ArgumentError(f"{robot} is a flexible arm, and a report is of a robot; closedform "
                            "flexible, live, export and studio take it")
    from closedform.applications.report.report import report  # slow to import: figures
    with _progress() as told:
        words = " ".join(["closedform", *map(shlex.quote, sys.argv[1:])])
        found = report(robot, floating, told, **loading(), command=words)
        told("writing the page", 0.95)
        found.write(output)
    for finding in found.findings:
        if finding.level is Level.ERROR:
            typer.echo(f"warning: lint: {finding}", err=True)
    if found.massless:
        typer.echo(f"warning: {found.massless}", err=True)
    if found.no_times:
        typer.echo(f"warning: no times: {found.no_times}", err=True)
    if as_json:
        typer.echo(json.dumps(found.data(), indent=2, ensure_ascii=False))
    else:
        _tell(found, output)
    if not found.holds:
        raise typer.Exit(1)


def _tell(found: Report, output: Path) -> None:
    checked = [c for c in found.certificates if c.checked]
    for c in checked:
        if not c.holds:
            typer.echo(f"fails: {c.law} ({c.equation}): residual {c.residual:.2g}, "
                       f"tolerance {c.tolerance:.2g}")
    held = sum(c.holds for c in checked)
    typer.echo(f"{output}: {found.robot.name}, {held} of {len(checked)} certificates hold, "
               f"{sum(q.operations is not None for q in found.quantities)} quantities counted, "
               f"{len(found.times)} of {len(found.quantities)} compiled, "
               f"{found.seconds:.1f} s")


@contextmanager
def _progress() -> Iterator[Told]:
    """A bar on standard error while it is a terminal."""
    columns = (TextColumn("{task.description:<28}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True,
                  disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("starting", total=1.0)
        yield lambda what, part: bar.update(task, description=what, completed=part)


def bench_command(robot: RobotArgument, as_json: JsonOption = False,
                  floating: FloatingOption = False, device: DeviceOption = "cpu") -> None:
    """Time every quantity of a robot on this machine, beside installed peers."""
    if device not in ("cpu", "cuda"):
        raise ArgumentError(f"--device is {device!r}; expected cpu or cuda")
    from closedform.applications.report.bench import bench
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = load(robot, floating=floating, **loading())
    with _progress() as told:
        found = bench(made, told, "cuda" if device == "cuda" else "cpu")
    if as_json:
        typer.echo(json.dumps(found.data(), indent=2, ensure_ascii=False))
    else:
        _print_times(found)


def _print_times(found: Bench) -> None:
    screen = console()
    names = list(dict.fromkeys(n for row in found.ratios.values() for n in row))
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("quantity", overflow="fold")
    for title in ("call [µs]", "batch state [µs]", *(f"{n} takes" for n in names)):
        table.add_column(title, justify="right")
    for row in found.times:
        ratios = found.ratios.get(row.name, {})
        batch = "" if row.batch is None else f"{row.batch / 1e3:.3g}"
        table.add_row(row.name, f"{row.call / 1e3:.3g}", batch,
                      *(f"{ratios[n]:.1f}×" if n in ratios else "" for n in names))
    screen.print(Text(f"{found.robot.name} on {found.machine}, one thread"), table, sep="\n\n")
    if found.gpu is not None:
        _print_gpu(found, found.gpu)
    for reason in dict.fromkeys(found.reasons.values()):
        of = ", ".join(name for name, told in found.reasons.items() if told == reason)
        screen.print(f"{of}: {reason}", style="dim", markup=False)


def _print_gpu(found: Bench, gpu: GpuTimes) -> None:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("quantity", overflow="fold")
    for title in ("float64 [10⁹ states/s]", "of copying", "one CPU thread takes",
                  "float32 [10⁹ states/s]", "of copying"):
        table.add_column(title, justify="right")
    batch = {row.name: row.batch for row in found.times}
    for name in dict.fromkeys(row.name for row in gpu.rows):
        cells = []
        for dtype in ("float64", "float32"):
            row, one = gpu.of(name, dtype), batch.get(name)
            cells += ["", ""] if row is None else [
                f"{row.rate / 1e9:.3g}", f"{100 * row.part:.0f} %"]
            if dtype == "float64":
                cells.append(f"{row.rate * one * 1e-9:.0f}×" if row and one else "")
        table.add_row(name, *cells)
    title = f"{gpu.device}, which copies {gpu.copying / 1e12:.3g} TB/s, states in rows"
    console().print(Text(f"\n{found.robot.name} on {title}"), table, sep="\n\n")
    wrong = [row for row in gpu.rows if row.differ]
    for row in wrong:
        console().print(f"{row.name}: {row.differ} numbers of {row.dtype} are not the CPU's")
    for name, reason in gpu.reasons.items():
        console().print(f"{name}: {reason}", style="dim", markup=False)
