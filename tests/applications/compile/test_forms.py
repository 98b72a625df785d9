"""A robot in three forms is one robot."""

import numpy as np
import pytest

import closedform as cf
from closedform.applications.compile.forms import Forms
from closedform.applications.compile.requests import Gravity, Parameters, PayloadAt, Request
from closedform.errors import ArgumentError
from closedform.maths.catalogue import quantity
from closedform.maths.quantity import Form
from random_robots import random_robot


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("form", [Form.USER, Form.CANONICAL, Form.BASE])
def test_torques_are_the_same_in_every_form(seed, form):
    """With wrenches on the user's bodies, which other bodies carry in the canonical robot."""
    robot = random_robot(seed, bodies=5)
    rng = np.random.default_rng(seed)
    given = {"q": robot.random(rng), "v": rng.normal(size=robot.nv), "a": rng.normal(size=robot.nv),
             "wrenches": rng.normal(size=(len(robot.bodies), 6))}
    row = quantity("inverse_dynamics")
    expected = row.definition(robot, **given)
    found = Forms(robot).evaluated(Request(row), row.algorithms[0], form, given)
    np.testing.assert_allclose(np.asarray(found, dtype=float), expected, rtol=0,
                               atol=1e-11 * np.abs(expected).max(initial=1))


def test_parameters_at_run_time_are_those_of_the_users_bodies():
    forms = Forms(cf.load("ur5"), [Parameters()])
    assert {id(forms.robot_in(form)) for form in Form} == {id(forms.robot)}


def test_run_time_inputs_come_after_the_quantitys_own():
    robot = cf.load("ur5")
    forms = Forms(robot, [PayloadAt(robot.body_names[-1]), Gravity()])
    assert list(forms.shapes(["q"]).items()) == [("q", (6,)), ("payload", (10,)), ("gravity", (3,))]


def test_an_input_twice_or_on_the_world_is_refused():
    robot = cf.load("ur5").with_frames(cf.Frame("wall", None, np.eye(4)))
    with pytest.raises(ArgumentError, match="once each"):
        Forms(robot, [Gravity(), Gravity()])
    with pytest.raises(ArgumentError, match="belongs to the world"):
        Forms(robot, [PayloadAt("wall")])


def test_a_robot_without_joints_has_forms():
    forms = Forms(random_robot(0, ("fixed",), bodies=2))
    assert forms.canonical.robot is forms.robot
    assert forms.base.nv == 0
