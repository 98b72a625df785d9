"""Standard parameters of fits without a prior: bodies, wherever some have the columns' numbers."""

import numpy as np
import pytest

import closedform as cf
from closedform.applications.identification.estimate.standard import standard_of
from closedform.maths.identification.pseudo_inertia import pseudo_inertia
from measured_runs import other_inertias, run

idn = cf.identification
SIGNALS = idn.Signals(cutoff=5.0, delay=0.0)
FRICTION = idn.Friction("viscous", "coulomb", slip=1e-3)


@pytest.mark.parametrize("method", ["least_squares", "weighted", "huber"])
def test_fits_without_a_prior_are_bodies_wherever_some_have_their_numbers(method):
    """The standard parameters nearest the file's would be none: they turn tensors inside out."""
    robot = cf.load("planar2r")
    file = other_inertias(robot)
    model = idn.Model(file, FRICTION)
    fit = idn.fit(idn.information(model, idn.read(run(robot), file), signals=SIGNALS), method)
    nearest = fit.prior + np.linalg.pinv(model.L) @ (fit.x - model.L @ fit.prior)
    assert min(np.linalg.eigvalsh(pseudo_inertia(nearest[at]))[0]
               for at in (slice(0, 10), slice(10, 20))) < 0
    assert fit.smallest_eigenvalue > 0
    np.testing.assert_allclose(model.L @ fit.standard, fit.x, rtol=1e-9, atol=1e-12)
    trial = idn.validate(fit, idn.read(run(robot, 7), file))
    assert idn.verdict(fit, trial).holds, str(idn.verdict(fit, trial))


def test_numbers_that_no_body_has_are_kept_as_they_are():
    """Of moments that are negative: the estimate is told, and the verdict refuses it."""
    robot = cf.load("planar2r")
    info = idn.information(idn.Model(robot, FRICTION), idn.read(run(robot), robot),
                           signals=SIGNALS)
    fit = idn.fit(info, "weighted")
    x = fit.x.copy()
    x[[k for k, n in enumerate(info.columns) if n.endswith("Izz")]] *= -1
    s = standard_of(info.model, x, fit.prior, fit.equations)
    np.testing.assert_allclose(info.model.L @ s, x, rtol=1e-9, atol=1e-12)
    assert min(np.linalg.eigvalsh(pseudo_inertia(s[10 * k:10 * k + 10]))[0] for k in range(2)) < 0
