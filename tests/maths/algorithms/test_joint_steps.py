"""Twists, wrenches and matrices across joints are those of the transforms."""

import numpy as np
import pytest

from closedform.maths.algorithms.joint_steps import (
    at_ancestors,
    body_twists,
    gravity_in_segments,
    joint_steps,
    twist_in_parent,
    twist_in_segment,
    wrench_in_parent,
)
from closedform.maths.definitions.closed_form import gravity_accelerations
from closedform.maths.embedding import embedding
from closedform.maths.kinematics import jacobians, relative_poses, segment_parents
from closedform.maths.spatial import motion_transform
from random_robots import random_robot, random_state

SEEDS = range(4)


@pytest.mark.parametrize("seed", SEEDS)
def test_steps_transport_twists_and_wrenches_as_X_does(seed):
    robot, rng = random_robot(seed), np.random.default_rng(seed)
    q, _, _ = random_state(robot, seed)
    for step, T in zip(joint_steps(robot, q), relative_poses(robot, q), strict=True):
        X, V, F = motion_transform(*T), rng.normal(size=6), rng.normal(size=6)
        np.testing.assert_allclose(twist_in_segment(step, V), X @ V, atol=1e-12)
        np.testing.assert_allclose(twist_in_parent(step, X @ V), V, atol=1e-12)
        np.testing.assert_allclose(wrench_in_parent(step, F), X.T @ F, atol=1e-12)
        assert wrench_in_parent(step, F) @ V == pytest.approx(F @ (X @ V), abs=1e-11)


@pytest.mark.parametrize("seed", SEEDS)
def test_steps_turn_symmetric_and_other_matrices(seed):
    robot, rng = random_robot(seed), np.random.default_rng(seed)
    q, _, _ = random_state(robot, seed)
    A = rng.normal(size=(3, 3))
    S = A + A.T
    six = S[0, 0], S[0, 1], S[1, 1], S[0, 2], S[1, 2], S[2, 2]
    for step, (R, _) in zip(joint_steps(robot, q), relative_poses(robot, q), strict=True):
        np.testing.assert_allclose(step.up_matrix(A), R @ A @ R.T, atol=1e-13)
        turned = R @ S @ R.T
        expected = [turned[i, j] for i, j in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))]
        np.testing.assert_allclose(step.up_symmetric(six), expected, atol=1e-13)


@pytest.mark.parametrize("seed", SEEDS)
def test_twists_and_gravity_of_segments_are_the_definitions(seed):
    robot = embedding(random_robot(seed)).free
    q, v, _ = random_state(robot, seed)
    way = joint_steps(robot, q)
    for V, J in zip(body_twists(robot, way, v, np), jacobians(robot, q), strict=True):
        np.testing.assert_allclose(V, J @ v, atol=1e-11)
    for gamma, expected in zip(gravity_in_segments(robot, way), gravity_accelerations(robot, q),
                               strict=True):
        np.testing.assert_allclose(gamma, expected[:3], atol=1e-12)


def test_a_wrench_arrives_at_every_ancestor_with_the_same_power():
    """F · V of the segment is F_a · V_a for a rigid motion of the whole way."""
    robot = random_robot(3, bodies=8, spread=1)
    q, _, _ = random_state(robot, 3)
    way, parent = joint_steps(robot, q), segment_parents(robot)
    F, k = np.arange(6.0), len(robot.segments)
    for above, (F_a,) in at_ancestors(way, parent, k, F):
        V_a, at = np.ones(6), [k]
        while at[-1] != above:
            at.append(parent[at[-1]])
        V = V_a
        for number in reversed(at[:-1]):
            V = twist_in_segment(way[number - 1], V)
        assert F_a @ V_a == pytest.approx(F @ V, rel=1e-12)
