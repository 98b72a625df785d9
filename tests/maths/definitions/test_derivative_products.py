"""Products with the derivatives of the dynamics, on random trees of all joint kinds."""

import numpy as np
import pytest
from hypothesis import given, settings

from closedform.maths.definitions import closed_form, forward_derivatives, inverse_derivatives
from loaded_robots import loaded_robot
from random_robots import complex_step, robots, seeds

STEP = 1e-30
ROUNDING = 1e-12


def state(robot, seed):
    """q, v, a and a direction of each, weights, and wrenches."""
    rng = np.random.default_rng(seed)
    q, *rest = robot.random(rng), *rng.normal(size=(6, robot.nv))
    return (q, *rest, rng.normal(size=(len(robot.bodies), 6)))


def assert_change(robot, function, at, along, found, rounding):
    """found is the sum of complex steps along each argument's direction."""
    q, v, x = at
    expected = complex_step(robot, lambda q: function(q, v, x), q, along[0])
    expected = expected + np.imag(function(q, v + 1j * STEP * along[1], x)) / STEP
    expected = expected + np.imag(function(q, v, x + 1j * STEP * along[2])) / STEP
    assert np.abs(found - expected).max(initial=0) <= rounding * np.abs(expected).max(initial=1)


def assert_products(robot, seed):
    q, v, a, *along, weights, F = state(robot, seed)
    tau_dot = inverse_derivatives.inverse_dynamics_jvp(robot, q, v, a, *along, F)
    assert_change(robot, lambda q, v, a: closed_form.inverse_dynamics(robot, q, v, a, F),
                  (q, v, a), along, tau_dot, ROUNDING)
    bars = inverse_derivatives.inverse_dynamics_vjp(robot, q, v, a, weights, F)
    assert sum(x @ y for x, y in zip(bars, along, strict=True)) == pytest.approx(
        weights @ tau_dot, rel=1e-9, abs=1e-10)
    condition = np.linalg.cond(closed_form.mass_matrix(robot, q)) if robot.nv else 1
    a_dot = forward_derivatives.forward_dynamics_jvp(robot, q, v, a, *along, F)
    assert_change(robot, lambda q, v, tau: closed_form.forward_dynamics(robot, q, v, tau, F),
                  (q, v, a), along, a_dot, ROUNDING * max(1, condition))
    bars = forward_derivatives.forward_dynamics_vjp(robot, q, v, a, weights, F)
    size = np.abs(weights).max(initial=1) * np.abs(a_dot).max(initial=1) * len(a_dot)
    assert sum(x @ y for x, y in zip(bars, along, strict=True)) == pytest.approx(
        weights @ a_dot, rel=0, abs=ROUNDING * max(1, condition) * max(1, size))


@settings(max_examples=15)
@given(robots(), seeds)
def test_they_are_changes_along_directions_and_their_transposes(robot, seed):
    """⟨ȳ, J ẋ⟩ = ⟨Jᵀ ȳ, ẋ⟩, and J ẋ by complex step."""
    assert_products(robot, seed)


@pytest.mark.parametrize("seed", [0, 3, 7])
def test_loads_on_the_joints_are_part_of_them(seed):
    """Springs, carried weights and rotors."""
    assert_products(loaded_robot(seed), seed)
