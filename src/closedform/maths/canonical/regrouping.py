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

from dataclasses import replace

import numpy as np

from closedform.arrays import Array, numeric
from closedform.model.inertia import Inertia
from closedform.model.robot import Robot


def regrouped(robot: Robot) -> Robot:
    """The robot with mass moved towards the root wherever that changes no joint torque."""
    P = {body.name: pseudo_inertia(body.inertia) for body in robot.bodies}
    for body in reversed(robot.bodies):
        movable = _movable(body.joint.S)
        share = np.where(movable, P[body.name], 0)
        P[body.name] = np.where(movable, 0, P[body.name])
        if body.parent is not None:
            T = body.placement
            P[body.parent] = P[body.parent] + T @ share @ T.T
    scale = _scale(robot)
    bodies = [replace(b, inertia=_inertia(P[b.name], scale)) for b in robot.bodies]
    return Robot(robot.name, bodies, robot.gravity, robot.frames, robot.source)


def pseudo_inertia(inertia: Inertia) -> Array:
    """P = [[Σ, h], [hᵀ, m]], (4, 4), with Σ = ½ tr(I) 1 − I."""
    I, h = inertia.origin_tensor, inertia.first_moment
    Sigma = np.trace(I) / 2 * np.eye(3, dtype=int) - I
    return np.concatenate([np.concatenate([Sigma, h[:, None]], axis=1),
                           np.array([[*h, inertia.mass]])])


def _inertia(P: Array, scale: Array) -> Inertia:
    """The inertia of a pseudo-inertia, without what rounding left in place of zeros."""
    if numeric(P):
        P = np.where(np.abs(P) <= 1e-14 * scale, 0.0, P)
    Sigma, h, m = P[:3, :3], P[:3, 3], P[3, 3]
    I = np.trace(Sigma) * np.eye(3, dtype=int) - Sigma
    return Inertia.from_parameters([m, *h, I[0, 0], I[0, 1], I[1, 1], I[0, 2], I[1, 2], I[2, 2]])


def _scale(robot: Robot) -> Array:
    """The robot's largest Σ, h and m, laid out as P."""
    P = [np.abs(pseudo_inertia(b.inertia).astype(float)) for b in robot.bodies
         if numeric(b.inertia.array)]
    if not P:
        return np.ones((4, 4))
    most = np.max(P, axis=0)
    scale = np.full((4, 4), most[:3, :3].max())
    scale[:3, 3] = scale[3, :3] = most[:3, 3].max()
    scale[3, 3] = most[3, 3]
    return scale


def _movable(S: Array) -> Array:
    """Entries of P that a joint's motion leaves as they are when the others are zero, (4, 4)."""
    mask = np.ones((4, 4), dtype=bool)
    for vx, vy, vz, x, y, z in S.T:
        s = np.array([[0, -z, y, vx], [z, 0, -x, vy], [-y, x, 0, vz], [0, 0, 0, 0]])
        moved = np.any(s != 0, axis=0)  # s e_i e_jᵀ + e_i e_jᵀ sᵀ = 0 if s e_i = s e_j = 0
        mask &= ~(moved[:, None] | moved)
    return mask
