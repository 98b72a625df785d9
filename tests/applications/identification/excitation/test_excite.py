"""Planned motions: limits at all times, what they predict, earlier logs, files, refusals."""

import csv

import numpy as np
import pytest

import closedform as cf
from closedform.applications.identification.triangles import TimeBlock, updated
from closedform.errors import ArgumentError, UnknownName

idn = cf.identification
QUICK = {"duration": 6.0, "harmonics": 3, "starts": 1}


@pytest.fixture(scope="module")
def model():
    return idn.Model(cf.load("ur5"))


@pytest.fixture(scope="module")
def plan(model):
    return idn.excite(model, **QUICK)


@pytest.mark.parametrize("kind", ["fourier", "bspline"])
@pytest.mark.parametrize(("criterion", "seed"),
                         [("information", 0), ("a", 1), ("condition", 2), ("information", 3)])
def test_limits_hold_on_a_grid_100_times_denser(model, kind, criterion, seed):
    robot = model.robot
    limits = idn.Limits((-2.0, 1.5), 1.0, 2.5, [150, 100, 60, 10, 5, 2], margin=0.9)
    start = [0.0, -1.5, -0.5, 0.0, 0.3, 0.0]
    plan = idn.excite(model, start=start, criterion=criterion, limits=limits, kind=kind, seed=seed,
                      **QUICK)
    t = np.linspace(0, 6, 100 * len(plan.basis.grid) + 1)
    q, v, a = plan.at(t)
    assert np.all(np.abs(q - -0.25) <= 0.9 * 1.75)
    assert np.abs(v).max() <= 0.9
    assert np.abs(a).max() <= 0.9 * 2.5
    tau = cf.compile(robot).inverse_dynamics(q, v, a)
    assert np.all(np.abs(tau).max(axis=0) <= 0.9 * np.array([150, 100, 60, 10, 5, 2]))
    np.testing.assert_allclose(q[[0, -1]], [start, start], atol=1e-12)
    assert np.abs(v[[0, -1]]).max() < 1e-12
    assert np.abs(a[[0, -1]]).max() < 1e-12
    used = plan.limit_use
    assert max(max(x.values()) for x in used.values()) <= 0.9 + 1e-9
    np.testing.assert_allclose(list(used["velocity"].values()), np.abs(v).max(axis=0), rtol=0.05)


def stacked(model, q, v, a):
    slip = np.full(len(model.actuated), 0.01)
    return np.concatenate([model.columns(*x, slip) for x in zip(q, v, a, strict=True)])


def test_predicted_sds_are_those_of_least_squares_on_noisy_torques():
    model = idn.Model(cf.load("planar3r"))
    sigma, rng = np.array([0.5, 0.2, 0.1]), np.random.default_rng(0)
    plan = idn.excite(model, sigma=sigma, rate=20.0, **QUICK)
    _, q, v, a = plan.sample(20.0)
    weights = np.tile(1 / sigma, len(q))
    W = stacked(model, q, v, a)
    tau = np.array([cf.inverse_dynamics(model.robot, *x) for x in zip(q, v, a, strict=True)])
    noisy = tau.ravel() + rng.normal(size=(3000, W.shape[0])) * np.tile(sigma, len(q))
    found, *_ = np.linalg.lstsq(W * weights[:, None], (noisy * weights).T, rcond=None)
    np.testing.assert_allclose(found.std(axis=1), plan.predicted_sd, rtol=0.15)
    np.testing.assert_allclose(found.mean(axis=1), [row.expected for row in plan.table],
                               atol=0.3 * plan.predicted_sd.max())


def test_the_best_motion_by_each_criterion_is_the_best_by_it(model):
    by = {c: idn.excite(model, criterion=c, duration=4.0, harmonics=2, starts=2).conditions
          for c in ("information", "a", "condition")}
    assert max(by, key=lambda c: by[c].information) == "information"
    assert min(by, key=lambda c: by[c].a) == "a"
    assert min(by, key=lambda c: by[c].condition) == "condition"


def test_the_printed_condition_number_is_that_of_the_stacked_columns(plan):
    W = stacked(plan.rows.model, *plan.sample(plan.rate)[1:])
    np.testing.assert_allclose(plan.conditions.condition, np.linalg.cond(W), rtol=1e-6)
    scaled = W / np.linalg.norm(W, axis=0)
    np.testing.assert_allclose(plan.conditions.scaled, np.linalg.cond(scaled), rtol=1e-6)
    inertial = [k for k, n in enumerate(plan.rows.model.names)
                if not n.endswith(("viscous", "coulomb", "offset"))]
    np.testing.assert_allclose(plan.conditions.inertial, np.linalg.cond(W[:, inertial]), rtol=1e-6)


def logged(model, plan, sigma, seed=0):
    """The information of a log of a motion, 100 samples a second."""
    rng = np.random.default_rng(seed)
    _, q, v, a = plan.sample(100.0)
    W = stacked(model, q, v, a).reshape(len(q), model.robot.nv, -1)
    tau = W @ plan.rows.expected + rng.normal(size=W.shape[:2]) * sigma
    halves = np.array_split(np.arange(len(q)), 2)
    blocks = tuple(
        TimeBlock("first", n, (len(part),) * model.robot.nv, tuple(
            np.triu(updated(np.zeros((0, 0)), np.column_stack([W[part, j][:, list(s)],
                                                               tau[part, j]])))
            for j, s in enumerate(model.support))) for n, part in enumerate(halves))
    return idn.Information(model, blocks, rate=100.0)


def test_information_of_earlier_logs_is_counted_in(model, plan):
    sigma = np.array([1.5, 1.5, 1.5, 0.3, 0.3, 0.3])
    info = logged(model, plan, sigma)
    second = idn.excite(model, prior=info, **QUICK)
    np.testing.assert_allclose(second.sigma, sigma, rtol=0.15)       # found from the log
    W = stacked(model, *plan.sample(100.0)[1:]).reshape(-1, 6, len(model.names))
    H = np.einsum("tjc,j,tjd->cd", W, 1 / second.sigma**2, W)
    np.testing.assert_allclose(second.known, H, atol=1e-8 * np.abs(H).max())
    alone = np.sqrt(np.diag(np.linalg.inv(H)))
    assert np.all(second.predicted_sd < alone)
    twice = np.linalg.slogdet(2 * H)[1]                    # than the same motion once more
    assert np.linalg.slogdet(second.matrix)[1] > twice


def test_a_payload_is_open_until_logs_without_it_tell_it_from_the_link(model, plan):
    loaded = idn.Model(model.robot, payload="tool0", known={"tool0.m": 2.0})
    made = idn.excite(loaded, **QUICK)
    sd = dict(zip(loaded.names, made.predicted_sd, strict=True))
    assert np.isinf(sd["tool0.Izz"])
    assert any("tool0.Izz" in note for note in made.notes)
    assert sd["tool0.m"] < 1e-9                            # known
    assert np.isfinite(made.conditions).all()


def test_the_base_of_a_floating_robot_stands_still():
    turn = {"lower": -1.0, "upper": 1.0, "velocity": 2.0, "effort": 50.0}
    one = cf.Inertia(2.0, (0.1, 0.05, 0.1), np.diag([0.1, 0.2, 0.15]))
    robot = cf.Robot("free", [
        cf.Body("base", None, cf.Free(), inertia=one),
        cf.Body("a", "base", cf.Revolute((0, 0, 1), **turn), inertia=one),
        cf.Body("b", "a", cf.Revolute((0, 1, 0), **turn), inertia=one)])
    made = idn.excite(idn.Model(robot), **QUICK)
    _, q, v, _ = made.sample(50)
    assert not v[:, :6].any()
    assert not np.ptp(q[:, :7], axis=0).any()
    assert np.isinf(made.sigma[:6]).all()
    sd = dict(zip(made.rows.model.names, made.predicted_sd, strict=True))
    assert np.isinf(sd["base.m"])
    assert np.isfinite(sd["b.viscous"])
    with_wrench = idn.excite(idn.Model(robot), sigma=np.ones(8), **QUICK)
    more = dict(zip(made.rows.model.names, with_wrench.predicted_sd, strict=True))
    assert np.isfinite(more["base.m"])


def test_the_same_seed_gives_the_same_motion(model, plan):
    again = idn.excite(model, **QUICK)
    np.testing.assert_array_equal(again.coefficients, plan.coefficients)
    other = idn.excite(model, seed=1, **QUICK)
    assert np.abs(other.coefficients - plan.coefficients).max() > 1e-3


def test_a_csv_file_holds_the_motion(plan, tmp_path):
    path = plan.to_csv(tmp_path / "motion.csv", 50)
    with path.open() as file:
        header, *lines = list(csv.reader(file))
    t, q, v, a = plan.sample(50)
    assert header[:2] == ["t", "q_shoulder_pan_joint"]
    assert len(header) == 1 + 3 * 6
    np.testing.assert_array_equal(np.array(lines, dtype=float), np.column_stack([t, q, v, a]))
    assert (t[0], t[-1], len(t)) == (0.0, 6.0, 301)


def test_the_picture_and_the_text_say_what_was_found(plan, tmp_path):
    figure = plan.plot(tmp_path / "motion.png")
    assert (tmp_path / "motion.png").stat().st_size > 10_000
    assert len(figure.axes) == 4
    text = str(plan)
    for word in ("condition number", "scaled", "inertial", "D:", "A:", "limits used",
                 "noise of the torques"):
        assert word in text
    assert repr(plan).startswith("<plan for ur5: 6 s, Fourier of 3 harmonics, 6 joints move")
    assert len(plan.table) == len(plan.rows.model.names)


@pytest.mark.parametrize(("wrong", "word"), [
    ({"duration": 0}, "duration"), ({"duration": "long"}, "duration"), ({"harmonics": 1}, "harm"),
    ({"harmonics": 2.5}, "harmonics"), ({"starts": 0}, "starts"), ({"seed": -1}, "seed"),
    ({"limits": 3}, "limits"), ({"prior": 3}, "prior"), ({"sigma": -1.0}, "sigma"),
    ({"sigma": [1.0, 2.0]}, "sigma"), ({"rate": 0.0}, "rate"), ({"start": [0.0]}, "start"),
])
def test_wrong_arguments_are_refused_by_name(model, wrong, word):
    with pytest.raises(ArgumentError, match=word):
        idn.excite(model, **wrong)


def test_unknown_choices_and_other_models_are_refused(model):
    with pytest.raises(UnknownName, match="condition"):
        idn.excite(model, criterion="conditions")
    with pytest.raises(UnknownName, match="fourier"):
        idn.excite(model, kind="furier")
    with pytest.raises(ArgumentError, match="model"):
        idn.excite(model.robot)
    with pytest.raises(ArgumentError, match="same model"):
        idn.excite(model, prior=idn.Information(idn.Model(cf.load("planar2r")), ()))


def test_a_robot_that_cannot_hold_itself_is_told_so(model):
    with pytest.raises(ArgumentError, match="standing at the start takes"):
        idn.excite(model, limits=idn.Limits(torque=1.0), **QUICK)


def test_sampling_needs_a_rate(plan):
    with pytest.raises(ArgumentError, match="rate"):
        plan.sample(0)
