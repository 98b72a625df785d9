"""∂a/∂q, ∂a/∂v, ∂a/∂τ of forward dynamics, from those of inverse dynamics.

`closedform.maths.algorithms.forward_derivatives` has the algorithm with the branch-sparse factor of
M.

Cites: [CarpentierMansard2018].
"""

from __future__ import annotations

from typing import NamedTuple

from closedform.arrays import Array, namespace
from closedform.maths.arguments import checked
from closedform.maths.definitions.closed_form import forward_dynamics
from closedform.maths.definitions.inverse_derivatives import inverse_dynamics_derivatives
from closedform.maths.regularity import solved
from closedform.model.robot import Robot


class ForwardDynamicsDerivatives(NamedTuple):
    """Derivatives of a(q, v, τ), (nv, nv) each: row i is that of a_i."""

    da_dq: Array
    da_dv: Array
    da_dtau: Array


@checked
def forward_dynamics_derivatives(
    robot: Robot, q: Array, v: Array, tau: Array, wrenches: Array | None = None,
) -> ForwardDynamicsDerivatives:
    """∂a/∂q, ∂a/∂v and ∂a/∂τ of a = M⁻¹ (τ + Σ_k J_kᵀ F_k − C v − g), (nv, nv) each.

        ∂a/∂q = −M⁻¹ ∂τ/∂q      ∂a/∂v = −M⁻¹ ∂τ/∂v      ∂a/∂τ = M⁻¹

    with the derivatives of inverse dynamics at this a: differentiate τ = ID(q, v, FD(q, v, τ)).
    """
    xp = namespace(q, v, tau)
    a = forward_dynamics(robot, q, v, tau, wrenches)
    dtau_dq, dtau_dv, M = inverse_dynamics_derivatives(robot, q, v, a, wrenches)

    n = robot.nv
    if not n:
        return ForwardDynamicsDerivatives(M, M, M)
    found = solved(robot, M, xp.concatenate([-dtau_dq, -dtau_dv, xp.eye(n)], axis=1))
    return ForwardDynamicsDerivatives(found[:, :n], found[:, n:2 * n], found[:, 2 * n:])
