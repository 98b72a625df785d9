"""The URDF reader: what a file says is what the robot is."""

from importlib.metadata import distribution
from pathlib import Path

import numpy as np
import pytest

from closedform.errors import FormatError, ModelWarning
from closedform.maths.definitions.closed_form import mass_matrix
from closedform.maths.frames import frame_pose
from closedform.model.findings import Level
from closedform.model.formats.mjcf.read import mujoco_robot
from closedform.model.formats.urdf.read import read_urdf
from closedform.model.joints import (
    Free,
    Helical,
    Mimic,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)
from closedform.model.lint.lint import lint

INERTIAL = """<inertial><origin xyz="0.1 0 0.2" rpy="0 0 1.5707963267948966"/><mass value="2"/>
  <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.25"/></inertial>"""


def link(name, inertial=INERTIAL):
    return f'<link name="{name}">{inertial}</link>'


def joint(name, kind, parent, child, inside=""):
    return (f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
            f"{inside}</joint>")


def robot_text(*elements, name="r"):
    return f'<robot name="{name}">\n' + "\n".join(elements) + "\n</robot>"


ARM = robot_text(
    link("base"), link("upper"), link("flange"), link("hand"), link("side"),
    joint("shoulder", "revolute", "base", "upper", """<origin xyz="0 0 1" rpy="0 0.5 0"/>
      <axis xyz="0 0 2"/><limit lower="-1" upper="2" velocity="3" effort="4"/>
      <dynamics damping="0.5" friction="0.25"/>"""),
    joint("branch", "prismatic", "base", "side", '<limit effort="1" velocity="1"/>'),
    joint("weld", "fixed", "upper", "flange", '<origin xyz="0.5 0 0"/>'),
    joint("wrist", "continuous", "flange", "hand", '<origin xyz="0 0.5 0"/><axis xyz="0 1 0"/>'))


def test_bodies_are_depth_first_with_the_files_names():
    robot = read_urdf(ARM)
    assert robot.name == "r"
    assert robot.body_names == ("upper", "hand", "side")
    assert robot.joint_names == ("shoulder", "wrist", "branch")
    assert robot.frame_names == ("base", "flange")
    assert robot.frame("base").body is None


def test_limits_friction_and_axes_are_read():
    shoulder, wrist, branch = (body.joint for body in read_urdf(ARM).bodies)
    assert shoulder == Revolute((0, 0, 1), name="shoulder", lower=-1, upper=2, velocity=3, effort=4,
                                viscous=0.5, coulomb=0.25)
    assert wrist == Revolute((0, 1, 0), name="wrist")
    assert branch == Prismatic((1, 0, 0), name="branch", lower=0, upper=0, effort=1, velocity=1)


def test_a_fixed_link_merges_into_the_body_that_carries_it():
    """I_upper + I_flange seen from (0.5, 0, 0); the inertial frame is turned by 90° about z."""
    upper = read_urdf(ARM).body("upper").inertia
    assert upper.mass == 4
    np.testing.assert_allclose(upper.com, [0.35, 0, 0.2], atol=1e-15)
    own = np.diag([0.2, 0.1, 0.25])
    steiner = 4 * 0.25**2 * np.diag([0, 1, 1])
    np.testing.assert_allclose(upper.tensor, 2 * own + steiner, atol=1e-15)


def test_placements_of_fixed_links_are_in_the_chain():
    robot = read_urdf(ARM)
    hand = frame_pose(robot, robot.neutral(), "hand")
    flange = frame_pose(robot, robot.neutral(), "flange")
    c, s = np.cos(0.5), np.sin(0.5)
    np.testing.assert_allclose(flange[:3, 3], [0.5 * c, 0, 1 - 0.5 * s], atol=1e-15)
    np.testing.assert_allclose(hand[:3, 3], [0.5 * c, 0.5, 1 - 0.5 * s], atol=1e-15)


def test_a_floating_base_makes_the_root_link_body_0():
    robot = read_urdf(ARM, floating=True)
    assert robot.body_names == ("base", "upper", "hand", "side")
    assert isinstance(robot.bodies[0].joint, Free)
    assert robot.joint_names[0] == "root_joint"
    assert robot.mass == 10


def test_floating_and_planar_joints_are_read():
    robot = read_urdf(robot_text(link("w", ""), link("a"), link("b"),
                                 joint("f", "floating", "w", "a"),
                                 joint("p", "planar", "a", "b", '<axis xyz="0 1 0"/>')))
    assert robot.bodies[0].joint == Free(name="f")
    assert robot.bodies[1].joint == Planar((0, 1, 0), name="p")


def test_a_robot_that_floats_already_is_not_floated_again():
    text = robot_text(link("w", ""), link("a"), joint("f", "floating", "w", "a"))
    with pytest.raises(FormatError, match="already has a floating joint"):
        read_urdf(text, floating=True)


def test_a_robot_without_moving_joints_needs_a_floating_base():
    text = robot_text(link("a"), link("b"), joint("weld", "fixed", "a", "b"))
    with pytest.raises(FormatError, match="floating=True"):
        read_urdf(text)
    assert read_urdf(text, floating=True).mass == 4


def mimics(*joints):
    links = [link(name) for name in "wabc"]
    return robot_text(*links, *joints)


def test_a_mimic_follows_the_body_of_the_joint_it_names():
    robot = read_urdf(mimics(
        joint("j1", "revolute", "w", "a", '<mimic joint="j3" multiplier="-2" offset="0.5"/>'),
        joint("j2", "prismatic", "a", "b", '<mimic joint="j1"/>'),
        joint("j3", "revolute", "w", "c")))
    first, second, third = (body.joint for body in robot.bodies)
    assert first == Mimic(Revolute((1, 0, 0), name="j1"), "c", -2.0, 0.5)
    assert second == Mimic(Prismatic((1, 0, 0), name="j2"), "a")
    assert robot.joint_names == ("j3",) and third.nv == 1


def test_a_mimic_on_a_fixed_joint_is_ignored():
    robot = read_urdf(mimics(joint("j1", "fixed", "w", "a", '<mimic joint="j2"/>'),
                             joint("j2", "revolute", "a", "b"), joint("j3", "fixed", "b", "c")))
    assert robot.body_names == ("b",)


def test_a_mimic_of_a_fixed_joint_is_locked_at_its_offset():
    """j2 follows the fixed j1 at 0.5, j3 follows j2 at 2 · 0.5 + 0.25: both stand still."""
    robot = read_urdf(mimics(
        joint("j1", "fixed", "w", "a"),
        joint("j2", "prismatic", "w", "b", '<mimic joint="j1" multiplier="3" offset="0.5"/>'),
        joint("j3", "prismatic", "b", "c", '<mimic joint="j2" multiplier="2" offset="0.25"/>'),
        link("d"), joint("j4", "revolute", "c", "d")))
    assert robot.body_names == ("d",)
    np.testing.assert_allclose(robot.frame("b").placement[:3, 3], [0.5, 0, 0])
    np.testing.assert_allclose(robot.frame("c").placement[:3, 3], [1.75, 0, 0])


def test_a_lost_mimic_moves_by_itself_and_warns():
    text = mimics(joint("j1", "revolute", "w", "a", '<mimic joint="none"/>'),
                  joint("j2", "fixed", "a", "b"), joint("j3", "fixed", "b", "c"))
    with pytest.warns(ModelWarning, match="'none', which is no joint"):
        assert read_urdf(text).joint_names == ("j1",)


def test_a_massless_link_on_a_moving_joint_stays_a_body():
    robot = read_urdf(robot_text(link("w", ""), link("a", ""), link("b"),
                                 joint("j1", "revolute", "w", "a"),
                                 joint("j2", "revolute", "a", "b")))
    assert robot.body_names == ("a", "b")
    assert robot.body("a").inertia.mass == 0


def test_impossible_inertias_load_with_one_warning_that_names_the_links():
    impossible = INERTIAL.replace('izz="0.25"', 'izz="0.4"')
    text = robot_text(link("w", ""), link("first", impossible), link("good"),
                      link("second", impossible),
                      joint("j1", "revolute", "w", "first"), joint("j2", "revolute", "w", "good"),
                      joint("j3", "revolute", "w", "second"))
    with pytest.warns(ModelWarning) as caught:
        robot = read_urdf(text)
    assert len(caught) == 1 and "first, second" in str(caught[0].message)
    assert robot.nv == 3


REVOLUTE = joint("j", "revolute", "a", "b")
REFUSED = {
    "negative mass": (robot_text(link("a"), link("b", INERTIAL.replace('"2"', '"-2"')), REVOLUTE),
                      r"<text>:4: link 'b': mass -2.0 kg is negative"),
    "mass NaN": (robot_text(link("a"), link("b", INERTIAL.replace('"2"', '"nan"')), REVOLUTE),
                 r":4: link 'b': value of <mass> must be a finite number, not 'nan'"),
    "infinite origin": (robot_text(link("a"), link("b"), joint(
        "j", "revolute", "a", "b", '<origin xyz="0 1e999 0"/>')), r":6: .*xyz of <origin>"),
    "two numbers": (robot_text(link("a"), link("b"), joint(
        "j", "revolute", "a", "b", '<axis xyz="0 1"/>')), r"xyz of <axis> must be 3 finite"),
    "underscore": (robot_text(link("a"), link("b", INERTIAL.replace('"2"', '"1_0"')), REVOLUTE),
                   r"value of <mass>"),
    "zero axis": (robot_text(link("a"), link("b"), joint(
        "j", "revolute", "a", "b", '<axis xyz="0 0 0"/>')), r":6: joint 'j': axis 0 0 0"),
    "unknown type": (robot_text(link("a"), link("b"), joint("j", "hinge", "a", "b")),
                     r"'hinge' is none of revolute"),
    "unknown link": (robot_text(link("a"), link("b"), REVOLUTE, joint("k", "fixed", "b", "c")),
                     r":7: joint 'k': its child 'c' is no link"),
    "two parents": (robot_text(link("a"), link("b"), link("c"), REVOLUTE,
                               joint("k", "fixed", "a", "c"), joint("m", "fixed", "b", "c")),
                    r"link 'c': .* two joints, 'k' and 'm': a closed loop; cut the loop"),
    "cycle": (robot_text(link("a"), link("b"), link("c"), joint("k", "fixed", "b", "c"),
                         joint("m", "fixed", "c", "b")), r"b → c → b|c → b → c"),
    "two roots": (robot_text(link("a"), link("b"), link("z"), REVOLUTE),
                  r"2 links have no parent: 'a', 'z'"),
    "repeated link": (robot_text(link("a"), link("b"), link("b"), REVOLUTE),
                      r":6: link 'b': the name is taken in line 4"),
    "repeated joint": (robot_text(link("a"), link("b"), link("c"), REVOLUTE,
                                  joint("j", "fixed", "b", "c")), r"joint 'j': the name is taken"),
    "mimic circle": (robot_text(link("a"), link("b"), link("c"),
                                joint("j", "revolute", "a", "b", '<mimic joint="k"/>'),
                                joint("k", "revolute", "b", "c", '<mimic joint="j"/>')), r"circle"),
    "no links": ('<robot name="r"/>', r"<text>:1: .*has 0 links"),
    "no tensor": (robot_text(link("a"), link("b", '<inertial><mass value="1"/></inertial>'),
                             REVOLUTE), r":4: link 'b': <inertial> has no <inertia>"),
    "xacro": ('<robot xmlns:xacro="http://ros.org/wiki/xacro" name="r">\n<xacro:arm/></robot>',
              r"<text>:2: this is a xacro file, not URDF; load it as a .xacro file"),
    "xacro undeclared": ("<robot>\n<xacro:arm/></robot>", r"<text>:2: this is a xacro file"),
    "malformed": ("<robot>\n<link></robot>", r"<text>:2: malformed XML"),
    "overflow": (robot_text(link("a"), link("b", INERTIAL.replace('"2"', '"1e308"')), REVOLUTE),
                 r"overflow"),
}


@pytest.mark.parametrize("text, message", REFUSED.values(), ids=REFUSED.keys())
def test_a_file_that_is_no_robot_is_refused_with_its_line(text, message):
    with pytest.raises(FormatError, match=message):
        read_urdf(text)


def test_an_expanded_file_that_still_declares_xacro_is_read():
    declared = '<robot xmlns:xacro="http://ros.org/wiki/xacro"'
    assert read_urdf(ARM.replace("<robot", declared)).nv == 3


def test_elements_of_xacro_left_over_in_a_plain_file_are_ignored_with_a_warning():
    text = ARM.replace("</robot>", '<xacro:include filename="x"/><xacro:camera/></robot>')
    with pytest.warns(ModelWarning, match="xacro are ignored: <xacro:include>, <xacro:camera>"):
        assert read_urdf(text).nv == 3


PROGRAMS = {
    "a call of its own macro": '<xacro:macro name="arm"><link name="x"/></xacro:macro><xacro:arm/>',
    "a condition": '<xacro:if value="true"><link name="x"/></xacro:if>',
    "a computed name": '<link name="${prefix}x"/>',
    "a tree that is not whole": '<xacro:arm/><link name="lost"/>',
}


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_a_file_that_xacro_must_complete_is_said_to_be_one(text):
    with pytest.raises(FormatError, match="this is a xacro file"):
        read_urdf(ARM.replace("</robot>", text + "</robot>"))


DECLARED = {
    "a version of its own": '<?xml version="0.0" ?>',
    "no declaration": "",
    "version 1.1": "<?xml version='1.1' encoding='UTF-8'?>",
    "blank lines before": '\n \t\n<?xml version="1.0"?>',
    "a comment before": '<!-- by hand -->\n<?xml version="1.0"?>\n',
    "a mark of the byte order": '\ufeff<?xml version="0.0"?>\n',
}


@pytest.mark.parametrize("declaration", DECLARED.values(), ids=DECLARED.keys())
def test_declarations_of_any_kind_are_read_in_files_and_texts(declaration, tmp_path):
    text = declaration + ARM
    path = tmp_path / "arm.urdf"
    path.write_text(text, encoding="utf-8")
    for source in (text, path):
        assert read_urdf(source).joint_names == ("shoulder", "wrist", "branch")


def test_null_characters_at_the_end_of_a_file_are_read_over(tmp_path):
    path = tmp_path / "arm.urdf"
    for encoding, end in (("utf-8", "\r\n\0"), ("latin-1", "\0\0\n"), ("utf-16", "\n")):
        path.write_bytes((ARM + end).encode(encoding))
        assert read_urdf(path).nv == 3
    assert read_urdf(ARM + "\n\0").nv == 3
    with pytest.raises(FormatError, match="malformed XML"):
        read_urdf(ARM + "\0<robot/>")


def test_the_encoding_of_an_odd_declaration_is_honoured(tmp_path):
    path = tmp_path / "arm.urdf"
    text = '\n<?xml version="0.0" encoding="ISO-8859-1"?>\n' + ARM.replace('"r"', '"Rücken"')
    path.write_bytes(text.encode("latin-1"))
    assert read_urdf(path).name == "Rücken"
    path.write_bytes(text.replace("ISO-8859-1", "nonsense").encode("latin-1"))
    with pytest.raises(FormatError, match="unknown encoding"):
        read_urdf(path)


def test_lines_are_counted_from_the_start_of_a_file_with_an_odd_declaration(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text('\n\n<?xml version="0.0"?>\n<robot>\n<link></robot>')
    with pytest.raises(FormatError, match=r"arm.urdf:5: malformed XML"):
        read_urdf(path)


def test_prefixes_that_nobody_declared_are_read_over():
    text = ARM.replace('<link name="hand">', '<link name="hand"><sensor:camera sensor:rate="5"/>')
    assert read_urdf(text).nv == 3


def test_undeclared_prefixes_open_no_way_for_entities():
    with pytest.raises(FormatError, match="DOCTYPE"):
        read_urdf('<!DOCTYPE robot [<!ENTITY a "b">]>' + ARM.replace("</robot>", "<s:c/></robot>"))


def test_negative_limits_and_friction_are_ignored_with_one_warning():
    text = ARM.replace('velocity="3"', 'velocity="-1"').replace('damping="0.5"', 'damping="-0.5"')
    with pytest.warns(ModelWarning) as caught:
        shoulder = read_urdf(text).bodies[0].joint
    assert shoulder.velocity is None and shoulder.viscous is None and shoulder.coulomb == 0.25
    (warning,) = caught
    for part in ("velocity of <limit> is negative, -1.0", "damping of <dynamics> is negative"):
        assert part in str(warning.message)


def test_a_tensor_without_products_has_zeros_there():
    with pytest.warns(ModelWarning, match="link 'hand': <inertia> has no ixy, iyz; zero is taken"):
        robot = read_urdf(ARM.replace(link("hand"), link("hand", INERTIAL.replace(
            'ixy="0"', "").replace('iyz="0"', ""))))
    np.testing.assert_array_equal(robot.body("hand").inertia.parameters,
                                  read_urdf(ARM).body("hand").inertia.parameters)


def test_swapped_limits_are_kept_with_a_warning():
    with pytest.warns(ModelWarning, match="'shoulder': the lower limit 2 is above the upper -1"):
        shoulder = read_urdf(ARM.replace('lower="-1" upper="2"', 'lower="2" upper="-1"')).bodies[0]
    assert (shoulder.joint.lower, shoulder.joint.upper) == (2, -1)


def test_a_parent_named_world_that_is_no_link_is_the_world_as_in_drake():
    text = ARM.replace(link("base"), "").replace('parent link="base"', 'parent link="world"')
    robot = read_urdf(text)
    assert robot.body_names == read_urdf(ARM).body_names
    assert robot.frame("world").body is None
    (found,) = [f for f in lint(text) if f.rule == "implicit-world"]
    assert found.level is Level.INFO and 'add <link name="world"/>' in found.repair
    with pytest.raises(FormatError, match="no link is free: the joint 'shoulder' holds it to the"):
        read_urdf(text, floating=True)


def test_the_first_of_two_origins_is_read():
    text = ARM.replace('<origin xyz="0.5 0 0"/>', '<origin xyz="0.5 0 0"/><origin xyz="9 9 9"/>')
    with pytest.warns(ModelWarning, match="2 <origin> elements; the first is read"):
        robot = read_urdf(text)
    np.testing.assert_array_equal(robot.frame("flange").placement[:3, 3], [0.5, 0, 0])


TRANSMISSION = """<transmission><joint name="shoulder"/><actuator name="motor">
  <drake:rotor_inertia value="0.002"/><drake:gear_ratio value="-50"/></actuator></transmission>"""


@pytest.mark.parametrize("root", ["<robot ", '<robot xmlns:drake="http://drake.mit.edu" '])
def test_rotor_inertia_is_seen_through_the_gear(root):
    """I_joint = ratio² I_rotor, and what `armature` gives besides."""
    text = ARM.replace("<robot ", root).replace("</robot>", TRANSMISSION + "</robot>")
    shoulder = read_urdf(text).bodies[0].joint
    assert shoulder.rotor_inertia == pytest.approx(0.002 * 50**2, rel=1e-15)
    both = read_urdf(text.replace('friction="0.25"', 'friction="0.25" armature="0.5"'))
    assert both.bodies[0].joint.rotor_inertia == pytest.approx(5.5, rel=1e-15)
    assert both.bodies[1].joint.rotor_inertia is None


@pytest.mark.parametrize("root", ["<robot ", '<robot xmlns:drake="http://drake.mit.edu" '])
def test_joints_that_drake_adds_to_urdf_are_read(root):
    kinds = {"ball": Spherical, "universal": Universal, "screw": Helical, "planar": Planar}
    for kind, made in kinds.items():
        extra = '<axis xyz="0 0 1"/><drake:screw_thread_pitch value="0.5"/>'
        text = robot_text(link("a"), link("b"), joint("j", kind, "a", "b", extra).replace(
            "joint ", "drake:joint ").replace("</joint", "</drake:joint")).replace("<robot ", root)
        read = read_urdf(text).bodies[0].joint
        assert isinstance(read, made)
    assert isinstance(read_urdf(text.replace('"planar"', '"screw"')).bodies[0].joint, Helical)
    screw = read_urdf(text.replace('"planar"', '"screw"')).bodies[0].joint
    assert screw.pitch == pytest.approx(0.5 / (2 * np.pi), rel=1e-15)
    with pytest.raises(FormatError, match="type 'curvilinear' is none of ball, universal"):
        read_urdf(text.replace('"planar"', '"curvilinear"'))


def test_a_spherical_joint_is_a_ball_joint_as_in_bullet_and_mujoco():
    mujoco = pytest.importorskip("mujoco")
    text = robot_text(link("a"), link("b"), link("c"),
                      joint("j", "spherical", "a", "b", '<axis xyz="0 0 0"/>'),
                      joint("k", "continuous", "b", "c", '<axis xyz="0 1 0"/>'))
    robot = read_urdf(text)
    assert isinstance(robot.bodies[0].joint, Spherical)
    theirs = mujoco_robot(mujoco.MjModel.from_xml_string(text))
    q = robot.random(0)
    np.testing.assert_allclose(mass_matrix(robot, q), mass_matrix(theirs, q), atol=1e-14)


def test_springs_are_read_with_their_rest():
    dynamics = 'friction="0.25" spring_stiffness="7" spring_reference="-0.5"'
    shoulder = read_urdf(ARM.replace('friction="0.25"', dynamics)).bodies[0].joint
    assert (shoulder.stiffness, shoulder.spring_reference) == (7, -0.5)


@pytest.mark.parametrize(("kind", "given", "stiffness", "rest"), [
    ("floating", 'spring_stiffness="7" spring_reference="0"', 7, None),
    ("floating", 'spring_stiffness="1 2 3 4 4 4" spring_reference="1 2 3 0 0 0.6 0.8"',
     (1, 2, 3, 4, 4, 4), (1, 2, 3, 0, 0, 0.6, 0.8)),
    ("planar", 'spring_stiffness="1 2 3" spring_reference="4 5 6"', (1, 2, 3), (4, 5, 6))])
def test_springs_of_several_coordinates_have_one_number_or_one_for_each(kind, given, stiffness,
                                                                        rest):
    text = robot_text(link("a"), link("b"), joint("j", kind, "a", "b", f"<dynamics {given}/>"))
    read = read_urdf(text).bodies[0].joint
    assert (read.stiffness, read.spring_reference) == (stiffness, rest)
    negative = text.replace('spring_stiffness="', 'spring_stiffness="-')
    with pytest.warns(ModelWarning, match="'j': spring_stiffness of <dynamics> is negative"):
        assert read_urdf(negative).bodies[0].joint.stiffness is None
    with pytest.raises(FormatError, match=r"spring_stiffness of <dynamics> must be (3|6) finite"):
        read_urdf(text.replace('spring_stiffness="', 'spring_stiffness="1 2 3 4 5 6 7 '))


def test_a_deep_chain_is_read_without_recursion():
    n = 3000
    links = [link(f"l{k}", "") for k in range(n + 1)]
    joints = [joint(f"j{k}", "fixed" if k else "revolute", f"l{k}", f"l{k + 1}") for k in range(n)]
    assert read_urdf(robot_text(*links, *joints)).nv == 1


def examples():
    """All URDF files of the package example-robot-data."""
    package = distribution("example-robot-data")
    folder = Path(str(package.locate_file("cmeel.prefix/share/example-robot-data/robots")))
    return sorted(folder.rglob("*.urdf"))


EMPTY = {"ur3.urdf"}  # a <robot> without links
STILL = {"quadrotor_base.urdf", "iris_simple.urdf"}  # no joint moves


@pytest.mark.parametrize("path", examples(), ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore::closedform.errors.ModelWarning")
def test_real_robots_have_the_joints_and_the_mass_that_pinocchio_reads(path):
    if path.name in EMPTY:
        with pytest.raises(FormatError, match="has 0 links"):
            read_urdf(path)
        return
    robot = read_urdf(path, floating=path.name in STILL)
    pinocchio = pytest.importorskip("pinocchio")
    root = [pinocchio.JointModelFreeFlyer()] if path.name in STILL else []
    try:
        model = pinocchio.buildModelFromUrdf(str(path), *root, mimic=True)
    except ValueError as error:  # Pinocchio has no mimic of a fixed or of an unknown joint
        assert "mimic" in str(error)
        model = pinocchio.buildModelFromUrdf(str(path), *root)
        moving = [body.joint_name for body in robot.bodies]
        assert set(moving) <= set(model.names)
        return
    names = {name for name, joint in zip(model.names, model.joints, strict=True) if joint.nv}
    assert set(robot.joint_names) == names - {"universe"}
    assert robot.nv == model.nv
    mass = sum(inertia.mass for inertia in list(model.inertias)[1:])
    assert robot.mass == pytest.approx(mass, rel=1e-13)
