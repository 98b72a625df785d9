"""M⁻¹ and what is made of it, by the factor M = L D Lᵀ that keeps the zeros between branches.

    J M⁻¹ Jᵀ = Yᵀ D⁻¹ Y,   Y = L⁻¹ Jᵀ

Cites: [Featherstone2005, section 5].
"""

from __future__ import annotations

from functools import reduce
from operator import add

from closedform.arrays import Array, ldl, namespace
from closedform.maths.algebra.entries import Entries, tensor
from closedform.maths.algebra.ldl import branch_factor
from closedform.maths.algorithms.frame_screws import frame_jacobian
from closedform.maths.algorithms.newton_euler import mass_matrix
from closedform.maths.frames import LOCAL_WORLD_ALIGNED, Reference
from closedform.model.robot import Robot


def mass_matrix_inverse(robot: Robot, q: Array) -> Array:
    """M⁻¹, (nv, nv)."""
    factor = branch_factor(robot, mass_matrix(robot, q))
    return tensor(factor.inverse_entries(), (robot.nv, robot.nv), namespace(q))


def operational_space_mobility(robot: Robot, q: Array, frame: str,
                               reference: Reference = LOCAL_WORLD_ALIGNED) -> Array:
    """J M⁻¹ Jᵀ, (6, 6)."""
    J, factor = frame_jacobian(robot, q, frame, reference), branch_factor(
        robot, mass_matrix(robot, q))
    Y = factor.forward(J.T)
    rows = [(Y_k, Y_k * factor.inverse[k]) for k, Y_k in enumerate(Y)]
    entries: Entries = {}
    for i in range(6):
        for j in range(i + 1):
            terms = [Y_k[i] * scaled[j] for Y_k, scaled in rows]
            entries[i, j] = entries[j, i] = reduce(add, terms) if terms else 0
    return tensor(entries, (6, 6), namespace(q))


def operational_space_inertia(robot: Robot, q: Array, frame: str,
                              reference: Reference = LOCAL_WORLD_ALIGNED) -> Array:
    """Λ = (J M⁻¹ Jᵀ)⁻¹, (6, 6), where J has full row rank."""
    mobility = operational_space_mobility(robot, q, frame, reference)
    return tensor(ldl(mobility).inverse_entries(), (6, 6), namespace(q))
