"""Units of what joints do: rad and N m of those that turn, m and N of those that slide."""

from __future__ import annotations

from closedform.model.inertia import PARAMETER_NAMES
from closedform.model.robot import Robot


def sliding(robot: Robot) -> list[bool]:
    """Whether each velocity is a length by time; with loops of the independent ones."""
    found = [k in body.joint.moving.lengths for body, _, _ in robot.parts
             for k in range(body.joint.nv)]
    return [found[i] for i in robot.closure.independent] if robot.closure else found


def units(robot: Robot, turns: str, slides: str, both: str = "") -> str:
    """The units that a table over all velocities has: `N m`, `N`, or `N m, N`.

    A matrix also has those of a turn beside a slide: `both`.
    """
    found = set(sliding(robot))
    asked = ((turns, False in found), (both, both != "" and len(found) == 2),
             (slides, True in found))
    return ", ".join(dict.fromkeys(unit for unit, there in asked if there))


def inertia_units(robot: Robot) -> str:
    """Of the entries of M."""
    return units(robot, "kg m²", "kg", "kg m")


def parameter_unit(name: str) -> str:
    """Of an inertial parameter, by the end of its name."""
    kind = name.rpartition(".")[2]
    place = PARAMETER_NAMES.index(kind) if kind in PARAMETER_NAMES else 9
    return "kg" if place == 0 else "kg m" if place < 4 else "kg m²"
