"""Motions at rest at their ends, and bounds of them for all times."""

import numpy as np
import pytest

from closedform.applications.identification.excitation.motions import Fourier, Spline, repeated

BASES = [Fourier(10.0, 5), Fourier(3.0, 2), Fourier(10.0, 3, periods=2), Spline(10.0, 5),
         Spline(4.0, 2)]


def coefficients(basis, seed=0):
    return np.random.default_rng(seed).normal(size=(basis.size, 3))


@pytest.mark.parametrize("basis", BASES, ids=str)
def test_motions_start_and_end_at_rest_where_they_began(basis):
    ends, X = np.array([0.0, basis.duration]), coefficients(basis)
    for order in range(3):
        size = np.abs(basis.at(basis.grid, order) @ X).max()
        assert np.abs(basis.at(ends, order) @ X).max() < 1e-13 * size


@pytest.mark.parametrize("basis", BASES, ids=str)
def test_derivatives_are_those_of_the_motion(basis):
    t, X, h = np.linspace(0.1, 0.9, 7) * basis.duration, coefficients(basis), 1e-5
    for order in range(3):
        quotient = (basis.at(t + h, order) - basis.at(t - h, order)) @ X / (2 * h)
        exact = basis.at(t, order + 1) @ X
        assert np.abs(quotient - exact).max() < 1e-7 * np.abs(exact).max()


@pytest.mark.parametrize("basis", BASES, ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_bounds_hold_at_all_times_and_are_close(basis, seed):
    X = coefficients(basis, seed)
    t = np.linspace(0, basis.duration, 100 * len(basis.grid) + 1)
    for order in range(4):
        low, high = basis.range(X, order)
        y = basis.at(t, order) @ X
        size = np.ptp(y, axis=0).max()
        assert np.all(y >= low - 1e-12 * size)
        assert np.all(y <= high + 1e-12 * size)
        if order < 3:
            assert np.all(high - low <= 1.05 * np.ptp(y, axis=0))


def test_the_motion_has_all_the_freedom_that_rest_leaves():
    """Five sines, five cosines and a constant, less q, v and a at the start."""
    assert Fourier(10.0, 5).size == 8
    assert np.linalg.matrix_rank(Fourier(10.0, 5).at(np.linspace(0, 10, 50), 0)) == 8
    assert np.linalg.matrix_rank(Spline(10.0, 5).at(np.linspace(0, 10, 50), 0)) == 10


def test_a_motion_of_two_periods_is_done_twice():
    basis = Fourier(10.0, 5, periods=2)
    t, X = np.linspace(0, 5, 40), coefficients(basis)
    for order in range(3):
        once, again = (basis.at(x, order) @ X for x in (t, t + 5))
        np.testing.assert_allclose(again, once, atol=1e-12 * np.abs(once).max())


def test_motions_repeat_as_long_as_their_harmonics_stay_below_a_hertz():
    assert [b.period for b in repeated(Fourier(10.0, 5))] == [10.0, 5.0]
    assert [b.period for b in repeated(Fourier(4.0, 5))] == [4.0]
    assert [b.period for b in repeated(Fourier(40.0, 5))] == [40.0, 20.0, 10.0, 5.0]
    assert repeated(Spline(40.0, 5)) == [Spline(40.0, 5)]
