"""Springs in joints: terms of U, g, τ and their derivatives."""

import mujoco
import numpy as np
import pytest

import closedform as cf
from closedform.applications.conventions.robots import from_mujoco_model
from closedform.lowerings.reference import run
from closedform.maths.springs import (
    spring_energy,
    spring_second_derivatives,
    spring_stiffness,
    spring_torque,
)
from closedform.model.formats.table import read_table
from closedform.model.groups.matrices import right_jacobian_so3_inverse
from closedform.program.record import record
from loaded_robots import loaded_robot
from random_robots import complex_step, random_inertia, random_state

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


@pytest.mark.parametrize("seed", range(6))
def test_every_derivative_of_a_spring_is_that_of_the_one_before(seed):
    robot = loaded_robot(seed)
    q, directions = robot.random(seed), np.eye(robot.nv)

    def steps(f):
        return np.stack([complex_step(robot, lambda q: f(robot, q), q, e) for e in directions], -1)

    np.testing.assert_allclose(spring_torque(robot, q), steps(spring_energy), atol=1e-13)
    np.testing.assert_allclose(spring_stiffness(robot, q), steps(spring_torque), atol=1e-13)
    np.testing.assert_allclose(spring_second_derivatives(robot, q), steps(spring_stiffness),
                               atol=1e-12)


@pytest.mark.parametrize("angle", [0.0, 1e-300, 1e-160, 1e-20, 1e-8, 1e-3, 0.5, 3.1, np.pi - 1e-9])
@pytest.mark.parametrize("joint", [cf.Spherical, cf.Free])
def test_a_turning_spring_is_smooth_from_no_angle_to_almost_half_a_turn(joint, angle):
    """w = angle n: U = ½ k angle², τ = k w, ∂τ = k J_r⁻¹(w), in functions and recorded alike."""
    n, k = np.array([2.0, -1.0, 2.0]) / 3, 2.5
    robot = cf.Robot("top", [cf.Body("a", None, joint(stiffness=k),
                                     inertia=cf.Inertia(1, (0, 0, 0), np.eye(3)))])
    turn = np.array([*(np.sin(angle / 2) * n), np.cos(angle / 2)])
    q = np.concatenate([np.zeros(robot.nq - 4), turn])
    expected = k * right_jacobian_so3_inverse(angle * n)

    def spring(q):
        return {"U": spring_energy(robot, q), "tau": spring_torque(robot, q),
                "K": spring_stiffness(robot, q)}

    for found in ([*spring(q).values()], run(record(spring, {"q": (robot.nq,)}, "spring"), q)):
        assert found[0] == pytest.approx(k * angle**2 / 2, rel=1e-13)
        np.testing.assert_allclose(found[1][-3:], k * angle * n, rtol=1e-13, atol=0)
        np.testing.assert_allclose(found[2][-3:, -3:], expected, rtol=1e-12, atol=1e-12)


def sprung_tree(seed=0):
    """A free body, a ball on it and a hinge, with springs on all three, as MJCF."""
    x, y, z, w = np.random.default_rng(seed).normal(size=4)
    return f"""<mujoco><worldbody>
<body pos="0.3 -0.2 1" quat="{w} {x} {y} {z}"><joint type="free" stiffness="7"/>
 <inertial pos="0.2 0 0.1" mass="2" diaginertia="0.1 0.2 0.25"/>
 <body pos="0.5 0 0" quat="0.8 0 0.6 0"><joint type="ball" stiffness="3" pos="0.1 0.2 0"/>
  <inertial pos="0.1 0.3 0" mass="1" diaginertia="0.1 0.1 0.1"/>
  <body pos="0 0 0.3"><joint axis="0 1 0" stiffness="2" springref="0.4"/>
   <inertial pos="0 0.1 0" mass="0.5" diaginertia="0.01 0.01 0.01"/></body></body></body>
</worldbody></mujoco>"""


@pytest.mark.parametrize("seed", range(3))
def test_springs_of_ball_and_free_joints_are_mujocos(seed, recwarn):
    model = mujoco.MjModel.from_xml_string(sprung_tree(seed))
    robot, data = cf.load(model), mujoco.MjData(model)
    assert not recwarn.list
    ours, rng = from_mujoco_model(robot, model), np.random.default_rng(seed)
    for q in (robot.random(rng), ours.q_from(np.array(model.qpos_spring))):
        v = rng.normal(size=robot.nv)
        data.qpos[:], data.qvel[:] = ours.q_to(q), ours.v_to(q, v)
        mujoco.mj_forward(model, data)
        force = ours.tau_from(q, np.array(data.qfrc_spring))
        np.testing.assert_allclose(spring_torque(robot, q), -force, atol=1e-12)
        a = cf.forward_dynamics(robot, q, v, np.zeros(robot.nv))
        np.testing.assert_allclose(ours.a_to(q, v, a), data.qacc, rtol=1e-9, atol=1e-9)


def test_a_robot_on_turning_springs_keeps_its_energy():
    robot = cf.load(mujoco.MjModel.from_xml_string(sprung_tree()))
    q, v = robot.random(1), np.random.default_rng(1).normal(size=robot.nv)
    motion = cf.simulate(robot, (q, v), None, np.linspace(0, 0.3, 3), method=cf.DOP853(1e-9, 1e-10))
    energies = [cf.kinetic_energy(robot, *x) + cf.potential_energy(robot, x[0])
                for x in zip(motion.q, motion.v, strict=True)]
    np.testing.assert_allclose(energies, energies[0], rtol=1e-7)
    assert abs(cf.kinetic_energy(robot, motion.q[-1], motion.v[-1])
               - cf.kinetic_energy(robot, q, v)) > 0.1


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


@pytest.mark.parametrize(("joint", "given", "match"), [
    (cf.Spherical, {"stiffness": (1, 2, 1)}, "stiffness of the turn must be one number"),
    (cf.Free, {"stiffness": (1, 1, 1, 1, 1, 2)}, "stiffness of the turn must be one number"),
    (cf.Spherical, {"spring_reference": 0.3}, "spring_reference must be 4 numbers"),
    (cf.Free, {"spring_reference": (1, 2, 3, 0, 0, 0, 0)}, "spring_reference must be 7 numbers")])
def test_turning_springs_that_are_none_are_refused_by_name(joint, given, match):
    with pytest.raises(cf.ClosedformError, match=f"{joint.__name__} joint 'hip': {match}"):
        joint(name="hip", **given)


def test_a_quaternion_at_rest_is_made_one_of_length_one():
    assert cf.Spherical(stiffness=1, spring_reference=(0, 0, 3, 4)).spring_reference == \
        pytest.approx((0, 0, 0.6, 0.8))


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
