"""Regressors and derivatives by the inertial parameters on random trees of all joint kinds."""

import numpy as np
import pytest
from hypothesis import given, settings

import closedform as cf
from closedform.maths.algorithms import regressors
from closedform.maths.definitions import closed_form, energy, regressor
from closedform.program.record import record
from random_robots import complex_step, random_robot, random_state, robots, seeds
from tree_checks import assert_close


@settings(max_examples=30)
@given(robots(), seeds)
def test_times_the_parameters_they_are_what_their_names_say(robot, seed):
    q, v, a, v_r, a_r = random_state(robot, seed, 4)
    pi = robot.parameters
    pairs = (
        (regressor.regressor(robot, q, v, a), closed_form.inverse_dynamics(robot, q, v, a)),
        (regressor.slotine_li_regressor(robot, q, v, v_r, a_r),
         closed_form.passivity_inverse_dynamics(robot, q, v, v_r, a_r)),
        (regressor.momentum_regressor(robot, q, v), energy.generalized_momentum(robot, q, v)),
        (regressor.kinetic_energy_regressor(robot, q, v), energy.kinetic_energy(robot, q, v)),
        (regressor.potential_energy_regressor(robot, q), energy.potential_energy(robot, q)))
    for Y, expected in pairs:
        assert Y.shape[-1] == len(robot.parameter_names)
        assert_close(Y @ pi, expected, np.abs(Y).max(initial=1) * np.abs(pi).max())


@settings(max_examples=30)
@given(robots(), seeds)
def test_the_recursions_equal_the_closed_forms(robot, seed):
    q, v, a, v_r, a_r = random_state(robot, seed, 4)
    for name, arguments in (("regressor", (v, a)), ("slotine_li_regressor", (v, v_r, a_r)),
                            ("momentum_regressor", (v,)), ("kinetic_energy_regressor", (v,)),
                            ("potential_energy_regressor", ())):
        assert_close(getattr(regressors, name)(robot, q, *arguments),
                     getattr(regressor, name)(robot, q, *arguments))
    found = regressors.parameter_derivatives(robot, q, v)
    for x, y in zip(found, regressor.parameter_derivatives(robot, q, v), strict=True):
        assert_close(x, y)


@pytest.mark.parametrize("seed", range(4))
def test_each_column_is_the_difference_that_its_parameter_makes(seed):
    """M, C, g are linear in π, so a step of one in one parameter gives its derivative."""
    robot = random_robot(seed, bodies=4)
    q, v, _ = random_state(robot, seed)
    d = regressor.parameter_derivatives(robot, q, v)
    pi = robot.parameters
    assert d.dM_dpi.shape == d.dC_dpi.shape == (robot.nv, robot.nv, len(pi))
    for h in range(len(pi)):
        other = robot.with_parameters(pi + np.eye(len(pi))[h])
        for tensor, f in ((d.dM_dpi, lambda r: closed_form.mass_matrix(r, q)),
                          (d.dC_dpi, lambda r: closed_form.coriolis_matrix(r, q, v)),
                          (d.dg_dpi, lambda r: closed_form.gravity_torque(r, q))):
            scale = np.abs(f(robot)).max(initial=1)
            assert_close(tensor[..., h], f(other) - f(robot), scale)


@settings(max_examples=20)
@given(robots(), seeds)
def test_the_momentum_regressor_keeps_the_books_of_the_torque_regressor(robot, seed):
    """d(M v)/dt = τ + Cᵀ v − g, parameter by parameter: dY_p = Y + Y_Cᵀv − Y_g."""
    q, v, a = random_state(robot, seed)
    d = regressor.parameter_derivatives(robot, q, v)
    rate = complex_step(robot, lambda q: regressor.momentum_regressor(robot, q, v), q, v)
    rate = rate + regressor.momentum_regressor(robot, q, a)
    Y = regressor.regressor(robot, q, v, a)
    transposed = sum(d.dC_dpi[i] * v[i] for i in range(robot.nv)) if robot.nv else 0 * Y
    assert_close(rate, Y + transposed - d.dg_dpi, np.abs(d.dC_dpi).max(initial=1))


@settings(max_examples=20)
@given(robots(), seeds)
def test_the_energy_regressors_change_by_the_power_of_the_torque_regressor(robot, seed):
    """d(Y_T + Y_U)/dt = vᵀ Y, parameter by parameter."""
    q, v, a = random_state(robot, seed)

    def total(q, v):
        return (regressor.kinetic_energy_regressor(robot, q, v)
                + regressor.potential_energy_regressor(robot, q))

    rate = complex_step(robot, lambda q: total(q, v), q, v)
    rate = rate + np.imag(total(q, v + 1e-30j * a)) / 1e-30
    Y = regressor.regressor(robot, q, v, a)
    assert_close(rate, v @ Y, np.abs(Y).max(initial=1) * np.abs(v).max(initial=1))


def test_the_recorded_regressor_has_zeros_where_a_body_does_not_load_a_joint():
    robot = cf.load("panda")
    program = record(lambda q, v, a: regressors.regressor(robot, q, v, a),
                     {"q": (7,), "v": (7,), "a": (7,)}, "regressor")
    entries = program.outputs[0].entries
    for joint in range(7):
        for column in range(10 * joint):
            entry = entries[joint * 70 + column]
            assert entry.index == -1 and entry.constant == 0


def test_pinocchio_agrees_on_the_order_and_the_sign_of_the_parameters():
    pin = pytest.importorskip("pinocchio")
    robot = cf.load("panda").with_gravity((0, 0, -9.81))
    model = pin.buildModelFromXML(robot.to_urdf())
    data, (q, v, a) = model.createData(), random_state(robot)
    expected = pin.computeJointTorqueRegressor(model, data, q, v, a)
    assert_close(regressors.regressor(robot, q, v, a), expected)


def test_names_stand_beside_the_columns():
    robot = random_robot(3, bodies=3)
    assert robot.parameter_names[:10] == tuple(
        f"b0.{x}" for x in ("m", "mcx", "mcy", "mcz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz"))
    q, v, a = random_state(robot)
    assert regressor.regressor(robot, q, v, a).shape == (robot.nv, len(robot.parameter_names))
