"""A system of one's own: what it must say, and what it gets without saying it."""

import numpy as np
import pytest

import closedform as cf
from closedform.applications.motion.methods import METHODS
from oscillator import Oscillator


@pytest.mark.parametrize("method", METHODS)
def test_an_oscillator_oscillates(method):
    t = np.linspace(0, 1, 5)
    run = cf.simulate(Oscillator(), [1.0, 0.0], None, t, method=method)
    np.testing.assert_allclose(run.path[:, 0], np.cos(t), atol=1e-6)
    assert run.energy_drift < 1e-6


def test_a_constant_force_moves_the_middle_and_does_work():
    run = cf.simulate(Oscillator(), [0.0, 0.0], [2.0], np.linspace(0, 1, 5))
    np.testing.assert_allclose(run.path[:, 0], 2 - 2 * np.cos(run.times), atol=1e-8)
    np.testing.assert_allclose(run.work, 2 * run.path[:, 0], atol=1e-8)
    np.testing.assert_allclose(run.energy_residual, 0, atol=1e-8)


def test_what_it_leaves_out_has_a_meaning():
    run = cf.simulate(Oscillator(), None, None, [0, 1.0])
    np.testing.assert_array_equal(run.path[0], [0, 1, 0])
    np.testing.assert_array_equal(run.constraint_residual, 0)
    np.testing.assert_array_equal(run.smallest_inertia, np.inf)
    assert [len(axis.lines) for axis in run.plot().axes] == [2, 4]
    with pytest.raises(cf.ArgumentError, match="no animation of oscillator"):
        run.animate("x.gif")


def test_what_it_observes_and_holds_is_found_on_the_run():
    run = cf.simulate(Oscillator(), None, None, [0, 1.0])
    np.testing.assert_array_equal(run.turn, run.path[:, 0])
    assert run.loud is False
    with pytest.raises(AttributeError, match="a simulation of oscillator has no 'tip'"):
        _ = run.tip
