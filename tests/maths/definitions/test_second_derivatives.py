"""Second derivatives of inverse dynamics on random trees of all joint kinds."""

import numpy as np
import pytest
from hypothesis import given, settings

from closedform.maths.algorithms.one_frame import (
    derivatives as one_frame_derivatives,
)
from closedform.maths.algorithms.one_frame import (
    second as one_frame_second,
)
from closedform.maths.definitions import inverse_derivatives, second_derivatives
from random_robots import KINDS, complex_step, random_robot, random_state, robots, seeds
from tree_checks import assert_close


@pytest.mark.parametrize("seed", range(8))
def test_they_are_the_derivatives_of_the_first_ones(seed):
    """The last index of d2tau_dqdq is the later derivative."""
    robot = random_robot(seed, bodies=4, roots=1 + seed % 2)
    q, v, a, w = random_state(robot, seed, 3)
    d = second_derivatives.inverse_dynamics_second_derivatives(robot, q, v, a)

    def first(q, v=v):
        return inverse_derivatives.inverse_dynamics_derivatives(robot, q, v, a)

    by_q = complex_step(robot, lambda q: np.stack(first(q)), q, w)
    scale = max(np.abs(x).max(initial=1) for x in d)
    assert_close(d.d2tau_dqdq @ w, by_q[0], scale)
    assert_close(np.swapaxes(d.d2tau_dqdv, 1, 2) @ w, by_q[1], scale)
    assert_close(np.swapaxes(d.d2tau_dqda, 1, 2) @ w, by_q[2], scale)
    by_v = np.imag(np.stack(first(q, v + 1e-30j * w))) / 1e-30
    assert_close(d.d2tau_dqdv @ w, by_v[0], scale)
    assert_close(d.d2tau_dvdv @ w, by_v[1], scale)


@settings(max_examples=12)
@given(robots(most=5), seeds)
def test_the_algorithm_equals_the_closed_form(robot, seed):
    q, v, a = random_state(robot, seed)
    expected = second_derivatives.inverse_dynamics_second_derivatives(robot, q, v, a)
    found = one_frame_second.inverse_dynamics_second_derivatives(
        robot, q, v, a, base=seed % (len(robot.segments) + 1))
    for x, y in zip(found, expected, strict=True):
        assert_close(x, y)


@pytest.mark.parametrize("kind", KINDS)
def test_the_algorithm_differentiates_the_first_ones_on_chains_of_one_kind(kind):
    kinds = (kind, "revolute") if kind in ("fixed", "mimic") else (kind,)
    robot = random_robot(3, kinds, bodies=4, spread=1)
    q, v, a, w = random_state(robot, 1, 3)
    d = one_frame_second.inverse_dynamics_second_derivatives(robot, q, v, a)
    by_q = complex_step(robot, lambda q: np.stack(
        one_frame_derivatives.inverse_dynamics_derivatives(robot, q, v, a)), q, w)
    scale = max(np.abs(x).max(initial=1) for x in d)
    assert_close(d.d2tau_dqdq @ w, by_q[0], scale)
    assert_close(np.swapaxes(d.d2tau_dqdv, 1, 2) @ w, by_q[1], scale)
    assert_close(np.swapaxes(d.d2tau_dqda, 1, 2) @ w, by_q[2], scale)


def test_derivatives_by_q_commute_for_one_dof_joints_only():
    """∂_k ∂_j − ∂_j ∂_k is the derivative along S_k × S_j: zero between joints, not within one."""
    arm = random_robot(2, ("revolute", "prismatic", "helical"), bodies=5)
    dqdq = one_frame_second.inverse_dynamics_second_derivatives(arm, *random_state(arm)).d2tau_dqdq
    assert_close(dqdq, np.swapaxes(dqdq, 1, 2))
    ball = random_robot(2, ("spherical", "revolute"), bodies=2, spread=1)
    q, v, a = random_state(ball)
    dqdq = one_frame_second.inverse_dynamics_second_derivatives(ball, q, v, a).d2tau_dqdq
    dtau_dq = one_frame_derivatives.inverse_dynamics_derivatives(ball, q, v, a).dtau_dq
    x, y, z = range(3)
    assert_close(dqdq[:, y, x] - dqdq[:, x, y], dtau_dq[:, z], np.abs(dqdq).max())
    assert np.abs(dtau_dq[:, z]).max() > 0.1


def test_velocity_derivatives_commute_for_every_kind():
    robot = random_robot(4, bodies=8)
    dvdv = one_frame_second.inverse_dynamics_second_derivatives(
        robot, *random_state(robot)).d2tau_dvdv
    assert_close(dvdv, np.swapaxes(dvdv, 1, 2))
