"""Tensors by their entries."""

import numpy as np

from closedform.arrays import NUMBERS
from closedform.maths.algebra.entries import diagonal, enter, enter_twice, tensor


def test_entries_add_up_and_missing_ones_are_exact_zeros():
    M = diagonal(np.array([1.0, 2.0, 3.0]))
    enter(M, (0, 2), 4.0)
    enter(M, (0, 2), 0.5)
    assert tensor(M, (3, 3), NUMBERS).tolist() == [[1, 0, 4.5], [0, 2, 0], [0, 0, 3]]


def test_both_halves_meet_where_two_velocities_are_one():
    """As for a mimic, whose screw and its driver's have the same velocity: M_ii gains twice."""
    M = diagonal(np.array([1.0, 0.0]))
    enter_twice(M, 0, 0, 2.0)
    enter_twice(M, 0, 1, 3.0)
    assert tensor(M, (2, 2), NUMBERS).tolist() == [[5, 3], [3, 0]]


def test_tensors_without_rows_are_empty():
    assert tensor({}, (0, 3), NUMBERS).shape == (0, 3)
