"""Sine and cosine in lanes: two units in the last place, for every finite number."""

from functools import cache

import mpmath
import numpy as np
import pytest

from closedform.lowerings.native.sincos import BOUND
from closedform.program.program import Entry, Instruction, Output, Program, Slot
from native_code import SINCOS, NativeCode, targets

TARGETS = targets()


@pytest.fixture(scope="module", params=TARGETS)
def double(request):
    return NativeCode(SINCOS, TARGETS[request.param])


@pytest.fixture(scope="module", params=TARGETS)
def single(request):
    return NativeCode(SINCOS, TARGETS[request.param], np.float32)


def errors_in_ulp(code, x):
    """The largest errors of sine and cosine at x, in units of the last place of the exact value."""
    def error(found, exact):
        return float(abs(mpmath.mpf(float(found)) - exact) / np.spacing(abs(float(exact))))

    with mpmath.workprec(1200 if np.abs(x).max() > BOUND else 200):
        angles = [mpmath.mpf(float(y)) for y in x]
        return [max(map(error, found, map(function, angles)))
                for found, function in zip(code.states(len(x), x), (mpmath.sin, mpmath.cos),
                                           strict=True)]


@cache
def near_multiples_of_a_quarter_turn(count):
    """The doubles up to `BOUND` closest to kπ/2: all their digits cancel in the reduction."""
    with mpmath.workprec(200):
        k = range(1, int(BOUND * 2 / np.pi))
        exact = [i * mpmath.pi / 2 for i in k]
        x = np.array([float(y) for y in exact])
        distance = np.array([float(abs(mpmath.mpf(float(a)) - y))
                             for a, y in zip(x, exact, strict=True)])
    assert distance.min() < 1e-18
    return x[np.argsort(distance)[:count]]


def test_random_angles_are_within_2_ulp(double):
    rng = np.random.default_rng(0)
    x = np.concatenate((rng.uniform(-np.pi, np.pi, 1500), rng.uniform(-BOUND, BOUND, 1500),
                        10.0 ** rng.uniform(-300, 5, 500)))
    assert max(errors_in_ulp(double, x)) < 2


def test_angles_that_cancel_are_within_2_ulp(double):
    x = near_multiples_of_a_quarter_turn(500)
    assert max(errors_in_ulp(double, np.concatenate((x, -x)))) < 2


def test_angles_beyond_the_bound_are_within_2_ulp(double):
    rng = np.random.default_rng(1)
    x = np.concatenate((10.0 ** rng.uniform(5, 308, 200), [1e22, 2.0 ** 1023, -(2.0 ** 1000)]))
    assert max(errors_in_ulp(double, x)) < 2


def test_angles_just_beyond_the_bound_and_the_hardest_one_are_within_2_ulp(double):
    """The last is the double closest to a multiple of π/2."""
    x = np.array([np.nextafter(BOUND, np.inf), -np.nextafter(BOUND, np.inf),
                  6381956970095103.0 * 2.0 ** 797])
    assert max(errors_in_ulp(double, x)) < 2


def test_floats_are_within_2_ulp(single):
    """Against double precision, whose own error is a billionth of a float's last place."""
    rng = np.random.default_rng(2)
    x = np.concatenate((rng.uniform(-4, 4, 200_000), rng.uniform(-BOUND, BOUND, 200_000),
                        10.0 ** rng.uniform(-30, 38, 200_000))).astype(np.float32)
    for found, function in zip(single.states(len(x), x), (np.sin, np.cos), strict=True):
        exact = function(x.astype(float))
        ulp = np.spacing(np.abs(exact).astype(np.float32)).astype(float)
        assert np.max(np.abs(found - exact) / ulp) < 2


def test_nan_and_infinities_give_nan_and_leave_their_neighbours_alone(double):
    x = np.array([0.5, np.nan, -0.25, np.inf, 1.0, -np.inf, 2.0, 1e300, 3.0] * 3)
    sine, cosine = double.states(len(x), x)
    finite = np.isfinite(x)
    assert np.isnan(sine[~finite]).all() and np.isnan(cosine[~finite]).all()
    alone = [double.one_state(angle) for angle in x[finite]]
    assert np.array_equal(sine[finite], [s for s, _ in alone])
    assert np.array_equal(cosine[finite], [c for _, c in alone])


def test_one_far_angle_among_many_is_repaired_in_scalar_code():
    """Eleven angles share two registers and one branch."""
    n = 11
    code = [Instruction("input", (0, k)) for k in range(n)]
    code += [Instruction(op, (k,)) for op in ("sin", "cos") for k in range(n)]
    outputs = (Output("s", (n,), tuple(Entry(n + k, 1) for k in range(n))),
               Output("c", (n,), tuple(Entry(2 * n + k, 1) for k in range(n))))
    native = NativeCode(Program("many", (Slot("x", (n,)),), outputs, tuple(code)), TARGETS["host"])
    for far in range(n):
        x = np.linspace(-3, 3, n)
        x[far] = 1e200
        sine, cosine = native.one_state(x)
        np.testing.assert_allclose(sine, np.sin(x), rtol=0, atol=4e-16)
        np.testing.assert_allclose(cosine, np.cos(x), rtol=0, atol=4e-16)
