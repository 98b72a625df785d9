"""Units of robots' tables: only those that their joints have."""

import closedform as cf
from closedform.applications.units import inertia_units, parameter_unit, sliding, units


def test_a_robot_that_only_turns_has_no_units_of_lengths():
    robot = cf.load("panda")
    assert units(robot, "N m", "N") == "N m" and inertia_units(robot) == "kg m²"
    assert not any(sliding(robot))


def test_a_robot_that_slides_and_turns_has_both_and_products_of_them():
    robot = cf.load("stanford")
    assert units(robot, "rad", "m") == "rad, m" and inertia_units(robot) == "kg m², kg m, kg"
    assert sliding(robot) == [False, False, True, False, False, False]
    free = cf.load("humanoid25")
    assert sliding(free)[:6] == [True] * 3 + [False] * 3


def test_of_a_robot_with_loops_the_independent_joints_count():
    robot = cf.load("stewart")
    assert len(sliding(robot)) == robot.nv == 6


def test_a_parameter_has_the_unit_of_the_end_of_its_name():
    assert [parameter_unit(f"a.{x}") for x in ("m", "mcx", "Ixy", "rotor")] == [
        "kg", "kg m", "kg m²", "kg m²"]
