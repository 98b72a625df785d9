"""A robot as a table, and back."""

import tomllib
from dataclasses import replace

import numpy as np
import pytest

import closedform as cf
from closedform.applications.identification.output.robot_table import robot_table
from closedform.model.formats.table import read_table
from measured_runs import run
from random_robots import random_robot

idn = cf.identification


def again(robot):
    top, tables = robot_table(robot)
    return read_table("\n".join([*top, *tables]))


def same(one, other):
    """Coordinates, torques, places of frames, and everything that joints carry."""
    assert (one.name, one.body_names, one.joint_names, one.nq) == (
        other.name, other.body_names, other.joint_names, other.nq)
    q, v, a = one.random(0), np.linspace(-1, 1, one.nv), np.linspace(1, 2, one.nv)
    np.testing.assert_allclose(cf.inverse_dynamics(one, q, v, a),
                               cf.inverse_dynamics(other, q, v, a), rtol=1e-11, atol=1e-11)
    np.testing.assert_array_equal(one.parameters, other.parameters)
    for x, y in zip(one.frames, other.frames, strict=True):
        assert (x.name, x.body) == (y.name, y.body)
        np.testing.assert_allclose(x.placement, y.placement, atol=1e-14)
    for x, y in zip(one.bodies, other.bodies, strict=True):
        for keyword in ("lower", "upper", "velocity", "effort", "rotor_inertia", "viscous",
                        "coulomb", "stiffness", "spring_reference"):
            assert getattr(x.joint, keyword) == getattr(y.joint, keyword), keyword


@pytest.mark.parametrize("seed", range(6))
def test_a_random_tree_comes_back(seed):
    robot = random_robot(seed, bodies=7)
    frames = (cf.Frame("tool", robot.body_names[-1], robot.bodies[2].placement),
              cf.Frame("camera", None))
    robot = replace(robot, frames=frames)
    same(robot, again(robot))


@pytest.mark.parametrize("name", ["panda", "stanford", "humanoid25"])
def test_a_robot_that_is_built_in_comes_back(name):
    same(cf.load(name), again(cf.load(name)))


def test_names_need_not_be_plain():
    robot = cf.load("planar2r")
    last = robot.bodies[-1]
    odd = replace(robot, name='a "b" \\ c', bodies=(
        *robot.bodies[:-1], replace(last, joint=replace(last.joint, name="gelenk ä/2"))))
    same(odd, again(odd))


@pytest.fixture(scope="module")
def robot():
    arm = cf.load("planar2r")
    return replace(arm, frames=(*arm.frames, cf.Frame("tool", arm.body_names[-1])))


def fitted(robot, method, **model):
    log = idn.read(run(robot, seconds=10.0), robot)
    return idn.fit(idn.information(idn.Model(robot, **model), log), method)


def test_the_file_of_a_fit_loads_as_the_identified_robot(robot, tmp_path):
    """Rotors and friction with it; offsets, intervals and the load stay in the file alone."""
    fit = fitted(robot, "consistent", payload="tool", known={"tool.m": 0.5})
    path = fit.to_toml(tmp_path / "fit.toml")
    loaded = cf.load(path)
    same(fit.robot, loaded)
    assert all(b.joint.rotor_inertia >= 0 and b.joint.coulomb > 0.5 for b in loaded.bodies)
    text = path.read_text(encoding="utf8")
    assert "offset = " in text and "interval = " in text and "payload = " in text
    assert cf.load(path, floating=True).is_floating


def test_friction_that_no_joint_has_is_zero_in_the_robot_and_said_to_be(robot, tmp_path):
    fit = fitted(robot, "weighted")
    odd = replace(fit, standard=np.where(
        np.array(fit.model.standard_names) == "joint1.viscous", -0.2, fit.standard))
    path = odd.to_toml(tmp_path / "fit.toml")
    assert cf.load(path).bodies[0].joint.viscous == 0.0
    found = tomllib.loads(path.read_text(encoding="utf8"))
    assert "joint1.viscous" in found["identification"]["zero_in_rows"]
    assert found["joint"][0]["viscous"] == -0.2


def test_joints_and_unknowns_are_refused_where_no_fit_wrote_them():
    top, tables = robot_table(cf.load("planar2r"))
    with pytest.raises(cf.FormatError, match="joint"):
        read_table("\n".join([*top, *tables, "", "[[joint]]", 'name = "joint1"']))
