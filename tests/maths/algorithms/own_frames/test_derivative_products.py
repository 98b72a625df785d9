"""The recursions for products with derivatives take fewer operations than the chain rule."""

import numpy as np
import pytest
from hypothesis import given, settings

import closedform as cf
from closedform.applications.compile.preparation import Preparation
from closedform.applications.compile.requests import Request
from closedform.maths.algorithms import articulated, newton_euler
from closedform.maths.algorithms.own_frames import derivative_products as products
from closedform.maths.catalogue import quantity
from closedform.program.derivatives import cotangent, tangent
from closedform.program.pipeline import optimised
from loaded_robots import loaded_robot
from random_robots import random_state, robots, seeds


@settings(max_examples=25)
@given(robots(), seeds)
def test_each_is_the_transpose_of_the_other(robot, seed):
    """⟨τ̄, τ̇⟩ = ⟨q̄, q̇⟩ + ⟨v̄, v̇⟩ + ⟨ā, ȧ⟩: two recursions that share only Newton and Euler's."""
    assert_transposes(robot, seed)


@pytest.mark.parametrize("seed", range(6))
def test_each_is_the_transpose_of_the_other_with_all_loads(seed):
    assert_transposes(loaded_robot(seed), seed)


def assert_transposes(robot, seed):
    q, v, a, *along, weights = random_state(robot, seed, 6)
    F = np.random.default_rng(seed).normal(size=(len(robot.bodies), 6))
    tau_dot = products.inverse_dynamics_jvp(robot, q, v, a, *along, F)
    bars = products.inverse_dynamics_vjp(robot, q, v, a, weights, F)
    terms = np.concatenate([x * y for x, y in zip(bars, along, strict=True)])
    assert abs(terms.sum() - weights @ tau_dot) <= 1e-13 * np.abs(terms).sum() + 1e-13


@settings(max_examples=25)
@given(robots(kinds=("revolute", "prismatic", "free", "spherical")), seeds)
def test_a_solution_by_articulated_bodies_is_that_of_the_mass_matrix(robot, seed):
    q, b = random_state(robot, seed, 1)
    M = newton_euler.mass_matrix(robot, q)
    x = articulated.mass_solve(robot, q, b)
    size = np.abs(M).max(initial=1) * np.abs(x).max(initial=1)
    assert np.abs(M @ x - b).max(initial=0) <= 1e-12 * size * (1 + robot.nv)


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics"])
def test_they_take_fewer_operations_than_the_chain_rule_over_a_program(name):
    prepared = Preparation(cf.load("panda"))
    program = prepared.program([Request(quantity(name))])
    inputs = [slot.name for slot in program.inputs]
    for product, derived in (("jvp", tangent), ("vjp", cotangent)):
        chain = optimised(derived(program, inputs)).operations.total
        ours = prepared.program([Request(quantity(f"{name}_{product}"))]).operations.total
        assert ours < 0.95 * chain
