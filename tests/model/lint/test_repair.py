"""Repairs that are the same for everyone; what needs a decision stays."""

import warnings

import numpy as np
import pytest

import closedform as cf
from closedform.model.lint.repair import repaired

BROKEN = """<robot name="broken"><link name="base"/>
<link name="arm"><inertial><mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="0.1" iyz="0"
izz="0.1"/></inertial></link>
<link name="hand"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0"
izz="1"/></inertial></link>
<joint name="shoulder" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
<limit lower="1" upper="-2" effort="9" velocity="1"/></joint>
<joint name="slide" type="prismatic"><parent link="arm"/><child link="hand"/>
<axis xyz="1 0 0"/><mimic joint="shoulder" multiplier="2"/>
<limit lower="3" upper="-3" effort="9" velocity="1"/></joint></robot>"""


@pytest.fixture
def broken():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cf.load(BROKEN)


def test_impossible_inertias_and_swapped_limits_are_repaired_and_lint_is_content(broken):
    before = {finding.rule for finding in cf.lint(broken)}
    assert {"impossible-inertia", "limits-swapped"} <= before
    made = repaired(broken)
    assert len(made.changes) == 3
    after = {finding.rule for finding in cf.lint(made.robot)}
    assert not {"impossible-inertia", "limits-swapped"} & after
    assert made.robot.body_names == broken.body_names
    np.testing.assert_array_equal(made.robot.lower, [-2.0])
    np.testing.assert_array_equal(made.robot.upper, [1.0])
    assert made.robot.bodies[1].joint.driver.ratio == 2
    np.testing.assert_array_equal(made.robot.bodies[1].inertia.array,
                                  broken.bodies[1].inertia.array)


def test_a_good_robot_comes_back_as_it_is():
    robot = cf.load("panda")
    assert repaired(robot).robot is robot and repaired(robot).changes == ()
