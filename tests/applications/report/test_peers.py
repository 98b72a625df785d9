"""The peers get the robot that we have: rotors, couplings, the MJCF that it came from."""

from dataclasses import replace

import numpy as np
import pytest

import closedform as cf
from closedform.applications.report.certificates import agreements
from closedform.applications.report.peers import own_model, peers
from example_urdfs import FILES

pytest.importorskip("pinocchio")
mujoco = pytest.importorskip("mujoco")

SEVERAL = """<mujoco model="several"><compiler angle="radian"/>
<default><joint armature="0.3"/></default><worldbody>
<body name="cart" pos="0 0 1"><joint name="x" type="slide" axis="1 0 0"/>
<joint name="y" type="slide" axis="0 1 0"/><joint name="turn" axis="0 0 1" pos="0.1 0 0" ref="0.4"/>
<geom size=".1" mass="2" pos="0.1 0.2 0"/>
<body name="upper" pos="0.4 0 0"><joint name="follower" axis="0 1 0"/>
<geom size=".1" mass="1" pos="0.1 0 0.2"/>
<body name="lower" pos=".2 0 0"><joint name="driver" axis="1 0 0"/>
<geom size=".05" mass=".4" pos="0 .1 0"/></body></body></body></worldbody>
<equality><joint joint1="follower" joint2="driver" polycoef="0.1 -2 0 0 0"/></equality></mujoco>"""
LOOSE = """<mujoco model="loose"><worldbody><body name="base" pos="0 0 1">
<geom size=".1" mass="2" pos="0.1 0.2 0"/><body name="arm" pos="0.4 0 0">
<joint name="ball" type="ball"/><geom size=".1" mass="1" pos="0.1 0 0.2"/></body></body></worldbody>
</mujoco>"""


def residuals(robot, origin=""):
    """What the peers that take the robot differ by, by name; and why others do not."""
    found, reasons = peers(robot, origin)
    certificates = agreements(robot, cf.compile(robot), found, {})
    told = dict(zip([peer.name for peer in found], certificates, strict=True))
    return {name: c.residual for name, c in told.items()}, reasons


def with_rotors(robot, inertia=0.3):
    return replace(robot, bodies=tuple(
        replace(b, joint=replace(b.joint, rotor_inertia=inertia)) for b in robot.bodies))


def test_rotor_inertias_reach_both_peers():
    found, _ = residuals(with_rotors(cf.load("ur5")))
    assert set(found) == {"Pinocchio", "MuJoCo"} and max(found.values()) < 1e-13


def test_a_mimic_listed_before_its_driver_is_compared_with_both():
    found, reasons = residuals(cf.load(SEVERAL), SEVERAL)
    assert not reasons and max(found.values()) < 1e-13


def test_bodies_with_several_joints_go_to_mujoco_as_their_own_model(tmp_path):
    """Also where the robot is given, and its file is found by its source."""
    file = tmp_path / "several.xml"
    file.write_text(SEVERAL, encoding="utf8")
    found, _ = residuals(cf.load(file))
    assert found["MuJoCo"] < 1e-13


@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("kind", ["MjModel", "MjSpec"])
def test_objects_of_mujoco_are_compared_with_themselves_and_not_written_to(kind, floating):
    text = (LOOSE if floating else SEVERAL).replace('<joint name="x"', '<joint stiffness="3" '
                                                    'name="x"')
    spec = mujoco.MjSpec.from_string(text)
    given = spec if kind == "MjSpec" else spec.compile()
    if floating and kind == "MjModel":
        assert own_model(cf.load(given, floating=True), given) is None      # has no free joint
        return
    robot = cf.load(given, floating=floating)
    own = own_model(robot, given)
    assert own is not given and own.njnt == spec.compile().njnt + floating
    found, _ = residuals(robot, given)
    assert found["MuJoCo"] < 1e-13
    if kind == "MjModel":
        assert given.opt.disableflags == 0 and (floating or given.jnt_stiffness.max() == 3)


def test_a_robot_that_was_edited_is_not_taken_for_its_file(tmp_path):
    file = tmp_path / "loose.xml"
    file.write_text(LOOSE, encoding="utf8")
    robot = cf.load(file)
    assert own_model(robot, str(file)) is not None
    heavier = robot.with_parameters(2 * np.asarray(robot.parameters))
    assert own_model(heavier, str(file)) is None
    assert own_model(cf.load("ur5"), "") is None


def test_the_floating_mjcf_has_a_free_joint_in_mujoco_too():
    found, reasons = residuals(cf.load(LOOSE, floating=True), LOOSE)
    assert found["MuJoCo"] < 1e-13
    assert "no spherical joint" in reasons["Pinocchio"]


@pytest.mark.parametrize("robot", [
    cf.Robot("free", [cf.Body("b", None, cf.Free(rotor_inertia=(1, 2, 3, 1, 1, 1)),
                              inertia=cf.Inertia(1, (0, 0, 0), np.eye(3)))]),
    cf.Robot("planar", [cf.Body("b", None, cf.Planar(rotor_inertia=(1, 2, 1)),
                                inertia=cf.Inertia(1, (0, 0, 0), np.eye(3)))])], ids=str)
def test_rotors_in_turning_axes_are_not_compared_with_the_reason(robot):
    found, reasons = peers(robot)
    assert not found and set(reasons) == {"Pinocchio", "MuJoCo"}
    assert "axes that turn" in reasons["Pinocchio"]


def test_a_peers_own_error_is_put_into_words():
    massless = cf.load('<robot name="r"><link name="l"/><link name="m"/><joint name="j" '
                       'type="continuous"><parent link="l"/><child link="m"/></joint></robot>')
    _, reasons = peers(massless)
    assert reasons["MuJoCo"] == "it takes no moving body without mass or inertia"


@pytest.mark.parametrize("file", [f for f in FILES if f.name == "panda.urdf"], ids=str)
def test_grippers_of_files_are_compared_with_both(file):
    found, reasons = residuals(cf.load(file))
    assert not reasons and max(found.values()) < 1e-12


def test_springs_reach_mujoco_and_pinocchio_says_that_it_has_none():
    arm = cf.load("ur5")
    sprung = replace(arm, bodies=tuple(replace(b, joint=replace(
        b.joint, stiffness=30.0, spring_reference=0.2)) for b in arm.bodies))
    found, reasons = residuals(sprung)
    assert found["MuJoCo"] < 1e-13
    assert reasons["Pinocchio"] == "Pinocchio has no springs in joints"


def test_the_spring_of_a_floating_base_reaches_mujoco():
    rest = (0.1, 0.2, 0.3, 0.5, -0.5, 0.5, 0.5)
    base = cf.Body("base", None, cf.Free(stiffness=3.0, spring_reference=rest),
                   inertia=cf.Inertia(2.0, (0.1, 0, 0), np.eye(3)))
    found, _ = residuals(cf.Robot("buoy", [base]))
    assert found["MuJoCo"] < 1e-12
    stiff = replace(base, joint=cf.Free(stiffness=(1, 2, 3, 4, 4, 4)))
    assert "one stiffness" in residuals(cf.Robot("buoy", [stiff]))[1]["MuJoCo"]


def test_carried_weights_are_not_compared_without_the_mjcf_that_they_came_from():
    arm = cf.load("ur5")
    found, reasons = peers(replace(arm, bodies=tuple(
        replace(b, gravity_compensation=0.5) for b in arm.bodies)))
    assert not found and all("gravity compensation" in reason for reason in reasons.values())
