"""Robots: trees, names, coordinates, parameters, reductions."""

import pickle

import numpy as np
import pytest
from hypothesis import given

from closedform.errors import ArgumentError, ClosedformError, ModelError, UnknownName
from closedform.maths import frames, kinematics
from closedform.maths.definitions import closed_form
from closedform.model.inertia import Inertia
from closedform.model.joints import Fixed, Free, Mimic, Prismatic, Revolute, Spherical
from closedform.model.robot import Body, Frame, Robot
from random_robots import random_inertia, random_robot, random_state, robots, seeds

Z = (0, 0, 1)


def test_coordinates_follow_the_bodies_and_names_follow_the_joints():
    robot = Robot("r", [Body("base", None, Free(name="root")), Body("arm", "base", Revolute(Z)),
                        Body("tip", "arm", Fixed()),
                        Body("ball", "arm", Spherical(name="ball_joint"))])
    assert (robot.nq, robot.nv) == (12, 10)
    assert robot.joint_names == ("root", "arm", "ball_joint")
    assert robot.q_slices["ball_joint"] == slice(8, 12)
    assert robot.v_slices["ball_joint"] == slice(7, 10)
    np.testing.assert_array_equal(robot.neutral(), [0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1])
    assert "floating base" in repr(robot)


def test_several_roots_hang_from_the_world():
    robot = Robot("two", [Body("a", None, Revolute(Z), inertia=Inertia(1, (1, 0, 0))),
                          Body("b", None, Prismatic(Z), inertia=Inertia(2))])
    np.testing.assert_allclose(closed_form.mass_matrix(robot, [0.3, 1.0]), np.diag([1.0, 2.0]))


@given(robots(), seeds)
def test_random_coordinates_are_valid(robot, seed):
    q = robot.random(seed)
    for body, i, _ in robot.parts:
        if body.joint.nq in (4, 7):
            assert np.linalg.norm(q[i][-4:]) == pytest.approx(1)


def test_random_coordinates_keep_the_limits_and_repeat_with_the_seed():
    robot = Robot("r", [Body("a", None, Revolute(Z, lower=0.5, upper=0.6)),
                        Body("b", "a", Prismatic(Z, lower=3))])
    q = np.array([robot.random(k) for k in range(50)])
    assert q[:, 0].min() >= 0.5
    assert q[:, 0].max() <= 0.6
    assert q[:, 1].min() >= 3
    np.testing.assert_array_equal(robot.random(7), robot.random(7))
    np.testing.assert_array_equal(robot.lower, [0.5, 3])
    np.testing.assert_array_equal(robot.upper, [0.6, np.inf])


@given(robots(), seeds)
def test_with_parameters_gives_back_the_same_robot(robot, seed):
    q, v, a = random_state(robot, seed)
    again = robot.with_parameters(robot.parameters)
    np.testing.assert_array_equal(again.parameters, robot.parameters)
    assert len(robot.parameter_names) == len(robot.parameters)
    np.testing.assert_allclose(closed_form.inverse_dynamics(again, q, v, a),
                               closed_form.inverse_dynamics(robot, q, v, a), atol=1e-12)


def test_parameter_names_tell_body_entry_and_rotor():
    robot = Robot("r", [Body("a", None, Revolute(Z, name="j1", rotor_inertia=0.1)),
                        Body("b", "a", Revolute(Z))])
    assert robot.parameter_names[:3] == ("a.m", "a.mcx", "a.mcy")
    assert robot.parameter_names[13] == "b.mcz"
    assert robot.parameter_names[20:] == ("j1.rotor",)
    assert robot.parameters[20] == 0.1


@given(robots(), seeds)
def test_a_reduced_robot_moves_as_the_whole_with_those_joints_held(robot, seed):
    q, _, _ = random_state(robot, seed)
    rng = np.random.default_rng(seed)
    names = [name for name in robot.joint_names if rng.random() < 0.5]
    if len(names) == len(robot.joint_names):
        names = names[1:]
    less = robot.reduced({name: q[robot.q_slices[name]] for name in names})
    def entries(slices):
        return np.concatenate([np.zeros(0, int), *(np.r_[slices[n]] for n in less.joint_names)])
    keep_q, keep_v = entries(robot.q_slices), entries(robot.v_slices)
    M = closed_form.mass_matrix(robot, q)[np.ix_(keep_v, keep_v)]
    np.testing.assert_allclose(closed_form.mass_matrix(less, q[keep_q]), M, atol=1e-11)
    g = closed_form.gravity_torque(robot, q)[keep_v]
    np.testing.assert_allclose(closed_form.gravity_torque(less, q[keep_q]), g, atol=1e-11)
    np.testing.assert_allclose(frames.frame_pose(less, q[keep_q], "tool"),
                               frames.frame_pose(robot, q, "tool"), atol=1e-12)


def test_locking_the_driver_locks_its_mimics():
    robot = Robot("pair", [Body("a", None, Revolute(Z), inertia=Inertia(1, (1, 0, 0))),
                           Body("b", "a", Mimic(Revolute(Z), of="a", ratio=2, offset=0.1),
                                inertia=Inertia(1, (1, 0, 0))),
                           Body("c", "b", Revolute(Z), inertia=Inertia(1, (1, 0, 0)))])
    held = robot.reduced({"a": 0.4})
    assert held.joint_names == ("c",)
    np.testing.assert_allclose(frames.frame_pose(held, [0.2], "c"),
                               frames.frame_pose(robot, [0.4, 0.2], "c"), atol=1e-15)


def test_a_payload_is_a_body_fixed_at_the_frame():
    robot = random_robot(9)
    load = random_inertia(np.random.default_rng(4))
    fixed = Robot("loaded", [*robot.bodies, Body("load", robot.frames[0].body, Fixed(),
                                                 robot.frames[0].placement, load)], robot.gravity)
    q, v, a = random_state(robot)
    np.testing.assert_allclose(
        closed_form.inverse_dynamics(robot.with_payload(load, at="tool"), q, v, a),
        closed_form.inverse_dynamics(fixed, q, v, a), atol=1e-11)


def test_mimics_of_mimics_multiply_and_may_come_first():
    robot = Robot("chain", [
        Body("c", None, Mimic(Prismatic(Z), of="b", ratio=3, offset=1)),
        Body("b", None, Mimic(Prismatic(Z), of="a", ratio=2, offset=0.5)),
        Body("a", None, Prismatic(Z), inertia=Inertia(1))])
    heights = kinematics.poses(robot, [0.2])[:, 2, 3]
    np.testing.assert_allclose(heights, [3 * (2 * 0.2 + 0.5) + 1, 2 * 0.2 + 0.5, 0.2])


def test_robots_pickle():
    robot = random_robot(12)
    again = pickle.loads(pickle.dumps(robot))
    q, v, a = random_state(robot)
    np.testing.assert_allclose(closed_form.inverse_dynamics(again, q, v, a),
                               closed_form.inverse_dynamics(robot, q, v, a), atol=1e-12)


def test_records_are_frozen():
    robot = random_robot(1)
    with pytest.raises(AttributeError):
        robot.name = "other"
    with pytest.raises(ValueError, match="read-only"):
        robot.bodies[0].placement[0, 0] = 2


def body(name="a", parent=None, joint=None, **more):
    return Body(name, parent, joint or Revolute(Z), **more)


@pytest.mark.parametrize(("make", "message"), [
    (lambda: Robot("r", []), "no bodies"),
    (lambda: Robot("", [body()]), "non-empty text"),
    (lambda: Robot("r", [body(), body()]), "two bodies are named 'a'"),
    (lambda: Robot("r", [body("a", "x")]), "parent 'x' is no body"),
    (lambda: Robot("r", [body("a", "b"), body("b")]), "comes after it"),
    (lambda: Robot("r", [body()], gravity=(0, 0)), "gravity must be three"),
    (lambda: Robot("r", [body()], gravity=(0, 0, float("nan"))), "gravity must be three"),
    (lambda: Robot("r", [body()], gravity="down"), "gravity must be three"),
    (lambda: Robot("r", ["a"]), "cf.Body"),
    (lambda: Robot("r", [body()], frames=[Frame("a", "a")]), "taken twice"),
    (lambda: Robot("r", [body()], frames=[Frame("t", "x")]), "'x' is no body"),
    (lambda: Robot("r", [body(joint=Mimic(Revolute(Z), of="x"))]), "mimics 'x', which is no body"),
    (lambda: Robot("r", [body(joint=Mimic(Revolute(Z), of="a"))]), "in a circle"),
    (lambda: Robot("r", [body("s", None, Spherical()), body("a", "s", Mimic(Revolute(Z), of="s"))]),
     "does not have one coordinate"),
    (lambda: Robot("r", [body("a", None, Revolute(Z, name="j")),
                         body("b", "a", Revolute(Z, name="j"))]),
     "two joints are named 'j'"),
    (lambda: body(placement=np.eye(3)), "4x4 pose"),
    (lambda: body(placement=2 * np.eye(4)), "no rigid pose"),
    (lambda: body(placement=np.full((4, 4), np.nan)), "not finite"),
    (lambda: body(placement=np.diag([1.0, 1, -1, 1])), "det R = -1"),
    (lambda: body(inertia=3), "cf.Inertia"),
    (lambda: Body("a", None, "hinge"), "joint must be a joint"),
])
def test_impossible_robots_are_refused_with_the_reason(make, message):
    with pytest.raises(ModelError, match=message):
        make()


def test_unknown_names_and_wrong_sizes_are_told():
    robot = random_robot(3)
    with pytest.raises(UnknownName, match="no body 'x' in random3; there are b0"):
        robot.body("x")
    with pytest.raises(UnknownName, match="no moving joint 'x'"):
        robot.reduced({"x": 0})
    with pytest.raises(ArgumentError, match="finite numbers to be locked at"):
        robot.reduced({robot.joint_names[0]: np.nan})
    with pytest.raises(ArgumentError, match="parameters must have the shape"):
        robot.with_parameters(np.zeros(3))
    with pytest.raises(ArgumentError, match="carries no payload"):
        robot.with_frames(Frame("post", None)).with_payload(Inertia(1), at="post")


@pytest.mark.parametrize(("wrong", "message"), [
    (lambda r: Robot("r", None), "bodies must be a sequence of cf.Body records, not None"),
    (lambda r: Robot("r", r.bodies, frames=5), "frames must be a sequence of cf.Frame records"),
    (lambda r: Frame("t", ["b0"]), "frame 't': body must be a body's name or None"),
    (lambda r: r.integrate(np.zeros((2, r.nq)), np.zeros((3, r.nv))), "batch axes do not fit"),
    (lambda r: r.difference(np.zeros((2, r.nq)), np.zeros((3, r.nq))), "batch axes do not fit"),
    (lambda r: r.random("x"), "rng must be a NumPy generator"),
    (lambda r: r.random(-1), "rng must be a NumPy generator"),
    (lambda r: r.reduced(3), "locked must map names of joints"),
    (lambda r: r.reduced("b0"), "locked must map names of joints"),
    (lambda r: r.reduced({r.joint_names[0]: "x"}), "finite numbers to be locked at, not 'x'"),
    (lambda r: closed_form.mass_matrix(r, [None] * r.nq), "q must be numbers of shape"),
])
def test_arguments_of_a_wrong_kind_get_our_errors(wrong, message):
    with pytest.raises(ClosedformError, match=message):
        wrong(random_robot(3))


def test_the_tip_is_the_deepest_of_bodies_and_frames():
    """A URDF always has its root link as a frame of the world, which no joint moves."""
    chain = [Body("upper", None, Revolute((0, 0, 1))),
             Body("lower", "upper", Revolute((0, 1, 0)))]
    assert Robot("r", chain, frames=[Frame("base", None)]).tip == "lower"
    tool = [Frame("tool", "lower"), Frame("base", None), Frame("elbow", "upper")]
    assert Robot("r", chain, frames=tool).tip == "tool"
    assert Robot("r", chain).tip == "lower"


# ---------------------------------------------------------------------- configurations
def with_home():
    return Robot("r", [Body("base", None, Free()), Body("a", "base", Revolute(Z)),
                       Body("b", "a", Spherical()), Body("c", "b", Prismatic(Z))],
                 configurations={"home": [1, 2, 3, 0, 0, 0, 1, 0.5, 0, 0, 1, 0, 0.25]})


def test_configurations_have_names_and_cannot_be_written():
    home = with_home().configurations["home"]
    assert home.shape == (13,)
    with pytest.raises(ValueError, match="read-only"):
        home[0] = 2


def test_configurations_stay_with_their_joints():
    robot = with_home()
    np.testing.assert_array_equal(robot.reduced(["b"]).configurations["home"],
                                  [1, 2, 3, 0, 0, 0, 1, 0.5, 0.25])
    same = [robot.with_gravity((0, 0, 1)), robot.with_payload(Inertia(1.0), "c"),
            robot.with_frames(Frame("f", "c")), robot.with_parameters(robot.parameters),
            pickle.loads(pickle.dumps(robot))]
    for other in same:
        np.testing.assert_array_equal(other.configurations["home"], robot.configurations["home"])


@pytest.mark.parametrize("given", [{"home": [1, 2]}, {"home": [np.nan]}, {"home": "x"}, [1.0],
                                   {3: [1.0]}, {"a\nb": [1.0]}])
def test_configurations_that_are_none_are_refused(given):
    with pytest.raises(ModelError, match="configuration"):
        Robot("r", [Body("a", None, Revolute(Z))], configurations=given)
