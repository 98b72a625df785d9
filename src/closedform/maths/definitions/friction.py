"""Friction in the joints."""

from __future__ import annotations

from closedform.arrays import Array, namespace
from closedform.maths.arguments import checked
from closedform.model.robot import Robot


@checked
def joint_friction(robot: Robot, v: Array) -> Array:
    """Friction torque that opposes the motion, (nv,): Σ r (viscous r v + coulomb sign(r v)).

    r is a mimic's ratio, 1 for other joints. Friction is in no other function: add it to the left
    side of M a + C v + g = τ.
    """
    xp = namespace(v)
    terms = [xp.zeros(()) for _ in range(robot.nv)]
    for segment in robot.segments:
        joint, r, n = segment.joint, segment.ratio, len(segment.v_index)
        viscous, coulomb = (joint.per_coordinate(k, n, 0.0) for k in ("viscous", "coulomb"))
        for i, d, c in zip(segment.v_index, viscous, coulomb, strict=True):
            terms[i] = terms[i] + r * (d * (r * v[i]))
            if c != 0:
                terms[i] = terms[i] + r * c * xp.sign(r * v[i])
    return xp.stack(terms) if terms else xp.zeros(0)
