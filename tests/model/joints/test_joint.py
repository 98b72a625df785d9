"""Joints: their motions, groups, limits and refusals."""

import math
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from scipy.spatial.transform import Rotation

import closedform as cf
from closedform.arrays import NUMBERS
from closedform.errors import ArgumentError, ModelError
from closedform.maths.kinematics import body_jacobians
from closedform.model.joints import (
    Cylindrical,
    Free,
    Helical,
    Mimic,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
    geometry,
)
from closedform.model.pose import pose
from closedform.model.robot import Body, Robot
from random_robots import KINDS, TABLE, random_joint, random_robot, random_state, robots, seeds

MOVING = tuple(name for name in KINDS if TABLE[name].nv)
GROUPS = tuple(name for name in MOVING if TABLE[name].twists)


@pytest.mark.parametrize("kind", GROUPS)
def test_S_is_the_body_twist_of_the_joints_motion(kind):
    rng = np.random.default_rng(1)
    joint = random_joint(kind, rng)
    q, v, h = Robot("r", [Body("b", None, joint)]).random(rng), rng.normal(size=joint.nv), 1e-6
    R, _ = joint.pose(q, NUMBERS)
    ahead, back = (joint.pose(joint.integrate(q, s * h * v), NUMBERS) for s in (1, -1))
    dR, dp = ((x - y) / (2 * h) for x, y in zip(ahead, back, strict=True))
    twist = joint.S @ v
    W = R.T @ dR
    np.testing.assert_allclose(R.T @ dp, twist[:3], atol=1e-8)
    np.testing.assert_allclose([W[2, 1], W[0, 2], W[1, 0]], twist[3:], atol=1e-8)


@pytest.mark.parametrize("kind", MOVING)
def test_a_motion_with_the_rates_of_q_has_the_twist_S_v(kind):
    """Complex step of the pose along q̇ = Γ(q) v, exact to rounding; S of the parts in a row."""
    rng = np.random.default_rng(2)
    joint = random_joint(kind, rng)
    q, v, h = joint.random(rng), rng.normal(size=joint.nv), 1e-30
    R, _ = joint.pose(q, NUMBERS)
    R_h, p_h = joint.pose(q + 1j * h * joint.rates(q, v, NUMBERS), NUMBERS)
    W, linear = R.T @ np.imag(R_h) / h, R.T @ np.imag(p_h) / h
    robot = Robot("r", [Body("b", None, joint)])
    twist = body_jacobians(robot, q)[0] @ v
    np.testing.assert_allclose(linear, twist[:3], atol=1e-14)
    np.testing.assert_allclose([W[2, 1], W[0, 2], W[1, 0]], twist[3:], atol=1e-14)


@pytest.mark.parametrize("kind", MOVING)
def test_velocities_undo_rates_for_unit_vectors_of_any_length(kind):
    rng = np.random.default_rng(3)
    joint = random_joint(kind, rng)
    q, v = joint.random(rng), rng.normal(size=joint.nv)
    dq = joint.rates(q, v, NUMBERS)
    np.testing.assert_allclose(joint.velocities(q, dq, NUMBERS), v, atol=1e-14)
    if joint.unit:
        q[joint.unit], dq[joint.unit] = 1.7 * q[joint.unit], 1.7 * dq[joint.unit]
        np.testing.assert_allclose(joint.velocities(q, dq, NUMBERS), v, atol=1e-14)


@pytest.mark.parametrize("kind", MOVING)
def test_rates_are_where_integrate_goes_to(kind):
    rng = np.random.default_rng(4)
    joint = random_joint(kind, rng)
    q, v, h = joint.random(rng), rng.normal(size=joint.nv), 1e-5
    ahead, back = joint.integrate(q, h * v), joint.integrate(q, -h * v)
    np.testing.assert_allclose((ahead - back) / (2 * h), joint.rates(q, v, NUMBERS), atol=1e-9)


@pytest.mark.parametrize("kind", MOVING)
def test_a_joint_is_its_parts_and_its_series_in_a_row(kind):
    rng = np.random.default_rng(5)
    joint = random_joint(kind, rng)
    q = joint.random(rng)
    expected = pose(*joint.pose(q, NUMBERS))
    for row in (joint.parts(), joint.series()):
        T, at = np.eye(4), 0
        for part in row:
            T = T @ pose(*part.pose(q[at:at + part.nq], NUMBERS))
            at += part.nq
        np.testing.assert_allclose(T, expected, atol=1e-15)
        assert sum(part.nv for part in row) == joint.nv


@pytest.mark.parametrize("kind", KINDS[:-1])
def test_axes_and_points_are_read_back_from_screws(kind):
    joint = random_joint(kind, np.random.default_rng(6))
    again = joint.with_screws([part.S.T for part in joint.parts()])
    for name, x in geometry(joint).items():
        if name == "point":  # any point of the axis will do
            axis = np.array(again.axis)
            x, y = (np.cross(p, axis) for p in (x, again.point))
            np.testing.assert_allclose(x, y, atol=1e-15)
        else:
            np.testing.assert_allclose(getattr(again, name), x, atol=1e-15)


@pytest.mark.parametrize("kind", GROUPS)
def test_S_is_made_of_unit_twists_of_the_joints_own_frame(kind):
    joint = random_joint(kind, np.random.default_rng(7))
    R, p = joint.frame[:3, :3], joint.frame[:3, 3]
    unit = np.eye(6)[:, list(joint.twists)]
    unit[2] += joint.advance
    turned = np.concatenate([R @ unit[:3] + np.cross(p, R @ unit[3:], axis=0), R @ unit[3:]])
    np.testing.assert_allclose(joint.S, turned, atol=1e-15)


@given(robots(), seeds)
def test_difference_undoes_integrate(robot, seed):
    q, v, _ = random_state(robot, seed)
    v = v / max(1, np.abs(v).max(initial=0))       # turns below π
    np.testing.assert_allclose(robot.difference(q, robot.integrate(q, v)), v, atol=1e-12)


@given(robots(), seeds)
def test_integrate_is_a_one_parameter_group(robot, seed):
    q, v, _ = random_state(robot, seed)
    twice = robot.integrate(robot.integrate(q, 0.3 * v), 0.5 * v)
    np.testing.assert_allclose(robot.difference(robot.integrate(q, 0.8 * v), twice), 0, atol=1e-12)


def test_tiny_and_zero_steps_are_exact():
    robot = Robot("r", [Body("a", None, Free()), Body("b", "a", Spherical()),
                        Body("c", "b", Planar())])
    q = robot.random(0)
    assert np.array_equal(robot.difference(q, q), np.zeros(robot.nv))
    for size in (1e-300, 1e-12, 1e-7, 1e-5, 2e-4, 1e-3, 2e-2):
        v = size * np.random.default_rng(1).normal(size=robot.nv)
        step = robot.difference(robot.neutral(), robot.integrate(robot.neutral(), v))
        np.testing.assert_allclose(step, v, rtol=1e-9)


def test_integrate_and_difference_take_batches_and_name_wrong_sizes():
    robot = random_robot(7)
    q, v = np.stack([robot.random(k) for k in range(4)]), np.ones(robot.nv)
    moved = robot.integrate(q, v)
    assert moved.shape == (4, robot.nq)
    np.testing.assert_array_equal(moved[2], robot.integrate(q[2], v))
    with pytest.raises(ArgumentError, match=r"dv must have the shape"):
        robot.integrate(q, v[1:])
    with pytest.raises(ArgumentError, match=r"difference of random7: q1 must be real numbers"):
        robot.difference(q, "no")


def test_integrate_agrees_with_pinocchio_on_free_and_spherical_and_planar_joints():
    pin = pytest.importorskip("pinocchio")
    rng = np.random.default_rng(3)
    pairs = ((Free(), pin.JointModelFreeFlyer()), (Spherical(), pin.JointModelSpherical()))
    for ours, theirs in pairs:
        model = pin.Model()
        model.addJoint(0, theirs, pin.SE3.Identity(), "j")
        robot = Robot("r", [Body("b", None, ours)])
        q, v = robot.random(rng), rng.normal(size=robot.nv)
        expected = pin.integrate(model, q, v)
        np.testing.assert_allclose(robot.integrate(q, v), expected, atol=1e-14)
        np.testing.assert_allclose(robot.difference(q, expected), v, atol=1e-13)
    model = pin.Model()
    model.addJoint(0, pin.JointModelPlanar(), pin.SE3.Identity(), "j")
    robot = Robot("r", [Body("b", None, Planar())])
    q, v = rng.normal(size=3), rng.normal(size=3)
    x, y, c, s = pin.integrate(model, np.array([q[0], q[1], math.cos(q[2]), math.sin(q[2])]), v)
    moved = robot.integrate(q, v)
    np.testing.assert_allclose([moved[0], moved[1], math.cos(moved[2]), math.sin(moved[2])],
                               [x, y, c, s], atol=1e-14)


def test_universal_is_one_turn_after_the_other():
    joint = Universal((1, 0, 0), (0, 1, 0))
    R, p = joint.pose(np.array([0.3, -0.8]), NUMBERS)
    expected = Rotation.from_euler("XY", [0.3, -0.8]).as_matrix()
    np.testing.assert_allclose(R, expected, atol=1e-15)
    assert not p.any()


def test_cylindrical_slides_first_and_turns_second_in_q():
    R, p = Cylindrical((0, 0, 2)).pose(np.array([0.4, math.pi / 2]), NUMBERS)
    np.testing.assert_allclose(p, [0, 0, 0.4])
    np.testing.assert_allclose(R @ [1, 0, 0], [0, 1, 0], atol=1e-15)


def test_a_screw_advances_by_its_pitch_per_radian():
    _, p = Helical((0, 0, 1), 0.1, (1, 0, 0)).pose(np.array([math.pi]), NUMBERS)
    np.testing.assert_allclose(p, [2, 0, 0.1 * math.pi], atol=1e-15)


def test_planar_with_normal_z_uses_x_and_y():
    R, p = Planar((0, 0, 1)).pose(np.array([1.0, 2.0, math.pi / 2]), NUMBERS)
    np.testing.assert_allclose(p, [1, 2, 0])
    np.testing.assert_allclose(R @ [1, 0, 0], [0, 1, 0], atol=1e-15)


@pytest.mark.parametrize("normal", [(0, 0, -1), (0, 0, 1), (0, 1, 0), (1, 2, -3), (1e-9, 0, -1)])
def test_planar_bases_are_right_handed_and_orthonormal(normal):
    B = Planar(normal).basis
    np.testing.assert_allclose(B.T @ B, np.eye(3), atol=1e-9)
    assert np.linalg.det(B) == pytest.approx(1)
    np.testing.assert_allclose(B[:, 2], np.array(normal) / np.linalg.norm(normal), atol=1e-9)


def test_axes_are_normalised_and_keywords_kept():
    joint = Revolute((0, 3, 4), name="elbow", lower=-1, upper=2, velocity=3, effort=4,
                     rotor_inertia=0.1, viscous=0.2, coulomb=0.3)
    assert joint.axis == (0.0, 0.6, 0.8)
    assert (joint.name, joint.lower, joint.upper, joint.rotor_inertia) == ("elbow", -1, 2, 0.1)


@pytest.mark.parametrize(("make", "message"), [
    (lambda: Revolute((0, 0, 0)), "other than zero"),
    (lambda: Revolute((0, 0)), "three numbers"),
    (lambda: Revolute((0, 0, math.nan)), "finite"),
    (lambda: Revolute("z"), "three numbers"),
    (lambda: Prismatic((math.inf, 0, 0)), "finite"),
    (lambda: Revolute((0, 0, 1), (1, 2)), "point must be three finite numbers"),
    (lambda: Helical((0, 0, 1), math.nan), "pitch must be a finite number"),
    (lambda: Universal((0, 0, 1), (0, 0, 2)), "must not be parallel"),
    (lambda: Revolute((0, 0, 1), lower=math.nan), "lower is not a number"),
    (lambda: Revolute((0, 0, 1), effort=-1), "effort must not be negative"),
    (lambda: Spherical(viscous=(1, 2)), "viscous must be one number or 3"),
    (lambda: Revolute((0, 0, 1), name=""), "non-empty text"),
    (lambda: Revolute((0, 0, 1), rotor_inertia="big"), "rotor_inertia must be a number"),
    (lambda: Mimic(Spherical(), of="a"), "Revolute, Prismatic or Helical"),
    (lambda: Mimic(Revolute((0, 0, 1)), of=3), "name of a body"),
    (lambda: Mimic(Revolute((0, 0, 1)), of="a", ratio=math.inf), "ratio must be a finite number"),
])
def test_impossible_joints_are_refused_with_the_reason(make, message):
    with pytest.raises(ModelError, match=message):
        make()


def test_a_lower_limit_above_the_upper_is_a_warning_to_who_makes_the_joint():
    with pytest.warns(cf.ModelWarning, match="Revolute joint 'j': the lower limit 2 is above the "
                                             "upper -2") as told:
        joint = cf.Revolute((0, 0, 1), name="j", lower=2, upper=-2)
    assert [Path(warning.filename) for warning in told] == [Path(__file__)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")          # once is enough
        robot = cf.Robot("r", [cf.Body("b", None, joint)])
        assert -2 <= robot.random(0)[0] <= 2
    with pytest.warns(cf.ModelWarning, match="limit 1 is above the upper 0"):
        cf.Universal((1, 0, 0), (0, 1, 0), lower=(0, 1), upper=(1, 0))


TOO_LARGE = 10**400


@pytest.mark.parametrize("make", [
    lambda x: cf.Revolute((x, 0, 0)), lambda x: cf.Revolute((0, 0, 1), (x, 0, 0)),
    lambda x: cf.Revolute((0, 0, 1), lower=x), lambda x: cf.Helical((0, 0, 1), x),
    lambda x: cf.Inertia(x), lambda x: cf.Inertia(1.0, (x, 0, 0)),
    lambda x: cf.Body("b", None, cf.Fixed(), x * np.eye(4, dtype=object)),
    lambda x: cf.load("planar2r").with_gravity((0, 0, x)),
    lambda x: cf.load("planar2r").with_parameters([x] * 20),
    lambda x: cf.Robot("r", [cf.Body("b", None, cf.Revolute((0, 0, 1)))],
                       configurations={"home": [x]})])
def test_integers_that_are_no_floats_are_refused_as_numbers(make):
    with pytest.raises(cf.ClosedformError, match=r"must be|finite"):
        make(TOO_LARGE)


@pytest.mark.parametrize("make", [cf.Revolute, lambda x: cf.Inertia(1.0, x),
                                  lambda x: cf.load("planar2r").with_gravity(x)])
def test_masks_are_refused_where_a_robot_is_made(make):
    with pytest.raises(cf.ClosedformError, match="must be"):
        make(np.ma.array([0.0, 0.0, 1.0], mask=[0, 1, 0]))
