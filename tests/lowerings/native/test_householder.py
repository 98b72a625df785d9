"""Rows taken into a triangle: what it is, however the rows lie in memory, and how exactly."""

import numpy as np
import pytest

from closedform.errors import ArgumentError
from closedform.lowerings.native import householder
from closedform.lowerings.native.householder import triangle


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def factor(rows, *more):
    R = np.zeros((rows.shape[1],) * 2)
    for part in (rows, *more):
        triangle(R, part)
    return np.triu(R)


@pytest.mark.parametrize("width", [1, 2, 7, 8, 33])
@pytest.mark.parametrize("count", [0, 1, 5, 64, 65, 300])
def test_the_triangle_has_the_gram_matrix_of_all_rows(width, count, rng):
    first, second = rng.normal(size=(2, count, width))
    R = factor(first, second)
    np.testing.assert_allclose(R.T @ R, first.T @ first + second.T @ second,
                               atol=1e-13 * max(count, 1) * 2)


def test_bits_do_not_depend_on_how_rows_lie_in_memory(rng):
    wide = rng.normal(size=(150, 40))
    rows = wide[::2, 3:20]
    plain = factor(np.ascontiguousarray(rows))
    np.testing.assert_array_equal(factor(rows), plain)
    np.testing.assert_array_equal(factor(np.asfortranarray(rows)), plain)


@pytest.mark.parametrize("width", [2, 4])
def test_narrower_registers_have_the_same_triangle_but_for_signs(width, rng, monkeypatch):
    rows = rng.normal(size=(100, 11))
    expected, function = factor(rows), householder._native(width)
    assert function[1] == householder.REGISTERS * width
    monkeypatch.setattr(householder, "_native", lambda: function)
    np.testing.assert_allclose(np.abs(factor(rows)), np.abs(expected), atol=1e-13)


def test_rows_that_are_not_used_do_not_count(rng):
    rows, use = rng.normal(size=(200, 9)), rng.uniform(size=200) < 0.6
    R = np.zeros((9, 9))
    triangle(R, rows, use)
    np.testing.assert_array_equal(np.triu(R), factor(rows[use]))


def test_a_column_of_zeros_and_one_that_repeats_another_stay_so(rng):
    rows = rng.normal(size=(100, 5))
    rows[:, 1], rows[:, 3] = 0.0, rows[:, 2]
    R = factor(rows)
    assert not R[:, 1].any() and not R[1].any()
    np.testing.assert_allclose(R[:3, 3], R[:3, 2], atol=1e-13)
    assert abs(R[3, 3]) < 1e-13


def test_small_singular_values_survive_as_they_do_not_in_a_gram_matrix(rng):
    """R = (1 + ε) Qᵀ A: singular values are right to ε |A|, though AᵀA has lost the smallest."""
    U, _, Vt = np.linalg.svd(rng.normal(size=(500, 12)), full_matrices=False)
    s = np.geomspace(1, 1e-11, 12)
    A = U * s @ Vt
    found = np.linalg.svd(factor(A), compute_uv=False)
    np.testing.assert_allclose(found, s, atol=1e-14)
    gram = np.sqrt(np.abs(np.linalg.eigvalsh(A.T @ A)))[::-1]
    assert abs(gram[-1] - s[-1]) > 1e-10 > 100 * abs(found[-1] - s[-1])


def test_a_triangle_of_another_size_is_refused(rng):
    with pytest.raises(ArgumentError, match=r"\(3, 3\)"):
        triangle(np.zeros((4, 4)), rng.normal(size=(5, 3)))
