"""The page on adding a joint is true: its wheel works wherever a revolute joint does."""

import re
from pathlib import Path

import numpy as np
import pytest

import closedform as cf
from closedform.maths.algorithms.applicability import applies
from closedform.maths.catalogue import CATALOGUE
from random_robots import random_inertia, random_placement

PAGE = Path(__file__).parents[2] / "docs" / "adding" / "joint.md"
MODULE: dict = {}
exec(re.sub(r"(?m)^   ", "", re.search(r"```python\n(.*?)```", PAGE.read_text(), re.S)[1]), MODULE)
Wheel = MODULE["Wheel"]
PLACES = ("q", "q0", "q1")
ROWS = [row for row in CATALOGUE if row.name != "joint_friction"]


def robots():
    """The same tree with wheels and with revolute joints: a branch, a mimic, a floating base."""
    result = []
    for kind in (Wheel, lambda **keywords: cf.Revolute((0, 0, 1), **keywords)):
        rng = np.random.default_rng(3)
        def body(name, parent, joint, rng=rng):
            return cf.Body(name, parent, joint, random_placement(rng), random_inertia(rng))
        result.append(cf.Robot("cart", [
            body("base", None, cf.Free()), body("a", "base", kind(rotor_inertia=0.2)),
            body("b", "a", cf.Revolute((0, 1, 0), (0.1, 0.2, 0.3))), body("c", "b", kind()),
            body("d", "a", cf.Mimic(cf.Prismatic((1, 0, 0)), of="b", ratio=0.4))],
            frames=[cf.Frame("tool", "c", random_placement(rng))]))
    return result


def as_wheels(q):
    """q with angles in place of wheels, (7 of the base, a, b, c), as the wheels have it."""
    a, b, c = (q[..., i] for i in (7, 8, 9))
    wheels = np.stack([np.cos(a), np.sin(a), b, np.cos(c), np.sin(c)], axis=-1)
    return np.concatenate([q[..., :7], wheels], axis=-1)


def arguments(robot, row, seed=1):
    rng = np.random.default_rng(seed)
    values = {name: robot.random(rng) if name in PLACES else rng.normal(size=shape)
              for name, shape in row.input_shapes(robot).items()}
    return {**values, **({"frame": "tool"} if row.framed else {})}


def assert_same(row, result, expected, tolerance=1e-11):
    for x, y in zip(result, expected, strict=True) if row.fields else [(result, expected)]:
        np.testing.assert_allclose(x, y, atol=tolerance * max(1.0, np.abs(y).max(initial=0)))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_every_quantity_is_that_of_revolute_joints_by_every_algorithm(row):
    wheeled, revolute = robots()
    values = arguments(revolute, row)
    expected = row.definition(revolute, **values)
    expected = as_wheels(expected) if row.shape == ("nq",) else expected
    values |= {name: as_wheels(values[name]) for name in PLACES if name in values}
    for function in (row.definition, *row.algorithms):
        if applies(function, wheeled):                       # some have no mimics
            assert_same(row, function(wheeled, **values), expected)


@pytest.mark.parametrize("name", ["mass_matrix", "inverse_dynamics", "forward_dynamics", "poses",
                                  "coriolis_matrix", "gravity_torque", "regressor"])
def test_compiled_kernels_take_it(name):
    wheeled, revolute = robots()
    row = next(row for row in ROWS if row.name == name)
    values = arguments(revolute, row)
    expected = row.definition(revolute, **values)
    values["q"] = as_wheels(values["q"])
    assert_same(row, getattr(cf.compile(wheeled), name)(*values.values()), expected)


def test_jets_and_series_along_a_motion_take_it():
    wheeled, revolute = robots()
    rng = np.random.default_rng(4)
    q, rates = revolute.random(rng), rng.normal(size=(5, revolute.nv))
    def mass_matrices(robot, q, rates):
        return cf.along(cf.mass_matrix, robot, q, rates)
    for f in (cf.inverse_dynamics_jet, mass_matrices):
        expected = f(revolute, q, rates)
        np.testing.assert_allclose(f(wheeled, as_wheels(q), rates), expected,
                                   atol=1e-11 * np.abs(expected).max())


def test_coordinates_move_as_angles_do():
    wheeled, revolute = robots()
    rng = np.random.default_rng(5)
    q, dv = revolute.random(rng), rng.normal(size=(3, revolute.nv))
    moved = wheeled.integrate(as_wheels(q), dv)
    np.testing.assert_allclose(moved, as_wheels(revolute.integrate(q, dv)), atol=1e-14)
    np.testing.assert_allclose(wheeled.difference(as_wheels(q), moved), dv, atol=1e-13)
    for ours, theirs in zip(wheeled.integrate_jacobians(as_wheels(q), dv),
                            revolute.integrate_jacobians(q, dv), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-14)
    assert np.hypot(*wheeled.random(rng)[7:9]) == pytest.approx(1)


def test_base_parameters_and_a_simulation_are_the_same():
    wheeled, revolute = robots()
    ours, theirs = cf.base_parameters(wheeled), cf.base_parameters(revolute)
    assert ours.count == theirs.count
    rng = np.random.default_rng(6)
    q, v, a = revolute.random(rng), *rng.normal(size=(2, revolute.nv))
    np.testing.assert_allclose(ours.regressor(as_wheels(q), v, a) @ ours.values,
                               cf.inverse_dynamics(revolute, q, v, a), atol=1e-11)
    times = np.linspace(0, 0.2, 3)
    runs = [cf.simulate(robot, x, 0.3 * v, None, times, progress=False)
            for robot, x in ((wheeled, as_wheels(q)), (revolute, q))]
    np.testing.assert_allclose(runs[0].q, as_wheels(runs[1].q), atol=1e-7)
    np.testing.assert_allclose(runs[0].v, runs[1].v, atol=1e-7)


def test_it_is_described_locked_linted_and_refused_where_it_has_no_counterpart():
    wheeled, revolute = robots()
    assert "wheel" in wheeled._repr_html_()
    assert all(finding.rule != "unreadable" for finding in cf.lint(wheeled))
    held = wheeled.reduced({"c": (np.cos(0.3), np.sin(0.3))})
    q = revolute.random(7)
    q[9] = 0.3
    np.testing.assert_allclose(cf.frame_pose(held, as_wheels(q)[:10], "tool"),
                               cf.frame_pose(revolute, q, "tool"), atol=1e-14)
    with pytest.raises(cf.ArgumentError, match="unit vector"):
        wheeled.reduced({"c": (2.0, 0.0)})
    with pytest.raises(cf.ModelError, match="URDF has no wheel joint"):
        wheeled.to_urdf()
    with pytest.raises(cf.ModelError, match=r"'a' \(wheel\) has no counterpart in Pinocchio"):
        cf.conventions.pinocchio_convention(wheeled, wheeled.joint_names)
