"""Loops that are affine move as mimic joints do; others are told apart."""

import numpy as np
import pytest

from closedform.maths.definitions.closed_form import coriolis_matrix, mass_matrix
from closedform.model.loops.affine import affine, y_of
from closedform.model.zoo.zoo import builtin


def test_parallelograms_follow_by_ratios():
    made = affine(builtin("palletiser"))
    found = {b.name: dict(zip(np.atleast_1d(b.joint.driver.of), np.atleast_1d(b.joint.driver.ratio),
                              strict=True)) for b in made.bodies if b.joint.driver}
    assert found == {
        "forearm": {"lower_arm": -1, "crank": 1}, "drive_rod": {"lower_arm": 1, "crank": -1},
        "lower_level_rod": {"lower_arm": 1}, "triangle": {"lower_arm": -1},
        "upper_level_rod": {"crank": 1}, "wrist": {"crank": -1}}


@pytest.mark.parametrize("name", ["four_bar", "five_bar", "ankle"])
def test_other_loops_are_not_affine(name):
    assert affine(builtin(name)) is None


def test_the_same_motion_has_the_same_mass_and_coriolis_matrices_as_by_the_embedding():
    from closedform.maths.loops.forces import loop_embedding
    robot, rng = builtin("palletiser"), np.random.default_rng(0)
    y = np.array([0.1, -1.2, 0.4, 0.2])
    q, v = robot.closed(y), rng.normal(size=4)
    np.testing.assert_allclose(q[y_of(robot)], y)
    G = loop_embedding(robot, q)
    M = G.T @ mass_matrix(robot.tree, q) @ G
    np.testing.assert_allclose(mass_matrix(robot, q), M, rtol=1e-11, atol=1e-11)
    C = G.T @ coriolis_matrix(robot.tree, q, G @ v) @ G      # G is constant
    np.testing.assert_allclose(coriolis_matrix(robot, q, v), C, rtol=1e-10, atol=1e-10)
