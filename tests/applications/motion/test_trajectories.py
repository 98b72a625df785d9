"""Trajectories: splines and cosines give q and the rates of the bodies' velocities."""

import numpy as np
import pytest

import closedform as cf
from closedform.applications.motion.torques import torques
from closedform.applications.motion.trajectories import (
    Cosines,
    Sampled,
    continuous,
    cosines,
    motion,
    read_samples,
)
from closedform.errors import ArgumentError, FormatError
from random_robots import random_robot


class Analytic:
    """q_i(t) = Σ_k c_ik t^k, a polynomial in every coordinate, complex times allowed."""

    def __init__(self, c):
        self.c = c  # (terms, nq)

    def coordinates(self, times):
        powers = np.polynomial.polynomial
        return np.stack([powers.polyval(times, powers.polyder(self.c, k, axis=0)).T
                         for k in range(5)])


def wandering(robot, seed):
    """Polynomials whose quaternions are not of length one: they are normalised."""
    rng = np.random.default_rng(seed)
    c = 0.3 * rng.normal(size=(6, robot.nq))
    c[0] = robot.random(rng)
    return Analytic(c)


@pytest.mark.parametrize("kind", ["revolute", "cylindrical", "universal", "spherical", "planar",
                                  "free"])
def test_the_velocities_move_q_as_the_trajectory_does(kind):
    """q(t + h) ⊖ q(t − h) is 2 h v(t), and every rate is the difference of the one before."""
    robot = random_robot(2, (kind,), bodies=2)
    h = 1e-4
    q, rates = motion(robot, wandering(robot, 1), [0.3 - h, 0.3, 0.3 + h])
    np.testing.assert_allclose(robot.difference(q[0], q[2]) / (2 * h), rates[1, 0], atol=1e-6)
    for k in range(3):
        np.testing.assert_allclose((rates[2, k] - rates[0, k]) / (2 * h), rates[1, k + 1],
                                   atol=1e-5 * max(1, np.abs(rates).max()))


def test_splines_reproduce_smooth_motions_with_four_derivatives():
    t = np.linspace(0, 2, 201)
    path = Cosines(np.array([0.2]), np.array([0.8]), np.array([3.0]))
    spline = Sampled(t, path.coordinates(t)[0])
    at = np.linspace(0.2, 1.8, 50)
    for k, (found, exact) in enumerate(zip(spline.coordinates(at), path.coordinates(at),
                                           strict=True)):
        np.testing.assert_allclose(found, exact, atol=1e-13 * 100**k + 1e-9)


def test_cosines_stay_within_the_limits_and_leave_quaternions_alone():
    for name in ("iiwa14", "humanoid25"):
        robot = cf.load(name)
        q, rates = motion(robot, cosines(robot), np.linspace(0, 10, 100))
        assert np.all(q >= robot.lower - 1e-12) and np.all(q <= robot.upper + 1e-12)
        assert np.abs(rates).max() > 0.1


def test_quaternions_that_change_sign_between_samples_are_one_motion():
    robot = cf.Robot("ball", [cf.Body("b", None, cf.Spherical())])
    angle = np.linspace(0, 8, 30)
    q = np.stack([np.sin(angle / 2), 0 * angle, 0 * angle, np.cos(angle / 2)], axis=1)
    flipped = q * np.where(np.arange(30) % 3, 1.0, -1.0)[:, None]
    fixed = continuous(robot, flipped)
    np.testing.assert_array_equal(fixed * np.sign(fixed[0] @ q[0]), q)


def test_samples_are_read_with_and_without_a_line_of_names(tmp_path):
    robot = cf.load("planar2r")
    rows = "\n".join(f"{k / 10},{k},{-k}" for k in range(9))
    for text in (rows, "t,q1,q2\n" + rows):
        path = tmp_path / "motion.csv"
        path.write_text(text)
        read = read_samples(robot, path)
        np.testing.assert_array_equal(read.q[:, 1], -np.arange(9))


@pytest.mark.parametrize("text, error, message", [
    ("0,1\n1,2\n", FormatError, "2 coordinates"),
    ("t,q1,q2\n0,1,2\nx,1,2\n", FormatError, "row 2"),
    ("O,1,2\n0,1,2\n", FormatError, "row 1"),             # a typo in a number, no names
    ("t,joint1,joint3\n0,1,2\n", FormatError, "no joint of planar2r is named 'joint3'; did you"),
    ("t,joint1,joint1\n0,1,2\n", FormatError, "two columns are named 'joint1'"),
    ("t,joint1\n0,1\n", FormatError, "no column for joint2"),
    ("joint1,joint2\n0,1\n", FormatError, "column t or time is missing"),
    ("t,joint1,joint2\n0,1\n", FormatError, "row 1 must be 3 numbers"),
    ("0,1,2\n1,2,3\n", ArgumentError, "more than 7 samples"),
    ("\n".join(f"{-k},0,0" for k in range(9)), ArgumentError, "increase"),
])
def test_files_that_are_no_trajectory_are_refused(tmp_path, text, error, message):
    path = tmp_path / "motion.csv"
    path.write_text(text)
    with pytest.raises(error, match=message):
        read_samples(cf.load("planar2r"), path)


def test_columns_are_found_by_the_names_of_joints(tmp_path):
    """In any order, time anywhere, beside the rates that `closedform ik` writes."""
    robot = cf.load("planar2r")
    k = np.arange(9.0)
    columns = {"joint2": -k, "d_joint2": k, "time": k / 10, "joint1": k, "dd_joint1": k}
    path = tmp_path / "motion.csv"
    path.write_text("\n".join([",".join(columns), *(
        ",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]))
    read = read_samples(robot, path)
    np.testing.assert_array_equal(read.times, k / 10)
    np.testing.assert_array_equal(read.q, np.stack([k, -k], axis=1))


def test_coordinates_of_a_free_joint_are_named_with_numbers(tmp_path):
    robot = cf.load("planar2r", floating=True)
    names = [*(f"root_joint[{i}]" for i in range(7)), "joint1", "joint2"]
    rows = np.hstack([np.arange(9.0)[:, None], np.tile(robot.neutral(), (9, 1))])
    rows[:, 8] = np.arange(9)
    swapped = [0, 9, 8, *range(1, 8)]
    path = tmp_path / "motion.csv"
    lines = [np.array(["t", *names])[swapped], *rows[:, swapped]]
    path.write_text("\n".join(",".join(map(str, line)) for line in lines))
    np.testing.assert_array_equal(read_samples(robot, path).q, rows[:, 1:])


@pytest.mark.filterwarnings("error")
def test_a_motion_too_large_for_numbers_is_refused():
    robot = cf.load("planar2r")
    rough = Sampled(np.arange(9.0), np.where(np.arange(9) % 2, 1e300, -1e300)[:, None] * np.ones(2))
    with pytest.raises(ArgumentError, match="too large to be numbers"):
        torques(robot, rough, np.linspace(0, 8, 5))


@pytest.mark.parametrize("name", ["four_bar", "palletiser"])
def test_motions_of_loops_are_closed_and_torques_have_their_exact_rates(name):
    """τ̇ of the jet is the derivative of τ along the closed motion, by differences."""
    robot = cf.load(name)
    step = 1e-4
    times = np.array([0.3 - step, 0.3, 0.3 + step])
    q, rates = motion(robot, cosines(robot), times)
    assert rates.shape == (3, 4, robot.nv)
    assert max(np.abs(cf.loop_residual(robot, x)).max() for x in q) < 1e-10
    jets = np.array([cf.inverse_dynamics_jet(robot, x, r) for x, r in zip(q, rates, strict=True)])
    slope = (jets[2, 0] - jets[0, 0]) / (2 * step)
    np.testing.assert_allclose(jets[1, 1], slope, rtol=1e-5, atol=1e-5 * np.abs(jets[1, 0]).max())
