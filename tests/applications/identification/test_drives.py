"""Gears, couplings and gains between motors and joints."""

import numpy as np
import pytest

from closedform.applications.identification.drives import Drives
from closedform.errors import ArgumentError


def test_ratios_are_the_matrix_without_a_coupling():
    np.testing.assert_array_equal(Drives([-48, 45]).matrix(2), np.diag([-48.0, 45.0]))
    np.testing.assert_array_equal(Drives(50).matrix(3), 50 * np.eye(3))


def test_a_coupling_is_the_whole_matrix_or_what_comes_before_the_gears():
    whole = np.array([[45.0, 0], [32.0, 32.0]])
    np.testing.assert_array_equal(Drives([45, 32], coupling=whole).matrix(2), whole)
    before = np.array([[1.0, 0], [1.0, 1.0]])
    np.testing.assert_array_equal(Drives([45, 32], coupling=before).matrix(2), whole)
    assert Drives([45, 32], coupling=whole).coupled(2) == [1]


@pytest.mark.parametrize(("given", "message"), [
    ({"ratio": [0, 1]}, "none of them zero"), ({"ratio": "x"}, "ratio"),
    ({"ratio": [1, 1], "coupling": np.ones((2, 2))}, "inverse"),
    ({"ratio": [1, 1], "coupling": np.ones(2)}, "square"),
    ({"ratio": [1, 1], "coupling": [[1, np.nan], [0, 1]]}, "inverse"),
    ({"ratio": 1, "gain": [0.1, 0.0]}, "none of them zero"), ({"ratio": 1, "gain": np.nan}, "gain"),
    ({"ratio": [1, 1, 1]}, "one number or 2"),
    ({"ratio": [3, 2], "coupling": [[7.0, 0], [0, 7.0]]}, "diagonal")])
def test_what_cannot_be_is_refused(given, message):
    with pytest.raises(ArgumentError, match=message):
        Drives(**given).matrix(2)
