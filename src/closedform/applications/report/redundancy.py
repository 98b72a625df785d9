"""The redundant part of a report: manipulability along a closed path, the self-motion of a pose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from closedform.applications.redundancy.criteria import Manipulability
from closedform.applications.redundancy.curves import SelfMotion, self_motion
from closedform.applications.redundancy.solving import solve
from closedform.applications.redundancy.tasks import PlanarPosition, Pose
from closedform.applications.redundancy.tracking import Track, track
from closedform.arrays import Array
from closedform.errors import ClosedformError
from closedform.maths.frames import frame_jacobian, frame_pose
from closedform.model.coordinates import coordinate_names
from closedform.model.robot import Robot

POINTS = 25
RADII = (0.1, 0.03, 0.01)
"""Of the circles tried, as parts of the distance from the base to the tip."""


@final
@dataclass(frozen=True)
class Redundant:
    """What a redundant arm does with its freedom, at the pose where it is best."""

    task: str
    names: list[str]            # of the coordinates
    radius: float               # m, of the circle that was followed
    track: Track
    curve: SelfMotion | None    # None: with more than one freedom the self-motion is no curve
    values: np.ndarray          # √det J Jᵀ along the curve


def arm_of_tip(robot: Robot) -> tuple[Robot, PlanarPosition | Pose] | str:
    """The arm that moves the tip, other joints locked, and the task that leaves it free to move."""
    if not all(b.joint.nq == b.joint.nv == 1 for b, _, _ in robot.parts):
        return "the tip of a fixed arm with single joints is needed"
    frame = robot.tip
    q = robot.random(np.random.default_rng(0))
    J = np.asarray(frame_jacobian(robot, q, frame))
    names = robot.independent or () if robot.loops else robot.joint_names
    idle = [name for name, moves in zip(names, np.any(J != 0, axis=0), strict=True) if not moves]
    if len(idle) == robot.nv:
        return f"no joint moves the frame {frame}"
    arm = robot.reduced(dict.fromkeys(idle, 0.0)) if idle and not robot.loops else robot
    planar = np.linalg.matrix_rank(J[:3]) == 2 and np.allclose(J[2], 0)
    rank = 2 if planar else int(np.linalg.matrix_rank(J))
    moving = robot.nv - len(idle)
    if (planar or rank == 6) and moving > rank:
        return arm, PlanarPosition(frame) if planar else Pose(frame)
    return (f"{moving} joints move the frame {frame} in {rank} directions; one more joint than "
            "directions is needed")


def redundant(robot: Robot) -> Redundant | str:
    """The best configuration near the middle, a circle and the self-motion; or why not."""
    found = arm_of_tip(robot)
    if isinstance(found, str):
        return found
    arm, task = found
    try:
        return _shown(arm, task, isinstance(task, PlanarPosition))
    except ClosedformError as error:
        return str(error)


def _shown(robot: Robot, task: PlanarPosition | Pose, planar: bool) -> Redundant | str:
    text = "planar position" if planar else "pose"
    criterion, bounded = Manipulability(), np.isfinite(robot.lower) & np.isfinite(robot.upper)
    middle = (np.where(bounded, robot.lower, 0.0) + np.where(bounded, robot.upper, 0.0)) / 2
    bend = np.resize([0.3, 0.6, 0.3, -1.2, 0.3, 0.9, 0.3], robot.nq)
    q = np.clip(middle + bend if planar else np.where(bounded, np.clip(
        bend, 0.9 * robot.lower, 0.9 * robot.upper), bend), robot.lower, robot.upper) \
        if not robot.loops else robot.neutral()
    T = np.asarray(frame_pose(robot, q, task.frame), dtype=float)
    target = T[:2, 3] if planar else T
    best = solve(robot, task, target, criterion, q)
    if not best.certified:
        return f"no certified optimum at the pose tried: {best.verdict}"
    reach = float(np.linalg.norm(T[:3, 3]))
    for part in RADII:
        found = track(robot, task, _circle(target, planar, part * reach), criterion, best.q)
        if found.complete:
            break
    names = coordinate_names(robot.q_slices)
    if robot.nv > (2 if planar else 6) + 1:
        return Redundant(text, names, part * reach, found, None, np.zeros(0))
    curve = self_motion(robot, task, target, criterion, best.q)
    rows = [0, 1] if planar else list(range(6))
    J = np.stack([np.asarray(frame_jacobian(robot, x, task.frame))[rows] for x in curve.q])
    values = np.sqrt(np.maximum(np.linalg.det(J @ np.swapaxes(J, 1, 2)), 0.0))
    return Redundant(text, names, part * reach, found, curve, values)


def _circle(target: Array, planar: bool, radius: float) -> Array:
    """A closed circle that begins at the target, in the plane y z, or x y for a planar arm."""
    angle = np.linspace(0.0, 2 * np.pi, POINTS)
    path = np.repeat(target[None], POINTS, axis=0)
    if planar:
        return path + radius * np.stack([np.cos(angle) - 1, np.sin(angle)], axis=1)
    path[:, 1, 3] += radius * np.sin(angle)
    path[:, 2, 3] += radius * (np.cos(angle) - 1)
    return path
