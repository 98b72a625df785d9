"""Motions that repeat, and what is held out of them."""

import numpy as np
import pytest

import closedform as cf
from closedform.applications.identification.repetition import MotionPath, repeats_after, shared
from closedform.applications.identification.triangles import FOLDS
from measured_runs import motion, run

idn = cf.identification
ROBOT = cf.load("planar2r")


def states(seconds, noise=0.0, frequency=0.1):
    t = np.arange(0, seconds, 0.05)
    q, v, _ = motion(ROBOT, t, 3, frequency=frequency)
    s = np.concatenate([q, v], axis=1)
    return t, s + noise * s.std(axis=0) * np.random.default_rng(0).normal(size=s.shape)


@pytest.mark.parametrize(("seconds", "noise"), [(14.0, 0.0), (25.0, 0.05), (63.0, 0.1)])
def test_a_period_is_found_in_noise_and_from_less_than_two(seconds, noise):
    assert repeats_after(*states(seconds, noise)) == pytest.approx(10.0, abs=0.06)


def test_motion_that_is_not_seen_again_has_none():
    assert repeats_after(*states(9.0)) is None
    assert repeats_after(*states(11.0)) is None           # a tenth of it alone
    t, s = states(40.0)
    assert repeats_after(t, s * (1 + t[:, None] / 10)) is None
    assert repeats_after(t, np.zeros_like(s)) is None
    assert repeats_after(t, np.column_stack([t, t**2])) is None


def test_folds_of_a_repeated_motion_are_parts_of_its_period():
    model = idn.Model(ROBOT, idn.Friction("viscous"))
    signals = idn.Signals(cutoff=4.0, delay=0.0)
    info = idn.information(model, idn.read(run(ROBOT, seconds=21.0), ROBOT), signals, blocks=40)
    phase = {b.number: b.phase for b in info.blocks}
    assert phase[39][1] - phase[0][0] == pytest.approx(1.96, abs=0.05)
    pairs = info.held_out()
    assert len(pairs) == FOLDS
    assert sum(len(test.blocks) for _, test in pairs) == len(info.blocks)
    for train, test in pairs:
        middles = [np.mean([b.phase for b in x.blocks], axis=1) % 1.0 for x in (train, test)]
        apart = np.abs(middles[0][:, None] - middles[1])
        assert np.minimum(apart, 1 - apart).min() > 0.02      # nothing of the test's phases trains
    other = idn.information(model, idn.read(run(ROBOT, seconds=9.0), ROBOT), signals)
    assert {b.phase for b in other.blocks} == {None}
    assert [len(test.blocks) for _, test in other.held_out()] == [4] * FOLDS


def test_phases_are_saved(tmp_path):
    model = idn.Model(ROBOT, idn.Friction("viscous"))
    info = idn.information(model, idn.read(run(ROBOT), ROBOT), idn.Signals(cutoff=4.0, delay=0.0))
    again = idn.Information.load(info.save(tmp_path / "x.npz"), model)
    assert [b.phase for b in again.blocks] == [b.phase for b in info.blocks]


def path(begin, end, step=0.05, seed=3, speed=1.0, noise=0.0):
    """Some seconds of a motion whose period is ten."""
    t = np.arange(begin, end, step)
    q, v, _ = motion(ROBOT, speed * t, seed)
    rng = np.random.default_rng(1)
    return MotionPath.of(ROBOT, t - begin, q + noise * rng.normal(size=q.shape),
                   speed * v + noise * rng.normal(size=q.shape))


@pytest.mark.parametrize(("other", "share", "of_it"), [
    (path(0, 20, noise=0.01), 1.0, 1.0), (path(3.3, 23.3, noise=0.01), 1.0, 1.0),
    (path(43.3, 56.3, step=0.013), 1.0, 1.0), (path(2, 9), 1.0, 0.63), (path(0, 20, seed=4), 0, 0),
    (path(0, 20, speed=1.2), 0, 0), (path(0, 20, speed=-1.0), 0, 0), (path(0, 3), 1.0, 0.21),
    (path(0, 0.5), 0, 0)])
def test_a_motion_is_known_again_whenever_it_begins_and_however_it_is_sampled(other, share, of_it):
    """Not another one, nor the same way at other speeds, nor backwards."""
    found = shared(other, path(0, 20))
    assert found == pytest.approx((share, of_it), abs=0.05)
    assert shared(path(0, 20), other) == pytest.approx(found[::-1], abs=0.05)


def test_a_gap_is_no_part_of_a_path():
    """Straight lines across it, and what looks ahead into it, are not compared."""
    t, q, v = path(0, 9.5)
    kept = (t < 3) | (t > 6)
    gap, whole = MotionPath(t[kept], q[kept], v[kept]), MotionPath(t, q, v)
    assert shared(gap, whole) == pytest.approx((1.0, (8.5 - 3 - 1) / 8.5), abs=0.05)


def test_paths_are_kept_with_information(tmp_path):
    model = idn.Model(ROBOT, idn.Friction("viscous"))
    signals = idn.Signals(cutoff=4.0, delay=0.0)
    info = idn.information(model, idn.read(run(ROBOT), ROBOT), signals)
    again = idn.Information.load(info.save(tmp_path / "x.npz"), model)
    later = run(ROBOT, seconds=33.0)
    later = {name: x[2000:] for name, x in later.items()}
    for one in (info, again):
        trial = idn.validate(idn.fit(one, "weighted"), idn.read(later, ROBOT), signals)
        assert trial.seen and trial.known == 1.0
