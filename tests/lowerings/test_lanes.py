"""Blocks of states give what the reference gives for each state."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from closedform.errors import ArgumentError
from closedform.lowerings import lanes, reference
from closedform.program.record import record
from random_programs import random_inputs, random_program


def motion(q, v):
    s, c = np.sin(q), np.cos(q)
    x = np.array([c[0] * v[0] - s[0] * v[1], s[0] * v[0] + c[0] * v[1], q[2] / (c[1] + 2.0)])
    y = x * x[::-1] - 0.25 * q
    energy = (y @ y + 1.0).sqrt() * v[2].sign()
    M = np.array([[x[0], y[0], 0.0], [-y[0], x[1], 1.5], [q[0], -q[0], energy]], dtype=object)
    return {"M": M, "energy": energy}


PROGRAM = record(motion, {"q": (3,), "v": (3,)}, "motion")
EPS = np.finfo(float).eps


def expected(q, v):
    states = [reference.run(PROGRAM, a, b) for a, b in zip(q, v, strict=True)]
    return [np.stack(column) for column in zip(*states, strict=True)]


@pytest.mark.parametrize("count", [1, 3, 511, 512, 513, 1100])
def test_every_state_of_a_batch_is_the_reference_run_of_that_state(count):
    q, v = np.random.default_rng(count).normal(size=(2, count, 3))
    for found, wanted in zip(lanes.run(PROGRAM, q, v), expected(q, v), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=0, atol=30 * EPS * abs(wanted).max())


@pytest.mark.parametrize("seed", range(6))
def test_random_programs_with_every_operation_agree_with_the_reference(seed):
    program = random_program(seed, operations=40)
    states = [random_inputs(program, k) for k in range(5)]
    found = lanes.run(program, *(np.stack(x) for x in zip(*states, strict=True)))
    for k, state in enumerate(states):
        for x, y in zip(found, reference.run(program, *state), strict=True):
            np.testing.assert_allclose(x[k], y, rtol=1e-12, atol=1e-12)


def test_one_state_needs_no_batch_axis_and_no_state_gives_empty_results():
    q, v = np.random.default_rng(0).normal(size=(2, 3))
    M, energy = lanes.run(PROGRAM, q, v)
    assert M.shape == (3, 3) and energy.shape == ()
    M, energy = lanes.run(PROGRAM, np.zeros((0, 3)), v)
    assert M.shape == (0, 3, 3) and energy.shape == (0,)


def test_batch_axes_broadcast_and_come_first():
    rng = np.random.default_rng(1)
    q, v = rng.normal(size=(4, 1, 3)), rng.normal(size=(5, 3))
    M, energy = lanes.run(PROGRAM, q, v)
    assert M.shape == (4, 5, 3, 3) and energy.shape == (4, 5)
    np.testing.assert_allclose(M[2, 3], reference.run(PROGRAM, q[2, 0], v[3])[0], atol=1e-14)


def test_results_are_float32_only_if_all_inputs_are():
    q, v = np.random.default_rng(2).normal(size=(2, 7, 3)).astype(np.float32)
    single = lanes.run(PROGRAM, q, v)
    assert all(x.dtype == np.float32 for x in single)
    assert all(x.dtype == np.float64 for x in lanes.run(PROGRAM, q, v.astype(float)))
    for found, wanted in zip(single, expected(q, v), strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-5 * abs(wanted).max())


def test_infinity_and_nan_travel_on_without_warnings():
    q = np.array([[np.nan, 0.0, 1.0], [0.1, np.inf, 0.2]])
    v = np.ones((2, 3))
    with np.errstate(all="raise"):
        M, energy = lanes.run(PROGRAM, q, v)
    assert np.isnan(energy).all() and M[0, 1, 2] == 1.5 and M[1, 2, 0] == 0.1


def test_one_function_may_run_in_several_threads_at_once():
    call = lanes.over_blocks(PROGRAM)
    q, v = np.random.default_rng(3).normal(size=(2, 4, 3000, 3))
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(call, q, v))
    for k in range(4):
        np.testing.assert_array_equal(together[k][0], call(q[k], v[k])[0])


def test_results_do_not_alias_inputs_or_each_other():
    program = record(lambda q: {"a": q, "b": q}, {"q": (2,)}, "f")
    q = np.array([1.0, 2.0])
    a, b = lanes.run(program, q)
    a[0] = 7.0
    assert q[0] == 1.0 and b[0] == 1.0


def test_arguments_that_do_not_fit_are_refused():
    with pytest.raises(ArgumentError, match="1 arguments"):
        lanes.run(PROGRAM, np.zeros(3))
    with pytest.raises(ArgumentError, match=r"then shape \(3,\)"):
        lanes.run(PROGRAM, np.zeros(3), np.zeros((3, 4)))
    with pytest.raises(ArgumentError, match="do not fit"):
        lanes.run(PROGRAM, np.zeros((2, 3)), np.zeros((4, 3)))
