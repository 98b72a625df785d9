"""The command line: what it prints, where, and the status it leaves."""

import json
import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import closedform as cf
from closedform.interfaces.cli import main as main_module
from closedform.interfaces.cli.main import app, main
from closedform.lowerings.store.cache import Cache, package_stamp
from closedform.model.zoo.zoo import BUILTIN

GOOD = """<robot name="arm"><link name="base"/>
<link name="upper"><inertial><origin xyz="0 0 0.2"/><mass value="2"/>
  <inertia ixx="0.1" iyy="0.1" izz="0.05" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/>
  <axis xyz="0 1 0"/><limit lower="-1" upper="2" effort="30" velocity="4"/></joint></robot>"""
IMPOSSIBLE = GOOD.replace('ixx="0.1"', 'ixx="5"')
NEGATIVE = GOOD.replace('<mass value="2"/>', '<mass value="-2"/>')
NO_NUMBER = GOOD.replace('<mass value="2"/>', '<mass value="heavy"/>')


@pytest.fixture
def model(tmp_path):
    def written(text, name="arm.urdf"):
        path = tmp_path / name
        path.write_text(text)
        return str(path)
    return written


def run(*arguments, **environment):
    return CliRunner().invoke(app, arguments, env=environment, catch_exceptions=False)


def status_of_main(monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["closedform", *arguments])
    with pytest.raises(SystemExit) as stop:
        main()
    return stop.value.code


# ---------------------------------------------------------------------- show
def test_show_draws_the_tree_joints_masses_limits_and_totals(model):
    result = run("show", model(GOOD))
    assert result.exit_code == 0
    for text in ("arm: nq 1, nv 1, 2 kg, fixed base", "└── upper  2 kg  shoulder: revolute y",
                 "-1 … 2 rad", "30", "frame base on the world", "1 body, 1 moving joint, 1 frame"):
        assert text in result.stdout
    assert result.stderr == ""


def test_show_has_springs_configurations_and_what_was_left_out(model):
    pytest.importorskip("mujoco")
    mjcf = """<mujoco><option density="1"/><worldbody><body name="b"><joint name="j" axis="0 0 1"
      stiffness="2.5"/><geom size=".1"/></body></worldbody>
      <keyframe><key name="home" qpos=".75"/></keyframe></mujoco>"""
    result = run("show", model(mjcf, "b.xml"))
    for text in ("stiffness", "2.5", "configuration home: q = 0.75", "left out: fluid forces"):
        assert text in result.stdout
    about = json.loads(run("show", model(mjcf, "b.xml"), "--json").stdout)
    assert about["configurations"] == {"home": [0.75]}
    assert about["notes"] == ["left out: fluid forces"]


def test_show_says_what_is_in_the_world_and_what_frees_it(model):
    base = ('<link name="base"><inertial><mass value="10.25"/><inertia ixx="1" ixy="0" ixz="0" '
            'iyy="1" iyz="0" izz="1"/></inertial></link>')
    path = model(GOOD.replace('<link name="base"/>', base))
    line = "base, 10.25 kg, is part of the world; --floating frees it"
    assert run("show", path).stdout.count(line) == 1
    assert "--floating" not in run("show", path, "--floating").stdout
    assert "--floating" not in run("show", model(GOOD)).stdout


def test_show_takes_states_from_an_srdf(model, tmp_path):
    path = tmp_path / "states.srdf"
    path.write_text('<robot name="r"><group_state name="home" group="all">'
                    '<joint name="shoulder" value="0.25"/></group_state></robot>')
    assert "configuration home: q = 0.25" in run("show", model(GOOD), "--srdf", str(path)).stdout


def test_show_takes_a_built_in_robot_by_name():
    assert "panda_joint7" in run("show", "panda").stdout


def test_show_says_which_bodies_share_lanes():
    assert "2 lanes of one state: left_thigh, right_thigh" in run("show", "humanoid25").stdout
    assert "lanes" not in run("show", "panda").stdout
    facts = json.loads(run("show", "humanoid25", "--json").stdout)
    assert ["left_shank", "right_shank"] in facts["lanes"]
    joined = cf.compile(cf.load("humanoid25")).inverse_dynamics.lanes.groups
    assert facts["joined_lanes"] == [list(group) for group in joined]


def test_show_floating_puts_the_root_link_on_a_free_joint(model):
    facts = json.loads(run("show", model(GOOD), "--floating", "--json").stdout)
    assert facts["floating"]
    assert facts["bodies"][0]["joint"]["kind"] == "free"
    assert (facts["nq"], facts["nv"]) == (8, 7)


@pytest.mark.parametrize("name", BUILTIN)
def test_show_json_is_one_strict_json_document(name):
    def refuse(constant):
        raise AssertionError(f"{constant} is no JSON")
    facts = json.loads(run("show", name, "--json").stdout, parse_constant=refuse)
    assert facts["name"] == name
    assert sum(len(body["joint"]["v"]) for body in facts["bodies"]) == facts["nv"]


def test_a_narrow_terminal_loses_no_number():
    narrow, wide = (run("show", "panda", COLUMNS=width).stdout for width in ("40", "160"))
    assert max(map(len, narrow.splitlines())) <= 40
    for text in ("-2.897", "0.0698", "2.175", "panda_joint4"):
        assert text in wide
        assert text in narrow


def test_warnings_of_the_loader_are_one_line_each_on_standard_error(model, monkeypatch, capsys):
    assert status_of_main(monkeypatch, "show", model(IMPOSSIBLE)) == 0
    out, err = capsys.readouterr()
    assert err.startswith("warning: ")
    assert err.count("\n") == 1
    assert "shoulder" in out


# ---------------------------------------------------------------------- errors
@pytest.mark.parametrize("arguments", [("show", "nowhere.urdf"), ("show", "pand"),
                                       ("lint", "pand")])
def test_a_source_that_is_not_there_is_one_line_and_status_2(arguments, monkeypatch, capsys):
    assert status_of_main(monkeypatch, *arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("\n") == 1


def test_a_file_that_cannot_be_read_is_one_line_and_status_2(model, monkeypatch, capsys):
    assert status_of_main(monkeypatch, "show", model(NO_NUMBER)) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert "arm.urdf:2" in err
    assert err.count("\n") == 1


def test_a_trouble_of_the_system_is_one_line_and_status_2(model, monkeypatch, capsys):
    def denied(*_, **__):
        raise PermissionError(13, "Permission denied", "arm.urdf")
    monkeypatch.setattr("closedform.interfaces.cli.terminal.load", denied)
    assert status_of_main(monkeypatch, "show", model(GOOD)) == 2
    assert capsys.readouterr().err == "error: arm.urdf: Permission denied\n"


def test_a_wrong_command_is_a_usage_error():
    result = run("dance")
    assert result.exit_code == 2
    assert "No such command" in result.stderr


# ---------------------------------------------------------------------- lint
def test_lint_of_a_good_file_has_nothing_to_complain_about_and_status_0():
    result = run("lint", "panda")
    assert (result.exit_code, result.stdout) == (0, "nothing to complain about\n")


def test_lint_of_a_file_with_errors_names_place_rule_and_repair_and_has_status_1(model):
    file = model(NEGATIVE)
    result = run("lint", file)
    assert result.exit_code == 1
    first = result.stdout.splitlines()[0]
    assert first.startswith(f"{file}:2: error: ")  # of <mass>
    assert first.endswith("[negative-mass]")
    assert result.stdout.splitlines()[-1] == "1 error"


def test_lint_of_an_impossible_tensor_warns_with_a_repair_and_has_status_0(model):
    file = model(IMPOSSIBLE)
    result = run("lint", file)
    assert result.exit_code == 0
    first, second, *_ = result.stdout.splitlines()
    assert first.startswith(f"{file}:3: warning: ")  # of <inertia>
    assert first.endswith("[impossible-inertia]")
    assert second.startswith("    repair: ")


def test_lint_json_is_a_list_of_findings(model):
    result = run("lint", model(IMPOSSIBLE), "--json")
    (finding,) = json.loads(result.stdout)
    assert result.exit_code == 0
    assert (finding["level"], finding["line"]) == ("warning", 3)
    assert finding["rule"] == "impossible-inertia"


# ---------------------------------------------------------------------- the rest
def test_robots_lists_every_built_in_robot():
    text, facts = run("robots").stdout, json.loads(run("robots", "--json").stdout)
    assert [row["name"] for row in facts] == list(BUILTIN)
    assert all(name in text for name in BUILTIN)


def test_version_is_the_packages():
    assert run("--version").stdout == f"closedform {metadata.version('closedform')}\n"


def test_a_package_that_was_only_copied_works_too(monkeypatch, tmp_path):
    """Without the metadata of an installation: kernels, exports and the version."""
    def none(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", none)
    package_stamp.cache_clear()
    robot = cf.load("planar2r")
    assert cf.compile(robot, cache=Cache(None)).mass_matrix(np.zeros(2)).shape == (2, 2)
    for target in ("c", "latex"):
        cf.export(robot, "gravity_torque", target, tmp_path)
    assert run("--version").stdout == f"closedform {cf.__version__}\n"


@pytest.mark.parametrize("command", [x.name or x.callback.__name__
                                     for x in app.registered_commands])
def test_help_of_every_command_has_an_example(command):
    _, examples = run(command, "--help").stdout.split("Example", 1)
    assert f"closedform {command}" in " ".join(examples.split())


def test_the_installed_program_prints_plain_text_into_a_pipe():
    program = [sys.executable, "-c", "from closedform.interfaces.cli.main import main; main()"]
    done = subprocess.run([*program, "show", "planar2r"], capture_output=True, check=True,
                          text=True, encoding="utf-8", timeout=60)
    assert "\x1b" not in done.stdout
    assert "joint2" in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize(("words", "found"), [
    (["closedform", "report", "iiw"], {"iiwa14"}),
    (["closedform", "lint", "models/a"], {"models/arm.urdf"}),
    (["closedform", "show", "mod"], {"models/"}),
    (["closedform", "export", "ur5", "mass"], {"mass_matrix", "mass_matrix_inverse"}),
    (["closedform", "export", "ur5", "bias", "--to", "ca"], {"casadi"}),
    (["closedform", "rep"], {"report"}),
])
def test_a_shell_completes_commands_robots_files_and_quantities(words, found, tmp_path):
    (tmp_path / "models").mkdir()
    for name in ("arm.urdf", "arm.stl"):
        (tmp_path / "models" / name).touch()
    told = subprocess.run(
        [sys.executable, "-c", "from closedform.interfaces.cli.main import main; main()"],
        capture_output=True, text=True,
        cwd=tmp_path, check=True, env=os.environ | {
            "_CLOSEDFORM_COMPLETE": "complete_bash", "COMP_WORDS": " ".join(words),
            "COMP_CWORD": str(len(words) - 1)})
    assert set(told.stdout.split()) == found


def test_every_command_is_a_file_of_the_folder_and_is_told_by_the_help():
    files = {path.stem for path in Path(main_module.__file__).parent.rglob("*.py")
             if "def register(" in path.read_text(encoding="utf8")}
    assert {command.__name__.rpartition(".")[2] for command in main_module.COMMANDS} == files
    told = run("--help").stdout
    assert [x.name or x.callback.__name__ for x in app.registered_commands if
            (x.name or x.callback.__name__) not in told] == []


# ---------------------------------------------------------------------- how robots are loaded
LOOP = """<mujoco model="loop"><worldbody>
  <body name="a"><joint name="j" axis="0 1 0"/><geom size="0.1" pos="0.2 0 0"/></body>
  <body name="b" pos="1 0 0"><joint name="k" axis="0 1 0"/><geom size="0.1" pos="0.1 0 0"/></body>
</worldbody><equality><connect body1="a" body2="b" anchor="0.5 0 0"/></equality></mujoco>"""
XACRO = GOOD.replace("<robot name", '<robot xmlns:xacro="http://ros.org/wiki/xacro" name').replace(
    '<link name="base"/>', '<xacro:arg name="prefix" default=""/><link name="base"/>').replace(
    'joint name="shoulder"', 'joint name="$(arg prefix)shoulder"')


def test_commands_that_take_a_robot_take_the_options_of_loading():
    for command in app.registered_commands:
        name = command.name or command.callback.__name__
        if name not in ("robots", "quantities", "flexible", "demo"):
            told = run(name, "--help", COLUMNS="200").stdout
            assert {"--loops", "--mapping"} <= set(told.split())


@pytest.mark.parametrize("command", [("show",), ("lint",), ("base",)])
def test_loops_are_opened_on_the_command_line(model, command):
    file = model(LOOP, "loop.xml")
    assert run("show", file).exit_code == 0            # closed
    result = run(*command, file, "--loops", "open")
    assert result.exit_code == 0
    assert "connect equality of a and b" in result.stdout + result.stderr


def test_arguments_of_xacro_are_given_on_the_command_line(model):
    file = model(XACRO, "arm.urdf.xacro")
    assert "left_shoulder: revolute y" in run("show", file, "--mapping", "prefix=left_").stdout
    assert "── upper  2 kg  shoulder: revolute y" in run("show", file).stdout
    result = run("lint", file, "--mapping", "prefix=left_")
    assert (result.exit_code, result.stdout) == (0, "nothing to complain about\n")


@pytest.mark.parametrize(("given", "message"), [
    (("--mapping", "left"), "--mapping is NAME=VALUE, not 'left'"),
    (("--mapping", "a=b"), "mappings are the arguments of a xacro file, not of ur5"),
    (("--loops", "shut"), "loops must be 'open' or None, not 'shut'")])
def test_wrong_options_of_loading_are_told(given, message, monkeypatch, capsys):
    assert status_of_main(monkeypatch, "show", "ur5", *given) == 2
    assert capsys.readouterr().err == f"error: {message}\n"
