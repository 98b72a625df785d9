"""Stumpff's functions and the arctangent's ratio, against 40 digits."""

import mpmath
import numpy as np
import pytest

from closedform.arrays import NUMBERS, OBJECTS
from closedform.model.groups.stumpff import arctangent_ratio, cosine_and_sinc, stumpff

ANGLES = np.concatenate([[0, 1e-150, 1e-12, 1e-8, 1e-4], np.linspace(0.01, 4 * np.pi, 150)])
ROUNDING = 40 * np.finfo(float).eps


def exact(k, x):
    with mpmath.workdps(40):
        return float(mpmath.nsum(lambda j: (-mpmath.mpf(x))**j / mpmath.factorial(2 * j + k),
                                 [0, 60]))


@pytest.mark.parametrize("xp", [NUMBERS, OBJECTS], ids=["numbers", "other scalars"])
@pytest.mark.parametrize("k", range(6))
def test_they_are_their_series_to_rounding_up_to_two_turns(k, xp):
    """Relative to 1/(1 + x), as small as c_k, k ≥ 2, becomes; sine and cosine keep size one."""
    for angle in ANGLES:
        x = float(angle * angle)
        size = 1.0 if k < 2 else 1 / (1 + x)
        assert abs(float(stumpff(x, xp)[k]) - exact(k, x)) < ROUNDING * size


def test_numbers_are_right_at_any_angle():
    x = np.array([0.0, 1e-20, 0.5, 1e3, 1e8])
    t = np.sqrt(x[2:])
    c = stumpff(x, NUMBERS)
    np.testing.assert_allclose(c[0][2:], np.cos(t), atol=1e-15)
    np.testing.assert_allclose(c[1][2:], np.sin(t) / t, atol=1e-15)
    np.testing.assert_allclose([y[0] for y in c], [1, 1, 1 / 2, 1 / 6, 1 / 24, 1 / 120])
    for one, many in zip(cosine_and_sinc(x, NUMBERS), c, strict=False):
        np.testing.assert_allclose(one, many, atol=1e-15)


def test_the_ratio_of_the_arctangent_is_right_from_zero_to_one():
    for u in np.concatenate([[0, 1e-300, 1e-16, 1e-8], np.linspace(0, 1, 200)]):
        with mpmath.workdps(40):
            t = mpmath.sqrt(u)
            expected = float(mpmath.atan(t) / t) if u else 1.0
        assert abs(arctangent_ratio(u, NUMBERS) - expected) < 4 * np.finfo(float).eps
