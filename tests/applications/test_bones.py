"""Pictures of loops: bodies are drawn to the points where loops close, rods from ball to ball."""

import numpy as np

import closedform as cf
from closedform.applications.bones import bone_ends, bones, cut_points, rods


def test_both_bodies_of_a_pin_are_drawn_to_one_point():
    robot = cf.load("four_bar")
    places = np.concatenate([np.eye(4)[None], cf.poses(robot, robot.neutral())])
    own = [bone_ends(places, x)[1] for x in bones(robot) if x.a == x.b]
    assert [x.a for x in bones(robot) if x.a == x.b] == [2, 3] and len(cut_points(robot)) == 1
    np.testing.assert_allclose(own[0], own[1], atol=1e-12)


def test_a_platform_hangs_on_its_rods_and_not_on_the_world():
    robot = cf.load("delta")
    platform = robot.body_names.index("platform") + 1
    assert not any(x.a == 0 and x.b == platform for x in bones(robot))
    assert sum(x.a == x.b == platform for x in bones(robot)) == 6 and not robot.is_floating


def test_rods_without_mass_are_drawn_at_their_length():
    hinge = cf.Revolute((0, 0, 1))
    robot = cf.Robot("r", [cf.Body("a", None, hinge, inertia=cf.Inertia(1.0)),
                           cf.Body("b", None, hinge, inertia=cf.Inertia(1.0))],
                     loops=[cf.Rod("rod", ("a", (0.3, 0, 0)), ("b", (0.2, 0, 0)), 0.2)],
                     guess={"a": 0.0, "b": 0.7})
    places = np.concatenate([np.eye(4)[None], cf.poses(robot, robot.neutral())])
    start, end = bone_ends(places, rods(robot)[0])
    assert abs(np.linalg.norm(end - start) - 0.2) < 1e-9 and len(cut_points(robot)) == 2
