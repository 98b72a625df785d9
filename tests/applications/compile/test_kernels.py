"""What a compiled robot hands out: kernels by quantity, frame and number of rates."""

import pickle

import numpy as np
import pytest

import closedform as cf
from closedform.lowerings.store.cache import Cache

NOWHERE = Cache(None)
ROBOT = cf.load("planar2r")
TIP = ROBOT.body_names[-1]


def close(actual, expected):
    np.testing.assert_allclose(actual, expected, rtol=0,
                               atol=1e-13 * np.abs(expected).max(initial=1))


@pytest.mark.parametrize("rows", [2, 3, 4, 5, 7])
def test_a_jet_is_of_the_order_of_the_rates_given(rows):
    arm, rng = cf.compile(ROBOT, cache=NOWHERE), np.random.default_rng(rows)
    q, rates = rng.normal(size=(3, 2)), rng.normal(size=(3, rows, 2))
    F = rng.normal(size=(3, rows - 1, len(ROBOT.bodies), 6))
    tau, loaded = arm.inverse_dynamics_jet(q, rates), arm.inverse_dynamics_jet(q, rates, F)
    J = arm.jacobian_jet(q, rates, TIP, cf.WORLD)
    for k in range(3):
        close(tau[k], cf.inverse_dynamics_jet(ROBOT, q[k], rates[k]))
        close(loaded[k], cf.inverse_dynamics_jet(ROBOT, q[k], rates[k], F[k]))
        close(J[k], cf.jacobian_jet(ROBOT, q[k], rates[k], TIP, cf.WORLD))
    np.testing.assert_array_equal(arm.inverse_dynamics_jet(q[0], rates=rates[0].tolist()), tau[0])


def test_a_jet_says_what_its_own_order_takes():
    own, third = (cf.compile(ROBOT, order=order, cache=NOWHERE) for order in (2, 3))
    assert own.inverse_dynamics_jet.interface.inputs[1].shape == (4, 2)
    assert third.inverse_dynamics_jet.operations.total > own.inverse_dynamics_jet.operations.total
    own.inverse_dynamics_jet(np.zeros(2), np.zeros((5, 2)))
    assert own.inverse_dynamics_jet.interface.inputs[1].shape == (4, 2)


def test_kernels_of_other_orders_are_made_once():
    arm = cf.compile(ROBOT, cache=NOWHERE)
    other = arm.inverse_dynamics_jet._path.rows[1]
    assert other(3) is other(3)


def test_a_pickled_jet_still_takes_any_number_of_rates():
    arm, rates = cf.compile(ROBOT), np.ones((3, 2))
    for kernel in (arm.inverse_dynamics_jet, arm.jacobian_jet.at(TIP)):
        again = pickle.loads(pickle.dumps(kernel))
        np.testing.assert_array_equal(again(np.ones(2), rates), kernel(np.ones(2), rates))


@pytest.mark.parametrize(("rates", "message"), [
    (np.zeros((1, 2)), "rates must have two rows"),
    (np.zeros((0, 2)), r"of planar2r: rates must have the shape \(4, 2\) or .* not \(0, 2\)"),
    (np.zeros((3, 3)), r"not \(3, 3\)"),
    (np.zeros(2), r"not \(2,\)"),
    ("abc", "rates must be real numbers"),
])
def test_rates_that_are_none_are_refused(rates, message):
    with pytest.raises(cf.ArgumentError, match=message):
        cf.compile(ROBOT).inverse_dynamics_jet(np.zeros(2), rates)


@pytest.mark.parametrize(("ask", "message"), [
    (lambda: cf.compile(ROBOT).mass_matri, "did you mean 'mass_matrix'"),
    (lambda: cf.mass_matri, "did you mean 'mass_matrix'"),
    (lambda: cf.compile(ROBOT, ["mass_matri"]), "did you mean 'mass_matrix'"),
    (lambda: cf.compile(ROBOT, cf.At("frame_pos", TIP)), "did you mean 'frame_pose'"),
    (lambda: cf.compile(ROBOT).frame_pose([0, 0], TIP + "x"), f"did you mean '{TIP}'"),
    (lambda: cf.compile(ROBOT, "mass_matrix", only="mas_matrix"), "did you mean 'mass_matrix'"),
    (lambda: cf.compile(ROBOT).mass_matrix(p=[0, 0]), "no argument 'p'"),
    (lambda: ROBOT.reduced([ROBOT.joint_names[0] + "x"]), f"did you mean '{ROBOT.joint_names[0]}'"),
    (lambda: ROBOT.body("LINK1"), "did you mean 'link1'"),
    (lambda: cf.load("pandda"), "did you mean 'panda'"),
    (lambda: cf.export(ROBOT, "bias", "pyton", "."), "did you mean 'python'"),
    (lambda: cf.base_parameters(ROBOT, keep=["Ixxx"]), "did you mean 'Ixx'"),
])
def test_an_unknown_name_is_answered_with_the_nearest(ask, message):
    with pytest.raises((cf.ClosedformError, AttributeError), match=message) as caught:
        ask()
    assert len(str(caught.value)) < 300
