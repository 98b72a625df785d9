"""Quaternions: algebra, and the way to rotation matrices and back."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from closedform.arrays import NUMBERS
from closedform.model.groups import quaternions

seeds = st.integers(0, 10**6)


def random_quaternions(seed, n=2):
    return quaternions.normalised(np.random.default_rng(seed).normal(size=(n, 4)))


@given(seeds)
def test_the_product_is_the_product_of_rotations(seed):
    a, b = random_quaternions(seed)
    R = quaternions.rotation(quaternions.product(a, b), NUMBERS)
    np.testing.assert_allclose(
        R, quaternions.rotation(a, NUMBERS) @ quaternions.rotation(b, NUMBERS), atol=1e-14)
    x = np.array([0.3, -1.0, 2.0])
    np.testing.assert_allclose(quaternions.rotate(a, x), quaternions.rotation(a, NUMBERS) @ x,
                               atol=1e-14)


@given(seeds)
def test_conjugation_undoes_a_rotation(seed):
    a, _ = random_quaternions(seed)
    np.testing.assert_allclose(quaternions.product(a, quaternions.conjugate(a)), [0, 0, 0, 1],
                               atol=1e-15)


@given(seeds)
def test_a_matrix_gives_its_quaternion_back_wherever_it_is(seed):
    """Also with one large entry and with equal ones, where another column is the largest."""
    rng = np.random.default_rng(seed)
    a = rng.choice([-1.0, 0.0, 1e-9, 0.5, 1.0], size=4)
    a = quaternions.normalised(a + np.array([0, 0, 1e-3, 0]))
    b = quaternions.from_rotation(quaternions.rotation(a, NUMBERS))
    assert b[3] >= 0
    np.testing.assert_allclose(np.outer(b, b), np.outer(a, a), atol=1e-15)


@given(seeds)
def test_exp_and_log_are_scipys(seed):
    w = np.random.default_rng(seed).normal(size=3)
    w *= min(1.0, 3.1 / np.linalg.norm(w))
    a = quaternions.exp(w)
    np.testing.assert_allclose(quaternions.rotation(a, NUMBERS),
                               Rotation.from_rotvec(w).as_matrix(), atol=1e-15)
    np.testing.assert_allclose(quaternions.log(a), w, atol=2e-15)
    np.testing.assert_allclose(quaternions.log(-a), w, atol=2e-15)


@given(seeds)
def test_the_body_rate_is_read_back_from_the_rates(seed):
    a, b = random_quaternions(seed)
    np.testing.assert_allclose(quaternions.body_rate(2 * a, 2 * quaternions.rates(a, b[:3])),
                               b[:3], atol=1e-15)
