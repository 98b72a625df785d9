"""The command `closedform identify`: from a model file and logs to an identified robot."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from closedform.errors import ArgumentError
from closedform.interfaces.cli.identification.signals import (
    LockOption,
    locked,
    told_columns,
    told_units,
)
from closedform.interfaces.cli.robot_argument import RobotArgument
from closedform.interfaces.cli.terminal import (
    FloatingOption,
    JsonOption,
    complain,
    console,
    json_text,
    loaded,
    refuse_unwritable,
    table,
)

EXAMPLES = ("[bold]Example:[/]  closedform identify my.urdf run1.mcap run2.csv --validate "
            "run3.mcap -o identified.urdf --report fit.html")


def register(app: typer.Typer) -> None:
    """Add the command to the program."""

    @app.command("identify", epilog=EXAMPLES)
    def command(
        robot: RobotArgument,
        logs: Annotated[list[Path], typer.Argument(
            metavar="LOG...", help="Logs: .csv, .parquet, .npz, .db3 or .mcap.")],
        validate: Annotated[list[Path] | None, typer.Option(
            help="A log of another motion, for the verdict; may be given again.")] = None,
        output: Annotated[Path | None, typer.Option(
            "--output", "-o", help="The identified robot: .urdf, or .toml with all that was "
            "found.")] = None,
        report: Annotated[Path | None, typer.Option(help="A page to write, .html.")] = None,
        method: Annotated[str, typer.Option(
            help="consistent, weighted, least_squares, huber, generalised, instrumental or "
                 "total.")] = "consistent",
        period: Annotated[float | None, typer.Option(
            min=0, help="Seconds after which the motion repeats, for instrumental.")] = None,
        friction: Annotated[str, typer.Option(
            help="Terms, with commas: viscous, coulomb, offset, asymmetric, stribeck.")]
        = "viscous,coulomb,offset",
        rotors: Annotated[bool, typer.Option(help="Find rotor inertias.")] = True,
        drives: Annotated[str | None, typer.Option(
            help="Gears, gains and couplings of motors: a .toml or .json file, or JSON: "
                 "'{\"ratio\": [100, -80], \"gain\": 0.1}'.")] = None,
        payload: Annotated[str | None, typer.Option(help="The frame that carries a load.")] = None,
        carries: Annotated[list[Path] | None, typer.Option(
            "--loaded", metavar="LOG", help="A log with the load on; else all have it.")] = None,
        known: Annotated[list[str] | None, typer.Option(
            help="What is known: 'tool0.m=2.8', 'link1.m + link2.m=5'; again for others.")] = None,
        topic: Annotated[str | None, typer.Option(help="The topic of a bag.")] = None,
        columns: Annotated[str | None, typer.Option(
            help="Which columns are what: 't=time,q=1:8,tau=a|b|c', or JSON.")] = None,
        units: Annotated[str | None, typer.Option(
            help="Units by kind: 'q=deg,t=ms'; or 'deg' for all angles.")] = None,
        lock: LockOption = None,
        cutoff: Annotated[float | None, typer.Option(
            min=0, help="Hz of the low pass; chosen from the data if not given.")] = None,
        limit: Annotated[float | None, typer.Option(
            min=0, help="The held-out error in % that the verdict allows.")] = None,
        keep: Annotated[Path | None, typer.Option(
            help="A folder for what each log says: a run that was stopped goes on, and "
                 "`excite --prior` counts it in.")] = None,
        floating: FloatingOption = False,
        as_json: JsonOption = False,
    ) -> None:
        """Identify inertias, rotors and friction from logs; exit 1 if the verdict does not hold."""
        from closedform.applications import identification as idn
        for path, option, endings in ((output, "--output", (".urdf", ".toml")),
                                      (report, "--report", (".html",))):
            if path is not None and path.suffix.lower() not in endings:
                raise ArgumentError(f"{path}: a file ending in {' or '.join(endings)} expected")
            if path is not None:
                refuse_unwritable(path, option)
        made = locked(loaded(robot, floating), lock)
        given: Any = told_columns(columns)
        terms = [t.strip() for t in friction.split(",") if t.strip()]
        motors = None if drives is None else idn.Drives(**_drives(drives))
        model = idn.Model(made, idn.Friction(*terms), rotors, motors, payload, _known(known or ()))
        on = _loaded(carries, [*logs, *(validate or ())], payload)
        signals = idn.Signals(cutoff="auto" if cutoff is None else cutoff)

        def read(path: Path) -> Any:
            return idn.read(path, made, given, topic, told_units(units))
        info = idn.information(model, [read(p) for p in logs], signals=signals,
                               loaded=[on[p] for p in logs], keep=keep)
        fit = idn.fit(info, method=method, period=period)
        trials = [idn.validate(fit, read(p), loaded=on[p]) for p in validate or ()]
        worst = max(trials, key=lambda t: (not idn.verdict(fit, t, limit).holds, t.total),
                    default=None)
        said = idn.verdict(fit, worst, limit)
        if output is not None:
            text = fit.robot.to_urdf() if output.suffix.lower() == ".urdf" \
                else idn.toml_text(fit, said)
            output.write_text(text, encoding="utf8")
        if report is not None:
            idn.write_page(fit, report, worst, said)
        if as_json:
            typer.echo(json_text(_summary(fit, worst, said)))
        else:
            _show(fit, worst, said)
        for path in (output, report):
            if path is not None:
                complain("wrote", path)
        if not said.holds:
            raise typer.Exit(1)


def _drives(text: str) -> dict[str, Any]:
    """The arguments of `Drives`, from a file or as JSON."""
    path = Path(text)
    try:
        if text.lstrip().startswith("{"):
            found = json.loads(text)
        elif path.suffix.lower() == ".toml":
            found = tomllib.loads(path.read_text(encoding="utf8"))
        else:
            found = json.loads(path.read_text(encoding="utf8"))
    except (json.JSONDecodeError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ArgumentError(f"--drives: {text!r} cannot be read: {error}") from None
    wanted = ("ratio", "gain", "coupling")
    if not isinstance(found, dict) or "ratio" not in found or set(found) - set(wanted):
        raise ArgumentError(f"--drives: ratio, and perhaps gain and coupling, expected: {text!r}")
    return found


def _known(told: Sequence[str]) -> dict[str, float]:
    found = {}
    for text in told:
        name, _, value = text.rpartition("=")
        try:
            found[name.strip()] = float(value)
        except ValueError:
            raise ArgumentError(f"--known: parameter=number expected, not {text!r}") from None
    return found


def _loaded(told: list[Path] | None, logs: list[Path], payload: str | None) -> dict[Path, bool]:
    """Whether each log has the payload on."""
    if told and payload is None:
        raise ArgumentError("--loaded: say with --payload which frame carries the load")
    for path in told or ():
        if path not in logs:
            raise ArgumentError(f"--loaded: {path} is none of the logs")
    return {path: not told or path in told for path in logs}


def _show(fit: Any, trial: Any, said: Any) -> None:
    out = console()
    out.print(str(said), style="green" if said.holds else "red", markup=False)
    for note in fit.info.notes:
        out.print(f"  {note}", markup=False, style="dim")
    rows = table("torque", "fit %", "fit rms", "held out %", "held out rms", "explained %")
    for j, (name, (percent, rms)) in enumerate(fit.residuals.items()):
        held = ["", "", ""] if trial is None else [
            f"{trial.joints[j]:.2f}", f"{trial.rms[j]:.3g}", f"{100 * trial.explained[j]:.1f}"]
        rows.add_row(name, f"{percent:.2f}", f"{rms:.3g}", *held)
    rows.add_row("all", f"{fit.total:.2f}", "", "" if trial is None else f"{trial.total:.2f}", "",
                 "")
    out.print(rows)
    found = table("unknown", "before", "found", "95 % interval", "identified")
    for r in fit.table:
        found.add_row(r.name, f"{r.prior:.4g}", f"{r.value:.4g}", f"{r.low:.4g} … {r.high:.4g}",
                      "yes" if r.identified else f"no: {fit.advice.get(r.name, 'not excited')}")
    out.print(found)


def _summary(fit: Any, trial: Any, said: Any) -> dict[str, Any]:
    return {
        "holds": said.holds, "reasons": list(said.reasons), "remarks": list(said.remarks),
        "method": fit.method, "total_percent": fit.total, "signals": list(fit.info.notes),
        "held_out": None if trial is None else {
            "log": trial.log, "total_percent": trial.total, "repeats": trial.seen,
            "joints_percent": dict(zip(trial.names, map(float, trial.joints), strict=True)),
            "rms": dict(zip(trial.names, map(float, trial.rms), strict=True))},
        "unknowns": [r._asdict() for r in fit.table], "gains": fit.gains,
        "essential": list(fit.essential), "motions": fit.advice,
    }
