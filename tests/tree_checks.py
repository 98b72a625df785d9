"""What the tests of derivatives share: a comparison, a branched robot, who is on whose way."""

from __future__ import annotations

import numpy as np

from random_robots import random_robot

EPS = np.finfo(float).eps


def assert_close(actual, expected, scale=1.0):
    """Equal within 10 000 rounding errors of the largest number, or of `scale`."""
    assert np.shape(actual) == np.shape(expected)
    size = max(np.abs(expected).max(initial=0), np.abs(actual).max(initial=0), scale)
    assert np.abs(actual - expected).max(initial=0) <= 1e4 * EPS * size


def branched():
    """A free base that carries several branches."""
    return random_robot(4, ("free", "revolute", "spherical", "prismatic"), bodies=6, spread=2)


def joints_on_one_way(robot):
    """(nv, nv) of booleans: one of the two joints lies between the world and the other."""
    found = np.zeros((robot.nv, robot.nv), dtype=bool)
    for segment in robot.segments:
        at = segment
        while True:
            found[np.ix_(segment.v_index, at.v_index)] = True
            found[np.ix_(at.v_index, segment.v_index)] = True
            if not at.parent:
                break
            at = robot.segments[at.parent - 1]
    return found


def assert_zeros_by_structure(program, apart):
    """The entries at these flat places are the constant 0 in every output of the program."""
    assert len(apart)
    for output in program.outputs:
        assert all(output.entries[at].index == -1 and output.entries[at].constant == 0
                   for at in apart)
