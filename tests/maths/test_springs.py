"""Springs in joints: terms of U, g, τ and their derivatives."""

import mujoco
import numpy as np
import pytest

import closedform as cf
from closedform.maths.springs import spring_energy, spring_stiffness, spring_torque
from closedform.model.formats.table import read_table
from loaded_robots import loaded_robot
from random_robots import random_inertia, random_state

Z = (0, 0, 1)
MJCF = """<mujoco><compiler angle="radian"/><worldbody>
<body pos="0 0 1"><joint axis="0 1 0" stiffness="3" springref="0.4"/>
 <inertial pos="0.2 0 0.1" mass="2" diaginertia="0.1 0.2 0.25"/>
 <body pos="0.5 0 0"><joint axis="1 0 0" type="slide" stiffness="70" springref="-0.1"/>
  <inertial pos="0.1 0.3 0" mass="1" diaginertia="0.1 0.1 0.1"/></body></body>
</worldbody></mujoco>"""


def springy_arm():
    slope, out = np.eye(4), np.eye(4)
    slope[2, 3], out[0, 3] = 1, 0.5
    return cf.Robot("arm", [
        cf.Body("a", None, cf.Revolute((0, 1, 0), stiffness=3, spring_reference=0.4), slope,
                cf.Inertia(2, (0.2, 0, 0.1), np.diag([0.1, 0.2, 0.25]))),
        cf.Body("b", "a", cf.Prismatic((1, 0, 0), stiffness=70, spring_reference=-0.1), out,
                cf.Inertia(1, (0.1, 0.3, 0), 0.1 * np.eye(3)))])


def test_accelerations_with_springs_are_mujocos():
    model = mujoco.MjModel.from_xml_string(MJCF)
    data, robot = mujoco.MjData(model), springy_arm()
    for seed in range(3):
        data.qpos[:], data.qvel[:] = np.random.default_rng(seed).normal(size=(2, 2))
        mujoco.mj_forward(model, data)
        a = cf.forward_dynamics(robot, data.qpos, data.qvel, np.zeros(2))
        np.testing.assert_allclose(a, data.qacc, rtol=1e-9)
        arm = cf.compile(robot)
        np.testing.assert_allclose(
            arm.forward_dynamics(data.qpos, data.qvel, np.zeros(2)), data.qacc, rtol=1e-9)


def test_the_torque_is_the_gradient_of_the_energy_and_the_stiffness_that_of_the_torque():
    robot, h = loaded_robot(2), 1e-30
    q = robot.random(0).astype(complex)
    for body, i, j in robot.parts:
        if body.joint.is_vector:
            for at, to in zip(range(i.start, i.stop), range(j.start, j.stop), strict=True):
                step = 1j * h * np.eye(robot.nq)[at]
                dU = np.imag(spring_energy(robot, q + step)) / h
                dg = np.imag(spring_torque(robot, q + step)) / h
                assert dU == pytest.approx(spring_torque(robot, q).real[to], abs=1e-14)
                np.testing.assert_allclose(dg, np.eye(robot.nv)[to] * spring_stiffness(robot),
                                           atol=1e-14)


def test_the_spring_of_a_mimic_acts_on_its_driver():
    """½ k (r q + c − x₀)² has the torque r k (r q + c − x₀)."""
    follower = cf.Mimic(cf.Revolute(Z, stiffness=4, spring_reference=0.2), of="a", ratio=-0.5,
                        offset=0.7)
    inertia = random_inertia(np.random.default_rng(0))
    robot = cf.Robot("hand", [cf.Body("a", None, cf.Revolute(Z), inertia=inertia),
                              cf.Body("b", "a", follower, inertia=inertia)], gravity=(0, 0, 0))
    q = np.array([0.3])
    stretch = -0.5 * 0.3 + 0.7 - 0.2
    assert cf.potential_energy(robot, q) == pytest.approx(4 * stretch**2 / 2)
    np.testing.assert_allclose(cf.gravity_torque(robot, q), [-0.5 * 4 * stretch])
    np.testing.assert_allclose(cf.compile(robot).gravity_torque(q), [-0.5 * 4 * stretch])


def test_a_locked_joint_takes_its_spring_with_it():
    robot = springy_arm().reduced({"b": 0.2})
    assert cf.gravity_torque(robot.with_gravity((0, 0, 0)), [0.5]) == pytest.approx(3 * 0.1)


@pytest.mark.parametrize("joint", [cf.Planar, cf.Spherical, cf.Free])
def test_springs_of_joints_with_other_velocities_are_refused_by_name(joint):
    with pytest.raises(cf.ClosedformError, match=f"{joint.__name__} joint .*stiffness"):
        joint(stiffness=1.0)
    assert joint(stiffness=0.0).stiffness == 0


@pytest.mark.parametrize("wrong", [{"stiffness": -1}, {"stiffness": np.inf},
                                   {"spring_reference": np.nan}, {"stiffness": (1, 2)}])
def test_springs_that_are_none_are_refused(wrong):
    with pytest.raises(cf.ClosedformError, match=next(iter(wrong))):
        cf.Revolute(Z, **wrong)


def test_a_table_reads_springs_and_carried_weight():
    robot = read_table("""
convention = "bodies"
[[rows]]
name = "a"
joint = "revolute"
axis = [0, 0, 1]
mass = 1.0
stiffness = 2.5
spring_reference_deg = 90
gravity_compensation = 0.5
""")
    body, = robot.bodies
    assert body.joint.stiffness == 2.5
    assert body.joint.spring_reference == pytest.approx(np.pi / 2)
    assert body.gravity_compensation == 0.5


def test_springs_add_to_the_torques_of_a_regressor():
    robot = loaded_robot(4)
    q, v, a = random_state(robot, 1)
    tau = cf.regressor(robot, q, v, a) @ robot.parameters + spring_torque(robot, q)
    np.testing.assert_allclose(tau, cf.inverse_dynamics(robot, q, v, a), rtol=1e-11)
