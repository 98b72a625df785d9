"""A frame's Jacobian, rate and Hessian by screws are those of the definitions, in fewer steps."""

import numpy as np
import pytest
from hypothesis import given

import closedform as cf
from closedform.maths import frames
from closedform.maths.algorithms import frame_screws
from closedform.maths.frames import Reference
from closedform.program.record import record
from random_robots import random_robot, random_state, robots, seeds


@pytest.mark.parametrize("reference", list(Reference))
@given(robot=robots(), seed=seeds)
def test_they_are_the_definitions_in_every_reference(reference, robot, seed):
    q, v, _ = random_state(robot, seed)
    for name in ("tool", robot.body_names[0]):
        for row, given_arrays in (("frame_jacobian", (q,)), ("frame_jacobian_rate", (q, v)),
                                  ("kinematic_hessian", (q,))):
            expected = getattr(frames, row)(robot, *given_arrays, name, reference)
            found = getattr(frame_screws, row)(robot, *given_arrays, name, reference)
            np.testing.assert_allclose(
                found, expected, rtol=0, atol=1e-12 * np.abs(expected).max(initial=1))


def test_a_frame_of_the_world_has_no_screws():
    robot = random_robot(2).with_frames(cf.Frame("post", None))
    q, v, _ = random_state(robot)
    assert not frame_screws.frame_screws(robot, q, "post").screws
    assert not frame_screws.frame_jacobian(robot, q, "post").any()
    assert not frame_screws.frame_jacobian_rate(robot, q, v, "post").any()


@pytest.mark.parametrize("name", ["frame_jacobian", "kinematic_hessian"])
def test_they_take_less_than_half_of_the_operations(name):
    robot = cf.load("iiwa14")
    counts = [record(lambda q, m=module: getattr(m, name)(robot, q, "flange"), {"q": (7,)},
                     name).operations.total for module in (frame_screws, frames)]
    assert counts[0] < counts[1] / 2
