"""Simulated motion against closed forms and conservation laws.

Tolerances: rtol = 1e-9 bounds the local error of each of a few dozen steps; the global error of
these short, smooth motions stays below 100 rtol.
"""

import numpy as np
import pytest
from scipy.special import ellipj, ellipk

from closedform.applications.motion.methods import METHODS
from closedform.applications.simulate import simulate
from closedform.errors import ArgumentError, ClosedformError, SingularMatrix
from closedform.maths.definitions.center_of_mass import center_of_mass, momentum
from closedform.maths.kinematics import poses
from closedform.model.inertia import Inertia
from closedform.model.joints import Free, Planar, Prismatic, Revolute, Spherical
from closedform.model.robot import Body, Robot
from random_robots import random_inertia, random_robot, random_state

GLOBAL = 1e-7


def pendulum(mass=2.0, length=0.5, **keywords):
    """A point mass on a massless rod, hanging at q = 0."""
    return Robot("pendulum", [Body("bob", None, Revolute((1, 0, 0), **keywords),
                                   inertia=Inertia(mass, (0, 0, -length)))])


def slider(**keywords):
    """1 kg along x."""
    return Robot("slider", [Body("cart", None, Prismatic((1, 0, 0), **keywords),
                                 inertia=Inertia(1.0))])


# ---------------------------------------------------------------------- closed forms
def test_a_pendulum_swings_as_the_elliptic_sine_says():
    """θ = 2 asin(k sn(K(k²) + ω t, k²)) from rest at θ0, k = sin θ0/2, ω² = g/l."""
    start, w = 2.0, np.sqrt(9.81 / 0.5)
    t = np.linspace(0, 3, 31)
    run = simulate(pendulum(), [start], [0.0], None, t)
    k = np.sin(start / 2)
    sn = ellipj(ellipk(k**2) + w * t, k**2)[0]
    np.testing.assert_allclose(run.q[:, 0], 2 * np.arcsin(k * sn), atol=GLOBAL)


def test_a_constant_force_gives_a_parabola():
    t = np.linspace(1, 3, 9)
    run = simulate(slider(), [0.2], [-1.0], [4.0], t)
    np.testing.assert_allclose(run.q[:, 0], 0.2 - (t - 1) + 2 * (t - 1)**2, atol=GLOBAL)
    np.testing.assert_allclose(run.tau, 4.0)
    np.testing.assert_allclose(run.work, 4 * (run.q[:, 0] - 0.2), atol=GLOBAL)


def test_the_centre_of_a_thrown_body_falls_freely_and_its_angular_momentum_stays():
    rng = np.random.default_rng(3)
    robot = Robot("stone", [Body("stone", None, Free(), inertia=random_inertia(rng))])
    q, v, _ = random_state(robot, 3)
    t = np.linspace(0, 1, 11)
    run = simulate(robot, q, 3 * v, None, t)
    h = np.array([momentum(robot, *state) for state in zip(run.q, run.v, strict=True)])
    centre = np.array([center_of_mass(robot, q) for q in run.q])
    fall = np.outer(t, h[0, :3] / robot.mass) + np.outer(t**2 / 2, robot.gravity)
    np.testing.assert_allclose(centre, centre[0] + fall, atol=GLOBAL)
    np.testing.assert_allclose(h[:, 3:], np.tile(h[0, 3:], (len(t), 1)), atol=GLOBAL)


def test_a_symmetric_top_without_torque_precesses_at_the_known_rate():
    """ω₁ + i ω₂ turns at (I₃ − I₁)/I₁ ω₃ in the body."""
    I1, I3 = 0.3, 0.5
    inertia = Inertia(1, tensor=np.diag([I1, I1, I3]))
    top = Robot("top", [Body("top", None, Spherical(), inertia=inertia)])
    t, w = np.linspace(0, 4, 21), np.array([1.0, 0.0, 6.0])
    run = simulate(top, top.neutral(), w, None, t)
    rate = (I3 - I1) / I1 * w[2]
    expected = np.stack([np.cos(rate * t), np.sin(rate * t), np.full_like(t, w[2])], axis=1)
    np.testing.assert_allclose(run.v, expected, atol=GLOBAL)


def test_a_puck_slides_straight_while_it_spins():
    body = Body("puck", None, Planar((1, 2, 2)), inertia=Inertia(1, tensor=np.eye(3)))
    puck = Robot("puck", [body], gravity=(0, 0, 0))
    t = np.linspace(0, 2, 9)
    run = simulate(puck, [0, 0, 0.3], [1.0, 0.5, 4.0], None, t)
    p = np.array([poses(puck, q)[0, :3, 3] for q in run.q])
    np.testing.assert_allclose(p, np.outer(t / t[-1], p[-1]), atol=GLOBAL)
    assert np.linalg.norm(p[-1]) == pytest.approx(2 * np.hypot(1, 0.5), abs=GLOBAL)


def test_a_ball_at_constant_rate_follows_the_exponential():
    """An isotropic inertia keeps ω; q(t) = q0 ⊕ ω t."""
    ball = Robot("ball", [Body("ball", None, Spherical(), inertia=Inertia(1, tensor=np.eye(3)))])
    q0, w = ball.random(1), np.array([1.0, -2.0, 0.5])
    run = simulate(ball, q0, w, None, [0, 0.4, 0.9])
    expected = ball.integrate(q0, run.times[:, None] * w)
    assert np.abs(ball.difference(expected, run.q)).max() < GLOBAL


# ---------------------------------------------------------------------- conservation
@pytest.mark.parametrize("seed", range(6))
def test_energy_stays_without_torque_on_random_trees(seed):
    robot = random_robot(seed, bodies=5)
    q, v, _ = random_state(robot, seed)
    run = simulate(robot, q, v, None, np.linspace(0, 0.3, 4))
    assert run.energy_drift < GLOBAL
    np.testing.assert_array_equal(run.work, 0.0)


@pytest.mark.parametrize("seed", [1, 4])
def test_energy_changes_by_the_work_of_torques_wrenches_and_friction(seed):
    robot = random_robot(seed, bodies=5)
    q, v, _ = random_state(robot, seed)
    load = np.random.default_rng(seed).normal(size=(len(robot.bodies), 6))
    run = simulate(robot, q, v, lambda t, q, v: np.cos(5 * t) - v, np.linspace(0, 0.3, 4),
                   wrenches=lambda t, q, v: load * t, friction=True, slip_velocity=0.1)
    assert run.energy_drift < GLOBAL
    assert np.abs(run.work[-1]) > 1e-3


def test_quaternions_of_the_result_have_unit_length():
    robot = random_robot(0, kinds=("free", "spherical"), bodies=3)
    q, v, _ = random_state(robot, 0)
    run = simulate(robot, q, v, None, np.linspace(0, 0.5, 6), rtol=1e-4, atol=1e-4)
    for name, at in robot.q_slices.items():
        length = np.linalg.norm(run.q[:, at][:, -4:], axis=1)
        np.testing.assert_allclose(length, 1.0, atol=1e-15, err_msg=name)


@pytest.mark.parametrize("method", METHODS)
def test_every_integrator_finds_the_same_motion(method):
    robot = random_robot(2, kinds=("revolute", "spherical"), bodies=2)
    q, v, _ = random_state(robot, 2)
    exact = simulate(robot, q, v, None, [0, 0.1, 0.2])
    run = simulate(robot, q, v, None, [0, 0.1, 0.2], method=method, rtol=1e-6, atol=1e-8)
    assert np.abs(robot.difference(exact.q, run.q)).max() < 1e-4


# ---------------------------------------------------------------------- friction
def test_viscous_friction_slows_by_the_exponential():
    t = np.linspace(0, 2, 5)
    run = simulate(slider(viscous=1.5), [0], [2.0], None, t, friction=True)
    np.testing.assert_allclose(run.v[:, 0], 2 * np.exp(-1.5 * t), atol=GLOBAL)


def test_coulomb_friction_stops_a_slider_after_its_braking_distance():
    """∫ √(v² + s²) dv / c from 0 to v0, a little more than v0²/2c."""
    slip, c = 0.1, 2.0
    run = simulate(slider(coulomb=c), [0], [1.0], None, [0, 2.0], friction=True,
                   slip_velocity=slip, method="Radau")
    distance = (np.hypot(1, slip) + slip**2 * np.arcsinh(1 / slip)) / (2 * c)
    assert run.q[1, 0] == pytest.approx(distance, abs=GLOBAL)
    assert abs(run.v[1, 0]) < GLOBAL


def test_friction_acts_only_when_asked_for():
    run = simulate(slider(viscous=1.5, coulomb=1.0), [0], [2.0], None, [0, 1])
    np.testing.assert_allclose(run.v, 2.0, atol=1e-12)


# ---------------------------------------------------------------------- refusals
def test_a_torque_that_is_no_number_is_refused_with_the_time():
    law = lambda t, q, v: [np.nan if t > 0.5 else 0.0]
    with pytest.raises(ArgumentError, match=r"t = 0\.[5-9].* torque returned"):
        simulate(pendulum(), [1.0], [0], law, [0, 1])


def test_a_torque_of_the_wrong_size_is_refused():
    with pytest.raises(ArgumentError, match=r"shape \(1,\)"):
        simulate(pendulum(), [1.0], [0], lambda t, q, v: [0, 0], [0, 1])
    with pytest.raises(ArgumentError, match="torque must be 1 finite numbers"):
        simulate(pendulum(), [1.0], [0], [1, 2], [0, 1])


def test_a_joint_that_moves_no_mass_is_named():
    tip = Body("tip", "bob", Revolute((1, 0, 0), name="wrist"))
    bare = Robot("bare", [*pendulum().bodies, tip])
    with pytest.raises(SingularMatrix, match=r"t = 2 s.*wrist"):
        simulate(bare, [0, 0], [0, 0], None, [2, 3])


def test_a_redundant_joint_makes_the_mass_matrix_singular():
    twice = Robot("twice", [Body("a", None, Prismatic((1, 0, 0))),
                            Body("b", "a", Prismatic((1, 0, 0)), inertia=Inertia(1.0))])
    with pytest.raises(SingularMatrix, match="singular"):
        simulate(twice, [0, 0], [0, 0], None, [0, 1])


def test_a_motion_that_runs_away_is_reported_with_the_time():
    with pytest.raises(ClosedformError, match=r"t = "):
        simulate(slider(), [0], [1.0], lambda t, q, v: v**3, [0, 2])


def test_a_run_that_needs_too_many_evaluations_stops():
    with pytest.raises(ClosedformError, match="more than 50 evaluations"):
        simulate(pendulum(), [1.0], [0], None, [0, 100], max_evaluations=50)


@pytest.mark.parametrize("times", [[], [1, 1], [2, 1], [0, np.nan], "soon", 1.0])
def test_times_must_increase(times):
    with pytest.raises(ArgumentError, match="times must be"):
        simulate(pendulum(), [1.0], [0], None, times)


@pytest.mark.parametrize(("q0", "v0", "what"), [([0, 0], [0], "q0"), ([0], [np.inf], "v0"),
                                                ("up", [0], "q0")])
def test_a_start_of_the_wrong_size_or_kind_is_refused(q0, v0, what):
    with pytest.raises(ArgumentError, match=what):
        simulate(pendulum(), q0, v0, None, [0, 1])


def test_a_quaternion_that_is_not_unit_is_refused():
    ball = Robot("ball", [Body("ball", None, Spherical(), inertia=Inertia(1, tensor=np.eye(3)))])
    with pytest.raises(ArgumentError, match="unit length"):
        simulate(ball, [0, 0, 0, 0], [0, 0, 0], None, [0, 1])


def test_an_unknown_method_is_refused_with_the_list():
    with pytest.raises(ArgumentError, match="RK23, RK45, DOP853"):
        simulate(pendulum(), [1.0], [0], None, [0, 1], method="Euler")


# ---------------------------------------------------------------------- what it answers
def test_one_time_gives_the_start():
    run = simulate(pendulum(), [1.0], [0.5], None, [3.0])
    np.testing.assert_array_equal(run.q, [[1.0]])
    assert run.evaluations == 0


def test_the_arguments_are_left_as_they_were():
    q0, v0 = np.array([1.0]), np.array([0.5])
    run = simulate(pendulum(), q0, v0, None, [0, 1])
    run.q[:] = 0
    assert (q0[0], v0[0]) == (1.0, 0.5)


def test_the_progress_bar_goes_to_standard_error(capsys):
    simulate(pendulum(), [1.0], [0], None, [0, 5], progress=True)
    out, err = capsys.readouterr()
    assert not out
    assert "simulating" in err


def test_the_figure_shows_every_coordinate_and_the_energies():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    robot = random_robot(1, kinds=("free", "revolute"), bodies=2)
    q, v, _ = random_state(robot, 1)
    figure = simulate(robot, q, v, None, [0, 0.1]).plot()
    curves = [len(axes.lines) for axes in figure.axes]
    assert curves == [robot.nq, robot.nv, 4]
    matplotlib.pyplot.close(figure)
