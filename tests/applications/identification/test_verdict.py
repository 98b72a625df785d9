"""Validation on motion that was held out, and the verdict."""

from dataclasses import replace

import numpy as np
import pytest

import closedform as cf
from closedform.applications.identification.signals.findings import OTHER_ORDER
from closedform.errors import ArgumentError
from measured_runs import other_inertias, run

idn = cf.identification
TRUE = cf.load("ur5")
FILE = other_inertias(TRUE)
SIGNALS = idn.Signals(cutoff=5.0, delay=0.0)


@pytest.fixture(scope="module")
def fit():
    model = idn.Model(FILE, idn.Friction("viscous", "coulomb", slip=1e-3))
    return idn.fit(idn.information(model, idn.read(run(TRUE), FILE), signals=SIGNALS))


def test_the_error_is_that_of_the_predicted_torques(fit):
    """Against the identified robot's own torques on the same motion, without noise."""
    trial = idn.validate(fit, idn.read(run(TRUE, 7, noise=0.0), FILE))
    assert trial.total < 0.5 and trial.joints.shape == (6,) and trial.rms.shape == (6,)
    np.testing.assert_allclose(
        trial.total, 100 * np.sqrt(trial.left.sum() / trial.squares.sum()), rtol=1e-12)
    assert np.all(trial.explained > 0.95)
    assert len(trial.frequencies) == len(trial.spectrum)


def test_a_good_fit_holds_on_another_motion(fit):
    said = idn.verdict(fit, idn.validate(fit, idn.read(run(TRUE, 7), FILE)))
    assert said.holds and not said.reasons and bool(said)


def test_a_repeated_motion_does_not_count(fit):
    again = run(TRUE)
    again["tau"] = again["tau"] + 0.01
    trial = idn.validate(fit, idn.read(again, FILE))
    assert trial.seen
    said = idn.verdict(fit, trial)
    assert not said.holds and any("repeats" in r for r in said.reasons)


def test_nothing_held_out_is_a_reason(fit):
    said = idn.verdict(fit)
    assert not said.holds and "held out" in said.reasons[0]


def test_another_robot_does_not_hold(fit):
    load = cf.Inertia(3.0, (0, 0, 0.1), 0.01 * np.eye(3))
    heavy = TRUE.with_payload(load, at=TRUE.body_names[-1])
    said = idn.verdict(fit, idn.validate(fit, idn.read(run(heavy, 7), FILE)))
    assert not said.holds and any("held-out error" in r for r in said.reasons)


def test_least_squares_on_little_motion_does_not_hold():
    """A log that does not excite enough: small and slow."""
    model = idn.Model(FILE, idn.Friction("viscous", "coulomb", slip=1e-3))
    little = idn.read(run(TRUE, seconds=6.0, size=0.02, harmonics=1, noise=0.05), FILE)
    fit = idn.fit(idn.information(model, little, signals=SIGNALS), "least_squares")
    trial = idn.validate(fit, idn.read(run(TRUE, 7), FILE))
    assert not idn.verdict(fit, trial).holds


def test_limits_of_a_file_do_not_outweigh_a_good_fit(fit):
    """Positions leave the file's limits and would keep them in another order: a remark."""
    words = f"positions {OTHER_ORDER}"
    trial = idn.validate(fit, idn.read(run(TRUE, 7), FILE))
    said = idn.verdict(replace(fit, info=replace(fit.info, faults=(words,))), trial)
    assert said.holds and any(OTHER_ORDER in r for r in said.remarks)


def test_a_tenth_of_the_torques_is_too_much_however_bad_the_fit_is():
    """Torques of the wrong joints, in the fit and in what is held out."""
    logs = []
    for seed in (0, 7):
        data = run(TRUE, seed)
        data["tau"] = data["tau"][:, [0, 2, 1, 3, 4, 5]]
        logs.append(idn.read(data, FILE))
    model = idn.Model(FILE, idn.Friction("viscous", "coulomb", slip=1e-3))
    fit = idn.fit(idn.information(model, logs[0], signals=SIGNALS), weight=1e-4)
    said = idn.verdict(fit, idn.validate(fit, logs[1]))
    assert not said.holds and any("above 10.00 %" in r for r in said.reasons)


@pytest.mark.parametrize(("factors", "words"), [
    ([0.1, 0.08, 0.1, 0.2, 0.2, 0.2], "are they currents"),
    ([1, 1, -1, 1, 1, 1], "opposite sign"), ([1000] * 6, "another unit")])
def test_torques_that_are_none_are_named_although_all_logs_have_them(factors, words):
    logs = []
    for seed in (0, 7):
        data = run(TRUE, seed)
        data["tau"] = data["tau"] * factors
        logs.append(idn.read(data, FILE))
    model = idn.Model(FILE, idn.Friction("viscous", "coulomb", slip=1e-3))
    fit = idn.fit(idn.information(model, logs[0], signals=SIGNALS), "weighted")
    said = idn.verdict(fit, idn.validate(fit, logs[1]))
    assert not said.holds and any(words in r for r in said.reasons)


def test_a_limit_can_be_given(fit):
    trial = idn.validate(fit, idn.read(run(TRUE, 7), FILE))
    assert not idn.verdict(fit, trial, limit=0.01).holds


@pytest.mark.parametrize("call", [
    lambda fit: idn.verdict("fit"), lambda fit: idn.verdict(fit, "trial"),
    lambda fit: idn.validate(fit, "log"), lambda fit: idn.validate("fit", None)])
def test_wrong_arguments_are_refused(fit, call):
    with pytest.raises(ArgumentError):
        call(fit)
