"""Cᵀ v by recursion: what momentum observers need beside g."""

from __future__ import annotations

from closedform.arrays import Array, namespace
from closedform.maths.algorithms.joint_steps import steps
from closedform.maths.algorithms.newton_euler import moments, momentum
from closedform.maths.algorithms.one_frame.screws import Entries, enter, force_cross, tensor
from closedform.maths.algorithms.regressors import body_twists
from closedform.maths.spatial import cross
from closedform.model.robot import Robot


def coriolis_transpose_torque(robot: Robot, q: Array, v: Array) -> Array:
    """Cᵀ v, (nv,), in O(n), the same for every C with dM = C + Cᵀ.

        (Cᵀ v)_j = −S_j · V_j×* h_j,      h_p += X_kpᵀ h_k

    h_j is the momentum of all that joint j carries: with C_ij = S_i · (I Ṡ_j + O S_j) and
    O = Σ V×* I the sum over i is Ṡ_j · Σ I V, because Oᵀ V = −I (V × V) = 0.
    """
    xp = namespace(q, v)
    way = steps(robot, q)
    V = body_twists(robot, way, v, xp)
    h = [xp.zeros(6)]
    for V_k, segment in zip(V[1:], robot.segments, strict=True):
        h.append(xp.zeros(6) if segment.inertia is None else
                 xp.concatenate(momentum(moments(segment.inertia), V_k[:3], V_k[3:])))
    torque: Entries = {}
    for k in range(len(way), 0, -1):
        segment, step = robot.segments[k - 1], way[k - 1]
        turned = force_cross(V[k], h[k])
        for c, i in enumerate(segment.v_index):
            enter(torque, (i,), -(segment.S[:, c] @ turned))
        if segment.parent:
            f = step.up(h[k][:3])
            n = step.up(h[k][3:]) + cross(step.p, f)
            h[segment.parent] = h[segment.parent] + xp.concatenate([f, n])
    return tensor(torque, (robot.nv,), xp)
