"""Inverse and forward dynamics of elastic joints, their rates, energies and springs."""

import numpy as np
import pytest

import closedform as cf
from closedform.applications import elastic
from closedform.maths.scalars.two_derivatives import curve
from closedform.model.elasticity.joints import ElasticJoints, Spring
from elastic_models import cubic, random_model
from random_robots import random_robot, random_state, stepped
from trajectories import along

TREES = [random_robot(seed, bodies=6) for seed in (2, 5, 8, 11)]
ROBOTS = [cf.load("planar2r"), cf.load("iiwa14"), cf.load("humanoid25"), *TREES]
KINDS = [robot for robot in ROBOTS
         if any(at.stop - at.start == 1 for at in robot.v_slices.values())]


@pytest.mark.parametrize("robot", KINDS, ids=lambda r: r.name)
def test_rates_of_motors_and_springs_are_time_derivatives(robot):
    model = random_model(robot)
    q, *rates = random_state(robot, 1, rates=5)
    rates = np.array(rates)

    def named(name):
        return along(robot, lambda q, r: getattr(
            elastic.inverse_dynamics(model, q, r), name), q, rates)

    motion = elastic.inverse_dynamics(model, q, rates)
    at = [i for i, place in enumerate(model.coordinates) if place is not None]
    scale = 1 + np.max(np.abs(motion.motor_torque_rates))
    for name, rate in (("motor_position", motion.motor_velocity),
                       ("motor_velocity", motion.motor_acceleration),
                       ("spring_torque", motion.spring_torque_rate),
                       ("spring_torque_rate", motion.spring_torque_acceleration),
                       ("motor_torque", motion.motor_torque_rates[0])):
        np.testing.assert_allclose(named(name)[at], rate[at], rtol=0, atol=1e-13 * scale)


@pytest.mark.parametrize("damping", [0.0, 2.0])
@pytest.mark.parametrize("robot", KINDS, ids=lambda r: r.name)
def test_forward_dynamics_gives_back_the_motion_of_inverse_dynamics(robot, damping):
    model = random_model(robot, damping=damping)
    q, *rates = random_state(robot, 2, rates=4)
    deflection = 0.1 * np.random.default_rng(3).normal(size=robot.nv) if damping else None
    motion = elastic.inverse_dynamics(model, q, rates, deflection)
    found = elastic.forward_dynamics(model, q, rates[0], motion.motor_position,
                                     motion.motor_velocity, motion.motor_torque)
    condition = np.linalg.cond(cf.mass_matrix(model.link_robot, q))
    scale = 1e-15 * condition * (1 + np.max(np.abs(motion.motor_torque)))
    np.testing.assert_allclose(found.a, rates[1], rtol=0, atol=10 * scale)
    np.testing.assert_allclose(found.motor_acceleration, motion.motor_acceleration,
                               rtol=0, atol=1e-12 * (1 + np.max(np.abs(motion.motor_acceleration)))
                               + 100 * scale)


def test_a_rigid_joint_needs_the_rigid_torque_with_its_motor():
    robot = cf.load("iiwa14")
    model = ElasticJoints(robot, None, 0.02, 0.1)
    q, *rates = random_state(robot, 3, rates=4)
    motion = elastic.inverse_dynamics(model, q, rates)
    tau = cf.inverse_dynamics(robot, q, rates[0], rates[1])
    np.testing.assert_allclose(motion.motor_torque, 0.1 * tau + 0.02 * rates[1] / 0.1,
                               rtol=0, atol=1e-12)
    np.testing.assert_allclose(motion.motor_position, q / 0.1, rtol=1e-15)
    np.testing.assert_allclose(motion.spring_torque, 0.1 * tau, rtol=0, atol=1e-13)


@pytest.mark.parametrize("name", ["iiwa14", "humanoid25"])
def test_growing_stiffness_leads_to_the_rigid_torque_as_one_over_stiffness(name):
    robot = cf.load(name)
    q, *rates = random_state(robot, 4, rates=4)
    rigid = elastic.inverse_dynamics(ElasticJoints(robot, None, 0.02, 0.1), q, rates)
    gaps = [np.max(np.abs(elastic.inverse_dynamics(
        ElasticJoints(robot, C, 0.02, 0.1), q, rates).motor_torque - rigid.motor_torque))
        for C in (1e2, 1e3, 1e4)]
    np.testing.assert_allclose(np.array(gaps[:-1]) / gaps[1:], 10.0, rtol=1e-6)


@pytest.mark.parametrize("damping", [0.0, 2.0])
@pytest.mark.parametrize("robot", KINDS, ids=lambda r: r.name)
def test_energy_grows_by_the_power_of_motors_less_that_of_dampers(robot, damping):
    model, rng = random_model(robot, damping=damping), np.random.default_rng(5)
    q, v = random_state(robot, 5, rates=1)
    theta, omega, u = rng.normal(size=(3, robot.nv))
    N = model.gear_ratio
    rigid = list(model.rigid)
    omega[rigid] = (v / N)[rigid]
    a, alpha = elastic.forward_dynamics(model, q, v, theta, omega, u)
    h = 1e-30
    later = elastic.energies(model, stepped(robot, q, 1j * h * v), v + 1j * h * a,
                             theta + 1j * h * omega, omega + 1j * h * alpha)
    power = u @ omega - model.damping @ (omega - v / N)**2
    scale = 1 + np.sum(np.abs(u * omega)) + np.max(np.abs(a)) + abs(power)
    assert abs(np.imag(later.total) / h - power) < 1e-10 * scale


def test_a_damped_spring_without_deflection_is_taken_as_settled():
    """D Δq̇ + C Δq = s and its first derivative hold; the torque is that without damping."""
    robot, C, T, N = cf.load("planar2r"), 40.0, 0.01, 0.5
    q, *rates = random_state(robot, 6, rates=4)
    model = ElasticJoints(robot, C, 0.1, N, C * T)
    settled = elastic.inverse_dynamics(model, q, rates)
    free = elastic.inverse_dynamics(model.changed(damping=0.0), q, rates)
    x, dx, ddx = (motor - link / N for motor, link in zip(settled[1:4], (q, *rates), strict=False))
    np.testing.assert_allclose(C * x + C * T * dx, free.spring_torque, rtol=1e-12)
    np.testing.assert_allclose(C * dx + C * T * ddx, free.spring_torque_rate, rtol=1e-12)
    np.testing.assert_allclose(settled.spring_torque, C * x, rtol=1e-12)
    np.testing.assert_allclose(settled.motor_torque, free.motor_torque, rtol=1e-13)


def test_nonlinear_springs_give_back_their_motion():
    robot = cf.load("iiwa14")
    model = ElasticJoints(robot, cubic(), 0.02, 0.5)
    q, *rates = random_state(robot, 7, rates=4)
    motion = elastic.inverse_dynamics(model, q, rates)
    found = elastic.forward_dynamics(model, q, rates[0], motion.motor_position,
                                     motion.motor_velocity, motion.motor_torque)
    np.testing.assert_allclose(found.a, rates[1], rtol=0, atol=1e-8)
    np.testing.assert_allclose(found.motor_acceleration, motion.motor_acceleration, rtol=1e-9)
    state = elastic.ElasticState(q, rates[0], motion.motor_position, motion.motor_velocity)
    np.testing.assert_allclose(elastic.decoupling_control(model, state, rates[3]),
                               motion.motor_torque, rtol=1e-8, atol=1e-8)


def test_the_energy_of_a_spring_is_the_integral_of_its_torque():
    robot, zero = cf.load("planar2r"), np.zeros(2)
    theta = np.array([0.3, -0.2])
    found = elastic.energies(ElasticJoints(robot, cubic(), 0.1, 1.0), zero, zero, theta, zero)
    expected = np.sum(50.0 * theta**2 + 250.0 * theta**4)
    assert found.spring == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize(("f", "first", "second"), [
    (lambda x: 3 * x**3 - 1 / x, lambda x: 9 * x**2 + 1 / x**2, lambda x: 18 * x - 2 / x**3),
    (lambda x: np.exp(2 * x) + np.log(x), lambda x: 2 * np.exp(2 * x) + 1 / x,
     lambda x: 4 * np.exp(2 * x) - 1 / x**2),
    (lambda x: np.sinh(x) * np.cos(x), lambda x: np.cosh(x) * np.cos(x) - np.sinh(x) * np.sin(x),
     lambda x: -2 * np.cosh(x) * np.sin(x)),
    (lambda x: np.tan(x) + np.tanh(x), lambda x: 1 / np.cos(x)**2 + 1 / np.cosh(x)**2,
     lambda x: 2 * np.tan(x) / np.cos(x)**2 - 2 * np.tanh(x) / np.cosh(x)**2),
    (lambda x: np.sqrt(x) - abs(x) * np.sin(x), lambda x: 0.5 / np.sqrt(x) - np.sin(x)
     - x * np.cos(x), lambda x: -0.25 * x**-1.5 - 2 * np.cos(x) + x * np.sin(x)),
    (lambda x: 1 - x**1.5 + 2 / (x - 3), lambda x: -1.5 * x**0.5 - 2 / (x - 3)**2,
     lambda x: -0.75 * x**-0.5 + 4 / (x - 3)**3),
])
def test_slope_and_curvature_of_a_function_are_exact(f, first, second):
    found = curve(f, 0.7)
    np.testing.assert_allclose(found, [f(0.7), first(0.7), second(0.7)], rtol=1e-14)


@pytest.mark.parametrize(("change", "told"), [
    ({"rates": np.zeros((3, 7))}, "four rows v, a, j, s .* there are 3"),
    ({"rates": np.zeros((4, 6))}, r"iiwa14: rates must have the shape \(4, 7\), not \(4, 6\)"),
    ({"q": np.zeros(6)}, r"inverse_dynamics of iiwa14: q must have the shape \(7,\), not \(6,\)"),
    ({"q": np.zeros((3, 7))}, "batches go through cf.elastic.compile"),
    ({"rates": None}, "four rows"),
])
def test_wrong_arguments_are_told(change, told):
    model = ElasticJoints(cf.load("iiwa14"), 10.0, 0.1, 1.0)
    given = {"q": np.zeros(7), "rates": np.zeros((4, 7))} | change
    with pytest.raises(cf.ArgumentError, match=told):
        elastic.inverse_dynamics(model, **given)


def test_what_a_model_cannot_do_is_told():
    robot, z = cf.load("planar2r"), np.zeros(2)
    with pytest.raises(cf.ArgumentError, match=r"motor_inertia of .* is 0"):
        elastic.forward_dynamics(ElasticJoints(robot, 10.0, 0.0, 1.0), z, z, z, z, z)
    with pytest.raises(cf.ArgumentError, match=r"model must be a cf\.ElasticJoints, not Robot"):
        elastic.inverse_dynamics(robot, z, np.zeros((4, 2)))
    with pytest.raises(cf.ArgumentError, match=r"model must be a cf\.ElasticJoints, not Robot"):
        elastic.decoupling_control(robot, elastic.ElasticState(z, z, z, z), z)
    damped = ElasticJoints(robot, 10.0, 0.1, 1.0, 0.5)
    with pytest.raises(cf.ArgumentError, match=r"damping of .* is not 0: then u shows in q⁽³⁾"):
        elastic.decoupling_control(damped, elastic.ElasticState(z, z, z, z), z)
    with pytest.raises(cf.ArgumentError, match="damped or nonlinear, not 5"):
        elastic.inverse_dynamics(damped, z, np.zeros((5, 2)))
    bent = ElasticJoints(robot, Spring(lambda x: 2 * x, lambda s: s / 2), 0.1, 1.0, 0.5)
    with pytest.raises(cf.ArgumentError, match="deflection must be given"):
        elastic.inverse_dynamics(bent, z, np.zeros((4, 2)))
    mixed = ElasticJoints(robot, [None, 10.0], 0.1, 1.0)
    with pytest.raises(cf.ArgumentError, match=r"state must have rigid_torque: .* is rigid"):
        elastic.decoupling_control(mixed, elastic.ElasticState(z, z, z, z), z)
