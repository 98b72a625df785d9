"""Canonical frames and regrouped mass leave every joint-space quantity as it is."""

import numpy as np
import pytest
from hypothesis import given

from closedform.maths import frames
from closedform.maths.canonical.frames import canonical, snapped
from closedform.maths.canonical.regrouping import pseudo_inertia, regrouped
from closedform.maths.definitions import closed_form
from closedform.model.inertia import Inertia
from closedform.model.joints import Cylindrical, Fixed, Helical, Mimic, Prismatic, Revolute
from closedform.model.pose import from_rpy, pose
from closedform.model.robot import Body, Robot
from closedform.model.zoo.zoo import NAMES, builtin
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
    form = canonical(snapped(builtin(name))[0])
    for body in form.robot.bodies:
        joint = body.joint.joint if isinstance(body.joint, Mimic) else body.joint
        if isinstance(joint, ON_Z):
            assert tuple(joint.axis) == (0, 0, 1)
        if name != "humanoid25":
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
