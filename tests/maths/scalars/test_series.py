"""Truncated Taylor series are polynomials in t, cut off."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from closedform.arrays import OBJECTS
from closedform.maths.scalars.series import (
    Series,
    coefficient,
    derivative,
    derivatives,
    from_coefficients,
    from_derivatives,
    known_terms,
    truncated,
)
from closedform.program.record import record

fractions = st.fractions(-10, 10, max_denominator=7)
polynomials = st.lists(fractions, min_size=1, max_size=6)


def cut_product(a, b):
    terms = min(len(a), len(b))
    full = [Fraction(0)] * (len(a) + len(b))
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            full[i + j] += x * y
    return full[:terms]


@given(polynomials, polynomials)
def test_a_product_is_that_of_the_polynomials_cut_at_the_shorter_one(a, b):
    assert list((Series(a) * Series(b)).c) == cut_product(a, b)


@given(polynomials)
def test_a_square_is_a_product_with_itself(a):
    x = Series(a)
    assert list((x * x).c) == list(x.squared().c) == cut_product(a, a)


@given(polynomials, polynomials)
def test_sums_and_differences_go_term_by_term(a, b):
    terms = min(len(a), len(b))
    assert list((Series(a) + Series(b)).c) == [x + y for x, y in zip(a[:terms], b, strict=False)]
    assert list((Series(a) - Series(b)).c) == [x - y for x, y in zip(a[:terms], b, strict=False)]


def test_a_plain_scalar_is_a_constant():
    x = Series([Fraction(1), Fraction(2)])
    assert (3 + x).c == (x + 3).c == (4, 2) and (3 - x).c == (2, -2) and (x - 3).c == (-2, 2)
    assert (3 * x).c == (x * 3).c == (3, 6) and (x / 2).c == (Fraction(1, 2), 1)
    assert x * 0 == 0 and 0.0 * x == 0


def test_squares_need_fewer_products_than_general_products():
    square = record(lambda x: np.array(list((Series(x) * Series(x)).c)), {"x": (5,)}, "x²")
    folded = record(lambda x: np.array(list(Series(x).squared().c)), {"x": (5,)}, "x²")
    assert folded.operations.total < square.operations.total


@pytest.mark.parametrize("scalar", [float, complex, Fraction])
def test_arrays_of_series_work_with_arrays_of_numbers(scalar):
    x = from_coefficients([np.array([scalar(1), scalar(2)]), np.array([scalar(3), scalar(4)])])
    A = np.array([[1, 2], [0, 1]])
    for y in (A @ x, (x @ A.T)):
        np.testing.assert_array_equal(coefficient(y, 0), [5, 2])
        np.testing.assert_array_equal(coefficient(y, 1), [11, 4])
    assert (x @ x).c == (5, 22)
    np.testing.assert_array_equal(coefficient(np.float64(2) * x, 1), [6, 8])


def test_derivatives_come_back_as_they_went_in():
    rows = [np.array([Fraction(k + 1, 3), Fraction(k * k)]) for k in range(6)]
    x = from_derivatives(rows)
    assert np.array_equal(derivatives(x, 6, OBJECTS), np.stack(rows))
    assert np.array_equal(derivatives(derivative(x), 5, OBJECTS), np.stack(rows[1:]))


def test_truncation_and_constants_are_known_for_what_they_are():
    x = from_coefficients([np.ones(2)] * 4)
    assert known_terms(x, 9) == 4 and known_terms(truncated(x, 2), 9) == 2
    assert known_terms(np.array([1.0, 2.0], dtype=object), 9) == 9
    mixed = np.array([Series([1, 2]), 5], dtype=object)
    assert coefficient(mixed, 0).tolist() == [1, 5] and coefficient(mixed, 1).tolist() == [2, 0]
    assert coefficient(mixed, 7).tolist() == [0, 0] and derivative(mixed)[1] == 0
    assert "1, 2" in repr(mixed[0])
