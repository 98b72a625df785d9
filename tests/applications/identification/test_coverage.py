"""Intervals hold the truth as often as they say, over many runs of known robots."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.signal import lfilter

import closedform as cf
from measured_runs import other_inertias, run, true_numbers
from random_robots import random_robot

idn = cf.identification
RUNS = 200


def holds(fit, true):
    """Which intervals hold the truth."""
    return [row.low <= x <= row.high for row, x in zip(fit.table, true, strict=True)]


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
        inside.append(holds(fit, true))
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


def tree():
    """Turns and slides of a random tree, without rotors."""
    robot = random_robot(3, kinds=("revolute", "prismatic"), bodies=4)
    return replace(robot, bodies=tuple(replace(b, joint=replace(b.joint, rotor_inertia=None))
                                       for b in robot.bodies))


def coverage_as_it_comes(method, robot, noise, rubs, runs, memory=0.0, delay=0.0):
    """As `coverage`, all decisions about the signals left to the library; torques may be late."""
    file = other_inertias(robot, by=0.2)
    model = idn.Model(file, idn.Friction("viscous", "coulomb") if rubs else idn.Friction())
    true, inside = true_numbers(model, robot), []
    for seed in range(runs):
        data = run(robot, seed, noise=0.0, rubs=rubs, delay=delay)
        rng = np.random.default_rng(seed)
        white = rng.normal(size=data["tau"].shape)
        coloured = lfilter([np.sqrt(1 - memory**2)], [1, -memory], white, axis=0)
        data["tau"] = data["tau"] + noise * data["tau"].std(axis=0) * coloured
        fit = idn.fit(idn.information(model, idn.read(data, file)), method)
        inside.append(holds(fit, true))
    return np.mean(inside)


@pytest.mark.parametrize("method", ["weighted", "consistent"])
@pytest.mark.parametrize("rubs", [False, True])
def test_intervals_hold_where_there_is_hardly_any_noise(rubs, method):
    """What filters, the grid and a prior do is then all that could be wrong with an estimate."""
    assert coverage_as_it_comes(method, cf.load("stanford"), 1e-3, rubs, 6) >= 0.90


def test_intervals_hold_where_torques_are_late_by_parts_of_a_sample():
    """By 2.5 samples, which is found, and which signs of velocities are laid out by."""
    assert coverage_as_it_comes("weighted", cf.load("planar2r"), 1e-3, True, 20,
                                delay=0.0101) >= 0.93


def test_coulomb_friction_is_not_biased_by_the_grid_that_columns_are_computed_on():
    """Fourteen samples in a step of the grid, signs turn among them: 4e-5 is left."""
    robot = cf.load("planar2r")
    model = idn.Model(robot, idn.Friction("viscous", "coulomb"))
    off = []
    for seed in range(4):
        data = run(robot, seed, noise=0.0, rate=1000.0)
        fit = idn.fit(idn.information(model, idn.read(data, robot)), "weighted")
        off.append((fit.x - true_numbers(model, robot))[-4:])
    assert np.abs(np.mean(off, axis=0)).max() < 6e-5


@pytest.mark.slow
@pytest.mark.parametrize("robot", [cf.load("planar2r"), cf.load("stanford"), tree()],
                         ids=lambda robot: robot.name)
@pytest.mark.parametrize("rubs", [False, True])
@pytest.mark.parametrize("noise", [1e-3, 1e-2, 5e-2])
@pytest.mark.parametrize("memory", [0.0, 0.9])
@pytest.mark.parametrize("method", ["weighted", "consistent"])
def test_intervals_hold_at_every_size_of_noise(robot, rubs, noise, memory, method):
    assert 0.90 <= coverage_as_it_comes(method, robot, noise, rubs, RUNS, memory) <= 0.98


@pytest.mark.slow
@pytest.mark.parametrize("name", ["planar2r", "stanford"])
@pytest.mark.parametrize("noise", [1e-3, 1e-2, 5e-2])
@pytest.mark.parametrize("delay", [0.003, 0.0101])
@pytest.mark.parametrize("method", ["weighted", "consistent"])
def test_intervals_hold_where_torques_are_late(name, noise, delay, method):
    share = coverage_as_it_comes(method, cf.load(name), noise, True, RUNS, delay=delay)
    assert 0.90 <= share <= 0.98


def by_instruments(runs, jitter):
    """Four periods of one motion, noise of positions and torques; by instruments and without."""
    robot = cf.load("planar2r")
    model = idn.Model(robot, idn.Friction("viscous", "coulomb", slip=1e-3))
    true, inside = true_numbers(model, robot), []
    for seed in range(runs):
        data, rng = run(robot, 0, seconds=40.0, noise=0.0, rate=100.0), np.random.default_rng(seed)
        data["q"] = data["q"] + jitter * rng.normal(size=data["q"].shape)
        noise = 0.01 * data["tau"].std(axis=0) * rng.normal(size=data["q"].shape)
        data["tau"] = data["tau"] + noise
        info = idn.information(model, idn.read(data, robot),
                               signals=idn.Signals(cutoff=5.0, delay=0.0, rate=20.0))
        fits = idn.fit(info, "instrumental", period=10.0), idn.fit(info, "weighted")
        inside.append([np.mean(holds(fit, true)) for fit in fits])
    return np.mean(inside, axis=0)


def test_instruments_hold_the_truth_where_noise_of_positions_biases_least_squares():
    """A milliradian, which in accelerations is as large as the motion's own."""
    share, without = by_instruments(12, 1e-3)
    assert share >= 0.88 and without < 0.8


@pytest.mark.slow
@pytest.mark.parametrize("jitter", [0.0, 3e-4])
def test_intervals_by_instruments_hold_at_the_rate_they_state(jitter):
    assert 0.90 <= by_instruments(RUNS, jitter)[0] <= 0.98
