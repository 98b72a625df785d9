"""A flexible arm as a system."""

import numpy as np
import pytest

import closedform as cf
from closedform.applications.flexible.system import slopes
from flexible_arms import paper_arm, random_motion

ARM = paper_arm()


@pytest.mark.parametrize("model", [cf.flexible.Truncated(), cf.flexible.ExactRotation()], ids=str)
def test_its_rate_is_the_forward_dynamics_and_the_powers_of_the_accounts(model):
    system, (q, v, _) = cf.FlexibleSystem(ARM, 0.1, model), random_motion(
        ARM, np.random.default_rng(1))
    y, u = np.concatenate([q, v, np.zeros(3)]), np.array([0.3, -0.2])
    rate = system.rate(y, u)
    a = cf.flexible.forward_dynamics(ARM, q, v, u, 0.1, model)
    np.testing.assert_allclose(rate[:12], np.concatenate([v, a]), rtol=1e-8, atol=1e-9)
    D = cf.flexible.damping_matrix(ARM, 0.1)
    np.testing.assert_allclose(rate[12:], [u @ v[:2] - v @ D @ v, u[0], 0], rtol=1e-9, atol=1e-12)


def test_where_B_is_not_definite_there_is_no_rate():
    system = cf.FlexibleSystem(ARM)
    y = np.concatenate([[0, np.pi / 2, -0.35, 0, 0, 0], np.zeros(9)])
    assert np.isnan(system.rate(y, np.zeros(2))[-1])
    following = np.zeros(15)
    system.step(y, np.array([0, 0, 1e-3]), out=following)
    assert np.isnan(following[-1])
    assert "loses positive definiteness" in system.stopped(0 * y, y)
    assert system.stopped(0 * y, 0 * y) is None


def test_slopes_are_the_largest_on_each_link():
    q = np.array([0.1, 0.2, 0.03, 0.001, -0.02, 0.004])
    for i, (modes, at) in enumerate(zip(ARM.modes, ARM.deflections, strict=True)):
        fine = modes.slopes(np.linspace(0, modes.link.length, 33)) @ q[at]
        assert slopes(ARM, q[None])[i, 0] == pytest.approx(np.max(np.abs(fine)), rel=1e-12)
