"""Cᵀ v by recursion: what momentum observers need beside g.

Cites: [DeLucaMattone2003] for the use; the recursion is ours.
"""

from __future__ import annotations

from operator import add

from closedform.arrays import Array, namespace
from closedform.maths.algebra.entries import Entries, enter, tensor
from closedform.maths.algebra.trees import subtree_sums
from closedform.maths.algorithms.joint_steps import body_twists, joint_steps, wrench_in_parent
from closedform.maths.algorithms.moments import moments
from closedform.maths.algorithms.newton_euler import generalized_momentum
from closedform.maths.kinematics import segment_parents
from closedform.maths.loads import with_loads
from closedform.maths.pull_backs import pulled_back, transpose_torque
from closedform.maths.quantity import folds
from closedform.maths.spatial import force_cross
from closedform.model.robot import Robot


@folds
@pulled_back(transpose_torque, generalized_momentum)
@with_loads
def coriolis_transpose_torque(robot: Robot, q: Array, v: Array) -> Array:
    """Cᵀ v, (nv,), in O(n), the same for every C with dM = C + Cᵀ.

        (Cᵀ v)_j = −S_j · V_j×* h_j,      h_p += X_kpᵀ h_k

    h_j is the momentum of all that joint j carries: with C_ij = S_i · (I Ṡ_j + O S_j) and
    O = Σ V×* I the sum over i is Ṡ_j · Σ I V, because Oᵀ V = −I (V × V) = 0.
    """
    xp = namespace(q, v)
    way = joint_steps(robot, q)
    V = body_twists(robot, way, v, xp)
    own = [xp.zeros(6), *(moments(segment.inertia) @ V_k
                          for segment, V_k in zip(robot.segments, V[1:], strict=True))]
    h = subtree_sums(own, segment_parents(robot), add,
                     lambda k, h_k: wrench_in_parent(way[k - 1], h_k))
    torque: Entries = {}
    for segment, V_k, h_k in zip(robot.segments, V[1:], h[1:], strict=True):
        turned = force_cross(V_k, h_k)
        for c, i in enumerate(segment.v_index):
            enter(torque, (i,), -(segment.S[:, c] @ turned))
    return tensor(torque, (robot.nv,), xp)
