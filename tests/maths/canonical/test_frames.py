"""Canonical frames and regrouped mass leave every joint-space quantity as it is."""

import math

import numpy as np
import pytest
from hypothesis import given

from closedform.maths import frames
from closedform.maths.canonical.frames import FAR, canonical
from closedform.maths.canonical.regrouping import pseudo_inertia, regrouped
from closedform.maths.canonical.snapping import snapped
from closedform.maths.definitions import closed_form
from closedform.model.inertia import Inertia
from closedform.model.joints import Cylindrical, Fixed, Helical, Mimic, Prismatic, Revolute
from closedform.model.pose import from_rpy, pose
from closedform.model.robot import Body, Frame, Robot
from closedform.model.zoo.zoo import NAMES, builtin
from nearly_parallel_robots import nearly_parallel, turned
from random_robots import random_robot, random_state, robots, seeds

ON_Z = (Revolute, Prismatic, Helical, Cylindrical)


def moving(robot):
    return any(not isinstance(body.joint, Fixed) for body in robot.bodies)


def close(actual, expected):
    size = np.abs(expected).max(initial=1.0)
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-12 * size)


@given(robots(), seeds)
def test_joint_space_quantities_are_those_of_the_robot(robot, seed):
    if not moving(robot):
        return
    form = canonical(robot)
    q, v, a = random_state(robot, seed)
    p = q + form.offset
    close(closed_form.coriolis_matrix(form.robot, p, v), closed_form.coriolis_matrix(robot, q, v))
    for other in (form.robot, regrouped(form.robot)):
        close(closed_form.mass_matrix(other, p), closed_form.mass_matrix(robot, q))
        close(closed_form.inverse_dynamics(other, p, v, a),
              closed_form.inverse_dynamics(robot, q, v, a))
        close(closed_form.christoffel_coriolis_matrix(other, p, v),
              closed_form.christoffel_coriolis_matrix(robot, q, v))


def test_a_mimic_of_a_mimic_keeps_its_place():
    rng = np.random.default_rng(2)
    bodies = [
        Body(name, parent, joint, pose(from_rpy(*rng.normal(size=3)), rng.normal(size=3)),
             Inertia(1, rng.normal(size=3), np.eye(3)))
        for name, parent, joint in (
            ("a", None, Revolute((1, 2, 3))),
            ("b", "a", Mimic(Revolute((3, 1, 1)), "a", -1.7, 0.3)),
            ("c", "b", Mimic(Revolute((1, 0, 2)), "b", 0.6, -0.2)),
            ("d", "a", Mimic(Prismatic((1, 0, 2)), "c", 2.0, 0.1)))]
    robot = Robot("r", bodies)
    form, q = canonical(robot), np.array([0.7])
    close(closed_form.mass_matrix(regrouped(form.robot), q + form.offset),
          closed_form.mass_matrix(robot, q))
    for name in robot.body_names:
        close(frames.frame_pose(form.robot, q + form.offset, name),
              frames.frame_pose(robot, q, name))


@given(robots(), seeds)
def test_the_users_frames_are_frames_of_the_canonical_robot(robot, seed):
    if not moving(robot):
        return
    form = canonical(robot)
    q, _, _ = random_state(robot, seed)
    for name in (*robot.body_names, "tool"):
        close(frames.frame_pose(form.robot, q + form.offset, name),
              frames.frame_pose(robot, q, name))


@pytest.mark.parametrize("name", NAMES)
def test_every_axis_is_z_and_placements_of_tidy_arms_have_zeros_and_ones(name):
    """Arms of delta stand 120 degrees apart, and the humanoid's file is not tidy."""
    form = canonical(snapped(builtin(name))[0])
    for body in form.robot.bodies:
        joint = body.joint.joint if isinstance(body.joint, Mimic) else body.joint
        if isinstance(joint, ON_Z):
            assert tuple(joint.axis) == (0, 0, 1)
        if name not in ("humanoid25", "delta"):
            assert set(np.abs(body.placement[:3, :3]).ravel()) <= {0.0, 1.0}


def test_regrouping_leaves_no_mass_on_the_axes():
    form = regrouped(canonical(builtin("panda")).robot)
    for body in form.bodies:
        P = pseudo_inertia(body.inertia)
        assert (P[3, 3], P[2, 3], P[2, 2]) == (0, 0, 0)


def test_snapping_makes_a_rounded_quarter_turn_exact_and_tells():
    robot = Robot("r", [Body("a", None, Revolute((0, 0, 1)), pose(from_rpy(1.57079632679, 0, 0)),
                             Inertia(1, (1, 0, 0)))])
    tidy, notes = snapped(robot)
    assert set(np.abs(tidy.bodies[0].placement[:3, :3]).ravel()) == {0.0, 1.0}
    assert len(notes) == 1
    assert notes[0].startswith("a: placement changed by 4.9e-12")


def test_snapping_leaves_what_is_not_within_the_tolerance():
    robot = Robot("r", [Body("a", None, Revolute((0, 0, 1)), pose(from_rpy(1.5708, 0, 0)))])
    tidy, notes = snapped(robot)
    assert notes == ()
    np.testing.assert_array_equal(tidy.bodies[0].placement, robot.bodies[0].placement)


def body_at(T):
    return Robot("r", [Body("a", None, Revolute((0, 0, 1)), T)])


@pytest.mark.parametrize("tilt", [1e-12, 9e-10, 1.1e-9, 3e-9, 1e-8, 6e-8, 1e-7])
def test_a_tilt_is_snapped_as_a_whole_or_kept(tilt):
    rng = np.random.default_rng(3)
    for _ in range(30):
        T = turned(np.eye(4), rng.normal(size=3), tilt)
        tidy = snapped(body_at(T), 1e-9)[0].bodies[0].placement
        small = np.abs(T - np.eye(4)).max() < 1e-9
        np.testing.assert_array_equal(tidy, np.eye(4) if small else T)


@pytest.mark.parametrize("exponent", range(-13, -8))
def test_a_tilt_that_no_file_wrote_by_rounding_is_kept_unless_told(exponent):
    rng = np.random.default_rng(4)
    for digit in range(1, 10):
        for about in (*np.eye(3), rng.normal(size=3)):
            for R in (np.eye(3), from_rpy(math.pi / 2, 0, 0), from_rpy(0, 0, 1)):
                T = turned(pose(R), about, digit * 10.0**exponent)
                assert snapped(body_at(T))[1] == ()


@pytest.mark.parametrize("decimals", range(9, 16))
def test_quarter_turns_of_nine_decimals_or_more_are_made_exact(decimals):
    half, quarter = round(math.pi, decimals), round(math.pi / 2, decimals)
    for rpy in ((quarter, 0, 0), (0, -quarter, half), (-quarter, quarter, quarter), (quarter, 0, 1),
                (0.3, 0, quarter), (half, 0, quarter), (0, half, -half)):
        R = snapped(body_at(pose(from_rpy(*rpy))))[0].bodies[0].placement[:3, :3]
        assert np.all((np.abs(R) == 0) | (np.abs(R) > 0.1))
        np.testing.assert_allclose(R, from_rpy(*rpy), rtol=0, atol=2e-9)


def test_a_quarter_turn_of_eight_decimals_is_kept():
    T = pose(from_rpy(round(math.pi / 2, 8), 0, 0))
    np.testing.assert_array_equal(snapped(body_at(T))[0].bodies[0].placement, T)


def test_axes_and_frames_that_were_snapped_are_told():
    frame = Frame("tool", "a", turned(np.eye(4), (1, 0, 0), 2e-11))
    robot = Robot("r", [Body("a", None, Mimic(Revolute((3e-12, 0, 1)), "b")),
                        Body("b", None, Revolute((0, 0, 1)), pose(None, (1, 4e-13, 0)))],
                  frames=[frame])
    tidy, notes = snapped(robot, 1e-9)
    assert notes == ("a: axis changed by 3.0e-12", "b: placement changed by 4.0e-13",
                     "tool: placement changed by 2.0e-11")
    assert tidy.bodies[0].joint.joint.axis == (0, 0, 1)
    assert snapped(robot)[1] == snapped(robot, 0)[1] == ()


def test_an_axis_that_misses_by_a_rounded_quarter_turn_is_made_exact():
    axis = (math.cos(1.57079632679), 0, 1)
    robot = Robot("r", [Body("a", None, Revolute(axis))])
    assert snapped(robot)[0].bodies[0].joint.axis == (0, 0, 1)


def test_offsets_of_a_robot_of_micrometres_are_not_snapped():
    T = pose(None, (1e-6, 5e-13, 0))
    robot = Robot("r", [Body("a", None, Revolute((0, 0, 1)), T)])
    for tolerance in (None, 1e-9):
        tidy = snapped(robot, tolerance)[0]
        np.testing.assert_array_equal(tidy.bodies[0].placement, T)


@pytest.mark.parametrize("tilt", [0.0, *(10.0**k for k in range(-15, 0))])
def test_no_frame_lies_far_outside_the_robot(tilt):
    for seed in range(10):
        robot = nearly_parallel(seed, tilt)
        way = {None: 0.0}
        for body in robot.bodies:
            step = np.linalg.norm(body.placement[:3, 3]) if body.parent else 0.0
            way[body.name] = way[body.parent] + step + np.linalg.norm(
                getattr(body.joint, "point", 0.0))
        size, form = max(way.values()), canonical(robot).robot
        for body in form.bodies:
            if body.parent is not None:
                assert np.linalg.norm(body.placement[:3, 3]) <= (2 * FAR + 1) * size


def test_a_robot_far_from_the_worlds_origin_keeps_its_frames_at_hand():
    arm, base = builtin("ur5"), pose(from_rpy(np.pi / 2, 0, 0), (1e4, 2e4, 300))
    first, *others = arm.bodies
    first = Body(first.name, None, first.joint, base @ first.placement, first.inertia)
    robot = Robot("r", [first, *others], arm.gravity)
    q = robot.random(4)
    form = canonical(robot)
    expected = closed_form.mass_matrix(arm, q)
    error = closed_form.mass_matrix(regrouped(form.robot), q + form.offset) - expected
    assert np.abs(error).max() < 1e-14 * np.abs(expected).max()


def test_what_turns_about_the_axis_is_kept_however_small_it_is():
    """A needle that turns about itself: I_zz is 1e-18 of I_xx."""
    needle = Inertia(1, (0, 0, 0.5), np.diag([0.1, 0.1, 1e-19]))
    robot = Robot("r", [Body("arm", None, Revolute((0, 1, 0)), inertia=Inertia(1, (1, 0, 0))),
                        Body("needle", "arm", Revolute((0, 0, 1)), pose(None, (1, 0, 0)), needle)])
    form = canonical(robot)
    M = closed_form.mass_matrix(regrouped(form.robot), form.offset)
    assert M[1, 1] == pytest.approx(1e-19, rel=1e-15)


def test_potential_mass_fixed_to_the_world_is_dropped_without_changing_torques():
    robot = Robot("r", [Body("post", None, Fixed(), inertia=Inertia(5)),
                        Body("arm", "post", Revolute((0, 1, 0)), inertia=Inertia(1, (1, 0, 0)))])
    form = canonical(robot)
    assert len(form.robot.bodies) == 1
    close(closed_form.gravity_torque(form.robot, 0.3 + form.offset),
          closed_form.gravity_torque(robot, [0.3]))


def test_a_random_robot_of_helical_joints_keeps_its_pitch():
    robot = random_robot(4, ("helical",), bodies=4)
    form = canonical(robot)
    assert {body.joint.pitch for body in form.robot.bodies} == {b.joint.pitch for b in robot.bodies}
    assert not form.offset.any()
