"""The ten parameters of a body as a positive definite matrix."""

import numpy as np
import pytest

import closedform as cf
from closedform.maths.identification.pseudo_inertia import (
    divergence,
    free_numbers,
    log_cholesky,
    parameters_of,
    pseudo_inertia,
    repaired,
)
from closedform.model.groups import exp_so3

RNG = np.random.default_rng(4)


def cloud(points=20, seed=0):
    """A body of point masses: its ten parameters, and Σ m x xᵀ of (x; 1)."""
    rng = np.random.default_rng(seed)
    masses, x = rng.uniform(0.1, 1, size=points), rng.normal(size=(points, 3))
    tensor = sum(m * (p @ p * np.eye(3) - np.outer(p, p)) for m, p in zip(masses, x, strict=True))
    first = masses @ x
    pi = np.array([masses.sum(), *first, tensor[0, 0], tensor[0, 1], tensor[1, 1], tensor[0, 2],
                   tensor[1, 2], tensor[2, 2]])
    ones = np.c_[x, np.ones(points)]
    return pi, ones.T @ (masses[:, None] * ones)


def test_the_matrix_is_the_second_moment_of_the_mass():
    pi, moment = cloud()
    np.testing.assert_allclose(pseudo_inertia(pi), moment, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(parameters_of(moment), pi, rtol=1e-13, atol=1e-13)


def test_it_is_positive_definite_exactly_for_inertias_that_a_body_can_have():
    """The triangle inequality of the principal moments is the border."""
    for third, can_be in ((0.29, True), (0.31, False)):
        pi = cf.Inertia(1.0, (0, 0, 0), np.diag([0.1, 0.2, third])).array
        assert (np.linalg.eigvalsh(pseudo_inertia(pi))[0] > 0) == can_be


@pytest.mark.parametrize("seed", range(5))
def test_any_ten_numbers_are_a_body_and_back(seed):
    theta = np.random.default_rng(seed).normal(size=10)
    pi = log_cholesky(theta)
    assert np.linalg.eigvalsh(pseudo_inertia(pi))[0] > 0
    np.testing.assert_allclose(free_numbers(pi), theta, atol=1e-9)


def test_the_divergence_does_not_see_the_frame():
    (_, P), (_, Q) = cloud(seed=1), cloud(seed=2)
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = exp_so3(RNG.normal(size=3)), RNG.normal(size=3)
    assert divergence(P, P) == pytest.approx(0, abs=1e-12)
    assert divergence(P, Q) > 0.01
    assert divergence(T @ P @ T.T, T @ Q @ T.T) == pytest.approx(divergence(P, Q), rel=1e-10)
    assert divergence(-P, Q) == np.inf


def test_a_body_that_can_be_is_not_repaired():
    pi, _ = cloud()
    np.testing.assert_allclose(repaired(pi), pi, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("pi", [
    np.zeros(10), [1.0, 0, 0, 0, 0.1, 0, 0.1, 0, 0, 0.5], [-2.0, 1, 0, 0, 0, 0, 0, 0, 0, 0],
    [0.3, 0.1, 0.2, 0, 0, 0, 0, 0, 0, 0]])
def test_what_no_body_can_have_is_repaired_to_what_one_can(pi):
    pi = np.asarray(pi, dtype=float)
    found = repaired(pi)
    assert np.linalg.eigvalsh(pseudo_inertia(found))[0] > 0
    if pi[0] > 0:
        np.testing.assert_allclose(found[:4], pi[:4], rtol=1e-12)     # mass and its centre stay
