"""Inverse dynamics and Jacobians to any order in time."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings

import closedform as cf
from closedform.errors import ArgumentError
from closedform.lowerings import reference
from closedform.maths.algorithms import newton_euler
from closedform.maths.algorithms.jacobian_jets import jacobian_jet
from closedform.maths.algorithms.jets import inverse_dynamics_jet
from closedform.maths.canonical.frames import canonical
from closedform.maths.canonical.regrouping import regrouped
from closedform.program.record import record
from random_robots import KINDS, random_robot, random_state, robots, seeds
from trajectories import along, exact_start, exactly, rates_at, state_at

REFERENCES = (cf.LOCAL, cf.WORLD, cf.LOCAL_WORLD_ALIGNED)
SEEDS = range(4)


def motion(seed, rows, **options):
    robot = random_robot(seed, roots=1 + seed % 2, **options)
    q, *rates = random_state(robot, seed, rows)
    return robot, q, np.array(rates).reshape(rows, robot.nv)


def assert_close(found, expected, digits=12):
    scale = np.abs(expected).max(initial=1.0)
    np.testing.assert_allclose(found, expected, rtol=0, atol=10.0**-digits * scale)


@settings(max_examples=20)
@given(robot=robots(), seed=seeds)
def test_the_first_row_is_inverse_dynamics(robot, seed):
    q, v, a = random_state(robot, seed)
    F = np.random.default_rng(seed).normal(size=(1, len(robot.bodies), 6))
    assert_close(inverse_dynamics_jet(robot, q, [v, a], F)[0],
                 cf.inverse_dynamics(robot, q, v, a, F[0]))


@pytest.mark.parametrize("seed", SEEDS)
def test_each_row_is_the_time_derivative_of_the_one_before(seed):
    robot, q, rates = motion(seed, 6)
    tau = inverse_dynamics_jet(robot, q, rates)
    d = along(robot, lambda q, r: inverse_dynamics_jet(robot, q, r), q, rates)
    for k in range(1, 5):
        assert_close(tau[k], d[k - 1])


@pytest.mark.parametrize("kind", [k for k in KINDS if k not in ("fixed", "mimic")])
def test_each_row_is_the_derivative_of_the_one_before_on_chains_of_one_kind(kind):
    robot, q, rates = motion(2, 5, kinds=(kind,), bodies=2)
    tau = inverse_dynamics_jet(robot, q, rates)
    d = along(robot, lambda q, r: inverse_dynamics_jet(robot, q, r), q, rates)
    assert_close(tau[1:], d)


@pytest.mark.parametrize("seed", SEEDS)
def test_wrenches_and_their_derivatives_enter_with_the_loads_sign(seed):
    """τ⁽ᵏ⁾ without loads minus with them is d^k/dt^k Σ J_kᵀ F_k."""
    robot, q, rates = motion(seed, 4)
    F = np.random.default_rng(seed).normal(size=(3, len(robot.bodies), 6))
    load = inverse_dynamics_jet(robot, q, rates) - inverse_dynamics_jet(robot, q, rates, F)
    expected = 0
    for number, body in enumerate(robot.bodies):
        J = jacobian_jet(robot, q, rates[:2], body.name, cf.LOCAL)
        f = F[:, number]
        expected = expected + np.array([
            J[0].T @ f[0], J[1].T @ f[0] + J[0].T @ f[1],
            J[2].T @ f[0] + 2 * J[1].T @ f[1] + J[0].T @ f[2]])
    assert_close(load, expected)


@pytest.mark.parametrize("seed, kinds", [
    (2, ("free", "revolute", "planar", "universal")), (4, ("spherical", "helical", "mimic")),
    (6, ("prismatic", "cylindrical", "revolute", "mimic")),
])
def test_derivatives_agree_with_differences_in_fifty_digits(seed, kinds):
    """Central differences with steps of 1e-12 along the motion itself."""
    with mpmath.workdps(50):
        robot = random_robot(seed, kinds, bodies=4)
        q, *rates = random_state(robot, seed, 4)
        q, exact = exact_start(robot, q), exactly(rates)
        h = mpmath.mpf("1e-12")
        def tau(t):
            x = rates_at(exact, t)
            return newton_euler.inverse_dynamics(robot, state_at(robot, q, exact, t), x[0], x[1])
        before, now, after = tau(-h), tau(0), tau(h)
        expected = np.array([now, (after - before) / (2 * h), (after - 2 * now + before) / h**2])
        assert_close(inverse_dynamics_jet(robot, q.astype(float), rates), expected.astype(float))
        exact_jet = inverse_dynamics_jet(robot, q, exact)
        assert isinstance(exact_jet[2, 0], mpmath.mpf)
        assert_close(exact_jet.astype(float), expected.astype(float))


@pytest.mark.parametrize("seed", SEEDS)
def test_power_is_the_rate_of_energy_and_its_derivative_follows(seed):
    """Ė = vᵀτ and Ë = aᵀτ + vᵀτ̇, rotors included."""
    robot, q, rates = motion(seed, 4)
    tau = inverse_dynamics_jet(robot, q, rates[:3])
    def energy(q, rates):
        return cf.kinetic_energy(robot, q, rates[0]) + cf.potential_energy(robot, q)
    power = along(robot, energy, q, rates)
    assert power == pytest.approx(rates[0] @ tau[0], rel=1e-11, abs=1e-11)
    def work(q, rates):
        return rates[0] @ cf.inverse_dynamics(robot, q, rates[0], rates[1])
    assert along(robot, work, q, rates) == pytest.approx(
        rates[1] @ tau[0] + rates[0] @ tau[1], rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("seed", SEEDS)
def test_at_rest_the_torque_does_not_change_at_all(seed):
    """Gravity is carried for itself: nothing has to cancel, no rounding is left."""
    robot, q, rates = motion(seed, 6)
    tau = inverse_dynamics_jet(robot, q, 0 * rates)
    assert_close(tau[0], cf.gravity_torque(robot, q))
    assert not tau[1:].any()


def test_rows_are_exact_to_rounding_at_every_order():
    """A pendulum: τ = m l² q̈ + m g l sin q with q = t, whose derivatives are known.

    The half turn tan(t/2) has coefficients like π^−k, sin t like 1/k!: that much is lost.
    """
    robot = cf.Robot("pendulum", [cf.Body("b", None, cf.Revolute((0, 1, 0)),
                                          np.eye(4), cf.Inertia(2.0, (0, 0, -0.5)))])
    q = 0.7
    tau = inverse_dynamics_jet(robot, [q], [[1.0], *[[0.0]] * 12])[:, 0]
    s, c = 2 * 9.81 * 0.5 * np.sin(q), 2 * 9.81 * 0.5 * np.cos(q)
    for k, found in enumerate(tau):
        lost = max(1.0, math.factorial(k) / math.pi**k)
        assert found == pytest.approx((s, c, -s, -c)[k % 4], rel=2e-15 * lost)


def compiled_form(name):
    return regrouped(canonical(cf.load(name)).robot)


def operations(robot, order):
    shapes = {"q": (robot.nq,), "rates": (order + 2, robot.nv)}
    return record(lambda q, r: inverse_dynamics_jet(robot, q, r), shapes, "jet").operations.total


def test_the_cost_grows_like_the_square_of_the_order():
    """Third differences are near zero: a parabola to 1 %, far from 2.9 to the power of K."""
    robot = compiled_form("iiwa14")
    cost = np.array([operations(robot, K) for K in range(7)])
    assert np.all(np.abs(np.diff(cost, 3)) < 0.01 * cost[-1])
    assert cost[6] < 14 * cost[0]


def test_order_two_of_the_kuka_costs_about_four_inverse_dynamics():
    robot = compiled_form("iiwa14")
    n = robot.nv
    once = record(lambda q, v, a: newton_euler.inverse_dynamics(robot, q, v, a),
                  {"q": (n,), "v": (n,), "a": (n,)}, "inverse_dynamics").operations.total
    assert operations(robot, 0) <= once
    assert operations(robot, 2) <= 4.0 * once


@pytest.mark.parametrize("kinds", [KINDS[:5], ("free", *KINDS[5:])], ids=str)
def test_recorded_programs_compute_the_same(kinds):
    robot = random_robot(4, kinds, bodies=5)
    q, *rates = random_state(robot, 4, 4)
    rates = np.array(rates)
    shapes = {"q": q.shape, "rates": rates.shape}
    for f in (lambda q, r: inverse_dynamics_jet(robot, q, r),
              lambda q, r: jacobian_jet(robot, q, r, "tool"),
              lambda q, r: jacobian_jet(robot, q, r, "tool", cf.LOCAL)):
        (found,) = reference.run(record(f, shapes, "jet"), q, rates)
        assert_close(found, f(q, rates))


def test_a_robot_that_cannot_move_has_empty_jets():
    robot = cf.Robot("rock", [cf.Body("b", None, cf.Fixed(), inertia=cf.Inertia(1.0))])
    assert inverse_dynamics_jet(robot, [], np.zeros((4, 0))).shape == (3, 0)
    assert jacobian_jet(robot, [], np.zeros((2, 0)), "b").shape == (3, 6, 0)


@pytest.mark.parametrize("rows, message", [(0, "rates"), (1, "two rows")])
def test_too_few_rates_are_refused(rows, message):
    robot = cf.load("planar2r")
    with pytest.raises(ArgumentError, match=message):
        inverse_dynamics_jet(robot, np.zeros(2), np.zeros((rows, 2)))


@pytest.mark.parametrize("rates, wrenches", [
    (np.zeros(2), None), (np.zeros((3, 4)), None), (np.zeros((3, 2)), np.zeros((2, 6))),
    (np.zeros((3, 2)), np.zeros((3, 2, 6)))])
def test_arrays_of_the_wrong_shape_are_refused(rates, wrenches):
    with pytest.raises(ArgumentError, match="must have the shape"):
        inverse_dynamics_jet(cf.load("planar2r"), np.zeros(2), rates, wrenches)


# ---------------------------------------------------------------------- Jacobians
@pytest.mark.parametrize("seen", REFERENCES, ids=lambda r: r.name)
@pytest.mark.parametrize("seed", SEEDS)
def test_each_jacobian_is_the_time_derivative_of_the_one_before(seed, seen):
    robot, q, rates = motion(seed, 4)
    J = jacobian_jet(robot, q, rates, "tool", seen)
    assert J.shape == (5, 6, robot.nv)
    assert_close(J[0], cf.frame_jacobian(robot, q, "tool", seen))
    assert_close(J[1], cf.frame_jacobian_rate(robot, q, rates[0], "tool", seen))
    d = along(robot, lambda q, r: jacobian_jet(robot, q, r, "tool", seen), q, rates)
    assert_close(J[1:-1], d[:3])


def test_the_jacobians_of_bodies_agree_with_the_recursion_of_garofalo():
    robot, q, rates = motion(3, 2)
    ddJ = cf.body_jacobian_second_rates(robot, q, *rates)
    for number, body in enumerate(robot.bodies):
        assert_close(jacobian_jet(robot, q, rates, body.name, cf.LOCAL)[2], ddJ[number])


def test_a_frame_of_the_world_has_no_jacobian_at_any_order():
    robot = cf.Robot("r", [cf.Body("b", None, cf.Revolute((0, 0, 1)))],
                     frames=[cf.Frame("here", None, np.eye(4))])
    for seen in REFERENCES:
        assert not jacobian_jet(robot, [0.3], [[1.0], [2.0]], "here", seen).any()


def test_an_unknown_reference_is_refused():
    with pytest.raises(ArgumentError, match="reference"):
        jacobian_jet(cf.load("planar2r"), np.zeros(2), np.zeros((1, 2)), "link2", "local")
