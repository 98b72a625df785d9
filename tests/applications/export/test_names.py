"""Names in exports: whatever they are, they stay names."""

import ast
import re
from html import unescape

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

import closedform as cf
from closedform.applications.base_parameters import summary
from closedform.applications.base_parameters.picture import picture
from closedform.applications.export.names import legal_name
from closedform.applications.export.sources import robots as robot_source
from closedform.applications.export.targets import TARGETS
from closedform.applications.report.figures import svg
from closedform.lowerings.source.comments import latex_words
from closedform.model.describe import html_table
from closedform.model.names import name_fault
from export_tools import check_folder, run, tool
from hostile_texts import HOSTILE, LEGAL, PIECES


def sections(module):
    """Those of a WebAssembly module that are no custom ones, which hold text alone."""
    at = 8
    while at < len(module):
        kind, size, shift, at = module[at], 0, 0, at + 1
        while True:
            byte, at = module[at], at + 1
            size, shift = size | (byte & 127) << shift, shift + 7
            if byte < 128:
                break
        if kind:
            yield kind, module[at:at + size]
        at += size


def without_text(path):
    """A file without its comments, docstring and heading: what is read as code."""
    if path.suffix == ".wasm":
        return list(sections(path.read_bytes()))
    text = path.read_text(encoding="utf8")
    if path.suffix == ".mjs":                   # one comment at most, which nothing in it ends
        return text.split("*/", 1)[1] if text.startswith("/*\n") else text
    if path.suffix in (".c", ".h"):
        return run([tool("gcc"), "-std=c99", "-E", "-P", path.name], path.parent)
    if path.suffix == ".py":
        module = ast.parse(text)
        assert isinstance(ast.literal_eval(module.body[0].value), str)
        return ast.dump(ast.Module(module.body[1:], []))
    lines = [x for x in text.splitlines() if not re.match(r"[%#]|\\section\*\{.*\}$", x)]
    return "\n".join(lines)


@pytest.mark.parametrize("target", TARGETS)
def test_no_text_of_a_header_is_read_as_code(target, tmp_path, monkeypatch):
    """The files of any header differ in nothing but text from those of a plain one."""
    files = {}
    for folder, about in (("plain", ["gravity_torque of x"]), ("hostile", HOSTILE),
                          ("reversed", HOSTILE[::-1])):
        monkeypatch.setattr(robot_source, "robot_header", lambda *_, about=about: about)
        files[folder] = cf.export(cf.load("planar2r"), "gravity_torque", target, tmp_path / folder)
    for plain, *others in zip(*files.values(), strict=True):
        expected = without_text(plain)
        assert [without_text(x) for x in others] == [expected, expected], plain.name


@pytest.mark.parametrize("target", ["c", "matlab", "python"])
def test_what_has_a_hostile_header_runs_and_does_nothing_else(target, tmp_path, monkeypatch):
    monkeypatch.setattr(robot_source, "robot_header", lambda *_: HOSTILE)
    cf.export(cf.load("planar2r"), "gravity_torque", target, tmp_path)
    assert "all passed" in check_folder(tmp_path, target)
    assert not (tmp_path / "PWNED").exists()


attacks = st.lists(st.lists(st.sampled_from(PIECES), max_size=8).map("".join), min_size=1,
                   max_size=20)


def exported_code(folder, target, robot, about=None):
    """What is read as code in the files of an export, by the file's name."""
    with pytest.MonkeyPatch.context() as patch:
        if about is not None:
            patch.setattr(robot_source, "robot_header", lambda *_: about)
        files = cf.export(robot, "gravity_torque", target, folder)
    return {x.name: without_text(x) for x in files}


@pytest.mark.parametrize("target", TARGETS)
@settings(max_examples=4, deadline=None)
@given(data=st.data())
def test_no_text_that_chance_puts_together_is_read_as_code(target, data, tmp_path_factory):
    """As headers: names that a model would refuse too."""
    robot, folder = cf.load("planar2r"), tmp_path_factory.mktemp("exports")
    plain = exported_code(folder / "plain", target, robot, ["gravity_torque of x"])
    assert exported_code(folder / "hostile", target, robot, data.draw(attacks)) == plain


@pytest.mark.parametrize("target", ["c", "python", "casadi", "latex", "matlab"])
@settings(max_examples=2, deadline=None)
@given(data=st.data())
def test_robots_whose_names_chance_puts_together_are_refused_or_exported_right(
        target, data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("exports")
    texts = st.lists(st.sampled_from(PIECES), min_size=1, max_size=6).map("".join)
    drawn = data.draw(st.lists(texts, min_size=7, max_size=7, unique=True))
    for bad in drawn:
        if name_fault(bad) is not None:
            with pytest.raises(cf.ModelError, match="control character"):
                arm(bad)
    robot, one, two, first, second, *frames = (legal(x, k) for k, x in enumerate(drawn))
    inertia = cf.Inertia(1.0, (0.5, 0.1, 0))
    bodies = [cf.Body(one, None, cf.Revolute((0, 1, 0), name=first), inertia=inertia),
              cf.Body(two, one, cf.Revolute((1, 0, 0), name=second), inertia=inertia)]
    made = cf.Robot(robot, bodies, frames=[cf.Frame(x, two) for x in frames])
    cf.export(made, ["gravity_torque", *(cf.At("frame_pose", x) for x in frames)], target, folder)
    assert "all passed" in check_folder(folder, target)
    assert not list(folder.rglob("PWNED"))


def legal(text, k):
    """The text with the characters that names may not hold left out; numbered, so unique."""
    return "".join(c for c in text if name_fault(c) is None) + str(k)


def nasty_robot():
    """A planar arm in which everything has a name that is legal and meant ill."""
    joints = [cf.Revolute((0, 0, 1), name=name) for name in LEGAL[:3]]
    parents = [None, *LEGAL[3:5]]
    bodies = [cf.Body(name, parent, joint, inertia=cf.Inertia(1.0, (0.5, 0, 0)))
              for name, parent, joint in zip(LEGAL[3:6], parents, joints, strict=True)]
    frames = [cf.Frame(name, LEGAL[5]) for name in LEGAL[6:]]
    return cf.Robot(" ".join([*LEGAL, r"\begin{align*}"]), bodies, (0.0, -9.81, 0.0), frames)


@pytest.mark.parametrize("target", ["c", "python", "casadi", "sympy", "latex", "matlab"])
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
    robot = cf.Robot("r", [cf.Body("b", None, cf.Revolute((0, 0, 1)), inertia=cf.Inertia(
        sympy.Symbol("m\n\\input{x}", positive=True), (1, 0, 0)))])
    with pytest.raises(cf.ModelError, match=r"symbol name .*U\+000A"):
        cf.export(robot, "mass_matrix", "latex", tmp_path / "x")


# ------------------------------------------------------------------------- names of functions
def arm(name, *frames):
    body = cf.Body("b", None, cf.Revolute((0, 1, 0)), inertia=cf.Inertia(1.0, (0.5, 0, 0)))
    poses = [np.diag([1.0, 1, 1, 1]) for _ in frames]
    for k, pose in enumerate(poses):
        pose[0, 3] = 0.1 * (k + 1)
    return cf.Robot(name, [body], frames=[cf.Frame(x, "b", T)
                                          for x, T in zip(frames, poses, strict=True)])


FRAMES = ("t 1", "t-1", "t_1", "t__1", "T_1", "t_1_vectors", "t_1_batch", "x" * 80, "x" * 79 + "-",
          "手", "足")


@pytest.mark.parametrize("target", ["c", "python", "casadi", "matlab"])
def test_frames_whose_names_are_alike_leave_side_by_side(target, tmp_path):
    robot = arm("arm (left)", *FRAMES)
    files = cf.export(robot, [cf.At("frame_pose", x) for x in FRAMES], target, tmp_path)
    assert len({x.name.lower() for x in files}) == len(files)
    assert check_folder(tmp_path, target).count("passed ") == len(FRAMES)


def test_frames_whose_names_are_alike_leave_one_after_the_other(tmp_path):
    """Names do not depend on what else leaves, but for those that differ in case alone."""
    robot = arm("r", *FRAMES)
    asked = [cf.At("frame_jacobian", x) for x in FRAMES if x != "T_1"]
    together = cf.export(robot, asked, "matlab", tmp_path / "together")
    for one in asked:
        cf.export(robot, one, "matlab", tmp_path / "alone")
    assert {x.name for x in together} == {x.name for x in (tmp_path / "alone").iterdir()}


@pytest.mark.parametrize("name, expected", [
    ("arm (left)", "arm_left_q"), ("_arm", "arm_q"), ("arm__2", "arm_2_q"),
    ("two-link", "two_link_q"), ("7dof", "robot_7dof_q"), ("Größe", "Gr_e_q_[0-9a-f]{8}"),
    ("рука", "q_[0-9a-f]{8}")])
def test_any_robot_gets_a_name_that_reads_like_its_own(name, expected):
    assert re.fullmatch(expected, legal_name(f"{name}_q"))


@given(st.text(), st.booleans())
def test_names_of_functions_are_legal_in_every_language(text, digest):
    name = legal_name(text.encode("utf8", "ignore").decode(), digest)
    assert re.fullmatch(r"[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*", name) and len(name) <= 54
    assert legal_name(name) == name


def test_casadi_takes_the_names_of_all_robots():
    casadi = pytest.importorskip("casadi", reason="NOT TESTED: pip install casadi")
    for name in ("arm (left)", "_arm", "arm__2", "Größe", "手", "7dof", *LEGAL):
        casadi.Function(legal_name(f"{name}_mass_matrix"), [], [])


@pytest.mark.parametrize("name", ["", "a b", "a__b", "7dof", "../x", "f(void){} int g", 3, "a\n"])
def test_a_function_is_not_given_a_name_that_is_none(name, tmp_path):
    with pytest.raises(cf.ArgumentError, match="name must be one of a function"):
        cf.export(cf.load("planar2r"), ["mass_matrix", "bias"], "c", tmp_path / "x", fused=True,
                  name=name)
    assert not (tmp_path / "x").exists()


def test_symbols_that_are_no_variables_of_python_stay_apart(tmp_path):
    m, n, k = (sympy.Symbol(name, positive=True) for name in ("θ", "φ", "lambda"))
    robot = cf.Robot("r", [cf.Body("b", None, cf.Revolute((0, 0, 1)),
                                   inertia=cf.Inertia(m, (n, k, 0)))])
    cf.export(robot, "mass_matrix", "sympy", tmp_path)
    assert "all passed" in check_folder(tmp_path, "sympy")


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
    first, *lines, last = summary.latex(base).splitlines()
    assert (first, len(lines), last) == (r"\begin{align*}", base.count, r"\end{align*}")
    for body in base.source.body_names:
        assert rf"\mathrm{{{latex_words(body)}}}" in "".join(lines)
    assert r"\begin" not in "".join(lines) and not re.search(r"(?<!\\)%", "".join(lines))
