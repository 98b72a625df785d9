"""The regressor of the base parameters, dense and packed."""

import mpmath
import numpy as np
import pytest

import closedform as cf
from random_robots import random_robot, random_state


@pytest.mark.parametrize("seed", range(8))
def test_its_product_with_the_base_parameters_is_the_torque(seed):
    robot = random_robot(seed, bodies=4)
    q, v, a = random_state(robot, seed)
    base, Y = cf.base_parameters(robot), cf.base_regressor(robot, q, v, a)
    assert Y.shape == (robot.nv, base.count)
    tau = cf.inverse_dynamics(robot, q, v, a)
    np.testing.assert_allclose(Y @ base.values, tau, atol=1e-10 * np.abs(tau).max(initial=1.0))


@pytest.mark.parametrize("seed", range(8))
def test_packed_it_has_every_entry_that_is_not_zero(seed):
    robot = random_robot(seed, bodies=4)
    rows, columns = cf.packed_entries(robot)
    q, v, a = random_state(robot, seed + 100)
    Y = cf.base_regressor(robot, q, v, a)
    dense = np.zeros_like(Y)
    dense[rows, columns] = cf.packed_base_regressor(robot, q, v, a)
    np.testing.assert_allclose(dense, Y, atol=1e-12 * np.abs(Y).max(initial=1.0))


def test_a_panda_has_187_entries_in_1181_operations():
    arm = cf.compile(cf.load("panda"))
    assert arm.packed_base_regressor.interface.outputs[0].shape == (187,)
    assert arm.packed_base_regressor.operations.total <= 1181


@pytest.mark.parametrize("name", ["ur5", "puma560", "stanford"])
def test_entries_that_rounding_alone_makes_are_left_out(name):
    """What is not packed is zero in 50 digits, what is packed is not."""
    robot = cf.load(name)
    with mpmath.workdps(50):
        q, v, a = (np.array([mpmath.mpf(x) for x in row])
                   for row in np.random.default_rng(5).normal(size=(3, robot.nv)))
        Y = np.abs(cf.base_regressor(robot, q, v, a))
        there = np.zeros(Y.shape, dtype=bool)
        there[cf.packed_entries(robot)] = True
        assert Y[~there].max() < 1e-40 and Y[there].min() > 1e-6


def test_kernels_with_run_time_parameters_have_it_too():
    robot = cf.load("planar2r")
    arm = cf.compile(robot, inputs=cf.Parameters())
    q, v, a = np.array([0.1, 0.2]), np.ones(2), np.ones(2)
    np.testing.assert_allclose(arm.base_regressor(q, v, a, robot.parameters),
                               cf.base_regressor(robot, q, v, a), atol=1e-12)
    with pytest.raises(cf.ArgumentError, match="direction of gravity"):
        cf.compile(robot, inputs=cf.Gravity()).base_regressor(q, v, a, robot.gravity)
