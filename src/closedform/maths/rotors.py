"""Rotor inertias on joints whose velocities turn with the body: planar, spherical and free.

The rotors r of a joint have the energy ½ Σ r_i v_i². Where v is not q̇, that energy asks for

    τ = diag(r) v̇ + Sᵀ (V×* Λ V),      Λ = S diag(r) Sᵀ,   V = S v

as a body of the inertia Λ would that moves as the joint does: S is constant, with orthonormal
columns. On a free joint with one number I, the second term is I (ω × v) on the linear part.
"""

from __future__ import annotations

import numpy as np

from closedform.arrays import Array, namespace
from closedform.maths.spatial import VelocityPart, passive_part
from closedform.model.robot import Robot
from closedform.model.segments import Segment


def turning_rotors(robot: Robot) -> list[Segment]:
    """Segments with rotors whose directions turn with them."""
    return [s for s in robot.segments if len(s.v_index) > 1 and not s.joint.is_vector
            and robot.bodies[s.owner].joint.rotor_inertia is not None]


def rotor_coriolis(robot: Robot, v: Array, part: VelocityPart = passive_part,
                   rotors: Array | None = None) -> Array:
    """What rotors add to a C, (nv, nv), skew for the passive one: Sᵀ Ψ(Λ, V) S, V = S v.

    `part` is that of the C: `passive_part` or `christoffel_part`; `rotors` (nv,) stand in place of
    the robot's.
    """
    rotors = robot.rotor_inertia if rotors is None else rotors
    xp, total = namespace(v), namespace(v).zeros((robot.nv, robot.nv))
    for s in turning_rotors(robot):
        S, index = s.S, np.array(s.v_index)
        E = xp.eye(robot.nv)[index]
        total = total + (S @ E).T @ part(S @ (rotors[index, None] * S.T), S @ v[index]) @ (S @ E)
    return total


def rotor_symbols(robot: Robot, like: Array, part: VelocityPart = passive_part) -> Array:
    """∂C_ij/∂v_h of `rotor_coriolis`, (nv, nv, nv), constant; `like` tells the kind of numbers."""
    xp, n = namespace(like), robot.nv
    columns = [rotor_coriolis(robot, e, part) for e in xp.eye(n)]
    return xp.stack(columns, axis=2) if columns else xp.zeros((0, 0, 0))


def rotor_speed_derivative(robot: Robot, v: Array) -> Array:
    """∂(C v)/∂v of the rotors, (nv, nv): column h is C(e_h) v + C(v) e_h."""
    xp, C = namespace(v), rotor_coriolis(robot, v)
    return C + xp.stack([rotor_coriolis(robot, e) @ v for e in xp.eye(robot.nv)], axis=1)


def rotor_second_derivative(robot: Robot, like: Array) -> Array:
    """∂²(C v)_i/∂v_j∂v_l of the rotors, (nv, nv, nv), constant."""
    xp, n = namespace(like), robot.nv
    C = [rotor_coriolis(robot, e) for e in xp.eye(n)]
    rows = [xp.stack([C[j][:, l] + C[l][:, j] for l in range(n)], axis=1) for j in range(n)]
    return xp.stack(rows, axis=1) if rows else xp.zeros((0, 0, 0))


def rotor_coriolis_columns(robot: Robot, v: Array, v_r: Array) -> Array:
    """C(v) v_r of unit rotors, (nv, rotors), one column for each rotor inertia that is given."""
    xp = namespace(v, v_r)
    columns = [rotor_coriolis(robot, v, rotors=r) @ v_r for r in robot.rotor_map.T]
    return xp.stack(columns, axis=1) if columns else xp.zeros((robot.nv, 0))
