"""Names in exports: whatever they are, they stay names."""

import ast
import re
from html import unescape

import numpy as np
import pytest

import closedform as cf
from closedform.applications.base_parameters import summary as base_report
from closedform.applications.base_parameters.picture import picture
from closedform.applications.export import export as export_module
from closedform.applications.export.targets import TARGETS
from closedform.applications.report.figures import svg
from closedform.lowerings.comments import latex_words
from closedform.model.describe import html_table
from export_tools import check_folder, run, tool
from hostile_texts import HOSTILE, LEGAL


def without_text(path):
    """A file without its comments, docstring and heading: what is read as code."""
    text = path.read_text(encoding="utf8")
    if path.suffix in (".c", ".h"):
        return run([tool("gcc"), "-std=c99", "-E", "-P", path.name], path.parent)
    if path.suffix == ".py":
        module = ast.parse(text)
        assert isinstance(ast.literal_eval(module.body[0].value), str)
        return ast.dump(ast.Module(module.body[1:], []))
    lines = [x for x in text.splitlines() if not re.match(r"%|\\section\*\{.*\}$", x)]
    return "\n".join(lines)


@pytest.mark.parametrize("target", TARGETS)
def test_no_text_of_a_header_is_read_as_code(target, tmp_path, monkeypatch):
    """The files of any header differ in nothing but text from those of a plain one."""
    files = {}
    for folder, about in (("plain", ["gravity_torque of x"]), ("hostile", HOSTILE),
                          ("reversed", HOSTILE[::-1])):
        monkeypatch.setattr(export_module, "robot_header", lambda *_, about=about: about)
        files[folder] = cf.export(cf.load("planar2r"), "gravity_torque", target, tmp_path / folder)
    for plain, *others in zip(*files.values(), strict=True):
        expected = without_text(plain)
        assert [without_text(x) for x in others] == [expected, expected], plain.name


@pytest.mark.parametrize("target", ["c", "matlab", "python"])
def test_what_has_a_hostile_header_runs_and_does_nothing_else(target, tmp_path, monkeypatch):
    monkeypatch.setattr(export_module, "robot_header", lambda *_: HOSTILE)
    cf.export(cf.load("planar2r"), "gravity_torque", target, tmp_path)
    assert "all passed" in check_folder(tmp_path, target)
    assert not (tmp_path / "PWNED").exists()


def nasty_robot():
    """A planar arm in which everything has a name that is legal and meant ill."""
    joints = [cf.Revolute((0, 0, 1), name=name) for name in LEGAL[:3]]
    parents = [None, *LEGAL[3:5]]
    bodies = [cf.Body(name, parent, joint, inertia=cf.Inertia(1.0, (0.5, 0, 0)))
              for name, parent, joint in zip(LEGAL[3:6], parents, joints, strict=True)]
    frames = [cf.Frame(name, LEGAL[5]) for name in LEGAL[6:]]
    return cf.Robot(" ".join([*LEGAL, r"\begin{align*}"]), bodies, (0.0, -9.81, 0.0), frames)


@pytest.mark.parametrize("target", ["c", "python", "sympy", "latex", "matlab"])
def test_exports_of_a_robot_with_nasty_names_check_themselves(target, tmp_path):
    robot = nasty_robot()
    frame = robot.frame_names[0]
    written = cf.export(robot, ["gravity_torque", cf.At("frame_pose", frame)], target, tmp_path,
                        inputs=cf.PayloadAt(frame))
    assert all(re.fullmatch(r"\w+\.\w+", x.name, re.ASCII) for x in written)
    assert "all passed" in check_folder(tmp_path, target)


def test_the_runner_in_c_takes_no_code_from_file_names(tmp_path):
    (tmp_path / "x(); int y_vectors.h").write_text("")
    cf.export(cf.load("planar2r"), "gravity_torque", "c", tmp_path)
    assert "all passed" in check_folder(tmp_path, "c")


def test_symbols_with_control_characters_do_not_leave(tmp_path):
    sympy = pytest.importorskip("sympy")
    robot = cf.Robot("r", [cf.Body("b", None, cf.Revolute((0, 0, 1)), inertia=cf.Inertia(
        sympy.Symbol("m\n\\input{x}", positive=True), (1, 0, 0)))])
    with pytest.raises(cf.ModelError, match=r"symbol name .*U\+000A"):
        cf.export(robot, "mass_matrix", "latex", tmp_path / "x")


# ------------------------------------------------------------------------- pages and pictures
def test_names_stay_names_on_pages_and_in_pictures():
    robot = nasty_robot()
    motion = cf.simulate(robot, np.zeros(3), np.zeros(3), None, np.linspace(0, 0.01, 3))
    base = cf.base_parameters(robot)
    shown = {"td": (html_table(robot), robot.body_names + robot.joint_names),
             "text": (svg(motion.plot, ""), robot.joint_names),
             "tick": (svg(lambda: picture(base), ""), [f"{x}  (" for x in robot.body_names])}
    for tag, (page, names) in shown.items():
        assert "</script>" not in page
        texts = [unescape(x) for x in re.findall(rf"<(?:{tag}|text)\b[^>]*>([^<]*)<", page)]
        assert [x for x in names if not any(y.startswith(x) for y in texts)] == []


def test_names_stay_names_in_formulas():
    base = cf.base_parameters(nasty_robot())
    first, *lines, last = base_report.latex(base).splitlines()
    assert (first, len(lines), last) == (r"\begin{align*}", base.count, r"\end{align*}")
    for body in base.source.body_names:
        assert rf"\mathrm{{{latex_words(body)}}}" in "".join(lines)
    assert r"\begin" not in "".join(lines) and not re.search(r"(?<!\\)%", "".join(lines))
