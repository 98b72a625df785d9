"""Estimates of robots that are known."""

import numpy as np
import pytest
from scipy.signal import lfilter

import closedform as cf
from closedform.applications.identification.estimate import consistent
from closedform.applications.identification.estimate.fit import prior_parameters
from closedform.applications.identification.estimate.least_squares import equations, weighted
from closedform.errors import ArgumentError, UnknownName
from closedform.maths.identification.pseudo_inertia import (
    divergence,
    free_numbers,
    log_cholesky,
    pseudo_inertia,
)
from measured_runs import other_inertias, run, true_numbers

idn = cf.identification
TRUE = cf.load("ur5")
FILE = other_inertias(TRUE)
SIGNALS = idn.Signals(cutoff=5.0, delay=0.0)
FRICTION = idn.Friction("viscous", "coulomb", slip=1e-3)


@pytest.fixture(scope="module")
def info():
    model = idn.Model(FILE, FRICTION)
    return idn.information(model, idn.read(run(TRUE), FILE), signals=SIGNALS)


@pytest.mark.parametrize("method", ["least_squares", "weighted", "huber", "generalised",
                                    "consistent"])
def test_estimates_are_near_the_truth(info, method):
    fit = idn.fit(info, method)
    true = true_numbers(info.model, TRUE)
    base = info.model.base.count
    assert np.linalg.norm((fit.x - true)[:base]) < 0.02 * np.linalg.norm(true[:base])
    assert fit.total < 1.0                    # 2 % of noise at 250 Hz, filtered to 5 Hz


def test_least_squares_are_those_of_numpy(info):
    fit = idn.fit(info, "least_squares")
    A = np.zeros((0, len(fit.x)))
    b = np.zeros(0)
    for j, support in enumerate(info.support):
        R, part = info.factor(j), np.zeros((len(info.factor(j)), len(fit.x)))
        part[:, list(support)] = R[:, :-1]
        A, b = np.concatenate([A, part]), np.append(b, R[:, -1])
    expected, *_ = np.linalg.lstsq(A, b, rcond=None)
    np.testing.assert_allclose(fit.x, expected, rtol=1e-6, atol=1e-8)


def test_a_consistent_robot_can_be_and_compiles(info):
    fit = idn.fit(info)
    assert fit.smallest_eigenvalue > 0
    for k in range(len(fit.robot.bodies)):
        P = pseudo_inertia(fit.robot.bodies[k].inertia.array)
        assert np.linalg.eigvalsh(P)[0] > 0
    q, v, a = TRUE.random(1), np.full(6, 0.2), np.full(6, 0.3)
    tau = cf.compile(fit.robot).inverse_dynamics(q, v, a)
    expected = cf.inverse_dynamics(TRUE, q, v, a)
    np.testing.assert_allclose(tau, expected, atol=0.02 * np.abs(expected).max())


def test_the_consistent_solution_is_a_minimum(info):
    """Nothing near it is better, also in the ten free numbers of each body (log-Cholesky)."""
    _, weights = weighted(info)
    eq = equations(info, weights)
    prior = prior_parameters(info.model)
    problem = consistent.NearPrior(info.model, eq, prior)
    s, certificate = consistent.solved(problem, 1e-5)
    assert certificate.gap < 1e-9 and certificate.smallest_eigenvalue > 0
    assert 0 < certificate.polish < 1e-6            # a step in log-Cholesky numbers moves nothing

    def objective(s):
        bodies = sum(divergence(pseudo_inertia(s[at]), pseudo_inertia(prior[at]))
                     for at in problem.bodies)
        return eq.residual(info.model.L @ s) / eq.size + 1e-5 * bodies

    least, rng = objective(s), np.random.default_rng(0)
    for _ in range(200):
        other = s.copy()
        for at in problem.bodies:
            theta = free_numbers(s[at])
            other[at] = log_cholesky(theta + 1e-3 * rng.normal(size=10))
        other[problem.positive] *= np.exp(1e-3 * rng.normal(size=len(problem.positive)))
        assert objective(other) > least - 1e-10


@pytest.mark.filterwarnings("error")
def test_the_certificate_is_finite_where_a_joint_stands():
    """Of its friction no row says anything: there is nothing to be polished in that direction."""
    robot = cf.load("planar2r")
    still = run(robot)
    still["q"][:, 1] = 0.3
    found = idn.fit(idn.information(idn.Model(robot), idn.read(still, robot), signals=SIGNALS))
    assert found.equations.rank < len(found.x) and found.certificate.polish < 1e-6


def test_the_solution_is_that_of_a_conic_solver(info):
    cvxpy = pytest.importorskip("cvxpy", reason="NOT TESTED: cvxpy is not installed")
    _, weights = weighted(info)
    eq = equations(info, weights)
    prior, w = prior_parameters(info.model), 1e-5
    problem = consistent.NearPrior(info.model, eq, prior)
    ours, _ = consistent.solved(problem, w)
    bodies = [cvxpy.Variable((4, 4), symmetric=True) for _ in problem.bodies]
    rest = cvxpy.Variable(len(prior) - 10 * len(bodies))
    parts, cost = [], 0
    for X, at in zip(bodies, problem.bodies, strict=True):
        B = np.linalg.cholesky(pseudo_inertia(prior[at]))
        S = B @ X @ B.T
        trace = S[0, 0] + S[1, 1] + S[2, 2]
        parts += [S[3, 3], S[0, 3], S[1, 3], S[2, 3], trace - S[0, 0], -S[0, 1], trace - S[1, 1],
                  -S[0, 2], -S[1, 2], trace - S[2, 2]]
        cost += cvxpy.trace(X) - cvxpy.log_det(X) - 4
    s = cvxpy.hstack([*parts, rest])
    A = eq.R @ info.model.L / np.sqrt(eq.size)
    cost = cvxpy.sum_squares(A @ s - eq.z / np.sqrt(eq.size)) + w * cost
    bounds = [rest[i - 10 * len(bodies)] >= 0 for i in problem.positive]
    cvxpy.Problem(cvxpy.Minimize(cost), bounds).solve(solver="CLARABEL")
    theirs = info.model.L @ s.value
    scale = np.abs(theirs).max()
    np.testing.assert_allclose(info.model.L @ ours, theirs, atol=1e-5 * scale)


def test_known_values_are_kept(info):
    name = f"{FILE.body_names[-1]}.m"
    model = idn.Model(FILE, FRICTION, known={name: 0.25})
    fit = idn.fit(idn.information(model, idn.read(run(TRUE), FILE), signals=SIGNALS), weight=1e-5)
    assert fit.standard[model.standard_names.index(name)] == pytest.approx(0.25, rel=1e-8)


def test_gains_come_from_a_known_load():
    """Currents with and without a load of known mass; gains are found to a percent."""
    robot, gain = cf.load("planar2r"), np.array([0.11, 0.07])
    frame = robot.frame_names[-1] if robot.frame_names else robot.body_names[-1]
    load = cf.Inertia(1.2, (0.05, 0, 0), 0.002 * np.eye(3))
    logs = []
    for on, seed in ((False, 0), (True, 1)):
        data = run(robot.with_payload(load, at=frame) if on else robot, seed, noise=0.005)
        logs.append(idn.read({"t": data["t"], "q": data["q"],
                              "current": data["tau"] / 50 / gain}, robot))
    model = idn.Model(robot, FRICTION, drives=idn.Drives(50), payload=frame,
                      known={f"{idn.Model(robot, payload=frame).load_name}.m": 1.2})
    info = idn.information(model, logs, signals=SIGNALS, loaded=[False, True])
    fit = idn.fit(info, "weighted")
    found = fit.gains
    careful = idn.fit(info)
    assert careful.total < 2 and careful.payload.mass == pytest.approx(1.2)
    rows = [row for row in careful.table if row.name.endswith(".gain")]
    assert all(row.low <= g <= row.high for row, g in zip(rows, gain, strict=True))
    assert all(row.high - row.low < 0.2 * g for row, g in zip(rows, gain, strict=True))
    errors = [idn.validate(fit, logs[0], loaded=on).total for on in (False, True)]
    assert errors[0] < 2 < errors[1]                # the load that was not on is not predicted
    np.testing.assert_allclose(list(found.values()), gain, rtol=0.02)
    with pytest.raises(ArgumentError, match="known load"):
        bare = idn.Model(robot, FRICTION, drives=idn.Drives(50))
        idn.fit(idn.information(bare, logs[0], signals=SIGNALS))
    with pytest.raises(ArgumentError, match="on in all of them"):
        idn.fit(idn.information(model, logs[1], signals=SIGNALS))
    mass = {f"{robot.body_names[-1]}.m": 1.0}                  # in a sum with other masses
    with pytest.raises(ArgumentError, match="take any scale"):
        idn.fit(idn.information(idn.Model(robot, FRICTION, drives=idn.Drives(50), known=mass),
                                logs[0], signals=SIGNALS))


def test_what_the_motion_does_not_excite_has_no_interval():
    """One joint stands: its rotor and friction cannot be told, and nothing says they can."""
    data = run(TRUE)
    data["q"] = data["q"].copy()
    data["q"][:, 5] = 0.3
    q, v = data["q"], np.gradient(data["q"], data["t"], axis=0)
    a = np.gradient(v, data["t"], axis=0)
    data["tau"] = cf.compile(TRUE).inverse_dynamics(q, v, a) + 0.5 * v + np.sign(v)
    info = idn.information(idn.Model(FILE, FRICTION), idn.read(data, FILE), signals=SIGNALS)
    fit = idn.fit(info, "weighted")
    name = f"{info.model.velocity_names[5]}.viscous"
    assert np.isinf(fit.sd[fit.info.columns.index(name)]) and name in fit.unidentified
    assert not idn.verdict(fit, None).holds
    near = idn.fit(info, weight=1e-6)                # what no row sees stays where it was
    assert 0 <= near.standard[info.model.standard_names.index(name)] < 1e-3


def test_torques_that_no_body_makes_get_a_verdict_and_no_error():
    """All signs turned round: masses would have to be negative."""
    robot = cf.load("planar2r")
    data = run(robot)
    data["tau"] = -data["tau"]
    fit = idn.fit(idn.information(idn.Model(robot, FRICTION), idn.read(data, robot),
                                  signals=SIGNALS))
    assert fit.smallest_eigenvalue > 0 and fit.total > 10 and not idn.verdict(fit).holds


def test_a_load_of_unknown_place_is_found():
    """The prior of a load does not hold it at its frame's origin."""
    robot = cf.load("planar2r")
    frame = robot.body_names[-1]
    load = cf.Inertia(1.2, (0.06, 0.04, 0), 0.004 * np.eye(3))
    logs = [idn.read(run(robot.with_payload(load, at=frame) if on else robot, seed), robot)
            for seed, on in ((0, False), (1, True))]
    info = idn.information(idn.Model(robot, FRICTION, payload=frame), logs, signals=SIGNALS,
                           loaded=[False, True])
    np.testing.assert_allclose(idn.fit(info).payload.com[:2], [0.06, 0.04], atol=0.01)


def test_intervals_are_wider_than_the_usual_formula_where_noise_is_correlated():
    data = run(TRUE, noise=0.0)
    rng = np.random.default_rng(0)
    data["tau"] = data["tau"] + lfilter([0.02], [1, -0.995], rng.normal(size=data["tau"].shape),
                                        axis=0)
    info = idn.information(idn.Model(TRUE, FRICTION), idn.read(data, TRUE), signals=SIGNALS)
    fit = idn.fit(info, "weighted")
    assert np.median(fit.sd / fit.naive_sd) > 1.5


@pytest.mark.parametrize(("arguments", "error", "message"), [
    ({"method": "ridge"}, UnknownName, "no method"), ({"weight": 0}, ArgumentError, "weight"),
    ({"method": "instrumental"}, ArgumentError, "period"),
    ({"method": "didim"}, ArgumentError, "law"),
    ({"prior": cf.load("panda")}, ArgumentError, "prior")])
def test_what_cannot_be_asked_is_refused(info, arguments, error, message):
    with pytest.raises(error, match=message):
        idn.fit(info, **arguments)


def test_a_slide_in_another_unit_in_one_log_ends_in_words():
    """Columns then differ by twelve digits, and matrices have no factors by rounding."""
    robot = cf.load("stanford")
    logs = [run(robot, seed, rate=100.0) for seed in (1, 3)]
    logs[1]["q"] = logs[1]["q"] * np.where(np.arange(6) == 2, 1e6, 1.0)
    info = idn.information(idn.Model(robot), [idn.read(log, robot) for log in logs],
                           signals=idn.Signals(delay=0.0))
    try:
        assert not idn.verdict(idn.fit(info)).holds
    except cf.ClosedformError as error:
        assert "units" in str(error)
