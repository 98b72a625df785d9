"""Which robots an algorithm is for. Most are for all; one that is not says so where it stands."""

from __future__ import annotations

from functools import wraps
from typing import Any

from closedform.errors import ModelError
from closedform.maths.quantity import Function
from closedform.model.robot import Robot

LONG = 24
"""Joints in a row from which on what grows with their square is not tried."""


def uncoupled(algorithm: Function) -> Function:
    """An algorithm for robots without mimic joints, which couple velocities; it refuses others."""
    @wraps(algorithm)
    def checked(robot: Robot, *args: Any, **named: Any) -> Any:
        if robot.is_coupled:
            raise ModelError(f"{algorithm.__module__}.{algorithm.__name__} is for robots without "
                             f"mimic couplings; {robot.name} has some")
        return algorithm(robot, *args, **named)

    vars(checked)["applies"] = lambda robot: not robot.is_coupled
    return checked


def shallow(algorithm: Function) -> Function:
    """An algorithm that is not worth recording for robots of long chains, which has its like."""
    vars(algorithm)["applies"] = lambda robot: robot.is_coupled or tree_depth(robot) < LONG
    return algorithm


def tree_depth(robot: Robot) -> int:
    """Segments on the longest way to the world."""
    depth = [0]
    for segment in robot.segments:
        depth.append(depth[segment.parent] + 1)
    return max(depth)


def applies(algorithm: Function, robot: Robot) -> bool:
    """Whether an algorithm is for this robot."""
    return bool(getattr(algorithm, "applies", lambda robot: True)(robot))
