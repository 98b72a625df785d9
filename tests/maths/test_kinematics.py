"""Poses, Jacobians and their derivatives."""

import numpy as np
import pytest
from hypothesis import given

from closedform.errors import ArgumentError, UnknownName
from closedform.maths import kinematics as kin
from closedform.maths.kinematics import LOCAL, LOCAL_WORLD_ALIGNED, WORLD
from closedform.maths.spatial import skew
from random_robots import complex_step, random_robot, random_state, robots, seeds


@given(robots(), seeds)
def test_dJ_is_the_time_derivative_of_J(robot, seed):
    q, v, _ = random_state(robot, seed)
    dJ = complex_step(robot, lambda q: kin.body_jacobians(robot, q), q, v)
    np.testing.assert_allclose(kin.body_jacobian_rates(robot, q, v), dJ, rtol=0, atol=1e-12)


@given(robots(), seeds)
def test_ddJ_is_the_time_derivative_of_dJ(robot, seed):
    """d/dt dJ(q, v) = ∂_q dJ · v + dJ(q, a), since dJ is linear in v."""
    q, v, a = random_state(robot, seed)
    along = complex_step(robot, lambda q: kin.body_jacobian_rates(robot, q, v), q, v)
    ddJ = along + kin.body_jacobian_rates(robot, q, a)
    size = np.abs(ddJ).max(initial=1)
    np.testing.assert_allclose(kin.body_jacobian_second_rates(robot, q, v, a), ddJ, rtol=0,
                               atol=1e-12 * size)


@given(robots(), seeds)
def test_body_jacobians_give_the_twists_of_the_poses(robot, seed):
    """T⁻¹ dT = [ω~ v; 0 0] with (v; ω) = J v."""
    q, v, _ = random_state(robot, seed)
    dT = complex_step(robot, lambda q: kin.poses(robot, q), q, v)
    for T_k, dT_k, J_k in zip(kin.poses(robot, q), dT, kin.body_jacobians(robot, q), strict=True):
        V = J_k @ v
        twist = np.zeros((4, 4))
        twist[:3, :3], twist[:3, 3] = skew(V[3:]), V[:3]
        np.testing.assert_allclose(np.linalg.solve(T_k, dT_k), twist, rtol=0, atol=1e-12)


@pytest.mark.parametrize("reference", [LOCAL, WORLD, LOCAL_WORLD_ALIGNED])
@given(robot=robots(), seed=seeds)
def test_frame_jacobian_rate_and_hessian_are_derivatives_of_the_jacobian(reference, robot, seed):
    q, v, _ = random_state(robot, seed)
    def J(q):
        return kin.frame_jacobian(robot, q, "tool", reference)
    dJ = complex_step(robot, J, q, v)
    np.testing.assert_allclose(kin.frame_jacobian_rate(robot, q, v, "tool", reference), dJ,
                               rtol=0, atol=1e-11)
    H = kin.kinematic_hessian(robot, q, "tool", reference)
    for k, e in enumerate(np.eye(robot.nv)):
        np.testing.assert_allclose(H[:, :, k], complex_step(robot, J, q, e), rtol=0, atol=1e-11)


@given(robots(), seeds)
def test_references_agree_with_each_other(robot, seed):
    """WORLD: at the world's origin; LOCAL_WORLD_ALIGNED: at the frame's; LOCAL: in its axes."""
    q, v, _ = random_state(robot, seed)
    T = kin.frame_pose(robot, q, "tool")
    R, p = T[:3, :3], T[:3, 3]
    V = {r: kin.frame_jacobian(robot, q, "tool", r) @ v for r in kin.Reference}
    aligned = V[LOCAL_WORLD_ALIGNED]
    np.testing.assert_allclose(np.concatenate([R @ V[LOCAL][:3], R @ V[LOCAL][3:]]), aligned,
                               atol=1e-12)
    moved = np.concatenate([aligned[:3] - np.cross(aligned[3:], p), aligned[3:]])
    np.testing.assert_allclose(V[WORLD], moved, atol=1e-11)
    dp = complex_step(robot, lambda q: kin.frame_pose(robot, q, "tool")[:3, 3], q, v)
    np.testing.assert_allclose(aligned[:3], dp, atol=1e-12)


@given(robots(), seeds)
def test_com_jacobian_gives_the_velocity_of_the_centre_of_mass(robot, seed):
    q, v, _ = random_state(robot, seed)
    dc = complex_step(robot, lambda q: kin.center_of_mass(robot, q), q, v)
    np.testing.assert_allclose(kin.com_jacobian(robot, q) @ v, dc, rtol=0, atol=1e-12)


def test_a_frame_of_the_world_does_not_move():
    from closedform.model.robot import Frame
    robot = random_robot(2).with_frames(Frame("post", None))
    q, v, _ = random_state(robot)
    assert not kin.frame_jacobian(robot, q, "post").any()
    assert not kin.frame_jacobian_rate(robot, q, v, "post").any()


def test_unknown_frames_and_references_are_told():
    robot = random_robot(2)
    with pytest.raises(UnknownName, match=r"no frame or body 'hand' in random2; it has b0"):
        kin.frame_pose(robot, robot.neutral(), "hand")
    with pytest.raises(ArgumentError, match=r"reference must be cf.LOCAL"):
        kin.frame_jacobian(robot, robot.neutral(), "tool", "LOCAL")


@pytest.mark.parametrize(("value", "message"), [
    (np.zeros(3), r"q must have the shape \(\d+,\)"),
    (None, r"q must be numbers|q must have the shape"),
    ("text", r"q must"),
])
def test_wrong_arguments_are_named(value, message):
    robot = random_robot(4)
    with pytest.raises(ArgumentError, match=message):
        kin.poses(robot, value)


def test_a_batch_is_sent_to_the_compiler():
    robot = random_robot(4)
    with pytest.raises(ArgumentError, match=r"cf\.compile"):
        kin.poses(robot, np.zeros((5, robot.nq)))
