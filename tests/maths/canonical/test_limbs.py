"""Which bodies of a robot share a position of its folded tree."""

import numpy as np

import closedform as cf
from closedform.maths.canonical.limbs import is_folded, positions
from closedform.model.pose import pose

ROD = cf.Inertia(1.0, (0.1, 0.02, 0.03), np.diag([0.01, 0.02, 0.03]))


def body(name, parent, joint=None):
    return cf.Body(name, parent, joint or cf.Revolute((0, 0, 1)), pose(None, (0.1, 0.0, 0.2)), ROD)


def widths(robot):
    return [len(position.bodies) for position in positions(robot)]


def star(limbs, length=2):
    chains = [body(f"limb{i}_{k}", f"limb{i}_{k - 1}" if k else "trunk")
              for i in range(limbs) for k in range(length)]
    return cf.Robot("star", [body("trunk", None), *chains])


def test_an_arm_does_not_fold():
    assert not is_folded(positions(cf.load("panda")))


def test_limbs_are_taken_eight_four_two_or_one_at_a_time():
    assert widths(star(2)) == [1, 2, 2]
    assert widths(star(4)) == [1, 4, 4]
    assert widths(star(7)) == [1, 4, 4, 2, 2, 1, 1]
    assert widths(star(9)) == [1, 8, 8, 1, 1]


def test_every_body_has_one_lane_and_lanes_hang_on_the_lanes_of_their_parents():
    robot = star(7, 3)
    tree = positions(robot)
    assert sorted(k for at in tree for k in at.bodies) == list(range(len(robot.bodies)))
    for at in tree:
        if at.parent:
            above = tree[at.parent - 1].bodies
            share = len(at.bodies) // len(above)
            for lane, k in enumerate(at.bodies):
                assert robot.parents[k] - 1 == above[lane // share]


def test_fingers_of_two_arms_share_eight_lanes():
    arms = [body(f"arm{i}", "trunk") for i in range(2)]
    fingers = [body(f"finger{i}{j}", f"arm{i}") for i in range(2) for j in range(4)]
    robot = cf.Robot("hands", [body("trunk", None), *arms, *fingers])
    assert widths(robot) == [1, 2, 8]
    assert positions(robot)[2].limb == ((0, 2), (1, 4))


def test_limbs_of_other_joints_lengths_or_rotors_do_not_share():
    slide = cf.Prismatic((0, 0, 1))
    for other in (slide, cf.Revolute((0, 1, 0)), cf.Revolute((0, 0, 1), rotor_inertia=0.1)):
        robot = cf.Robot("unlike", [body("trunk", None), body("a", "trunk"),
                                    body("b", "trunk", other)])
        assert widths(robot) == [1, 1, 1]
    longer = cf.Robot("longer", [body("trunk", None), body("a", "trunk"), body("b", "trunk"),
                                 body("c", "b")])
    assert widths(longer) == [1, 1, 1, 1]


def test_limbs_with_mimic_joints_do_not_share():
    follower = cf.Mimic(cf.Revolute((0, 0, 1)), "a", 2.0)
    robot = cf.Robot("mimic", [body("trunk", None), body("a", "trunk"), body("b", "trunk"),
                               body("c", "trunk", follower)])
    assert widths(robot) == [1, 1, 1, 1]


def gripper(follower):
    """Two arms with two fingers each, which follow as `follower` says of an arm."""
    arms = [body(f"arm{i}", f"base{i}" if k else "trunk") if k else body(f"base{i}", "trunk")
            for i in range(2) for k in range(2)]
    fingers = [body(f"finger{i}{j}", f"arm{i}", follower(i)) for i in range(2) for j in range(2)]
    return cf.Robot("gripper", [body("trunk", None), *arms, *fingers])


def test_fingers_that_follow_their_arm_have_no_more_lanes_than_it():
    """What several of them give to one coordinate would have to be added up."""
    turn = cf.Revolute((0, 0, 1))
    assert widths(gripper(lambda i: turn)) == [1, 2, 2, 4]
    assert widths(gripper(lambda i: cf.Mimic(turn, f"arm{i}"))) == [1, 2, 2, 2, 2]
    assert widths(gripper(lambda i: cf.Mimic(turn, {f"arm{i}": 0.5, f"base{i}": 0.2}))) == [
        1, 2, 2, 2, 2]
    assert widths(gripper(lambda i: cf.Mimic(turn, "trunk"))) == [1] * 9


def test_mimics_of_several_joints_share_only_where_they_hang_on_all_of_them():
    turn = cf.Revolute((0, 0, 1))
    assert widths(gripper(lambda i: cf.Mimic(turn, {"arm0": 0.5, "arm1": 0.2}))) == [1] * 9


def test_long_chains_and_long_limbs_take_time_in_proportion_to_their_length():
    """A shape that was written out held those behind it again and again: 30 s at 25 joints."""
    def chain(name, parent, length):
        return [cf.Body(f"{name}{k}", f"{name}{k - 1}" if k else parent, cf.Revolute((0, 0, 1)))
                for k in range(length)]

    assert not is_folded(positions(cf.Robot("chain", chain("b", None, 2000))))
    trunk = cf.Body("trunk", None, cf.Free())
    robot = cf.Robot("long", [trunk, *chain("left", "trunk", 60), *chain("right", "trunk", 60)])
    assert [len(at.bodies) for at in positions(robot)] == [1, *[2] * 60]
