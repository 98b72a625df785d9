"""`lint` reports every fault of a file with its line, and how to repair it."""

import dataclasses
import warnings
from importlib.metadata import distribution
from pathlib import Path

import numpy as np
import pytest
import sympy

from closedform.errors import ArgumentError
from closedform.model.findings import Finding, Level
from closedform.model.formats.urdf.document import urdf_document
from closedform.model.formats.xml import read_xml
from closedform.model.inertia import Inertia
from closedform.model.joints import Mimic, Prismatic, Revolute
from closedform.model.lint.lint import lint
from closedform.model.robot import Body, Robot
from closedform.model.zoo.zoo import BUILTIN, builtin

GOOD = Inertia(1.0, (0, 0, 0), np.diag([0.01, 0.01, 0.01]))


def inertial(mass="1", xx="0.01", yy="0.01", zz="0.01"):
    return (f'<inertial><mass value="{mass}"/><inertia ixx="{xx}" ixy="0" ixz="0" iyy="{yy}" '
            f'iyz="0" izz="{zz}"/></inertial>')


def arm(link=None, joint="", kind="revolute", limit='<limit lower="-1" upper="1" effort="1" '
        'velocity="1"/>', more=""):
    """A base and one moving link, a line for each element: link 3, joint 4."""
    return (f'<robot name="r">\n<link name="base"/>\n<link name="a">{link or inertial()}</link>\n'
            f'<joint name="j" type="{kind}"><parent link="base"/><child link="a"/>{limit}{joint}'
            f"</joint>\n{more}</robot>")


def test_a_good_file_has_no_findings():
    assert lint(arm()) == []


FAULTS = {
    "negative principal moment": (arm(inertial(xx="-0.01")), "impossible-inertia",
                                  Level.WARNING, 3),
    "triangle inequality": (arm(inertial(zz="0.03")), "impossible-inertia", Level.WARNING, 3),
    "zero tensor": (arm(inertial(xx="0", yy="0", zz="0")), "zero-inertia", Level.WARNING, 3),
    "tensor without mass": (arm(inertial(mass="0"), more='<link name="b">' + inertial()
                                + '</link><joint name="k" type="fixed"><parent link="a"/>'
                                '<child link="b"/></joint>'),
                            "tensor-without-mass", Level.WARNING, 3),
    "massless leaf": (arm("<visual/>"), "massless-leaf", Level.ERROR, 3),
    "negative mass": (arm(inertial(mass="-1")), "negative-mass", Level.ERROR, 3),
    "NaN": (arm(inertial(mass="nan")), "bad-number", Level.ERROR, 3),
    "grams": (arm(inertial(mass="5000")), "mass-unit", Level.WARNING, 3),
    "square millimetres": (arm(inertial(xx="1e4", yy="1e4", zz="1e4")), "inertia-unit",
                           Level.WARNING, 3),
    "square metres per 1e9": (arm(inertial(xx="1e-9", yy="1e-9", zz="1e-9")), "inertia-unit",
                              Level.WARNING, 3),
    "axis of length 2": (arm(joint='<axis xyz="0 0 2"/>'), "axis-not-unit", Level.WARNING, 4),
    "rounded axis": (arm(joint='<axis xyz="0 0.70711 0.70711"/>'), "axis-not-unit", Level.INFO, 4),
    "zero axis": (arm(joint='<axis xyz="0 0 0"/>'), "zero-axis", Level.ERROR, 4),
    "no limit": (arm(limit=""), "no-limits", Level.WARNING, 4),
    "no position limits": (arm(limit='<limit effort="1" velocity="1"/>'), "no-limits",
                           Level.WARNING, 4),
    "swapped limits": (arm(limit='<limit lower="1" upper="-1" effort="1" velocity="1"/>'),
                       "limits-swapped", Level.ERROR, 4),
    "two roots": (arm(more='<link name="b"/>'), "disconnected", Level.ERROR, 5),
    "unknown child": (arm(more='<joint name="k" type="fixed"><parent link="a"/><child link="b"/>'
                          "</joint>"), "unknown-link", Level.ERROR, 5),
    "cycle": (arm(more='<link name="b"/><joint name="k" type="fixed"><parent link="b"/>'
                  '<child link="b"/></joint>'), "cycle", Level.ERROR, 5),
    "loop": (arm(more='<joint name="k" type="fixed"><parent link="base"/><child link="a"/>'
                 "</joint>"), "closed-loop", Level.ERROR, 5),
    "repeated link": (arm(more='<link name="a"/>'), "repeated-name", Level.ERROR, 5),
    "lost mimic": (arm(joint='<mimic joint="none"/>'), "lost-mimic", Level.WARNING, 4),
    "mimic on fixed": (arm(kind="fixed", joint='<mimic joint="j"/>'), "mimic-on-fixed",
                       Level.WARNING, 4),
    "mimic of nothing": (arm(joint='<mimic joint="k" multiplier="0"/>', more='<link name="b">'
                             + inertial() + '</link><joint name="k" type="continuous">'
                             '<parent link="a"/><child link="b"/></joint>'),
                         "mimic-of-nothing", Level.WARNING, 4),
    "xacro": ('<robot xmlns:xacro="http://ros.org/wiki/xacro">\n<xacro:arm/></robot>', "xacro",
              Level.ERROR, 2),
    "malformed": ("<robot>\n<link>\n</robot>", "malformed-xml", Level.ERROR, 3),
    "doctype": ("<!DOCTYPE robot><robot/>", "doctype", Level.ERROR, 1),
    "another root": ("<html/>", "no-urdf", Level.ERROR, 1),
}


@pytest.mark.parametrize("text, rule, level, line", FAULTS.values(), ids=FAULTS.keys())
def test_a_fault_alone_is_the_only_finding_and_has_its_line(text, rule, level, line):
    (finding,) = lint(text)
    assert (finding.rule, finding.level, finding.line) == (rule, level, line)


def test_a_file_without_any_mass_gets_one_finding():
    """Kinematic models are common; a finding for each of their links would say it many times."""
    links = "".join(f'<link name="l{k}"/>\n' for k in range(6))
    joints = "".join(f'<joint name="j{k}" type="continuous"><parent link="l{k}"/>'
                     f'<child link="l{k + 1}"/></joint>' for k in range(5))
    (finding,) = lint(f'<robot name="r">{links}{joints}</robot>')
    assert (finding.rule, finding.level) == ("massless-leaf", Level.ERROR)
    assert "none of the 6 links has mass" in finding.message


EXTENSIONS = {
    "loop joint": ('<loop_joint name="loop" type="revolute"><link1 link="a"/><link2 link="base"/>'
                   '</loop_joint>', "loop-joint", Level.INFO, "<loop_joint> 'loop' closes a loop"),
    "drake joint": ('<drake:joint name="ball" type="ball"><parent link="a"/><child link="c"/>'
                    '</drake:joint><link name="c">' + inertial() + "</link>", "drake-joint",
                    Level.INFO, "<drake:joint> 'ball' of type 'ball' is read"),
    "spherical joint": ('<joint name="ball" type="spherical"><parent link="a"/><child link="c"/>'
                        '</joint><link name="c">' + inertial() + "</link>", "spherical-joint",
                        Level.INFO, "<joint> 'ball' of type 'spherical' is read"),
    "xacro": ("<xacro:include filename='$(find x)/m.xacro'/>", "xacro", Level.WARNING,
              "elements of xacro are ignored: <xacro:include>"),
}


@pytest.mark.parametrize("text, rule, level, message", EXTENSIONS.values(), ids=EXTENSIONS.keys())
def test_what_is_beside_urdf_is_named(text, rule, level, message):
    finding, *others = lint(arm(inertial()).replace("</robot>", f"{text}</robot>"))
    assert not others or rule == "loop-joint"       # and how it closes
    assert (finding.rule, finding.level) == (rule, level)
    assert message in finding.message


WRITTEN = {
    "two origins": (arm(inertial()).replace("<mass", '<origin xyz="0 0 1"/><origin xyz="1 0 0"/>'
                                            "<mass"), "two-origins", Level.WARNING),
    "line break": (arm(inertial()).replace('ixz="0"', 'ixz="0\n"'), "broken-number", Level.INFO),
    "broken number": (arm(inertial()).replace('ixz="0"', 'ixz="0.\n0"'), "bad-number",
                      Level.ERROR),
    "no products": (arm(inertial()).replace('ixy="0"', ""), "no-products", Level.WARNING),
    "negative effort": (arm(inertial()).replace('effort="1"', 'effort="-1"'), "negative",
                        Level.WARNING),
}


@pytest.mark.parametrize("text, rule, level", WRITTEN.values(), ids=WRITTEN.keys())
def test_what_is_written_in_an_odd_way_is_named(text, rule, level):
    found = {(f.rule, f.level) for f in lint(text)}
    assert (rule, level) in found


def test_all_faults_of_a_file_are_found_in_the_order_of_its_lines(tmp_path):
    path = tmp_path / "r.urdf"
    path.write_text(arm(inertial(zz="0.03"), '<axis xyz="0 0 2"/>', limit="",
                        more='<link name="b"/>\n<link name="c"/>'))
    found = lint(path)
    assert [f.rule for f in found] == ["impossible-inertia", "axis-not-unit", "no-limits",
                                       "disconnected"]
    assert [f.line for f in found] == [3, 4, 4, 5]
    assert all(f.file == str(path) for f in found)


def test_the_repair_of_an_impossible_tensor_is_possible():
    (finding,) = lint(arm(inertial(zz="0.03")))
    repaired = [float(x) for x in finding.repair.split('"')[1::2]]
    xx, xy, xz, yy, yz, zz = repaired
    tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    assert Inertia(1.0, tensor=tensor).impossibility() is None
    assert lint(arm(inertial(xx=xx, yy=yy, zz=zz))) == []


def test_the_repair_of_an_axis_is_the_unit_vector():
    (finding,) = lint(arm(joint='<axis xyz="3 0 4"/>'))
    assert finding.repair == 'xyz="0.6 0 0.8"'


def test_a_massless_link_that_carries_mass_is_a_warning_and_one_with_fixed_mass_none():
    carried = ('<link name="b">' + inertial() + '</link>\n<joint name="k" type="{}">'
               '<parent link="a"/><child link="b"/></joint>')
    (finding,) = lint(arm("<visual/>", more=carried.format("continuous")))
    assert (finding.rule, finding.level) == ("massless-body", Level.WARNING)
    assert "1 kg" in finding.message
    assert lint(arm("<visual/>", more=carried.format("fixed"))) == []


def test_a_finding_reads_as_file_line_level_message_repair():
    finding = Finding(Level.WARNING, "rule", "link 'a'", "too heavy", "eat less", "r.urdf", 7)
    assert str(finding) == "r.urdf:7: warning: too heavy (eat less)"
    assert str(dataclasses.replace(finding, line=None, repair="")) == "r.urdf: warning: too heavy"
    with pytest.raises(dataclasses.FrozenInstanceError):
        finding.line = 8


PUBLISHED_IMPOSSIBLE = {"puma560": 1, "iiwa14": 2}  # bodies whose published tensors no body has


@pytest.mark.parametrize("name", BUILTIN)
def test_built_in_robots_have_no_errors_and_only_published_impossible_tensors(name):
    found = lint(name)
    assert [f for f in found if f.level is Level.ERROR] == []
    impossible = [f for f in found if f.rule == "impossible-inertia"]
    assert len(impossible) == PUBLISHED_IMPOSSIBLE.get(name, 0)


def test_a_robot_is_looked_at_body_by_body():
    impossible = Inertia(1.0, (0.1, 0, 0), np.diag([0.01, 0.01, 0.05]))
    point = Inertia(1.0, (0.1, 0.2, 0.3))
    robot = Robot("r", [
        Body("a", None, Revolute((0, 0, 1), lower=1, upper=-1), inertia=impossible),
        Body("b", "a", Prismatic((0, 0, 1)), inertia=point),
        Body("c", "b", Revolute((0, 0, 1))),
        Body("d", "c", Mimic(Revolute((0, 0, 1)), "a", 0.0), inertia=GOOD),
        Body("e", "d", Revolute((0, 0, 1))),
        Body("f", "e", Revolute((0, 0, 1), rotor_inertia=1.0)),
        Body("g", "d", Revolute((0, 0, 1)), inertia=Inertia(sympy.Symbol("m")))])
    assert [(f.subject[6], f.rule) for f in lint(robot)] == [
        ("a", "impossible-inertia"), ("a", "limits-swapped"), ("b", "zero-inertia"),
        ("b", "no-limits"), ("c", "massless-body"), ("d", "mimic-of-nothing"),
        ("e", "massless-leaf")]


def test_a_table_and_an_mjcf_are_looked_at_as_robots(tmp_path):
    path = tmp_path / "r.toml"
    path.write_text('convention = "modified_dh"\n[[rows]]\nd = 0.4\nmass = 2.0\n')
    assert [f.rule for f in lint(path)] == ["zero-inertia"]
    path.write_text("convention = 3")
    (finding,) = lint(path)
    assert (finding.rule, finding.level) == ("unreadable", Level.ERROR)


def test_a_refusal_of_the_loader_names_the_place_once(tmp_path):
    path = tmp_path / "r.sdf"
    path.write_text("<sdf version='1.7'><model name='m'>\n<link name='a'/>\n"
                    "<joint name='j' type='odd'><parent>world</parent><child>a</child></joint>"
                    "</model></sdf>")
    (finding,) = lint(path)
    assert finding.line == 3 and str(finding).count("r.sdf") == 1
    loop = tmp_path / "loop.xml"
    loop.write_text("<mujoco><worldbody><body name='a'><joint/><geom size='.1'/></body></worldbody>"
                    "<equality><connect body1='a' anchor='1 0 0'/></equality></mujoco>")
    (finding,) = lint(loop)
    assert str(finding).startswith(f"{loop}: error: loop: the loop 'equality0' leave")


def test_a_missing_file_is_an_error_not_a_finding():
    with pytest.raises(ArgumentError, match="there is no file and no built-in robot"):
        lint("missing.urdf")


def test_the_counts_on_real_robots_are_the_known_ones():
    """example-robot-data 6.0: 1985 links with <inertial> in 69 files."""
    package = distribution("example-robot-data")
    if package.version != "6.0.0":
        pytest.skip(f"the counts are those of version 6.0.0, not {package.version}")
    folder = Path(str(package.locate_file("cmeel.prefix/share/example-robot-data/robots")))
    paths = sorted(folder.rglob("*.urdf"))
    found = [f for path in paths for f in lint(path)]
    impossible = [f for f in found if f.rule == "impossible-inertia"]
    links = [link for path in paths for link in urdf_document(read_xml(path)).links]
    assert (len(paths), sum(link.inertial is not None for link in links)) == (69, 1985)
    assert (len(impossible), len({f.file for f in impossible})) == (56, 18)
    assert sum(f.rule == "zero-inertia" for f in found) == 57


def test_lint_does_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(lint(arm(inertial(zz="0.03")))) == 1


MASS = ('<inertial><mass value="1"/><inertia ixx=".01" ixy="0" ixz="0" iyy=".01" iyz="0" '
        'izz=".01"/></inertial>')
LOOSE = f"""<robot name="r"><link name="base"/><link name="a">{MASS}</link>
<link name="b">{MASS}</link><link name="c">{MASS}</link>
<joint name="ja" type="continuous"><parent link="base"/><child link="a"/><axis xyz="0 0 1"/></joint>
<joint name="jb" type="continuous"><parent link="a"/><child link="b"/><origin xyz=".3 0 0"/>
<axis xyz="0 0 1"/></joint>
<joint name="jc" type="revolute"><parent link="base"/><child link="c"/><origin xyz=".6 0 0"/>
<axis xyz="0 0 1"/><limit lower="LOW" upper="6" effort="1" velocity="1"/></joint>
<loop_joint name="pin" type="revolute"><link1 link="b" xyz=".5 0 0"/>
<link2 link="c" xyz="SIDE 0 0"/><axis xyz="0 0 1"/></loop_joint></robot>"""


def test_loops_of_a_urdf_are_looked_at():
    def rules(text):
        return {x.rule: x.message for x in lint(text) if "loop" in x.rule or "limits" in x.rule
                or x.rule == "redundant-rows"}

    found = rules(LOOSE.replace("SIDE", ".4").replace("LOW", "-6"))
    assert set(found) == {"loop-joint", "redundant-rows"}
    assert "'pin': 3 of its 5 rows" in found["redundant-rows"]
    apart = rules(LOOSE.replace("SIDE", "4").replace("LOW", "-6"))
    assert "'pin' cannot be closed" in apart["loop"]
    assert "'c'" in rules(LOOSE.replace("SIDE", ".4").replace("LOW", "5"))["closed-beyond-limits"]


def test_a_guess_far_from_closed_and_a_dead_point_are_told():
    robot = builtin("four_bar")
    far = Robot("f", robot.bodies, loops=robot.loops, independent=["crank"],
                guess={"crank": 0.7, "coupler": 2.5, "rocker": 1.6})
    assert "guess-far-from-closed" in {x.rule for x in lint(far)}
    inner = np.arccos((0.4**2 + 0.6**2 - 0.7**2) / (2 * 0.4 * 0.6))    # crank and coupler in line
    crank = np.arctan2(0.4 * np.sin(inner), 0.6 - 0.4 * np.cos(inner))
    q = robot.closed([crank + 2e-4], near=[crank, 0.0, np.pi - inner])
    dead = Robot("d", robot.bodies, loops=robot.loops, independent=["rocker"],
                 guess=dict(zip(robot.body_names, q, strict=True)))
    assert "nearly-singular-loop" in {x.rule for x in lint(dead)}
