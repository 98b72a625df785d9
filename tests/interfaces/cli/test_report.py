"""`closedform report` and `closedform bench`, as a user runs them."""

import json
import os
import re
import signal
import subprocess
import sys
import sysconfig
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

import closedform as cf
import closedform.applications.report.report as report_module
from closedform.applications.report import workers as report_workers
from closedform.applications.report.certificates import Certificate
from closedform.applications.report.quantities import jobs
from closedform.interfaces.cli.main import app
from closedform.interfaces.demo import real_urdf
from closedform.model.findings import Level
from report_fixture import planar_report

RUNNER = CliRunner()


@pytest.fixture
def made(monkeypatch):
    """The command with a report that is made once, before the maker of reports is replaced."""
    once = planar_report()
    monkeypatch.setattr(report_module, "report", lambda *args, **named: once)
    return once


def test_a_flexible_arm_is_refused_with_what_takes_it(tmp_path):
    ran = RUNNER.invoke(app, ["report", "deluca_siciliano", "-o", str(tmp_path / "page.html")])
    assert isinstance(ran.exception, cf.ArgumentError)
    assert "flexible arm" in str(ran.exception) and "live" in str(ran.exception)


def test_the_page_stands_alone(made, tmp_path):
    path = tmp_path / "page.html"
    ran = RUNNER.invoke(app, ["report", "planar3r", "-o", str(path)])
    assert ran.exit_code == 0, ran.output
    text = path.read_text(encoding="utf8")
    assert not re.search(r"""(src|href)=["'](?!#|data:)""", text)
    assert "@import" not in text and "default-src 'none'" in text
    assert text.count("<section") == 9
    whole = re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)       # without scripts
    assert whole.count("<section") == 9 and "<svg" in whole and 'data-values="mass_matrix"' in whole
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
    monkeypatch.setattr(report_module, "jobs", lambda robot: [          # the laws make their own
        job for job in jobs(robot) if job[0] == "inverse_dynamics"])
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
    speed, = re.findall('<section id="speed">(.*?)</section>', text, re.DOTALL)
    assert ("<p>No times: not compiled: a process for that ended early (ended too "
            "early).</p>") in speed
    assert f">0 of {rows} kernels ready<" in text


def test_the_demo_has_a_urdf(tmp_path):
    assert "<robot" in real_urdf(tmp_path).read_text(encoding="utf8")


def test_a_page_in_a_folder_that_is_not_there_is_refused_at_once(monkeypatch, tmp_path):
    monkeypatch.setattr(report_module, "report", lambda *_, **named: pytest.fail("computed first"))
    ran = RUNNER.invoke(app, ["report", "planar3r", "-o", str(tmp_path / "none" / "x.html")])
    assert "there is no folder" in str(ran.exception) and "none" in str(ran.exception)


LINK = ('<link name="{0}"><inertial><mass value="2"/><origin xyz="0.1 0.2 0.3"/><inertia ixx="0.1" '
        'iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>')
JOINT = ('<joint name="{0}" type="prismatic"><parent link="{1}"/><child link="{2}"/>'
         '<axis xyz="{3}"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>')
JOINTS = JOINT.format("one", "base", "a", "1 0 0") + JOINT.format("two", "a", "b", "0 1 0")
MASSLESS = {
    "leaf": ('<robot name="leaf"><link name="base"/><link name="b"/>' + LINK.format("a") + JOINTS
             + "</robot>", [], "no inertia moves with b (joint two)"),
    "all": ('<robot name="all"><link name="base"/><link name="b"/><link name="a"/>' + JOINTS
            + "</robot>", [], "no inertia moves with a (joint one), b (joint two)"),
    "root": ('<robot name="root"><link name="base"/>' + LINK.format("a") + LINK.format("b")
             + JOINTS + "</robot>", ["--floating"], "the mass matrix of root is singular"),
}


def test_errors_that_lint_finds_are_told_on_standard_error(monkeypatch, tmp_path):
    """Swapped limits and a body that cannot be; the certificates hold all the same."""
    file = tmp_path / "arm.urdf"
    file.write_text('<robot name="arm"><link name="base"/><link name="b"/>' + LINK.format(
        "a").replace('ixx="0.1"', 'ixx="-0.1"') + JOINTS.replace('lower="-1"', 'lower="3"')
        + "</robot>", encoding="utf8")
    errors = [f for f in cf.lint(file) if f.level is Level.ERROR]
    assert {"limits-swapped"} < {f.rule for f in errors}
    found = replace(planar_report(), findings=tuple(cf.lint(file)))
    monkeypatch.setattr(report_module, "report", lambda *_, **named: found)
    ran = RUNNER.invoke(app, ["report", str(file), "-o", str(tmp_path / "page.html")])
    assert ran.exit_code == 0
    told = [line for line in ran.stderr.splitlines() if line.startswith("warning: lint:")]
    assert told == [f"warning: lint: {error}" for error in errors]


@pytest.mark.parametrize("name", MASSLESS)
def test_a_robot_without_mass_has_a_page_that_says_so(name, tmp_path):
    """A massless leaf, no mass at all, a massless floating root; no warning of NumPy's is shown."""
    text, options, said = MASSLESS[name]
    file, page = tmp_path / "robot.urdf", tmp_path / "page.html"
    file.write_text(text, encoding="utf8")
    ran = subprocess.run([sys.executable, "-P", "-m", "closedform", "report", str(file), "-o",
                          str(page), *options], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert said in ran.stderr and said in page.read_text(encoding="utf8")
    assert not re.search("divide|invalid|nan|Traceback", ran.stderr)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs signals of POSIX")
@pytest.mark.parametrize("number", ["SIGTERM", "SIGHUP"])
def test_a_signal_that_ends_a_report_ends_its_workers(number, tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "closedform", "report", "humanoid25", "-o",
         str(tmp_path / "x.html")], env=os.environ | {"CLOSEDFORM_CACHE": "off"},
        stderr=subprocess.DEVNULL)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    if not children.exists():
        process.kill()
        pytest.skip("the system does not tell the children of a process")
    workers = _until(lambda: _children(children.parents[1]))
    process.send_signal(getattr(signal, number))
    assert process.wait(120) == 128 + getattr(signal, number)
    _until(lambda: not any(Path(f"/proc/{worker}").exists() for worker in workers))


def _children(tasks):
    """Processes begun by any of the threads; a thread may end while it is asked."""
    found = []
    for thread in list(tasks.iterdir()):
        with suppress(FileNotFoundError, ProcessLookupError):
            found += [int(x) for x in (thread / "children").read_text().split()]
    return found


def _until(found, seconds=120.0):
    """What `found` answers as soon as it is something."""
    end = time.monotonic() + seconds
    while not (answer := found()):
        assert time.monotonic() < end
        time.sleep(0.05)
    return answer
