"""Grimm (1990), first page: the class of models (1), (2) and the decoupling law (3)–(5).

The page has no numbers. What it leaves undefined, Ψ and P, is completed here and shown to make
(3)–(5) the law that follows from (1) and (2) directly.
"""

import numpy as np
import pytest

import closedform as cf
from closedform.applications import elastic
from closedform.applications.elastic import ElasticJoints, ElasticState
from random_robots import random_robot, random_state

CHAINS = [random_robot(seed, ("revolute", "prismatic", "helical"), 5) for seed in (1, 4)]


def fixed_humanoid():
    robot = cf.load("humanoid25")
    return robot.reduced({robot.joint_names[0]: robot.neutral()[:7]})


ROBOTS = [cf.load("planar2r"), cf.load("iiwa14"), fixed_humanoid(), *CHAINS]


def model_of(robot, seed=0):
    rng = np.random.default_rng(seed)
    return ElasticJoints(robot, rng.uniform(20, 60, robot.nv), rng.uniform(0.2, 1, robot.nv),
                         rng.uniform(0.2, 1, robot.nv))


def state_of(model, seed=0):
    q, *rates = random_state(model.robot, seed, rates=4)
    return elastic.state_from_derivatives(model, q, *rates[:3]), np.array(rates)


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda r: r.name)
def test_equations_1_and_2_hold_for_inverse_dynamics(robot):
    model = model_of(robot)
    q, *rates = random_state(robot, 1, rates=4)
    m = elastic.inverse_dynamics(model, q, rates)
    N, M_G, C = model.gear_ratio, model.motor_inertia, model.stiffness
    dq, ddq = m.motor_position - q / N, m.motor_acceleration - rates[1] / N
    u = M_G * rates[1] / N + M_G * ddq + C * dq                                       # (1)
    np.testing.assert_allclose(m.motor_torque, u, rtol=1e-11, atol=1e-11)
    tau = cf.mass_matrix(robot, q) @ rates[1] + cf.bias(robot, q, rates[0])
    np.testing.assert_allclose(tau, C * dq / N, rtol=1e-11, atol=1e-10)               # (2)


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda r: r.name)
def test_equations_3_to_5_are_the_direct_law(robot):
    model = model_of(robot)
    state, rates = state_of(model)
    terms = elastic.grimm_terms(model, state)
    direct = elastic.decoupling_control(model, state, rates[3])
    law = terms.H @ rates[3] + terms.h
    scale = np.max(np.abs(terms.H)) * np.max(np.abs(rates[3])) + np.max(np.abs(terms.h))
    assert np.max(np.abs(law - direct)) < 1e-14 * scale


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda r: r.name)
def test_psi_is_the_snap_that_the_state_has_without_changes_of_torque(robot):
    """M_R Ψ + M̈ q̈ + 2 Ṁ q⁽³⁾ + c̈ + g̈ = 0: with q⁽⁴⁾ = Ψ the torque's second rate vanishes."""
    model = model_of(robot)
    state, rates = state_of(model)
    psi = elastic.grimm_terms(model, state).Psi
    jet = cf.inverse_dynamics_jet(robot, state.q, np.array([*rates[:3], psi]))
    condition = np.linalg.cond(cf.mass_matrix(robot, state.q))
    zero = cf.inverse_dynamics_jet(robot, state.q, np.array([*rates[:3], 0 * psi]))[2]
    assert np.max(np.abs(jet[2])) < 1e-13 * condition * np.max(np.abs(zero))


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda r: r.name)
def test_states_go_to_derivatives_and_back(robot):
    model = model_of(robot)
    state, rates = state_of(model)
    found = elastic.derivatives_from_state(model, state)
    condition = np.linalg.cond(cf.mass_matrix(robot, state.q))
    scale = 1e-14 * condition * np.max(np.abs(model.stiffness * state.motor_position))
    np.testing.assert_allclose(found.a, rates[1], rtol=0, atol=scale)
    np.testing.assert_allclose(found.j, rates[2], rtol=0, atol=100 * scale)


def test_decoupling_is_the_torque_of_inverse_dynamics_on_a_floating_tree_too():
    """Rigid coordinates answer with the second derivative of their torque."""
    robot = cf.load("humanoid25")
    model = ElasticJoints(robot, 40.0, 0.5, 0.5)
    q, *rates = random_state(robot, 2, rates=4)
    state = elastic.state_from_derivatives(model, q, *rates[:3])
    u = elastic.decoupling_control(model, state, rates[3])
    motion = elastic.inverse_dynamics(model, q, rates)
    jet = cf.inverse_dynamics_jet(robot, q, np.array(rates))
    np.testing.assert_allclose(u[6:], motion.motor_torque[6:], rtol=1e-8, atol=1e-7)
    np.testing.assert_allclose(u[:6], jet[2, :6], rtol=1e-8, atol=1e-6)


@pytest.mark.parametrize("robot", [
    cf.load("planar2r"), cf.load("iiwa14"), pytest.param(fixed_humanoid(), marks=pytest.mark.slow)],
    ids=lambda r: r.name)
def test_a_constant_input_makes_every_joint_move_on_a_quartic(robot):
    """Springs of 20 rad/s on what each joint carries.

    Nothing holds q to the quartic: rounding of the deflections, times C M⁻¹, is integrated four
    times, and stiffer springs on light links blow it up (1.7e-12 at 40 rad/s on the iiwa).
    """
    q = np.resize([0.1, 0.6, 0.2, -1.2, 0.3, 0.8, -0.2], robot.nv)
    carried = np.diag(cf.mass_matrix(robot, q))
    model = ElasticJoints(robot, 400 * carried, carried, 1.0)
    rng = np.random.default_rng(3)
    v, a, j, s = rng.uniform(-1, 1, size=(4, robot.nv))
    kernel = elastic.compile(model).decoupling_control
    t = np.linspace(0, 0.2, 5)
    run = elastic.simulate(model, elastic.state_from_derivatives(model, q, v, a, j),
                           lambda _, x: kernel(*x[:4], s), t, rtol=1e-13, atol=1e-14)
    x = t[:, None]
    quartic = q + v * x + a * x**2 / 2 + j * x**3 / 6 + s * x**4 / 24
    np.testing.assert_allclose(run.q, quartic, rtol=0, atol=1e-12)


def test_the_law_of_the_paper_refuses_what_it_does_not_know():
    robot, z = cf.load("planar2r"), np.zeros(2)
    with pytest.raises(cf.ArgumentError, match="whose joints are all elastic"):
        elastic.grimm_terms(ElasticJoints(robot, [None, 3.0], 0.1, 1.0),
                            ElasticState(z, z, z, z, z, z))
