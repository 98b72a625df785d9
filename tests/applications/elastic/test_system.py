"""Elastic joints as a system, also on trees with quaternions."""

import numpy as np
import pytest

import closedform as cf
from closedform.applications import elastic
from elastic_models import random_model
from random_robots import random_robot, random_state


@pytest.mark.parametrize("seed", [2, 5])
def test_compiled_steps_and_rates_move_every_kind_of_joint_alike(seed):
    robot = random_robot(seed)
    model = cf.ElasticJoints(robot, 200.0, 0.3, 0.7)
    q, v = random_state(robot, 4, rates=1)
    t = np.linspace(0, 0.1, 3)
    exact = cf.simulate(model, (q, v), None, t)
    steps = cf.simulate(model, (q, v), None, t, method=cf.RK4(2e-4))
    np.testing.assert_allclose(steps.path, exact.path, rtol=0, atol=1e-6)
    assert steps.energy_drift < 1e-9
    assert np.max(steps.constraint_residual) < 1e-12


def test_a_closed_loop_balances_its_energy_on_quaternions():
    """The torques are held between the times, and the compiled steps keep their work."""
    robot = random_robot(2, kinds=("free", "revolute", "spherical"), bodies=3)
    model = random_model(robot)
    q, v = random_state(robot, 3, rates=1)
    law = elastic.Feedback(lambda t, state: -0.1 * state.motor_velocity)
    run = elastic.closed_loop(model, (q, v),
                              law, np.linspace(0, 0.05, 11), step=1e-4)
    assert run.energy_drift < 1e-6
    assert np.max(np.abs(run.work)) > 1e-4
    np.testing.assert_array_equal(run.tau[-1], -0.1 * run.motor_velocity[-1])


def test_a_state_comes_back_from_its_vector():
    model = cf.ElasticJoints(cf.load("planar2r"), [None, 30.0], 0.2, 0.5)
    system = cf.ElasticSystem(model)
    given = elastic.ElasticState(*np.array([[0.3, 0.2], [1.0, -1.0], [9.0, 0.5], [9.0, 1.0]]))
    back = system.state(system.start(given))
    np.testing.assert_array_equal(back.q, given.q)
    np.testing.assert_array_equal(back.motor_position, [0.6, 0.5])    # a rigid one is its link's
    np.testing.assert_array_equal(back.motor_velocity, [2.0, 1.0])
    assert len(system.state_names) == 6


def test_a_motor_without_inertia_is_told():
    with pytest.raises(cf.ArgumentError, match="motor_inertia of"):
        cf.ElasticSystem(cf.ElasticJoints(cf.load("planar2r"), 3.0, 0.0, 1.0))
