"""MJCF robots against MuJoCo itself."""

import builtins

import numpy as np
import pytest

from closedform.errors import ClosedformError, FormatError, MissingDependency
from closedform.maths.definitions.closed_form import inverse_dynamics, mass_matrix
from closedform.maths.frames import frame_pose
from closedform.model.formats.mjcf import read_mjcf
from closedform.model.joints import Free, Mimic, Prismatic, Revolute, Spherical

mujoco = pytest.importorskip("mujoco")

EXACT = 1e-12  # MuJoCo normalises quaternions and diagonalises tensors


def document(world, rest="", model="test"):
    return f'<mujoco model="{model}"><worldbody>{world}</worldbody>{rest}</mujoco>'


INERTIAL = '<inertial pos=".1 .02 -.05" mass="{m}" fullinertia=".3 .25 .2 .02 .03 -.01"/>'


def link(name, joints, m, inside="", place='pos=".1 .2 .3" euler="20 30 40"'):
    return f'<body name="{name}" {place}>{joints}{INERTIAL.format(m=m)}{inside}</body>'


HINGE = '<joint name="{n}" type="hinge" axis="1 2 3" pos=".1 -.2 .3" ref="25"/>'
SLIDE = '<joint name="{n}" type="slide" axis="0 1 1" ref=".2"/>'
BALL = '<joint name="{n}" type="ball" pos="{p}"/>'

ARM = document(link("a", HINGE.format(n="h"), 2, '<site name="s" pos="0 0 1"/>' +
               link("b", SLIDE.format(n="t"), 1.5) +
               link("c", '<joint name="w" axis="0 0 1" armature=".3" damping=".4" '
                    'frictionloss=".5" range="-10 20" actuatorfrcrange="-30 40"/>', 1)))
SEVERAL = document(link("a", HINGE.format(n="x") + SLIDE.format(n="y") + '<joint axis="0 1 0"/>', 2,
                        link("b", "", 1, link("c", HINGE.format(n="z"), 1.5))))
BALLS = document(link("a", BALL.format(n="p", p="0 0 0"), 2,
                      link("b", BALL.format(n="o", p=".1 .2 .3"), 1,
                           link("c", HINGE.format(n="h"), 1))))
FREE = document(link("a", '<freejoint name="root"/>', 2, link("b", HINGE.format(n="h"), 1,
                link("c", BALL.format(n="o", p=".1 0 0"), 1))))

MODELS = {"arm": ARM, "several": SEVERAL, "balls": BALLS, "free": FREE}


def states(model, seed=0):
    """A random state of MuJoCo's, filled into its data."""
    rng = np.random.default_rng(seed)
    data = mujoco.MjData(model)
    v = rng.normal(size=model.nv)
    mujoco.mj_integratePos(model, data.qpos, rng.normal(size=model.nv), 1.0)
    data.qvel[:] = v
    mujoco.mj_forward(model, data)
    return data


def converted(model, data):
    """Our q and v, G = ∂v/∂qvel and dG qvel.

    Quaternions wxyz become xyzw; a free joint's linear velocity goes from the world to the body.
    """
    q, G, dGv = data.qpos.copy(), np.eye(model.nv), np.zeros(model.nv)
    for j in range(model.njnt):
        at, dof = model.jnt_qposadr[j], model.jnt_dofadr[j]
        kind = mujoco.mjtJoint(model.jnt_type[j])
        if kind == mujoco.mjtJoint.mjJNT_FREE:
            at += 3
            R = np.zeros(9)
            mujoco.mju_quat2Mat(R, data.qpos[at:at + 4])
            G[dof:dof + 3, dof:dof + 3] = R.reshape(3, 3).T
            linear = R.reshape(3, 3).T @ data.qvel[dof:dof + 3]
            dGv[dof:dof + 3] = -np.cross(data.qvel[dof + 3:dof + 6], linear)
        if kind in (mujoco.mjtJoint.mjJNT_FREE, mujoco.mjtJoint.mjJNT_BALL):
            q[at:at + 4] = np.roll(data.qpos[at:at + 4], -1)
    return q, G @ data.qvel, G, dGv


def full_mass_matrix(model, data):
    columns = []
    for e in np.eye(model.nv):
        column = np.zeros(model.nv)
        mujoco.mj_mulM(model, data, column, e)
        columns.append(column)
    return np.stack(columns, axis=1)


@pytest.mark.parametrize("text", MODELS.values(), ids=MODELS)
def test_mass_matrix_and_bias_are_mujocos(text):
    model, robot = mujoco.MjModel.from_xml_string(text), read_mjcf(text)
    assert (robot.nq, robot.nv) == (model.nq, model.nv)
    for seed in range(3):
        data = states(model, seed)
        q, v, G, dGv = converted(model, data)
        M = full_mass_matrix(model, data)
        np.testing.assert_allclose(G.T @ mass_matrix(robot, q) @ G, M, atol=EXACT * np.abs(M).max())
        tau = G.T @ inverse_dynamics(robot, q, v, dGv)
        np.testing.assert_allclose(tau, data.qfrc_bias, atol=100 * EXACT)


@pytest.mark.parametrize("text", MODELS.values(), ids=MODELS)
def test_poses_of_bodies_and_sites_are_mujocos(text):
    model, robot = mujoco.MjModel.from_xml_string(text), read_mjcf(text)
    data = states(model)
    q, *_ = converted(model, data)
    for kind, count in (("body", model.nbody), ("site", model.nsite)):
        for i in range(kind == "body", count):
            seen = getattr(data, kind)(i)
            T = frame_pose(robot, q, seen.name)
            np.testing.assert_allclose(T[:3, 3], seen.xpos, atol=EXACT)
            np.testing.assert_allclose(T[:3, :3].ravel(), seen.xmat, atol=EXACT)


def test_a_body_with_several_joints_is_a_chain_of_massless_bodies():
    robot = read_mjcf(SEVERAL)
    assert robot.body_names == ("a/x", "a/y", "a", "c")
    assert [type(b.joint) for b in robot.bodies] == [Revolute, Prismatic, Revolute, Revolute]
    assert [b.inertia.mass for b in robot.bodies] == [0, 0, 3, 1.5]
    assert robot.frame("b").body == "a"


def test_a_ball_joint_off_the_origin_keeps_the_bodys_frame():
    robot = read_mjcf(BALLS)
    assert robot.body_names == ("a", "b/o", "c")
    assert [type(b.joint) for b in robot.bodies] == [Spherical, Spherical, Revolute]
    np.testing.assert_allclose(robot.frame("b").placement[:3, 3], [-0.1, -0.2, -0.3])


def test_joint_properties_are_read():
    robot = read_mjcf(ARM)
    joint = robot.body("c").joint
    assert (joint.name, joint.rotor_inertia, joint.viscous, joint.coulomb) == ("w", 0.3, 0.4, 0.5)
    assert joint.effort == 40
    np.testing.assert_allclose([joint.lower, joint.upper], np.radians([-10, 20]))
    plain = robot.body("b").joint
    assert (plain.rotor_inertia, plain.viscous, plain.lower, plain.effort) == (None,) * 4


def test_gravity_is_the_options():
    on, off = '<option gravity="1 2 3"/>', '<option><flag gravity="disable"/></option>'
    for option, expected in ((on, [1, 2, 3]), (off, [0, 0, 0])):
        robot = read_mjcf(ARM.replace("<worldbody>", option + "<worldbody>"))
        np.testing.assert_array_equal(robot.gravity, expected)


def test_right_angles_are_exact():
    place = 'pos="0 0 1" euler="90 0 90"'
    robot = read_mjcf(document(link("a", '<joint axis="1 2 3"/>', 1, place=place)))
    assert set(np.abs(robot.bodies[0].placement[:3, :3]).ravel()) == {0.0, 1.0}


def test_a_body_that_is_nearly_straight_stays_a_rotation():
    """The cosine of 1e-6 rad is 5e-13 below 1."""
    robot = read_mjcf(document(link("a", '<joint axis="1 2 3"/>', 1, place='quat="1 5e-7 0 0"')))
    R = robot.bodies[0].placement[:3, :3]
    np.testing.assert_allclose(R[2, 1], 1e-6, rtol=1e-9)
    np.testing.assert_allclose(R.T @ R, np.eye(3), rtol=0, atol=4e-16)


def test_unnamed_bodies_and_sites_named_as_bodies_do_not_collide():
    text = document('<body><joint/><geom size=".1"/><body name="x"><joint/><geom size=".1"/>'
                    '<site name="x"/><site/></body></body>')
    robot = read_mjcf(text)
    assert robot.body_names == ("body1", "x")
    assert robot.frame_names == ("x/site",)


# ---------------------------------------------------------------------- floating
ROOTED = document(link("a", "", 2, link("b", HINGE.format(n="h"), 1)))


def test_a_floating_root_is_mujocos_free_joint():
    same = document(link("a", '<freejoint name="root"/>', 2, link("b", HINGE.format(n="h"), 1)))
    ours, theirs = read_mjcf(ROOTED, floating=True), read_mjcf(same)
    assert isinstance(ours.bodies[0].joint, Free)
    q = ours.random(1)
    np.testing.assert_array_equal(mass_matrix(ours, q), mass_matrix(theirs, q))
    assert read_mjcf(ROOTED).frame("a").body is None


@pytest.mark.parametrize(("text", "words"), [
    (FREE, "root body a has a joint already"),
    (ARM, "root body a has a joint already"),
    (document(link("a", "", 1) + link("b", "", 1)), "one root body, the model has 2: a, b"),
])
def test_only_one_root_body_without_a_joint_is_floated(text, words):
    with pytest.raises(FormatError, match=words):
        read_mjcf(text, floating=True)


# ---------------------------------------------------------------------- equalities
def coupled(equality):
    return document(link("a", HINGE.format(n="h"), 2, link("b", SLIDE.format(n="t"), 1.5)),
                    f"<equality>{equality}</equality>")


def test_a_linear_joint_equality_is_a_mimic_joint():
    text = coupled('<joint joint1="t" joint2="h" polycoef=".1 .7 0 0 0"/>')
    model, robot = mujoco.MjModel.from_xml_string(text), read_mjcf(text)
    assert isinstance(robot.body("b").joint, Mimic)
    assert robot.joint_names == ("h",)
    data = mujoco.MjData(model)
    q = 0.3
    slide = 0.2 + 0.1 + 0.7 * (q - np.radians(25))  # ref of t, polycoef, ref of h
    data.qpos[:] = q, slide
    mujoco.mj_forward(model, data)
    E = np.array([[1], [0.7]])
    M = E.T @ full_mass_matrix(model, data) @ E
    np.testing.assert_allclose(mass_matrix(robot, np.array([q])), M, rtol=EXACT)
    np.testing.assert_allclose(frame_pose(robot, np.array([q]), "b")[:3, 3], data.body("b").xpos,
                               atol=EXACT)


def test_an_equality_of_one_joint_holds_it_still():
    robot = read_mjcf(coupled('<joint joint1="t" polycoef=".1 0 0 0 0"/>'))
    free = read_mjcf(coupled(""))
    assert robot.joint_names == ("h",)
    np.testing.assert_allclose(frame_pose(robot, np.array([0.5]), "b"),
                               frame_pose(free, np.array([0.5, 0.3]), "b"), atol=EXACT)


def test_an_inactive_equality_changes_nothing():
    robot = read_mjcf(coupled('<weld body1="b" active="false"/>'))
    assert robot.joint_names == ("h", "t")


@pytest.mark.parametrize(("equality", "words"), [
    ('<joint name="e" joint1="t" joint2="h" polycoef="0 1 2 0 0"/>', "equality 'e' is not linear"),
    ('<weld name="e" body1="b"/>', "the weld equality 'e' closes a loop"),
    ('<connect name="e" body1="b" anchor="0 0 0"/>', "the connect equality 'e' closes a loop"),
    ('<joint joint1="t" joint2="h"/><joint joint1="t"/>', "two equalities act on the joint 't'"),
])
def test_equalities_that_are_no_tree_are_refused_by_name(equality, words):
    with pytest.raises(FormatError, match=words):
        read_mjcf(coupled(equality))


# ---------------------------------------------------------------------- faults
@pytest.mark.parametrize("text", [
    "<mujoco", "<robot/>", "<mujoco><worldbody><body/></worldbody></mujoco>", "<mujoco/>",
    document('<body><joint/><geom type="mesh" mesh="m"/></body>',
             '<asset><mesh name="m" file="missing.obj"/></asset>'),
    document(link("a", '<joint type="screw"/>', 1)),
])
def test_faults_are_one_line_of_ours(text):
    with pytest.raises(FormatError) as caught:
        read_mjcf(text)
    assert "\n" not in str(caught.value)


def test_a_file_is_compiled_from_its_place(tmp_path):
    (tmp_path / "part.xml").write_text(ARM.replace('model="test"', ""))
    (tmp_path / "whole.xml").write_text('<mujoco><include file="part.xml"/></mujoco>')
    robot = read_mjcf(tmp_path / "whole.xml")
    assert (robot.name, robot.body_names) == ("whole", ("a", "b", "c"))
    with pytest.raises(ClosedformError, match=r"nothing\.xml"):
        read_mjcf(tmp_path / "nothing.xml")


def test_without_mujoco_the_error_says_what_to_install(monkeypatch):
    real = builtins.__import__

    def without(name, *rest):
        if name == "mujoco":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingDependency, match=r"pip install closedform\[mujoco\]"):
        read_mjcf(ARM)
