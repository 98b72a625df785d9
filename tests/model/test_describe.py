"""Robots told as data and as a table."""

import json

import numpy as np
import pytest
import sympy
from hypothesis import given

from closedform.model.describe import html_table, list_text, number_text, range_text, summary
from closedform.model.inertia import Inertia
from closedform.model.joints import Fixed, Mimic, Prismatic, Revolute, Spherical
from closedform.model.robot import Body, Frame, Robot
from random_robots import robots


def gripper():
    """A turning hand with two coupled fingers and a fixed camera."""
    finger = Prismatic((0, -1, 0), lower=0, upper=0.04, effort=20)
    return Robot("gripper", [
        Body("hand", None, Revolute((0, 0, 1), name="wrist", lower=-np.inf, upper=2, viscous=0.1),
             inertia=Inertia(0.7, (0, 0, 0.05))),
        Body("left", "hand", finger, inertia=Inertia(0.1)),
        Body("right", "hand", Mimic(finger, "left", -1.0), inertia=Inertia(0.1)),
        Body("camera", "hand", Fixed(), inertia=Inertia(0.2)),
    ], frames=[Frame("tip", "left"), Frame("table", None)])


@given(robots())
def test_the_summary_of_any_robot_survives_json(robot):
    about = summary(robot)
    assert json.loads(json.dumps(about, allow_nan=False)) == about
    assert [body["name"] for body in about["bodies"]] == list(robot.body_names)


@given(robots())
def test_the_indices_of_the_joints_fill_q_and_v_once(robot):
    joints = [body["joint"] for body in summary(robot)["bodies"]]
    assert [i for joint in joints for i in joint["q"]] == list(range(robot.nq))
    assert [i for joint in joints for i in joint["v"]] == list(range(robot.nv))


@given(robots())
def test_the_table_of_any_robot_has_a_row_for_every_body(robot):
    assert html_table(robot).count("<tr>") == 1 + len(robot.bodies)


def test_the_summary_counts_what_there_is():
    about = summary(gripper())
    assert about["totals"] == {"bodies": 4, "joints": 2, "mimic": 1, "fixed": 1, "frames": 2}
    assert about["mass"] == pytest.approx(1.1)
    assert [frame["body"] for frame in about["frames"]] == ["left", None]


def test_limits_are_lists_with_none_for_what_is_infinite():
    wrist, left, right, camera = (body["joint"] for body in summary(gripper())["bodies"])
    assert (wrist["lower"], wrist["upper"], wrist["effort"]) == ([None], [2.0], None)
    assert (left["kind"], left["unit"], left["upper"]) == ("prismatic -y", "m", [0.04])
    assert (right["upper"], right["v"]) == ([0.04], [])
    assert (camera["kind"], camera["unit"]) == ("fixed", None)


def test_symbols_are_told_as_text():
    m, l, J = sympy.symbols("m l J")
    robot = Robot("rod", [Body("rod", None, Revolute((0, 0, 1), rotor_inertia=J),
                               inertia=Inertia(m, (l / 2, 0, 0)))])
    about = summary(robot)
    (body,) = about["bodies"]
    assert (about["mass"], body["mass"], body["com"][0]) == ("m", "m", "l/2")
    assert body["joint"]["rotor_inertia"] == ["J"]
    json.dumps(about, allow_nan=False)
    assert "l/2" in html_table(robot)


def test_a_regrouped_body_has_no_centre():
    body = Body("b", None, Spherical(), inertia=Inertia.from_parameters([0, 1, 0, 0, *[0] * 6]))
    assert summary(Robot("regrouped", [body]))["bodies"][0]["com"] is None
    html_table(Robot("regrouped", [body]))


def test_names_are_escaped_in_html():
    robot = Robot("<script>", [Body("<b>&", None, Fixed())])
    assert "<script>" not in html_table(robot)
    assert "&lt;b&gt;&amp;" in html_table(robot)


def test_a_notebook_shows_the_table():
    assert gripper()._repr_html_() == html_table(gripper())


def test_numbers_are_short_and_zero_has_no_sign():
    assert [number_text(x) for x in (-0.0, -1.23456, 1e-9, None, "2*m")] == [
        "0", "-1.235", "1e-09", "·", "2*m"]


def test_ranges_name_their_unit_and_vanish_where_nothing_is_bounded():
    bounded = {"lower": [-1.0], "upper": [None], "unit": "rad"}
    assert range_text(bounded) == "-1 … · rad"
    assert range_text({"lower": None, "upper": None, "unit": "rad"}) == ""
    assert range_text({"lower": [None], "upper": [None], "unit": "rad"}) == ""
    assert range_text({"lower": [0.0, 1.0], "upper": [2.0, 3.0], "unit": None}) == "0 … 2, 1 … 3"


def test_equal_numbers_are_told_once():
    assert [list_text(x) for x in ([5.0, 5.0], [1.0, 2.0], None, [None])] == ["5", "1, 2", "", ""]
