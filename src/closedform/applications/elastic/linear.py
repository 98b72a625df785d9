"""Small motions of a robot with elastic joints about rest: state space and vibrations."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

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
from closedform.model.elastic import ElasticJoints


class StateSpace(NamedTuple):
    """ẋ = A x + B δu about rest; x = (δq, δv, δθ, δω), θ and ω of the elastic joints' motors.

    δq is a tangent vector (nv,). `state` and `torque` are the rest itself.
    """

    A: Array
    B: Array
    state: ElasticState
    torque: Array

    @property
    def frequencies(self) -> Array:
        """Frequencies of the vibrations in Hz, rising."""
        imaginary = np.linalg.eigvals(self.A).imag
        scale = np.max(np.abs(imaginary), initial=0.0)
        return np.sort(imaginary[imaginary > 1e-6 * scale]) / (2 * np.pi)


@checked
def state_space(model: ElasticJoints, q: Any) -> StateSpace:
    """The linear system about rest at q, held by the torques that gravity needs there.

        M δq̈ = −∂g/∂q δq + N⁻¹ (C δΔ + D δΔ̇),   M_G δq̈_M = δu − C δΔ − D δΔ̇,
        δΔ = δq_M − N⁻¹ δq

    with M of the links and the rigid joints' motors, and C the springs' stiffness at rest.
    """
    refuse_missing_inertia(model)
    nv, index, N = model.robot.nv, list(model.elastic), model.gear_ratio
    zero = np.zeros(nv)
    rest = inverse_dynamics(model.changed(damping=0.0), q, np.zeros((4, nv)))
    deflection = model.compliance * N * gravity_torque(model.robot, q)
    for i, spring in model.springs.items():
        deflection[i] = spring.deflection(rest.spring_torque[i])
    C = np.diag([c.slope for c in spring_curves(model, deflection)])
    D = np.diag(model.damping[index])
    out = np.zeros((nv, len(index)))                # N⁻¹ on the elastic joints
    out[index, range(len(index))] = 1 / N[index]
    M = mass_matrix(model.link_robot, q)
    K = inverse_dynamics_derivatives(model.robot, q, zero, zero).dtau_dq
    links = np.linalg.solve(M, np.hstack([-K - out @ C @ out.T, -out @ D @ out.T,
                                          out @ C, out @ D]))
    J = np.diag(1 / model.motor_inertia[index])
    motors = J @ np.hstack([C @ out.T, D @ out.T, -C, -D])
    one, e = np.eye(nv), len(index)
    A = np.vstack([np.hstack([np.zeros((nv, nv)), one, np.zeros((nv, 2 * e))]), links,
                   np.hstack([np.zeros((e, 2 * nv + e)), np.eye(e)]), motors])
    drive = np.diag([0.0 if i in index else 1 / N[i] for i in range(nv)])
    B = np.vstack([np.zeros((nv, nv)), np.linalg.solve(M, drive), np.zeros((e, nv)),
                   J @ np.eye(nv)[index]])
    state = ElasticState(q, zero, rest.motor_position, zero)
    return StateSpace(A, B, state, rest.motor_torque)
