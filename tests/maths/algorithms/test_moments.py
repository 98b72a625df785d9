"""Moments are the inertia: as an operator, in other frames, in sums and in motion."""

import numpy as np
import pytest

from closedform.maths.algorithms.joint_steps import JointStep
from closedform.maths.algorithms.moments import NOTHING, moments
from closedform.maths.spatial import crf, crm
from closedform.model.inertia import Inertia
from closedform.model.pose import from_rpy, pose

SEEDS = range(4)


def any_inertia(rng):
    return Inertia.from_parameters(rng.normal(size=10))


def matrix(body):
    return np.stack([body @ e for e in np.eye(6)], axis=1)


@pytest.mark.parametrize("seed", SEEDS)
def test_moments_times_a_twist_are_the_inertia_times_it(seed):
    inertia = any_inertia(np.random.default_rng(seed))
    np.testing.assert_allclose(matrix(moments(inertia)), inertia.matrix, atol=1e-15)


@pytest.mark.parametrize("seed", SEEDS)
def test_they_move_and_add_like_inertias(seed):
    rng = np.random.default_rng(seed)
    one, other = any_inertia(rng), any_inertia(rng)
    R, p = from_rpy(*rng.normal(size=3)), rng.normal(size=3)
    found = moments(one).in_parent(JointStep((R,), p)).plus(moments(other))
    expected = one.seen_from(pose(R, p)) + other
    np.testing.assert_allclose(matrix(found), expected.matrix, atol=1e-13)


@pytest.mark.parametrize("seed", SEEDS)
def test_their_rate_along_a_twist_is_that_of_the_inertia(seed):
    """d/dt Λ = V×* Λ − Λ V× for a body that moves with V, seen from a frame at rest."""
    rng = np.random.default_rng(seed)
    inertia, V = any_inertia(rng), rng.normal(size=6)
    L = inertia.matrix
    np.testing.assert_allclose(matrix(moments(inertia).rate(V)), crf(V) @ L - L @ crm(V),
                               atol=1e-13)


def test_a_segment_without_a_body_has_none():
    assert moments(None) is NOTHING
    assert not matrix(NOTHING).any()
