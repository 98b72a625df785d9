"""M, C, g and derivatives by carried wrenches: equal to the definitions, and fewer operations."""

import numpy as np
import pytest
from hypothesis import given, settings

import closedform as cf
from closedform.maths.algorithms.one_frame import (
    derivatives as one_frame_derivatives,
)
from closedform.maths.algorithms.one_frame import (
    matrices as one_frame_matrices,
)
from closedform.maths.algorithms.own_frames import (
    derivatives as own_frames_derivatives,
)
from closedform.maths.algorithms.own_frames import (
    matrices as own_frames_matrices,
)
from closedform.maths.canonical.frames import canonical
from closedform.maths.canonical.regrouping import regrouped
from closedform.maths.definitions import (
    closed_form,
    dynamics_matrices,
    forward_derivatives,
    inverse_derivatives,
)
from closedform.program.record import record
from random_robots import KINDS, random_robot, random_state, robots, seeds
from tree_checks import assert_close, assert_zeros_by_structure, branched, joints_on_one_way


def chains_of_one_kind():
    for kind in KINDS:
        kinds = (kind, "revolute") if kind in ("fixed", "mimic") else (kind,)
        yield random_robot(3, kinds, bodies=4, spread=1)


def assert_matrices_agree(robot, seed):
    q, v = random_state(robot, seed, 1)
    found = own_frames_matrices.christoffel_dynamics_matrices(robot, q, v)
    expected = dynamics_matrices.christoffel_dynamics_matrices(robot, q, v)
    for x, y in zip(found, expected, strict=True):
        assert_close(x, y)
    np.testing.assert_array_equal(found.M, found.M.T)


@settings(max_examples=30)
@given(robots(), seeds)
def test_the_matrices_equal_the_closed_form(robot, seed):
    assert_matrices_agree(robot, seed)


@pytest.mark.parametrize("robot", list(chains_of_one_kind()), ids=KINDS)
def test_the_matrices_equal_the_closed_form_on_chains_of_one_kind(robot):
    assert_matrices_agree(robot, 1)


def assert_derivatives_agree(robot, seed):
    q, v, a = random_state(robot, seed)
    F = np.random.default_rng(seed).normal(size=(len(robot.bodies), 6))
    found = own_frames_derivatives.inverse_dynamics_and_derivatives(robot, q, v, a, F)
    expected = inverse_derivatives.inverse_dynamics_and_derivatives(robot, q, v, a, F)
    for x, y in zip(found, expected, strict=True):
        assert_close(x, y)
    alone = own_frames_derivatives.inverse_dynamics_derivatives(robot, q, v, a, F)
    for x, y in zip(alone, found[1:], strict=True):
        np.testing.assert_array_equal(x, y)
    np.testing.assert_array_equal(alone.dtau_da, alone.dtau_da.T)


@settings(max_examples=30)
@given(robots(), seeds)
def test_the_derivatives_equal_the_closed_form(robot, seed):
    assert_derivatives_agree(robot, seed)


@pytest.mark.parametrize("robot", list(chains_of_one_kind()), ids=KINDS)
def test_the_derivatives_equal_the_closed_form_on_chains_of_one_kind(robot):
    assert_derivatives_agree(robot, 1)


@settings(max_examples=15)
@given(robots(), seeds)
def test_the_derivatives_of_forward_dynamics_equal_the_definition(robot, seed):
    q, v, tau = random_state(robot, seed)
    F = np.random.default_rng(seed).normal(size=(len(robot.bodies), 6))
    found = own_frames_derivatives.forward_dynamics_derivatives(robot, q, v, tau, F)
    expected = forward_derivatives.forward_dynamics_derivatives(robot, q, v, tau, F)
    condition = np.linalg.cond(closed_form.mass_matrix(robot, q)) if robot.nv else 1.0
    for x, y in zip(found, expected, strict=True):
        assert_close(x / condition, y / condition, np.abs(y).max(initial=1))


def test_entries_of_joints_on_different_branches_are_exact_zeros_of_the_program():
    robot = branched()
    program = record(
        lambda q, v, a: own_frames_derivatives.inverse_dynamics_derivatives(robot, q, v, a),
        {"q": (robot.nq,), "v": (robot.nv,), "a": (robot.nv,)}, "derivatives")
    assert_zeros_by_structure(program, np.flatnonzero(~joints_on_one_way(robot).ravel()))


@pytest.mark.parametrize("name", ["iiwa14", "panda", "humanoid25"])
def test_they_take_fewer_operations_than_in_one_frame(name):
    """Multiplications and additions in base parameters, before simplification."""
    robot = regrouped(canonical(cf.load(name)).robot)
    q, v = ("q", (robot.nq,)), ("v", (robot.nv,))

    def matrices(algorithm, **extra):
        return record(lambda q, v: algorithm(robot, q, v, **extra), dict((q, v)), "M")

    def derivatives(algorithm, **extra):
        return record(lambda q, v, a: algorithm(robot, q, v, a, **extra),
                      dict((q, v, ("a", (robot.nv,)))), "d")

    for count, carried, one_frame in (
        (matrices, own_frames_matrices.christoffel_dynamics_matrices,
         one_frame_matrices.christoffel_dynamics_matrices),
        (derivatives, own_frames_derivatives.inverse_dynamics_derivatives,
         one_frame_derivatives.inverse_dynamics_derivatives),
    ):
        best = min(count(one_frame, base=base).operations.total for base in (0, 1, 2, 3))
        assert count(carried).operations.total < 0.9 * best


@pytest.mark.parametrize(("name", "most"), [("iiwa14", 1351), ("panda", 1465), ("ur5", 620)])
def test_the_recorded_matrices_take_few_operations(name, most):
    """What is counted, so that a change that costs operations is seen."""
    robot = regrouped(canonical(cf.load(name)).robot)
    program = record(
        lambda q, v: own_frames_matrices.christoffel_dynamics_matrices(robot, q, v),
        {"q": (robot.nq,), "v": (robot.nv,)}, "matrices")
    assert program.operations.total <= most
