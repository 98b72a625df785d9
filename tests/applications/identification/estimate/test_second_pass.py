"""Estimators that look at the logs again."""

import numpy as np
import pytest
from scipy.signal import lfilter

import closedform as cf
from closedform.applications.identification.estimate.least_squares import weighted
from closedform.applications.identification.estimate.second_pass import (
    reduced_rows,
    residual_models,
)
from closedform.applications.identification.information import predicted
from closedform.errors import ArgumentError
from measured_runs import motion, run, true_numbers

idn = cf.identification
ROBOT = cf.load("planar2r")
MODEL = idn.Model(ROBOT, idn.Friction("viscous", "coulomb", slip=1e-3))
SIGNALS = idn.Signals(cutoff=5.0, delay=0.0, rate=20.0)


def information(data):
    return idn.information(MODEL, idn.read(data, ROBOT), signals=SIGNALS)


def coloured(seed=0, memory=0.995):
    data, rng = run(ROBOT, seed, noise=0.0), np.random.default_rng(seed)
    noise = lfilter([0.05], [1, -memory], rng.normal(size=data["tau"].shape), axis=0)
    return {**data, "tau": data["tau"] + noise}


def test_residuals_are_whiter_after_whitening():
    """What is left of a row follows less from its past, and most of it is gone.

    It is not white: behind a low-pass there is nothing above the cutoff to make it so.
    """
    info = information(coloured())
    x = weighted(info)[0]
    phi = residual_models(info, x)
    rows = np.concatenate([r[0] for r, _ in reduced_rows(info)])
    left = rows @ np.append(x[list(info.support[0])], -1.0)

    def memory(e):
        return abs(e[1:] @ e[:-1]) / (e @ e)

    white = predicted(left[:, None], phi[0])[:, 0]
    assert memory(white) < memory(left)
    assert white @ white < 0.1 * (left @ left)
    assert any("whitened" in note for note in idn.fit(info, "generalised").info.notes)


def test_whitening_lowers_the_error_where_noise_has_a_long_memory():
    true, plain, white = true_numbers(MODEL, ROBOT), [], []
    for seed in range(8):
        info = information(coloured(seed))
        plain.append(np.abs(idn.fit(info, "weighted").x - true)[-4:])
        white.append(np.abs(idn.fit(info, "generalised").x - true)[-4:])
    assert np.mean(white) < np.mean(plain)


def test_instruments_of_other_periods_find_what_is_there():
    """Four periods of ten seconds, the fundamental being 0.1 Hz."""
    data = run(ROBOT, seconds=40.0, noise=0.01)
    fit = idn.fit(information(data), "instrumental", period=10.0)
    true = true_numbers(MODEL, ROBOT)
    np.testing.assert_allclose(fit.x, true, atol=0.05 * np.abs(true).max())
    with pytest.raises(ArgumentError, match="two whole periods"):
        idn.fit(information(data), "instrumental", period=30.0)
    kept = np.abs(data["t"] - 20.0) > 1.0
    with pytest.raises(ArgumentError, match="has gaps"):
        idn.fit(information({k: x[kept] for k, x in data.items()}), "instrumental", period=10.0)


def test_instruments_keep_to_what_is_known():
    """Friction that is given, although wrong: exactly that comes out."""
    name = next(n for n in MODEL.names if n.endswith("viscous"))
    model = idn.Model(ROBOT, MODEL.friction, known={name: 0.3})
    info = idn.information(model, idn.read(run(ROBOT, seconds=40.0), ROBOT), signals=SIGNALS)
    fit = idn.fit(info, "instrumental", period=10.0)
    assert fit.x[MODEL.names.index(name)] == pytest.approx(0.3, abs=1e-9)
    assert fit.sd[MODEL.names.index(name)] < 1e-9


def test_the_motion_under_the_control_law_gives_the_same_robot():
    def wanted(t):
        q, v, _ = motion(ROBOT, np.atleast_1d(t), 3)
        return q[0], v[0]

    def law(t, q, v):
        return 200.0 * (wanted(t)[0] - q) + 20.0 * (wanted(t)[1] - v)

    from dataclasses import replace
    rubbing = replace(ROBOT, bodies=tuple(
        replace(b, joint=replace(b.joint, viscous=0.5, coulomb=1.0)) for b in ROBOT.bodies))
    t = np.arange(0, 4, 0.004)
    ran = cf.simulate(rubbing, *wanted(0), law, t, friction=True, progress=False)
    rng = np.random.default_rng(0)
    tau = np.array([law(*x) for x in zip(t, ran.q, ran.v, strict=True)])
    data = {"t": t, "q": ran.q + 1e-4 * rng.normal(size=ran.q.shape), "v": ran.v,
            "tau": tau + 0.02 * rng.normal(size=tau.shape)}
    fit = idn.fit(information(data), "didim", law=law, weight=1e-6)
    true = true_numbers(MODEL, ROBOT)
    np.testing.assert_allclose(fit.x, true, atol=0.03 * np.abs(true).max())


def test_information_without_logs_cannot_be_looked_at_again(tmp_path):
    info = information(run(ROBOT))
    again = idn.Information.load(info.save(tmp_path / "info.npz"), MODEL)
    with pytest.raises(ArgumentError, match="reads the logs again"):
        idn.fit(again, "generalised")
