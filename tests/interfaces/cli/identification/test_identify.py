"""`closedform identify`: from a model file and logs to an identified robot and a verdict."""

import json
import tomllib

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

import closedform as cf
from closedform.errors import ArgumentError
from closedform.interfaces.cli.identification import identify
from measured_runs import other_inertias, run

TRUE = cf.load("ur5")


def call(*arguments):
    app = typer.Typer()
    identify.register(app)
    app.command()(lambda: None)
    return CliRunner().invoke(app, ["identify", *map(str, arguments)], env={"COLUMNS": "200"},
                              catch_exceptions=False)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A model file that is not quite right, a log, and one of another motion."""
    folder = tmp_path_factory.mktemp("runs")
    (folder / "my.urdf").write_text(other_inertias(TRUE).to_urdf(), encoding="utf8")
    names = [f"{n}.{kind}" for kind in ("position", "effort") for n in TRUE.joint_names]
    for name, seed in (("run1", 0), ("run2", 7)):
        data = run(TRUE, seed, rate=100.0)
        np.savetxt(folder / f"{name}.csv", np.column_stack([data["t"], data["q"], data["tau"]]),
                   delimiter=",", comments="", header=",".join(["t", *names]))
    return folder


def test_a_robot_is_identified_and_written(files, tmp_path):
    done = call(files / "my.urdf", files / "run1.csv", "--validate", files / "run2.csv",
                "--friction", "viscous,coulomb", "-o", tmp_path / "identified.urdf",
                "--report", tmp_path / "fit.html")
    assert done.exit_code == 0, done.output
    assert "the identified robot holds" in done.stdout and "held out %" in done.stdout
    found = cf.load(tmp_path / "identified.urdf")
    q, v, a = TRUE.random(2), np.full(6, 0.3), np.full(6, 0.2)
    expected = cf.inverse_dynamics(TRUE, q, v, a)
    np.testing.assert_allclose(cf.inverse_dynamics(found, q, v, a), expected,
                               atol=0.03 * np.abs(expected).max())
    assert "verdict holds" in (tmp_path / "fit.html").read_text(encoding="utf8")


def test_without_held_out_motion_it_ends_with_one(files, tmp_path):
    done = call(files / "my.urdf", files / "run1.csv", "-o", tmp_path / "found.toml", "--json")
    assert done.exit_code == 1
    said = json.loads(done.stdout)
    assert not said["holds"] and "held out" in said["reasons"][0]
    assert not tomllib.loads((tmp_path / "found.toml").read_text())["identification"]["holds"]


def test_wrong_options_are_refused_before_anything_is_read(files):
    with pytest.raises(ArgumentError, match=r"\.urdf or \.toml"):
        call(files / "my.urdf", files / "run1.csv", "-o", "found.xyz")
    with pytest.raises(ArgumentError, match="no folder"):
        call(files / "my.urdf", files / "run1.csv", "--report", files / "nowhere" / "fit.html")
    with pytest.raises(ArgumentError, match="--lock"):
        call(files / "my.urdf", files / "run1.csv", "--lock", "elbow_joint")
    with pytest.raises(ArgumentError, match="JSON"):
        call(files / "my.urdf", files / "run1.csv", "--columns", "{q: 1}")
