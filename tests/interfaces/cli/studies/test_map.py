"""`closedform map` and `closedform sweep`: tables, pictures and a page; stopped runs go on."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import closedform as cf
from closedform.applications.cluster import client as cluster_client
from closedform.interfaces.cli.main import app

pytest.importorskip("pyarrow", reason="NOT TESTED: pip install 'closedform[cluster]'")
TIP = cf.load("planar3r").bodies[-1].name


def run(*args):
    return CliRunner().invoke(app, [str(x) for x in args])


def test_map_writes_a_table_pictures_and_a_page(tmp_path):
    asked = ("map", "planar3r", "--orientations", 0, "--lower=-0.5,-0.5", "--upper", "0.5,0.5",
             "--step", 0.25, "--format", "parquet", "-o", tmp_path,
             "--json")
    told = json.loads(run(*asked).stdout)
    assert told["targets"] == 25 and sum(told["verdicts"].values()) == 25
    assert told["per_core_and_second"] > 0
    for name in ("slices.png", "histogram.png", "index.html", "map.parquet/part-00000000.parquet"):
        assert (tmp_path / name).stat().st_size > 0
    part = tmp_path / "map.parquet" / "part-00000000.parquet"
    before = part.stat().st_mtime_ns
    assert json.loads(run(*asked).stdout)["verdicts"] == told["verdicts"]
    assert part.stat().st_mtime_ns == before            # nothing was computed again


@pytest.mark.parametrize(("robot", "task", "orientations"), [
    ("planar3r", "PlanarPosition", 0), ("stanford", "Pose", 12)])
def test_a_grid_that_is_not_told_is_of_what_the_joints_can_choose(
        tmp_path, robot, task, orientations):
    """A planar arm gets places of a plane, one of six joints poses."""
    told = json.loads(run("map", robot, "--count", 24, "--format", "parquet", "-o", tmp_path,
                          "--json").stdout)
    about = json.loads((tmp_path / "map.parquet" / "_about.json").read_text())
    assert about["task"].startswith(f"{task}(") and about["grid"].endswith(f" {orientations}")
    assert 12 <= told["targets"] <= 120


@pytest.mark.parametrize(("args", "message"), [
    (("--criterion", "beauty"), "no criterion 'beauty'"),
    (("--format", "csv"), "no 'csv'"),
    (("--lower", "a,b", "--upper", "1,1", "--step", "1"), "numbers with commas"),
    (("--client", "tcp://127.0.0.1:1"), "no scheduler answers"),
])
def test_what_cannot_be_mapped_is_refused_and_leaves_nothing_behind(
        tmp_path, args, message, monkeypatch):
    if "--client" in args:
        pytest.importorskip("distributed")
        monkeypatch.setattr(cluster_client, "ANSWERS", 0.1)
    found = run("map", "planar3r", "--orientations", 0, "--lower=-0.5,-0.5", "--upper", "0.5,0.5",
                "--step", 0.5, "-o", tmp_path / "m", "--format", "parquet", *args)
    assert isinstance(found.exception, cf.ClosedformError) and message in str(found.exception)
    assert not (tmp_path / "m").exists()


def test_sweep_writes_a_table_and_a_picture(tmp_path):
    found = run("sweep", "planar3r", "mass_matrix", "--vary", f"mass:{TIP}=0.5:2:4",
                "--vary", f"load:{TIP}=0:1:3", "--format", "parquet", "-o", tmp_path)
    assert found.exit_code == 0 and "12 designs" in found.stdout
    rows = np.genfromtxt(tmp_path / "sweep.csv", delimiter=",", names=True)
    assert len(rows) == 12 and (tmp_path / "sweep.png").stat().st_size > 0


@pytest.mark.parametrize("vary", ["mass", "weight:a=1:2:3", "mass:b=x", "mass:c=1:2:3:4"])
def test_what_cannot_be_varied_is_refused(tmp_path, vary):
    found = run("sweep", "planar3r", "mass_matrix", "--vary", vary, "-o", tmp_path / "s")
    assert isinstance(found.exception, cf.ClosedformError)
    assert "KIND:NAME=FROM:TO:COUNT" in str(found.exception)
