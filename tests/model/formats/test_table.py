"""Robots read from TOML tables."""

import math

import numpy as np
import pytest

from closedform.errors import ClosedformError, FormatError, ModelWarning
from closedform.maths.kinematics import poses
from closedform.model.formats.dh import from_modified_dh
from closedform.model.formats.table import BODY_KEYS, SCREW_KEYS, read_table
from closedform.model.inertia import Inertia
from closedform.model.joints import (
    Cylindrical,
    Free,
    Helical,
    Mimic,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)

PI = math.pi
EXACT = 1e-14  # a few products of numbers near 1

DH_TEXT = """
name = "arm"
source = "a test"
convention = "modified_dh"
gravity = [0, -9.81, 0]
[[rows]]
alpha_deg = -90
mass = 2
com = [0.1, 0, 0]
tensor = [1, 0.1, 0.2, 2, 0.3, 2.5]
lower_deg = -90
upper = "pi/2"
[[rows]]
sigma = 1
name = "slider"
alpha = "-pi/2"
r = 0.5
parameters = [1, 0, 0, 0, 1, 0, 1, 0, 0, 1]
[[frames]]
name = "tip"
body = "slider"
xyz = [0, 0, 1]
rpy = ["pi", 0, 0]
[base]
name = "foot"
mass = 3
"""


def test_swapped_limits_are_kept_with_a_warning():
    with pytest.warns(ModelWarning, match="'joint1': the lower limit -1.57.* is above the upper"):
        robot = read_table(DH_TEXT.replace('upper = "pi/2"', "upper = -2"))
    assert robot.upper[0] == -2


def test_more_rows_than_a_robot_has_are_refused_at_once():
    row = "[[rows]]\na=0\nalpha=0\nd=0\n"
    with pytest.raises(FormatError, match=r"a robot has at most 10000 .*, this has 10001"):
        read_table('convention = "modified_dh"\n' + 10_001 * row)


def test_a_toml_table_is_the_robot_of_the_same_rows():
    robot = read_table(DH_TEXT)
    first = Inertia(2, (0.1, 0, 0), [[1, 0.1, 0.2], [0.1, 2, 0.3], [0.2, 0.3, 2.5]])
    second = Inertia.from_parameters([1, 0, 0, 0, 1, 0, 1, 0, 0, 1])
    same = from_modified_dh([(0, -PI / 2, 0, 0, 0), (1, -PI / 2, 0, 0, 0.5)],
                            inertias=[first, second], names=["link1", "slider"])
    q = np.array([0.3, 0.4])
    np.testing.assert_array_equal(poses(robot, q), poses(same, q))
    np.testing.assert_array_equal(robot.parameters, same.parameters)
    np.testing.assert_array_equal(robot.gravity, [0, -9.81, 0])
    assert (robot.name, robot.source) == ("arm", "a test")
    assert (robot.lower[0], robot.upper[0]) == (-PI / 2, PI / 2)
    np.testing.assert_array_equal(np.diag(robot.frame("tip").placement), [1, -1, -1, 1])


def test_a_floating_table_puts_the_base_on_a_free_joint():
    fixed, floating = read_table(DH_TEXT), read_table(DH_TEXT, floating=True)
    assert fixed.frame("foot").body is None
    assert floating.body_names == ("foot", *fixed.body_names)
    assert isinstance(floating.bodies[0].joint, Free)
    assert floating.mass == fixed.mass + 3
    assert floating.parents == (0, 1, 2)


def test_a_table_is_read_from_a_path_too(tmp_path):
    path = tmp_path / "arm.toml"
    path.write_text(DH_TEXT)
    for source in (path, str(path)):
        assert read_table(source).body_names == ("link1", "slider")


def test_screws_are_read_from_a_table():
    robot = read_table("""
convention = "screws"
[[rows]]
screw = [0, 0, 0, 0, 0, 1]
[[rows]]
screw = [0, -0.5, 0, 0, 0, 1]
xyz = [0.5, 0, 0]
mass = 1
""")
    assert [b.joint.point for b in robot.bodies] == [(0, 0, 0), (0, 0, 0)]
    T = poses(robot, np.array([PI / 2, 0]))[1]
    np.testing.assert_allclose(T[:3, 3], [0, 0.5, 0], atol=EXACT)


def test_a_standard_dh_table_is_read():
    robot = read_table('convention = "standard_dh"\n[[rows]]\na = 0.4\nalpha = "pi/2"\n')
    np.testing.assert_array_equal(poses(robot, np.zeros(1))[0][:3, 3], [0.4, 0, 0])


def test_every_joint_kind_is_read_from_a_table_of_bodies():
    robot = read_table("""
convention = "bodies"
rows = [
  {name = "a", joint = "free"},
  {name = "b", parent = "a", joint = "revolute", axis = [0, 0, 1], point = [1, 0, 0]},
  {name = "c", parent = "a", joint = "prismatic", axis = [1, 0, 0], lower = 0, upper = 1},
  {name = "d", parent = "b", joint = "helical", axis = [0, 1, 0], pitch = 0.1},
  {name = "e", parent = "b", joint = "cylindrical", axis = [0, 1, 0]},
  {name = "f", parent = "b", joint = "universal", axis1 = [0, 1, 0], axis2 = [1, 0, 0]},
  {name = "g", parent = "b", joint = "spherical", rpy_deg = [90, 0, 0]},
  {name = "h", parent = "b", joint = "planar"},
  {name = "i", parent = "b", joint = "revolute", axis = [
    0, 1, 0], mimic = {of = "b", ratio = 2, higher = [0.5]}},
  {name = "j", parent = "i", joint = "fixed", mass = 2, xyz = [0, 0, 1]},
  {name = "k", parent = "i", joint = "fixed", merge = true, mass = 3, xyz = [0, 0, 1]},
]
""")
    kinds = [Free, Revolute, Prismatic, Helical, Cylindrical, Universal, Spherical, Planar, Mimic]
    assert [type(b.joint) for b in robot.bodies[:9]] == kinds
    assert robot.body_names == tuple("abcdefghij")
    assert (robot.bodies[8].joint.ratio, robot.bodies[8].joint.offset) == (2, 0)
    assert robot.bodies[8].joint.higher == (0.5,)
    assert robot.body("i").inertia.mass == 3
    assert robot.frame("k").body == "i"
    assert (robot.nq, robot.nv) == (21, 19)


@pytest.mark.parametrize(("text", "words"), [
    ("x = [", ["<text>", "TOML"]),
    ("x = " + "[" * 100_000, ["<text>", "TOML"]),
    ("convention = 3", ["convention", "modified_dh", "3"]),
    ('convention = "modified_dh"', ["no [[rows]]"]),
    ('convention = "modified_dh"\nrows = 3', ["rows", "3"]),
    ('convention = "modified_dh"\nnames = "x"', ["'names'", "did you mean 'name'"]),
    ('convention = "modified_dh"\n[[rows]]\nalpah = 1', ["row 1", "'alpah'", "'alpha'"]),
    ('convention = "modified_dh"\n[[rows]]\nalpha = 1\nalpha_deg = 2', ["row 1", "alpha", "twice"]),
    ('convention = "modified_dh"\n[[rows]]\nalpha = "pi/0"', ["row 1", "alpha", "'pi/0'"]),
    ('convention = "modified_dh"\n[[rows]]\nalpha = "half"', ["row 1", "alpha", "'half'"]),
    ('convention = "modified_dh"\n[[rows]]\nmass = -1', ["row 1", "mass", "-1"]),
    ('convention = "modified_dh"\n[[rows]]\nmass = true', ["row 1", "mass", "True"]),
    ('convention = "modified_dh"\n[[rows]]\nmass = 1\nparameters = [1]', ["row 1", "parameters"]),
    ('convention = "bodies"\n[[rows]]\njoint = "fixed"', ["row 1", "name"]),
    ('convention = "bodies"\n[[rows]]\nname = "a"\njoint = "hinge"', ["(a)", "joint", "'hinge'"]),
    ('convention = "bodies"\n[[rows]]\nname = "a"\njoint = "revolute"', ["(a)", "needs axis"]),
    ('convention = "bodies"\n[[rows]]\nname = "a"\njoint = "free"\naxis = [0, 0, 1]', ["no axis"]),
    ('convention = "bodies"\n[[rows]]\nname = "a"\njoint = "free"\nmerge = true', ["merge"]),
    ('convention = "bodies"\n[[rows]]\nname = "a"\njoint = "free"\nxyz = [0, 0]', ["xyz"]),
    ('convention = "bodies"\n[[rows]]\nname = 1\njoint = "free"', ["row 1", "name", "1"]),
    ('convention = "bodies"\n[[rows]]\nname = "a"\njoint = "free"\nparent = 3', ["parent", "3"]),
])
def test_what_is_wrong_in_a_toml_table_is_named(text, words):
    with pytest.raises(FormatError) as caught:
        read_table(text + "\n")
    for word in words:
        assert word in str(caught.value)


def test_a_missing_file_is_a_closedform_error(tmp_path):
    with pytest.raises(ClosedformError, match=r"nothing\.toml"):
        read_table(tmp_path / "nothing.toml")


def test_a_table_with_a_free_root_is_not_floated_again():
    text = 'convention = "bodies"\n[[rows]]\nname = "a"\njoint = "free"\n'
    with pytest.raises(FormatError, match="free root already"):
        read_table(text, floating=True)


ODD = ("[]", "{}", '""', "true", "nan", "-inf", "1979-05-27", "[[1], [2, 3]]", "1" + "0" * 400,
       "-1", '"x"', '["a", 1, 2]', "[true, 0, 0]", "{a = 1}", "[1, 2, 3]",
       "[[1, 0, 0], [0, 1], [0]]")
STARTS = {"screws": ("screw = [0, 0, 0, 0, 0, 1]", SCREW_KEYS),
          "bodies": ('name = "a"; joint = "revolute"; axis = [0, 0, 1]', BODY_KEYS)}


@pytest.mark.parametrize("convention", STARTS)
def test_a_value_of_any_type_under_any_key_is_read_or_refused_by_us(convention):
    start, keys = STARTS[convention]
    refused = 0
    for key in keys:
        others = [line for line in start.split("; ") if not line.startswith(key + " ")]
        for value in ODD:
            table = [f'convention = "{convention}"', "[[rows]]", *others, f"{key} = {value}"]
            try:
                read_table("\n".join(table))
            except ClosedformError as error:
                assert "row 1" in str(error) or "'a'" in str(error)
                refused += 1
    assert refused > 0.7 * len(keys) * len(ODD)
