"""Compiled kernels, simulation, control and trajectories of robots with elastic joints."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import closedform as cf
from closedform.applications import elastic
from closedform.applications.elastic import ElasticJoints, ElasticState, Spring
from closedform.applications.elastic.torques import refuse_rough
from closedform.applications.motion.trajectories import Cosines, Sampled, cosines, motion
from elastic_models import cubic, random_model
from random_robots import random_robot, random_state

GEAR = 0.01
STIFFNESS = np.array([2000, 2000, 1500, 1500, 830, 500, 170]) * GEAR**2
INERTIA = np.array([0.6, 0.6, 0.4, 0.4, 0.2, 0.1, 0.1]) * GEAR**2
SWING = Cosines(np.array([0.0, 0.6, 0.0, -1.3, 0.0, 1.0, 0.0]), np.full(7, 0.3),
                1.0 + 0.25 * np.arange(7))


def kuka(payload=3.0):
    arm = cf.load("iiwa14")
    return arm.with_payload(cf.Inertia(payload, (0, 0, 0.1), 0.01 * payload * np.eye(3)),
                            at=arm.bodies[-1].name)


@pytest.fixture(scope="module")
def plant():
    return ElasticJoints(kuka(), STIFFNESS, INERTIA, GEAR)


# ---------------------------------------------------------------------- kernels
@pytest.mark.parametrize("robot", [cf.load("iiwa14"), random_robot(2), random_robot(5)],
                         ids=lambda r: r.name)
def test_kernels_compute_what_the_equations_say(robot):
    model = random_model(robot)
    arm, rng = elastic.compile(model), np.random.default_rng(1)
    q, *rates = random_state(robot, 1, rates=4)
    expected = elastic.inverse_dynamics(model, q, rates)
    scale = 1 + np.max(np.abs(expected.motor_torque))
    for found in (arm.inverse_dynamics(q, rates), arm.inverse_dynamics_rates(q, rates)):
        for name in found._fields:
            np.testing.assert_allclose(getattr(found, name), getattr(expected, name),
                                       rtol=1e-12, atol=1e-12 * scale)
    np.testing.assert_allclose(arm.motor_torque(q, rates), expected.motor_torque,
                               rtol=1e-12, atol=1e-12 * scale)
    state = (q, rates[0], *rng.normal(size=(2, robot.nv)))
    u = rng.normal(size=robot.nv)
    exact = elastic.forward_dynamics(model, *state, u)
    for x, y in zip(arm.forward_dynamics(*state, u), exact, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-9 * (1 + np.max(np.abs(exact.a))))
    np.testing.assert_allclose(arm.energies(*state), elastic.energies(model, *state), rtol=1e-12)


def test_the_compiled_controller_is_the_decoupling_law(plant):
    arm, rng = elastic.compile(plant), np.random.default_rng(2)
    q, (v, a, j, s) = SWING.centre, rng.uniform(-1, 1, size=(4, 7))
    state = elastic.state_from_derivatives(plant, q, v, a, j)
    u = elastic.decoupling_control(plant, state, s)
    np.testing.assert_allclose(arm.decoupling_control(*state[:4], s), u, rtol=1e-8)
    found = arm.derivatives_from_state(*state[:4])
    np.testing.assert_allclose(found.a, a, rtol=0, atol=1e-8)
    np.testing.assert_allclose(found.j, j, rtol=0, atol=1e-7)
    reference, gains = rng.normal(size=(5, 7)), rng.uniform(1, 2, size=(4, 7))
    q4 = reference[4] + np.sum(gains * (reference[:4] - np.array([q, v, a, j])), axis=0)
    np.testing.assert_allclose(arm.tracking_control(*state[:4], reference, gains),
                               elastic.decoupling_control(plant, state, q4), rtol=1e-8)


def test_a_batch_is_its_states_and_a_program_can_be_had(plant):
    arm = elastic.compile(plant)
    q, rates = motion(plant.robot, SWING, np.linspace(0, 1, 9))
    found = arm.inverse_dynamics(q, rates)
    for k in range(9):
        np.testing.assert_allclose(found.motor_torque[k],
                                   elastic.inverse_dynamics(plant, q[k], rates[k]).motor_torque,
                                   rtol=1e-11, atol=1e-13)
    program = arm.program("motor_torque")
    assert program.name == "elastic_motor_torque"
    jet = cf.compile(plant.robot).inverse_dynamics_jet
    assert program.operations.total < 1.1 * jet.operations.total


def test_nonlinear_springs_are_compiled_where_their_functions_can_be_recorded():
    robot = cf.load("planar2r")
    # s = x / √(1 − x²) stiffens towards one radian
    spring = Spring(lambda x: 50 * x / np.sqrt(1 - x * x), lambda s: s / np.sqrt(2500 + s * s))
    model = ElasticJoints(robot, spring, 0.1, 0.5)
    q, *rates = random_state(robot, 3, rates=4)
    found = elastic.compile(model).motor_torque(q, rates)
    np.testing.assert_allclose(found, elastic.inverse_dynamics(model, q, rates).motor_torque,
                               rtol=1e-12)
    with pytest.raises(cf.ArgumentError, match="cannot be recorded"):
        elastic.compile(ElasticJoints(robot, cubic(), 0.1, 0.5)).program("motor_torque")


@pytest.mark.parametrize(("model", "name", "told"), [
    (lambda r: ElasticJoints(r, [None, 3.0], 0.1, 1.0), "decoupling_control", "all elastic"),
    (lambda r: ElasticJoints(r, 3.0, 0.0, 1.0), "forward_dynamics", "motor_inertia"),
    (lambda r: ElasticJoints(r, 3.0, 0.1, 1.0), "gravity", "no quantity 'gravity'"),
])
def test_a_kernel_that_cannot_be_is_told(model, name, told):
    with pytest.raises(cf.ClosedformError, match=told):
        elastic.compile(model(cf.load("planar2r"))).kernel(name)


# ---------------------------------------------------------------------- small motions
def test_the_frequency_of_one_joint_is_that_of_two_inertias_on_a_spring():
    body = cf.Body("link", None, cf.Revolute((0, 0, 1)),
                   inertia=cf.Inertia(1.0, (0, 0, 0), 2.0 * np.eye(3)))
    model = ElasticJoints(cf.Robot("one", [body]), 3.0, 0.05, 0.2)
    omega = np.sqrt(3.0 * (1 / 0.05 + 1 / (0.2**2 * 2.0)))
    np.testing.assert_allclose(elastic.state_space(model, [0.4]).frequencies,
                               [omega / (2 * np.pi)], rtol=1e-12)


@pytest.mark.parametrize("stiffness", [30.0, [None, 30.0], cubic()])
def test_the_state_space_is_the_derivative_of_the_dynamics_at_rest(stiffness):
    robot, q = cf.load("planar2r"), np.array([0.4, -0.9])
    model = ElasticJoints(robot, stiffness, 0.2, 0.5, 0.3)
    system, index = elastic.state_space(model, q), list(model.elastic)

    def rate(x, u):
        state = system.state
        theta, omega = state.motor_position.astype(complex), state.motor_velocity.astype(complex)
        theta[index] += x[4:4 + len(index)]
        omega[index] += x[4 + len(index):]
        found = elastic.forward_dynamics(model, q + x[:2], x[2:4], theta, omega, u)
        return np.concatenate([x[2:4], found.a, omega[index], found.motor_acceleration[index]])

    n = 4 + 2 * len(index)
    rest = rate(np.zeros(n), system.torque + 0j)
    np.testing.assert_allclose(rest.real, 0, rtol=0, atol=1e-11)
    h = 1e-30
    A = np.stack([np.imag(rate(1j * h * row, system.torque + 0j)) / h for row in np.eye(n)], axis=1)
    B = np.stack([np.imag(rate(0j * np.eye(n)[0], system.torque + 1j * h * row)) / h
                  for row in np.eye(2)], axis=1)
    np.testing.assert_allclose(system.A, A, rtol=0, atol=1e-11 * np.max(np.abs(A)))
    np.testing.assert_allclose(system.B, B, rtol=0, atol=1e-12 * np.max(np.abs(B)))


# ---------------------------------------------------------------------- simulation
@pytest.mark.parametrize(("robot", "stiffness"), [
    (cf.load("iiwa14"), 200.0), (random_robot(2), 200.0), (cf.load("planar2r"), cubic())],
    ids=["iiwa14", "random2", "planar2r with cubic springs"])
def test_energy_is_conserved_without_input(robot, stiffness):
    model = ElasticJoints(robot, stiffness, 0.3, 0.7)
    q, v = random_state(robot, 4, rates=1)
    rest = elastic.inverse_dynamics(model, q, np.array([v, 0 * v, 0 * v, 0 * v]))
    state = ElasticState(q, v, rest.motor_position + 0.1, rest.motor_velocity)
    run = elastic.simulate(model, state, None, np.linspace(0, 0.5, 6), rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(run.energy_residual, 0, rtol=0, atol=1e-8 * (1 + np.ptp(run.q)))


def test_work_of_torques_and_dampers_is_the_change_of_energy():
    model = ElasticJoints(cf.load("planar2r"), [None, 30.0], 0.2, 0.5, 0.4)
    state = ElasticState(*np.array([[0.3, 0.2], [1.0, -1.0], [0.0, 0.5], [0.0, 1.0]]))
    run = elastic.simulate(model, state, lambda t, x: [np.sin(t), 0.3], np.linspace(0, 1, 11),
                           rtol=1e-11, atol=1e-12)
    assert np.ptp(run.work) > 0.1
    np.testing.assert_allclose(run.energy_residual, 0, rtol=0, atol=1e-9)
    np.testing.assert_allclose(run.motor_velocity[:, 0], run.v[:, 0] / 0.5, rtol=1e-15)


def test_motor_torques_along_a_trajectory_drive_the_links_along_it():
    robot = cf.load("planar2r")
    model = ElasticJoints(robot, 200.0, 0.1, 0.5)
    path = cosines(robot)

    def at(t):
        q, rates = motion(robot, path, [t])
        return elastic.inverse_dynamics(model, q[0], rates[0])

    q, rates = motion(robot, path, [0.0])
    start = ElasticState(q[0], rates[0, 0], at(0.0).motor_position, at(0.0).motor_velocity)
    times = np.linspace(0, 0.5, 6)
    run = elastic.simulate(model, start, lambda t, _: at(t).motor_torque, times,
                           rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(run.q, path.coordinates(times)[0], rtol=0, atol=1e-9)


def test_sampled_steps_agree_with_the_exact_motion_under_a_held_torque():
    model = ElasticJoints(cf.load("planar2r"), 30.0, 0.2, 0.5)
    state = ElasticState(*np.array([[0.3, 0.2], [1.0, -1.0], [0.5, 0.5], [0.0, 1.0]]))
    u, times = np.array([0.5, -0.2]), np.linspace(0, 0.5, 51)
    exact = elastic.simulate(model, state, u, times, rtol=1e-12, atol=1e-13)
    law = elastic.Feedback(lambda t, x: u)
    gaps = [np.max(np.abs(elastic.closed_loop(model, state, law, times, step=h).q - exact.q))
            for h in (1e-2, 5e-3)]
    assert gaps[0] / gaps[1] == pytest.approx(16, rel=0.2)      # fourth order


def test_decoupling_follows_and_the_rigid_law_vibrates(plant):
    """The error stays below 0.05 mrad where the rigid law sags and swings by tens."""
    times = np.linspace(0, 1.5, 1501)
    wanted = SWING.coordinates(times)
    start = elastic.state_from_derivatives(plant, *wanted[:4, 0])
    ours = elastic.closed_loop(plant, start, elastic.Decoupling(plant, SWING, [-90] * 4), times)
    rigid = elastic.closed_loop(plant, start, elastic.ComputedTorque(
        plant, SWING, [-60] * 2, at_motors=True), times)
    assert np.max(np.abs(ours.q - wanted[0])) < 5e-5
    assert np.max(np.abs(rigid.q - wanted[0])) > 1e-2


@pytest.mark.parametrize("change", [
    {"stiffness": 1.3}, {"stiffness": 0.7}, {"motor_inertia": 1.3}, {"robot": kuka(0.7 * 3.0)}],
    ids=str)
def test_decoupling_with_a_model_that_is_off_by_30_percent_still_follows(plant, change):
    times = np.linspace(0, 1.5, 1501)
    wanted = SWING.coordinates(times)
    start = elastic.state_from_derivatives(plant, *wanted[:4, 0])
    law = elastic.Decoupling(plant.changed(**change), SWING, [-100] * 4)
    run = elastic.closed_loop(plant, start, law, times)
    assert 1e-5 < np.max(np.abs(run.q - wanted[0])) < 1e-2


def test_a_loop_that_runs_away_is_told(plant):
    times = np.linspace(0, 1, 1001)
    start = elastic.state_from_derivatives(plant, *SWING.coordinates(times)[:4, 0])
    with pytest.raises(cf.ClosedformError, match="has run away by t = "):
        elastic.closed_loop(plant, start, elastic.ComputedTorque(plant, SWING, [-60] * 2), times)


# ---------------------------------------------------------------------- outer loop
def test_gains_have_the_poles_that_were_asked_for():
    poles = np.array([[-1, -2, -3, -4], [-2 + 1j, -2 - 1j, -5, -6]])
    gains = elastic.outer_loop(poles, 2)
    for k in range(2):
        found = np.sort_complex(np.roots([1, *gains[::-1, k]]))
        np.testing.assert_allclose(found, np.sort_complex(poles[k]), rtol=1e-10)


@pytest.mark.parametrize(("poles", "told"), [
    ([-1, -2, -3], "poles must be 4 numbers"), ([-1, -2, -3, 0], "negative real parts"),
    ([-1, -2, -3 + 1j, -4], "conjugate pairs"), ("fast", "poles must be 4 numbers")])
def test_poles_that_cannot_be_are_told(poles, told):
    with pytest.raises(cf.ArgumentError, match=told):
        elastic.outer_loop(poles, 2)


# ---------------------------------------------------------------------- trajectories
def test_the_filter_of_damped_springs_is_solved_as_an_integrator_solves_it():
    robot, path = cf.load("planar2r"), cosines(cf.load("planar2r"))
    model = ElasticJoints(robot, [40.0, 25.0], 0.1, 0.5, [8.0, 0.01])
    times = np.linspace(0, 2, 201)
    start = np.array([0.3, 0.01])
    found = elastic.torques(model, path, times, start)

    def rate(t, x):
        q, rates = motion(robot, path, [t])
        s = 0.5 * cf.inverse_dynamics(robot, q[0], rates[0, 0], rates[0, 1])
        return (s - model.stiffness * x) / model.damping

    exact = solve_ivp(rate, (0, 2), start, method="Radau", t_eval=times[::50],
                      rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(found.deflection[::50], exact.y.T, rtol=0, atol=1e-8)
    settled = elastic.torques(model, path, times)
    np.testing.assert_allclose(found.deflection[-1], settled.deflection[-1], rtol=0, atol=1e-4)


def test_a_table_of_torques_has_its_columns(tmp_path):
    robot = cf.load("planar2r")
    result = elastic.torques(ElasticJoints(robot, 40.0, 0.1, 0.5), cosines(robot),
                             np.linspace(0, 1, 5))
    result.write(tmp_path / "t.csv")
    table = np.genfromtxt(tmp_path / "t.csv", delimiter=",", names=True)
    assert len(table.dtype.names) == 1 + 4 * 2
    np.testing.assert_array_equal(table[table.dtype.names[1]], result.motor_torque[:, 0])


@pytest.mark.parametrize("jump", ["position", "velocity", "acceleration", "jerk"])
def test_a_motion_with_a_jump_is_told(jump):
    t = np.linspace(0, 2, 201)
    order = ["position", "velocity", "acceleration", "jerk"].index(jump)
    kink = np.where(t > 1, (t - 1)**order, 0.0)
    q = np.stack([np.sin(t), np.cos(t) + kink], axis=1)
    with pytest.raises(cf.ArgumentError, match="coordinate 1 is not smooth near t = "):
        elastic.torques(ElasticJoints(cf.load("planar2r"), 9.0, 0.1, 1.0), Sampled(t, q), t)


@pytest.mark.parametrize("q", [
    lambda t: np.sin(3 * t), lambda t: 0 * t + 1.7, lambda t: t**4 - t, lambda t: np.cos(9 * t)])
def test_smooth_motions_are_not_taken_for_jumps(q):
    """And the same motions are, once a jump of the acceleration is added."""
    t = np.linspace(0, 2, 201)
    refuse_rough(Sampled(t, q(t)[:, None]))
    kinked = q(t) + np.where(t > 1, (t - 1)**2, 0.0)
    with pytest.raises(cf.ArgumentError, match="coordinate 0 is not smooth near t = "):
        refuse_rough(Sampled(t, kinked[:, None]))


def test_pictures_show_every_elastic_joint(plant):
    times = np.linspace(0, 0.01, 11)
    start = elastic.state_from_derivatives(plant, *SWING.coordinates(times)[:4, 0])
    run = elastic.closed_loop(plant, start, elastic.Decoupling(plant, SWING, [-90] * 4), times)
    figure = run.plot()
    assert [len(axis.lines) for axis in figure.axes] == [7, 7, 7, 4]
    result = elastic.torques(plant, SWING, times).plot()
    assert len(result.axes[1].lines) == 7
    both = elastic.comparison_figure(times, {"exact": {"ours": run.q - run.q[0]}})
    assert both.axes[0].get_title(loc="left") == "exact"
