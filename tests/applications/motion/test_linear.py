"""Small deviations of any model of second order."""

import numpy as np
import pytest
from scipy.linalg import expm

import closedform as cf
from closedform.applications.motion.linear import StateSpace, first_order


def test_a_mass_on_a_spring_vibrates_at_its_frequency():
    A, B = first_order(np.array([[2.0]]), np.array([[0.0]]), np.array([[8.0]]), np.eye(1))
    system = StateSpace(A, B, np.eye(2)[:1], None, np.zeros(1))
    np.testing.assert_allclose(system.frequencies, [2 / (2 * np.pi)], rtol=1e-14)
    np.testing.assert_allclose(B, [[0], [0.5]])


def test_its_first_order_form_solves_the_second_order_one():
    rng = np.random.default_rng(0)
    M, D, K = (x @ x.T + np.eye(3) for x in rng.normal(size=(3, 3, 3)))
    Q, x, u = rng.normal(size=(3, 2)), rng.normal(size=6), rng.normal(size=2)
    A, B = first_order(M, D, K, Q)
    rate = A @ x + B @ u
    np.testing.assert_array_equal(rate[:3], x[3:])
    np.testing.assert_allclose(M @ rate[3:] + D @ x[3:] + K @ x[:3], Q @ u, atol=1e-12)


@pytest.mark.parametrize("elastic", [False, True])
def test_one_noun_predicts_small_motions_of_both_models(elastic):
    dt, rng = 0.02, np.random.default_rng(5)
    if elastic:
        model = cf.ElasticJoints(cf.load("planar2r"), [None, 30.0], 0.2, 0.5, 0.1)
        system, n = cf.elastic.linearisation(model, [0.4, -0.9]), 2
        x0 = 1e-6 * rng.normal(size=6)
        rest = system.state
        moved = np.array([0, x0[4]])
        start = (rest.q + x0[:2], x0[2:4], rest.motor_position + moved, [0, x0[5]])
        u = system.torque
    else:
        model = cf.flexible.load("deluca_siciliano")
        system, n = cf.flexible.linearisation(model, np.zeros(6)), 6
        x0 = 1e-6 * rng.normal(size=12)
        start, u = (x0[:6], x0[6:]), system.torque
    run = cf.simulate(model, start, u, [0, dt], method=cf.DOP853(rtol=1e-12, atol=1e-16))
    found = run.path[-1, :len(x0)].copy()
    found[:n] -= system.state.q
    if elastic:
        found[4] -= system.state.motor_position[1]
    # the rest is of second order in 1e-6, times rates up to 1e3
    np.testing.assert_allclose(found, expm(system.A * dt) @ x0, atol=1e-9)


def test_the_old_names_are_the_same_things():
    assert cf.elastic.state_space is cf.elastic.linearisation
    assert cf.flexible.state_space is cf.flexible.linearisation
    assert cf.flexible.StateSpace is cf.elastic.StateSpace is StateSpace
    assert cf.flexible.FlexibleSimulation is cf.elastic.ElasticSimulation is cf.Simulation
