"""MJCF robots against MuJoCo itself."""

import builtins

import numpy as np
import pytest

from closedform.errors import ClosedformError, FormatError, MissingDependency
from closedform.maths.definitions.closed_form import inverse_dynamics, mass_matrix
from closedform.maths.frames import frame_pose
from closedform.model.formats.mjcf.read import read_mjcf
from closedform.model.joints import Free, Prismatic, Revolute, Spherical
from mjcf_models import (
    ARM,
    BALLS,
    EXACT,
    FREE,
    HINGE,
    MODELS,
    SEVERAL,
    converted,
    document,
    full_mass_matrix,
    link,
    states,
)

mujoco = pytest.importorskip("mujoco")

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


# ---------------------------------------------------------------------- springs
SPRINGS = document(
    link("a", '<joint name="h" axis="1 2 3" ref="25" stiffness="7" springref="40"/>', 2,
         link("b", '<joint name="t" type="slide" axis="0 1 1" stiffness="30"/>'
              '<joint name="u" axis="0 1 0" stiffness="2" springref="-10"/>', 1.5)
         + link("c", "", 1, place='pos="0 0 1" gravcomp=".25"')
         + link("d", '<joint name="o" type="ball" pos=".1 0 0"/>', 1, place='gravcomp="1"'),
         place='pos=".1 .2 .3" gravcomp=".5"'))


def test_springs_and_gravity_compensation_are_mujocos():
    model, robot = mujoco.MjModel.from_xml_string(SPRINGS), read_mjcf(SPRINGS)
    assert robot.body("a").joint.stiffness == 7
    assert robot.body("a").joint.spring_reference == pytest.approx(np.radians(40))
    for seed in range(3):
        data = states(model, seed)
        q, v, G, dGv = converted(model, data)
        passive = data.qfrc_spring + data.qfrc_gravcomp
        assert np.abs(data.qfrc_spring).min(initial=1, where=model.dof_bodyid < 3) > 0
        assert np.abs(data.qfrc_gravcomp).max() > 0.1
        tau = G.T @ inverse_dynamics(robot, q, v, dGv)
        np.testing.assert_allclose(tau, data.qfrc_bias - passive, atol=100 * EXACT)


def test_what_the_options_switch_off_is_not_read():
    joint = '<joint axis="1 0 0" stiffness="1" damping="2" frictionloss="3"/>'
    for flag, keyword in (("spring", "stiffness"), ("damper", "viscous"),
                          ("frictionloss", "coulomb")):
        text = document(link("a", joint, 1))
        assert getattr(read_mjcf(text).body("a").joint, keyword)
        option = f'<option><flag {flag}="disable"/></option>'
        off = read_mjcf(text.replace("<worldbody>", option + "<worldbody>"))
        assert getattr(off.body("a").joint, keyword) is None


# ---------------------------------------------------------------------- actuators
def driven(*actuators, joint='<joint name="w" axis="0 0 1"/>'):
    text = document(link("a", joint, 1), f"<actuator>{''.join(actuators)}</actuator>")
    return read_mjcf(text).body("a").joint


@pytest.mark.parametrize(("actuators", "effort"), [
    (['<motor joint="w" gear="-3" ctrlrange="-2 1"/>'], 6),
    (['<motor joint="w" gear="3" forcerange="-2 1"/>'], 6),
    (['<motor joint="w" gear="3" ctrlrange="-2 2" forcerange="-1 1"/>'], 3),
    (['<general joint="w" gainprm="5" ctrlrange="-2 2"/>'], 10),
    (['<position joint="w" kp="100" ctrlrange="-2 2"/>'], None),
    (['<position joint="w" kp="100" ctrlrange="-2 2" forcerange="-7 7"/>'], 7),
    (['<motor joint="w" ctrlrange="-2 2"/>', '<motor joint="w" ctrlrange="-3 3"/>'], 5),
    (['<motor joint="w" ctrlrange="-2 2"/>', '<motor joint="w"/>'], None),
])
def test_the_limits_of_actuators_are_limits_of_effort(actuators, effort):
    assert driven(*actuators).effort == effort


def test_the_joints_own_limit_of_force_counts_too():
    joint = '<joint name="w" axis="0 0 1" actuatorfrcrange="-4 4"/>'
    assert driven('<motor joint="w" ctrlrange="-9 9"/>', joint=joint).effort == 4
    assert driven('<motor joint="w" ctrlrange="-3 3"/>', joint=joint).effort == 3


@pytest.mark.skipif(not hasattr(mujoco.MjModel, "actuator_armature"), reason="an older MuJoCo")
def test_armature_and_damping_of_an_actuator_belong_to_its_joint():
    joint = driven('<motor joint="w" gear="3" armature="2" damping=".5"/>')
    assert (joint.rotor_inertia, joint.viscous) == (18, 4.5)
    tendon = '<tendon><fixed name="t"><joint joint="w" coef="1"/></fixed></tendon>'
    motor = '<actuator><motor name="m" tendon="t" armature="2"/></actuator>'
    text = document(link("a", '<joint name="w" axis="0 0 1"/>', 1), tendon + motor)
    with pytest.raises(FormatError, match="the actuator 'm' has an armature of 2"):
        read_mjcf(text)


# ---------------------------------------------------------------------- keyframes
KEYS = ('<keyframe><key name="home" qpos="1 2 3 0 2 0 0 .5 0 0 0 3"/>'
        '<key qpos="0 0 0 1 0 0 0 0 1 0 0 0"/></keyframe>')


def test_keyframes_are_configurations():
    robot = read_mjcf(FREE.replace("</mujoco>", KEYS + "</mujoco>"))
    assert list(robot.configurations) == ["home", "key1"]
    home = robot.configurations["home"]
    np.testing.assert_array_equal(home, [1, 2, 3, 1, 0, 0, 0, 0.5, 0, 0, 1, 0])


def test_keyframes_have_no_coordinates_of_joints_that_are_coupled_or_held():
    equality = '<equality><joint joint1="b" joint2="a"/><joint joint1="d"/></equality>'
    chain = ""
    for name in "dcba":
        chain = link(name, f'<joint name="{name}" axis="0 0 1"/>', 1, chain)
    robot = read_mjcf(document(chain, equality + '<keyframe><key qpos="1 2 3 4"/></keyframe>'))
    np.testing.assert_array_equal(robot.configurations["key0"], [1, 3])


def test_a_root_that_is_freed_stands_in_keyframes_where_the_file_has_it():
    text = document(link("a", "", 2, link("b", '<joint axis="0 0 1"/>', 1),
                         place='pos="1 2 3" quat="0 1 0 0"'),
                    '<keyframe><key name="home" qpos=".5"/></keyframe>')
    home = read_mjcf(text, floating=True).configurations["home"]
    np.testing.assert_array_equal(home, [1, 2, 3, 1, 0, 0, 0, 0.5])


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


# ---------------------------------------------------------------------- faults
@pytest.mark.parametrize("text", [
    "<mujoco", "<robot/>", "<mujoco/>",
    document('<body><joint/><geom type="mesh" mesh="m"/></body>',
             '<asset><mesh name="m" file="missing.obj"/></asset>'),
    document(link("a", '<joint type="screw"/>', 1)),
])
def test_faults_are_one_line_of_ours(text):
    with pytest.raises(FormatError) as caught:
        read_mjcf(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("world", ["<body/>", link("a", "", 1), ""])
def test_where_nothing_moves_the_error_says_what_to_do(world):
    with pytest.raises(FormatError, match=r"no joint moves.*floating=True"):
        read_mjcf(document(world))


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
