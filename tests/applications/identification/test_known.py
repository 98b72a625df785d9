"""What is known before a fit, as rows and values of equations."""

import numpy as np
import pytest

from closedform.applications.identification.known import known_rows_of
from closedform.errors import ArgumentError, UnknownName

NAMES = ("a.m", "a.mcx", "a.Ixx", "b.m", "j.viscous", "j.motor_coulomb")


def test_sums_are_rows_of_ones():
    rows, values = known_rows_of({"a.m + b.m": 5, "a.mcx": -0.1}, NAMES, "arm")
    np.testing.assert_array_equal(rows, [[1, 0, 0, 1, 0, 0], [0, 1, 0, 0, 0, 0]])
    assert values == [5.0, -0.1]


@pytest.mark.parametrize("name", ["a.m", "a.Ixx", "j.viscous", "j.motor_coulomb", "a.m + b.m"])
def test_what_no_body_has_below_zero_is_refused_there(name):
    with pytest.raises(ArgumentError, match="cannot be below zero"):
        known_rows_of({name: -1.0}, NAMES, "arm")


def test_names_that_the_robot_has_not_are_named_with_the_robot():
    with pytest.raises(UnknownName, match=r"no parameter 'c\.m' of arm"):
        known_rows_of({"a.m + c.m": 1.0}, NAMES, "arm")
