"""States of SRDF files as configurations of the robot."""

import warnings
from importlib.metadata import distribution
from pathlib import Path

import numpy as np
import pytest

from closedform.errors import ArgumentError, FormatError, ModelWarning
from closedform.model.load import load

MASS = ('<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
        "</inertial>")
URDF = '<robot name="r">' + "".join(f'<link name="l{k}">{MASS}</link>' for k in range(5)) + "".join(
    f'<joint name="j{k}" type="{kind}"><parent link="l{k - 1}"/><child link="l{k}"/>'
    f'<axis xyz="0 0 1"/>{extra}</joint>' for k, kind, extra in (
        (1, "continuous", ""), (2, "continuous", ""), (3, "fixed", ""),
        (4, "continuous", '<mimic joint="j2"/>'))) + "</robot>"
SRDF = """<robot name="r"><virtual_joint name="to_world" type="floating"/>
  <group name="arm"><joint name="j1"/></group>
  <group_state name="home" group="arm"><joint name="j1" value="0.5"/>
    <joint name="to_world" value="1 2 3 0 0 0 1.0001"/></group_state>
  <group_state name="home" group="hand"><joint name="j2" value="-0.25"/>
    <joint name="j3" value="0"/><joint name="j4" value="-0.25"/></group_state>
  <group_state name="up" group="arm"><joint name="j1" value="1"/></group_state></robot>"""


def test_states_of_one_name_are_one_configuration_and_other_joints_are_at_zero():
    configurations = load(URDF, srdf=SRDF).configurations
    assert list(configurations) == ["home", "up"]
    np.testing.assert_array_equal(configurations["home"], [0.5, -0.25])
    np.testing.assert_array_equal(configurations["up"], [1, 0])


def test_the_joint_to_the_world_is_the_floating_base_by_its_name_in_the_file():
    robot = load(URDF, floating=True, srdf=SRDF)
    home = robot.configurations["home"]
    np.testing.assert_allclose(home, [1, 2, 3, 0, 0, 0, 1, 0.5, -0.25], rtol=1e-15)


def test_a_path_may_be_given(tmp_path):
    path = tmp_path / "r.srdf"
    path.write_text(SRDF)
    for given in (path, str(path)):
        assert list(load(URDF, srdf=given).configurations) == ["home", "up"]


def test_joints_that_the_robot_has_not_are_told_in_one_warning():
    text = SRDF.replace("</robot>", '<group_state name="x" group="arm"><joint name="n1" value="1"/>'
                        '<joint name="n2" value="2"/></group_state></robot>')
    with pytest.warns(ModelWarning, match="joints that r does not move: n1, n2"):
        robot = load(URDF, srdf=text)
    np.testing.assert_array_equal(robot.configurations["x"], [0, 0])


WRONG = {
    "two numbers": ('value="0.5"', 'value="0.5 1"', "<text>:3: joint 'j1' needs 1 finite numbers"),
    "no number": ('value="0.5"', 'value="x"', "joint 'j1' needs 1 finite numbers, not 'x'"),
    "no rotation": ("0 0 0 1.0001", "0 0 0 2", "of a rotation have the length 1"),
    "two values": ('"hand"><joint name="j2"', '"hand"><joint name="j1"', "two states 'home' have"),
    "another root": ("robot", "srdf", "root element of SRDF is <robot>, not <srdf>"),
    "a name": ('name="up"', 'name="u&#10;p"', "control character"),
}


@pytest.mark.parametrize("old, new, message", WRONG.values(), ids=WRONG)
def test_a_state_that_is_none_is_refused_with_its_line(old, new, message):
    with pytest.raises(FormatError, match=message):
        load(URDF, floating=True, srdf=SRDF.replace(old, new))


def test_what_is_no_srdf_is_refused():
    with pytest.raises(ArgumentError, match="srdf must be a path or XML text"):
        load(URDF, srdf=3)
    with pytest.raises(FormatError, match="there is no such file"):
        load(URDF, srdf="absent.srdf")


FOLDER = Path(str(distribution("example-robot-data").locate_file(
    "cmeel.prefix/share/example-robot-data/robots")))
REAL = {"talos_data": "talos_full_v2.urdf", "panda_description": "panda.urdf",
        "anymal_b_simple_description": "anymal.urdf", "go2_description": "go2.urdf",
        "romeo_description": "romeo.urdf"}


@pytest.mark.parametrize("folder, urdf", REAL.items(), ids=REAL)
def test_states_of_real_robots_are_those_that_pinocchio_reads(folder, urdf):
    pinocchio = pytest.importorskip("pinocchio")
    srdf = sorted((FOLDER / folder / "srdf").glob("*.srdf"))[0]
    (path,) = (FOLDER / folder).rglob(urdf)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        robot = load(path, floating=True, srdf=srdf)
    model = pinocchio.buildModelFromUrdf(str(path), pinocchio.JointModelFreeFlyer())
    pinocchio.loadReferenceConfigurations(model, str(srdf), False)
    theirs = {item.key(): item.data() for item in model.referenceConfigurations}
    assert set(robot.configurations) == set(theirs) != set()
    for name, q in robot.configurations.items():
        for joint, at in robot.q_slices.items():
            k = model.getJointId(joint)
            there = theirs[name][model.idx_qs[k]:model.idx_qs[k] + model.nqs[k]]
            if len(there) == 2 and at.stop - at.start == 1:
                there = [np.arctan2(there[1], there[0])]
            np.testing.assert_allclose(q[at], there, rtol=0, atol=1e-9)
