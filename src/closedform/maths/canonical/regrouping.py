"""Inertial parameters with as many zeros as possible and the same joint-space dynamics.

A mass distribution that the joint's own motion leaves as it is may be counted to the parent.
Written with the pseudo-inertia P = ∫ (x; 1)(x; 1)ᵀ dm, that is every δP with T(q) δP T(q)ᵀ the same
for all q, which is to say that no column s of the joint's S changes it:

    P_k ← P_k − δP,     P_p ← P_p + T_pk δP T_pkᵀ                (i)
    s δP + δP sᵀ = 0,   s = [[ω̃, v], [0, 0]]                     (ii)

    revolute about z                         m, h_z, Σ_zz: what lies on the axis
    prismatic along z                        all six Σ
    helical, cylindrical, planar across z    Σ_zz
    spherical                                m

Robots in canonical frames have the most of it. The parameters of the world drop out.

Cites: [GautierKhalil1990, eqs. (15)-(16)], in the form that moves mass along the joint axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from closedform.arrays import Array, numeric
from closedform.maths.canonical.frames import NOISE
from closedform.maths.canonical.loop_regrouping import regrouped_over_loops
from closedform.model.inertia import Inertia
from closedform.model.loops.carried import with_loops_of
from closedform.model.robot import Robot


def regrouped(robot: Robot) -> Robot:
    """The robot with mass moved towards the root wherever that changes no joint torque.

    To a parent of whose weight another fraction is carried, only second moments, without weight.
    """
    if robot.loops:
        return regrouped_over_loops(with_loops_of(regrouped(robot.tree), robot))
    carried = {body.name: body.gravity_compensation for body in robot.bodies}
    P = {body.name: pseudo_inertia(body.inertia) for body in robot.bodies}
    terms = {name: abs(P_k) for name, P_k in P.items()}
    for body in reversed(robot.bodies):
        P_k, movable = _cut(P[body.name], terms[body.name]), _movable(body.joint.S)
        if body.parent is not None and carried[body.parent] != carried[body.name]:
            movable = movable & np.outer([1, 1, 1, 0], [1, 1, 1, 0]).astype(bool)
        share, P[body.name] = np.where(movable, P_k, 0), np.where(movable, 0, P_k)
        if body.parent is not None:
            T = body.placement
            P[body.parent] = P[body.parent] + T @ share @ T.T
            terms[body.parent] = terms[body.parent] + abs(T) @ abs(share) @ abs(T).T
    bodies = [replace(b, inertia=_inertia(P[b.name])) for b in robot.bodies]
    return Robot(robot.name, bodies, robot.gravity, robot.frames, robot.source)


def pseudo_inertia(inertia: Inertia) -> np.ndarray:
    """P = [[Σ, h], [hᵀ, m]], (4, 4), with Σ = ½ tr(I) 1 − I.

    Σ_xx and Σ_yy add up to I_zz, what turns about the joint's axis, however much smaller it is than
    I_xx and I_yy.
    """
    xx, xy, yy, xz, yz, zz = inertia.array[4:]
    across = _cut(xx - yy, abs(xx) + abs(yy))
    x, y = (_cut(s, abs(zz) + abs(across)) / 2 for s in (zz - across, zz + across))
    z, h = _cut(xx + yy - zz, abs(xx) + abs(yy) + abs(zz)) / 2, inertia.first_moment
    (x, y), (z,) = _short(x, y), _short(z)
    return np.array([[x, -xy, -xz, h[0]], [-xy, y, -yz, h[1]], [-xz, -yz, z, h[2]],
                     [*h, inertia.mass]])


def _short(*numbers: Any) -> Sequence[Any]:
    """The numbers with the last two bits of the largest unused, so that sums of them are exact.

    What is equal then stays equal on all ways through a program, and cancels.
    """
    largest = max(map(abs, numbers)) if numeric(np.array(numbers)) else 0
    unit = 4 * np.spacing(float(largest))
    return [np.round(x / unit) * unit for x in numbers] if largest else numbers


def _cut(total: Any, terms: Any) -> Any:
    """A sum without what is only rounding next to the absolute values of its terms."""
    if not numeric(np.asarray(total)):
        return total
    return np.where(np.abs(total) < NOISE * terms, 0.0, total)


def _inertia(P: Array) -> Inertia:
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = P[:3, :3]
    return Inertia.from_parameters([P[3, 3], *P[:3, 3], yy + zz, -xy, xx + zz, -xz, -yz, xx + yy])


def _movable(S: Array) -> Array:
    """Entries of P that a joint's motion leaves as they are when the others are zero, (4, 4)."""
    mask = np.ones((4, 4), dtype=bool)
    for vx, vy, vz, x, y, z in S.T:
        s = np.array([[0, -z, y, vx], [z, 0, -x, vy], [-y, x, 0, vz], [0, 0, 0, 0]])
        moved = np.any(s != 0, axis=0)  # s e_i e_jᵀ + e_i e_jᵀ sᵀ = 0 if s e_i = s e_j = 0
        mask &= ~(moved[:, None] | moved)
    return mask
