"""Kinetic and potential energy, and the momentum M v that belongs to v."""

from __future__ import annotations

from closedform.arrays import Array, Number
from closedform.maths.arguments import checked
from closedform.maths.definitions.center_of_mass import first_moment
from closedform.maths.definitions.closed_form import mass_matrix, with_inertia
from closedform.maths.kinematics import jacobians
from closedform.maths.pull_backs import SAME, pulled_back
from closedform.maths.springs import spring_energy
from closedform.model.robot import Robot


@checked
@pulled_back(SAME)
def kinetic_energy(robot: Robot, q: Array, v: Array) -> Number:
    """T = ½ Σ_k V_kᵀ Λ_k V_k + ½ Σ rotor v², scalar; V_k = J_k v."""
    J = jacobians(robot, q)
    V = {k: J[k] @ v for k, _, _ in with_inertia(robot)}
    twice = sum(V[k] @ (Lambda_k @ V[k]) for k, _, Lambda_k in with_inertia(robot))
    return (twice + (robot.rotor_inertia * v) @ v) / 2


@checked
def potential_energy(robot: Robot, q: Array) -> Number:
    """U = −gravityᵀ Σ_k w_k (m_k p_k + R_k (m c)_k) + ½ Σ k (q − q₀)², scalar.

    Zero for a mass at the world's origin and springs at rest. w_k is 1, or what is left of it where
    a fraction of the weight is carried from outside (`Body.gravity_compensation`).
    """
    return -(robot.gravity @ first_moment(robot, q, of_weights=True)) + spring_energy(robot, q)


@checked
def generalized_momentum(robot: Robot, q: Array, v: Array) -> Array:
    """p = M v, (nv,)."""
    return mass_matrix(robot, q) @ v
