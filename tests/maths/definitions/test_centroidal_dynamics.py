"""The rate of the momentum about the centre of mass and its derivatives."""

import numpy as np
from hypothesis import given, settings

from closedform.maths.definitions import center_of_mass, closed_form
from closedform.maths.definitions import centroidal_dynamics as centroidal
from closedform.model.joints import Free
from closedform.model.robot import Body, Robot
from random_robots import complex_step, random_robot, random_state, robots, seeds

STEP = 1e-30


def close(actual, expected):
    np.testing.assert_allclose(actual, expected, rtol=0,
                               atol=1e-12 * np.abs(expected).max(initial=1))


@given(robots(), seeds)
def test_the_rate_of_the_matrix_is_its_time_derivative(robot, seed):
    q, v, _ = random_state(robot, seed)
    close(centroidal.centroidal_momentum_matrix_rate(robot, q, v), complex_step(
        robot, lambda q: center_of_mass.centroidal_momentum_matrix(robot, q), q, v))


@given(robots(), seeds)
def test_the_rate_of_the_momentum_is_its_time_derivative(robot, seed):
    q, v, a = random_state(robot, seed)
    h, dh = centroidal.centroidal_dynamics(robot, q, v, a)
    close(h, center_of_mass.momentum(robot, q, v))
    along = complex_step(robot, lambda q: center_of_mass.momentum(robot, q, v), q, v)
    close(dh, along + center_of_mass.momentum(robot, q, a))
    close(dh[:3], robot.mass * center_of_mass.com_acceleration(robot, q, v, a))


@settings(max_examples=20)
@given(robots(most=5), seeds)
def test_derivatives_are_those_of_the_momentum_and_its_rate(robot, seed):
    q, v, a = random_state(robot, seed)
    found = centroidal.centroidal_dynamics_derivatives(robot, q, v, a)

    def at(q, v, a):
        return np.stack(centroidal.centroidal_dynamics(robot, q, v, a))

    for i, e in enumerate(np.eye(robot.nv)):
        dh_dq, ddh_dq = complex_step(robot, lambda q: at(q, v, a), q, e)
        dh_dv, ddh_dv = np.imag(at(q, v + 1j * STEP * e, a)) / STEP
        _, ddh_da = np.imag(at(q, v, a + 1j * STEP * e)) / STEP
        for actual, expected in zip(found, (dh_dq, ddh_dq, ddh_dv, ddh_da), strict=True):
            close(actual[:, i], expected)
        close(found.ddh_da[:, i], dh_dv)


def test_the_momentum_of_a_free_robot_changes_by_its_weight_alone():
    root, *rest = random_robot(11, ("revolute", "spherical", "universal")).bodies
    robot = Robot("free", [Body("b0", None, Free(), root.placement, root.inertia), *rest])
    q, v, _ = random_state(robot, 1)
    a = closed_form.forward_dynamics(robot, q, v, np.zeros(robot.nv))
    _, dh = centroidal.centroidal_dynamics(robot, q, v, a)
    np.testing.assert_allclose(dh, [*robot.mass * robot.gravity, 0, 0, 0], rtol=0, atol=1e-10)
