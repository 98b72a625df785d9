"""Garofalo, Ott, Albu-Schäffer 2013, section V: the misprints among the time derivatives."""

import numpy as np
import pytest

import closedform as cf
from closedform.maths.definitions.closed_form import with_inertia
from closedform.maths.definitions.time_derivatives import time_derivatives
from closedform.maths.kinematics import jacobian_second_rates
from closedform.maths.spatial import crm
from random_robots import random_robot, random_state


def dC_of_25b(robot, q, v, a, third, rate_of_twist):
    """(25b): Σ J̇ᵀ(ΨJ + ΛJ̇) + JᵀΛ · third + Jᵀ[(Λ ad − adᵀΛ) J + ΨJ̇], ad of `rate_of_twist`."""
    J, dJ, ddJ = jacobian_second_rates(robot, q, v, a)
    total = 0
    for k, _, L in with_inertia(robot):
        ad, dad = crm(J[k] @ v), crm(rate_of_twist(J[k], dJ[k]))
        Psi, dPsi = L @ ad - ad.T @ L, L @ dad - dad.T @ L
        total = total + (dJ[k].T @ (Psi @ J[k] + L @ dJ[k]) + J[k].T @ L @ third(dJ[k], ddJ[k])
                         + J[k].T @ (dPsi @ J[k] + Psi @ dJ[k]))
    return total


@pytest.fixture
def case():
    robot = random_robot(4, bodies=5)
    return robot, *random_state(robot, 4, 3)


def test_25b_needs_the_second_derivative_of_J_and_the_derivative_of_ad(case):
    robot, q, v, a, j = case
    truth = time_derivatives(robot, q, v, a, j).dC
    right = lambda J, dJ: J @ a + dJ @ v
    corrected = dC_of_25b(robot, q, v, a, lambda dJ, ddJ: ddJ, right)
    np.testing.assert_allclose(corrected, truth, atol=1e-12 * np.abs(truth).max())
    for printed in (
            dC_of_25b(robot, q, v, a, lambda dJ, ddJ: dJ, right),                    # J̇ for J̈
            dC_of_25b(robot, q, v, a, lambda dJ, ddJ: ddJ, lambda J, dJ: J @ v),     # adj, no dot
            dC_of_25b(robot, q, v, a, lambda dJ, ddJ: ddJ, lambda J, dJ: J @ v + dJ @ v)):
        assert np.abs(printed - truth).max() > 1e-3 * np.abs(truth).max()


def test_remark_5_needs_the_derivative_of_the_first_J(case):
    """C + Cᵀ = Σ J̇ᵀΛJ + JᵀΛJ̇, not Σ JᵀΛJ + JᵀΛJ̇."""
    robot, q, v, a, _ = case
    J, dJ, _ = jacobian_second_rates(robot, q, v, a)
    C = cf.coriolis_matrix(robot, q, v)
    corrected = sum(dJ[k].T @ L @ J[k] + J[k].T @ L @ dJ[k] for k, _, L in with_inertia(robot))
    printed = sum(J[k].T @ L @ J[k] + J[k].T @ L @ dJ[k] for k, _, L in with_inertia(robot))
    np.testing.assert_allclose(corrected, C + C.T, atol=1e-12 * np.abs(C).max())
    assert np.abs(printed - C - C.T).max() > 1e-3 * np.abs(C).max()


def test_25a_and_25c_are_right_as_printed(case):
    robot, q, v, a, j = case
    J, dJ, _ = jacobian_second_rates(robot, q, v, a)
    d = time_derivatives(robot, q, v, a, j)
    T = cf.poses(robot, q)
    dM = dg = 0
    for k, segment, L in with_inertia(robot):
        gamma = np.concatenate([T[segment.body][:3, :3].T @ -robot.gravity, np.zeros(3)])
        dM = dM + dJ[k].T @ L @ J[k] + J[k].T @ L @ dJ[k]
        dg = dg + (dJ[k].T @ L - J[k].T @ L @ crm(J[k] @ v)) @ gamma
    np.testing.assert_allclose(dM, d.dM, atol=1e-12 * np.abs(d.dM).max())
    np.testing.assert_allclose(dg, d.dg, atol=1e-12 * np.abs(d.dg).max())
