"""The command `closedform signals`: what is wrong with a log, before anything is fitted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from closedform.errors import ArgumentError
from closedform.interfaces.cli.robot_argument import SOURCES, complete_robot
from closedform.interfaces.cli.terminal import (
    FloatingOption,
    JsonOption,
    console,
    loaded,
    refuse_other_pictures,
    table,
)
from closedform.model.robot import Robot

EXAMPLES = ("[bold]Examples:[/]  closedform signals run1.mcap --robot my.urdf --topic "
            "/joint_states  |  closedform signals run.csv --robot panda "
            "--columns 'q=1:8,v=8:15,tau=15:22' --units q=deg --plot run.png")


LockOption = Annotated[list[str] | None, typer.Option(
    help="A joint that is not logged and stands still: 'finger=0.04'; again for others.")]


def register(app: typer.Typer) -> None:
    """Add the command to the program."""

    @app.command("signals", epilog=EXAMPLES)
    def command(
        log: Annotated[Path, typer.Argument(
            metavar="LOG", help="A log: .csv, .parquet, .npz, .db3, .mcap, or a bag's folder.")],
        robot: Annotated[str, typer.Option(help=SOURCES, autocompletion=complete_robot)],
        columns: Annotated[str | None, typer.Option(
            help="Which columns are what: 't=time,q=1:8,tau=a|b|c', or JSON.")] = None,
        topic: Annotated[str | None, typer.Option(help="The topic of a bag.")] = None,
        units: Annotated[str | None, typer.Option(
            help="Units by kind: 'q=deg,t=ms'; or 'deg' for all angles.")] = None,
        lock: LockOption = None,
        plot: Annotated[Path | None, typer.Option(help="A picture to write.")] = None,
        floating: FloatingOption = False,
        as_json: JsonOption = False,
    ) -> None:
        """Tell what is wrong with a log; exit with 1 if it has errors."""
        from closedform.applications import identification as idn
        refuse_other_pictures(plot, "--plot")
        made = locked(loaded(robot, floating), lock)
        found = idn.diagnose(idn.read(log, made, told_columns(columns), topic, told_units(units)))
        if as_json:
            typer.echo(found.to_json())
        else:
            _show(found)
        if plot is not None:
            found.plot(plot)
        if found.errors:
            raise typer.Exit(1)


def told_columns(text: str | None) -> dict[str, Any] | None:
    """`t=time,q=1:8,tau=a|b|c` or a JSON object as the argument `columns` of `read`."""
    if text is None:
        return None
    if text.lstrip().startswith("{"):
        try:
            return dict(json.loads(text))
        except json.JSONDecodeError as error:
            raise ArgumentError(f"--columns: no JSON ({error.msg} at {error.pos})") from None
    return {kind: _part(told) for kind, told in _pairs(text, "--columns")}


def told_units(text: str | None) -> dict[str, str] | str | None:
    """`q=deg,t=ms` or `deg` as the argument `units` of `read`."""
    return dict(_pairs(text, "--units")) if text and "=" in text else text


def _pairs(text: str, option: str) -> list[tuple[str, str]]:
    parts = [part.partition("=") for part in text.split(",")]
    if not all(sign for _, sign, _ in parts):
        raise ArgumentError(f"{option}: kind=… with commas between expected, not {text!r}")
    return [(kind.strip(), told.strip()) for kind, _, told in parts]


def _part(text: str) -> Any:
    """A column's name or number, several with | between, or a slice a:b."""
    if "|" in text:
        return [_part(one) for one in text.split("|")]
    begin, colon, end = text.partition(":")
    if colon and all(x.lstrip("-").isdigit() or not x for x in (begin, end)):
        return slice(*(int(x) if x else None for x in (begin, end)))
    return int(text) if text.lstrip("-").isdigit() else text


def locked(robot: Robot, lock: list[str] | None) -> Robot:
    """The robot with joints that stand, by `joint=position`."""
    return robot.reduced(dict(_locked(text) for text in lock)) if lock else robot


def _locked(text: str) -> tuple[str, float]:
    joint, _, at = text.rpartition("=")
    try:
        return joint, float(at)
    except ValueError:
        raise ArgumentError(f"--lock: joint=position expected, not {text!r}") from None


def _show(found: Any) -> None:
    out = console()
    about = found.summary
    out.print(f"{found.log.source}: {about['rows']} rows, {about['duration_s']:.3f} s, "
              f"{1 / about['period_s']:.6g} Hz", markup=False)
    for note in found.log.notes:
        out.print(f"  {note}", markup=False, style="dim")
    if not found.errors:
        rows = table("joint", "moved [rad, m]", "rms speed [/s]", "up to [Hz]", "lag of v [ms]",
                     "noise of q", "greatest effort")
        for row in found.table:
            lag = None if row.lag is None else round(1e3 * row.lag, 3) + 0.0
            cells = [row.moved, row.speed, row.excited, lag, row.noise, row.effort]
            rows.add_row(row.joint, *("" if x is None else f"{x:.3g}" for x in cells))
        out.print(rows)
    out.print(str(found), markup=False)
