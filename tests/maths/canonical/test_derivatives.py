"""Canonical frames and regrouped mass leave derivatives of joint-space quantities as they are."""

import numpy as np
from hypothesis import given, settings

from closedform.maths.algorithms import coriolis_transpose
from closedform.maths.algorithms.one_frame import (
    derivatives as one_frame_derivatives,
)
from closedform.maths.algorithms.one_frame import (
    second as one_frame_second,
)
from closedform.maths.algorithms.one_frame import (
    tensors as one_frame_tensors,
)
from closedform.maths.canonical.frames import canonical
from closedform.maths.canonical.regrouping import regrouped
from closedform.maths.definitions import inverse_derivatives
from random_robots import random_robot, random_state, robots, seeds
from tree_checks import assert_close


def forms(robot):
    """The canonical robot, the regrouped one, and what is added to q."""
    form = canonical(robot)
    return form.robot, regrouped(form.robot), form.offset


@settings(max_examples=25)
@given(robots(), seeds)
def test_derivatives_of_torques_and_of_M_are_those_of_the_robot(robot, seed):
    if not robot.nv:
        return
    q, v, a = random_state(robot, seed)
    _, base, offset = forms(robot)
    for f, arguments in ((one_frame_derivatives.inverse_dynamics_derivatives, (v, a)),
                         (one_frame_second.inverse_dynamics_second_derivatives, (v, a)),
                         (one_frame_tensors.christoffel_symbols, ()),
                         (coriolis_transpose.coriolis_transpose_torque, (v,))):
        ours, theirs = f(base, q + offset, *arguments), f(robot, q, *arguments)
        for x, y in zip(ours, theirs, strict=True):
            assert_close(x, y)


@settings(max_examples=25)
@given(robots(), seeds)
def test_derivatives_of_the_passive_C_keep_in_canonical_frames(robot, seed):
    if not robot.nv:
        return
    q, v, _ = random_state(robot, seed)
    own, _, offset = forms(robot)
    ours = one_frame_tensors.state_derivatives(own, q + offset, v)
    for x, y in zip(ours, one_frame_tensors.state_derivatives(robot, q, v), strict=True):
        assert_close(x, y)


def test_regrouping_changes_the_derivatives_of_the_passive_C_but_not_of_C_v():
    robot = random_robot(2, ("revolute",), bodies=4)
    q, v, a = random_state(robot)
    _, base, offset = forms(robot)
    ours = one_frame_tensors.state_derivatives(base, q + offset, v)
    theirs = one_frame_tensors.state_derivatives(robot, q, v)
    assert np.abs(ours.dC_dq - theirs.dC_dq).max() > 1e-2
    for x, y in zip(inverse_derivatives.inverse_dynamics_derivatives(base, q + offset, v, a),
                    inverse_derivatives.inverse_dynamics_derivatives(robot, q, v, a), strict=True):
        assert_close(x, y)
