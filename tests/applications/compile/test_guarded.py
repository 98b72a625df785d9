"""Kernels of a frame's inertia: errors at singularities, and all else a kernel has."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

import closedform as cf

STRETCHED = np.array([0.3, -1.0, 1.2, 0.4, 0.0, 0.2])


@pytest.fixture(scope="module")
def kernel():
    return cf.compile(cf.load("ur5")).operational_space_inertia.at("wrist_3_link")


def test_a_singular_state_is_an_error_alone_and_in_a_batch(kernel):
    for q in (STRETCHED, np.stack([STRETCHED + 0.3, STRETCHED]), STRETCHED.astype(np.float32)):
        with pytest.raises(cf.SingularMatrix, match="fewer than six"):
            kernel(q)


def test_other_states_are_the_function(kernel):
    q = STRETCHED + 0.3
    expected = cf.operational_space_inertia(cf.load("ur5"), q, "wrist_3_link")
    np.testing.assert_allclose(kernel(q), expected, rtol=1e-9)
    out = np.empty((6, 6))
    assert kernel(q, out=out) is out


def test_it_is_pickled_and_shown_and_counted_as_a_kernel(kernel):
    again = pickle.loads(pickle.dumps(kernel))
    np.testing.assert_array_equal(again(STRETCHED + 0.3), kernel(STRETCHED + 0.3))
    assert repr(kernel) == "<kernel operational_space_inertia(q)>"
    assert again.operations.total == kernel.operations.total > 0


@pytest.mark.parametrize("only", [(), ("operational_space_inertia",)])
def test_a_singular_state_is_an_error_among_several_quantities(only):
    robot = cf.load("ur5")
    asked = ["mass_matrix", cf.At("operational_space_inertia", "wrist_3_link")]
    kernel = cf.fuse(robot, asked, only=only)
    for q in (STRETCHED, np.stack([STRETCHED + 0.3, STRETCHED])):
        with pytest.raises(cf.SingularMatrix, match="fewer than six"):
            kernel(q)
    found = kernel(STRETCHED + 0.3)
    expected = cf.operational_space_inertia(robot, STRETCHED + 0.3, "wrist_3_link")
    np.testing.assert_allclose(found if only else found.operational_space_inertia, expected,
                               rtol=1e-9)


def test_inertias_of_two_frames_go_by_their_own_names():
    robot = cf.load("humanoid25")
    hands = [cf.At("operational_space_inertia", f"{side}_hand") for side in ("left", "right")]
    kernel = cf.fuse(robot, hands)
    q = robot.random(0)
    assert kernel(q).operational_space_inertia_left_hand.shape == (6, 6)


def test_quantities_without_such_an_inertia_stay_plain_kernels():
    robot, inertia = cf.load("ur5"), cf.At("operational_space_inertia", "wrist_3_link")
    assert type(cf.fuse(robot, ["mass_matrix", inertia], only="mass_matrix")) is type(
        cf.fuse(robot, "mass_matrix"))


@pytest.mark.parametrize("name", ["mass_matrix", "loop_configuration", "forward_dynamics"])
def test_independent_coordinates_out_of_reach_are_an_error_that_names_the_loop(name):
    made = cf.load("four_bar")
    robot = replace(made, independent=made.body_names[2:])
    lever, *rest = robot.closed(robot.neutral()[2:]), [1.0], [1.0]
    kernel = getattr(cf.compile(robot, inputs=cf.Independent()), name)
    rest = rest if name == "forward_dynamics" else []
    assert np.all(np.isfinite(kernel(lever[2:], *rest)))
    for y in ([0.1], [[lever[2]], [0.1]]):
        with pytest.raises(cf.OpenLoop, match=r"cannot be closed at y = \[0.1\]"):
            kernel(y, *[np.broadcast_to(x, np.shape(y)) for x in rest])


def test_states_that_are_no_numbers_stay_so():
    kernel = cf.compile(cf.load("four_bar"), inputs=cf.Independent()).mass_matrix
    assert np.all(np.isnan(kernel([np.nan])))
