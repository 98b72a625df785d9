"""The command `closedform excite`: a motion that shows what is to be identified."""

from __future__ import annotations

import operator
from functools import reduce
from pathlib import Path
from typing import Annotated, Any

import typer

from closedform.errors import ArgumentError
from closedform.interfaces.cli.robot_argument import RobotArgument
from closedform.interfaces.cli.terminal import (
    FloatingOption,
    JsonOption,
    complain,
    console,
    json_text,
    loaded,
    refuse_other_pictures,
    refuse_unwritable,
    table,
)

EXAMPLES = ("[bold]Examples:[/]  closedform excite panda --duration 10 -o motion.csv  |  "
            "closedform excite my.urdf --criterion condition --kind bspline --plot motion.png")
TABLES = (".csv", ".parquet")


def register(app: typer.Typer) -> None:
    """Add the command to the program."""

    @app.command("excite", epilog=EXAMPLES)
    def command(
        robot: RobotArgument,
        output: Annotated[Path | None, typer.Option(
            "--output", "-o", help="The motion to write, .csv or .parquet: t, q, v, a.")] = None,
        duration: Annotated[float, typer.Option(help="Seconds.")] = 10.0,
        harmonics: Annotated[int, typer.Option(
            help="Harmonics of the duration, or as many waves of a spline.")] = 5,
        criterion: Annotated[str, typer.Option(
            help="information (D), a (relative sds) or condition.")] = "information",
        kind: Annotated[str, typer.Option(help="fourier or bspline.")] = "fourier",
        start: Annotated[str | None, typer.Option(
            help="q at the start and the end, with commas; else the middle of the limits.")] = None,
        starts: Annotated[int, typer.Option(help="How many motions to begin with.")] = 8,
        seed: Annotated[int, typer.Option(help="For other motions.")] = 0,
        margin: Annotated[float, typer.Option(
            help="Use so much of every limit at most.")] = 0.95,
        clearance: Annotated[float | None, typer.Option(
            help="Metres between the lines of links, or the shapes of --collision, that are no "
                 "neighbours.")] = None,
        collision: Annotated[Path | None, typer.Option(
            help="A URDF file whose <collision> shapes keep apart.")] = None,
        friction: Annotated[str, typer.Option(
            help="Terms, with commas: viscous, coulomb, offset, asymmetric, stribeck.")]
        = "viscous,coulomb,offset",
        rotors: Annotated[bool, typer.Option(help="Find rotor inertias.")] = True,
        payload: Annotated[str | None, typer.Option(help="The frame that carries a load.")] = None,
        prior: Annotated[Path | None, typer.Option(
            help="What earlier logs say, to be counted in: an .npz file of saved information, or "
                 "the folder of `identify --keep`.")] = None,
        rate: Annotated[float, typer.Option(help="Hz of the motion that is written.")] = 1000.0,
        plot: Annotated[Path | None, typer.Option(help="A picture to write.")] = None,
        floating: FloatingOption = False,
        as_json: JsonOption = False,
    ) -> None:
        """Plan a motion that excites what is to be identified, within all limits at all times."""
        from closedform.applications import identification as idn
        refuse_other_pictures(plot, "--plot")
        if output is not None and output.suffix.lower() not in TABLES:
            raise ArgumentError(f"{output}: a file ending in {' or '.join(TABLES)} expected")
        if output is not None:
            refuse_unwritable(output, "--output")
        terms = [t.strip() for t in friction.split(",") if t.strip()]
        model = idn.Model(loaded(robot, floating), idn.Friction(*terms), rotors=rotors,
                          payload=payload)
        plan = idn.excite(
            model, duration, harmonics, None if start is None else _numbers(start), criterion,
            idn.Limits(margin=margin, clearance=clearance, collision=collision),
            None if prior is None else _earlier(prior, model), starts, kind, seed)
        if output is not None:
            plan.to_csv(output, rate)
        if plot is not None:
            plan.plot(plot)
        if as_json:
            typer.echo(json_text(_summary(plan)))
        else:
            _show(plan)
        for path in (output, plot):
            if path is not None:
                complain("wrote", path)


def _earlier(path: Path, model: Any) -> Any:
    """The information of a file, or of all files of a folder."""
    from closedform.applications.identification import Information
    files = sorted(path.glob("[!.]*.npz")) if path.is_dir() else [path]
    if not files:
        raise ArgumentError(f"--prior: no .npz file is in {path}")
    return reduce(operator.add, (Information.load(file, model) for file in files))


def _numbers(text: str) -> list[float]:
    try:
        return [float(x) for x in text.split(",")]
    except ValueError:
        raise ArgumentError("--start: numbers with commas between expected, not "
                            f"{text!r}") from None


def _show(plan: Any) -> None:
    out = console()
    out.print(str(plan), markup=False)
    used = table("joint", "position %", "velocity %", "acceleration %", "torque %")
    for name in plan.joints:
        used.add_row(name, *(f"{100 * x[name]:.0f}" if name in x else "no limit"
                             for x in plan.limit_use.values()))
    out.print(used)
    found = table("unknown", "in the file", "predicted sd", "sd %")
    for row in plan.table:
        found.add_row(row.name, f"{row.expected:.4g}", f"{row.sd:.2g}",
                      f"{100 * row.relative:.3g}" if row.relative < 10 else "")
    out.print(found)


def _summary(plan: Any) -> dict[str, Any]:
    return {
        "robot": plan.rows.model.robot.name, "duration": plan.duration, "joints": plan.joints,
        "criterion": plan.criterion, "start": plan.start.tolist(),
        "conditions": plan.conditions._asdict(), "limit_use": plan.limit_use,
        "notes": list(plan.notes), "rate": plan.rate,
        "unknowns": [row._asdict() for row in plan.table],
    }
