"""The tip pulled by hand: inverse kinematics with its certificate, self-motion and branches.

For a frame with as many freedoms as the arm has joints or fewer the task is its pose, else its
position; arms in a plane have a position in it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from closedform.applications.redundancy.certificate import MET, Solution
from closedform.applications.redundancy.climb import correct
from closedform.applications.redundancy.criteria import (
    Criterion,
    JointCentering,
    Manipulability,
    Posture,
)
from closedform.applications.redundancy.curves import SelfMotion, branches, self_motion
from closedform.applications.redundancy.problem import Problem, problem_of
from closedform.applications.redundancy.solving import solve
from closedform.applications.redundancy.tasks import PlanarPosition, Pose, Position, Task
from closedform.arrays import Floats
from closedform.errors import ArgumentError, ClosedformError
from closedform.maths.frames import frame_jacobian, frame_pose
from closedform.model.robot import Robot

REACHED = MET
"""m and rad: the tip is where it was pulled to."""
SEEDS = 5
MOST = 40
"""Joints of an arm whose kernels of `solve` are made while one waits."""


class Pull(NamedTuple):
    """How a tip can be pulled: its task, or why there is none."""

    task: Task | None
    reason: str = ""

    @property
    def turns(self) -> bool:
        """Whether the orientation is part of the task."""
        return isinstance(self.task, Pose)


@lru_cache(maxsize=64)
def pulls(robot: Robot, tip: str) -> Pull:
    """What the tip can be asked for, by the rank of its Jacobian at random configurations."""
    if robot.closure is not None:
        return Pull(None, "the gizmo moves robots without loops; move the independent joints by "
                          "their sliders")
    if robot.nv > MOST:
        return Pull(None, f"the gizmo moves robots of up to {MOST} joints; move these by their "
                          "sliders")
    if any(not body.joint.is_vector for body, _, _ in robot.parts):
        return Pull(None, "the gizmo moves robots whose coordinates add up; move the base by "
                            "its sliders")
    J = np.stack([np.asarray(frame_jacobian(robot, robot.random(seed), tip), dtype=float)
                  for seed in range(SEEDS)])
    moving = int(np.any(J != 0, axis=(0, 1)).sum())
    ranks = {rows: int(max(np.linalg.matrix_rank(j[:rows], tol=1e-9) for j in J))
             for rows in (3, 6)}
    if ranks[6] == 6 and moving >= 6:
        return Pull(Pose(tip))
    if ranks[3] == 3:
        return Pull(Position(tip))
    if ranks[3] == 2 and np.all(np.abs(J[:, 2]) < 1e-12):
        return Pull(PlanarPosition(tip))
    return Pull(None, f"{tip} has {ranks[3]} freedoms of position: too few to be pulled")


def task_of_tip(robot: Robot, tip: str) -> Task:
    """The task of a tip; an error in words where there is none."""
    found = pulls(robot, tip)
    if found.task is None:
        raise ArgumentError(found.reason)
    return found.task


def freedoms_left(robot: Robot, tip: str) -> int:
    """How many freedoms the arm has with its tip at rest; 0 where the tip cannot be pulled."""
    if pulls(robot, tip).task is None:
        return 0
    problem = problem_of(robot, task_of_tip(robot, tip), criterion_named(robot, "manipulability"))
    return int(problem.n - problem.m)


@lru_cache(maxsize=64)
def criterion_named(robot: Robot, name: str) -> Criterion:
    """A criterion by its name in `CRITERIA`."""
    if name == "posture":
        return Posture(tuple(robot.neutral()))
    return JointCentering() if name == "centering" else Manipulability()


def of_tip(robot: Robot, tip: str, q: Floats) -> Floats:
    """The pose of the tip, (4, 4)."""
    return np.asarray(frame_pose(robot, q, tip), dtype=float)


def wanted(robot: Robot, tip: str, T: Floats) -> Floats:
    """The part of a pose that the task asks for."""
    task = task_of_tip(robot, tip)
    if isinstance(task, Pose):
        return T
    return T[:2, 3] if isinstance(task, PlanarPosition) else T[:3, 3]


def pulled(robot: Robot, tip: str, criterion: str, T: Floats, q: Floats) -> Solution:
    """`redundancy.solve` for the tip at T, from q on."""
    found = solve(robot, task_of_tip(robot, tip), wanted(robot, tip, T),
                  criterion_named(robot, criterion), q)
    assert isinstance(found, Solution)                  # of one target
    return found


def _problem(robot: Robot, tip: str, criterion: str) -> Problem:
    return problem_of(robot, task_of_tip(robot, tip), criterion_named(robot, criterion))


def curve(robot: Robot, tip: str, criterion: str, T: Floats, q: Floats) -> SelfMotion:
    """`redundancy.self_motion` through q, where one freedom is left."""
    return self_motion(robot, task_of_tip(robot, tip), wanted(robot, tip, T),
                       criterion_named(robot, criterion), q)


def on_curve(robot: Robot, tip: str, criterion: str, T: Floats, found: SelfMotion,
             along: float) -> Floats:
    """The configuration at a part −1 … 1 of the curve: between two points, then corrected.

    Interpolated configurations miss the target by 1e-5; Newton's steps take that away.
    """
    problem, s = _problem(robot, tip, criterion), found.s
    if found.closed:
        points = np.concatenate([found.q, found.q[:1]])
        gap = float(np.linalg.norm(robot.difference(found.q[-1], found.q[0])))
        s = np.append(s, s[-1] + gap)
        at = 0.5 * along * float(s[-1]) % float(s[-1])
    else:
        points, at = found.q, along * abs(float(s[-1] if along > 0 else s[0]))
    if len(points) < 2:
        return points[0]
    k = int(np.clip(np.searchsorted(s, at), 1, len(s) - 1))
    part = float(np.clip((at - s[k - 1]) / max(s[k] - s[k - 1], 1e-300), 0, 1))
    way = robot.difference(points[k - 1], points[k])
    guess = robot.integrate(points[k - 1], part * way)
    x, none = problem.task.checked(wanted(robot, tip, T), robot), np.zeros(problem.n, dtype=bool)
    exact = correct(problem, guess, x, none)
    return points[k - 1 if part < 0.5 else k] if exact is None else exact


def all_branches(robot: Robot, tip: str, criterion: str, T: Floats,
                 q: Floats) -> tuple[Solution, ...]:
    """`redundancy.branches` of the target."""
    try:
        return tuple(branches(robot, task_of_tip(robot, tip), wanted(robot, tip, T),
                              criterion_named(robot, criterion)))
    except ClosedformError as error:
        raise ArgumentError(f"branches: {error}") from error
