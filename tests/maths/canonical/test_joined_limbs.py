"""Which unlike limbs share a position of the folded tree."""

import numpy as np
import pytest

import closedform as cf
from closedform.maths.canonical.frames import canonical
from closedform.maths.canonical.joined_limbs import MOST, in_turned_frames, joined
from closedform.maths.canonical.limbs import positions
from closedform.model.pose import pose
from limbed_robots import unlike_limbs

ROD = cf.Inertia(1.0, (0.1, 0.02, 0.03), np.diag([0.01, 0.02, 0.03]))
TURN = cf.Revolute((0, 0, 1))


def body(name, parent, joint=TURN):
    return cf.Body(name, parent, joint, pose(None, (0.1, 0.0, 0.2)), ROD)


def limbs(name, parents, length, joint=TURN):
    """A chain on each of the parents."""
    return [body(f"{name}{i}_{k}", f"{name}{i}_{k - 1}" if k else parent, joint)
            for i, parent in enumerate(parents) for k in range(length)]


def person(legs=3, arms=4, fingers=0, joint=TURN):
    """Two legs on a pelvis and two arms on a torso, some with fingers."""
    bodies = [cf.Body("pelvis", None, cf.Free(), inertia=ROD), body("torso", "pelvis", joint),
              *limbs("leg", ["pelvis"] * 2, legs), *limbs("arm", ["torso"] * 2, arms)]
    hands = [f"arm{i}_{arms - 1}" for i in range(2) for _ in range(fingers)]
    return cf.Robot("person", bodies + limbs("finger", hands, 1))


def side_by_side(robot):
    return joined(robot, positions(robot)).tree


def names(robot, at):
    return [robot.bodies[b].name for b in at.bodies]


def test_legs_and_arms_share_places_as_far_as_their_joints_agree():
    robot = person(joint=cf.Prismatic((0, 0, 1)))
    tree = side_by_side(robot)
    assert [len(at.bodies) for at in tree] == [1, 1, 4, 4, 4, 2]
    first, last = tree[2], tree[5]
    assert names(robot, first) == ["arm0_0", "arm1_0", "leg0_0", "leg1_0"]
    assert first.hangs == ((2, 0), (2, 0), (1, 0), (1, 0))
    assert last.hangs == ((5, 0), (5, 1)) and not any(at.hangs for at in tree[3:5])


@pytest.mark.parametrize("seed", range(12))
def test_every_lane_hangs_on_the_lane_of_its_parent(seed):
    robot = unlike_limbs(seed)
    tree = side_by_side(robot)
    assert sorted(b for at in tree for b in at.own) == list(range(len(robot.bodies)))
    assert any(at.hangs for at in tree)
    for number, at in enumerate(tree, start=1):
        assert len(at.bodies) in (1, 2, 4, 8)
        assert at.bodies[len(at.own):] == at.own[-1:] * at.copies
        for lane, b in enumerate(at.own):
            near = len(tree[at.parent - 1].bodies) if at.parent else 1
            p, k = at.hangs[lane] if at.hangs else (at.parent, lane * near // len(at.bodies))
            assert p < number and robot.parents[b] == (tree[p - 1].bodies[k] + 1 if p else 0)


def test_limbs_of_other_widths_leave_lanes_over():
    """Two arms beside a neck take three lanes of four, two legs beside four feelers six."""
    robot = cf.Robot("neck", [body("trunk", None), *limbs("arm", ["trunk"] * 2, 3),
                              *limbs("neck", ["trunk"], 2)])
    tree = side_by_side(robot)
    assert [(len(at.bodies), at.copies) for at in tree] == [(1, 0), (4, 1), (4, 1), (2, 0)]
    assert names(robot, tree[1]) == ["arm0_0", "arm1_0", "neck0_0", "neck0_0"]
    assert tree[1].hangs == ((1, 0),) * 3, "what copies find would be added up too"
    robot = cf.Robot("feelers", [body("trunk", None), *limbs("leg", ["trunk"] * 2, 2),
                                 *limbs("feeler", ["trunk"] * 4, 3)])
    assert [(len(at.bodies), at.copies) for at in side_by_side(robot)] == [
        (1, 0), (8, 2), (8, 2), (4, 0)]


def test_groups_go_on_within_their_lanes():
    """Hands of both arms, and toes of both legs, with two fingers each."""
    robot = person(3, 3, joint=cf.Prismatic((0, 0, 1)))
    ends = [f"{limb}{i}_2" for limb in ("arm", "leg") for i in range(2)]
    robot = cf.Robot("toes", [*robot.bodies, *limbs("end", [e for e in ends for _ in range(2)], 2)])
    tree = side_by_side(robot)
    assert [len(at.bodies) for at in tree] == [1, 1, 4, 4, 4, 8, 8]
    assert len(tree[5].limb) == 2 and not tree[5].hangs


@pytest.mark.parametrize("robot", [
    person(1, 1, joint=cf.Prismatic((0, 0, 1))), cf.load("panda"),
    cf.Robot("unlike", [body("trunk", None), *limbs("arm", ["trunk"] * 2, 3),
                        *limbs("slide", ["trunk"] * 2, 3, cf.Prismatic((0, 0, 1)))]),
    cf.Robot("wide", [body("trunk", None), *limbs("a", ["trunk"] * 8, 2),
                      *limbs("b", ["trunk"] * 2, 3)]),
], ids=str)
def test_what_saves_too_little_stays_as_it_is(robot):
    tree = positions(robot)
    assert joined(robot, tree) == (tree, frozenset())


def test_robots_with_followers_and_large_ones_stay_as_they_are():
    robot = person()
    follower = body("wheel", "pelvis", cf.Mimic(TURN, "torso", 2.0))
    tree = positions(coupled := cf.Robot("coupled", [*robot.bodies, follower]))
    assert joined(coupled, tree).tree == tree
    robot = person(MOST // 2, MOST // 2)
    assert joined(robot, tree := positions(robot)).tree == tree


def test_limbs_that_hang_on_each_other_do_not_share():
    """A limb on the second joint of another: side by side with the first they would wait for it."""
    robot = cf.Robot("chain", [body("trunk", None), *limbs("arm", ["trunk"] * 2, 3),
                               *limbs("finger", ["arm0_2", "arm0_2", "arm1_2", "arm1_2"], 3)])
    assert not any(at.hangs for at in side_by_side(robot))


def test_frames_are_turned_where_fewer_zeros_are_lost():
    """Legs whose frames stand a quarter about their axes differ from arms by that turn alone."""
    quarter = pose(np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]))
    tilt = pose(np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]))
    at_x, at_y = cf.Inertia(1.0, (0.2, 0, 0), np.eye(3)), cf.Inertia(1.0, (0, 0.2, 0), np.eye(3))
    legs = [cf.Body(f"leg{i}{k}", f"leg{i}{k - 1}" if k else "pelvis", TURN,
                    (quarter.T if k else np.eye(4)) @ tilt @ quarter, at_x)
            for i in range(2) for k in range(3)]
    arms = [cf.Body(f"arm{i}{k}", f"arm{i}{k - 1}" if k else "pelvis", cf.Revolute((0, 0, 1)),
                    tilt, at_y) for i in range(2) for k in range(5)]
    robot = cf.Robot("person", [cf.Body("pelvis", None, cf.Free(), inertia=ROD), *legs, *arms])
    tree, turned = joined(robot, positions(robot))
    assert {robot.bodies[b].name[:3] for b in turned} == {"leg"}
    seen = in_turned_frames(robot, turned)
    for place in tree[1:4]:
        T = np.stack([seen.bodies[b].inertia.first_moment for b in place.bodies])
        assert len({tuple(row != 0) for row in T}) == 1


@pytest.mark.parametrize("seed", range(6))
def test_a_robot_in_turned_frames_is_the_same_robot(seed):
    robot = canonical(cf.load("panda") if seed == 5 else unlike_limbs(seed)).robot
    rng = np.random.default_rng(seed)
    on_z = [k for k, b in enumerate(robot.bodies)
            if b.joint.nv == 1 and not np.any(b.joint.S[[0, 1, 3, 4]])]
    turned = frozenset(k for k in on_z if rng.random() < 0.6)
    assert turned
    seen = in_turned_frames(robot, turned)
    q, v, a = robot.random(rng), *rng.normal(size=(2, robot.nv))
    expected = cf.inverse_dynamics(robot, q, v, a)
    np.testing.assert_allclose(cf.inverse_dynamics(seen, q, v, a), expected, rtol=0,
                               atol=1e-12 * np.abs(expected).max())
