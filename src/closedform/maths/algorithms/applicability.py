"""Which robots an algorithm is for. Most are for all; one that is not says so where it stands."""

from __future__ import annotations

from functools import wraps
from typing import Any

from closedform.errors import ModelError
from closedform.maths.quantity import Function
from closedform.model.robot import Robot


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


def applies(algorithm: Function, robot: Robot) -> bool:
    """Whether an algorithm is for this robot."""
    return bool(getattr(algorithm, "applies", lambda robot: True)(robot))
