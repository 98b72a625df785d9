"""Every algorithm of a quantity is tried, and the cheapest kept."""

import inspect

import numpy as np
import pytest

import closedform as cf
from closedform.applications.compile.preparation import Preparation
from closedform.applications.compile.requests import At, Request, asked_request
from closedform.lowerings import reference
from closedform.maths.catalogue import CATALOGUE, quantity
from closedform.maths.quantity import Form, takes_base
from closedform.program.pipeline import optimised
from random_robots import random_robot

UR5 = Preparation(cf.load("ur5"))


def asked(*names):
    return [Request(quantity(name)) for name in names]


@pytest.mark.parametrize("row", [row for row in CATALOGUE if len(row.algorithms) > 1
                                 and not row.framed], ids=lambda row: row.name)
def test_each_algorithm_is_recorded(row):
    tried = {way.algorithm for way in UR5._alone(Request(row), False)}
    assert tried == set(row.algorithms)


def test_algorithms_that_do_not_apply_are_not_tried():
    whole = Preparation(random_robot(1, ("revolute", "mimic"), bodies=4))
    row = quantity("forward_dynamics")
    tried = {way.algorithm.__module__ for way in whole._alone(Request(row), False)}
    assert tried == {x.__module__ for x in row.algorithms if "articulated" not in x.__module__}


def test_a_hopeless_algorithm_is_tried_in_one_frame_only():
    """τ of a 7-joint arm in one frame takes more than twice the operations of the recursion."""
    ways = list(Preparation(cf.load("panda"))._alone(asked("inverse_dynamics")[0], False))
    assert [way.base for way in ways] == [None, 1]


def test_no_program_of_several_ways_is_smaller_than_the_one_kept():
    for name in ("gravity_torque", "christoffel_coriolis_matrix"):
        ways = list(UR5.programs(asked(name)))
        assert len(ways) > 5
        least = min(optimised(p).operations.total for p in ways)
        assert UR5.program(asked(name)).operations.total == least


def test_fused_quantities_of_two_forms_share_one():
    """M and g may be regrouped, the C of (6b) may not: in its form they share more."""
    fused = asked("mass_matrix", "coriolis_matrix", "gravity_torque")
    forms = {form for _, form in UR5._common_frames(fused)}
    assert forms == {None, Form.CANONICAL}
    together = UR5.program(fused).operations.total
    assert together <= UR5.program(asked("passive_dynamics_matrices")).operations.total


def test_all_ways_of_fused_quantities_compute_the_same():
    robot = UR5.robot
    rng = np.random.default_rng(0)
    q, v = robot.random(rng), rng.normal(size=robot.nv)
    expected = cf.mass_matrix(robot, q), cf.coriolis_matrix(robot, q, v)
    for program in UR5.programs(asked("mass_matrix", "coriolis_matrix")):
        for ours, theirs in zip(reference.run(program, q, v), expected, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12 * np.abs(theirs).max())


def test_large_trees_are_tried_in_three_frames():
    whole = Preparation(cf.load("humanoid25"))
    n = len(whole.forms.base.segments)
    algorithm = next(filter(takes_base, quantity("coriolis_matrix").algorithms))
    assert list(whole._bases(asked("coriolis_matrix")[0], algorithm)) == [1, 0, n // 2]


def test_a_row_does_not_say_which_algorithm_is_for_company():
    assert "shared" not in inspect.signature(type(CATALOGUE[0])).parameters


def test_frames_and_references_reach_the_algorithms():
    robot = cf.load("ur5")
    frame = robot.body_names[-1]
    requests = [asked_request(robot, At("frame_jacobian", frame, reference))
                for reference in (cf.LOCAL, cf.WORLD)]
    q = robot.random(np.random.default_rng(0))
    for request in requests:
        J = reference.run(UR5.program([request]), q)
        np.testing.assert_allclose(
            np.reshape(J, (6, robot.nv)), cf.frame_jacobian(robot, q, frame, request.reference),
            rtol=0, atol=1e-14)
