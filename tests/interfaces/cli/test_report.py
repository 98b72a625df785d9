"""`closedform report` and `closedform bench`, as a user runs them."""

import json
import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from typer.testing import CliRunner

import closedform as cf
import closedform.applications.report.report as report_module
from closedform.applications.report import workers as report_workers
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


# ---------------------------------------------------------------------- what workers run
@pytest.fixture
def hostile(tmp_path):
    """A folder with modules named as ours and others' are; each tells that it was run."""
    for name in ("numpy.py", "random.py", "sitecustomize.py", "closedform/__init__.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"open({str(tmp_path / 'RAN')!r}, 'a').write({name!r})\n"
                                     "raise SystemExit('hostile')\n", encoding="utf8")
    return tmp_path


@pytest.mark.parametrize(("command", "times"), [
    (("report", "planar2r", "--json"), "speed"), (("bench", "planar2r", "--json"), "times_ns")])
def test_no_code_in_the_working_directory_is_run(hostile, command, times):
    """As a user types it, in a folder of downloads."""
    script = Path(sysconfig.get_path("scripts")) / "closedform"
    program = [script] if script.exists() else [sys.executable, "-P", "-m", "closedform"]
    source = Path(cf.__file__).parents[1]
    ran = subprocess.run([*program, *command], cwd=hostile, capture_output=True, text=True,
                         env=os.environ | {"PYTHONPATH": str(source)})
    assert not (hostile / "RAN").exists(), (hostile / "RAN").read_text(encoding="utf8")
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)[times] and "ended early" not in ran.stdout


ENDS = "raise SystemExit('ended too early')"


@pytest.mark.parametrize(("python", "serve", "why"), [
    (sys.executable, ENDS, "ended too early"),
    (sys.executable, "import os; os._exit(7)", "status 7"),
    ("/no/such/python", report_workers.SERVE, "No such file")], ids=["end", "die", "do not start"])
def test_where_all_workers_fail_bench_says_why_in_one_line(monkeypatch, python, serve, why):
    monkeypatch.setattr(report_workers, "SERVE", serve)
    monkeypatch.setattr(sys, "executable", python)
    ran = RUNNER.invoke(app, ["bench", "planar2r"])
    assert isinstance(ran.exception, cf.ClosedformError) and ran.output == ""
    assert re.fullmatch(f"no times of planar2r: not compiled: .*{why}.*", str(ran.exception))


def test_where_all_workers_fail_the_report_has_no_times_and_says_why(monkeypatch, tmp_path):
    monkeypatch.setattr(report_workers, "SERVE", ENDS)
    page = tmp_path / "page.html"
    ran = RUNNER.invoke(app, ["report", "planar2r", "-o", str(page)])
    assert ran.exit_code == 0, ran.output
    assert "warning: no times: not compiled: a process" in ran.stderr
    assert len(ran.stderr.splitlines()) == 1
    rows = len(cf.CATALOGUE)
    told = f"13 of 13 certificates hold, {rows - 1} quantities counted, 0 of {rows} compiled"
    assert told in ran.stdout
    text = page.read_text(encoding="utf8")
    speed, = re.findall('<section id="speed">(.*?)</section>', text)
    assert speed.endswith("<p>No times: not compiled: a process for that ended early (ended too "
                          "early).</p>")


def test_the_demo_has_a_urdf(tmp_path):
    assert "<robot" in real_urdf(tmp_path).read_text(encoding="utf8")
