"""The command `closedform elastic`: motor torques and positions of a robot with elastic joints."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from closedform.applications.whole_files import save_picture
from closedform.errors import ArgumentError
from closedform.interfaces.cli.robot_argument import RobotArgument
from closedform.interfaces.cli.terminal import loaded, refuse_other_pictures, refuse_unwritable
from closedform.interfaces.cli.torques import trajectory_of
from closedform.model.elasticity.joints import ElasticJoints

COSINES = "cosines"
EXAMPLES = ("[bold]Examples:[/]  closedform elastic iiwa14 --stiffness 10000 --plot motors.png  |  "
            "closedform elastic robot.urdf --stiffness shoulder=1.2,elbow=0.8 --gear-ratio 0.01 "
            "--motor-inertia 3e-5 --trajectory motion.csv")
GIVEN = "a number for all joints, one for each (1,2,inf), or name=number,..."


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("elastic", epilog=EXAMPLES)(show_elastic)


def show_elastic(
    robot: RobotArgument,
    stiffness: Annotated[str, typer.Option(
        help=f"Stiffness at the motors' shafts, N m/rad: {GIVEN}; inf is a rigid joint.")],
    trajectory: Annotated[str, typer.Option(
        help="A CSV file (t, then q), or `cosines`: every joint swings.")] = COSINES,
    motor_inertia: Annotated[str, typer.Option(
        help=f"Motor inertia at the shaft, kg m²: {GIVEN}.")] = "0",
    gear_ratio: Annotated[str, typer.Option(
        help=f"Link speed over motor speed: {GIVEN}.")] = "1",
    damping: Annotated[str, typer.Option(
        help=f"Damping of the springs at the shaft, N m s/rad: {GIVEN}.")] = "0",
    output: Annotated[Path, typer.Option(
        "--output", "-o", help="The table to write, .csv.")] = Path("elastic.csv"),
    plot: Annotated[Path | None, typer.Option(help="A picture to write.")] = None,
    points: Annotated[int, typer.Option(min=2, help="Times in the table.")] = 501,
    duration: Annotated[float, typer.Option(
        min=0, help="Seconds of a trajectory that has no end.")] = 5.0,
    floating: Annotated[bool, typer.Option(
        "--floating", help="Put the root link on a free joint.")] = False,
) -> None:
    """Compute motor torques and motor positions of elastic joints along a trajectory, exactly."""
    refuse_other_pictures(plot, "--plot")
    refuse_unwritable(output, "--output")
    made = loaded(robot, floating)
    model = ElasticJoints(made, _given(stiffness, "stiffness"),
                          _given(motor_inertia, "motor-inertia"),
                          _given(gear_ratio, "gear-ratio"), _given(damping, "damping"))
    path, times = trajectory_of(made, trajectory, points, duration)
    from closedform.applications import elastic  # slow to import
    result = elastic.torques(model, path, times)
    result.write(output)
    typer.echo(f"{output}: {points} times; torques u, positions theta, velocities omega of "
               f"{made.nv} motors, {len(model.elastic)} of them on springs")
    deflected = np.max(np.abs(model.gear_ratio * result.deflection), axis=0)
    for i in model.elastic:
        typer.echo(f"  {model.names[i]}: largest motor torque "
                   f"{np.max(np.abs(result.motor_torque[:, i])):.4g}, largest deflection at the "
                   f"link {deflected[i]:.4g}")
    if plot is not None:
        import matplotlib

        matplotlib.use("Agg")
        save_picture(result.plot(), plot)
        typer.echo(f"{plot}: the picture")


def _given(text: str, what: str) -> Any:
    """A number, numbers, or numbers by name."""
    parts = [part.strip() for part in text.split(",")]
    try:
        if all("=" in part for part in parts):
            return {name: float(x) for name, _, x in (part.rpartition("=") for part in parts)}
        numbers = [float(x) for x in parts]
    except ValueError:
        raise ArgumentError(f"--{what} is {GIVEN}; not {text!r}") from None
    return numbers[0] if len(numbers) == 1 else numbers
