"""Loops of files are closed: URDF's dialects, SDF, SYMORO's .par, tables."""

import numpy as np
import pytest

from closedform.errors import FormatError, ModelWarning
from closedform.maths.definitions.closed_form import inverse_dynamics
from closedform.maths.loops.forces import loop_jacobian, loop_residual
from closedform.model.load import load
from closedform.model.loops.affine import affine
from closedform.model.zoo.zoo import builtin

TORQUE = 2.3445056936048685   # of the four-bar at 0.7 rad, 1.3 rad/s, −0.4 rad/s²


def inertial(x, y, mass, zz):
    return (f'<inertial><origin xyz="{x} {y} 0"/><mass value="{mass}"/><inertia ixx=".001" ixy="0" '
            f'ixz="0" iyy="{zz}" iyz="0" izz="{zz}"/></inertial>')


def urdf(loops, crank="", name=""):
    return f"""<robot name="four_bar" xmlns:drake="http://drake.mit.edu"><link name="base"/>
<link name="crank">{inertial(0.1, 0, 1, 0.01)}</link>
<link name="coupler">{inertial(0.25, 0.03, 2, 0.05)}</link><link name="tip"/>
<link name="rocker">{inertial(0.2, 0, 1.5, 0.03)}</link>
<joint name="j1" type="continuous" {crank}><parent link="base"/><child link="crank"/>
<axis xyz="0 0 1"/></joint>
<joint name="j2" type="continuous"><parent link="crank"/><child link="coupler"/>
<origin xyz=".2 0 0"/><axis xyz="0 0 1"/></joint>
<joint name="j3" type="continuous"><parent link="base"/><child link="rocker"/>
<origin xyz=".6 0 0"/><axis xyz="0 0 1"/></joint>
<joint name="t" type="fixed"><parent link="coupler"/><child link="tip"/>
<origin xyz=".5 0 0"/></joint>
{loops}</robot>"""


DIALECTS = {
    "Isaac": '<loop_joint name="pin" type="spherical"><link1 link="coupler" xyz=".5 0 0" '
             'rpy="0 0 0"/><link2 link="rocker" xyz=".4 0 0" rpy="0 0 0"/></loop_joint>',
    "Isaac's manual, with link1 twice": '<loop_joint name="pin" type="spherical"><link1 '
             'link="coupler" xyz=".5 0 0"/><link1 link="rocker" xyz=".4 0 0"/></loop_joint>',
    "URDF+": '<loop name="pin" type="continuous"><predecessor link="coupler"><origin xyz=".5 0 0"/>'
             '</predecessor><successor link="rocker"><origin xyz=".4 0 0"/></successor>'
             '<axis xyz="0 0 1"/></loop>',
    "a link that is fixed to another": '<loop name="pin"><predecessor link="tip"/>'
             '<successor link="rocker"><origin xyz=".4 0 0"/></successor></loop>',
    "Drake": '<drake:ball_constraint><drake:ball_constraint_body_A name="coupler"/>'
             '<drake:ball_constraint_body_B name="rocker"/><drake:ball_constraint_p_AP '
             'value=".5 0 0"/><drake:ball_constraint_p_BQ value=".4 0 0"/></drake:ball_constraint>',
}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_loop_of_a_urdf_dialect_is_closed(dialect):
    robot = load(urdf(DIALECTS[dialect])).with_gravity((0, -9.81, 0))
    assert (robot.mobility, robot.tree.nv, len(robot.closure.rows)) == (1, 3, 2)
    q = robot.closed([0.7], near=[0.7, -0.12, 1.6])
    assert inverse_dynamics(robot, q, [1.3], [-0.4]) == pytest.approx(TORQUE, rel=1e-12)


def test_a_loop_is_left_open_on_request_with_a_warning():
    with pytest.warns(ModelWarning, match="left open: pin"):
        robot = load(urdf(DIALECTS["URDF+"]), loops="open")
    assert robot.nv == 3 and not robot.loops


def test_a_coupling_binds_the_joints_of_both_ways():
    coupling = ('<coupling name="belt"><predecessor link="coupler"/><successor link="rocker"/>'
                '<ratio value="2"/></coupling>')
    robot = load(urdf(coupling))
    crank, coupler, rocker = robot.closed([0.3, 0.4])
    assert robot.mobility == 2 and rocker == pytest.approx(2 * (crank + coupler))


def test_joints_marked_independent_are():
    robot = load(urdf(DIALECTS["URDF+"]).replace('name="j3"', 'name="j3" independent="true"'))
    assert robot.independent == ("rocker",)


@pytest.mark.parametrize(("loops", "words"), [
    ('<loop_joint name="pin" type="spherical"><link1 link="coupler"/></loop_joint>',
     "'pin': two links expected, 1 given"),
    ('<loop name="pin" type="odd"><predecessor link="coupler"/><successor link="rocker"/></loop>',
     "'pin': type 'odd' is none of revolute"),
    ('<loop name="pin"><predecessor link="copler"/><successor link="rocker"/></loop>',
     "'pin': 'copler' is no link of the file"),
    (DIALECTS["Isaac"].replace(".5 0 0", "5 0 0"), "the loop 'pin' cannot be closed"),
    (DIALECTS["Isaac"].replace("rocker", "coupler"), "'pin': its two links are one, 'coupler'"),
    (DIALECTS["Isaac"] * 2, "two loops are named 'pin'"),
    ('<loop name="pin" type="fixed"><predecessor link="coupler"><origin xyz=".5 0 0"/>'
     '</predecessor><successor link="rocker"><origin xyz=".4 0 0"/></successor></loop>',
     "the loop 'pin'"),
])
def test_bad_loops_are_refused_by_their_names(loops, words):
    with pytest.raises(FormatError, match=words):
        load(urdf(loops))


def test_the_wrong_number_of_independent_joints_is_refused_with_those_that_would_do():
    text = urdf(DIALECTS["Isaac"], 'independent="true"').replace(
        'name="j3"', 'name="j3" independent="true"')
    with pytest.raises(FormatError, match=r"mobility 1 .* 2 velocities are named .* would do"):
        load(text)


# ---------------------------------------------------------------------- SDF
SDF = """<sdf version="1.9"><model name="m"><link name="crank"/>
<link name="coupler"><pose>0.2 0 0 0 0 0.5</pose></link>
<link name="rocker"><pose>0.6 0 0 0 0 1.2</pose></link>
<joint name="a" type="revolute"><parent>world</parent><child>crank</child>
<axis><xyz>0 0 1</xyz></axis></joint>
<joint name="b" type="revolute"><parent>crank</parent><child>coupler</child>
<axis><xyz>0 0 1</xyz></axis></joint>
<joint name="c" type="revolute"><parent>world</parent><child>rocker</child>
<axis><xyz>0 0 1</xyz></axis></joint>
<joint name="pin" type="revolute"><pose>.4 0 0 0 0 0</pose><parent>coupler</parent>
<child>rocker</child><axis><xyz>0 0 1</xyz></axis></joint></model></sdf>"""


def test_a_joint_to_a_second_parent_closes_a_loop_in_sdf():
    with pytest.warns(ModelWarning):
        robot = load(SDF)
    assert (robot.mobility, robot.tree.nv) == (1, 3)
    np.testing.assert_allclose(robot.neutral(), 0, atol=1e-12)   # closed as the file has it


# ---------------------------------------------------------------------- SYMORO
SR400 = """(* SR400, a robot with a parallelogram *)
RobotName = 'SR400'
NF = 10
NL = 8
NJ = 9
Ant = {0,1,2,3,4,5,1,7,8,3}
Sigma = {0,0,0,0,0,0,0,0,0,2}
d = {0,0.3,0.8,0.2,0,0,0.3,0.4,0.8,-0.4}
R = {0,0,0,0.9,0,0,0,0,0,0}
gamma = {0,0,0,0,0,0,0,0,0,Pi/2}
Alpha = {0,-Pi/2,0,-Pi/2,Pi/2,-Pi/2,-Pi/2,0,0,0}
Theta = {t1,t2,t3,t4,t5,t6,t7,t8,t9,0}
Mu = {1,1,0,1,1,1,1,0,0,0}
M = {10,8,6,5,4,1,3,2}
ZZ = {1,1,1,1,1,1,1,1}
"""


def test_cut_joints_of_symoro_close_a_parallelogram(tmp_path):
    path = tmp_path / "sr400.par"
    path.write_text(SR400)
    robot = load(path)
    assert robot.independent == ("link1", "link2", "link4", "link5", "link6", "link7")
    assert (robot.name, robot.mass) == ("SR400", 39)
    q = robot.closed([0.1, 0.3, 0.2, 0.1, 0.4, 0.9])
    turns = np.array([q[2] - (np.pi / 2 - q[1] + q[6]), q[7] - (q[1] - q[6])]) / (2 * np.pi)
    np.testing.assert_allclose(turns, np.round(turns), atol=1e-12)
    assert affine(robot) is not None
    assert load(path, loops="open").nv == 8


@pytest.mark.parametrize(("old", "new", "words"), [
    ("NF = 10", "NF = 9", "d: 10 entries|do not fit"), ("NJ = 9", "NJ = 10", "do not fit"),
    ("Ant", "Aunt", "no list Ant"), ("0.8,0.2", "0.8,what(", "a number or an expression"),
    ("d = {0,0.3", "d = {0,D2", "the cut joint 9|numbers, not symbols"),
    ("Mu = {1,1,0", "Mu = {1,1,1", "mobility 6"),
    ("Mu = {1,1,0,1,1,1,1,0,0,0}", "Mu = {1,1,0}", "mu: 10 entries expected"),
    ("1,7,8,3}", "1,7,8,33}", "Ant of row 10: the number of a link expected, not 33"),
])
def test_bad_par_files_are_refused(tmp_path, old, new, words):
    path = tmp_path / "bad.par"
    path.write_text(SR400.replace(old, new))
    if new == "NF = 9":
        assert load(path).mobility == 6          # frames are counted, not believed
        return
    with pytest.raises(FormatError, match=words):
        load(path)


# ---------------------------------------------------------------------- tables
@pytest.mark.parametrize(("old", "new", "words"), [
    ('joint = "revolute"\naxis = [0, 0, 1]\na =', 'joint = "odd"\na =', "loop 1: no joint 'odd'"),
    ('body = "coupler", ', "bdy = 1, ", "loop 1, a: unknown key 'bdy'"),
    ('independent = ["crank"]', 'independent = ["crank", "rocker"]', "mobility 1"),
    ('independent = ["crank"]', 'independent = "crank"', "names of joints expected"),
    ("xyz = [0.5, 0, 0]", "xyz = [5, 0, 0]", "the loop 'pin' cannot be closed"),
    ('name = "pin"\n', "", "a revolute loop needs name"),
])
def test_bad_loops_in_tables_are_refused(tmp_path, old, new, words):
    from importlib.resources import files
    text = (files("closedform.model.zoo") / "robots" / "four_bar.toml").read_text()
    assert old in text
    path = tmp_path / "t.toml"
    path.write_text(text.replace(old, new))
    with pytest.raises(FormatError, match=words):
        load(path)


def test_rods_and_gears_are_tables_too(tmp_path):
    from importlib.resources import files
    text = (files("closedform.model.zoo") / "robots" / "four_bar.toml").read_text()
    rows, _, guess = text.partition("[[loops]]")
    path = tmp_path / "t.toml"
    rod = ('[[loops]]\nname = "rod"\njoint = "rod"\nlength = 0.3\na = {body = "coupler", xyz = '
           '[0.5, 0, 0]}\nb = {body = "rocker", xyz = [0.4, 0, 0]}\n')
    path.write_text(rows.replace('independent = ["crank"]\n', "") + rod
                    + guess[guess.index("\n[guess]"):])
    assert load(path).mobility == 2
    gear = '[[loops]]\nname = "gear"\njoint = "gear"\nfactors = {crank = 2, rocker = -1}\n'
    path.write_text(rows.replace('independent = ["crank"]\n', "") + gear)
    q = load(path).closed([0.4, 0.1])
    assert q[2] == pytest.approx(2 * q[0])


def test_a_floating_root_carries_the_loops_of_a_table():
    robot = load("five_bar", floating=True)
    assert robot.mobility == 8 and robot.is_floating
    assert load("delta", loops="open").nv == builtin("delta").tree.nv == 21


# ---------------------------------------------------------------------- there and back
@pytest.mark.filterwarnings("ignore::closedform.errors.ModelWarning")
def test_rows_of_rounding_are_not_kept(tmp_path):
    """Quarter turns written as URDF leave 1e-17 in rows of a parallelogram that should be zero."""
    path = tmp_path / "sr400.par"
    path.write_text(SR400)
    robot = load(path)
    again = load(robot.to_urdf())
    q = robot.closed([0.1, 0.3, 0.2, 0.1, 0.4, 0.9])
    size = np.abs(np.asarray(loop_jacobian(again, q))).max(axis=1)
    assert 0 < size[1] < 1e-15 < 1e-3 < size[list(again.closure.rows)].min()
    v = np.linspace(-1, 1, 6)
    np.testing.assert_allclose(inverse_dynamics(again, q, v, v), inverse_dynamics(robot, q, v, v),
                               rtol=1e-11, atol=1e-12)


SECOND_PIN = """<joint name="{}" type="{}"><pose>.4 0 0 0 0 0</pose><parent>coupler</parent>
<child>rocker</child><axis><xyz>0 0 1</xyz></axis></joint></model>"""


@pytest.mark.filterwarnings("ignore::closedform.errors.ModelWarning")
def test_the_axis_of_a_cut_hinge_beside_its_links_origin_comes_back_from_urdf():
    robot = load(SDF.replace("</model>", SECOND_PIN.format("again", "revolute")))
    q = robot.closed([0.2])
    again = load(robot.to_urdf())
    assert [cut.name for cut in again.loops] == ["pin", "again"]
    np.testing.assert_allclose(loop_residual(again, q), 0, atol=1e-12)


def test_links_that_are_each_others_parents_hang_on_the_first_of_them():
    ring = SDF.replace("<parent>world</parent><child>crank", "<parent>base</parent><child>crank")
    ring = ring.replace("<parent>world</parent><child>rocker</child>",
                        "<parent>rocker</parent><child>base</child>")
    ring = ring.replace('<link name="crank"/>', '<link name="base"/><link name="crank"/>').replace(
        'name="c" type="revolute"><parent', 'name="c" type="revolute"><pose>.6 0 0 0 0 0</pose>'
        '<parent')
    with pytest.warns(ModelWarning):
        robot, free = load(ring), load(ring, floating=True)
    assert (robot.mobility, free.mobility, robot.loops[0].name) == (1, 7, "c")


def test_a_joint_that_would_lose_its_friction_is_not_the_one_that_is_cut():
    spring = ("<axis><xyz>0 0 1</xyz><dynamics><damping>2</damping><spring_stiffness>3"
              "</spring_stiffness></dynamics></axis></joint></model>")
    with pytest.warns(ModelWarning) as told:
        robot = load(SDF.replace("<axis><xyz>0 0 1</xyz></axis></joint></model>", spring))
    assert robot.loops[0].name == "c" and robot.body("rocker").joint.viscous == 2
    assert "friction" not in str(told[0].message)


BALL = ("<drake:ball_constraint>"
        "<drake:ball_constraint_body_A>coupler</drake:ball_constraint_body_A>"
        "<drake:ball_constraint_body_B>rocker</drake:ball_constraint_body_B>"
        "<drake:ball_constraint_p_AP>.5 0 0</drake:ball_constraint_p_AP>"
        "<drake:ball_constraint_p_BQ>.4 0 0</drake:ball_constraint_p_BQ></drake:ball_constraint>")


def drakes(ball):
    return (SDF[:SDF.index('<joint name="pin"')] + ball + "</model></sdf>").replace(
        "<sdf ", '<sdf xmlns:drake="http://drake.mit.edu" ')


def test_a_ball_constraint_of_drakes_closes_a_loop_in_sdf():
    with pytest.warns(ModelWarning) as told:
        robot = load(drakes(BALL))
    assert (robot.mobility, robot.loops[0].name) == (1, "ball_constraint1")
    assert "ignored" not in str(told[0].message)
    with pytest.warns(ModelWarning, match="left open: ball_constraint1"):
        assert load(drakes(BALL), loops="open").nv == 3


@pytest.mark.parametrize(("old", "new", "words"), [
    ("_A>coupler", "_A>couplr", "'couplr' is no link"), ("_A>coupler", "_A>", "body A is missing"),
    (">.5 0 0<", ">.5 0<", "3 numbers")])
def test_bad_ball_constraints_are_refused(old, new, words):
    with pytest.raises(FormatError, match=words):
        load(drakes(BALL.replace(old, new)))


def test_a_constraint_to_the_world_needs_no_link_of_that_name():
    ball = DIALECTS["Drake"].replace('name="rocker"', 'name="world"').replace(".4 0 0", ".3 .3 0")
    robot = load(urdf(ball))
    assert robot.loops[0].b[0] is None and robot.mobility == 1


@pytest.mark.parametrize(("mark", "words"), [
    ('independent="perhaps"', "joint 'j1': independent must be true or false"),
    ('guess="x"', "joint 'j1': guess of <joint> must be a finite number"),
])
def test_bad_marks_of_joints_are_refused_by_the_joints_names(mark, words):
    with pytest.raises(FormatError, match=words):
        load(urdf(DIALECTS["Isaac"], mark))
