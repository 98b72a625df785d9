"""Logs as triangles: the same as all rows together, and small."""

import time
import tracemalloc
from dataclasses import dataclass, replace
from importlib import import_module

import numpy as np
import pytest

import closedform as cf
from closedform.applications.identification.rows import slip_of
from closedform.errors import ArgumentError, FormatError
from measured_runs import run

idn = cf.identification
ROBOT = cf.load("planar2r")
SIGNALS = idn.Signals(cutoff=5.0, delay=0.0)
MODEL = idn.Model(ROBOT)


def log(seed=0, **changes):
    return idn.read(run(ROBOT, seed, **changes), ROBOT)


def all_rows(model, logs, signals=SIGNALS):
    """[W, z] of every kept row, torque by torque, with nothing left out."""
    found = []
    for one in logs:
        prepared = signals.prepare(one)
        slip = slip_of(model, prepared.plan)
        for window in prepared.windows():
            W = np.array([model.columns(q, v, a, slip)
                          for q, v, a in zip(window.q, window.v, window.a, strict=True)])
            z = window.effort["tau"]
            for j in range(model.robot.nv):
                rows = window.reduce(np.concatenate([W[:, j], z[:, j:j + 1]], axis=1))
                found.append((j, rows[window.moving[:, j]]))
    return [np.concatenate([r for i, r in found if i == j]) for j in range(model.robot.nv)]


def test_the_factors_are_those_of_all_rows_together():
    info = idn.information(MODEL, [log(0), log(1)], signals=SIGNALS)
    for j, rows in enumerate(all_rows(MODEL, [log(0), log(1)])):
        support = [*info.support[j], len(MODEL.names)]
        expected = rows[:, support].T @ rows[:, support]
        R = info.factor(j)
        np.testing.assert_allclose(R.T @ R, expected, rtol=1e-9, atol=1e-9 * expected.max())
        assert info.rows(j) == len(rows)


@dataclass(frozen=True)
class Made:
    """Rows that are made when they are asked for: t, q, tau of the planar arm."""

    length: int
    names = ("t", "q1", "q2", "tau1", "tau2")
    groups, units, notes = {}, {}, ()

    def blocks(self, columns, rows):
        for start in range(0, self.length, rows):
            t = np.arange(start, min(start + rows, self.length)) * 1e-3
            swing = np.sin(np.outer(t, [3.0, 4.0]))
            yield np.column_stack([t, 0.4 * swing, 5 * swing])[:, columns]


def test_memory_does_not_grow_with_the_log():
    where = idn.read({name: np.arange(60) * 1e-3 for name in Made.names}, ROBOT).where
    peaks = []
    for length in (20_000, 200_000, 600_000):       # the first one compiles
        tracemalloc.start()
        idn.information(MODEL, idn.Log("made", ROBOT, "made", (), Made(length), where), SIGNALS)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[2] < 1.02 * peaks[1] < 20e6


def test_adding_is_the_same_bits_in_any_order():
    one, two = (idn.information(MODEL, x, signals=SIGNALS)
                for x in (named("a", 0), named("b", 1)))
    both = idn.information(MODEL, [named("b", 1), named("a", 0)], signals=SIGNALS)
    for info in (one + two, two + one):
        for x, y in zip(info.blocks, sorted(both.blocks, key=lambda b: (b.log, b.number)),
                        strict=True):
            assert x.log == y.log and x.number == y.number
            for R, S in zip(x.factors, y.factors, strict=True):
                np.testing.assert_array_equal(R, S)


def test_two_logs_of_one_name_are_told_apart_and_the_same_one_twice_is_refused(tmp_path):
    """Arrays have no names of their own, and run.csv is in the folder of every day."""
    one, two, three = (idn.information(MODEL, log(seed), signals=SIGNALS) for seed in range(3))
    for info in (one + two, two + one):
        assert len(info.logs) == len(set(info.logs)) == 2
        assert sorted(x.name for x, _ in info.sources) == sorted(info.logs)
        assert sorted(name for name, _ in info.paths) == sorted(info.logs)
    for j in range(2):
        np.testing.assert_array_equal((one + two).factor(j), (two + one).factor(j))
    assert len((one + two + three).logs) == 3
    with pytest.raises(ArgumentError, match="is in both; a log counts once"):
        one + idn.information(MODEL, log(0), signals=SIGNALS)
    again = idn.Information.load(one.save(tmp_path / "one.npz"), MODEL)
    with pytest.raises(ArgumentError, match="is in both"):
        one + again
    assert len((again + two).blocks) == 40


def named(name, seed):
    return replace(log(seed), name=name)


def test_it_is_saved_and_read_again(tmp_path):
    info = idn.information(MODEL, log(), signals=SIGNALS)
    again = idn.Information.load(info.save(tmp_path / "info.npz"), MODEL)
    np.testing.assert_array_equal(again.factor(1), info.factor(1))
    assert again.notes == info.notes and again.logs == info.logs
    with pytest.raises(FormatError, match="not on this model"):
        idn.Information.load(tmp_path / "info.npz", idn.Model(ROBOT, idn.Friction()))
    (tmp_path / "other.npz").write_bytes(b"nothing")
    with pytest.raises(FormatError, match="no information"):
        idn.Information.load(tmp_path / "other.npz", MODEL)
    with pytest.raises(FormatError, match="no such file"):
        idn.Information.load(tmp_path / "absent.npz", MODEL)


def test_a_run_that_was_stopped_goes_on(tmp_path, monkeypatch):
    """The second of two logs fails the first time; the first is not read again."""
    files = []
    for name, seed in (("a", 0), ("b", 1)):
        np.savez(tmp_path / f"{name}.npz", **run(ROBOT, seed))
        files.append(tmp_path / f"{name}.npz")
    room = import_module("closedform.applications.identification.information")
    real, read = room.log_information, []

    def failing(model, log, *rest):
        read.append(log.name)
        if log.name == "b" and read.count("b") == 1:
            for _ in range(3000):                       # another thread has the first
                if list((tmp_path / "kept").glob("a-*.npz")):
                    break
                time.sleep(0.01)
            raise KeyboardInterrupt
        return real(model, log, *rest)

    monkeypatch.setattr(room, "log_information", failing)

    def ask():
        logs = [idn.read(f, ROBOT) for f in files]
        return idn.information(MODEL, logs, signals=SIGNALS, keep=tmp_path / "kept")

    with pytest.raises(KeyboardInterrupt):
        ask()
    info = ask()
    assert sorted(read) == ["a", "b", "b"]
    whole = idn.information(MODEL, [idn.read(f, ROBOT) for f in files], signals=SIGNALS)
    np.testing.assert_array_equal(info.factor(0), whole.factor(0))
    assert info.signals == whole.signals               # with the numbers that were chosen
    for kept in (tmp_path / "kept").glob("a-*"):       # what a full disk leaves is made again
        kept.write_bytes(kept.read_bytes()[:1000])
        with pytest.raises(cf.FormatError, match="no information that closedform has saved"):
            idn.Information.load(kept, MODEL)
    np.testing.assert_array_equal(ask().factor(0), whole.factor(0))
    assert sorted(read[3:5]) == ["a", "b"] and read[5:] == ["a"]


def test_currents_are_torques_through_gains_and_gears():
    """τ = Pᵀ (gain i): the same information as from torques, and from those of motors."""
    data, P, gain = run(ROBOT), np.array([[40.0, 0], [-30.0, 30.0]]), np.array([0.2, 0.1])
    motors = data["tau"] @ np.linalg.inv(P)
    drives = idn.Drives([40, 30], gain=gain, coupling=P)
    model = idn.Model(ROBOT, idn.Friction("viscous"), rotors=False, drives=drives)
    infos = [idn.information(model, idn.read(
        {"t": data["t"], "q": data["q"], kind: x}, ROBOT), signals=SIGNALS)
        for kind, x in (("tau", data["tau"]), ("motor_torque", motors), ("current", motors / gain))]
    for info in infos[1:]:
        for j in range(2):
            expected = infos[0].factor(j)
            np.testing.assert_allclose(np.abs(info.factor(j)), np.abs(expected), rtol=1e-7,
                                       atol=1e-8 * np.abs(expected).max())


def test_positions_of_motors_are_those_of_joints_through_the_gears():
    data, P = run(ROBOT), np.array([[40.0, 0], [-30.0, 30.0]])
    model = idn.Model(ROBOT, drives=idn.Drives([40, 30], coupling=P))
    one, two = (idn.information(model, idn.read({"t": data["t"], kind: x, "tau": data["tau"]},
                                                ROBOT), signals=SIGNALS)
                for kind, x in (("q", data["q"]), ("motor_position", data["q"] @ P.T)))
    G, H = (info.factor(0).T @ info.factor(0) for info in (one, two))
    np.testing.assert_allclose(G, H, rtol=0, atol=1e-8 * np.abs(H).max())


def test_torques_of_known_springs_are_taken_off():
    springy = replace(ROBOT, bodies=tuple(
        replace(b, joint=replace(b.joint, stiffness=40.0, spring_reference=0.1))
        for b in ROBOT.bodies))
    fit = idn.fit(idn.information(idn.Model(springy), idn.read(run(springy), springy),
                                  signals=SIGNALS), "weighted")
    assert fit.total < 1.0


@pytest.mark.parametrize(("make", "message"), [
    (lambda: idn.information("model", log()), "idn.Model"),
    (lambda: idn.information(MODEL, []), "idn.read"),
    (lambda: idn.information(MODEL, log(), blocks=1), "blocks"),
    (lambda: idn.information(MODEL, log(), blocks=2.5), "blocks"),
    (lambda: idn.information(MODEL, log(), signals=5.0), "idn.Signals"),
    (lambda: idn.information(MODEL, log(), loaded=1), "loaded"),
    (lambda: idn.information(MODEL, log(), loaded=[True, False]), "loaded"),
    (lambda: idn.information(MODEL, idn.read({k: run(ROBOT)[k] for k in "tq"}, ROBOT)),
     "no torques"),
    (lambda: idn.information(MODEL, idn.read(
        {"t": run(ROBOT)["t"], "q": run(ROBOT)["q"], "current": run(ROBOT)["tau"]}, ROBOT)),
     "idn.Drives")])
def test_what_gives_no_information_is_refused(make, message):
    with pytest.raises(ArgumentError, match=message):
        make()


def test_a_log_that_cannot_be_used_stops_or_is_set_aside_and_told():
    empty = replace(idn.read({**run(ROBOT, 1), "q": np.full((5000, 2), np.nan)}, ROBOT),
                    name="empty")
    logs = [log(0), empty, log(2)]
    with pytest.raises(cf.ClosedformError, match="empty"):
        idn.information(MODEL, logs, SIGNALS)
    found = idn.information(MODEL, logs, SIGNALS, aside=True)
    assert [n for n in found.notes if n.startswith("set aside: empty")]
    good = idn.information(MODEL, [log(0), logs[2]], SIGNALS)
    for j in range(ROBOT.nv):
        np.testing.assert_array_equal(found.factor(j), good.factor(j))
    with pytest.raises(ArgumentError, match="all logs were set aside, the first is empty"):
        idn.information(MODEL, empty, SIGNALS, aside=True)
