"""Inputs as the integrator asks for them."""

import numpy as np
import pytest

import closedform as cf
from closedform.applications.motion.inputs import Held, bang_bang, drive
from closedform.applications.motion.rigid import RigidSystem
from closedform.errors import ArgumentError

BODY = cf.Body("cart", None, cf.Prismatic((1, 0, 0)), inertia=cf.Inertia(1.0))
CART = cf.Robot("cart", [BODY])
SYSTEM = RigidSystem(CART)


def test_a_held_input_switches_at_its_times():
    held = Held([1.0, 2.0], [[1.0], [-1.0]])
    np.testing.assert_array_equal(held.at(np.array([0.5, 1.0, 1.999, 2.0, 9.0]))[:, 0],
                                  [0, 1, 1, -1, -1])
    np.testing.assert_array_equal(bang_bang(3.0, 0, 1, 2).torques[:, 0], [3, -3, 0])


@pytest.mark.parametrize("method", [cf.DOP853(), cf.RK4(0.1)])
def test_a_motion_starts_anew_where_a_held_input_jumps(method):
    """Parabolas between the jumps: both methods are exact on them, up to rounding."""
    t = np.linspace(0, 3, 7)
    run = cf.simulate(CART, ([0.0], [0.0]), Held([0.5, 1.5], [[2.0], [-4.0]]), t, method=method)
    x = np.select([t <= 0.5, t <= 1.5], [0 * t, (t - 0.5)**2], 1 + 2 * (t - 1.5) - 2 * (t - 1.5)**2)
    np.testing.assert_allclose(run.q[:, 0], x, atol=1e-12)
    np.testing.assert_array_equal(run.tau[:, 0], [0, 2, 2, -4, -4, -4, -4])


class Counting:
    """A controller that remembers what it was asked."""

    def start(self, times):
        self.asked = []

        def law(k, state):
            self.asked.append(k)
            return -state.q - 0.5 * state.v

        return law


@pytest.mark.parametrize("method", [cf.DOP853(rtol=1e-12, atol=1e-13), cf.RK4(0.01)])
def test_a_controller_is_asked_at_the_times_and_held_between_them(method):
    """x_{k+1} = Φ x_k + Γ u_k of a cart of 1 kg, sampled."""
    t, controller = np.linspace(0, 2, 9), Counting()
    run = cf.simulate(CART, ([1.0], [0.0]), controller, t, method=method)
    x, h = np.array([1.0, 0.0]), 0.25
    for k in range(9):
        np.testing.assert_allclose([run.q[k, 0], run.v[k, 0]], x, atol=1e-12)
        u = -x[0] - 0.5 * x[1]
        np.testing.assert_allclose(run.tau[k, 0], u, atol=1e-12)
        x = np.array([x[0] + h * x[1] + h * h / 2 * u, x[1] + h * u])
    assert controller.asked[:8] == list(range(8))
    assert len(controller.asked) <= 8 + 9


def test_wrenches_act_beside_the_torque_and_are_not_told_as_one():
    force = np.array([[2.0, 0, 0, 0, 0, 0]])
    for torque in ([1.0], Held([0.0], [[1.0]]), lambda t, q, v: [1.0]):
        for method in (cf.DOP853(), cf.RK4(0.1)):
            run = cf.simulate(CART, ([0.0], [0.0]), torque, [0, 1.0], method=method,
                              wrenches=lambda t, q, v: force)
            np.testing.assert_allclose(run.q[-1], 1.5, atol=1e-12)
            np.testing.assert_array_equal(run.tau, 1.0)
            np.testing.assert_allclose(run.work[-1], 3 * 1.5, atol=1e-9)


@pytest.mark.parametrize(("given", "told"), [
    ([1.0, 2.0], r"input must be 1 finite numbers \(cart\)"), ("push", "input must be"),
    (Held([0.0], [[1.0, 2.0]]), "input has 2 columns; cart has 1 inputs, cart")])
def test_a_wrong_input_is_told(given, told):
    with pytest.raises(ArgumentError, match=told):
        drive(given, SYSTEM, np.array([0.0, 1.0]))


@pytest.mark.parametrize(("times", "torques", "told"), [
    ([1.0, 1.0], [[0.0], [0.0]], "times must be"), ([0.0], [0.0], "one row of finite torques"),
    ([0.0], [["up"]], "one row of finite torques")])
def test_a_held_input_that_cannot_be_is_told(times, torques, told):
    with pytest.raises(ArgumentError, match=told):
        Held(times, torques)
