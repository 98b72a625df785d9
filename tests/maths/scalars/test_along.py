"""Quantities along a motion."""

import numpy as np
import pytest
from hypothesis import given, settings

import closedform as cf
from closedform.maths.scalars.along import along
from random_robots import complex_step, random_robot, random_state, robots, seeds


def motion(robot, seed, rows):
    rng = np.random.default_rng(seed)
    return robot.random(rng), rng.normal(size=(rows, robot.nv))


@settings(max_examples=15)
@given(robots(most=4), seeds)
def test_torques_along_a_motion_are_those_of_the_jet(robot, seed):
    q, rates = motion(robot, seed, 4)
    expected = cf.inverse_dynamics_jet(robot, q, rates)
    size = np.abs(expected).max(initial=1)
    np.testing.assert_allclose(along(cf.inverse_dynamics, robot, q, rates), expected,
                               atol=1e-11 * size)


@settings(max_examples=15)
@given(robots(most=4), seeds)
def test_the_rate_of_the_regressor_is_its_derivative_along_the_motion(robot, seed):
    """d/dt Y(q, v, a) = ∂_q Y · v + Y(q, v + εa, a + εj) differentiated at ε = 0."""
    q, rates = motion(robot, seed, 3)
    v, a, j = rates
    Y, dY = along(cf.regressor, robot, q, rates)
    np.testing.assert_allclose(Y, cf.regressor(robot, q, v, a), atol=1e-11)
    h = 1e-30j
    by_rates = np.imag(cf.regressor(robot, q, v + h * a, a + h * j)) / h.imag
    by_place = complex_step(robot, lambda q: cf.regressor(robot, q, v, a), q, v)
    np.testing.assert_allclose(dY, by_place + by_rates, atol=1e-10 * np.abs(dY).max(initial=1))


def test_accelerations_along_a_motion_use_division():
    """d/dt of M⁻¹ p with p = M v is a: a quotient of series."""
    robot = random_robot(3, ("revolute", "prismatic"), bodies=3)
    q, rates = motion(robot, 1, 3)

    def velocity(robot, q, v):
        M = cf.mass_matrix(robot, q)
        return cf.arrays.OBJECTS.solve(M, M @ v)

    np.testing.assert_allclose(along(velocity, robot, q, rates), rates, atol=1e-10)


def test_functions_of_other_things_are_refused():
    robot = random_robot(3)
    q, v, _ = random_state(robot)
    with pytest.raises(cf.ArgumentError, match="function must take"):
        along(lambda robot, v: v, robot, q, [v])
    with pytest.raises(cf.ArgumentError, match="at least 2 rows"):
        along(cf.inverse_dynamics, robot, q, [v])
