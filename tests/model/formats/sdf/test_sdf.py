"""The SDF reader: frames, all joints, nested and included models, by hand and by Drake."""

import importlib.util
import math

import numpy as np
import pytest

from closedform import bias, mass_matrix
from closedform.errors import FormatError, ModelWarning
from closedform.maths.frames import frame_pose
from closedform.model.joints import (
    Free,
    Helical,
    Mimic,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)
from closedform.model.load import load
from closedform.model.pose import from_rpy, pose
from drake_peer import Drake

INERTIAL = """<inertial><pose>0.1 0.02 -0.03 0.3 0.2 0.1</pose><mass>2</mass><inertia><ixx>0.1</ixx>
  <ixy>0.01</ixy><ixz>-0.02</ixz><iyy>0.2</iyy><iyz>0.015</iyz><izz>0.25</izz></inertia></inertial>
"""


def link(name, at="0 0 0 0 0 0", attributes="", inertial=INERTIAL):
    return f'<link name="{name}"><pose {attributes}>{at}</pose>{inertial}</link>'


def joint(name, kind, parent, child, inside=""):
    return (f'<joint name="{name}" type="{kind}"><parent>{parent}</parent><child>{child}</child>'
            f"{inside}</joint>")


def axis(xyz="0 0 1", inside="", attributes="", name="axis"):
    return f"<{name}><xyz {attributes}>{xyz}</xyz>{inside}</{name}>"


def model(*elements, name="m", version="1.7", attributes=""):
    return (f'<sdf version="{version}"><model name="{name}" {attributes}>' + "\n".join(elements)
            + "</model></sdf>")


def one_joint(kind, inside="", version="1.7", place="0.2 0.3 0.5 0.1 -0.2 0.3"):
    """A link turned against the model on a joint that is turned against the link."""
    return model(link("a", "0 0 0.1 0 0.4 0"), link("b", "0.5 0 1 0.6 0.3 -0.2"),
                 joint("ground", "fixed", "world", "a"),
                 joint("j", kind, "a", "b", f"<pose>{place}</pose>{inside}"), version=version)


@pytest.fixture
def rng():
    return np.random.default_rng(3)


A, B = pose(from_rpy(0, 0.4, 0), [0, 0, 0.1]), pose(from_rpy(0.6, 0.3, -0.2), [0.5, 0, 1])
PLACE = pose(from_rpy(0.1, -0.2, 0.3), [0.2, 0.3, 0.5])
AXIS = np.array([2.0, -1.0, 2.0]) / 3


def moved(robot, *q):
    return frame_pose(robot, np.array(q, float), "b")


def turn(e, angle):
    """Rodrigues' formula."""
    x = np.array([[0, -e[2], e[1]], [e[2], 0, -e[0]], [-e[1], e[0], 0]])
    return np.eye(3) + math.sin(angle) * x + (1 - math.cos(angle)) * x @ x


# ---------------------------------------------------------------------- joints
def test_links_stand_where_their_poses_say():
    robot = load(one_joint("revolute", axis()))
    assert (robot.name, robot.body_names, robot.joint_names) == ("m", ("b",), ("j",))
    np.testing.assert_allclose(moved(robot, 0), B, atol=1e-15)
    np.testing.assert_allclose(frame_pose(robot, [0.0], "a"), A, atol=1e-15)


AXIS_FRAMES = {  # version, what says it, the rotation that the axis is written in
    "the joint's frame": ("1.7", "", "", (B @ PLACE)[:3, :3]),
    "the model's frame": ("1.7", 'expressed_in="__model__"', "", np.eye(3)),
    "a link's frame": ("1.11", 'expressed_in="a"', "", A[:3, :3]),
    "the child's frame, of 1.6": ("1.6", "", "", (B @ PLACE)[:3, :3]),
    "the model's frame, of 1.5": ("1.5", "", "<use_parent_model_frame>1</use_parent_model_frame>",
                                  np.eye(3)),
    "the model's frame, of 1.4": ("1.4", "", "", np.eye(3)),
}


@pytest.mark.parametrize("version, attributes, inside, R", AXIS_FRAMES.values(), ids=AXIS_FRAMES)
@pytest.mark.parametrize("kind", ["revolute", "prismatic", "screw"])
def test_an_axis_is_written_in_the_frame_that_the_version_says(version, attributes, inside, R,
                                                               kind):
    """T(q) = Trans(p) Rot(e, q) Trans(−p) B with e and p in the world; 0.3 m a turn for the screw.

    The joint's pose is relative to the child in every version.
    """
    robot = load(one_joint(kind, axis("2 -1 2", inside, attributes)
                           + "<screw_thread_pitch>0.3</screw_thread_pitch>", version))
    e, p, q = R @ AXIS, (B @ PLACE)[:3, 3], 0.7
    slide = {"revolute": 0, "prismatic": q, "screw": q * 0.3 / (2 * math.pi)}[kind] * e
    motion = pose(np.eye(3) if kind == "prismatic" else turn(e, q))
    motion[:3, 3] = p - motion[:3, :3] @ p + slide
    np.testing.assert_allclose(moved(robot, q), motion @ B, atol=1e-14)


@pytest.mark.parametrize("written, pitch", [
    ("<screw_thread_pitch>0.5</screw_thread_pitch>", 0.5 / (2 * math.pi)),
    ("", 1 / (2 * math.pi)),
    ("<thread_pitch>4</thread_pitch>", -0.25),
    ("<thread_pitch>4</thread_pitch><screw_thread_pitch>-0.5</screw_thread_pitch>",
     -0.5 / (2 * math.pi))])
def test_both_words_for_a_thread_have_their_own_unit_and_sign(written, pitch):
    screw = load(one_joint("screw", axis() + written, "1.10")).bodies[0].joint
    assert isinstance(screw, Helical) and screw.pitch == pytest.approx(pitch, rel=1e-15)


@pytest.mark.parametrize("kind", ["universal", "revolute2"])
def test_a_universal_joint_turns_about_its_first_axis_then_about_its_second(kind):
    robot = load(one_joint(kind, axis("1 0 0") + axis("0 1 0", name="axis2")))
    assert isinstance(robot.bodies[0].joint, Universal)
    at, q = B @ PLACE, (0.4, -0.9)
    motion = at @ pose(turn([1, 0, 0], q[0]) @ turn([0, 1, 0], q[1])) @ np.linalg.inv(PLACE)
    np.testing.assert_allclose(moved(robot, *q), motion, atol=1e-15)


def test_a_ball_joint_turns_about_its_own_origin():
    robot = load(one_joint("ball"))
    assert isinstance(robot.bodies[0].joint, Spherical)
    q = robot.random(0)
    centre = (B @ [*PLACE[:3, 3], 1])[:3]
    for state in (robot.neutral(), q):
        np.testing.assert_allclose((moved(robot, *state) @ [*PLACE[:3, 3], 1])[:3], centre,
                                   atol=1e-15)
    np.testing.assert_allclose(moved(robot, *robot.neutral()), B, atol=1e-15)


def test_limits_and_friction_are_read_and_what_stands_for_none_is_none():
    limits = ("<limit><lower>-1</lower><upper>2</upper><velocity>3</velocity><effort>4</effort>"
              "</limit>")
    friction = "<dynamics><damping>0.5</damping><friction>0.25</friction></dynamics>"
    read = load(one_joint("revolute", axis("0 0 1", limits + friction), place="0 0 0 0 0 0"))
    assert read.bodies[0].joint == Revolute((0, 0, 1), name="j", lower=-1, upper=2, velocity=3,
                                            effort=4, viscous=0.5, coulomb=0.25)
    none = ("<limit><lower>-1e16</lower><upper>inf</upper><velocity>-1</velocity>"
            "<effort>-1</effort></limit>")
    read = load(one_joint("prismatic", axis("0 0 1", none), place="0 0 0 0 0 0"))
    assert read.bodies[0].joint == Prismatic((0, 0, 1), name="j")
    turning = load(one_joint("continuous", axis("0 0 1", limits), place="0 0 0 0 0 0"))
    assert turning.bodies[0].joint == Revolute((0, 0, 1), name="j", velocity=3, effort=4)
    two = load(one_joint("universal", axis("1 0 0", limits) + axis("0 1 0", name="axis2"),
                         place="0 0 0 0 0 0"))
    joint_of_two = two.bodies[0].joint
    assert joint_of_two.lower == (-1, -math.inf) and joint_of_two.effort == (4, math.inf)


def test_springs_are_read_with_their_rest():
    spring = ("<dynamics><spring_stiffness>7</spring_stiffness>"
              "<spring_reference>0.5</spring_reference></dynamics>")
    hinge = load(one_joint("revolute", axis("0 0 1", spring))).bodies[0].joint
    assert (hinge.stiffness, hinge.spring_reference) == (7, 0.5)
    two = one_joint("universal", axis("1 0 0", spring) + axis("0 1 0", name="axis2"))
    assert load(two).bodies[0].joint.stiffness == (7, 0)


def test_a_link_without_gravity_has_no_weight():
    text = one_joint("revolute", axis("1 0 0")).replace(
        '<link name="b">', '<link name="b"><gravity>false</gravity>')
    robot = load(text)
    assert robot.body("b").gravity_compensation == 1
    np.testing.assert_allclose(bias(robot, [0.3], [0.0]), 0, atol=1e-15)


def test_initial_positions_are_a_configuration():
    robot = load(one_joint("revolute", axis("0 0 1", "<initial_position>0.7</initial_position>")))
    np.testing.assert_array_equal(robot.configurations["initial_position"], [0.7])
    assert load(one_joint("revolute", axis())).configurations == {}


def test_rotor_inertia_of_drake_is_seen_through_the_gear():
    extra = ("<drake:rotor_inertia>0.002</drake:rotor_inertia>"
             "<drake:gear_ratio>50</drake:gear_ratio>")
    assert load(one_joint("revolute", axis() + extra)).bodies[0].joint.rotor_inertia == 5.0


def test_a_mimic_follows_by_multiplier_reference_and_offset():
    """q = 2 (q_of − 0.5) + 0.25."""
    mimic = ('<mimic joint="j"><multiplier>2</multiplier><offset>0.25</offset>'
             "<reference>0.5</reference></mimic>")
    text = model(link("a"), link("b"), joint("k", "prismatic", "b", "a", axis("0 0 1", mimic)),
                 joint("j", "revolute", "world", "b", axis()), version="1.11")
    mimics = load(text).body("a").joint
    assert isinstance(mimics, Mimic)
    assert (mimics.of, mimics.ratio, mimics.offset) == ("b", 2.0, -0.75)
    with pytest.raises(FormatError, match="mimics 'l', which is no joint"):
        load(text.replace('joint="j"', 'joint="l"'))


# ---------------------------------------------------------------------- frames
def test_poses_are_relative_to_any_frame_of_the_model():
    text = model('<frame name="f" attached_to="a"><pose degrees="true">0 0 1 0 0 90</pose></frame>',
                 '<frame name="g"><pose relative_to="f">1 0 0 0 0 0</pose></frame>',
                 link("a", "1 0 0 0 0 0"), link("b", "0 0 0.5 0 0 0", 'relative_to="g"'),
                 joint("ground", "fixed", "world", "a"), joint("j", "revolute", "f", "b", axis()))
    robot = load(text)
    np.testing.assert_allclose(moved(robot, 0)[:3, 3], [1, 1, 1.5], atol=1e-15)
    np.testing.assert_allclose(frame_pose(robot, [0.3], "f")[:3, 3], [1, 0, 1], atol=1e-15)
    np.testing.assert_allclose(frame_pose(robot, [0.3], "g")[:3, 3], [1, 1, 1], atol=1e-15)
    assert robot.frame("g").body is None  # on the model, whose first link is in the world


def test_frames_of_1_6_are_named_by_an_attribute_of_their_own():
    text = model(link("a", "1 0 0 0 0 0"), link("b", "0 2 0 0 0 0", 'frame="a"'),
                 joint("j", "revolute", "a", "b", axis()), version="1.6")
    np.testing.assert_array_equal(moved(load(text), 0)[:3, 3], [1, 2, 0])


def test_degrees_and_quaternions_are_rotations():
    half = math.sqrt(0.5)
    for attributes, written in (('degrees="true"', "0 0 0 90 0 0"),
                                ('rotation_format="quat_xyzw"', f"0 0 0 {half} 0 0 {half}")):
        text = model(link("a"), link("b", written, attributes),
                     joint("j", "revolute", "a", "b", axis()), version="1.9")
        np.testing.assert_allclose(moved(load(text), 0)[:3, :3], from_rpy(math.pi / 2, 0, 0),
                                   atol=1e-15)


CIRCLES = {
    "poses": (model(link("a", "0 0 0 0 0 0", 'relative_to="b"'),
                    link("b", "0 0 0 0 0 0", 'relative_to="a"'),
                    joint("j", "revolute", "a", "b", axis())), "is relative to itself"),
    "attachments": (model('<frame name="f" attached_to="g"/><frame name="g" attached_to="f"/>',
                          link("b"), joint("j", "revolute", "f", "b", axis())),
                    "is attached to itself"),
    "joints": (model(link("a"), link("b"), joint("j", "revolute", "a", "b", axis()),
                     joint("k", "revolute", "b", "a", axis("0 1 0"))), "nothing to move"),
    "a gearbox": (one_joint("gearbox", axis()), "joint 'j': type 'gearbox' is none of revolute"),
    "an unknown frame": (model(link("a"), link("b", "0 0 0 0 0 0", 'relative_to="x"'),
                               joint("j", "revolute", "a", "b", axis())), "'x' is no link, joint"),
    "an unknown link": (model(link("a"), joint("j", "revolute", "a", "b", axis())),
                        "'b' is no link, joint"),
    "a child that is the world": (model(link("a"), joint("j", "revolute", "a", "world", axis())),
                                  "its child is the world"),
    "a name twice": (model(link("a"), link("a")), "'a' is taken twice"),
    "no axis": (one_joint("revolute"), "<axis> is missing"),
    "a zero axis": (one_joint("revolute", axis("0 0 0")), "has no direction"),
    "parallel axes": (one_joint("universal", axis() + axis(name="axis2")), "must not be parallel"),
    "no number": (one_joint("revolute", axis("0 0 x")), "<xyz> must hold 3 numbers, not '0 0 x'"),
    "a mass that is none": (one_joint("revolute", axis()).replace("<mass>2", "<mass>-2"), "mass"),
    "inertia from shapes": (one_joint("revolute", axis()).replace("<inertial>",
                                                                  '<inertial auto="true">'),
                            "<inertial auto> is computed from shapes"),
    "another version": (one_joint("revolute", axis(), "2.0"), "version '2.0' of SDF"),
    "no links": ('<sdf version="1.7"><model name="m"/></sdf>', "this has 0 links"),
    "from the network": (model("<include><uri>https://fuel.org/x</uri></include>"),
                         "nothing is fetched"),
    "an absent model": (model("<include><uri>model://nowhere_to_be_found</uri></include>"),
                        "there is no such model"),
    "a control character": (one_joint("revolute", axis()).replace("\"b\"", "\"b&#10;c\"").replace(
        ">b<", ">b&#10;c<"), "control character"),
}


@pytest.mark.parametrize("text, message", CIRCLES.values(), ids=CIRCLES)
def test_what_is_no_tree_of_links_is_refused_by_name(text, message):
    with pytest.raises(FormatError, match=message):
        load(text)


def test_a_door_on_two_hinges_turns_also_where_each_link_is_the_others_parent():
    robot = load(model(link("a"), link("b"), joint("j", "revolute", "a", "b", axis()),
                       joint("k", "revolute", "b", "a", axis())))
    assert (robot.mobility, robot.joint_names, robot.loops[0].name) == (1, ("j",), "k")


# ---------------------------------------------------------------------- base, worlds, models
def test_a_model_that_nothing_holds_is_part_of_the_world_or_floats():
    text = model("<pose>0 0 3 0 0 0</pose>", link("a", "0 0 1 0 0 0"), link("b"),
                 joint("j", "revolute", "a", "b", axis()))
    robot = load(text)
    np.testing.assert_allclose(frame_pose(robot, [0.0], "a")[:3, 3], [0, 0, 4])
    free = load(text, floating=True)
    assert free.body_names == ("a", "b") and isinstance(free.bodies[0].joint, Free)
    assert free.joint_names == ("root_joint", "j")
    held = text.replace("</model>", joint("ground", "fixed", "world", "a") + "</model>")
    with pytest.raises(FormatError, match="floating=True, but no link is free: the joint 'ground'"):
        load(held, floating=True)


def test_a_world_has_its_gravity_its_static_models_and_prefixed_names():
    body = link("a") + link("b", "0 0 1 0 0 0") + joint("j", "revolute", "a", "b", axis())
    text = ('<sdf version="1.8"><world name="w"><gravity>0 0 -3.7</gravity>'
            f'<model name="one"><pose>1 0 0 0 0 0</pose>{body}</model>'
            f'<model name="two"><static>true</static>{body}</model></world></sdf>')
    robot = load(text)
    assert robot.name == "w" and robot.joint_names == ("one::j",)
    np.testing.assert_array_equal(robot.gravity, [0, 0, -3.7])
    np.testing.assert_allclose(frame_pose(robot, [0.0], "one::b")[:3, 3], [1, 0, 1])
    assert robot.frame("two::b").body is None
    assert load(text, floating=True).joint_names == ("root_joint", "one::j")
    alone = load(text.replace("<static>true</static>", ""), floating=True)
    assert alone.joint_names == ("root_joint/one::a", "one::j", "root_joint/two::a", "two::j")


def test_a_link_without_inertial_has_the_mass_that_sdf_gives_it_and_a_warning():
    text = model(link("a"), link("b", inertial=""), joint("j", "revolute", "a", "b", axis()))
    with pytest.warns(ModelWarning, match="no <inertial>, so that SDF gives it 1 kg: link b"):
        inertia = load(text).body("b").inertia
    assert inertia.mass == 1
    np.testing.assert_array_equal(inertia.tensor, np.eye(3))


NESTED = model('<model name="in" placement_frame="tip"><pose relative_to="f">0 0 1 0 0 0</pose>'
               + link("a") + link("tip", "0 1 0 0 0 0") + joint("weld", "fixed", "a", "tip")
               + "</model>",
               '<frame name="f"><pose>5 0 0 0 0 1.5707963267948966</pose></frame>', link("base"),
               joint("j", "revolute", "base", "in::a", axis()),
               '<frame name="g" attached_to="in::tip"/>')


def test_a_nested_model_stands_by_its_placement_frame():
    """tip = f · Trans(0, 0, 1); a lies one unit along −y of it, which is x of the model."""
    robot = load(NESTED)
    assert robot.body_names == ("in::a",)
    np.testing.assert_allclose(frame_pose(robot, [0.0], "in::tip")[:3, 3], [5, 0, 1], atol=1e-15)
    np.testing.assert_allclose(frame_pose(robot, [0.0], "in::a")[:3, 3], [6, 0, 1], atol=1e-15)
    np.testing.assert_allclose(frame_pose(robot, [0.0], "g")[:3, 3], [5, 0, 1], atol=1e-15)
    assert robot.frame("g").body == "in::a"


def written(folder, **texts):
    for name, text in texts.items():
        place = folder / name
        place.mkdir(parents=True)
        (place / "model.sdf").write_text(text)
        (place / "model.config").write_text('<model><sdf version="1.7">model.sdf</sdf></model>')


ARM = model(link("upper", "0 0 0.5 0 0 0"), link("lower", "0 0 1.5 0 0 0"),
            joint("elbow", "revolute", "upper", "lower", axis("0 1 0")), name="arm")
TWO_ARMS = model(link("torso"),
                 "<include><uri>model://arm</uri><name>left</name><pose>0 1 0 0 0 0</pose>"
                 "</include>",
                 "<include><uri>arm/model.sdf</uri><name>right</name><pose>0 -1 0 0 0 0</pose>"
                 "<placement_frame>lower</placement_frame></include>",
                 joint("l", "revolute", "torso", "left::upper", axis()),
                 joint("r", "revolute", "torso", "right::upper", axis()))


@pytest.mark.parametrize("variable", [None, "SDF_PATH", "GZ_SIM_RESOURCE_PATH"])
def test_models_are_included_from_beside_the_file_or_from_the_environment(tmp_path, monkeypatch,
                                                                         variable):
    written(tmp_path / "models", arm=ARM)
    place = tmp_path / "models" if variable is None else tmp_path / "some/where/deep/down"
    place.mkdir(parents=True, exist_ok=True)
    if variable:
        monkeypatch.setenv(variable, f"/nowhere:{tmp_path / 'models'}")
    (place / "robot.sdf").write_text(TWO_ARMS)
    robot = load(place / "robot.sdf")
    assert robot.joint_names == ("l", "left::elbow", "r", "right::elbow")
    q = np.zeros(4)
    np.testing.assert_allclose(frame_pose(robot, q, "left::lower")[:3, 3], [0, 1, 1.5])
    np.testing.assert_allclose(frame_pose(robot, q, "right::lower")[:3, 3], [0, -1, 0])


def test_a_merged_include_brings_its_names_as_they_are(tmp_path):
    written(tmp_path, arm=ARM)
    text = model(link("torso"), '<include merge="true"><uri>model://arm</uri>'
                 "<pose>0 1 0 0 0 0</pose></include>",
                 joint("l", "revolute", "torso", "upper", axis()), version="1.10")
    (tmp_path / "robot.sdf").write_text(text)
    robot = load(tmp_path / "robot.sdf")
    assert robot.body_names == ("upper", "lower")
    np.testing.assert_allclose(frame_pose(robot, np.zeros(2), "lower")[:3, 3], [0, 1, 1.5])


def test_a_model_that_includes_itself_is_refused(tmp_path):
    written(tmp_path, arm=model("<include><uri>model://arm</uri></include>"))
    with pytest.raises(FormatError, match="does one include itself"):
        load(tmp_path / "arm" / "model.sdf")


# ---------------------------------------------------------------------- the same robot as URDF
def test_the_same_robot_in_urdf_has_the_same_dynamics(rng):
    tensor = from_rpy(0.3, 0.2, 0.1)
    I = tensor @ [[0.1, 0.01, -0.02], [0.01, 0.2, 0.015], [-0.02, 0.015, 0.25]] @ tensor.T
    entries = " ".join(f'i{a}{b}="{float(I["xyz".index(a), "xyz".index(b)])!r}"'
                       for a, b in ("xx", "xy", "xz", "yy", "yz", "zz"))
    inertial = (f'<inertial><origin xyz="0.1 0.02 -0.03"/><mass value="2"/><inertia {entries}/>'
                "</inertial>")
    urdf = ('<robot name="m"><link name="a"/>'
            + "".join(f'<link name="{x}">{inertial}</link>' for x in "bc")
            + '<joint name="j" type="continuous"><parent link="a"/><child link="b"/>'
              '<origin xyz="0 0 0.5" rpy="0.3 0 0"/><axis xyz="0 1 0"/></joint>'
              '<joint name="k" type="prismatic"><parent link="b"/><child link="c"/>'
              '<origin xyz="0.2 0 0" rpy="0 0.7 0"/><axis xyz="1 0 0"/>'
              '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>')
    limit = "<limit><lower>-1</lower><upper>1</upper></limit>"
    sdf = model(link("a"), link("b", "0 0 0.5 0.3 0 0", 'relative_to="a"'),
                link("c", "0.2 0 0 0 0.7 0", 'relative_to="b"'),
                joint("j", "continuous", "a", "b", axis("0 1 0")),
                joint("k", "prismatic", "b", "c", axis("1 0 0", limit)))
    one, other = load(urdf), load(sdf)
    q, v = one.random(rng), rng.normal(size=2)
    np.testing.assert_allclose(mass_matrix(other, q), mass_matrix(one, q), rtol=1e-13)
    np.testing.assert_allclose(bias(other, q, v), bias(one, q, v), rtol=1e-13)


# ---------------------------------------------------------------------- Drake
CHAIN = model(
    link("a", "0 0 0.1 0 0.4 0"), link("b", "0.5 0 1 0.6 0.3 -0.2"),
    link("c", "0.3 0.1 0.2 0.2 0.1 0.5", 'relative_to="b"'),
    link("d", "0.1 0.4 0.2 0 0.1 0.9", 'relative_to="j3"'),
    '<frame name="f" attached_to="c"><pose>0 0.1 0.2 0.3 0.4 0.5</pose></frame>',
    link("e", "0 0.3 0 0 0 0", 'relative_to="f"'), joint("ground", "fixed", "world", "a"),
    joint("j1", "revolute", "a", "b", "<pose>0.2 0.3 0.5 0.1 -0.2 0.3</pose>"
          + axis("2 -1 2", attributes='expressed_in="__model__"')),
    joint("j2", "prismatic", "b", "c", axis("1 1 0", attributes='expressed_in="a"')),
    joint("j3", "screw", "c", "d", '<pose relative_to="c">0.1 0.1 0 0.2 0 0.1</pose>'
          + axis("0 1 1") + "<screw_thread_pitch>0.3</screw_thread_pitch>"),
    joint("j4", "continuous", "f", "e", axis("0.1 0.9 0")), version="1.10")
OLD = {version: one_joint("revolute", axis("2 -1 2", inside), version) for version, inside in (
    ("1.6", "<use_parent_model_frame>1</use_parent_model_frame>"), ("1.5", ""), ("1.4", ""))}
UNIVERSAL = one_joint("universal", axis("1 0 0") + axis("0 1 0", name="axis2"))


DRAKE = pytest.mark.skipif(importlib.util.find_spec("pydrake") is None,
                           reason="drake is not installed: pip install drake")


def assert_as_in_drake(robot, source, rng):
    """M, the bias and the poses of all bodies and frames at a random state."""
    peer = Drake(robot, source)
    q, v = robot.random(rng), rng.normal(size=robot.nv)
    M, forces = peer.mass_matrix(q), peer.bias(q, v)
    np.testing.assert_allclose(mass_matrix(robot, q), M, rtol=0, atol=1e-13 * np.abs(M).max())
    np.testing.assert_allclose(bias(robot, q, v), forces, rtol=0,
                               atol=1e-13 * (1 + np.abs(forces).max()))
    for name in (*robot.body_names, *robot.frame_names):
        if "/" not in name:
            *models, own = name.split("::")
            scope = peer.plant.GetModelInstanceByName("::".join([robot.name, *models]))
            # a frame is on its link's instance
            inside = (scope,) if peer.plant.HasFrameNamed(own, scope) else ()
            place = peer.plant.GetFrameByName(own, *inside).CalcPoseInWorld(peer.context)
            np.testing.assert_allclose(frame_pose(robot, q, name), place.GetAsMatrix4(), rtol=0,
                                       atol=2e-14)


@DRAKE
@pytest.mark.parametrize("text", [CHAIN, NESTED, UNIVERSAL, *OLD.values()],
                         ids=["chain", "nested", "universal", *OLD])
def test_poses_masses_and_forces_are_those_of_drake(text, rng):
    assert_as_in_drake(load(text), text, rng)


DEEP = model('<frame name="shelf"><pose degrees="true">1 2 3 10 20 30</pose></frame>',
             link("torso", "0 0 1 0.1 0.2 0.3", 'relative_to="shelf"'),
             '<include><uri>model://pair/model.sdf</uri><name>twin</name><placement_frame>left::lower'
             '</placement_frame><pose relative_to="torso">0 0.5 0 0.3 0 0</pose></include>',
             joint("neck", "revolute", "torso", "twin::left::upper",
                   '<pose relative_to="shelf">0 0 1 0 0.5 0</pose>'
                   + axis("1 2 3", attributes='expressed_in="twin::left"')),
             '<frame name="eye" attached_to="twin::right::lower"><pose rotation_format="quat_xyzw">'
             "0.1 0 0 0 0 0.6 0.8</pose></frame>", version="1.10")
PAIR = model('<include><uri>model://arm/model.sdf</uri><name>left</name>'
             "<pose>0 1 0 0.2 0 0</pose></include>",
             '<include><uri>model://arm/model.sdf</uri><name>right</name></include>',
             joint("bond", "prismatic", "left::lower", "right::upper", axis("0 1 1")), name="pair")


@DRAKE
def test_models_that_include_models_are_those_of_drake(tmp_path, rng):
    written(tmp_path, arm=ARM, pair=PAIR)
    (tmp_path / "robot.sdf").write_text(DEEP)
    robot = load(tmp_path / "robot.sdf")
    assert robot.joint_names == ("neck", "twin::left::elbow", "twin::bond", "twin::right::elbow")
    assert_as_in_drake(robot, tmp_path / "robot.sdf", rng)


def test_a_static_model_alone_is_no_robot():
    with pytest.raises(FormatError, match="no joint moves"):
        load(one_joint("revolute", axis()).replace("<model name=\"m\" >",
                                                   "<model name=\"m\"><static>1</static>"))
