"""Whole numbers and numbers that are given, of Python and of NumPy."""

import math
from fractions import Fraction

import numpy as np
import pytest

from closedform.applications.counts import counted, is_count, is_number
from closedform.errors import ArgumentError


@pytest.mark.parametrize("x", [3, np.int32(3), np.uint8(3)])
def test_whole_numbers_of_python_and_numpy_are_taken(x):
    assert counted(x, "starts") == 3 and type(counted(x, "starts")) is int


@pytest.mark.parametrize("x", [True, 3.0, "3", None, -1, 0, np.array([3]), 1 + 0j])
def test_others_are_refused_by_name_and_with_what_was_given(x):
    with pytest.raises(ArgumentError, match="starts must be a positive whole number") as told:
        counted(x, "starts")
    assert repr(x) in str(told.value)


@pytest.mark.parametrize(("least", "kind"), [(0, "that is not negative"), (2, "of 2 at least")])
def test_the_least_is_in_the_words(least, kind):
    assert counted(least, "rows", least) == least and is_count(least, least)
    with pytest.raises(ArgumentError, match=f"rows must be a whole number {kind}"):
        counted(least - 1, "rows", least)


@pytest.mark.parametrize("x", [0.5, 2, np.float32(0.5), Fraction(1, 3)])
def test_numbers_are_finite_and_above_the_least(x):
    assert is_number(x) and not is_number(x, 2.0)


@pytest.mark.parametrize("x", [math.nan, math.inf, 0.0, -1.0, True, "1", None, 1j, np.ones(1)])
def test_what_is_no_number_is_told(x):
    assert not is_number(x)
