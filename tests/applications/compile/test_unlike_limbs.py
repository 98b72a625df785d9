"""Unlike limbs side by side: legs beside arms, against the closed forms."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import closedform as cf
from closedform.applications.compile.folding import FoldedForms
from closedform.applications.compile.forms import Forms
from closedform.applications.compile.preparation import Preparation
from closedform.applications.compile.requests import Request
from closedform.lowerings.reference import run
from closedform.lowerings.store.cache import Cache
from closedform.maths.algorithms.applicability import applies
from closedform.maths.catalogue import quantity
from closedform.maths.quantity import Form, may_join
from folded_checks import (
    FILES,
    FOLDING,
    ROWS,
    assert_folded_is_the_definition,
    assert_kernels_agree,
    from_package,
    states,
)
from limbed_robots import unlike_limbs

JOINING = [(name, algorithm) for name, algorithm in FOLDING if may_join(algorithm)]
people = st.builds(unlike_limbs, st.integers(0, 10_000), st.booleans(), st.booleans(),
                   st.booleans())


@pytest.mark.parametrize("name, algorithm", JOINING, ids=[name for name, _ in JOINING])
@pytest.mark.parametrize("seed", range(6))
def test_unlike_limbs_side_by_side_are_the_definition(seed, name, algorithm):
    robot = unlike_limbs(seed, loaded=seed % 2 == 1, floating=seed != 3)
    assert_folded_is_the_definition(robot, name, algorithm, unlike=True)


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics"])
@pytest.mark.parametrize("robot", ["talos", "humanoid25"])
def test_legs_and_arms_side_by_side_are_the_definition(robot, name):
    robot = from_package(robot) if robot in FILES else cf.load(robot)
    assert_folded_is_the_definition(robot, name, unlike=True)


@settings(max_examples=12, deadline=None)
@given(people, st.integers(0, 10_000), st.booleans())
def test_random_unlike_limbs_side_by_side_are_the_definition(robot, number, wrenches):
    try_unlike_limbs(robot, number, wrenches)


@pytest.mark.slow
@settings(max_examples=500, deadline=None)
@given(people, st.integers(0, 10_000), st.booleans())
def test_many_random_unlike_limbs_side_by_side_are_the_definition(robot, number, wrenches):
    try_unlike_limbs(robot, number, wrenches)


def try_unlike_limbs(robot, number, wrenches):
    name, algorithm = JOINING[number % len(JOINING)]
    row = quantity(name)
    wrenches = wrenches and row.wrenches
    if applies(algorithm, robot) and FoldedForms(Forms(robot), True).joins(
            [Request(row)], wrenches):
        assert_folded_is_the_definition(robot, name, algorithm, wrenches, unlike=True)


@pytest.mark.parametrize("name, most", [("inverse_dynamics", 1530), ("forward_dynamics", 3900)])
def test_legs_and_arms_side_by_side_take_fewer_operations(name, most):
    """With legs and arms one after the other 2064 and 4680."""
    preparation = Preparation(from_package("talos"))
    found = preparation.folded([Request(quantity(name))])
    assert found.program.operations.total <= most
    assert any({"leg_left_1_link", "leg_right_1_link"} < {*group} for group in found.lanes.groups)
    apart = preparation.folded([Request(quantity(name))], unlike=False)
    assert found.program.issued < 0.9 * apart.program.issued


def test_quantities_that_walk_to_ancestors_keep_unlike_limbs_apart():
    preparation = Preparation(unlike_limbs(4))
    both = [Request(quantity("inverse_dynamics")), Request(quantity("mass_matrix"))]
    for requests in (both, both[1:]):
        found = preparation.folded(requests)
        assert found == preparation.folded(requests, unlike=False) or (
            found.program.digest == preparation.folded(requests, unlike=False).program.digest)


@pytest.mark.parametrize("seed", range(4))
def test_the_mass_of_unlike_limbs_is_that_of_the_robot(seed):
    robot = unlike_limbs(seed)
    folded = FoldedForms(Forms(robot), True).at(Form.USER)
    assert any(body.seam for body in folded.robot.bodies)
    assert folded.robot.mass == pytest.approx(robot.mass, rel=1e-14)


def test_what_is_no_number_in_one_limb_does_not_reach_the_others():
    """Legs and arms in one register: a leg's torque knows nothing of an arm on a fixed trunk."""
    robot = unlike_limbs(1, floating=False)
    robot = replace(robot, bodies=tuple(replace(b, joint=cf.Fixed()) if b.name == "pelvis" else b
                                        for b in robot.bodies))
    kernel = cf.compile(robot, cache=Cache(None)).inverse_dynamics
    assert any({"leg0_0", "arm0_0"} < {*group} for group in kernel.lanes.groups)
    q, v, a = (x[0] for x in states(kernel, robot, 1))
    q = q.copy()
    q[robot.q_slices["arm0_1"]] = np.nan
    tau = kernel(q, v, a)
    legs = [i for name, x in robot.v_slices.items() if name.startswith("leg")
            for i in range(*x.indices(robot.nv))]
    expected, = run(kernel.program, q, v, a)
    assert np.isfinite(tau[legs]).all()
    np.testing.assert_allclose(tau, expected, rtol=1e-12)


def test_a_call_has_unlike_limbs_in_lanes_and_agrees_with_the_batch_and_the_definition():
    robot = unlike_limbs(3)
    arm = cf.compile(robot, cache=Cache(None))
    assert_kernels_agree(robot, ROWS[:2])
    kernel = arm.inverse_dynamics
    assert any({"leg0_0", "arm0_0"} < {*group} for group in kernel.lanes.groups)
    assert all(len(group) == len({*group}) > 1 for group in kernel.lanes.groups)
    q, v, a = (x[0] for x in states(kernel, robot, 1))
    F = np.random.default_rng(0).normal(size=(len(robot.bodies), 6))
    expected = cf.inverse_dynamics(robot, q, v, a, wrenches=F)
    np.testing.assert_allclose(arm.inverse_dynamics(q, v, a, wrenches=F), expected, rtol=0,
                               atol=1e-12 * np.abs(expected).max())
