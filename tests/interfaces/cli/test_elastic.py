"""`closedform elastic`: what it writes, and how it refuses."""

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from closedform.errors import ClosedformError
from closedform.interfaces.cli.elastic import register

app = typer.Typer()
app.callback()(lambda: None)
register(app)


def run(*arguments):
    return CliRunner().invoke(app, ["elastic", *map(str, arguments)], catch_exceptions=False)


def samples(path, jump=0.0):
    t = np.linspace(0, 1, 41)
    q = np.stack([np.sin(t), np.cos(2 * t) + jump * (t > 0.5)], axis=1)
    np.savetxt(path, np.column_stack([t, q]), delimiter=",", fmt="%.17g")
    return path


def test_a_table_and_a_picture_are_written(tmp_path):
    motion = samples(tmp_path / "motion.csv")
    result = run("planar2r", "--stiffness", 500, "--motor-inertia", "0.1,0.2",
                 "--trajectory", motion, "-o", tmp_path / "u.csv", "--plot", tmp_path / "u.png",
                 "--points", 21)
    assert result.exit_code == 0
    assert "21 times; torques u, positions theta, velocities omega of 2 motors" in result.stdout
    table = np.genfromtxt(tmp_path / "u.csv", delimiter=",", names=True)
    assert len(table) == 21
    assert (tmp_path / "u.png").stat().st_size > 10_000


def test_joints_may_be_named_and_left_rigid(tmp_path):
    result = run("iiwa14", "--stiffness", "joint2=2000,joint4=inf", "--damping", "joint2=3",
                 "--points", 11, "-o", tmp_path / "u.csv")
    assert result.exit_code == 0
    assert "1 of them on springs" in result.stdout
    assert "joint2: largest motor torque" in result.stdout


@pytest.mark.parametrize(("arguments", "told"), [
    (["planar2r", "--stiffness", "0"], "must be positive, it is 0"),
    (["planar2r", "--stiffness", "stiff"], "--stiffness is a number for all joints"),
    (["planar2r", "--stiffness", "1,2,3"], "one number or 2 for planar2r, not 3"),
    (["planar2r", "--stiffness", "1", "--gear-ratio", "0"], "must not be 0"),
    (["planar2r", "--stiffness", "1", "--trajectory", "nowhere.csv"], "no trajectory"),
    (["planar2r", "--stiffness", "1", "--duration", "0"], "must be positive"),
    (["planar2r", "--stiffness", "1", "--plot", "u.zzz"], "--plot: a file ending in .png"),
])
def test_a_request_that_cannot_be_met_is_one_of_our_errors(arguments, told):
    with pytest.raises(ClosedformError, match=told):
        run(*arguments)


def test_a_motion_that_jumps_or_has_too_few_samples_is_told(tmp_path):
    with pytest.raises(ClosedformError, match=r"coordinate 1 is not smooth near t = 0\.5"):
        run("planar2r", "--stiffness", 500, "--trajectory", samples(tmp_path / "m.csv", jump=0.1))
    (tmp_path / "few.csv").write_text("0,0,0\n0.1,0,0\n0.2,0,0\n")
    with pytest.raises(ClosedformError, match="more than 7 samples for its four derivatives"):
        run("planar2r", "--stiffness", 500, "--trajectory", tmp_path / "few.csv")


def test_a_trajectory_that_is_no_text_is_told(tmp_path):
    (tmp_path / "motion.csv").write_bytes(b"\xff\xfe\x00\x81")
    with pytest.raises(ClosedformError, match=r"motion\.csv: not a text file"):
        run("planar2r", "--stiffness", 500, "--trajectory", tmp_path / "motion.csv")
