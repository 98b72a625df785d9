"""The centre of mass and the momentum about it."""

import numpy as np
from hypothesis import given

from closedform.maths import kinematics
from closedform.maths.definitions import center_of_mass
from random_robots import complex_step, random_state, robots, seeds


@given(robots(), seeds)
def test_com_jacobian_gives_the_velocity_of_the_centre_of_mass(robot, seed):
    q, v, _ = random_state(robot, seed)
    dc = complex_step(robot, lambda q: center_of_mass.center_of_mass(robot, q), q, v)
    np.testing.assert_allclose(center_of_mass.com_jacobian(robot, q) @ v, dc, rtol=0, atol=1e-12)


@given(robots(), seeds)
def test_rates_of_the_centre_of_mass_are_its_velocity_and_acceleration(robot, seed):
    q, v, a = random_state(robot, seed)
    dJ = complex_step(robot, lambda q: center_of_mass.com_jacobian(robot, q), q, v)
    np.testing.assert_allclose(center_of_mass.com_jacobian_rate(robot, q, v), dJ, rtol=0,
                               atol=1e-12 * np.abs(dJ).max(initial=1))
    dc = complex_step(robot, lambda q: center_of_mass.center_of_mass(robot, q), q, v)
    np.testing.assert_allclose(center_of_mass.com_velocity(robot, q, v), dc, rtol=0, atol=1e-12)
    ddc = complex_step(robot, lambda q: center_of_mass.com_velocity(robot, q, v), q, v)
    ddc = ddc + center_of_mass.com_velocity(robot, q, a)
    np.testing.assert_allclose(center_of_mass.com_acceleration(robot, q, v, a), ddc, rtol=0,
                               atol=1e-12 * np.abs(ddc).max(initial=1))


@given(robots(), seeds)
def test_linear_momentum_is_mass_times_the_velocity_of_the_centre(robot, seed):
    q, v, _ = random_state(robot, seed)
    h = center_of_mass.momentum(robot, q, v)
    v_com = center_of_mass.com_jacobian(robot, q) @ v
    np.testing.assert_allclose(h[:3], robot.mass * v_com, atol=1e-11)


@given(robots(), seeds)
def test_angular_momentum_is_taken_about_the_centre_of_mass(robot, seed):
    """Σ_k of m (p − c) × ṗ over the mass points, by the second moments of each body."""
    q, v, _ = random_state(robot, seed)
    c = center_of_mass.center_of_mass(robot, q)
    T = kinematics.poses(robot, q)
    dT = complex_step(robot, lambda q: kinematics.poses(robot, q), q, v)
    total = np.zeros(3)
    for body, T_k, dT_k in zip(robot.bodies, T, dT, strict=True):
        I = body.inertia
        S = np.zeros((4, 4))                      # pseudo-inertia ∫ (x; 1)(x; 1)ᵀ dm
        S[:3, :3] = np.trace(I.origin_tensor) / 2 * np.eye(3) - I.origin_tensor
        S[:3, 3] = S[3, :3] = I.first_moment
        S[3, 3] = I.mass
        away = T_k.copy()
        away[:3, 3] -= c
        L = away @ S @ dT_k.T                     # ∫ (x − c) ẋᵀ dm
        total += [L[1, 2] - L[2, 1], L[2, 0] - L[0, 2], L[0, 1] - L[1, 0]]
    np.testing.assert_allclose(center_of_mass.momentum(robot, q, v)[3:], total, atol=1e-11)
