"""Derivatives of forward dynamics from any algorithm for those of inverse dynamics.

Cites: [CarpentierMansard2018] for the relation; [Featherstone2005] for the factor.
"""

from __future__ import annotations

from collections.abc import Callable

from closedform.arrays import Array, namespace
from closedform.maths.algebra.entries import tensor
from closedform.maths.algebra.ldl import branch_factor
from closedform.maths.definitions.forward_derivatives import ForwardDynamicsDerivatives
from closedform.maths.definitions.inverse_derivatives import InverseDynamicsDerivatives
from closedform.model.robot import Robot


def by_factor_of_mass(
    robot: Robot, M: Array, force: Array,
    derivatives: Callable[[Array], InverseDynamicsDerivatives],
) -> ForwardDynamicsDerivatives:
    """∂a/∂q = −M⁻¹ ∂τ/∂q, ∂a/∂v = −M⁻¹ ∂τ/∂v and ∂a/∂τ = M⁻¹ at a = M⁻¹ force.

    One branch-sparse factor M = L D Lᵀ serves a and all right-hand sides.
    """
    xp, n, factor = namespace(M, force), robot.nv, branch_factor(robot, M)
    if not n:
        return ForwardDynamicsDerivatives(M, M, M)
    dtau_dq, dtau_dv, _ = derivatives(xp.stack(factor.solve(force)))
    solved = xp.stack(factor.solve(xp.concatenate([-dtau_dq, -dtau_dv], axis=1)))
    inverse = tensor(factor.inverse_entries(), (n, n), xp)
    return ForwardDynamicsDerivatives(solved[:, :n], solved[:, n:], inverse)
