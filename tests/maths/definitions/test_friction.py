"""Friction in the joints."""

import numpy as np
import pytest

from closedform.maths.definitions import friction
from closedform.model.inertia import Inertia
from closedform.model.joints import Mimic, Revolute
from closedform.model.robot import Body, Robot


def test_friction_opposes_motion_and_counts_a_mimics_ratio():
    robot = Robot("pair", [
        Body("a", None, Revolute((0, 0, 1), viscous=0.5, coulomb=2.0), inertia=Inertia(1)),
        Body("b", "a", Mimic(Revolute((0, 0, 1), viscous=0.1, coulomb=1.0), of="a", ratio=-3))])
    for v in (0.7, -0.7):
        expected = 0.5 * v + 2 * np.sign(v) + 9 * 0.1 * v + 3 * np.sign(v)
        assert friction.joint_friction(robot, [v]) == pytest.approx([expected], rel=1e-15)
    assert friction.joint_friction(robot, [0.0]) == [0.0]
