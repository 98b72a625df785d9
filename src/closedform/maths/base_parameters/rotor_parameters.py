"""Rotor inertias as parameters: their columns, what they move with, which are held apart.

Exact ranks are taken of energies, so they see a rotor as ½ r v². Where the velocities of a joint
are no rates of coordinates, that energy asks for another torque than a rotor has; what tells the
two apart is a condition on the joint's rotor inertias alone.
"""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np

from closedform.maths.base_parameters.energy_vectors import bracket
from closedform.maths.base_parameters.exact_geometry import ExactGeometry
from closedform.maths.base_parameters.exact_linear import Matrix, units
from closedform.model.joints import Joint
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


def held_apart(joint: Joint, rotors: Matrix) -> Matrix:
    """Rows n with n · r = 0 exactly where rotor inertias r have the torque of their energy.

        E = ½ Σ_i r_i v_i²   asks for   τ_a = r_a v̇_a − Σ_bc ad(b)_ca v_b r_c v_c          (i)
        [s_b, s_a] = Σ_c ad(b)_ca s_c                                                     (ii)

    and a rotor gives r_a v̇_a alone (`Robot.rotor_map`), so each coefficient of v_b v_c must vanish.
    It does where the screws commute (one axis, a slide along a turn), and for equal rotors of three
    turns; not for slides whose direction turns with the joint.

    A direction of parameters that no torque depends on has no kinetic energy, by the torques of v̇;
    so the torques that follow from energy vanish, and what is left are these rows, joint by joint.
    """
    axes, n = joint.twists, len(rotors)
    if axes is None:                       # a kind that does not tell its unit twists
        return [] if n < 2 else rotors
    ad = [bracket(units(6)[axis]) for axis in axes]
    rows = [[ad[b][axes[c]][axes[a]] * x + ad[c][axes[b]][axes[a]] * y
             for x, y in zip(rotors[c], rotors[b], strict=True)]
            for a in range(n) for b, c in combinations_with_replacement(range(n), 2)]
    return [row for row in rows if any(row)]
