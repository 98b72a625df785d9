"""Rotors on joints whose velocities turn with the body: I (ω × v), and what follows."""

import mujoco
import numpy as np
import pytest

import closedform as cf
from closedform.maths.rotors import rotor_coriolis
from closedform.maths.spatial import christoffel_part, passive_part
from random_robots import random_inertia, random_state


def one(joint, inertia=None, gravity=(0, 0, 0)):
    return cf.Robot("one", [cf.Body("b", None, joint, inertia=inertia or cf.Inertia(
        1.0, (0, 0, 0), np.eye(3)))], gravity)


def test_a_free_body_with_a_rotor_keeps_its_momentum():
    """m = 1, I = 1, v = (1, 0, 0), ω = (0, 0, 1), no force: v̇ + ω × v = 0."""
    robot, v = one(cf.Free(rotor_inertia=1.0)), np.array([1.0, 0, 0, 0, 0, 1.0])
    for a in (cf.forward_dynamics(robot, robot.neutral(), v, np.zeros(6)),
              cf.compile(robot).forward_dynamics(robot.neutral(), v, np.zeros(6))):
        np.testing.assert_allclose(a[:3] + np.cross(v[3:], v[:3]), 0, atol=1e-15)
        np.testing.assert_allclose(a[3:], 0, atol=1e-15)


def test_a_planar_body_with_a_rotor_goes_straight_on():
    robot, v = one(cf.Planar(rotor_inertia=2.0)), np.array([1.0, 0.5, 0.7])
    a = cf.forward_dynamics(robot, np.array([0.1, 0.2, 0.3]), v, np.zeros(3))
    np.testing.assert_allclose(a, [0.7 * 0.5, -0.7 * 1.0, 0], atol=1e-15)


MJCF = """<mujoco><option gravity="0 0 -9.81"/><worldbody><body>
<joint type="free" armature="0.7"/>
<inertial pos="0.1 -0.2 0.3" mass="2" diaginertia="0.3 0.4 0.5"/>
<body pos="0 0.4 0"><joint axis="0 1 0" armature="0.2"/>
<inertial pos="0.1 0 0.2" mass="1" diaginertia="0.1 0.1 0.15"/></body>
</body></worldbody></mujoco>"""


@pytest.mark.parametrize("seed", range(3))
def test_accelerations_with_armature_on_a_free_joint_are_mujocos(seed):
    """MuJoCo's velocities of a free joint: linear in the world, angular in the body."""
    model, rng = mujoco.MjModel.from_xml_string(MJCF), np.random.default_rng(seed)
    data, robot = mujoco.MjData(model), cf.load(MJCF)
    q, v = robot.random(rng), rng.normal(size=7)
    R = cf.poses(robot, q)[0][:3, :3]
    data.qpos[:] = [*q[:3], q[6], *q[3:6], q[7]]
    data.qvel[:] = [*(R @ v[:3]), *v[3:]]
    mujoco.mj_forward(model, data)
    a = cf.forward_dynamics(robot, q, v, np.zeros(7))
    np.testing.assert_allclose(R @ (a[:3] + np.cross(v[3:6], v[:3])), data.qacc[:3], rtol=1e-9)
    np.testing.assert_allclose(a[3:], data.qacc[3:], rtol=1e-9)


@pytest.mark.parametrize("joint", [cf.Planar((0.6, 0, 0.8)), cf.Spherical(), cf.Free()],
                         ids=lambda j: j.kind)
def test_the_torque_of_unequal_rotors_is_that_of_their_energy(joint):
    """A rotor of (mass, …; tensor) is a body: rotors equal to its M give the torque twice."""
    body = cf.Inertia(2.0, (0, 0, 0), np.diag([0.1, 0.2, 0.25]))
    if joint.kind == "planar":
        body = cf.Inertia(2.0, (0, 0, 0), 0.2 * np.eye(3))
    robot = one(joint, body)
    q, v, a = random_state(robot, 1)
    rotors = np.diag(cf.mass_matrix(robot, q))
    twice = one(type(joint)(**({"normal": joint.normal} if joint.kind == "planar" else {}),
                            rotor_inertia=tuple(rotors)), body)
    np.testing.assert_allclose(cf.inverse_dynamics(twice, q, v, a),
                               2 * cf.inverse_dynamics(robot, q, v, a), atol=1e-13)


@pytest.mark.parametrize("part", [passive_part, christoffel_part])
def test_what_rotors_add_to_C_is_skew(part):
    """M of the rotors is constant, so dM = C + Cᵀ = 0."""
    robot = one(cf.Free(rotor_inertia=(1, 2, 3, 4, 5, 6)),
                random_inertia(np.random.default_rng(2)))
    C = rotor_coriolis(robot, np.arange(1.0, 7.0), part)
    np.testing.assert_allclose(C + C.T, 0, atol=1e-14)
    assert np.abs(C).max() > 1
