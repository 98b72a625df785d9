"""Output times and the steps between them."""

import numpy as np
import pytest

from closedform.applications.motion.times import increasing, steps_between
from closedform.errors import ArgumentError


@pytest.mark.parametrize("times", [[], [1, 1], [2, 1], [0, np.nan], "soon", 1.0, [[0, 1]]])
def test_times_must_increase(times):
    with pytest.raises(ArgumentError, match="times must be one or more increasing"):
        increasing(times)


def test_too_few_times_are_told():
    with pytest.raises(ArgumentError, match="times must be three or more"):
        increasing([0, 1], 3)
    np.testing.assert_array_equal(increasing((0, 1), 2), [0.0, 1.0])


def test_steps_are_no_longer_than_asked_for_and_as_few_as_can_be():
    t = np.array([0, 0.1, 0.35, 0.36])
    np.testing.assert_array_equal(steps_between(t, 0.1), [1, 3, 1])
    rng = np.random.default_rng(0)
    t = np.cumsum(rng.uniform(0.001, 1, size=50))
    counts = steps_between(t, 0.07)
    assert np.all(np.diff(t) / counts <= 0.07 * (1 + 1e-8))
    assert np.all(np.diff(t)[counts > 1] / (counts[counts > 1] - 1) > 0.07)
