"""Intervals of friction where it is not what the model says."""

import numpy as np
import pytest

import closedform as cf
from measured_runs import motion, run, true_numbers

idn = cf.identification
ROBOT = cf.load("planar2r")
MODEL = idn.Model(ROBOT, idn.Friction("viscous", "coulomb"))
TRUE = true_numbers(MODEL, ROBOT)
RUBS = np.array([n.rpartition(".")[2] in MODEL.friction.names for n in MODEL.names])


def fitted(seed, size, speed, noise=1e-3):
    """Of a log whose joints have a bump of friction below a speed."""
    data, rng = run(ROBOT, seed, noise=0.0), np.random.default_rng(seed)
    _, v, _ = motion(ROBOT, data["t"], seed)
    tau = data["tau"] + size * np.exp(-(v / speed)**2) * np.sign(v)
    data["tau"] = tau + noise * tau.std(axis=0) * rng.normal(size=v.shape)
    return idn.fit(idn.information(MODEL, idn.read(data, ROBOT)), "weighted")


@pytest.mark.parametrize("speed", [0.05, 0.2])
def test_intervals_of_friction_hold_the_truth_under_a_bump_that_the_model_does_not_have(speed):
    """By blocks of time alone they hold hardly any of it."""
    before, after = [], []
    for seed in range(4):
        fit = fitted(seed, 0.5, speed)
        low, high = fit.interval
        before.append((np.abs(fit.by_data - TRUE) <= fit.reach)[RUBS])
        after.append(((low <= TRUE) & (high >= TRUE))[RUBS])
    assert np.mean(before) < 0.2 and np.mean(after) >= 0.8


def test_friction_as_the_model_says_widens_hardly_any_interval():
    wider = [fitted(seed, 0.0, 1.0).friction_error[RUBS] > 0 for seed in range(6)]
    assert np.mean(wider) < 0.2


def test_what_is_no_friction_is_left_alone():
    assert np.all(fitted(0, 0.5, 0.2).friction_error[~RUBS] == 0)


def test_information_without_logs_widens_nothing(tmp_path):
    fit = fitted(0, 0.5, 0.2)
    loaded = idn.Information.load(fit.info.save(tmp_path / "info.npz"), MODEL)
    assert np.all(idn.fit(loaded, "weighted").friction_error == 0)
    np.testing.assert_allclose(loaded.speed, fit.info.speed)
