"""`closedform signals`: the table, JSON, pictures, told columns; status 1 for errors."""

import json

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

import closedform as cf
from closedform.interfaces.cli.identification.signals import register, told_columns
from simulated_logs import Faults, joint_columns, simulated

PANDA = cf.load("panda")


def run(*arguments):
    app = typer.Typer()
    register(app)
    app.command()(lambda: None)
    return CliRunner().invoke(app, ["signals", *map(str, arguments)], env={"COLUMNS": "200"},
                              catch_exceptions=False)


@pytest.fixture(scope="module")
def logged():
    faults = Faults(noise=1e-6, jitter=1e-3, repeats=0.02, lost=0.02, lag=4e-3)
    return simulated(PANDA, 8.0, faults, torques=False)[0]


def write(path, columns, header=True):
    np.savetxt(path, np.column_stack(list(columns.values())), delimiter=",", comments="",
               header=",".join(columns) if header else "", fmt="%.12g")
    return path


def test_a_log_is_told_with_its_clock_joints_and_findings(logged, tmp_path):
    found = run(write(tmp_path / "run.csv", joint_columns(PANDA, logged)), "--robot", "panda",
                "--plot", tmp_path / "run.png")
    assert found.exit_code == 0
    for words in ("1000 Hz", "panda_joint7", "ticks of 1 ms", "repeat the row before",
                  "4 ms behind the positions", "a cutoff of"):
        assert words in " ".join(found.stdout.split())
    assert (tmp_path / "run.png").read_bytes().startswith(b"\x89PNG")


def test_json_is_one_document(logged, tmp_path):
    found = run(write(tmp_path / "run.csv", joint_columns(PANDA, logged)), "--robot", "panda",
                "--json")
    read = json.loads(found.stdout)
    assert read["clock"] == "ticks" and read["period_s"] == 1e-3
    assert {f["rule"] for f in read["findings"]} >= {"clock-jitter", "repeats", "velocity-lag"}


def test_columns_and_units_are_told_on_the_line(logged, tmp_path):
    degrees = {**logged, "q": np.degrees(logged["q"]), "v": np.degrees(logged["v"])}
    path = write(tmp_path / "run.csv", joint_columns(PANDA, degrees), header=False)
    told = ("--robot", "panda", "--columns", "t=0,q=1:8,v=8:15,tau=15:22")
    assert run(path, *told).exit_code == 1
    assert run(path, *told, "--units", "deg").exit_code == 0


def test_errors_of_a_log_have_status_1(logged, tmp_path):
    bad = joint_columns(PANDA, logged)
    bad["panda_joint3.effort"] = np.where(np.arange(len(bad["t"])) == 50, np.nan, 0.0)
    found = run(write(tmp_path / "run.csv", bad), "--robot", "panda")
    assert found.exit_code == 1 and "is no number in 1 of" in found.stdout


def test_a_joint_that_is_not_logged_may_be_locked(logged, tmp_path):
    columns = {k: x for k, x in joint_columns(PANDA, logged).items() if "joint7" not in k}
    path = write(tmp_path / "run.csv", columns)
    with pytest.raises(cf.ArgumentError, match=r"no q of panda_joint7.*reduced"):
        run(path, "--robot", "panda")
    assert run(path, "--robot", "panda", "--lock", "panda_joint7=0.3").exit_code == 0


def test_columns_may_be_told_in_several_ways():
    assert told_columns("t=time,q=1:8,tau=a|b|3") == {
        "t": "time", "q": slice(1, 8), "tau": ["a", "b", 3]}
    assert told_columns('{"q": [0, 1]}') == {"q": [0, 1]}
    for wrong in ("q", "{q"):
        with pytest.raises(cf.ArgumentError, match="--columns"):
            told_columns(wrong)
