"""Closed configurations, their branches, and what is refused."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

import closedform as cf
from loop_mechanisms import Z, at, bar, bennett, five_bar, floating_leg, four_bar, palletiser


def test_many_configurations_are_closed_at_once_on_one_branch():
    robot = four_bar()
    y = np.linspace(-4, 9, 40).reshape(8, 5, 1)
    q = robot.closed(y)
    assert q.shape == (8, 5, 3) and np.array_equal(q[..., :1], y)
    flat = q.reshape(-1, 3)
    assert max(np.abs(cf.loop_residual(robot, x)).max() for x in flat) < 1e-14
    signs = {np.sign(np.linalg.det(robot.closure.K_d(cf.loop_jacobian(robot, x)))) for x in flat}
    assert len(signs) == 1


def test_the_other_branch_is_reached_from_a_configuration_on_it():
    robot = four_bar()
    crossed = four_bar(guess={"crank": 0.7, "coupler": -2.0, "rocker": -2.0})
    near = crossed.neutral()
    q = robot.closed([1.2], near=near)
    assert np.allclose(q, crossed.closed([1.2])) and not np.allclose(q, robot.closed([1.2]))
    sign = [np.linalg.det(robot.closure.K_d(cf.loop_jacobian(robot, x)))
            for x in (q, robot.closed([1.2]))]
    assert sign[0] * sign[1] < 0


def test_redundant_rows_are_found_and_left_out():
    assert (len(bennett().closure.dependent), bennett().closure.count) == (2, 5)
    assert palletiser("loop").mobility == 4
    ball = four_bar(joint=cf.Spherical())
    assert (ball.mobility, len(ball.closure.rows), ball.closure.count) == (1, 2, 3)


def test_rows_that_are_redundant_by_special_lengths_are_all_kept():
    """Which two of Bennett's five rows are independent changes on the way round."""
    robot = bennett()
    assert len(robot.closure.rows) == 5 and not robot.closure.is_square
    assert four_bar().closure.is_square and four_bar(joint=cf.Spherical()).closure.is_square
    y = robot.neutral()[0] + np.linspace(0, 2 * np.pi, 9)[:, None]
    for q in robot.closed(y):
        assert np.abs(cf.loop_residual(robot, q)).max() < 1e-13


def test_a_rod_on_two_balls_keeps_its_spin():
    robot = floating_leg()
    assert robot.mobility == 10 and sum(n.startswith("rod") for n in robot.independent) == 1
    assert [n for n in robot.independent if n.startswith("trunk")] == [
        f"trunk[{k}]" for k in range(6)]


def test_the_first_joints_that_will_do_are_independent():
    assert four_bar(independent=None).independent == ("crank",)
    assert five_bar(independent=None).independent == ("a1", "a2")
    assert five_bar(independent=None, actuated=["a1", "b1"]).independent == ("a1", "b1")


def test_limits_and_names_of_velocities_are_those_of_the_independent_joints():
    robot = five_bar()
    assert robot.nq == 4 and robot.nv == 2
    assert robot.velocity_limits.shape == (2,) and robot.lower.shape == (4,)
    assert [n for n, at_ in robot.v_slices.items() if at_.stop > at_.start] == ["a1", "b1"]
    assert robot.tree.nv == 4 and robot.tree.loops == () and robot.tree.tree is robot.tree


# ---------------------------------------------------------------------- refusing
def test_a_loop_that_cannot_close_is_named():
    bodies = [cf.Body("a", None, cf.Revolute(Z), inertia=bar(1, 0.1, 0, 0.01)),
              cf.Body("b", None, cf.Revolute(Z), at(3.0), bar(1, 0.1, 0, 0.01))]
    with pytest.raises(cf.OpenLoop, match=r"'far' cannot be closed.*stays open by"):
        cf.Robot("r", bodies, loops=[cf.Loop("far", ("a", (0.2, 0, 0)), ("b", (0.2, 0, 0)))])


def test_a_wrong_number_of_independent_joints_is_told_with_those_that_would_do():
    with pytest.raises(cf.ModelError, match=r"mobility 1 .*2 velocities are named.*crank"):
        four_bar(independent=["crank", "rocker"])
    with pytest.raises(cf.ModelError, match=r"no moving joint 'carnk'.*did you mean 'crank'"):
        four_bar(independent=["carnk"])
    with pytest.raises(cf.ModelError, match=r"no moving joint \['crank'\]"):
        four_bar(independent=[["crank"]])


def test_motors_are_looked_up_without_loops_too():
    tree = four_bar().tree
    assert replace(tree, actuated=["crank"]).actuated_velocities == (0,)
    with pytest.raises(cf.ModelError, match=r"actuated: no moving joint 'carnk'"):
        replace(tree, actuated=["carnk"])


def test_a_configuration_out_of_reach_is_refused():
    robot = four_bar(independent=["rocker"])
    with pytest.raises(cf.OpenLoop, match=r"closed of four_bar.*'pin'.*out of reach"):
        robot.closed([0.3])


def test_a_parallelogram_folded_flat_is_refused_as_one_where_branches_meet():
    bodies = [cf.Body("left", None, cf.Revolute(Z), inertia=bar(1, 0.1, 0, 0.01)),
              cf.Body("top", "left", cf.Revolute(Z), at(0.2), bar(1, 0.1, 0, 0.01)),
              cf.Body("right", None, cf.Revolute(Z), at(0.4), bar(1, 0.1, 0, 0.01))]
    pin = cf.Loop("pin", ("top", (0.4, 0, 0)), ("right", (0.2, 0, 0)), cf.Revolute(Z))
    with pytest.raises(cf.SingularLoop, match=r"'pin'.*branches meet.*guess="):
        cf.Robot("flat", bodies, loops=[pin])
    upright = cf.Robot("upright", bodies, loops=[pin],
                       guess={"left": 1.5, "top": -1.5, "right": 1.5})
    assert np.allclose(upright.closed([0.8]), (0.8, -0.8, 0.8))


def test_independent_joints_at_a_dead_point_are_told_apart_from_branches_that_meet():
    robot = four_bar()
    tree = robot.tree
    stretched = four_bar(independent=["rocker"])
    reach, d, r = 0.7, 0.6, 0.4                         # crank and coupler in line
    crank = np.arccos((reach**2 + d**2 - r**2) / (2 * reach * d))
    rocker = np.pi - np.arccos((d**2 + r**2 - reach**2) / (2 * d * r))
    q = np.array([crank, 0.0, rocker])
    assert tree.nq == 3 and np.abs(cf.loop_residual(robot, q)).max() < 1e-12
    with pytest.raises(cf.SingularLoop, match="as independent joints would do: crank"):
        cf.mass_matrix(stretched, q)
    assert np.all(np.isfinite(cf.mass_matrix(robot, q)))


def test_an_open_configuration_is_refused_and_says_how_to_close_it():
    with pytest.raises(cf.OpenLoop, match=r"'pin' is open by.*robot.closed"):
        cf.mass_matrix(four_bar(), [0.7, 0.5, 1.0])


@pytest.mark.parametrize(("wrong", "says"), [
    (lambda: cf.Loop("l", ("a", (0, 0)), ("b", (0, 0, 0))), "4x4 pose"),
    (lambda: cf.Loop("l", ("a", (0, 0, 0)), ("a", (0, 0, 0))), "on one body"),
    (lambda: cf.Loop("l", ("a", (0, 0, 0)), ("b", (0, 0, 0)), cf.Free()), "joint must be one of"),
    (lambda: cf.Rod("r", ("a", (0, 0, 0)), ("b", (0, 0, 0)), -1.0), "positive"),
    (lambda: cf.Gear("g", {}), "map bodies"),
    (lambda: cf.Gear("g", {"a": "x"}), "finite number"),
    (lambda: cf.Gear("g", {"a": 0, "b": 0.0}), "all factors are zero"),
    (lambda: cf.Robot("r", [cf.Body("a", None, cf.Revolute(Z)), cf.Body("f", "a", cf.Free())],
                      loops=[cf.Gear("g", {"a": 1, "f": 2})]), "Free joint of 'f'.*one coordinate"),
    (lambda: four_bar(independent=["crank", "crank"]), "'crank' of four_bar is named twice"),
    (lambda: cf.Mimic(cf.Revolute(Z), of={}), "name of a body"),
    (lambda: cf.Mimic(cf.Revolute(Z, rotor_inertia=1.0), of={"a": 1, "b": 2}), "rotor_inertia"),
    (lambda: four_bar(guess={"nobody": 1.0}), "no moving joint 'nobody'"),
    (lambda: cf.Robot("r", [cf.Body("a", None, cf.Revolute(Z))], independent=["a"]),
     "there are none"),
])
def test_what_makes_no_loop_is_refused(wrong, says):
    with pytest.raises(cf.ModelError, match=says):
        wrong()


def test_a_loop_to_no_body_is_refused():
    bodies = [cf.Body("a", None, cf.Revolute(Z))]
    with pytest.raises(cf.ModelError, match="no body 'b'"):
        cf.Robot("r", bodies, loops=[cf.Loop("l", ("a", (0, 0, 0)), ("b", (0, 0, 0)))])


def test_y_of_the_wrong_size_is_refused():
    with pytest.raises(cf.ArgumentError, match="closed of four_bar: y"):
        four_bar().closed([0.1, 0.2])


# ---------------------------------------------------------------------- other robots
def test_locking_a_crank_leaves_a_four_bar_of_a_five_bar():
    whole = five_bar()
    q = whole.closed([2.0, 1.1])
    four = whole.reduced({"a1": 2.0})
    assert four.mobility == 1 and four.independent == ("b1",)
    assert np.allclose(four.closed([1.1]), q[1:], atol=1e-12)
    M = cf.mass_matrix(whole, q)
    assert np.allclose(cf.mass_matrix(four, q[1:]), M[1:, 1:])


def test_a_robot_with_loops_survives_pickling_other_loads_and_other_gravity():
    robot = four_bar()
    q = robot.closed([0.9])
    again = pickle.loads(pickle.dumps(robot))
    assert np.array_equal(cf.mass_matrix(again, q), cf.mass_matrix(robot, q))
    heavy = robot.with_payload(cf.Inertia(2.0, (0.1, 0, 0)), "rocker")
    assert heavy.independent == ("crank",) and heavy.closure.rows == robot.closure.rows
    light = robot.with_gravity((0, 0, 0))
    assert np.allclose(cf.gravity_torque(light, q), 0)
