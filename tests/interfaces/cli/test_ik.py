"""`closedform ik`: what it writes, what it says, and the status it leaves."""

import csv

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

import closedform as cf
from closedform.interfaces.cli.ik import complete_criterion, read_path, register

CIRCLE = np.array([[0.5 + 0.05 * np.cos(s), 0.04 + 0.05 * np.sin(s)]
                   for s in np.linspace(0, 2 * np.pi, 13)])
START = "--start=-0.3,2.25,1.65"


@pytest.fixture
def run():
    app = typer.Typer()
    app.callback()(lambda: None)
    register(app)
    return lambda *arguments: CliRunner().invoke(app, ["ik", *arguments], catch_exceptions=False)


def written(tmp_path, rows, heading=None):
    path = tmp_path / "path.csv"
    lines = [",".join(map(repr, map(float, row))) for row in rows]
    path.write_text("\n".join(([heading] if heading else []) + lines))
    return str(path)


def table(path):
    with path.open() as file:
        return list(csv.DictReader(file))


def test_a_path_gives_a_trajectory_certificates_and_a_plot(run, tmp_path):
    out = tmp_path / "out"
    path = written(tmp_path, CIRCLE, "x,y")
    result = run("planar3r", "--path", path, "--criterion", "manipulability", START, "-o", str(out))
    assert result.exit_code == 0
    assert "13 of 13 points: 13 maximum" in result.stdout
    rows = table(out / "trajectory.csv")
    assert len(rows) == 13 and list(rows[0])[:4] == ["t", "link1", "link2", "link3"]
    q = np.array([[float(row[f"link{k}"]) for k in (1, 2, 3)] for row in rows])
    robot = cf.load("planar3r")
    tips = [cf.frame_pose(robot, x, "tip")[:2, 3] for x in q]
    np.testing.assert_allclose(tips, CIRCLE, atol=1e-12)
    np.testing.assert_allclose(q[-1], q[0], atol=1e-9)
    assert {row["verdict"] for row in table(out / "certificates.csv")} == {"maximum"}
    assert (out / "trajectory.png").read_bytes()[:4] == b"\x89PNG"


def test_a_path_that_cannot_be_followed_is_reported_with_status_1(run, tmp_path):
    path = written(tmp_path, np.linspace(0.5, 0.05, 40)[:, None] * [1.0, 0.2])
    result = run("planar3r", "--path", path, START, "-o", str(tmp_path / "out"))
    assert result.exit_code == 1
    assert "stopped at point" in result.stdout and "a fold" in result.stdout
    assert "--start=" in result.stdout


def test_seven_numbers_a_row_are_poses(tmp_path):
    half = np.sqrt(0.5)
    written(tmp_path, [[0.1, 0.2, 0.3, 0, 0, half, half]])
    x, task = read_path(tmp_path / "path.csv")
    np.testing.assert_allclose(x[0], [[0, -1, 0, 0.1], [1, 0, 0, 0.2], [0, 0, 1, 0.3],
                                      [0, 0, 0, 1]], atol=1e-15)
    assert task("tip").shape(cf.load("planar3r")) == (4, 4)


@pytest.mark.parametrize(("text", "message"), [
    ("", "1 to"), ("x,y\n1,2\n3", "path.csv:3"), ("1,2,3,4", "not 4"), ("1,nan", "expected 2"),
    ("nan,1\n1,2", "path.csv:1"), ("p1,1,2\n1,2,3", "path.csv:1"),
    ("0,0,0,0,0,0,2", "length 1"),
])
def test_a_bad_path_is_refused_with_its_place(tmp_path, text, message):
    path = tmp_path / "path.csv"
    path.write_text(text)
    with pytest.raises(cf.ClosedformError, match=message):
        read_path(path)


def test_an_unknown_criterion_or_frame_is_refused(run, tmp_path):
    path = written(tmp_path, CIRCLE[:1])
    with pytest.raises(cf.ArgumentError, match="beauty"):
        run("planar3r", "--path", path, "--criterion", "beauty")
    with pytest.raises(cf.UnknownName, match="hand"):
        run("planar3r", "--path", path, "--frame", "hand")


def test_a_path_that_is_not_there_is_a_sentence(run, tmp_path):
    with pytest.raises(cf.ArgumentError, match=r"there is no file .*none\.csv.*2 numbers a row"):
        run("planar3r", "--path", str(tmp_path / "none.csv"))


def test_criteria_are_completed():
    assert complete_criterion("ma") == ["manipulability"]
