"""The gimbal is Pinocchio's SphericalZYX, and works wherever a joint does."""

import numpy as np
import pinocchio as pin
import pytest
from scipy.spatial.transform import Rotation

import closedform as cf
from closedform.arrays import NUMBERS
from closedform.model.formats.table import read_table
from closedform.model.formats.urdf.read import read_urdf
from random_robots import random_inertia, random_placement


def chain():
    """A revolute joint, a gimbal with a rotor for each turn, a prismatic joint; and a tool."""
    rng = np.random.default_rng(1)
    joints = (cf.Revolute((0, 0, 1), name="turn"),
              cf.Gimbal(name="ball", rotor_inertia=(0.1, 0.2, 0.3), lower=(-1, -0.7, -2),
                        upper=(1, 0.7, 2)),
              cf.Prismatic((1, 0, 0), name="slide"))
    bodies, parent = [], None
    for k, joint in enumerate(joints):
        bodies.append(cf.Body(f"b{k}", parent, joint, random_placement(rng), random_inertia(rng)))
        parent = f"b{k}"
    return cf.Robot("gimballed", bodies, frames=[cf.Frame("tool", "b2", random_placement(rng))])


def pinocchio_model(robot):
    """The same robot by Pinocchio's own joints."""
    model, at = pin.Model(), 0
    kinds = {"turn": pin.JointModelRZ(), "ball": pin.JointModelSphericalZYX(),
             "slide": pin.JointModelPX()}
    for body in robot.bodies:
        at = model.addJoint(at, kinds[body.joint_name], pin.SE3(np.array(body.placement)),
                            body.joint_name)
        I = body.inertia
        model.appendBodyToJoint(at, pin.Inertia(I.mass, np.array(I.com), np.array(I.tensor)),
                                pin.SE3.Identity())
    model.addFrame(pin.Frame("tool", at, pin.SE3(np.array(robot.frames[0].placement)),
                             pin.FrameType.OP_FRAME))
    model.gravity.linear = robot.gravity
    model.armature = np.array([0, 0.1, 0.2, 0.3, 0])
    return model


def state(robot, seed=0):
    rng = np.random.default_rng(seed)
    return robot.random(rng), *rng.normal(size=(3, robot.nv))


def test_it_turns_about_z_then_y_then_x():
    R, p = cf.Gimbal().pose(np.array([0.3, -0.8, 1.1]), NUMBERS)
    np.testing.assert_allclose(R, Rotation.from_euler("ZYX", [0.3, -0.8, 1.1]).as_matrix(),
                               atol=1e-15)
    assert not p.any()


@pytest.mark.parametrize("seed", range(3))
def test_dynamics_are_pinocchios(seed):
    robot = chain()
    model = pinocchio_model(robot)
    data, (q, v, a, tau) = model.createData(), state(robot, seed)
    M = pin.crba(model, data, q)
    M = np.triu(M) + np.triu(M, 1).T
    near = 1e-12 * np.abs(M).max()
    np.testing.assert_allclose(cf.mass_matrix(robot, q), M, atol=near)
    np.testing.assert_allclose(cf.bias(robot, q, v), pin.nle(model, data, q, v), atol=10 * near)
    np.testing.assert_allclose(cf.inverse_dynamics(robot, q, v, a), pin.rnea(model, data, q, v, a),
                               atol=10 * near)
    cond = np.linalg.cond(M)
    np.testing.assert_allclose(cf.forward_dynamics(robot, q, v, tau),
                               pin.aba(model, data, q, v, tau), rtol=1e-14 * cond)


@pytest.mark.parametrize(("ours", "theirs"), [
    (cf.LOCAL, pin.LOCAL), (cf.WORLD, pin.WORLD),
    (cf.LOCAL_WORLD_ALIGNED, pin.LOCAL_WORLD_ALIGNED)])
def test_frame_jacobians_are_pinocchios(ours, theirs):
    robot = chain()
    model = pinocchio_model(robot)
    q, *_ = state(robot)
    data, tool = model.createData(), model.getFrameId("tool")
    pin.computeJointJacobians(model, data, q)
    pin.updateFramePlacements(model, data)
    np.testing.assert_allclose(cf.frame_jacobian(robot, q, "tool", ours),
                               pin.getFrameJacobian(model, data, tool, theirs), atol=1e-13)


def test_derivatives_are_exact():
    """By complex step; Pinocchio's own take S for constant and are wrong for this joint."""
    robot, h = chain(), 1e-30
    q, v, a, _ = state(robot)
    ours = cf.inverse_dynamics_derivatives(robot, q, v, a)
    for k, e in enumerate(np.eye(robot.nv)):
        by_q = np.imag(cf.inverse_dynamics(robot, q + 1j * h * e, v, a)) / h
        by_v = np.imag(cf.inverse_dynamics(robot, q, v + 1j * h * e, a)) / h
        np.testing.assert_allclose(ours.dtau_dq[:, k], by_q, atol=1e-11)
        np.testing.assert_allclose(ours.dtau_dv[:, k], by_v, atol=1e-11)
    rate = np.imag(cf.frame_jacobian(robot, q + 1j * h * v, "tool")) / h
    np.testing.assert_allclose(cf.frame_jacobian_rate(robot, q, v, "tool"), rate, atol=1e-12)


def test_pinocchios_convention_is_ours():
    robot = chain()
    convention = cf.conventions.from_pinocchio_model(robot, pinocchio_model(robot))
    q, v, _, _ = state(robot)
    np.testing.assert_array_equal(convention.q_to(q), q)
    np.testing.assert_array_equal(convention.v_to(q, v), v)


@pytest.mark.parametrize("library", ["mujoco", "drake"])
def test_libraries_without_it_say_what_it_is_there(library):
    convention = getattr(cf.conventions, f"{library}_convention")
    with pytest.raises(cf.ModelError, match=r"3 joints in a row: revolute z, revolute y, revol"):
        convention(chain(), ("turn", "ball", "slide"))


def test_compiled_kernels_equal_the_closed_form():
    robot = chain()
    arm, (q, v, a, tau) = cf.compile(robot), state(robot)
    for name, arguments in (("mass_matrix", (q,)), ("bias", (q, v)), ("poses", (q,)),
                            ("inverse_dynamics", (q, v, a)), ("forward_dynamics", (q, v, tau)),
                            ("regressor", (q, v, a)), ("coriolis_matrix", (q, v))):
        expected = getattr(cf, name)(robot, *arguments)
        got = getattr(arm, name)(*arguments)
        np.testing.assert_allclose(got, expected, atol=1e-11 * np.abs(expected).max())


def test_base_parameters_reproduce_the_torque():
    robot = chain()
    base, (q, v, a, _) = cf.base_parameters(robot), state(robot)
    np.testing.assert_allclose(base.regressor(q, v, a) @ base.values,
                               cf.inverse_dynamics(robot, q, v, a), atol=1e-11)


def test_a_simulation_keeps_its_energy():
    robot = chain()
    q, v, _, _ = state(robot)
    run = cf.simulate(robot, q, 0.1 * v, None, np.linspace(0, 0.3, 4), progress=False)
    assert run.energy_drift < 1e-8


def test_urdf_has_three_revolute_joints_for_it():
    robot = chain()
    back = read_urdf(robot.to_urdf())
    np.testing.assert_array_equal(back.rotor_inertia, robot.rotor_inertia)
    assert back.joint_names == ("turn", "ball_1", "ball_2", "ball_3", "slide")
    q, *_ = state(robot)
    np.testing.assert_allclose(cf.frame_pose(back, q, "tool"), cf.frame_pose(robot, q, "tool"),
                               atol=1e-12)
    np.testing.assert_array_equal(back.lower, robot.lower)


def test_tables_descriptions_and_lint_know_it():
    robot = read_table("""
convention = "bodies"
[[rows]]
name = "a"
joint = "gimbal"
mass = 1.0
tensor = [0.1, 0, 0, 0.1, 0, 0.1]
lower = [-1, -1, -1]
upper = [1, 1, 1]
""")
    assert robot.bodies[0].joint == cf.Gimbal(lower=(-1, -1, -1), upper=(1, 1, 1))
    assert "gimbal" in robot._repr_html_()
    assert cf.lint(robot) == []
