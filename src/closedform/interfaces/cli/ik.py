"""`closedform ik`: a path of targets in, joint trajectories with certificates out."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from scipy.spatial.transform import Rotation

from closedform.applications.motion.tables import write_rows
from closedform.applications.redundancy import (
    Criterion,
    DetJJt,
    JointCentering,
    Manipulability,
    PlanarPosition,
    Pose,
    Position,
    Posture,
    Track,
    Yoshikawa,
    track,
)
from closedform.applications.whole_files import save_picture
from closedform.errors import ArgumentError, FormatError, suggestion
from closedform.interfaces.cli.robot_argument import RobotArgument
from closedform.interfaces.cli.terminal import loaded
from closedform.model.coordinates import coordinate_names
from closedform.model.robot import Robot

CRITERIA: dict[str, Callable[[Any], Criterion]] = {
    "manipulability": lambda q: Manipulability(),
    "det": lambda q: DetJJt(),
    "yoshikawa": lambda q: Yoshikawa(),
    "centering": lambda q: JointCentering(),
    "posture": Posture,
}
COLUMNS = "2 numbers a row (x,y), 3 (x,y,z) or 7 (x,y,z,qx,qy,qz,qw)"
MOST = 1_000_000    # rows of a path


def complete_criterion(incomplete: str) -> list[str]:
    """Criteria that begin like this."""
    return [name for name in CRITERIA if name.startswith(incomplete)]


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command("ik", epilog="[bold]Example:[/]  closedform ik iiwa14 --path path.csv "
                             "--criterion manipulability")(ik)


def ik(
    robot: RobotArgument,
    path: Annotated[Path, typer.Option(help=f"A CSV file of targets: {COLUMNS}.")],
    criterion: Annotated[str, typer.Option(
        autocompletion=complete_criterion,
        help=f"What is maximised: {', '.join(CRITERIA)}.")] = "manipulability",
    frame: Annotated[str | None, typer.Option(
        help="The frame or body that follows the path; else the last one that most joints move."
    )] = None,
    start: Annotated[str | None, typer.Option(
        help="Coordinates to start from, with commas; else the middle of the limits.")] = None,
    limits: Annotated[bool, typer.Option(help="Keep joints within their limits.")] = True,
    output: Annotated[Path, typer.Option("--output", "-o", help="A folder.")] = Path("ik"),
) -> None:
    """Follow a path with a redundant arm: trajectory, certificates and a plot.

    Exits with 1 if the path cannot be followed to its end.
    """
    if not path.is_file():
        raise ArgumentError(f"--path: there is no file {str(path)!r}; a CSV file of targets is "
                            f"needed: {COLUMNS}")
    arm = loaded(robot)
    targets, task_of = read_path(path)
    task = task_of(arm.tip if frame is None else frame)
    q0 = _start(arm, start)
    if criterion not in CRITERIA:
        raise ArgumentError(f"no criterion {criterion!r}; {suggestion(criterion, CRITERIA)}")
    found = track(arm, task, targets, CRITERIA[criterion](q0), q0, limits=limits)
    output.mkdir(parents=True, exist_ok=True)
    _write(found, arm, output)
    _plot(found, arm, output, f"{arm.name}: {criterion} along {path.name}")
    _report(found, len(targets), output)
    if found.stop is not None:
        raise typer.Exit(1)


def read_path(path: Path) -> tuple[Any, Callable[[str], Any]]:
    """Targets of a CSV file (a first row of words is a heading), and the task they ask for."""
    try:
        text = path.read_text(encoding="utf8")
    except UnicodeDecodeError as error:
        raise FormatError(f"{path}: not a text file: {error}") from error
    rows = [(n, row) for n, row in enumerate(csv.reader(text.splitlines()), start=1) if row]
    if rows and not any(_is_float(cell.strip()) for cell in rows[0][1]):
        rows = rows[1:]
    if not rows or len(rows) > MOST:
        raise FormatError(f"{path}: a path has 1 to {MOST} rows of numbers, not {len(rows)}")
    width = len(rows[0][1])
    for n, row in rows:
        if len(row) != width or not all(_number(cell) for cell in row):
            raise FormatError(f"{path}:{n}: expected {width} numbers, found {','.join(row)!r}")
    x = np.array([[float(cell) for cell in row] for _, row in rows])
    if width == 2:
        return x, PlanarPosition
    if width == 3:
        return x, Position
    if width == 7:
        return _poses(x, path), Pose
    raise FormatError(f"{path}: a path has {COLUMNS}, not {width}")


def _number(text: str) -> bool:
    return _is_float(text) and bool(np.isfinite(float(text)))


def _is_float(text: str) -> bool:
    """Whether this is a number for Python, nan and inf too."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _poses(x: Any, path: Path) -> Any:
    length = np.linalg.norm(x[:, 3:], axis=1)
    if np.any(np.abs(length - 1.0) > 1e-3):
        raise FormatError(f"{path}: quaternions must have the length 1, not "
                          f"{length[np.argmax(np.abs(length - 1.0))]:.4g}")
    poses = np.tile(np.eye(4), (len(x), 1, 1))
    poses[:, :3, :3] = Rotation.from_quat(x[:, 3:]).as_matrix()
    poses[:, :3, 3] = x[:, :3]
    return poses


def _start(robot: Robot, text: str | None) -> Any:
    if text is not None:
        if not all(_number(cell) for cell in text.split(",")):
            raise ArgumentError(f"start must be numbers with commas between, not {text!r}")
        return np.array([float(cell) for cell in text.split(",")])
    return middle_of(robot)


def middle_of(robot: Robot) -> Any:
    """The middle of the limits; neutral where there are none."""
    bounded = np.isfinite(robot.lower) & np.isfinite(robot.upper)
    middle = (np.where(bounded, robot.lower, 0.0) + np.where(bounded, robot.upper, 0.0)) / 2
    return np.where(bounded, middle, robot.neutral())


# ---------------------------------------------------------------------- results
def _write(found: Track, robot: Robot, output: Path) -> None:
    coordinates = coordinate_names(robot.q_slices)
    velocities = coordinate_names(robot.v_slices)
    heading = ["t", *coordinates, *(f"d_{name}" for name in velocities),
               *(f"dd_{name}" for name in velocities)]
    table = np.column_stack([found.times, found.q, found.rates, found.accelerations])
    write_rows(heading, table.tolist(), output / "trajectory.csv")
    write_rows(["t", "verdict", "task_residual", "optimality_residual", "value",
                "largest_eigenvalue", "sigma_min", "branch_sign", "limits"],
               [[t, str(s.verdict), s.task_residual, s.optimality_residual, s.value,
                 max(s.reduced_hessian.tolist(), default=""), s.sigma_min, s.branch_sign,
                 " ".join(s.limits)] for t, s in zip(found.times, found.solutions, strict=True)],
               output / "certificates.csv")


def _plot(found: Track, robot: Robot, output: Path, title: str) -> None:
    from closedform.applications.redundancy.plots import track_figure
    made = track_figure(found, coordinate_names(robot.q_slices), title)
    save_picture(made, output / "trajectory.png")


def _report(found: Track, count: int, output: Path) -> None:
    s = found.solutions
    verdicts = [str(one.verdict) for one in s]
    kinds = ", ".join(f"{verdicts.count(v)} {v}" for v in dict.fromkeys(verdicts))
    typer.echo(f"{len(s)} of {count} points: {kinds}")
    typer.echo(f"task residual ≤ {max(one.task_residual for one in s):.2g}, "
               f"optimality residual ≤ {max(one.optimality_residual for one in s):.2g}, "
               f"σ_min ≥ {min(one.sigma_min for one in s):.3g}")
    typer.echo(f"return: |q_end − q_start| = {np.abs(found.q[-1] - found.q[0]).max():.2g}")
    if found.stop is not None:
        typer.echo(f"stopped at {found.stop.reason}")
        if found.stop.self_motion is not None:
            typer.echo("a self-motion to another maximum: start again with --start="
                       + ",".join(f"{x:.9g}" for x in found.stop.self_motion[-1]))
    typer.echo(f"written: {output / 'trajectory.csv'}, {output / 'certificates.csv'}, "
               f"{output / 'trajectory.png'}")
