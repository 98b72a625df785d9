"""∂a/∂q, ∂a/∂v, ∂a/∂τ on random trees of all joint kinds."""

import numpy as np
from hypothesis import given, settings

from closedform.maths.algorithms.one_frame import derivatives as one_frame_derivatives
from closedform.maths.definitions import closed_form, forward_derivatives
from closedform.program.record import record
from random_robots import complex_step, random_robot, random_state, robots, seeds
from tree_checks import EPS, assert_zeros_by_structure, branched, joints_on_one_way


def assert_close(actual, expected, scale, condition):
    """Equal within 1 000 · condition(M) rounding errors of the scale: what a solution keeps."""
    size = max(np.abs(expected).max(initial=0), scale)
    assert np.abs(actual - expected).max(initial=0) <= 1e3 * condition * EPS * size


def condition(robot, q):
    return np.linalg.cond(closed_form.mass_matrix(robot, q)) if robot.nv else 1.0


@settings(max_examples=25)
@given(robots(), seeds)
def test_they_are_the_derivatives_along_every_direction(robot, seed):
    q, v, tau, w = random_state(robot, seed, 3)
    F = np.random.default_rng(seed).normal(size=(len(robot.bodies), 6))
    d = forward_derivatives.forward_dynamics_derivatives(robot, q, v, tau, F)
    k = condition(robot, q)

    def a(q, v):
        return closed_form.forward_dynamics(robot, q, v, tau, F)

    scale = max(1.0, np.abs(d.da_dq).max(initial=1))
    assert_close(d.da_dq @ w, complex_step(robot, lambda q: a(q, v), q, w), scale, k)
    assert_close(d.da_dv @ w, np.imag(a(q, v + 1e-30j * w)) / 1e-30, scale, k)
    M = closed_form.mass_matrix(robot, q)
    assert_close(M @ d.da_dtau, np.eye(robot.nv), 1.0, k)


@settings(max_examples=25)
@given(robots(), seeds)
def test_the_algorithm_equals_the_definition(robot, seed):
    q, v, tau = random_state(robot, seed)
    F = np.random.default_rng(seed).normal(size=(len(robot.bodies), 6))
    expected = forward_derivatives.forward_dynamics_derivatives(robot, q, v, tau, F)
    for base in (0, len(robot.segments)):
        found = one_frame_derivatives.forward_dynamics_derivatives(robot, q, v, tau, F, base)
        for x, y in zip(found, expected, strict=True):
            assert x.shape == y.shape
            assert_close(x, y, np.abs(y).max(initial=1), condition(robot, q))
        np.testing.assert_array_equal(found.da_dtau, found.da_dtau.T)


def test_separate_trees_stay_separate_in_the_recorded_program():
    """M⁻¹ and the derivatives of one root's accelerations by the other's state are exact zeros."""
    robot = random_robot(1, ("revolute", "spherical"), bodies=2, roots=2)
    program = record(
        lambda q, v, tau: one_frame_derivatives.forward_dynamics_derivatives(robot, q, v, tau),
        {"q": (robot.nq,), "v": (robot.nv,), "tau": (robot.nv,)}, "derivatives")
    assert_zeros_by_structure(program, np.flatnonzero(~joints_on_one_way(robot).ravel()))


def test_a_branched_robot_needs_fewer_operations_than_a_dense_inverse():
    """n³ multiplications for M⁻¹ and 2 n³ for its products, beside the derivatives of τ."""
    robot, n = branched(), branched().nv
    shapes = {"q": (robot.nq,), "v": (robot.nv,), "x": (robot.nv,)}

    def inverse(q, v, x):
        return one_frame_derivatives.inverse_dynamics_derivatives(robot, q, v, x, base=1)

    def forward(q, v, x):
        return one_frame_derivatives.forward_dynamics_derivatives(robot, q, v, x, base=1)

    more = record(forward, shapes, "a").operations.mul - record(inverse, shapes, "b").operations.mul
    assert more < 3 * n**3
