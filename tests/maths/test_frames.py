"""Frames: poses, Jacobians in three references and their derivatives."""

import numpy as np
import pytest
from hypothesis import given

from closedform.errors import ArgumentError, UnknownName
from closedform.maths import frames
from closedform.maths.frames import LOCAL, LOCAL_WORLD_ALIGNED, WORLD
from closedform.model.robot import Frame
from random_robots import complex_step, random_robot, random_state, robots, seeds


@pytest.mark.parametrize("reference", [LOCAL, WORLD, LOCAL_WORLD_ALIGNED])
@given(robot=robots(), seed=seeds)
def test_frame_jacobian_rate_and_hessian_are_derivatives_of_the_jacobian(reference, robot, seed):
    q, v, _ = random_state(robot, seed)
    def J(q):
        return frames.frame_jacobian(robot, q, "tool", reference)
    dJ = complex_step(robot, J, q, v)
    np.testing.assert_allclose(frames.frame_jacobian_rate(robot, q, v, "tool", reference), dJ,
                               rtol=0, atol=1e-11)
    H = frames.kinematic_hessian(robot, q, "tool", reference)
    for k, e in enumerate(np.eye(robot.nv)):
        np.testing.assert_allclose(H[:, :, k], complex_step(robot, J, q, e), rtol=0, atol=1e-11)


@given(robots(), seeds)
def test_references_agree_with_each_other(robot, seed):
    """WORLD: at the world's origin; LOCAL_WORLD_ALIGNED: at the frame's; LOCAL: in its axes."""
    q, v, _ = random_state(robot, seed)
    T = frames.frame_pose(robot, q, "tool")
    R, p = T[:3, :3], T[:3, 3]
    V = {r: frames.frame_jacobian(robot, q, "tool", r) @ v for r in frames.Reference}
    aligned = V[LOCAL_WORLD_ALIGNED]
    np.testing.assert_allclose(np.concatenate([R @ V[LOCAL][:3], R @ V[LOCAL][3:]]), aligned,
                               atol=1e-12)
    moved = np.concatenate([aligned[:3] - np.cross(aligned[3:], p), aligned[3:]])
    np.testing.assert_allclose(V[WORLD], moved, atol=1e-11)
    dp = complex_step(robot, lambda q: frames.frame_pose(robot, q, "tool")[:3, 3], q, v)
    np.testing.assert_allclose(aligned[:3], dp, atol=1e-12)


@pytest.mark.parametrize(("acceleration", "reference"), [
    (frames.frame_acceleration, LOCAL), (frames.frame_acceleration, WORLD),
    (frames.frame_classical_acceleration, LOCAL_WORLD_ALIGNED)])
@given(robot=robots(), seed=seeds)
def test_accelerations_of_frames_are_rates_of_their_velocities(
        acceleration, reference, robot, seed):
    q, v, a = random_state(robot, seed)

    def V(q, v):
        return frames.frame_velocity(robot, q, v, "tool", reference)

    dV = complex_step(robot, lambda q: V(q, v), q, v) + V(q, a)
    np.testing.assert_allclose(acceleration(robot, q, v, a, "tool", reference), dV, rtol=0,
                               atol=1e-12 * np.abs(dV).max(initial=1))


@pytest.mark.parametrize("reference", frames.Reference)
@given(robot=robots(), seed=seeds)
def test_classical_and_spatial_acceleration_differ_by_omega_times_v(reference, robot, seed):
    q, v, a = random_state(robot, seed)
    V = frames.frame_velocity(robot, q, v, "tool", reference)
    more = (frames.frame_classical_acceleration(robot, q, v, a, "tool", reference)
            - frames.frame_acceleration(robot, q, v, a, "tool", reference))
    np.testing.assert_allclose(more, [*np.cross(V[3:], V[:3]), 0, 0, 0], rtol=0, atol=1e-11)


def test_a_frame_of_the_world_does_not_move():
    robot = random_robot(2).with_frames(Frame("post", None))
    q, v, a = random_state(robot)
    assert not frames.frame_jacobian(robot, q, "post").any()
    assert not frames.frame_jacobian_rate(robot, q, v, "post").any()
    assert not frames.frame_classical_acceleration(robot, q, v, a, "post").any()


def test_unknown_frames_and_references_are_told():
    robot = random_robot(2)
    with pytest.raises(UnknownName, match=r"no frame or body 'hand' in random2; there are b0"):
        frames.frame_pose(robot, robot.neutral(), "hand")
    with pytest.raises(ArgumentError, match=r"reference must be cf.LOCAL"):
        frames.frame_jacobian(robot, robot.neutral(), "tool", "LOCAL")
