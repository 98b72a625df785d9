"""`closedform sweep`: a quantity over designs of a robot, for the choice of lengths and masses."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from closedform.applications.motion.tables import write_rows
from closedform.applications.whole_files import save_picture
from closedform.errors import ArgumentError
from closedform.interfaces.cli.robot_argument import RobotArgument
from closedform.interfaces.cli.studies.map import (
    AsideOption,
    ClientOption,
    FormatOption,
    check_format,
)
from closedform.interfaces.cli.terminal import JsonOption, complain, console, loaded, table

KINDS = ("length", "mass", "load")
VARY = "KIND:NAME=FROM:TO:COUNT"
SHOWN = 10
FEW, MOST_VALUES = 100_000, 1_000_000


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command("sweep", epilog="[bold]Example:[/]  closedform sweep panda gravity_torque "
                                "--vary length:panda_link4=0.8:1.2:9 "
                                "--vary load:panda_hand_tcp=0:3:7")(sweep)


def sweep(
    robot: RobotArgument,
    quantity: Annotated[str, typer.Argument(help="A quantity; NAME@FRAME of those of a frame.")],
    vary: Annotated[list[str], typer.Option(
        help=f"{VARY}, {', '.join(KINDS)}: factors of a body's length or mass, kg at a frame.")],
    samples: Annotated[int | None, typer.Option(
        help="So many designs at random between the values, and not all combinations.")] = None,
    states: Annotated[int, typer.Option(
        help="Random states within the limits that the quantity is evaluated at.")] = 100,
    keep: Annotated[str, typer.Option(
        help="Of the states: max (of magnitudes), mean or rms.")] = "max",
    only: Annotated[str | None, typer.Option(
        help="The result to take of a quantity that has several.")] = None,
    seed: Annotated[int, typer.Option(help="Of states and samples.")] = 0,
    client: ClientOption = None,
    aside: AsideOption = False,
    kind: FormatOption = "zarr",
    output: Annotated[Path, typer.Option("--output", "-o", help="A folder.")] = Path("sweep"),
    as_json: JsonOption = False,
) -> None:
    """Sweep designs: lengths, masses and loads as inputs of one compiled kernel.

    Writes a table (and CSV where it is small) and a picture. A run that was stopped goes on.
    """
    from closedform.applications.compile.requests import At
    from closedform.applications.studies.states import random_states
    from closedform.applications.studies.sweeps import sweep as swept
    check_format(kind)
    if states < 1:
        raise ArgumentError(f"--states must be positive, not {states}")
    arm = loaded(robot)
    name, _, frame = quantity.partition("@")
    asked = At(name, frame) if frame else name
    variables = [_variable(text) for text in vary]
    began = time.perf_counter()
    at = random_states(arm, asked, states, seed)
    found = swept(arm, asked, variables, at, keep, only=only, samples=samples, seed=seed,
                  client=client, out=output / f"sweep.{kind}", aside=aside)
    wall = time.perf_counter() - began
    _written(found, output)
    _report(found, wall, output, as_json)


def _variable(text: str) -> Any:
    from closedform.applications.studies import designs
    kind, _, rest = text.partition(":")
    name, _, values = rest.rpartition("=")
    if kind not in KINDS or not name:
        raise ArgumentError(f"--vary: {VARY} expected, {' or '.join(KINDS)}, not {text!r}")
    try:
        parts = [float(x) for x in values.split(":")]
        if len(parts) > 3 or (len(parts) == 3 and not 1 <= parts[2] <= MOST_VALUES):
            raise ValueError
        spread = parts if len(parts) < 3 else np.linspace(parts[0], parts[1], int(parts[2]))
    except ValueError:
        raise ArgumentError(f"--vary: {VARY} expected, COUNT from 1 to {MOST_VALUES:,}, not "
                            f"{text!r}") from None
    makers = {"length": designs.Length, "mass": designs.Mass, "load": designs.Load}
    return makers[kind](name, tuple(spread))


def _written(found: Any, output: Path) -> None:
    if len(found) <= FEW:
        heading = [*found.labels, *(f"{found.quantity} {n}" for n in _entries(found))]
        rows = np.column_stack([found.design, found.value.reshape(len(found), -1)])
        write_rows(heading, rows.tolist(), output / "sweep.csv")
    save_picture(_figure(found), output / "sweep.png")


def _entries(found: Any) -> tuple[str, ...]:
    entries: tuple[str, ...] = found.table.layout.columns[1].entries
    return entries


def _figure(found: Any) -> Any:
    """The largest entry against each variable; one point a design, some thousands at most."""
    from matplotlib.figure import Figure

    from closedform.applications.figure_text import plain
    every = slice(None, None, max(1, len(found) // 5000))
    largest = np.abs(found.value[every]).reshape(len(found.design[every]), -1).max(axis=1)
    figure = Figure(figsize=(4 * len(found.labels), 3.6), layout="constrained")
    for k, axes in enumerate(figure.subplots(1, len(found.labels), squeeze=False)[0]):
        axes.plot(found.design[every, k], largest, ".", markersize=3)
        axes.set(xlabel=plain(found.labels[k]), ylabel=plain(f"{found.kept} {found.quantity}"))
        axes.grid(alpha=0.3)
    return figure


def _report(found: Any, wall: float, output: Path, as_json: bool) -> None:
    flat = np.abs(found.value).reshape(len(found), -1).max(axis=1)
    order = np.argsort(flat, kind="stable")
    if as_json:
        typer.echo(json.dumps({
            "designs": len(found), "variables": list(found.labels), "seconds": wall,
            "least": {"design": found.design[order[0]].tolist(), "value": float(flat[order[0]])},
            "aside": [str(x) for x in found.aside]}, indent=2))
    else:
        shown = table(*found.labels, f"{found.kept} of {found.quantity}, largest entry")
        for k in order[:SHOWN]:
            shown.add_row(*(f"{x:.6g}" for x in found.design[k]), f"{flat[k]:.6g}")
        console().print(shown)
        typer.echo(f"{len(found)} designs in {wall:.1f} s; the {min(SHOWN, len(found))} smallest")
    for x in found.aside:
        complain("warning", f"set aside: {x}")
    complain("wrote", output / "sweep.png")
