"""Motions to be played: their numbers are the library's; simulations keep their energy."""

import numpy as np
import pytest

import closedform as cf
from closedform.applications.studio import bending, fitting, recording
from closedform.applications.studio.state import Wish, obey, start
from closedform.applications.studio.subject import StudioRobot

PLANAR = StudioRobot(cf.load("planar2r"))
HERE = obey(PLANAR, start(PLANAR), Wish("coordinates", [0.3, 0.4]))


def test_a_swing_has_the_torques_of_its_moments():
    found = recording.swing(PLANAR, HERE)
    for t in (0.0, 1.234, found.seconds):
        k, (q, v, a) = found.index(t), found.moment(t)
        np.testing.assert_allclose(found.strips[0].values[k],
                                   cf.inverse_dynamics(PLANAR.robot, q, v, a), atol=1e-10)
    exact, numeric = found.strips[1].values, found.strips[1].over
    assert np.nanmax(np.abs(exact - numeric)) < 0.01 * np.abs(exact).max()


def test_what_is_released_keeps_its_energy():
    found = recording.released(PLANAR, HERE, 0.5)
    assert dict(found.facts)["energy drift"] < 1e-6
    assert np.array_equal(found.q[0], HERE.q)
    with pytest.raises(cf.ArgumentError, match="60"):
        recording.released(PLANAR, HERE, 1e9)


def test_a_pd_law_brings_the_arm_home():
    law = recording.pd(PLANAR, HERE, PLANAR.home, 60.0, 25.0)
    found = recording.released(PLANAR, HERE, 3.0, law)
    assert np.abs(found.q[-1] - PLANAR.home).max() < 0.05


def test_elastic_joints_have_a_motor_and_a_link_side():
    springs = cf.ElasticJoints(PLANAR.robot, 500.0, 0.05, 1.0)
    law = recording.pd(PLANAR, HERE, PLANAR.home, 30.0, 10.0)
    found = recording.released(PLANAR, HERE, 0.2, law, "elastic", springs)
    motor = next(x for x in found.strips if "motor" in x.title)
    assert motor.values.shape == motor.over.shape == (21, 2)
    assert np.abs(motor.values - motor.over).max() > 0


def test_the_csv_of_a_motion_has_what_is_drawn():
    found = recording.released(PLANAR, HERE, 0.1)
    head, *rows = found.csv().splitlines()
    assert len(rows) == len(found.times) and head.startswith('"t",')
    assert float(rows[3].split(",")[0]) == found.times[3]


def test_a_log_is_played_with_the_models_torques_laid_over():
    swing = recording.swing(PLANAR, HERE)
    log = cf.identification.Samples(swing.times, swing.q, swing.v, swing.a,
                                    swing.strips[0].values)
    found = recording.of_log(PLANAR, HERE, log, "run")
    assert dict(found.facts)["RMS of measured − model [N m]"] < 1e-10


def test_rows_of_q_alone_are_a_trajectory_with_its_derivatives():
    swing = recording.swing(PLANAR, HERE)
    found = recording.of_rows(PLANAR, HERE, cf.identification.Samples(swing.times, swing.q), "run")
    assert [x.title for x in found.strips] == ["τ", "τ̇", "τ̈"]
    np.testing.assert_allclose(found.strips[1].values[20:-20], swing.strips[1].values[20:-20],
                               atol=1e-4 * np.abs(swing.strips[1].values).max())


def test_identification_of_a_log_tells_fit_residual_and_verdict():
    rng = np.random.default_rng(0)
    t = np.arange(0, 20, 0.01)
    q = np.stack([np.sin(1.3 * t) + 0.5 * np.sin(2.9 * t + 1), 0.8 * np.sin(2.1 * t + 0.5)
                  + 0.4 * np.cos(3.7 * t)], axis=1)
    v = np.gradient(q, t, axis=0)
    a = np.gradient(v, t, axis=0)
    tau = np.asarray(cf.compile(PLANAR.robot).inverse_dynamics(q, v, a))
    tau = tau + 1e-3 * rng.normal(size=tau.shape)
    found = fitting.fitted(PLANAR.robot, cf.identification.Samples(t, q, None, None, tau))
    text = fitting.page(found)
    assert "data-verdict" in text and "<th>rms [N m]</th>" in text
    assert ("does not hold" in text) is not found.verdict.holds
    for name, (percent, _) in found.fit.residuals.items():
        assert name in text and f"{percent:.2f}" in text


def test_a_base_that_floats_swings_within_the_picture():
    solid = cf.Inertia(2.0, (0.1, 0.0, 0.0), np.diag([0.02, 0.03, 0.04]))
    free = StudioRobot(cf.Robot("bird", (
        cf.Body("trunk", None, cf.Free(), np.eye(4), solid),
        cf.Body("wing", "trunk", cf.Revolute((0, 1, 0)), np.eye(4), solid))))
    found = recording.swing(free, start(free))
    assert 0 < np.abs(found.q[:, :3]).max() <= recording.BASE + 1e-12
    assert np.ptp(found.q[:, 7:], axis=0).max() > 0.5


def test_a_flexible_arm_has_its_swing_and_its_modes():
    arm = bending.Bending(cf.flexible.load("deluca_siciliano"))
    assert arm.run.energy_drift < 1e-4
    np.testing.assert_array_equal(
        arm.vibration.frequencies, cf.flexible.frequencies(arm.arm, locked=True))
    rest, out = arm.mode(0, 0.0), arm.mode(0, np.pi / 2)
    assert np.abs(out - rest).max() == pytest.approx(bending.PART * arm.reach, rel=1e-6)
    assert "Hz" in arm.page()
    rest = arm.bent(np.zeros(arm.arm.nq), 1.0)
    out = max(np.abs(arm.bent(q, 1.0) - rest).max() for q in arm.run.q[::20])
    assert 0.02 < out / arm.reach < 0.2                    # to be seen, and still a small one
    straight = arm.bent(np.zeros(arm.arm.nq), 5.0)
    assert np.abs(straight[..., 1]).max() < 1e-12


def test_a_robot_with_loops_swings_closed():
    subject = StudioRobot(cf.load("four_bar"))
    found = recording.swing(subject, start(subject))
    assert np.ptp(found.q[:, 0]) > 0.3
    for q in found.q[::100]:
        assert np.abs(cf.loop_residual(subject.robot, q)).max() < 1e-9
    tau = cf.inverse_dynamics(subject.robot, found.q[50], found.v[50], found.a[50])
    np.testing.assert_allclose(found.strips[1].values[50], tau, rtol=1e-9)
