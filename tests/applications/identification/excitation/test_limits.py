"""Limits from the robot, from the user, and in words where there are none."""

import numpy as np
import pytest

import closedform as cf
from closedform.applications.identification.excitation.limits import Limits, room_of
from closedform.applications.identification.model import Model
from closedform.errors import ArgumentError, UnknownName


def arm(*joints):
    bodies = [cf.Body(f"b{k}", f"b{k - 1}" if k else None, joint,
                      inertia=cf.Inertia(1.0, (0.1, 0.0, 0.2), 0.1 * np.eye(3)))
              for k, joint in enumerate(joints)]
    return cf.Robot("arm", bodies)


def test_the_file_gives_the_limits_and_the_middle_the_start():
    robot = cf.load("panda")
    room = room_of(Model(robot), Limits(margin=0.9))
    np.testing.assert_allclose(room.start, (robot.lower + robot.upper) / 2)
    np.testing.assert_allclose(room.velocity, 0.9 * robot.velocity_limits)
    np.testing.assert_allclose(room.torque, 0.9 * robot.effort_limits)
    np.testing.assert_allclose(room.upper - room.lower, 0.9 * (robot.upper - robot.lower))
    np.testing.assert_allclose(room.acceleration, 0.9 * robot.velocity_limits / 0.2)
    assert any("acceleration" in note and "0.2 s" in note for note in room.notes)


def test_what_is_missing_is_said_in_words():
    room = room_of(Model(arm(cf.Revolute((0, 0, 1)), cf.Prismatic((1, 0, 0), velocity=0.0))),
                   Limits())
    np.testing.assert_allclose(room.full["upper"] - room.full["lower"], [2 * np.pi, 1.0])
    np.testing.assert_allclose(room.full["velocity"], [1.5, 0.25])
    said = " ".join(room.notes)
    for word in ("position of b0, b1", "velocity of b0, b1", "torque of b0, b1"):
        assert word in said


def test_a_joint_with_one_limit_stays_on_its_side():
    room = room_of(Model(arm(cf.Revolute((0, 0, 1), lower=-0.5))), Limits())
    assert room.full["lower"][0] == -0.5
    assert room.full["upper"][0] > room.home[0] >= -0.5


def test_a_mimic_joint_limits_the_one_it_follows():
    joints = (cf.Revolute((0, 0, 1), lower=-2, upper=2, velocity=2),
              cf.Mimic(cf.Revolute((0, 0, 1), lower=-1, upper=3, velocity=3), "b0", ratio=-2.0,
                       offset=0.5))
    room = room_of(Model(arm(*joints)), Limits(margin=1.0))
    np.testing.assert_allclose((room.lower[0], room.upper[0]), (-1.25, 0.75))
    np.testing.assert_allclose(room.velocity, [1.5])


def test_a_mimic_of_several_joints_is_not_driven_past_its_limits_by_all_of_them():
    joints = (cf.Revolute((0, 0, 1), lower=-2, upper=2, velocity=2),
              cf.Revolute((0, 0, 1), lower=-1, upper=1, velocity=1),
              cf.Mimic(cf.Revolute((0, 0, 1), lower=-2, upper=1.5, velocity=2),
                       {"b0": 1.0, "b1": -1.0}))
    room = room_of(Model(arm(*joints)), Limits(margin=1.0))
    np.testing.assert_allclose(room.lower, [-1.0, -0.5])
    np.testing.assert_allclose(room.upper, [1.0, 0.5])
    assert room.upper[0] - room.lower[1] <= 1.5 + 1e-12
    np.testing.assert_allclose(room.velocity, [4 / 3, 2 / 3])


def test_joints_without_plain_coordinates_and_the_base_stand_still():
    robot = arm(cf.Free(), cf.Spherical(), cf.Revolute((0, 1, 0), lower=-1, upper=1))
    room = room_of(Model(robot), Limits())
    assert room.at == (9,)
    assert any("b1[0]" in note for note in room.notes)
    assert any("floating base" in note for note in room.notes)


def test_limits_are_numbers_arrays_or_dictionaries():
    model = Model(cf.load("planar2r"))
    first = model.velocity_names[0]
    room = room_of(model, Limits((-1.0, [1.0, 2.0]), 3.0, {first: 4.0}, [5.0, 6.0], 1.0))
    np.testing.assert_allclose(room.lower, -1)
    np.testing.assert_allclose(room.upper, [1, 2])
    np.testing.assert_allclose(room.velocity, 3)
    np.testing.assert_allclose(room.acceleration, [4, 15])
    np.testing.assert_allclose(room.torque, [5, 6])
    room = room_of(model, Limits({first: (0.0, 1.0)}))
    assert (room.full["lower"][0], room.full["upper"][0]) == (0.0, 1.0)


@pytest.mark.parametrize(("wrong", "word"), [
    ({"margin": 0.0}, "margin"), ({"margin": 1.5}, "margin"), ({"clearance": -1}, "clearance"),
    ({"velocity": -1.0}, "velocity"), ({"velocity": [1.0, 2.0, 3.0]}, "velocity"),
    ({"torque": "much"}, "torque"), ({"position": 3.0}, "position"),
    ({"position": (1.0, -1.0)}, "lower limit"), ({"acceleration": 0.0}, "acceleration"),
    ({"velocity": float("nan")}, "velocity"),
])
def test_wrong_limits_are_refused_by_name(wrong, word):
    with pytest.raises(ArgumentError, match=word):
        room_of(Model(cf.load("planar2r")), Limits(**wrong))


def test_unknown_joints_and_starts_outside_are_refused():
    model = Model(cf.load("panda"))
    with pytest.raises(UnknownName, match="elbow"):
        room_of(model, Limits(velocity={"elbow": 1.0}))
    for start in (np.zeros(7), np.zeros(6), np.full(7, np.nan), model.robot.upper):
        with pytest.raises(ArgumentError, match="start"):
            room_of(model, Limits(), start)
