"""Logs prepared: states, filtered columns and what is said, against motions that are known."""

from dataclasses import replace

import numpy as np
import pytest

import closedform as cf
from closedform import identification as idn
from closedform.applications.identification.signals import signals as module
from closedform.errors import ArgumentError
from measured_runs import run
from random_robots import KINDS, random_robot
from simulated_logs import Faults, simulated, truth

PANDA = cf.load("panda")
ROUGH = Faults(noise=1e-6, torque_noise=0.02, jitter=2e-3, repeats=0.05, lost=0.05, lag=5e-3)
MOVING = [kind for kind in KINDS if kind not in ("fixed", "mimic")]


def prepared(robot, faults, duration=20.0, **options):
    logged, taken = simulated(robot, duration, faults)
    made = idn.Signals(**{"delay": 0.0, **options}).prepare(idn.read(logged, robot))
    return made, taken[0]


def kept(made, *names):
    windows = list(made.windows())
    parts = [[getattr(w, name)[w.kept] for w in windows] for name in names]
    return [np.concatenate(part) for part in parts]


@pytest.mark.parametrize("kind", MOVING)
def test_states_of_every_joint_are_those_of_the_motion(kind):
    """The motion lies far below the cutoff: what is smoothed away is small."""
    robot = random_robot(2, kinds=(kind,), bodies=2)
    logged, _ = simulated(robot, 12.0, torques=False)
    made = idn.Signals(cutoff=12.0, delay=0.0).prepare(idn.read(logged, robot))
    t, q, v, a = kept(made, "t", "q", "v", "a")
    for found, exact in zip((q, v, a), truth(robot, t), strict=True):
        np.testing.assert_allclose(found, exact, atol=3e-3 * np.abs(exact).max())


def test_states_survive_a_bad_clock():
    made, _ = prepared(PANDA, ROUGH, cutoff=5.0)
    t, q, v, a = kept(made, "t", "q", "v", "a")
    # the first rows stand, so that the beginning of the clock is known to a few ticks only
    shifts = np.arange(-5, 6) * 1e-3
    errors = [[np.abs(found - exact).max() / np.abs(exact).max() for found, exact in
               zip((q, v, a), truth(PANDA, t + shift), strict=True)] for shift in shifts]
    best = min(errors, key=max)
    assert best[0] < 1e-3 and best[1] < 2e-3 and best[2] < 5e-3


def test_both_sides_of_the_equations_agree_after_the_same_filter():
    """F τ = F Y(q, v, a) π, with friction: what is left is the noise of the torque."""
    made, _ = prepared(PANDA, Faults(torque_noise=1e-3), cutoff=8.0)
    arm = cf.compile(PANDA)
    for w in made.windows():
        tau = arm.inverse_dynamics(w.q, w.v, w.a) + 0.5 * np.tanh(w.v / 1e-3) + 0.2 * w.v
        off = w.reduce(w.effort["tau"]) - w.reduce(tau)
        assert np.sqrt(np.mean(off**2)) < 5e-3
        unfiltered = w.effort["tau"] - tau          # signs change between samples of the grid
        assert np.sqrt(np.mean(unfiltered**2)) > 1e-2


@pytest.mark.parametrize("faults", [Faults(period=4e-3), ROUGH, replace(ROUGH, gap=(8.0, 9.0))])
def test_results_do_not_depend_on_windows_and_pieces(faults, monkeypatch):
    made, _ = prepared(PANDA, faults)
    whole = kept(made, "t", "q", "v", "a")
    reduced = np.concatenate([w.reduce(w.effort["tau"]) for w in made.windows()])
    assert len(whole[0]) == made.rows
    for piece, rows in ((700, 300), (4001, 111)):
        monkeypatch.setattr(module, "PIECE", piece)
        other = replace(made, plan=replace(made.plan, rows=rows))
        assert len(list(other.windows())) > len(list(made.windows()))
        for a, b in zip(whole, kept(other, "t", "q", "v", "a"), strict=True):
            np.testing.assert_allclose(a, b, atol=1e-9)
        again = np.concatenate([w.reduce(w.effort["tau"]) for w in other.windows()])
        np.testing.assert_allclose(reduced, again, atol=1e-9)


def test_windows_never_cross_a_gap():
    made, _ = prepared(PANDA, Faults(gap=(8.0, 9.0)))
    for w in made.windows():
        assert np.all(np.diff(w.t) < 1.5 / 25 / made.plan.cutoff)
        assert w.t[-1] < 8.0 or w.t[0] > 9.0
    assert any("gaps" in note for note in made.notes)


def test_the_cutoff_is_five_times_the_highest_frequency_of_the_motion():
    for highest in (0.3, 1.0):
        logged, _ = simulated(PANDA, 30.0, Faults(period=2e-3, noise=1e-5, torque_noise=0.05),
                              highest=highest)
        made = idn.Signals(delay=0.0).prepare(idn.read(logged, PANDA))
        assert 0.9 * 5 * 0.8 * highest < made.plan.cutoff < 1.3 * 5 * highest
        assert 2 * made.plan.cutoff <= made.rate <= 5 * made.plan.cutoff


def test_a_rate_may_be_told():
    made, _ = prepared(PANDA, Faults(), cutoff=5.0, rate=50.0)
    assert abs(made.rate - 50.0) < 15.0
    t, = kept(made, "t")
    np.testing.assert_allclose(np.diff(t), 1 / made.rate, rtol=1e-9)


@pytest.mark.parametrize("delay", [0.008, -0.006])
def test_a_delay_of_the_torques_is_found_and_applied(delay):
    made, _ = prepared(PANDA, replace(ROUGH, delay=delay), delay="estimate")
    assert abs(made.plan.delay - delay) < 1e-3
    assert "they are shifted" in made.notes[-1]


@pytest.mark.parametrize("seed", [0, 2])
@pytest.mark.parametrize("delay", [0.003, -0.0075])
def test_signs_that_turn_between_samples_do_not_move_a_delay(seed, delay):
    """Torques that jump every few samples, 4 ms apart."""
    robot = cf.load("planar2r")
    model = idn.Model(robot, idn.Friction("viscous", "coulomb"))
    log = idn.read(run(robot, seed, noise=0.0, delay=delay), robot)
    assert abs(idn.Signals().prepare(log, model).plan.delay - delay) < 2e-5


def test_a_delay_is_found_for_a_robot_of_any_size():
    robot = random_robot(3, kinds=("revolute",), bodies=14)
    made, _ = prepared(robot, replace(ROUGH, delay=0.012), duration=40.0, delay="estimate")
    assert abs(made.plan.delay - 0.012) < 1e-3


def test_a_delay_of_the_motors_torques_is_found():
    logged, _ = simulated(PANDA, 20.0, Faults(torque_noise=0.02, delay=0.007))
    ratio = np.array([-100.0, 80, 60, 50, 40, -30, 20])
    logged["motor_torque"] = logged.pop("tau") / ratio
    log = idn.read(logged, PANDA)
    made = idn.Signals().prepare(log, idn.Model(PANDA, drives=idn.Drives(ratio)))
    assert abs(made.plan.delay - 0.007) < 1e-3
    assert "no joint torques" in " ".join(idn.Signals().prepare(log).notes)


def test_no_delay_is_applied_where_there_is_none():
    made, _ = prepared(PANDA, ROUGH, delay="estimate")
    assert made.plan.delay == 0.0


def test_a_told_delay_shifts_the_torques():
    plain, _ = prepared(PANDA, Faults(), cutoff=5.0)
    late, _ = prepared(PANDA, Faults(delay=0.01), cutoff=5.0, delay=0.01)
    a, b = (next(made.windows()) for made in (plain, late))
    tau = np.stack([np.interp(a.t, b.t, x) for x in b.effort["tau"].T], axis=1)
    inside = (a.t > b.t[0]) & (a.t < b.t[-1])
    np.testing.assert_allclose(a.reduce(tau)[5:-5], a.reduce(a.effort["tau"])[5:-5], atol=0.05)
    assert inside.mean() > 0.9


def test_standing_joints_do_not_count_as_moving():
    logged, _ = simulated(PANDA, 10.0, Faults(noise=1e-5))
    logged["q"][:, 4], logged["v"][:, 4] = 0.3, 0.0
    made = idn.Signals(delay=0.0).prepare(idn.read(logged, PANDA))
    moving = np.concatenate([w.moving for w in made.windows()])
    assert not moving[:, 4].any() and moving[:, 0].mean() > 0.8


def test_logged_velocities_are_used_if_told():
    made, start = prepared(PANDA, Faults(lag=0.0), cutoff=5.0, derivatives="logged")
    t, v, a = kept(made, "t", "v", "a")
    _, v_exact, a_exact = truth(PANDA, t + start)
    np.testing.assert_allclose(v, v_exact, atol=1e-2)
    np.testing.assert_allclose(a, a_exact, atol=5e-2)


def test_the_noise_of_velocities_is_that_of_filtered_positions():
    made, start = prepared(PANDA, Faults(noise=1e-4), cutoff=20.0)
    t, v = kept(made, "t", "v")
    measured = np.std(v - truth(PANDA, t + start)[1], axis=0)
    np.testing.assert_allclose(made.velocity_noise, measured, rtol=0.2)


def test_every_step_is_said_in_words():
    made, _ = prepared(PANDA, replace(ROUGH, gap=(8.0, 9.0)), delay="estimate")
    said = "\n".join(made.notes)
    for words in ("ticks of 1 ms", "repeat the row before", "missing samples", "gaps",
                  "zero-phase low-pass", "from the positions", "torques"):
        assert words in said


@pytest.mark.parametrize("options, message", [
    ({"clock": "mend"}, "clock: .*repair"), ({"cutoff": -1.0}, "cutoff must be"),
    ({"cutoff": "car"}, "cutoff must be"), ({"rate": 0}, "rate must be"),
    ({"delay": float("nan")}, "delay must be"), ({"derivatives": "torques"}, "derivatives")])
def test_options_that_are_none_are_refused(options, message):
    with pytest.raises(cf.ArgumentError, match=message):
        idn.Signals(**options)


def test_logs_that_are_too_short_or_have_no_velocities_are_refused():
    logged, _ = simulated(PANDA, 1.0, Faults(period=4e-3))
    for cutoff in (1.0, 1e-9):                  # of the second no filter can even be made
        with pytest.raises(cf.ArgumentError, match="too short"):
            idn.Signals(cutoff=cutoff, delay=0.0).prepare(idn.read(logged, PANDA))
    del logged["v"]
    with pytest.raises(cf.ArgumentError, match="no velocities are logged"):
        idn.Signals(derivatives="logged").prepare(idn.read(logged, PANDA))
    with pytest.raises(cf.ArgumentError, match="log must be a Log"):
        idn.Signals().prepare(logged)


def test_torques_at_other_times_than_positions_are_a_fault():
    """A tenth of a second late: no shift within reach is best, more is always better."""
    robot = cf.load("planar2r")
    data = run(robot)
    data["tau"] = np.roll(data["tau"], 25, axis=0)
    prepared = idn.Signals().prepare(idn.read(data, robot))
    assert any("not those of the positions" in fault for fault in prepared.faults)


def test_a_robot_that_stands_is_refused():
    robot = cf.load("planar2r")
    data = {k: np.full_like(x, 0.1) if k != "t" else x for k, x in run(robot).items()}
    with pytest.raises(ArgumentError, match="no joint moves"):
        idn.Signals().prepare(idn.read({**data, "v": data["q"]}, robot))
