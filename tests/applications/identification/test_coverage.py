"""Intervals hold the truth as often as they say, over many runs of known robots."""

import numpy as np
import pytest
from scipy.signal import lfilter

import closedform as cf
from measured_runs import other_inertias, run, true_numbers

idn = cf.identification
RUNS = 200


def coverage(method, robot, runs, memory=0.9):
    """The share of (run, unknown) whose 95 % interval holds the truth; noise with a memory."""
    file = other_inertias(robot, by=0.2)
    model = idn.Model(file, idn.Friction("viscous", "coulomb", slip=1e-3))
    true, inside = true_numbers(model, robot), []
    for seed in range(runs):
        data = run(robot, seed, noise=0.0, rate=100.0)
        rng = np.random.default_rng(seed)
        noise = lfilter([1], [1, -memory], rng.normal(size=data["tau"].shape), axis=0)
        data["tau"] = data["tau"] + 0.01 * data["tau"].std(axis=0) * noise
        info = idn.information(model, idn.read(data, file),
                               signals=idn.Signals(cutoff=4.0, delay=0.0))
        fit = idn.fit(info, method)
        inside.append(np.abs(fit.x - true) <= fit.reach)
    return np.mean(inside)


@pytest.mark.parametrize("method", ["weighted", "consistent"])
def test_intervals_of_a_few_runs_are_not_far_off(method):
    """Twenty runs, whose share scatters by two in a hundred."""
    assert 0.86 <= coverage(method, cf.load("planar2r"), 20) <= 1.0


@pytest.mark.slow
@pytest.mark.parametrize("method", ["weighted", "consistent"])
@pytest.mark.parametrize("name", ["planar2r", "stanford"])
def test_intervals_hold_the_truth_at_the_rate_they_state(method, name):
    assert 0.90 <= coverage(method, cf.load(name), RUNS) <= 0.98
