"""Garofalo, Ott, Albu-Schäffer 2013, sections III, IV and VI: what holds, and what is misprinted.

Where an equation is wrong as printed, a test shows that it fails and that the corrected one holds.
"""

from dataclasses import replace

import numpy as np
import pytest

from closedform.maths import kinematics
from closedform.maths.definitions import closed_form, regressor, state_derivatives
from closedform.maths.spatial import crm, inverse_motion_transform, motion_transform, skew
from closedform.model.inertia import GAROFALO_ORDER
from random_robots import complex_step, random_inertia, random_robot, random_state

TOLERANCE = 1e-10
"""10 000 rounding errors of numbers up to 50."""


@pytest.fixture
def arm():
    """Without rotors, which the paper does not have."""
    robot = random_robot(5, ("revolute", "prismatic", "free", "spherical"), bodies=5)
    robot = replace(robot, bodies=tuple(
        replace(b, joint=replace(b.joint, rotor_inertia=None)) for b in robot.bodies))
    return robot, *random_state(robot)


def printed_A(V, angular_block):
    """A(v) of (10) and (11) with the given last block of the angular rows."""
    v, w = skew(V[:3]), skew(V[3:])
    top = np.concatenate([V[:3, None], w, np.zeros((3, angular_block.shape[1]))], axis=1)
    return np.concatenate([top, np.concatenate([np.zeros((3, 1)), -v, angular_block], axis=1)])


def block_12(a):
    """The 3x6 matrix of (12)."""
    x, y, z = a
    return np.array([[x, 0, 0, y, z, 0], [0, y, 0, x, 0, z], [0, 0, z, 0, x, y]])


def test_9_the_tensor_of_pi_is_about_the_origin_of_the_body_frame():
    """Λ v = A(v) π (8) with I_k − m r~² in π, not with the I_k about the centre that is printed."""
    rng = np.random.default_rng(0)
    inertia, V = random_inertia(rng), rng.normal(size=6)
    A = printed_A(V, block_12(V[3:]))
    about_origin = inertia.array[list(GAROFALO_ORDER)]
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = inertia.tensor
    about_centre = np.array([*about_origin[:4], xx, yy, zz, xy, xz, yz])
    np.testing.assert_allclose(A @ about_origin, inertia.matrix @ V, atol=1e-13)
    assert np.abs(A @ about_centre - inertia.matrix @ V).max() > 1e-3


def test_11_the_last_block_is_the_matrix_of_12_and_not_the_skew_one_of_the_same_accent():
    """A skew last block gives six rows of seven numbers; the ten parameters do not fit."""
    V = np.arange(1.0, 7.0)
    assert printed_A(V, skew(V[3:])).shape == (6, 7)
    ours = regressor.momentum_matrix(V)[:, list(GAROFALO_ORDER)]
    np.testing.assert_array_equal(printed_A(V, block_12(V[3:])), ours)


def derivative_13b(robot, q, v, rate):
    """∂C/∂π of the bodies by (13b), (nv, nv, 10 bodies), with `rate(J, dJ)` for its second term."""
    J, dJ = kinematics.jacobian_rates(robot, q, v)
    blocks = []
    for k in kinematics.body_segments(robot):
        ad = crm(J[k] @ v)
        columns = []
        for j in range(robot.nv):
            A = regressor.momentum_matrix(ad @ J[k][:, j] + rate(J[k], dJ[k])[:, j])
            columns.append(J[k].T @ (A - ad.T @ regressor.momentum_matrix(J[k][:, j])))
        blocks.append(np.stack(columns, axis=1))
    return np.concatenate(blocks, axis=2)


def test_13b_needs_the_rate_of_the_jacobian_where_the_jacobian_is_printed(arm):
    robot, q, v, _ = arm
    pi, C = robot.parameters[:10 * len(robot.bodies)], closed_form.coriolis_matrix(robot, q, v)
    corrected = derivative_13b(robot, q, v, lambda J, dJ: dJ)
    np.testing.assert_allclose(corrected @ pi, C, atol=TOLERANCE)
    printed = derivative_13b(robot, q, v, lambda J, dJ: J)
    assert np.abs(printed @ pi - C).max() > 1e-2


def test_13a_and_13c_hold_as_printed(arm):
    robot, q, v, _ = arm
    d, pi = regressor.parameter_derivatives(robot, q, v), robot.parameters
    np.testing.assert_allclose(d.dM_dpi @ pi, closed_form.mass_matrix(robot, q), atol=TOLERANCE)
    np.testing.assert_allclose(d.dg_dpi @ pi, closed_form.gravity_torque(robot, q), atol=TOLERANCE)


def test_remark_4_the_regressor_depends_on_the_reference_velocity(arm):
    """Y(q, v, v_r, a_r): printed without v_r, of which M a_r + C v_r + g is not free."""
    robot, q, v, a = arm
    torques = []
    for v_r in np.random.default_rng(3).normal(size=(2, robot.nv)):
        torques.append(regressor.slotine_li_regressor(robot, q, v, v_r, a) @ robot.parameters)
        expected = closed_form.passivity_inverse_dynamics(robot, q, v, v_r, a)
        np.testing.assert_allclose(torques[-1], expected, atol=TOLERANCE)
    assert np.abs(torques[1] - torques[0]).max() > 1e-2


def appendix_W():
    """W of the appendix, (6, 36)."""
    x, y, z = np.eye(3)
    o = np.zeros(3)
    W_w = np.array([[o, o, o], [o, z, -y], [o, o, o], [-z, o, x], [o, o, o], [y, -x, o]])
    W_v = np.array([[o, z, -y], [o, o, o], [-z, o, x], [o, o, o], [y, -x, o], [o, o, o]])
    W_w, W_v = (np.moveaxis(w, 1, 2).reshape(18, 3).T for w in (W_w, W_v))
    return np.block([[W_w, W_v], [np.zeros((3, 18)), W_w]])


def repeated(V):
    """blkdiag(V), (36, 6)."""
    return np.kron(np.eye(6), V[:, None])


def test_17_the_constant_W_of_the_appendix_makes_the_adjoint():
    V = np.arange(1.0, 7.0)
    np.testing.assert_array_equal(appendix_W() @ repeated(V), crm(V))


def test_22_needs_the_sum_over_the_velocities(arm):
    """adj = W blkdiag(Σ_h J^h v_h); as printed, with one h, it is that of one joint's share."""
    robot, q, v, _ = arm
    J = kinematics.jacobians(robot, q)[-1]
    W, shares = appendix_W(), [J[:, h] * v[h] for h in range(robot.nv)]
    np.testing.assert_allclose(W @ repeated(sum(shares)), crm(J @ v), atol=TOLERANCE)
    assert all(np.abs(W @ repeated(share) - crm(J @ v)).max() > 1e-2 for share in shares)


def inverse_adjoint(robot, q):
    """Ad_{0,k}⁻¹ of the last body."""
    return motion_transform(*kinematics.world_poses(robot, q)[-1])


def test_21_is_the_rate_of_the_adjoint_and_not_the_adjoint(arm):
    robot, q, v, _ = arm
    rate = complex_step(robot, lambda q: inverse_adjoint(robot, q), q, v)
    Ad = inverse_adjoint(robot, q)
    ad = crm(kinematics.jacobians(robot, q)[-1] @ v)
    np.testing.assert_allclose(rate, -ad @ Ad, atol=TOLERANCE)
    assert np.abs(rate - Ad).max() > 1e-2


def test_18_19_20_hold_as_printed(arm):
    robot, q, v, _ = arm
    J, J_h = state_derivatives.jacobian_derivatives(robot, q)

    def adjoint(q, v=v):
        return crm(kinematics.jacobians(robot, q)[-1] @ v)

    for h, e in enumerate(np.eye(robot.nv)):
        column = J[-1][:, h]
        np.testing.assert_allclose(complex_step(robot, lambda q: inverse_adjoint(robot, q), q, e),
                                   -crm(column) @ inverse_adjoint(robot, q), atol=TOLERANCE)
        np.testing.assert_allclose(adjoint(q, v + e) - adjoint(q), crm(column), atol=TOLERANCE)
        np.testing.assert_allclose(complex_step(robot, adjoint, q, e),
                                   crm(J_h[-1][h] @ v), atol=TOLERANCE)


def test_30_31_32_hold_as_printed_and_33_for_quasi_velocities(arm):
    """With left-trivialised derivatives; the robot has free and spherical joints."""
    robot, q, v, _ = arm
    _, J_h = state_derivatives.jacobian_derivatives(robot, q)
    _, dJ_h = state_derivatives.jacobian_rate_derivatives(robot, q, v)

    def rate(q, v=v):
        return kinematics.jacobian_rates(robot, q, v)[1][-1]

    for h, e in enumerate(np.eye(robot.nv)):
        by_q = complex_step(robot, lambda q: kinematics.jacobians(robot, q)[-1], q, e)
        np.testing.assert_allclose(J_h[-1][h], by_q, atol=TOLERANCE)
        np.testing.assert_allclose(dJ_h[-1][h], complex_step(robot, rate, q, e), atol=TOLERANCE)
        np.testing.assert_allclose(J_h[-1][h], rate(q, e), atol=TOLERANCE)


def test_section_6_the_root_has_the_identity_between_the_world_and_its_parent(arm):
    """Ad_{0,p} = 1, printed as Ad_{p,0} = Ad_{0,0}; derivatives that belong to the world are 0."""
    robot, q, v, _ = arm
    R, p = kinematics.world_poses(robot, q)[0]
    np.testing.assert_array_equal(inverse_motion_transform(R, p), np.eye(6))
    _, J_h = state_derivatives.jacobian_derivatives(robot, q)
    _, dJ_h = state_derivatives.jacobian_rate_derivatives(robot, q, v)
    assert not np.any(J_h[0]) and not np.any(dJ_h[0])
