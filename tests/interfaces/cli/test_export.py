import subprocess
import sys

import pytest
from typer.testing import CliRunner

from closedform.applications.export.targets import TARGETS
from closedform.errors import ArgumentError
from closedform.interfaces.cli.main import app
from export_tools import check_folder

CALL = CliRunner()


def export(*arguments):
    return CALL.invoke(app, ["export", *map(str, arguments)], catch_exceptions=False)


def test_the_help_names_every_target_and_every_option_of_the_tables():
    told = CALL.invoke(app, ["export", "--help"], env={"COLUMNS": "200"}).output
    assert f"One of {', '.join(TARGETS)}." in told
    for flag in ("--no-batch", "--single", "--symbols", "--damping", "--wrenches", "--order"):
        assert flag in told


def test_the_command_writes_a_folder_that_checks_itself(tmp_path):
    done = export("ur5", "inverse_dynamics", "mass_matrix", "--to", "c", "-o", tmp_path)
    assert done.exit_code == 0
    assert "ur5_mass_matrix.c" in done.output and "cc *.c -lm && ./a.out" in done.output
    assert check_folder(tmp_path, "c").count("passed ") == 2


def test_the_folder_compiles_as_it_is(tmp_path):
    export("planar2r", "gravity_torque", "--to", "c", "-o", tmp_path)
    done = subprocess.run("cc *.c -lm && ./a.out", shell=True, cwd=tmp_path, check=False,
                          capture_output=True, text=True)
    assert done.returncode == 0 and "all passed" in done.stdout


def test_options_of_the_command_reach_the_export(tmp_path):
    export("planar2r", "inverse_dynamics", "frame_jacobian", "--frame", "tip", "--reference",
           "world", "--to", "python", "--input", "gravity", "--input", "payload:tip",
           "--wrenches", "-o", tmp_path)
    text = (tmp_path / "planar2r_inverse_dynamics.py").read_text()
    assert "def planar2r_inverse_dynamics(q, v, a, wrenches, gravity, payload):" in text
    assert (tmp_path / "planar2r_frame_jacobian_tip_world.py").exists()
    done = subprocess.run([sys.executable, "test_vectors.py"], cwd=tmp_path, check=False,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_flexible_arms_leave_by_the_same_command(tmp_path):
    done = export("deluca_siciliano", "inertia_matrix", "--to", "python", "-o", tmp_path)
    assert done.exit_code == 0 and "deluca_siciliano_inertia_matrix.py" in done.output


@pytest.mark.parametrize("arguments, message", [
    (["frame_pose", "--to", "c"], "needs a frame: --frame NAME"),
    (["mass_matrix", "--to", "fortran"], "no target"),
    (["mass_matrix", "--to", "casadi", "--single"], "to c and python and jax, not to casadi"),
    (["mass_matrix", "--to", "c", "--damping", "0.1"], "of flexible arms, not of robots"),
    (["mass_matrix", "--to", "c", "--input", "wind"], "payload:FRAME"),
    (["frame_jacobian", "--to", "c", "--frame", "tip", "--reference", "mars"], "reference is one"),
])
def test_what_cannot_be_written_is_refused(arguments, message, tmp_path):
    with pytest.raises(ArgumentError, match=message):
        export("planar2r", *arguments, "-o", tmp_path)
