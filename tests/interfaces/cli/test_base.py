"""`closedform base`: the table, LaTeX, JSON, the choice, the picture, refusals."""

import json

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from closedform.applications.base_parameters.picture import COLUMNS, picture, states
from closedform.applications.base_parameters.summary import base_parameters
from closedform.errors import ArgumentError, UnknownName
from closedform.interfaces.cli.base import register
from closedform.model.formats.urdf.write import urdf_text
from closedform.model.load import load
from nearly_parallel_robots import three_links


def run(*arguments, **environment):
    app = typer.Typer()
    register(app)
    app.command()(lambda: None)  # so that `base` stays a command of several
    return CliRunner().invoke(app, ["base", *arguments], env=environment, catch_exceptions=False)


def test_the_table_says_what_is_kept_what_it_stands_for_and_its_value():
    out = run("puma560").stdout
    assert out.startswith("puma560: 36 base parameters of 60; 11 without effect, 13 regrouped")
    for text in ("link1.Izz", "3.15348", "link2.mcx + 0.4318 (link3.m + link4.m + link5.m",
                 "no effect: 11", "regrouped: 13", "rational numbers"):
        assert text in out


def test_check_shows_the_numeric_twin():
    assert "numeric twin: rank 6 of 20 columns, certified" in run("planar2r", "--check").stdout


def test_json_holds_the_whole_answer():
    told = json.loads(run("planar2r", "--json").stdout)
    robot = load("planar2r")
    b = base_parameters(robot)
    assert told["count"] == b.count == 6
    assert told["names"] == list(b.names)
    np.testing.assert_array_equal(told["K"], b.K)
    np.testing.assert_array_equal(told["values"], b.values)
    assert told["evidence"]["twin"] is None


def test_latex_is_an_align_with_one_line_a_parameter():
    lines = run("planar3r", "--latex").stdout.strip().splitlines()
    assert (lines[0], lines[-1]) == (r"\begin{align*}", r"\end{align*}")
    assert len(lines) == 2 + 9
    assert all(line.count("&=") == 1 and line.endswith(r"\\") for line in lines[1:-1])
    assert r"0.36 m^{\mathrm{link2}}" in "".join(lines)


def test_keep_changes_the_choice_and_an_unknown_name_is_refused():
    told = json.loads(run("puma560", "--keep", "YY, link4.m", "--json").stdout)
    assert "link6.Iyy" in told["names"]
    assert "link4.m" in told["names"]
    with pytest.raises(UnknownName):
        run("puma560", "--keep", "weight")


def test_floating_adds_the_free_base():
    told = json.loads(run("planar2r", "--floating", "--json").stdout)
    assert told["count"] == 10 + 7 * 2


def test_a_picture_is_written_and_another_ending_refused(tmp_path):
    path = tmp_path / "arm.png"
    assert str(path) in run("planar2r", "--picture", str(path)).stdout.replace("\n", "")
    assert path.read_bytes().startswith(b"\x89PNG")
    with pytest.raises(ArgumentError, match=r"\.png"):
        run("planar2r", "--picture", str(tmp_path / "arm.doc"))


def test_the_picture_has_a_cell_for_every_parameter():
    b = base_parameters(load("puma560"))
    cells = states(b)
    assert [(cells == kind).sum() for kind in range(4)] == [11, 13, 19, 17]
    assert cells[0, COLUMNS.index(9)] == 3  # ZZ of link 1 carries others
    labels = [t.get_text() for t in picture(b).axes[0].get_yticklabels()]
    assert labels[0] == "link1  (1)"


def test_a_narrow_terminal_is_not_overrun():
    out = run("puma560", COLUMNS="60").stdout
    assert max(map(len, out.splitlines())) <= 60


@pytest.mark.filterwarnings("ignore:URDF of")
def test_what_is_identifiable_on_paper_only_is_said(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(urdf_text(three_links(pi=3.1416)), encoding="utf8")
    text = run(str(path)).output
    assert "on paper only" in text
    assert "by l1: alpha = 3.14159" in text
    assert json.loads(run(str(path), "--json").output)["on_paper_only"]
    assert "on paper only" not in run("ur5").output
