"""Monte Carlo: what is linear in the parameters spreads as their covariance says."""

from itertools import pairwise

import numpy as np
import pytest

import closedform as cf
from closedform.applications.studies import Normal, Uniform, monte_carlo
from closedform.applications.studies.distributions import DRAWS
from measured_runs import run

ROBOT = cf.load("planar3r")
rng = np.random.default_rng(1)
Q, V, A = rng.normal(size=(3, 2, ROBOT.nv))
MEAN = ROBOT.parameters
SD = 0.05 * np.abs(MEAN) + 1e-3


def test_torques_have_the_mean_and_the_deviations_that_the_regressor_gives():
    """τ = Y π: mean Y π̂, variance Σ Y² sd²; 20 000 samples leave 1 % of a deviation."""
    found = monte_carlo(ROBOT, "inverse_dynamics", Normal(MEAN, SD), (Q, V, A), 20_000)
    for k in range(2):
        Y = cf.regressor(ROBOT, Q[k], V[k], A[k])
        sd = np.sqrt(Y**2 @ SD**2)
        np.testing.assert_allclose(found.mean[k], Y @ MEAN, atol=0.03 * sd.max())
        np.testing.assert_allclose(found.sd[k], sd, rtol=0.03)
    assert found.samples.shape == (20_000, 2, ROBOT.nv)
    assert np.all(found.quantile(0.1) < found.quantile(0.9))


def test_directions_spread_what_they_point_along():
    D = np.zeros((len(MEAN), 1))
    D[0] = 1.0
    drawn = Normal(MEAN, [0.5], D).draws(0, 5000, 0)
    np.testing.assert_array_equal(drawn[:, 1:], np.broadcast_to(MEAN[1:], drawn[:, 1:].shape))
    assert drawn[:, 0].std() == pytest.approx(0.5, rel=0.05)


def test_draws_do_not_depend_on_how_they_are_cut():
    distribution = Uniform(MEAN - SD, MEAN + SD)
    whole = distribution.draws(0, 1000, 7)
    cut = [0, 1, DRAWS - 1, DRAWS, 700, 1000]
    parts = [distribution.draws(a, b, 7) for a, b in pairwise(cut)]
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    assert not np.array_equal(distribution.draws(0, 1000, 8), whole)


def test_samples_that_are_no_robot_are_named():
    broken = Normal(0 * MEAN, 0 * SD)            # no mass at all: M cannot be inverted
    with pytest.raises(cf.ClosedformError, match=r"block 0 .*sample 0 gives no number"):
        monte_carlo(ROBOT, "forward_dynamics", broken, (Q, V, A), 10)
    found = monte_carlo(ROBOT, "forward_dynamics", broken, (Q, V, A), 10, aside=True)
    assert len(found.aside) == 1


@pytest.mark.parametrize(("given", "message"), [
    ({"samples": 0}, "samples must be"), ({"seed": -1}, "seed must be"),
])
def test_numbers_that_cannot_be_are_refused(given, message):
    with pytest.raises(cf.ArgumentError, match=message):
        monte_carlo(ROBOT, "mass_matrix", Normal(MEAN, SD), (Q,), **given)
    with pytest.raises(cf.ArgumentError, match="sd must be"):
        Normal(MEAN, -SD)
    for make, what in ((lambda: Normal("a", SD), "mean"), (lambda: Uniform([1j], [2]), "lower"),
                       (lambda: Normal([1], [1], [[np.nan]]), "directions")):
        with pytest.raises(cf.ArgumentError, match=f"{what} of a distribution must be finite"):
            make()
    with pytest.raises(cf.ArgumentError, match="the distribution has 1 numbers"):
        monte_carlo(ROBOT, "mass_matrix", Uniform(0.0, 1.0), (Q,))


def test_an_identification_spreads_what_it_found_by_its_deviations():
    """Columns of inertias alone have the deviations fit.sd, about what was found."""
    idn, robot = cf.identification, cf.load("planar2r")
    log = idn.read(run(robot, 0), robot)
    fit = idn.fit(idn.information(idn.Model(robot), log, idn.Signals(cutoff=5.0, delay=0.0)))
    drawn = fit.distribution.draws(0, 5000, 0)
    names = list(fit.model.standard_names)
    at = [names.index(n) for n in fit.robot.parameter_names]
    others = np.delete(fit.model.L, at, axis=1)
    own = np.flatnonzero(~np.any(others, axis=1))
    assert len(own) >= 3
    columns = drawn @ fit.model.L[np.ix_(own, at)].T
    np.testing.assert_allclose(columns.std(axis=0), fit.sd[own], rtol=0.06)
    np.testing.assert_allclose(columns.mean(axis=0), fit.x[own],
                               atol=0.1 * fit.sd[own].max() + 1e-9)
