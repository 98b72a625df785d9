"""The rows of quantities that only robots with loops have."""

from __future__ import annotations

from closedform.maths.arguments import ROBOTS
from closedform.maths.loops import forces
from closedform.maths.quantity import Quantity
from closedform.model.robot import Robot


def rows(robot: Robot) -> int:
    """The rows of all loops."""
    return robot.closure.count if robot.closure else 0


def tree_nv(robot: Robot) -> int:
    """The velocities of the spanning tree."""
    return robot.tree.nv


def motors(robot: Robot) -> int:
    """The velocities that have motors."""
    return len(robot.actuated_velocities)


LOOP_CATALOGUE: tuple[Quantity, ...] = (
    Quantity(ROBOTS, "loop_residual", forces.loop_residual, ("q",), (rows,)),
    Quantity(ROBOTS, "loop_jacobian", forces.loop_jacobian, ("q",), (rows, tree_nv)),
    Quantity(ROBOTS, "loop_embedding", forces.loop_embedding, ("q",), (tree_nv, "nv")),
    Quantity(ROBOTS, "loop_configuration", forces.loop_configuration, ("y",), ("nq",)),
    Quantity(ROBOTS, "loop_step", forces.loop_step, ("q",), ("nq",)),
    Quantity(ROBOTS, "loop_forces", forces.loop_forces, ("q", "v", "a"), (rows,), wrenches=True),
    Quantity(ROBOTS, "actuator_torque", forces.actuator_torque, ("q", "tau"), (motors,)),
)
"""Beside `CATALOGUE`, whose rows all robots have."""

OPEN = ("loop_residual", "loop_jacobian", "loop_step")
"""What is there where loops are open, too."""
