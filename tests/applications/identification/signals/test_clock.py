"""Times of samples, rebuilt."""

import numpy as np
import pytest

import closedform as cf
from closedform import identification as idn
from closedform.applications.identification.signals import clock
from simulated_logs import Faults, simulated

PANDA = cf.load("panda")
ROUGH = Faults(noise=1e-6, jitter=2e-3, repeats=0.05, lost=0.05, lag=5e-3)


def steps_of(times):
    return np.diff(times) / 1e-3


def rebuilt(robot, faults, wish="repair", duration=20.0, without=()):
    logged, taken = simulated(robot, duration, faults, torques=False)
    head = idn.Samples(**{k: x for k, x in logged.items() if k not in without})
    found = clock.chosen(robot, head, wish)
    return found, found.of(robot, head), np.unique(taken)


def test_ticks_are_found_from_positions_and_velocities():
    """Where the robot moves, every step is the one that was taken, to rounding."""
    found, stamped, taken = rebuilt(PANDA, ROUGH)
    assert found.kind == clock.TICKS and found.period == 1e-3
    assert len(stamped.t) == len(taken)
    speed = np.linalg.norm(stamped.rows.v, axis=1)
    moving = np.minimum(speed[1:], speed[:-1]) > 2 * found.slow
    assert moving.mean() > 0.95
    np.testing.assert_allclose(steps_of(stamped.t)[moving], steps_of(taken)[moving], atol=1e-6)


def test_the_rebuilt_clock_lasts_as_long_as_the_samples_were_taken():
    _, stamped, taken = rebuilt(PANDA, ROUGH)
    assert abs((stamped.t[-1] - stamped.t[0]) - (taken[-1] - taken[0])) < 5e-3


@pytest.mark.parametrize("period", [2e-3, 8e-3, 1 / 240])
def test_periods_of_controllers_are_found(period):
    found, _, _ = rebuilt(PANDA, Faults(period=period, jitter=period / 2, lost=0.03))
    assert found.kind == clock.TICKS
    np.testing.assert_allclose(found.period, period, rtol=1e-9)


def test_regular_times_are_left_alone():
    found, stamped, taken = rebuilt(PANDA, Faults(lost=0.02))
    assert found.kind == clock.LOGGED
    np.testing.assert_allclose(stamped.t, taken - taken[0], atol=1e-12)


def test_without_velocities_lines_through_neighbours_are_nearer_than_the_log():
    faults = Faults(jitter=4e-3)
    found, stamped, taken = rebuilt(PANDA, faults, without=("v", "tau"))
    assert found.kind == clock.LINE
    off = (stamped.t - stamped.t[0]) - (taken - taken[0])
    logged = stamped.rows.t - (taken - taken[0])
    assert np.std(off) < 0.2 * np.std(logged)


def test_a_clock_that_samples_at_odd_times_is_believed():
    """Times that jump because samples were taken then are smoother as they are."""
    rng = np.random.default_rng(2)
    t = np.cumsum(rng.uniform(2e-3, 8e-3, 3000))
    q = np.stack([np.sin(2 * t + j) for j in range(7)], axis=1)
    assert clock.chosen(PANDA, idn.Samples(t, q), "repair").kind == clock.LOGGED


@pytest.mark.parametrize("wish", ["repair", "uniform", "logged"])
def test_times_do_not_depend_on_the_size_of_pieces(wish):
    logged, _ = simulated(PANDA, 5.0, ROUGH, torques=False)
    log = idn.read(logged, PANDA)
    found = clock.chosen(PANDA, log.samples(), wish)
    whole = found.of(PANDA, log.samples())
    for rows in (17, 500, 3001):
        pieces = list(found.stamped(log, rows))
        np.testing.assert_allclose(np.concatenate([p.t for p in pieces]), whole.t, atol=1e-12)
        np.testing.assert_array_equal(np.concatenate([p.rows.q for p in pieces]), whole.rows.q)


def test_angles_that_jump_and_quaternions_that_change_sign_are_followed():
    robot = cf.Robot("both", [
        cf.Body("a", None, cf.Revolute((0, 0, 1)), inertia=cf.Inertia(1.0)),
        cf.Body("b", "a", cf.Spherical(), inertia=cf.Inertia(1.0, (0, 0, 0), np.eye(3)))])
    t = np.arange(4000) * 1e-3
    half = np.stack([0 * t, 0 * t, np.sin(2 * t), np.cos(2 * t)], axis=1)
    q = np.column_stack([3 * t, half])
    jumps = q.copy()
    jumps[:, 0] = (q[:, 0] + np.pi) % (2 * np.pi) - np.pi
    jumps[1500:2500, 1:] *= -1
    log = idn.read({"t": t, "q": jumps}, robot)
    found = list(clock.Clock(clock.LOGGED, 1e-3, np.inf).stamped(log, 700))
    np.testing.assert_allclose(np.concatenate([p.rows.q for p in found]), q, atol=1e-12)
