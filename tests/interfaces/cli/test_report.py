"""`closedform report` and `closedform bench`, as a user runs them."""

import json
import re

import pytest
from typer.testing import CliRunner

import closedform.applications.report.report as report_module
from closedform.applications.report.certificates import Certificate
from closedform.interfaces.cli.main import app
from closedform.interfaces.demo import real_urdf
from report_fixture import planar_report

RUNNER = CliRunner()


@pytest.fixture
def made(monkeypatch):
    """The command with a report that is made once."""
    monkeypatch.setattr(report_module, "report", lambda *args: planar_report())
    return planar_report()


def test_the_page_stands_alone(made, tmp_path):
    path = tmp_path / "page.html"
    ran = RUNNER.invoke(app, ["report", "planar3r", "-o", str(path)])
    assert ran.exit_code == 0, ran.output
    text = path.read_text(encoding="utf8")
    assert not re.search(r"""(src|href)=["'](?!#|data:)""", text)
    assert "<script" not in text and "@import" not in text
    assert text.count("<section") == 7
    assert f"{len(made.times)} of" in ran.output


def test_json_goes_to_standard_output(made, tmp_path):
    ran = RUNNER.invoke(app, ["report", "planar3r", "--json", "-o", str(tmp_path / "x.html")])
    assert json.loads(ran.stdout)["robot"]["name"] == "planar3r"


def test_a_failed_certificate_is_exit_code_1(made, monkeypatch, tmp_path):
    certificates = [*made.certificates, Certificate("a law", "1 = 2", 0.5, 1e-12)]
    monkeypatch.setattr(report_module.Report, "holds", property(
        lambda self: all(c.holds for c in certificates)))
    ran = RUNNER.invoke(app, ["report", "planar3r", "-o", str(tmp_path / "x.html")])
    assert ran.exit_code == 1


def test_kernels_of_another_inertia_are_exit_code_1(monkeypatch, tmp_path):
    """The whole command with kernels whose robot has one inertia entry changed."""
    honest = report_module.compile

    def corrupted(robot, **more):
        pi = robot.parameters.copy()
        pi[10] *= 1.001                             # the mass of the second link
        return honest(robot.with_parameters(pi), **more)

    monkeypatch.setattr(report_module, "compile", corrupted)
    path = tmp_path / "x.html"
    ran = RUNNER.invoke(app, ["report", "planar2r", "-o", str(path)])
    assert ran.exit_code == 1
    assert "fails: power" in ran.output
    assert 'class="verdict fails"' in path.read_text(encoding="utf8")


def test_bench_tells_times_and_what_is_left_out():
    ran = RUNNER.invoke(app, ["bench", "planar2r", "--json"])
    assert ran.exit_code == 0, ran.output
    told = json.loads(ran.stdout)
    assert all(row["call"] > 0 and row["batch"] > 0 for row in told["times_ns"])
    assert "operational_space_inertia" in told["left_out"]


def test_the_demo_has_a_urdf(tmp_path):
    assert "<robot" in real_urdf(tmp_path).read_text(encoding="utf8")
