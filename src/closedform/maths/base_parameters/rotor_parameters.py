"""Rotor inertias as parameters: their columns, and what they move with.

Exact ranks are taken of energies, in which a rotor is ½ r v²; its torque is that of this energy
(`maths.rotors`).
"""

from __future__ import annotations

import numpy as np

from closedform.maths.base_parameters.exact_geometry import ExactGeometry
from closedform.maths.base_parameters.exact_linear import Matrix
from closedform.model.robot import Robot


def rotor_columns(robot: Robot) -> list[list[int]]:
    """For each body, the numbers of its rotor inertias among the robot's parameters."""
    at, result = 10 * len(robot.bodies), []
    for body in robot.bodies:
        given = body.joint.rotor_inertia
        count = 0 if given is None else int(np.size(given))
        result.append(list(range(at, at + count)))
        at += count
    return result


def rotor_entries(robot: Robot, geometry: ExactGeometry) -> list[Matrix]:
    """For each segment, a row for each of its velocities: a one at the rotor inertias it moves.

    The columns are the rotor inertias of the joint that the segment is a part of.
    """
    number, columns = geometry.field.number, rotor_columns(robot)
    done, result = [0] * len(robot.bodies), []
    for s in geometry.segments:
        owner, n = s.segment.owner, len(s.screws)
        each = np.ndim(robot.bodies[owner].joint.rotor_inertia) > 0
        result.append([[number(int(not each or c == i)) for c in range(len(columns[owner]))]
                       for i in range(done[owner], done[owner] + n)])
        done[owner] += n
    return result
