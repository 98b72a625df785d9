"""Friction in the joints."""

from __future__ import annotations

import numpy as np

from closedform.arrays import Array, namespace
from closedform.errors import ArgumentError
from closedform.maths.arguments import checked
from closedform.maths.embedding import embedding
from closedform.model.robot import Robot


@checked
def joint_friction(robot: Robot, v: Array, q: Array | None = None) -> Array:
    """Friction torque that opposes the motion, (nv,): Σ r (viscous r v + coulomb sign(r v)).

    r is a mimic's ratio, 1 for other joints; for one that follows by a polynomial it is γ'(q), so
    that friction of such a joint asks for q. Friction is in no other function: add it to the left
    side of M a + C v + g = τ.
    """
    xp = namespace(v)
    if rubs_with_q(robot):
        if q is None:
            raise ArgumentError(f"joint_friction of {robot.name}: q must be given, for friction of "
                                "joints that follow others by polynomials changes with it, as in "
                                "cf.joint_friction(robot, v, q)")
        e = embedding(robot)
        g, = e.slope_rates(q, [])
        return e.folded(joint_friction(e.free, e.raised(v, g)), g)
    if robot.loops:                              # none of the dependent joints rubs
        own = list(robot.closure.independent if robot.closure else ())
        whole = [v[own.index(i)] if i in own else xp.zeros(()) for i in range(robot.tree.nv)]
        return joint_friction(robot.tree, xp.stack(whole))[np.array(own, dtype=int)]
    terms = [xp.zeros(()) for _ in range(robot.nv)]
    for segment in robot.segments:
        joint, r, n = segment.joint, segment.ratio, len(segment.v_index)
        if isinstance(r, tuple):
            continue                             # a follower of several joints has no friction
        viscous, coulomb = (joint.per_coordinate(k, n, 0.0) for k in ("viscous", "coulomb"))
        for i, d, c in zip(segment.v_index, viscous, coulomb, strict=True):
            terms[i] = terms[i] + r * (d * (r * v[i]))
            if c != 0:
                terms[i] = terms[i] + r * c * xp.sign(r * v[i])
    return xp.stack(terms) if terms else xp.zeros(0)


def rubs_with_q(robot: Robot) -> bool:
    """Whether joints have friction that follow others by polynomials or loops: it changes with q.
    """
    own = set(robot.closure.independent if robot.closure else range(robot.nv))
    return any((s.higher or not own.issuperset(s.v_index))
               and (np.any(s.joint.viscous) or np.any(s.joint.coulomb)) for s in robot.segments)
