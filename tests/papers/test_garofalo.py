"""Garofalo, Ott, Albu-Schäffer 2013: what the paper states, and where it errs."""

import numpy as np

from closedform.arrays import NUMBERS
from closedform.maths import frames, kinematics
from closedform.maths.definitions import center_of_mass, closed_form
from closedform.maths.spatial import crm
from closedform.model.joints import Universal
from random_robots import complex_step, random_robot, random_state


def test_remark_7_is_wrong_a_universal_joint_has_no_constant_motion_subspace():
    """Its twists at two positions of the second axis span more than two dimensions together."""
    joint = Universal((1, 0, 0), (0, 1, 0))
    spans = []
    for q2 in (0.0, 0.7):
        R, _ = Universal((0, 0, 1), (0, 1, 0)).pose(np.array([0.0, q2]), NUMBERS)  # Rot(axis2, q2)
        spans.append(np.stack([R.T @ joint.axis1, joint.axis2], axis=1))
    assert np.linalg.matrix_rank(np.concatenate(spans, axis=1)) == 3


def test_psi_is_skew_so_that_remark_1_holds():
    robot = random_robot(3)
    q, v, _ = random_state(robot)
    for k, _, Lambda_k in closed_form.with_inertia(robot):
        ad_k = crm(kinematics.jacobians(robot, q)[k] @ v)
        Psi_k = Lambda_k @ ad_k - ad_k.T @ Lambda_k
        np.testing.assert_allclose(Psi_k, -Psi_k.T, atol=1e-13)


def test_remark_2_the_spatial_acceleration_is_the_rotated_body_acceleration():
    """d/dt (Ad_0k V_k) = Ad_0k dV_k."""
    robot = random_robot(5)
    q, v, a = random_state(robot)
    def spatial(q):
        return frames.frame_jacobian(robot, q, "b3", frames.WORLD) @ v
    d = complex_step(robot, spatial, q, v) + frames.frame_jacobian(
        robot, q, "b3", frames.WORLD) @ a
    J, dJ = kinematics.body_jacobians(robot, q)[3], kinematics.body_jacobian_rates(robot, q, v)[3]
    T = kinematics.poses(robot, q)[3]
    from closedform.maths.spatial import inverse_motion_transform
    Ad = inverse_motion_transform(T[:3, :3], T[:3, 3])
    np.testing.assert_allclose(d, Ad @ (J @ a + dJ @ v), atol=1e-10)


def test_remark_3_the_weight_acts_at_the_centre_of_mass():
    """g = −m J_comᵀ gravity."""
    robot = random_robot(8)
    q, _, _ = random_state(robot)
    expected = -robot.mass * center_of_mass.com_jacobian(robot, q).T @ robot.gravity
    np.testing.assert_allclose(closed_form.gravity_torque(robot, q), expected, atol=1e-11)


def test_section_2_bullets_reactions_vanish_only_in_the_sum():
    """Σ_k J_kᵀ f_kc = 0, but not each J_kᵀ f_kc as printed: two bodies, one pulling the other."""
    robot = random_robot(2, ("revolute",), bodies=2)
    q, v, a = random_state(robot)
    J, dJ = kinematics.body_jacobians(robot, q), kinematics.body_jacobian_rates(robot, q, v)
    T = kinematics.poses(robot, q)
    tau = closed_form.inverse_dynamics(robot, q, v, a) - robot.rotor_inertia * a
    net = []
    for k, body in enumerate(robot.bodies):
        ad = crm(J[k] @ v)
        Lambda = body.inertia.matrix
        gamma = np.concatenate([T[k][:3, :3].T @ -robot.gravity, np.zeros(3)])
        force = Lambda @ (J[k] @ a + dJ[k] @ v + gamma) - ad.T @ Lambda @ (J[k] @ v)
        net.append(J[k].T @ force)
    np.testing.assert_allclose(sum(net), tau, atol=1e-11)
    assert all(np.abs(part - tau).max() > 1e-3 for part in net)
