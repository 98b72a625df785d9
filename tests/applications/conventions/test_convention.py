"""Joints that follow others here and are joints of their own there: grippers, both ways."""

import numpy as np
import pytest

from closedform.applications.conventions import (
    from_mujoco_model,
    from_pinocchio_model,
    pinocchio_convention,
)
from closedform.errors import ModelError
from closedform.maths.algorithms.newton_euler import inverse_dynamics, mass_matrix
from closedform.model.joints import Mimic, Revolute
from closedform.model.load import load
from closedform.model.robot import Body, Robot
from mjcf_models import HINGE, SLIDE, document, full_mass_matrix, link

ROUNDING = 1e-10
LINK = """<link name="{}"><inertial><origin xyz="0.1 0.02 -0.3"/><mass value="1.7"/>
  <inertia ixx="0.4" ixy="0.01" ixz="0" iyy="0.5" iyz="0.02" izz="0.3"/></inertial></link>"""
JOINT = """<joint name="{0}" type="{1}"><parent link="{2}"/><child link="{3}"/>
  <origin xyz="0.2 -0.1 0.4" rpy="0.5 -0.2 0.3"/><axis xyz="0 0.6 0.8"/>
  <limit lower="-1" upper="1" effort="10" velocity="3"/>{4}</joint>"""
MIMIC = '<mimic joint="{}" multiplier="{}" offset="{}"/>'
GRIPPER = "<robot name='gripper'>" + "".join(map(LINK.format, "habcd")) + "".join([
    JOINT.format("a_follows", "prismatic", "h", "a", MIMIC.format("lead", -0.5, 0.1)),
    JOINT.format("lead", "revolute", "h", "b", ""),
    JOINT.format("z_follows", "continuous", "b", "c", MIMIC.format("a_follows", 3, 0.2)),
    JOINT.format("own", "continuous", "c", "d", "")]) + "</robot>"
HELD = document(
    link("a", HINGE.format(n="h"), 2, link("b", SLIDE.format(n="t"), 1.5)
         + link("c", HINGE.format(n="s"), 1)) + link("f", '<freejoint name="box"/>', 1),
    '<equality><joint joint1="t" joint2="h" polycoef=".1 .7 0 0 0"/>'
    '<joint joint1="s" polycoef=".2 0 0 0 0"/>'
    '<weld body1="f" relpose="1 2 3 .8 0 .6 0"/></equality>')


def pinocchio_gripper():
    pin = pytest.importorskip("pinocchio")
    robot, model = load(GRIPPER), pin.buildModelFromXML(GRIPPER)
    return robot, from_pinocchio_model(robot, model), model


def mujoco_gripper():
    mujoco = pytest.importorskip("mujoco")
    robot, model = load(HELD), mujoco.MjModel.from_xml_string(HELD)
    return robot, from_mujoco_model(robot, model), model


def state(robot):
    rng = np.random.default_rng(3)
    return robot.random(rng), *rng.normal(size=(3, robot.nv))


@pytest.mark.parametrize("make", [pinocchio_gripper, mujoco_gripper])
def test_there_and_back_is_the_identity(make):
    robot, convention, model = make()
    q, v, a, tau = state(robot)
    assert (convention.nq, convention.nv) == (model.nq, model.nv)
    assert model.nv > robot.nv
    back = [convention.q_from(convention.q_to(q)), convention.v_from(q, convention.v_to(q, v)),
            convention.a_from(q, v, convention.a_to(q, v, a)),
            convention.tau_from(q, convention.tau_to(q, tau))]
    for x, y in zip(back, (q, v, a, tau), strict=True):
        np.testing.assert_allclose(x, y, atol=1e-13)
    power = convention.tau_to(q, tau) @ convention.v_to(q, v)
    assert power == pytest.approx(tau @ v)


@pytest.mark.parametrize("make", [pinocchio_gripper, mujoco_gripper])
def test_their_velocity_is_the_rate_of_their_coordinates(make):
    robot, convention, _ = make()
    q, v, *_ = state(robot)
    h = 1e-6
    rate = (convention.q_to(robot.integrate(q, h * v))
            - convention.q_to(robot.integrate(q, -h * v))) / (2 * h)
    single = [at for at in (*convention.places, *convention.followers) if at.habit.nq == 1]
    for at in single:
        np.testing.assert_allclose(rate[at.their_q], convention.v_to(q, v)[at.their_v], atol=1e-8)


def test_dynamics_of_a_gripper_agree_with_pinocchio():
    robot, convention, model = pinocchio_gripper()
    import pinocchio as pin
    q, v, a, _ = state(robot)
    data, theirs = model.createData(), convention.q_to(q)
    tau = pin.rnea(model, data, theirs, convention.v_to(q, v), convention.a_to(q, v, a))
    np.testing.assert_allclose(inverse_dynamics(robot, q, v, a), convention.tau_from(q, tau),
                               atol=ROUNDING)
    M = pin.crba(model, data, theirs)
    M, B = np.triu(M) + np.triu(M, 1).T, convention.B(q)
    np.testing.assert_allclose(mass_matrix(robot, q), B.T @ M @ B, atol=ROUNDING)


def test_dynamics_of_a_gripper_agree_with_mujoco():
    robot, convention, model = mujoco_gripper()
    import mujoco
    q, v, a, _ = state(robot)
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = convention.q_to(q), convention.v_to(q, v)
    mujoco.mj_forward(model, data)
    equal = data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY
    assert equal.sum() == 8
    np.testing.assert_allclose(data.efc_pos[equal], 0, atol=1e-9)
    M, B = full_mass_matrix(model, data), convention.B(q)
    np.testing.assert_allclose(mass_matrix(robot, q), B.T @ M @ B, atol=ROUNDING)
    tau = M @ convention.a_to(q, v, a) + data.qfrc_bias
    np.testing.assert_allclose(inverse_dynamics(robot, q, v, a), convention.tau_from(q, tau),
                               atol=ROUNDING)


def test_a_list_of_names_may_have_followers():
    robot, theirs, model = pinocchio_gripper()
    order = list(model.names)[1:]
    listed = pinocchio_convention(robot, order, continuous=["z_follows", "own"])
    q, v, *_ = state(robot)
    np.testing.assert_array_equal(listed.q_to(q), theirs.q_to(q))
    np.testing.assert_array_equal(listed.v_to(q, v), theirs.v_to(q, v))
    without = pinocchio_convention(robot, ["own", "lead"])
    assert without.nv == 2


def test_a_joint_that_neither_moves_nor_follows_here_is_refused():
    robot, _, model = pinocchio_gripper()
    with pytest.raises(ModelError, match="only Pinocchio has own"):
        from_pinocchio_model(robot.reduced(["own"]), model)


def test_a_joint_that_follows_several_goes_with_all_of_them():
    bodies = [Body("one", None, Revolute((0, 0, 1))), Body("two", "one", Revolute((0, 0, 1))),
              Body("both", "two", Mimic(Revolute((0, 0, 1)), {"one": 2.0, "two": -0.5},
                                        offset=0.3))]
    robot = Robot("several", bodies)
    convention = pinocchio_convention(robot, ["one", "two", "both"])
    q, v = np.array([0.4, 0.6]), np.array([1.0, -2.0])
    np.testing.assert_allclose(convention.q_to(q), [0.4, 0.6, 0.8])
    np.testing.assert_allclose(convention.v_to(q, v), [1, -2, 3])
    np.testing.assert_allclose(convention.tau_from(q, [0, 0, 1]), [2, -0.5])
    np.testing.assert_allclose(convention.q_from(convention.q_to(q)), q)
