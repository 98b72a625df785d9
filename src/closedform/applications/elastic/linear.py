"""Small motions of a robot with elastic joints about rest."""

from __future__ import annotations

import numpy as np

from closedform.applications.motion.linear import StateSpace, first_order
from closedform.arrays import Array
from closedform.maths.definitions.closed_form import gravity_torque, mass_matrix
from closedform.maths.definitions.inverse_derivatives import inverse_dynamics_derivatives
from closedform.maths.elastic.arguments import checked
from closedform.maths.elastic.control import ElasticState
from closedform.maths.elastic.joints import (
    inverse_dynamics,
    refuse_missing_inertia,
    spring_curves,
)
from closedform.model.elasticity.joints import ElasticJoints


@checked
def linearisation(model: ElasticJoints, q: Array) -> StateSpace:
    """The linear system about rest at q, held by the torques that gravity needs there.

        M δq̈ + ∂g/∂q δq = N⁻¹ (C δΔ + D δΔ̇),   M_G δq̈_M = δu − C δΔ − D δΔ̇,
        δΔ = δq_M − N⁻¹ δq

    with M of the links and the rigid joints' motors, and C the springs' stiffness at rest.
    """
    refuse_missing_inertia(model)
    nv, index, N = model.robot.nv, list(model.elastic), model.gear_ratio
    zero, e = np.zeros(nv), len(index)
    rest = inverse_dynamics(model.changed(damping=0.0), q, np.zeros((4, nv)))
    deflection = model.compliance * N * gravity_torque(model.robot, q)
    for i, spring in model.springs.items():
        deflection[i] = spring.deflection(rest.spring_torque[i])
    slopes = np.array([curve.slope for curve in spring_curves(model, deflection)])
    out = np.hstack([-np.eye(nv)[index] / N[index, None], np.eye(e)])     # δΔ of (δq, δθ)
    M, K = np.zeros((2, nv + e, nv + e))
    M[:nv, :nv], M[nv:, nv:] = mass_matrix(model.link_robot, q), np.diag(model.motor_inertia[index])
    K[:nv, :nv] = inverse_dynamics_derivatives(model.robot, q, zero, zero).dtau_dq
    drive = np.diag([0.0 if i in index else 1 / N[i] for i in range(nv)])
    A, B = first_order(
        M, out.T @ (model.damping[index, None] * out), K + out.T @ (slopes[:, None] * out),
        np.vstack([drive, np.eye(nv)[index]]))
    q_, theta, v, omega = np.split(np.arange(2 * (nv + e)), np.cumsum([nv, e, nv]))
    order = np.concatenate([q_, v, theta, omega])
    state = ElasticState(q, zero, rest.motor_position, zero)
    return StateSpace(A[np.ix_(order, order)], B[order], np.eye(len(order))[:nv], state,
                      rest.motor_torque)
