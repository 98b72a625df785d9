"""`closedform flexible ARM`: modes and frequencies of a flexible arm, and its motion in files."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from closedform.applications import flexible
from closedform.applications.flexible.files import ArmFile, read_arm
from closedform.applications.motion.simulation import Simulation
from closedform.applications.whole_files import save_picture
from closedform.errors import ArgumentError

ArmArgument = Annotated[str, typer.Argument(
    metavar="ARM", help="A TOML file of a flexible arm, or a built-in: "
                        f"{', '.join(flexible.BUILTIN_ARMS)}.")]
SimulateOption = Annotated[bool, typer.Option(
    "--simulate", help="Run a motion; write its table, plots and animation.")]
FolderOption = Annotated[Path, typer.Option("--output", "-o", help="Folder for the files.")]
NumbersOption = Annotated[str | None, typer.Option(help="Numbers separated by commas.")]


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("flexible", epilog="[bold]Examples:[/]  closedform flexible deluca_siciliano  |  "
                "closedform flexible deluca_siciliano --simulate -o motion")(show_arm)


def show_arm(
    arm: ArmArgument, simulate: SimulateOption = False, output: FolderOption = Path(),
    q0: NumbersOption = None, torque: NumbersOption = None,
    bang_bang: Annotated[float | None, typer.Option(
        help="Apply +torque for half of this time in s, −torque for the other half, then none."),
    ] = None,
    duration: Annotated[float | None, typer.Option(help="Seconds to simulate.")] = None,
    damping: Annotated[float | None, typer.Option(
        help="Structural damping d of D = d √K, as in the paper.")] = None,
    method: Annotated[str, typer.Option(help="RK4, or an integrator of SciPy.")] = "RK4",
    exact: Annotated[bool, typer.Option(
        "--exact", help="Exact rotations with foreshortening, not the paper's model.")] = False,
    parquet: Annotated[bool, typer.Option(
        "--parquet", help="Write the table as Parquet instead of CSV.")] = False,
    animation: Annotated[bool, typer.Option(help="Write an animated GIF.")] = True,
    frames: Annotated[int, typer.Option(min=2, help="Pictures in the animation.")] = 80,
) -> None:
    """Show a flexible arm's modes and frequencies; with --simulate run it and write files."""
    given = read_arm(arm)
    if not simulate:
        _print_arm(given)
        return
    chosen = {"q0": _numbers(q0, "q0"), "duration": duration, "damping": damping}
    start = {**given.start, **{key: x for key, x in chosen.items() if x is not None}}
    model: flexible.Model = flexible.ExactRotation() if exact else flexible.Truncated()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run = _run(given, start, _input(torque, bang_bang), method, model)
    for warning in caught:
        typer.echo(f"warning: {warning.message}", err=True)
    _write(run, output, parquet, frames if animation else 0)


def _run(given: ArmFile, start: dict[str, Any], torque: Any, method: str,
         model: flexible.Model) -> Simulation:
    """The motion at every step."""
    duration, step = float(start.get("duration", 1.0)), float(start.get("step", 1e-3))
    if not duration > 0 or not step > 0 or duration / step > 1e6:
        raise ArgumentError(f"duration and step are positive, with up to 1e6 steps; they are "
                            f"{duration!r} and {step!r}")
    count = max(round(duration / step), 1)
    times = [duration * k / count for k in range(count + 1)]
    return flexible.simulate(
        given.arm, start.get("q0", [0.0] * given.arm.nq), start.get("v0"), torque, times,
        start.get("damping", 0.0), method, model=model, step=step)


def _input(torque: str | None, bang_bang: float | None) -> Any:
    u = _numbers(torque, "torque")
    if bang_bang is None:
        return u
    if u is None or not bang_bang > 0:
        raise ArgumentError("--bang-bang is a positive time and needs --torque, the torques")
    return flexible.bang_bang(u, 0.0, bang_bang / 2, bang_bang)


def _write(run: Simulation, folder: Path, parquet: bool, frames: int) -> None:
    """Table, plots and animation, each named as it is written."""
    import matplotlib

    matplotlib.use("Agg")
    folder.mkdir(parents=True, exist_ok=True)
    name = "".join(c if c.isalnum() or c in "-_" else "_" for c in run.arm.name)
    table = folder / f"{name}.{'parquet' if parquet else 'csv'}"
    flexible.write_table(run, table)
    save_picture(run.plot(), folder / f"{name}.png")
    written = [table, folder / f"{name}.png"]
    if frames:
        run.animate(folder / f"{name}.gif", frames=frames)
        written.append(folder / f"{name}.gif")
    typer.echo(f"{len(run.times)} times to {run.times[-1]:g} s by {run.method}; residuals: energy "
               f"{np.abs(run.energy_residual).max():.1e} J, momentum "
               f"{np.abs(run.momentum_residual).max():.1e} kg m²/s")
    for path in written:
        typer.echo(f"wrote {path}")


def _print_arm(given: ArmFile) -> None:
    arm = given.arm
    typer.echo(f"{arm.name}: {arm.n} links, {arm.nq} coordinates "
               f"({', '.join(arm.coordinate_names)})")
    if given.about:
        typer.echo(given.about)
    for i, modes in enumerate(arm.modes):
        typer.echo(f"\nlink {i + 1}: {modes.link.length:g} m, {modes.mass:g} kg, carries "
                   f"{modes.load.mass:g} kg and {modes.load.inertia:g} kg m²")
        for j, f in enumerate(modes.frequencies):
            typer.echo(f"  mode {j + 1}: {f:10.4f} Hz   tip {modes.tip[j]:+.4f}   "
                       f"slope {modes.tip_slope[j]:+.4f}   stiffness {modes.stiffness[j]:.4g} N/m")
    for locked in (True, False):
        found = flexible.frequencies(arm, locked=locked)
        typer.echo(f"\nstraight arm, joints {'locked' if locked else 'free'}: "
                   f"{', '.join(f'{f:.4g}' for f in found if f > 0) or 'no vibration'} Hz")


def _numbers(text: str | None, what: str) -> list[float] | None:
    if text is None:
        return None
    try:
        return [float(x) for x in text.split(",")]
    except ValueError:
        raise ArgumentError(f"--{what} is numbers separated by commas, not {text!r}") from None
