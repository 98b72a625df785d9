"""Torques along trajectories, and the command that writes them."""

import csv

import numpy as np
import pytest
import typer
from matplotlib import pyplot
from typer.testing import CliRunner

import closedform as cf
from closedform.applications.motion.torques import torques
from closedform.applications.motion.trajectories import cosines
from closedform.errors import ArgumentError
from closedform.interfaces.cli.torques import register
from closedform.maths.algorithms.jets import inverse_dynamics_jet


@pytest.fixture(scope="module")
def swing():
    robot = cf.load("iiwa14")
    return torques(robot, cosines(robot), np.linspace(0, 2, 401))


def test_the_table_holds_the_jet_at_every_time(swing):
    for k in (0, 117, 400):
        expected = inverse_dynamics_jet(swing.robot, swing.q[k], swing.rates[k])
        np.testing.assert_allclose(swing.values[k], expected, atol=1e-12 * np.abs(expected).max())


def test_numeric_differences_agree_as_in_figure_4(swing):
    """To the error of the differences, h² times the next derivatives, away from the ends."""
    inner, scale = slice(5, -5), np.abs(swing.values).max(axis=(0, 2))
    error = np.abs(swing.differences() - swing.values)[inner].max(axis=(0, 2))
    assert error[0] == 0 and error[1] < 1e-3 * scale[1] and error[2] < 1e-3 * scale[2]


def test_the_picture_has_a_line_for_every_joint_and_order(swing):
    figure = swing.plot()
    assert [len(axis.lines) for axis in figure.axes] == [7, 14, 14]
    pyplot.close(figure)


def test_times_that_do_not_increase_are_refused():
    robot = cf.load("planar2r")
    with pytest.raises(ArgumentError, match="times must be three or more increasing"):
        torques(robot, cosines(robot), [0.0, 2.0, 1.0])


def test_velocities_of_one_joint_are_numbered():
    robot = cf.Robot("ball", [cf.Body("b", None, cf.Spherical(name="j"),
                                      inertia=cf.Inertia(1.0, (0, 0, 1)))])
    assert torques(robot, cosines(robot), [0.0, 1.0, 2.0]).names == ("j[0]", "j[1]", "j[2]")


@pytest.fixture
def run():
    app = typer.Typer()
    app.callback()(lambda: None)
    register(app)
    return lambda *words: CliRunner().invoke(app, ["torques", *map(str, words)])


def test_the_command_writes_a_table_and_a_picture(run, tmp_path):
    table, picture = tmp_path / "t.csv", tmp_path / "t.png"
    result = run("planar2r", "-o", table, "--plot", picture, "--points", 20)
    assert result.exit_code == 0, result.output
    rows = list(csv.reader(table.open()))
    assert rows[0] == ["t", "tau_joint1", "tau_joint2", "dtau_joint1", "dtau_joint2",
                       "ddtau_joint1", "ddtau_joint2"]
    assert len(rows) == 21 and picture.stat().st_size > 10_000
    pyplot.close("all")


def test_the_command_takes_a_file_of_samples(run, tmp_path):
    robot, motion = cf.load("planar2r"), tmp_path / "motion.csv"
    t = np.linspace(0, 1, 101)
    np.savetxt(motion, np.column_stack([t, cosines(robot).coordinates(t)[0]]), delimiter=",")
    result = run("planar2r", "--trajectory", motion, "-o", tmp_path / "t.csv", "--points", 11)
    assert result.exit_code == 0, result.output
    found = np.loadtxt(tmp_path / "t.csv", delimiter=",", skiprows=1)
    expected = torques(robot, cosines(robot), np.linspace(0, 1, 11)).values
    np.testing.assert_allclose(found[:, 1:3], expected[:, 0], atol=1e-7)


def test_the_command_refuses_a_trajectory_that_does_not_exist(run):
    result = run("planar2r", "--trajectory", "nowhere.csv")
    assert isinstance(result.exception, ArgumentError)
