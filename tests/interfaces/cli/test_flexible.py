"""`closedform flexible`: what it prints and writes, and how it refuses."""

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from closedform.errors import ClosedformError
from closedform.interfaces.cli.flexible import register

app = typer.Typer()
app.callback()(lambda: None)
register(app)


def run(*arguments):
    return CliRunner().invoke(app, ["flexible", *map(str, arguments)], catch_exceptions=False)


def test_an_arm_is_shown_with_the_modes_of_its_links_and_its_frequencies():
    result = run("deluca_siciliano")
    assert result.exit_code == 0
    for text in ("2 links, 6 coordinates (θ1, θ2, δ11, δ12, δ21, δ22)", "15.9145 Hz",
                 "carries 1.2 kg and 0.133833 kg m²", "joints locked: 0.4381, 1.973, 2.669, 16.12",
                 "joints free: 1.42, 2.647, 16.12, 29.29"):
        assert text in result.stdout


def test_simulate_writes_a_table_plots_and_an_animation(tmp_path):
    result = run("deluca_siciliano", "--simulate", "--duration", 0.1, "--frames", 5,
                 "-o", tmp_path / "new")
    assert result.exit_code == 0
    assert sorted(p.name for p in (tmp_path / "new").iterdir()) == [
        "deluca_siciliano.csv", "deluca_siciliano.gif", "deluca_siciliano.png"]
    table = np.genfromtxt(tmp_path / "new" / "deluca_siciliano.csv", delimiter=",", names=True)
    assert len(table) == 101
    assert table["delta21"][0] == 0.1
    assert "residuals: energy" in result.stdout


def test_a_bang_bang_torque_with_damping_and_exact_rotations(tmp_path):
    result = run("deluca_siciliano", "--simulate", "--duration", 0.02, "--q0", "0,0,0,0,0,0",
                 "--torque", "0.2,-0.1", "--bang-bang", 0.01, "--damping", 0.1, "--exact",
                 "--no-animation", "-o", tmp_path)
    assert result.exit_code == 0
    table = np.genfromtxt(tmp_path / "deluca_siciliano.csv", delimiter=",", names=True)
    np.testing.assert_array_equal(table["tau1"][[0, 4, 5, 9, 10, 20]],
                                  [0.2, 0.2, -0.2, -0.2, 0, 0])


@pytest.mark.parametrize(("arguments", "told"), [
    (["deluca_siciliano", "--simulate", "--q0", "a,b"], "--q0 is numbers separated by commas"),
    (["deluca_siciliano", "--simulate", "--bang-bang", "1"], "needs --torque"),
    (["deluca_siciliano", "--simulate", "--duration", "-1"], "duration and step are positive"),
    (["deluca_siciliano", "--simulate", "--method", "Euler"], "method must be one of"),
    (["nowhere.toml"], "no such file"),
])
def test_a_request_that_cannot_be_met_is_one_of_our_errors(arguments, told):
    with pytest.raises(ClosedformError, match=told):
        run(*arguments)
