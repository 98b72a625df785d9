"""The command `closedform torques`: τ, τ̇, τ̈ along a trajectory as a table and a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from closedform.applications.motion.torques import torques
from closedform.applications.motion.trajectories import Sampled, Trajectory, cosines, read_samples
from closedform.applications.whole_files import save_picture
from closedform.errors import ArgumentError
from closedform.interfaces.cli.robot_argument import RobotArgument
from closedform.interfaces.cli.terminal import loaded, refuse_other_pictures, refuse_unwritable
from closedform.model.robot import Robot

COSINES = "cosines"
EXAMPLES = ("[bold]Examples:[/]  closedform torques iiwa14 --plot torques.png  |  "
            "closedform torques robot.urdf --trajectory motion.csv -o torques.csv")


def register(app: typer.Typer) -> None:
    """Add the command to the program."""

    @app.command("torques", epilog=EXAMPLES)
    def command(
        robot: RobotArgument,
        trajectory: Annotated[str, typer.Option(
            help="A CSV file (t, then q; columns are found by joint names where the first line has "
                 "them), or `cosines`: every joint swings.")] = COSINES,
        output: Annotated[Path, typer.Option(
            "--output", "-o", help="The table to write, .csv or .parquet.")] = Path("torques.csv"),
        plot: Annotated[Path | None, typer.Option(
            help="A picture to write, with numeric differences laid over.")] = None,
        points: Annotated[int, typer.Option(min=3, help="Times in the table.")] = 501,
        duration: Annotated[float, typer.Option(
            min=0, help="Seconds of a trajectory that has no end.")] = 5.0,
        floating: Annotated[bool, typer.Option(
            "--floating", help="Put the root link on a free joint.")] = False,
    ) -> None:
        """Compute τ, τ̇ and τ̈ along a trajectory, exactly."""
        refuse_other_pictures(plot, "--plot")
        refuse_unwritable(output, "--output")
        made = loaded(robot, floating)
        path, times = trajectory_of(made, trajectory, points, duration)
        result = torques(made, path, times)
        result.write(output)
        typer.echo(f"{output}: {points} times, τ, τ̇, τ̈ of {made.nv} velocities")
        if plot is not None:
            save_picture(result.plot(), plot)
            typer.echo(f"{plot}: the picture")


def trajectory_of(
    robot: Robot, name: str, points: int, duration: float,
) -> tuple[Trajectory, np.ndarray]:
    """The trajectory of an option, a file or `cosines`, and the times in its table."""
    if name == COSINES:
        if not duration > 0:
            raise ArgumentError(f"--duration must be positive, not {duration:g}")
        return cosines(robot), np.linspace(0.0, duration, points)
    if not Path(name).is_file():
        raise ArgumentError(f"no trajectory {name!r}: neither a file nor `{COSINES}`")
    path: Sampled = read_samples(robot, name)
    return path, np.linspace(path.times[0], path.times[-1], points)
