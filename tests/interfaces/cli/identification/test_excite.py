"""`closedform excite`: the table, JSON, files, refusals."""

import json

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

import closedform as cf
from closedform.errors import ArgumentError, UnknownName
from closedform.interfaces.cli.identification.excite import register
from measured_runs import run as measured

SHORT = ("planar2r", "--duration", "4", "--harmonics", "2", "--starts", "1")


def run(*arguments):
    app = typer.Typer()
    register(app)
    app.command()(lambda: None)     # so that `excite` stays a command of several
    return CliRunner().invoke(app, ["excite", *arguments], catch_exceptions=False)


def test_the_table_has_all_criteria_limits_and_sds(tmp_path):
    path, picture = tmp_path / "motion.csv", tmp_path / "motion.png"
    out = run(*SHORT, "-o", str(path), "--plot", str(picture), "--rate", "100").stdout
    for word in ("condition number", "D:", "A:", "limits used", "predicted sd", "joint1.viscous"):
        assert word in out
    lines = path.read_text().splitlines()
    assert lines[0].startswith("t,q_joint1,q_joint2,v_joint1")
    assert len(lines) == 1 + 401
    assert picture.stat().st_size > 10_000


def test_json_holds_what_a_program_wants():
    told = json.loads(run(*SHORT, "--json", "--criterion", "condition", "--start",
                          "0.1,0.2").stdout)
    assert told["start"] == [0.1, 0.2]
    assert told["criterion"] == "condition"
    assert told["conditions"]["condition"] > 1
    assert all(x <= 0.95 + 1e-9 for use in told["limit_use"].values() for x in use.values())
    assert {"name", "expected", "sd", "relative"} == set(told["unknowns"][0])


def test_what_identify_has_kept_is_counted_in(tmp_path):
    robot, folder = cf.load("planar2r"), tmp_path / "kept"
    np.savez(tmp_path / "run.npz", **measured(robot, rate=100.0))
    idn = cf.identification
    idn.information(idn.Model(robot), idn.read(tmp_path / "run.npz", robot), keep=folder)
    (folder / ".17-run-half.npz").write_bytes(b"PK")       # of a run that was killed
    alone, more = (json.loads(run(*SHORT, "--json", *prior).stdout)["unknowns"]
                   for prior in ((), ("--prior", str(folder))))
    assert all(b["sd"] < a["sd"] for a, b in zip(alone, more, strict=True))
    (tmp_path / "empty").mkdir()
    with pytest.raises(ArgumentError, match="--prior"):
        run(*SHORT, "--prior", str(tmp_path / "empty"))


@pytest.mark.parametrize(("wrong", "error", "word"), [
    (("-o", "motion.txt"), ArgumentError, "csv"), (("--start", "a,b"), ArgumentError, "start"),
    (("--plot", "motion.gif"), ArgumentError, "png"), (("--kind", "wave"), UnknownName, "wave"),
    (("--margin", "2"), ArgumentError, "margin"), (("--friction", "wet"), UnknownName, "wet"),
])
def test_requests_that_cannot_be_met_are_refused(wrong, error, word):
    with pytest.raises(error, match=word):
        run(*SHORT, *wrong)
