"""Axes that miss being parallel by a little are found, and their angles."""

import numpy as np
import pytest

import closedform as cf
from closedform.maths.canonical.tilts import tilts
from nearly_parallel_robots import three_links, tilted


@pytest.mark.parametrize("tilt", [1e-12, 1e-7, 1e-3])
def test_a_tilted_axis_is_named_with_its_angle(tilt):
    (found,) = tilts(tilted(cf.load("ur5"), tilt, only=2)).items()
    assert found[0] == "elbow_joint"
    assert 0 < found[1] <= 1.01 * tilt


def test_exact_and_crossing_axes_are_not_nearly_parallel():
    assert tilts(cf.load("ur5")) == {}
    assert tilts(cf.load("panda")) == {}


def test_fixed_bodies_and_balls_stand_between_axes_as_they_do_in_the_robot():
    x = 1e-4
    T = np.eye(4)
    T[:3, :3] = [[1, 0, 0], [0, np.cos(x), -np.sin(x)], [0, np.sin(x), np.cos(x)]]
    for kind, expected in ((cf.Fixed(), {"c": x}), (cf.Spherical(), {})):
        bodies = [cf.Body("a", None, cf.Revolute((0, 0, 1))), cf.Body("b", "a", kind),
                  cf.Body("c", "b", cf.Revolute((0, 0, 1)), placement=T)]
        assert tilts(cf.Robot("r", bodies)) == pytest.approx(expected, rel=1e-6)


def test_pi_written_with_six_digits_tilts_axes_that_it_turns_over():
    assert tilts(three_links(pi=3.141593)).keys() == {"l1", "l2"}
