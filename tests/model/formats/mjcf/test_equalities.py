"""Equalities of MJCF: couplings, welds and loops, against MuJoCo itself."""

import warnings

import numpy as np
import pytest

from closedform.errors import FormatError, ModelWarning
from closedform.maths.definitions.closed_form import inverse_dynamics, mass_matrix
from closedform.maths.definitions.friction import joint_friction
from closedform.maths.frames import frame_pose
from closedform.maths.loops.forces import loop_embedding
from closedform.model.formats.mjcf.read import read_mjcf
from closedform.model.joints import Mimic
from closedform.model.load import load
from mjcf_models import EXACT, HINGE, SLIDE, document, full_mass_matrix, link

mujoco = pytest.importorskip("mujoco")


def coupled(equality):
    return document(link("a", HINGE.format(n="h"), 2, link("b", SLIDE.format(n="t"), 1.5)),
                    f"<equality>{equality}</equality>")


def test_a_linear_joint_equality_is_a_mimic_joint():
    text = coupled('<joint joint1="t" joint2="h" polycoef=".1 .7 0 0 0"/>')
    model, robot = mujoco.MjModel.from_xml_string(text), read_mjcf(text)
    assert isinstance(robot.body("b").joint, Mimic)
    assert robot.joint_names == ("h",)
    data = mujoco.MjData(model)
    q = 0.3
    slide = 0.2 + 0.1 + 0.7 * (q - np.radians(25))  # ref of t, polycoef, ref of h
    data.qpos[:] = q, slide
    mujoco.mj_forward(model, data)
    E = np.array([[1], [0.7]])
    M = E.T @ full_mass_matrix(model, data) @ E
    np.testing.assert_allclose(mass_matrix(robot, np.array([q])), M, rtol=EXACT)
    np.testing.assert_allclose(frame_pose(robot, np.array([q]), "b")[:3, 3], data.body("b").xpos,
                               atol=EXACT)


@pytest.mark.parametrize("equality", [
    '<joint joint1="t" joint2="h" polycoef=".1 .7 -.4 .3 .2"/>',
    '<joint joint1="h" joint2="t" polycoef="0 0 2 0 0"/>'])
def test_a_polynomial_joint_equality_is_a_mimic_joint_with_higher_coefficients(equality):
    """M = Gᵀ M̂ G with MuJoCo's M̂, and MuJoCo's equality has no residual where we are."""
    text = coupled(equality)
    model, robot = mujoco.MjModel.from_xml_string(text), read_mjcf(text)
    assert robot.is_curved and robot.nv == 1
    q = np.array([0.3])
    data, residual = residuals(model, robot, q)
    np.testing.assert_allclose(residual, 0, atol=EXACT)
    own = lambda q: np.array([s.coordinates(q)[0] for s in robot.segments])
    G = np.imag(own(q + 1e-30j)) / 1e-30
    np.testing.assert_allclose(mass_matrix(robot, q),
                               [[G @ full_mass_matrix(model, data) @ G]], rtol=EXACT)
    bend = np.imag(np.array([own(q + 1e-30j + d) for d in (1e-4, -1e-4)])).T @ [1, -1] / 2e-34
    data.qvel[:], data.qacc[:] = G * 0.7, G * 0.2 + bend * 0.49
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    mujoco.mj_inverse(model, data)
    tau = data.qfrc_inverse + model.dof_damping * data.qvel        # ours is without friction
    np.testing.assert_allclose(inverse_dynamics(robot, q, [0.7], [0.2]), G @ tau, rtol=1e-7)


def test_a_polynomial_equality_of_single_joint_tendons_is_one_of_their_joints():
    wraps = ('<fixed name="t"><joint joint="j1" coef="2"/></fixed>'
             '<fixed name="u"><joint joint="j2" coef=".5"/></fixed>')
    text = with_tendon(wraps, '<tendon tendon1="t" tendon2="u" polycoef="-.1 1.5 .3 0 .2"/>')
    model, robot = mujoco.MjModel.from_xml_string(text), load(text)
    assert robot.is_curved
    np.testing.assert_allclose(residuals(model, robot, np.array([0.4, 0.9]))[1], 0, atol=EXACT)


def test_a_polynomial_of_several_joints_is_refused_by_name():
    wraps = PAIR + '<fixed name="u"><joint joint="j2" coef=".5"/></fixed>'
    with pytest.raises(FormatError, match="is a polynomial of more than one joint"):
        load(with_tendon(wraps, '<tendon tendon1="t" tendon2="u" polycoef="0 1 .3 0 0"/>'))


def test_damping_and_friction_of_a_follower_by_a_polynomial_act_on_its_driver():
    """q_t = 0.7 (q_h − q0_h) + 0.4 (q_h − q0_h)² + q0_t, so that v_t = γ' v_h."""
    text = coupled('<joint joint1="t" joint2="h" polycoef="0 .7 .4 0 0"/>').replace(
        'name="t"', 'name="t" damping="2" frictionloss="3"')
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        robot = load(text)
    model = mujoco.MjModel.from_xml_string(text)
    start, = model.qpos0[model.joint("h").qposadr]
    own = model.dof_damping[model.joint("h").dofadr[0]]
    for q, v in ((start + 0.3, 0.6), (start - 1.5, 0.6), (start - 1.5, -0.6)):
        g = 0.7 + 0.8 * (q - start)
        expected = own * v + g * (2 * g * v + 3 * np.sign(g * v))
        assert joint_friction(robot, [v], [q]) == pytest.approx([expected], rel=1e-13)


def test_a_follower_of_slope_zero_is_held_still():
    robot = read_mjcf(coupled('<joint joint1="t" joint2="h" polycoef=".1 0 0 0 0"/>'))
    held = read_mjcf(coupled('<joint joint1="t" polycoef=".1 0 0 0 0"/>'))
    np.testing.assert_array_equal(frame_pose(robot, [0.5], "b"), frame_pose(held, [0.5], "b"))


def test_an_equality_of_one_joint_holds_it_still():
    robot = read_mjcf(coupled('<joint joint1="t" polycoef=".1 0 0 0 0"/>'))
    free = read_mjcf(coupled(""))
    assert robot.joint_names == ("h",)
    np.testing.assert_allclose(frame_pose(robot, np.array([0.5]), "b"),
                               frame_pose(free, np.array([0.5, 0.3]), "b"), atol=EXACT)


def test_an_inactive_equality_changes_nothing():
    robot = read_mjcf(coupled('<weld body1="b" active="false"/>'))
    assert robot.joint_names == ("h", "t")


@pytest.mark.parametrize(("equality", "words"), [
    ('<weld name="e" body1="b"/>', "the loop 'e' leaves nothing to move"),
    ('<joint joint1="t" joint2="h"/><joint joint1="t"/>', "two equalities act on the joint 't'"),
])
def test_equalities_that_are_no_tree_are_refused_by_name(equality, words):
    with pytest.raises(FormatError, match=words):
        read_mjcf(coupled(equality))


# ---------------------------------------------------------------------- tendons
def with_tendon(wraps, equality, joints=3):
    bodies = ""
    for k in reversed(range(joints)):
        bodies = link(f"b{k}", f'<joint name="j{k}" axis="0 1 {k}" ref="{10 * k}"/>', k + 1, bodies)
    return document(bodies, f"<tendon>{wraps}</tendon><equality>{equality}</equality>")


PAIR = ('<fixed name="t"><joint joint="j0" coef="2"/><joint joint="j2" coef="-4"/></fixed>')


def residuals(model, robot, q):
    """What MuJoCo says of its equalities where our robot is at q, found by names of bodies."""
    data = mujoco.MjData(model)
    coordinates = {robot.bodies[s.body].joint_name: s.coordinates(q)[0] for s in robot.segments}
    for name, value in coordinates.items():
        data.qpos[model.joint(name).qposadr[0]] = value
    mujoco.mj_forward(model, data)
    return data, data.efc_pos[data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY]


@pytest.mark.parametrize(("wraps", "equality"), [
    (PAIR, '<tendon tendon1="t" polycoef=".3 0 0 0 0"/>'),
    ('<fixed name="t"><joint joint="j1" coef="2"/></fixed>'
     '<fixed name="u"><joint joint="j2" coef=".5"/></fixed>',
     '<tendon tendon1="t" tendon2="u" polycoef="-.1 1.5 0 0 0"/>'),
    (PAIR, '<tendon tendon1="t"/><joint joint1="j2" joint2="j1" polycoef="0 .5 0 0 0"/>'),
])
def test_a_tendon_equality_over_two_joints_is_a_mimic_joint(wraps, equality):
    text = with_tendon(wraps, equality)
    model = mujoco.MjModel.from_xml_string(text)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        robot = load(text)
    assert robot.nv == 3 - model.neq
    q = np.linspace(0.4, 0.9, robot.nq)
    data, residual = residuals(model, robot, q)
    assert len(residual) == model.neq
    np.testing.assert_allclose(residual, 0, atol=EXACT)
    G = np.array([s.ratio * np.eye(robot.nv)[s.v_index[0]] for s in robot.segments])
    M = G.T @ full_mass_matrix(model, data) @ G
    np.testing.assert_allclose(mass_matrix(robot, q), M, rtol=1e-10)


def test_a_tendon_equality_over_three_joints_is_a_gear():
    wraps = "".join(f'<joint joint="j{k}" coef="{k + 1}"/>' for k in range(3))
    text = with_tendon(f'<fixed name="t">{wraps}</fixed>', '<tendon tendon1="t"/>')
    robot = load(text)
    assert robot.mobility == 2 and robot.tree.nv == 3
    model, q = mujoco.MjModel.from_xml_string(text), robot.closed([0.3, -0.2])
    data, residual = residuals(model, robot, q)
    np.testing.assert_allclose(residual, 0, atol=EXACT)
    G = loop_embedding(robot, q)
    np.testing.assert_allclose(mass_matrix(robot, q), G.T @ full_mass_matrix(model, data) @ G,
                               rtol=1e-10)


def test_an_equality_that_says_again_what_others_say_is_a_redundant_gear():
    pair = '<joint joint1="j{}" joint2="j{}" polycoef="0 {} 0 0 0"/>'.format
    chain, again = pair(1, 0, 0.5) + pair(2, 1, -3), pair(2, 0, -1.5)
    robot, plain = load(with_tendon("", chain + again)), load(with_tendon("", chain))
    assert robot.mobility == plain.nv == 1 and len(robot.loops) == 1
    q = robot.closed([0.4])
    np.testing.assert_allclose(mass_matrix(robot, q), mass_matrix(plain, [0.4]), rtol=1e-12)


# ---------------------------------------------------------------------- welds
MOCAP = ('<body name="hand" mocap="true" pos="1 0 0"/>'
         + link("a", HINGE.format(n="h"), 2, link("b", SLIDE.format(n="t"), 1.5)))


def test_a_weld_to_a_mocap_body_is_left_out_with_a_warning():
    text = document(MOCAP, '<equality><weld body1="hand" body2="b"/></equality>')
    with pytest.warns(ModelWarning, match="welds to mocap bodies: hand – b") as caught:
        robot = load(text)
    assert len(caught) == 1
    assert robot.joint_names == ("h", "t")
    assert any("hand – b" in note for note in robot.notes)


FREED = ('<freejoint name="f"/>' + '<body name="flange" pos="0 0 .2" euler="10 0 30"/>')
WELDS = {
    "to the world": '<weld body1="c" relpose="1 2 3 .5 .5 -.5 .5"/>',
    "of the world": '<weld body1="world" body2="c" relpose="1 2 3 .5 .5 -.5 .5"/>',
    "to a body that moves": '<weld body1="c" body2="b" anchor=".1 .2 .3" '
                            'relpose=".3 .2 .1 .8 0 .6 0"/>',
    "of a body that moves": '<weld body1="b" body2="flange" relpose=".3 .2 .1 .8 0 .6 0"/>',
    "where it stands": '<weld body1="flange" body2="b"/>',
    "of sites": '<weld site1="s" site2="r"/>',
}


@pytest.mark.parametrize("weld", WELDS.values(), ids=WELDS)
def test_a_free_body_that_is_welded_is_part_of_the_other(weld):
    """Put where our robot has it, MuJoCo finds that the weld holds."""
    text = document(link("c", FREED, 1, '<site name="s" pos=".1 0 0" euler="0 40 0"/>')
                    + link("a", HINGE.format(n="h"), 2,
                           link("b", SLIDE.format(n="t"), 1.5, '<site name="r"/>')),
                    f"<equality>{weld}</equality>")
    model, robot = mujoco.MjModel.from_xml_string(text), load(text)
    assert robot.joint_names == ("h", "t")
    assert not robot.is_floating
    q = np.array([0.7, 0.3])
    data = mujoco.MjData(model)
    T = frame_pose(robot, q, "c")
    data.qpos[:3] = T[:3, 3]
    mujoco.mju_mat2Quat(data.qpos[3:7], T[:3, :3].ravel())
    data.qpos[7:] = q
    mujoco.mj_forward(model, data)
    np.testing.assert_allclose(data.efc_pos[:6], 0, atol=1e-9)


def test_a_free_body_is_welded_once():
    two = '<weld body1="c" body2="b"/><weld body1="c"/>'
    text = document(link("c", FREED, 1) + link("b", HINGE.format(n="h"), 1),
                    f"<equality>{two}</equality>")
    with pytest.raises(FormatError, match="the loop 'equality1' leaves nothing to move"):
        load(text)


# ---------------------------------------------------------------------- loops
LOOP = coupled('<connect body1="b" anchor="0 0 0"/>')
FOUR_BAR = document(
    '<body name="crank"><joint name="h1" axis="0 0 1"/><inertial pos=".1 0 0" mass="1" '
    'diaginertia=".01 .01 .01"/><body name="coupler" pos=".2 0 0" euler="0 0 20">'
    '<joint name="h2" axis="0 0 1"/><inertial pos=".25 .03 0" mass="2" diaginertia=".05 .05 .05"/>'
    '<site name="tip" pos=".5 0 0"/></body></body><body name="rocker" pos=".6 0 0">'
    '<joint name="h3" axis="0 0 1"/><inertial pos=".2 0 0" mass="1.5" diaginertia=".03 .03 .03"/>'
    '<site name="pin" pos=".4 0 0"/></body>',
    '<equality><connect name="loop" {}/></equality>')


@pytest.mark.parametrize(("ends", "rank"), [
    ('body1="coupler" body2="rocker" anchor=".5 0 0"', 2), ('site1="tip" site2="pin"', 2)])
def test_a_connection_closes_a_loop_with_its_redundant_row(ends, rank):
    robot = load(FOUR_BAR.format(ends))
    assert (robot.tree.nv, robot.mobility, robot.closure.count, len(robot.closure.rows)) == (
        3, 1, 3, rank)
    model = mujoco.MjModel.from_xml_string(FOUR_BAR.format(ends))
    q = robot.integrate(robot.neutral(), [0.2])
    data, residual = residuals(model, robot, q)
    np.testing.assert_allclose(residual, 0, atol=1e-12)
    G = loop_embedding(robot, q)
    np.testing.assert_allclose(mass_matrix(robot, q), G.T @ full_mass_matrix(model, data) @ G,
                               rtol=1e-10)


def test_a_ball_between_loops_turns_about_itself():
    """A rod on two balls has a spin of its own: one velocity more, as Cassie's rods have."""
    rod = ('<body name="rod" pos="0 0 1"><joint name="ball" type="ball"/><inertial pos=".2 0 0" '
           'mass=".3" diaginertia=".001 .004 .004"/></body>')
    arm = ('<body name="arm" pos=".4 0 0"><joint name="h" axis="0 1 0"/><inertial pos="0 0 .5" '
           'mass="1" diaginertia=".1 .1 .01"/></body>')
    robot = load(document(rod + arm, '<equality><connect body1="rod" body2="arm" anchor=".4 0 0"/>'
                                     '</equality>'))
    assert (robot.tree.nv, robot.mobility) == (4, 1)
    assert np.all(np.linalg.eigvalsh(mass_matrix(robot, robot.neutral())) > 0)


def test_a_connection_that_cannot_be_closed_is_refused_by_its_name():
    far = FOUR_BAR.format('site1="tip" site2="pin"').replace('pos=".6 0 0"', 'pos="9 0 0"')
    with pytest.raises(FormatError, match=r"the loop 'loop' cannot be closed .*loops=.open"):
        load(far)


def test_loops_are_read_open_on_request_with_a_warning():
    with pytest.warns(ModelWarning, match="connect equality of b and the world") as caught:
        robot = load(LOOP, loops="open")
    assert len(caught) == 1
    assert robot.joint_names == ("h", "t")
    with pytest.raises(FormatError, match='loops="open"'):
        load(LOOP)


def test_switched_off_equalities_change_nothing():
    off = '<option><flag equality="disable"/></option><worldbody>'
    assert load(LOOP.replace("<worldbody>", off)).joint_names == ("h", "t")


def test_a_deformable_body_is_called_that():
    flex = ('<flexcomp name="cloth" type="grid" count="3 3 1" spacing=".1 .1 .1" mass="1" dim="2">'
            '<edge equality="true"/></flexcomp>')
    with pytest.raises(FormatError, match="'cloth' holds a deformable body together"):
        load(document(flex))
