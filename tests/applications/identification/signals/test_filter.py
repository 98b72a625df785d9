"""The finite zero-phase filter: what passes, what derivatives are, what decimation keeps."""

import numpy as np
import pytest

from closedform.applications.identification.signals.filter import LowPass

RATES = [(1000.0, 10.0), (250.0, 10.0), (125.0, 2.0), (30.0, 5.0)]


def response(low, which, f):
    """What a kernel makes of e^{2πift}, at t = 0."""
    s = np.arange(-low.half, low.half + 1) / low.rate
    return np.exp(2j * np.pi * np.multiply.outer(f, s)) @ low.kernels[which]


@pytest.mark.parametrize("rate, cutoff", RATES)
def test_phases_are_zero_and_the_magnitude_is_a_butterworth_filters_twice(rate, cutoff):
    low = LowPass(rate, cutoff)
    f = cutoff * np.array([0.05, 0.1, 0.2, 1.0, 2.0])
    H = response(low, 0, f)
    np.testing.assert_allclose(H.imag, 0, atol=1e-12)
    np.testing.assert_allclose(H.real, 1 / (1 + (f / cutoff)**8), atol=0.03)
    np.testing.assert_allclose(H.real[:3], 1, atol=1e-3)


@pytest.mark.parametrize("rate, cutoff", RATES)
def test_derivatives_are_those_of_what_is_smoothed(rate, cutoff):
    """The responses are iω H and −ω² H with the H of the positions, within the passband."""
    low = LowPass(rate, cutoff)
    f = cutoff * np.array([0.05, 0.1, 0.2, 0.3])
    w, H = 2j * np.pi * f, response(low, 0, f)
    np.testing.assert_allclose(response(low, 1, f) / (w * H), 1, atol=2e-3)
    np.testing.assert_allclose(response(low, 2, f) / (w**2 * H), 1, atol=2e-3)


@pytest.mark.parametrize("rate, cutoff", RATES)
@pytest.mark.parametrize("degree", range(6))
def test_polynomials_pass_and_have_their_derivatives(rate, cutoff, degree):
    low = LowPass(rate, cutoff)
    u = np.arange(4 * low.half) / (4 * low.half)
    x, per_second = np.polynomial.Polynomial.basis(degree), rate / (4 * low.half)
    made = low.derivatives(x(u)[:, None])
    for n, smooth in enumerate(made):
        exact = (x.deriv(n) if n else x)(u[low.half:-low.half]) * per_second**n
        np.testing.assert_allclose(smooth[:, 0], exact, atol=1e-9 * per_second**n)


@pytest.mark.parametrize("rate, cutoff", RATES)
@pytest.mark.parametrize("step", [1, 3, 7])
def test_decimation_is_smoothing_and_leaving_out(rate, cutoff, step):
    low = LowPass(rate, cutoff)
    for rows in (2 * low.half + 1, 5 * low.half, 977):
        if rows > 2 * low.half:
            x = np.random.default_rng(rows).normal(size=(rows, 5))
            np.testing.assert_allclose(low.decimated(x, step), low.smoothed(x, step), atol=1e-13)


def test_what_lies_far_beyond_the_cutoff_is_gone():
    low = LowPass(1000.0, 10.0)
    f = np.array([60.0, 150.0, 400.0])
    assert np.all(np.abs(response(low, 0, f)) < 1e-5)
    assert np.all(np.abs(response(low, 2, f)) < 1e-3 * (2 * np.pi * 10)**2)


@pytest.mark.parametrize("count", [3, 4, 9])
@pytest.mark.parametrize("f", [0.2, 0.7, 1.2])
def test_what_a_mean_of_finer_samples_takes_is_given_back(count, f):
    """A wave, its mean over finer samples about each sample, is filtered as it is itself."""
    low, t = LowPass(25.0, 1.0), np.arange(200) / 25.0
    finer = np.arange(-(count // 2), count // 2 + 1) / (25.0 * count)
    x, waves = (np.sin(2 * np.pi * f * y) for y in (t, t[:, None] + finer))
    mean = waves.mean(axis=1) if count % 2 else (waves[:, 1:] + waves[:, :-1]).mean(axis=1) / 2
    made = [low.decimated(y[:, None], 3, n) for y, n in ((x, 1), (mean, count), (mean, 1))]
    np.testing.assert_allclose(made[1], made[0], atol=1e-7)
    assert np.abs(made[2] - made[0]).max() > 1e-5
