"""Validation on motion that was held out, and the verdict."""

from dataclasses import replace

import numpy as np
import pytest

import closedform as cf
from closedform.applications.identification.signals.findings import OTHER_ORDER
from closedform.errors import ArgumentError
from measured_runs import motion, other_inertias, run, true_numbers

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


@pytest.mark.parametrize("part", [slice(800, 2900), slice(0, 1400)])
def test_neither_does_it_from_another_moment_on_or_for_a_shorter_time(fit, part):
    again = {name: x[part] for name, x in run(TRUE, seconds=30.0, rate=100.0).items()}
    trial = idn.validate(fit, idn.read(again, FILE))
    assert trial.seen and not idn.verdict(fit, trial).holds


def test_rows_of_the_fit_itself_do_not_count(fit, tmp_path):
    """However few: a file is known by its name, a table by itself."""
    np.savez(tmp_path / "run.npz", **run(TRUE, 3, seconds=25.0, rate=100.0))
    for source in (tmp_path / "run.npz", run(TRUE, 3, seconds=25.0, rate=100.0)):
        log = idn.read(source, FILE)
        info = idn.information(fit.model, log.between(0.0, 20.0), signals=SIGNALS)
        made = idn.fit(info, "weighted")
        assert idn.validate(made, log.between(15.0, 25.0)).seen
        with pytest.raises(cf.ArgumentError, match="given twice"):
            idn.information(fit.model, [log.between(0.0, 20.0), log.between(15.0, 25.0)])


def test_a_part_of_the_motion_is_told(fit):
    again = {name: x[:450] for name, x in run(TRUE, rate=100.0).items()}
    trial = idn.validate(fit, idn.read(again, FILE))
    said = idn.verdict(fit, trial)
    assert not trial.seen and trial.known > 0.9
    assert any("is a part of what the fit has seen" in r for r in said.remarks)


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


@pytest.mark.parametrize("what", ["positions and torques", "torques"])
def test_columns_of_two_joints_in_each_others_place_are_named(fit, what):
    """Of two wrist joints, whose torques are a hundredth of all: the error alone is no reason."""
    order, data = [0, 1, 2, 3, 5, 4], run(TRUE, seconds=10.0)
    wrong = {**data, "tau": data["tau"][:, order]}
    if what != "torques":
        wrong["q"] = data["q"][:, order]
    model = fit.model
    said = idn.verdict(idn.fit(idn.information(model, idn.read(wrong, FILE), signals=SIGNALS)))
    named = f"with the {what} of wrist_2_joint and wrist_3_joint exchanged"
    assert any(named in reason for reason in said.reasons)
    assert fit.other_order is None


def test_a_limit_that_is_no_number_is_refused(fit):
    for limit in ("1", -1.0, float("nan")):
        with pytest.raises(ArgumentError, match="limit must be"):
            idn.verdict(fit, None, limit)


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


def both(change, model=None, method="consistent", truth=TRUE, signals=SIGNALS, **options):
    """The verdict where a log and the one that is held out are changed alike."""
    logs = [idn.read(change(run(truth, seed)), FILE) for seed in (0, 7)]
    model = model or idn.Model(FILE, idn.Friction("viscous", "coulomb", slip=1e-3))
    fit = idn.fit(idn.information(model, logs[0], signals=signals), method, **options)
    return idn.verdict(fit, idn.validate(fit, logs[1]))


def driven_by_friction(data):
    """Torques of a first joint whose friction pushes: below zero by far."""
    v = np.gradient(data["q"][:, 0], data["t"])
    data["tau"][:, 0] -= 8.0 * v
    return data


def cut_off(data):
    data["tau"][:, 1] = np.clip(data["tau"][:, 1], -0.7 * np.abs(data["tau"][:, 1]).max(), None)
    data["tau"][:, 2] = np.clip(data["tau"][:, 2], -8.0, 8.0)
    return data


def late(data, by=0.1):
    return {**data, "tau": data["tau"][round(by * 250):], "t": data["t"][:-round(by * 250)],
            "q": data["q"][:-round(by * 250)]}


def jittered(data):
    rng = np.random.default_rng(0)
    return {**data, "t": np.sort(data["t"] + 3e-3 * rng.exponential(size=len(data["t"])))}


def mostly_lost(data):
    """Behind the beginning four rows of every ten are left."""
    row = np.arange(len(data["t"]))
    kept = (row < 200) | (row % 10 < 4)
    return {k: x[kept] for k, x in data.items()}


@pytest.mark.parametrize(("change", "words", "options"), [
    (driven_by_friction, "at their bound", {"weight": 1e-6}),
    (cut_off, "extreme value", {"weight": 1e-6}),
    (late, "their times are not those of the positions",
     {"weight": 1e-6, "signals": idn.Signals(cutoff=5.0)}),
    (jittered, "smoother on other times",
     {"weight": 1e-6, "signals": idn.Signals(cutoff=5.0, delay=0.0, clock="logged")}),
    (mostly_lost, "samples are missing, more than the",
     {"weight": 1e-6, "signals": idn.Signals(cutoff=2.5, delay=0.0)})])
def test_what_makes_numbers_untrue_is_a_reason_although_all_logs_have_it(change, words, options):
    said = both(change, **options)
    assert not said.holds and any(words in r for r in said.reasons), str(said)


def coarse(data):
    return {**data, "tau": np.round(data["tau"] / 0.25) * 0.25}


@pytest.mark.parametrize("change", [coarse, jittered])
def test_coarse_torques_and_a_clock_that_is_mended_are_none(change):
    said = both(change, weight=1e-6)
    assert said.holds, str(said)


def test_a_torque_that_the_model_has_no_term_for_leaves_structure():
    """Springs at the wrist: the fit is as bad as what is held out, and small beside gravity."""
    def sprung(data):
        data["tau"][:, 5] += 4.0 * np.sin(3 * data["q"][:, 5])
        return data

    said = both(sprung, weight=1e-6)
    assert any("is not noise" in r and "wrist_3" in r for r in said.reasons), str(said)


def test_noise_however_large_has_no_structure(fit):
    trial = idn.validate(fit, idn.read(run(TRUE, 7, noise=0.5), FILE))
    assert np.all(trial.coloured < 0.5) and not any(
        "is not noise" in r for r in idn.verdict(fit, trial).reasons)


def test_a_short_log_has_a_spectrum_too(fit):
    trial = idn.validate(fit, idn.read(run(TRUE, 7, seconds=6.0), FILE))
    assert trial.rows < 256 and np.all(trial.spectrum.sum(axis=0) > 0)
    assert not any("too few" in r for r in idn.verdict(fit, trial).remarks)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("seconds", [1.05, 1.2])
def test_a_log_too_short_to_tell_noise_from_structure_says_so(fit, seconds):
    log = idn.read(run(TRUE, 7, seconds=6.0), FILE)
    trial = idn.validate(fit, log.between(0.0, seconds))
    assert np.all(np.isnan(trial.coloured)) and np.all(np.isnan(trial.structure))
    said = idn.verdict(fit, trial)
    assert any("too few to tell what is left from noise" in r for r in said.remarks)
    assert not any("is not noise" in r for r in said.reasons)


def test_what_is_the_priors_alone_is_said_to_be():
    model = idn.Model(FILE, idn.Friction("viscous", "coulomb", slip=1e-3))
    little = idn.read(run(TRUE, seconds=6.0, size=0.02, harmonics=1, noise=0.05), FILE)
    fit = idn.fit(idn.information(model, little, signals=SIGNALS), weight=1e-3)
    said = idn.verdict(fit, idn.validate(fit, idn.read(run(TRUE, 7), FILE)))
    assert any("unknowns are the prior's" in r or "rank" in r for r in said.reasons), str(said)


def small_motions(size):
    """A fit on motions of so many rad/s, and its verdict on others as small; hardly any noise."""
    model = idn.Model(FILE, idn.Friction("viscous", "coulomb", slip=1e-3))
    first, other = (idn.read(run(TRUE, seed, seconds=10.0, size=size, noise=2e-3), FILE)
                    for seed in (0, 7))
    fit = idn.fit(idn.information(model, first, signals=SIGNALS))
    return fit, idn.verdict(fit, idn.validate(fit, other))


def test_small_motions_say_nothing_of_others_however_well_they_are_explained(fit):
    small, said = small_motions(0.01)
    assert small.total < 2 and small.equations.rank == len(small.x) and small.elsewhere > 1
    assert any("does not excite enough" in r for r in said.reasons), str(said)
    assert fit.elsewhere < 0.1
    plain = replace(fit, certificate=None, method="weighted")
    assert not any("does not excite enough" in r for r in idn.verdict(plain).reasons)


def test_signals_of_the_log_that_is_held_out_must_be_sane_too(fit):
    data = run(TRUE, 7)
    data["q"] = np.degrees(data["q"])
    trial = idn.validate(fit, idn.read(data, FILE))
    assert any("cannot be radians" in r for r in idn.verdict(fit, trial).reasons)


def test_bodies_that_cannot_be_are_a_reason(fit):
    wrong = replace(fit, standard=np.where(np.arange(len(fit.standard)) == 9, -1.0, fit.standard))
    assert any("no body can have" in r for r in idn.verdict(wrong).reasons)


def test_a_joint_that_stood_is_not_excited():
    def standing(data):
        data["q"][:, 5] = 0.3
        return data

    said = both(standing, weight=1e-6)
    assert not said.holds and any("does not excite all: rank" in r for r in said.reasons)


def test_a_log_that_hardly_moves_judges_nothing(fit):
    """A hundredth of the fit's speeds, which friction explains all the same."""
    trial = idn.validate(fit, idn.read(run(TRUE, 7, size=0.004), FILE))
    said = idn.verdict(fit, trial)
    assert trial.total < 5 and any("hardly moves: it tests gravity at most" in r
                                   for r in said.reasons), str(said)


def test_a_log_of_noise_alone_is_refused(fit):
    data, rng = run(TRUE, 7), np.random.default_rng(0)
    for kind, size in (("q", 1e-5), ("tau", 0.01)):
        data[kind] = data[kind][500] + size * rng.normal(size=data[kind].shape)
    with pytest.raises(ArgumentError, match="no joint moves"):
        idn.validate(fit, idn.read(data, FILE))


def test_a_log_in_which_one_joint_rests_does_not_judge_that_joint(fit):
    t = np.arange(0, 20, 0.004)
    q, v, a = motion(TRUE, t, 7)
    q[:, 4], v[:, 4], a[:, 4] = 0.5, 0.0, 0.0
    tau = cf.compile(TRUE).inverse_dynamics(q, v, a) + 0.5 * v + np.sign(v)
    tau += 0.01 * np.random.default_rng(0).normal(size=tau.shape)
    said = idn.verdict(fit, idn.validate(fit, idn.read({"t": t, "q": q, "tau": tau}, FILE)))
    assert [r for r in said.reasons if "hardly moves" in r] == [
        "the log hardly moves wrist_2_joint: no friction and no inertia is tested there"], str(said)


def test_poses_say_that_gravity_is_right_and_that_nothing_else_was_tested(fit):
    """Motion over all of the workspace, so slow that it is a row of poses."""
    poses = run(TRUE, 7, seconds=100.0, rate=50.0, frequency=0.01, size=0.02)
    said = idn.verdict(fit, idn.validate(fit, idn.read(poses, FILE)))
    assert not said.holds and len(said.reasons) == 1 and "tests gravity at most" in said.reasons[0]
    assert any("gravity: torques in its poses are predicted" in r for r in said.remarks)


def test_a_log_at_a_third_of_the_speed_still_judges(fit):
    slow = run(TRUE, 7, seconds=30.0, frequency=0.05, size=0.13)
    said = idn.verdict(fit, idn.validate(fit, idn.read(slow, FILE)))
    assert said.holds, str(said)


def test_a_limit_can_be_given(fit):
    trial = idn.validate(fit, idn.read(run(TRUE, 7), FILE))
    assert not idn.verdict(fit, trial, limit=0.01).holds


@pytest.mark.parametrize("call", [
    lambda fit: idn.verdict("fit"), lambda fit: idn.verdict(fit, "trial"),
    lambda fit: idn.validate(fit, "log"), lambda fit: idn.validate("fit", None)])
def test_wrong_arguments_are_refused(fit, call):
    with pytest.raises(ArgumentError):
        call(fit)


def rubbing(robot, seed, other):
    """A log whose joints also have a bump of friction near standstill, or bend bristles first."""
    data = run(robot, seed, noise=0.0)
    rng = np.random.default_rng(seed)
    _, v, _ = motion(robot, data["t"], seed)
    data["tau"] = data["tau"] + other(v, data["t"][1])
    data["tau"] = data["tau"] + 0.01 * data["tau"].std(axis=0) * rng.normal(size=v.shape)
    return data


def bump(v, dt):
    return 0.5 * np.exp(-(v / 0.05)**2) * np.sign(v)


def bristles(v, dt, bend=2e-3):
    """What bending over two milliradians takes off Coulomb friction, which is one."""
    z, found = np.sign(v[0]), np.zeros_like(v)
    for k, v_k in enumerate(v):
        ends = np.sign(v_k)
        z = ends + (z - ends) * np.exp(-np.abs(v_k) * dt / bend)
        found[k] = z - ends
    return found


@pytest.mark.parametrize("other", [bump, bristles])
def test_friction_of_another_kind_is_said_and_inertias_stay_inside_their_intervals(other):
    robot = cf.load("planar2r")
    model = idn.Model(robot, idn.Friction("viscous", "coulomb"))
    fit = idn.fit(idn.information(model, idn.read(rubbing(robot, 0, other), robot)))
    trial = idn.validate(fit, idn.read(rubbing(robot, 7, other), robot))
    assert np.all(trial.other_friction > 0.15)
    assert any("friction is not what the model says" in r and "joint1" in r and "joint2" in r
               for r in idn.verdict(fit, trial).remarks)
    true, rubs = true_numbers(model, robot), model.friction.names
    inside = [row.low <= x <= row.high for row, x in zip(fit.table, true, strict=True)
              if row.name.rpartition(".")[2] not in rubs]
    assert np.mean(inside) >= 0.85


def test_friction_of_the_model_s_own_kind_is_not_called_another(fit):
    trial = idn.validate(fit, idn.read(run(TRUE, 7), FILE))
    assert np.all(trial.other_friction < 0.05)
    assert not any("friction" in r for r in idn.verdict(fit, trial).remarks)
