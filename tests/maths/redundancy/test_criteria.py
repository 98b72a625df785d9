"""Derivatives of criteria, and the extended Jacobian that is made of them."""

import numpy as np
import pytest

import closedform as cf
from closedform.maths.algorithms.frame_screws import (
    frame_screws,
    jacobian_derivative,
    jacobian_of,
)
from closedform.maths.redundancy.criteria import (
    Ellipsoid,
    limit_barrier,
    log_manipulability,
    obstacle_distance,
    power_of_manipulability,
)
from closedform.maths.redundancy.newton import (
    extended_jacobian,
    inverse_terms,
    lagrangian_hessian,
)
from random_robots import ONE_DOF, complex_step, random_robot, random_state

SEEDS = range(6)
ROWS = {"planar": (0, 1), "position": (0, 1, 2), "pose": (0, 1, 2, 3, 4, 5)}


def manipulability(robot, q, rows, frame):
    here = frame_screws(robot, q, frame)
    J, dJ = jacobian_of(here)[list(rows)], jacobian_derivative(here)[list(rows)]
    return log_manipulability(here, rows, dJ, inverse_terms(J))


def wide_robot(seed):
    """A chain with mimic, spherical and free joints, so that every task has full rank."""
    return random_robot(seed, bodies=8, spread=1)


@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS)
@pytest.mark.parametrize("seed", SEEDS)
def test_the_gradient_of_manipulability_is_its_derivative(seed, rows):
    """½ log det J Jᵀ along every tangent vector, for every joint kind."""
    robot = wide_robot(seed)
    q, = random_state(robot, seed, rates=0)

    def half_log_det(q):
        J = jacobian_of(frame_screws(robot, q, "tool"))[list(rows)]
        return 0.5 * np.log(np.linalg.det(J @ J.T))

    h = manipulability(robot, q, rows, "tool").h
    expected = [complex_step(robot, half_log_det, q, d) for d in np.eye(robot.nv)]
    np.testing.assert_allclose(h, expected, atol=1e-10 * (1 + np.abs(h).max()))


@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS)
@pytest.mark.parametrize("seed", SEEDS)
def test_the_hessian_of_manipulability_is_the_derivative_of_its_gradient(seed, rows):
    """The symmetric part, where tangent vectors do not commute."""
    robot = wide_robot(seed)
    q, = random_state(robot, seed, rates=0)
    terms = manipulability(robot, q, rows, "tool")
    found = np.array([complex_step(robot, lambda q: manipulability(robot, q, rows, "tool").h, q, d)
                      for d in np.eye(robot.nv)])
    size = np.abs(terms.B).max()
    np.testing.assert_allclose(terms.B, (found + found.T) / 2, atol=1e-9 * (1 + size))


def test_powers_of_manipulability_have_the_derivatives_of_det_and_its_root():
    robot = cf.load("planar3r")
    q = np.array([0.3, 1.1, -0.7])

    def terms(q, power):
        return power_of_manipulability(manipulability(robot, q, (0, 1), "tip"), power)

    for power in (1, 2):
        given = terms(q, power)
        J = cf.frame_jacobian(robot, q, "tip")[:2]
        assert given.raw[0] == pytest.approx(np.linalg.det(J @ J.T) ** (power / 2), rel=1e-13)
        h = [complex_step(robot, lambda q, p=power: terms(q, p).raw[0], q, d) for d in np.eye(3)]
        B = [complex_step(robot, lambda q, p=power: terms(q, p).h, q, d) for d in np.eye(3)]
        np.testing.assert_allclose(given.h, h, atol=1e-14)
        np.testing.assert_allclose(given.B, B, atol=1e-13)


@pytest.mark.parametrize("exponent", [2, 4])
def test_obstacles_and_barriers_have_exact_derivatives(exponent):
    robot = random_robot(3, kinds=ONE_DOF, bodies=5, spread=1)
    q, = random_state(robot, 3, rates=0)
    obstacle = Ellipsoid((4.0, 3.0, -2.0), (0.5, 0.8, 0.6), exponent)

    def away(q):
        terms = obstacle_distance(frame_screws(robot, q, "tool"), obstacle)
        return -1.0 / terms.raw[0], terms

    def barrier(q):
        terms = limit_barrier(q, np.full(robot.nq, 4.0))
        return -np.sum(1.0 / terms.raw), terms

    for criterion in (away, barrier):
        _, terms = criterion(q)
        h = [complex_step(robot, lambda q, c=criterion: c(q)[0], q, d) for d in np.eye(robot.nv)]
        B = [complex_step(robot, lambda q, c=criterion: c(q)[1].h, q, d) for d in np.eye(robot.nv)]
        np.testing.assert_allclose(terms.h, h, rtol=1e-11, atol=1e-14 * np.abs(h).max())
        np.testing.assert_allclose(terms.B, B, rtol=1e-10, atol=1e-13 * np.abs(B).max())


@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS)
def test_the_determinant_of_the_extended_jacobian_factors(rows):
    """|det J_e| = √det J Jᵀ · |det NᵀWN|."""
    robot = cf.load("iiwa14")
    q = np.array([0.3, 0.7, -0.4, -1.2, 0.5, 0.9, 0.2])
    here = frame_screws(robot, q, "flange")
    J, dJ = jacobian_of(here)[list(rows)], jacobian_derivative(here)[list(rows)]
    terms = manipulability(robot, q, rows, "flange")
    _, W = lagrangian_hessian(terms.B, dJ, inverse_terms(J).G, terms.h)
    N = np.linalg.svd(J)[2][len(rows):].T
    left = abs(np.linalg.det(extended_jacobian(J, N, W)))
    right = np.sqrt(np.linalg.det(J @ J.T)) * abs(np.linalg.det(N.T @ W @ N))
    assert left == pytest.approx(right, rel=1e-11)
