"""xacro files: expanded with the package, with arguments, and told about without it."""

import sys

import pytest

from closedform.errors import ArgumentError, ClosedformError, FormatError, MissingDependency
from closedform.model.lint.lint import lint
from closedform.model.load import load

ARM = """<?xml version="1.0"?>
<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="links" default="2"/>
  <xacro:arg name="length" default="0.5"/>
  <xacro:property name="m" value="${2 * 0.75}"/>
  <xacro:macro name="segment" params="k">
    <link name="l${k}"><inertial><origin xyz="0 0 ${$(arg length) / 2}"/><mass value="${m}"/>
      <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
    <joint name="j${k}" type="revolute"><parent link="l${k - 1}"/><child link="l${k}"/>
      <origin xyz="0 0 $(arg length)"/><axis xyz="0 1 0"/>
      <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
    <xacro:if value="${k &lt; $(arg links)}"><xacro:segment k="${k + 1}"/></xacro:if>
  </xacro:macro>
  <link name="l0"/>
  <xacro:segment k="1"/>
</robot>
"""


@pytest.fixture
def arm(tmp_path):
    path = tmp_path / "arm.urdf.xacro"
    path.write_text(ARM)
    return path


def needs_xacro():
    pytest.importorskip("xacro", reason="the extra xacro is not installed")


def test_a_xacro_file_is_expanded(arm):
    needs_xacro()
    robot = load(arm)
    assert (robot.name, robot.joint_names, robot.mass) == ("arm", ("j1", "j2"), 3.0)
    assert robot.body("l2").placement[2, 3] == 0.5
    assert lint(arm) == []


def test_arguments_are_mappings(arm):
    needs_xacro()
    robot = load(arm, mappings={"links": 4, "length": 0.25})
    assert robot.nv == 4 and robot.body("l2").placement[2, 3] == 0.25


def test_a_program_is_expanded_whatever_the_file_is_called(arm, tmp_path):
    needs_xacro()
    path = tmp_path / "arm.urdf"
    path.write_text(ARM)
    assert load(path).nv == 2


def test_packages_are_found_beside_the_file(tmp_path, monkeypatch):
    needs_xacro()
    own, other, far = (tmp_path / name for name in ("ws/folder", "ws/parts", "far/hands"))
    for folder in (own / "urdf", other, far):
        folder.mkdir(parents=True)
    (own / "package.xml").write_text("<package><name>arms</name></package>")
    (own / "urdf" / "m.xacro").write_text(ARM.replace('<link name="l0"/>', "").replace(
        '<xacro:segment k="1"/>', ""))
    (other / "base.xacro").write_text('<robot><link name="l0"/></robot>')
    (far / "none.xacro").write_text("<robot/>")
    text = """<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">
      <xacro:include filename="$(find arms)/urdf/m.xacro"/>
      <xacro:include filename="$(find parts)/base.xacro"/>
      <xacro:include filename="$(find hands)/none.xacro"/><xacro:segment k="1"/></robot>"""
    path = own / "urdf" / "robot.xacro"
    path.write_text(text)
    with pytest.raises(FormatError, match="xacro says: the package 'hands' is not beside"):
        load(path)
    (finding,) = lint(path)
    assert finding.rule == "xacro"
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path / "far"))
    assert load(path).nv == 2
    assert "ament_index_python" not in sys.modules


WRONG = {
    "an expression": ("${2 * 0.75}", "${2 * nobody}"),
    "no XML": ("</robot>", ""),
    "an absent file": ('<link name="l0"/>', '<xacro:include filename="absent.xacro"/>'),
    "a DOCTYPE": ('<robot name="arm"', '<!DOCTYPE robot [<!ENTITY a "b">]><robot name="arm"'),
}


@pytest.mark.parametrize("old, new", WRONG.values(), ids=WRONG)
def test_what_xacro_cannot_expand_is_one_of_our_errors(arm, old, new):
    needs_xacro()
    arm.write_text(ARM.replace(old, new))
    with pytest.raises(FormatError, match=r"arm\.urdf\.xacro"):
        load(arm)
    assert lint(arm)


def test_without_the_package_the_message_says_how_to_get_it(arm, monkeypatch):
    monkeypatch.setitem(sys.modules, "xacro", None)
    with pytest.raises(MissingDependency, match=r"pip install closedform\[xacro\], or `xacro arm"):
        load(arm)
    (finding,) = lint(arm)
    assert finding.rule == "xacro" and "closedform[xacro]" in finding.repair


@pytest.mark.parametrize("mappings", [["links"], {1: 2}, "links:=3"])
def test_mappings_that_are_none_are_refused(arm, mappings):
    with pytest.raises(ArgumentError, match="mappings must map names"):
        load(arm, mappings=mappings)


def test_mappings_of_what_is_no_xacro_file_are_refused(tmp_path):
    path = tmp_path / "m.sdf"
    path.write_text('<sdf version="1.7"/>')
    for source in (path, "panda", ARM):
        with pytest.raises(ClosedformError, match="mappings are the arguments of a xacro file"):
            load(source, mappings={})
