"""Machine code of programs with lanes, on every target at hand."""

import numpy as np
import pytest

from closedform.lowerings.native import steps
from native_code import NativeCode, targets
from random_lanes import random_computation, random_seam

TARGETS = targets()


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("target", TARGETS)
def test_every_lane_of_machine_code_is_what_a_single_number_would_be(target, seed):
    program, x, expected = random_computation(seed)
    found, = NativeCode(program, TARGETS[target]).one_state(x)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("target", TARGETS)
def test_machine_code_joins_lanes_of_several_places(target, seed):
    program, x, expected = random_seam(seed)
    found, = NativeCode(program, TARGETS[target]).one_state(x)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_values_of_all_widths_wait_between_pieces(monkeypatch):
    monkeypatch.setattr(steps, "WHOLE", 20)
    monkeypatch.setattr(steps, "PIECE", 20)
    program, x, expected = random_computation(3, operations=200)
    found, = NativeCode(program, next(iter(TARGETS.values()))).one_state(x)
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11 * np.abs(expected).max())


def test_batches_have_no_limbs_in_lanes():
    program, x, expected = random_computation(5)
    states = np.stack([x] * 19)
    found, = NativeCode(program, next(iter(TARGETS.values()))).states(19, states)
    np.testing.assert_allclose(found, np.stack([expected] * 19), rtol=1e-12,
                               atol=1e-12 * np.abs(expected).max())
