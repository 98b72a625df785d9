"""Poses of bodies, their Jacobians and time derivatives; arguments that are refused."""

import numpy as np
import pytest
from hypothesis import given

from closedform.errors import ArgumentError
from closedform.maths import kinematics as kin
from closedform.maths.spatial import skew
from random_robots import complex_step, random_robot, random_state, robots, seeds


@given(robots(), seeds)
def test_dJ_is_the_time_derivative_of_J(robot, seed):
    q, v, _ = random_state(robot, seed)
    dJ = complex_step(robot, lambda q: kin.body_jacobians(robot, q), q, v)
    np.testing.assert_allclose(kin.body_jacobian_rates(robot, q, v), dJ, rtol=0, atol=1e-12)


@given(robots(), seeds)
def test_ddJ_is_the_time_derivative_of_dJ(robot, seed):
    """d/dt dJ(q, v) = ∂_q dJ · v + dJ(q, a), since dJ is linear in v."""
    q, v, a = random_state(robot, seed)
    along = complex_step(robot, lambda q: kin.body_jacobian_rates(robot, q, v), q, v)
    ddJ = along + kin.body_jacobian_rates(robot, q, a)
    size = np.abs(ddJ).max(initial=1)
    np.testing.assert_allclose(kin.body_jacobian_second_rates(robot, q, v, a), ddJ, rtol=0,
                               atol=1e-12 * size)


@given(robots(bent=False), seeds)
def test_velocities_that_do_not_move_a_body_have_zeros_in_its_jacobian(robot, seed):
    q, *_ = random_state(robot, seed)
    for J, moving in zip(kin.jacobians(robot, q), kin.moving_velocities(robot), strict=True):
        moves = np.isin(np.arange(robot.nv), moving)
        assert not J[:, ~moves].any() and J[:, moves].any(axis=0).all()


@given(robots(), seeds)
def test_body_jacobians_give_the_twists_of_the_poses(robot, seed):
    """T⁻¹ dT = [ω~ v; 0 0] with (v; ω) = J v."""
    q, v, _ = random_state(robot, seed)
    dT = complex_step(robot, lambda q: kin.poses(robot, q), q, v)
    for T_k, dT_k, J_k in zip(kin.poses(robot, q), dT, kin.body_jacobians(robot, q), strict=True):
        V = J_k @ v
        twist = np.zeros((4, 4))
        twist[:3, :3], twist[:3, 3] = skew(V[3:]), V[:3]
        np.testing.assert_allclose(np.linalg.solve(T_k, dT_k), twist, rtol=0, atol=1e-12)


@given(robots(), seeds)
def test_accelerations_of_bodies_are_rates_of_their_velocities(robot, seed):
    q, v, a = random_state(robot, seed)
    dV = complex_step(robot, lambda q: kin.body_velocities(robot, q, v), q, v)
    dV = dV + kin.body_velocities(robot, q, a)
    np.testing.assert_allclose(kin.body_accelerations(robot, q, v, a), dV, rtol=0,
                               atol=1e-12 * np.abs(dV).max(initial=1))


@pytest.mark.parametrize(("value", "message"), [
    (np.zeros(3), r"q must have the shape \(\d+,\)"),
    (None, r"q must be numbers|q must have the shape"),
    ("text", r"q must"),
])
def test_wrong_arguments_are_named(value, message):
    robot = random_robot(4)
    with pytest.raises(ArgumentError, match=message):
        kin.poses(robot, value)


def test_a_batch_is_sent_to_the_compiler():
    robot = random_robot(4)
    with pytest.raises(ArgumentError, match=r"cf\.compile"):
        kin.poses(robot, np.zeros((5, robot.nq)))


@given(robots(), seeds)
def test_a_step_and_the_way_between_are_the_robots_own_and_undo_each_other(robot, seed):
    rng = np.random.default_rng(seed)
    q, dv = robot.random(rng), rng.normal(size=robot.nv)
    q1 = kin.integrate(robot, q, dv)
    np.testing.assert_array_equal(q1, robot.integrate(q, dv))
    np.testing.assert_array_equal(kin.difference(robot, q, q1), robot.difference(q, q1))
    np.testing.assert_allclose(kin.integrate(robot, q, kin.difference(robot, q, q1)), q1,
                               atol=1e-13 * (1 + np.abs(q1).max(initial=0)))
