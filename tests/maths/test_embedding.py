"""Robots whose joints follow others by polynomials, as motions of robots whose joints are free."""

import numpy as np
import pytest

import closedform as cf
from closedform.maths.embedding import embedding
from curved_robots import curved_robot
from random_robots import complex_step, random_state

ROBOTS = [curved_robot(), curved_robot(floating=True)]


@pytest.mark.parametrize("robot", ROBOTS, ids=["fixed", "floating"])
def test_the_free_robot_stands_where_the_coupled_one_does(robot):
    q, _, _ = random_state(robot)
    e = embedding(robot)
    assert e.free.nv == robot.nv + 3 and not e.free.is_curved and e.free.is_coupled
    np.testing.assert_allclose(cf.poses(e.free, e.coordinates(q)), cf.poses(robot, q), atol=1e-13)


@pytest.mark.parametrize("robot", ROBOTS, ids=["fixed", "floating"])
def test_the_rates_of_the_free_robot_are_the_time_derivatives_of_its_coordinates(robot):
    q, v, a = random_state(robot)
    e = embedding(robot)
    v_hat, a_hat = e.rates(q, [v, a])
    own = list(e.curves)                       # followers: v̂ is the rate of q̂
    at = [e.velocity[k] for k in own]
    rate = complex_step(robot, lambda q: e.coordinates(q)[own], q, v)
    np.testing.assert_allclose(v_hat[at], rate, atol=1e-14)
    second = complex_step(robot, lambda q: e.rates(q, [v])[0], q, v) + e.rates(q, [a])[0]
    np.testing.assert_allclose(a_hat, second, atol=1e-14)


def test_to_fold_with_slopes_is_a_product_with_the_transpose_of_G():
    robot = ROBOTS[1]
    q, _, _ = random_state(robot)
    e = embedding(robot)
    g = e.slopes(q)
    G = np.stack([e.raised(x, g) for x in np.eye(robot.nv)], axis=1)
    X = np.random.default_rng(0).normal(size=(3, e.free.nv, e.free.nv))
    np.testing.assert_allclose(e.folded(X, None, g, g), G.T @ X @ G, atol=1e-13)


def test_robots_that_differ_in_numbers_only_have_embeddings_of_their_own():
    robot = ROBOTS[0]
    other = robot.with_parameters(2 * robot.parameters)
    assert embedding(robot) is embedding(robot)
    assert embedding(other).free.mass == pytest.approx(2 * embedding(robot).free.mass)
