"""A key changes with everything that programs depend on, and with nothing else."""

from dataclasses import replace

import numpy as np
import pytest

import closedform as cf
from closedform.applications.compile.digest import in_numbers, robot_digest
from closedform.applications.compile.requests import Gravity, Parameters, PayloadAt
from random_robots import KINDS, random_robot

ROBOT = cf.load("ur5")


def with_body(robot, k=2, **changes):
    bodies = list(robot.bodies)
    bodies[k] = replace(bodies[k], **changes)
    return cf.Robot(robot.name, bodies, robot.gravity, robot.frames)


def moved(T):
    T = np.array(T)
    T[0, 3] += 1e-15
    return T


@pytest.mark.parametrize("changed", [
    lambda r: with_body(r, placement=moved(r.bodies[2].placement)),
    lambda r: with_body(r, inertia=cf.Inertia.from_parameters(
        np.nextafter(r.bodies[2].inertia.array, np.inf))),
    lambda r: with_body(r, joint=replace(r.bodies[2].joint, rotor_inertia=0.1)),
    lambda r: r.with_gravity((0, 0, -9.8)),
    lambda r: r.with_frames(cf.Frame("x", r.body_names[1], np.eye(4))),
], ids=["placement", "inertia", "rotor", "gravity", "frame"])
def test_it_changes_with_what_programs_depend_on(changed):
    assert robot_digest(changed(ROBOT)) != robot_digest(ROBOT)


def test_it_changes_with_the_inputs():
    inputs = [(), (Gravity(),), (Parameters(),), (PayloadAt("x"),), (PayloadAt("y"),)]
    assert len({robot_digest(ROBOT, x) for x in inputs}) == len(inputs)


def test_limits_do_not_count():
    joint = replace(ROBOT.bodies[2].joint, lower=-1.0, upper=1.0, effort=3.0)
    assert robot_digest(with_body(ROBOT, joint=joint)) == robot_digest(ROBOT)


def test_it_is_the_same_for_the_same_robot():
    assert robot_digest(cf.load("ur5")) == robot_digest(ROBOT)


@pytest.mark.parametrize("kind", [k for k in KINDS if k != "fixed"])
def test_robots_of_numbers_are_in_numbers(kind):
    assert in_numbers(random_robot(1, (kind, "revolute"), bodies=3))


def test_a_symbol_is_no_number():
    sympy = pytest.importorskip("sympy")
    assert not in_numbers(ROBOT.with_gravity((0, 0, -sympy.Symbol("g"))))
