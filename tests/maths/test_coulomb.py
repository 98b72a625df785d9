"""Coulomb's friction, smoothed."""

import numpy as np
import pytest

from closedform.applications.motion.rigid import RigidSystem
from closedform.maths.coulomb import SLIP, smoothed_sign
from closedform.maths.definitions.friction import joint_friction
from closedform.maths.flexible.arm import FlexibleArm
from closedform.maths.flexible.dynamics import friction_torque
from closedform.model.elasticity.beam import FlexibleLink
from random_robots import random_robot


@pytest.mark.parametrize("slip", [1e-3, 0.1])
def test_it_is_the_sign_within_its_bound_grows_and_is_odd(slip):
    v = np.concatenate([-np.geomspace(1e-6, 10, 50)[::-1], [0], np.geomspace(1e-6, 10, 50)])
    s = smoothed_sign(v, slip)
    away = v != 0
    assert np.all(np.abs(np.sign(v) - s)[away] <= slip**2 / (2 * v[away]**2) + 1e-16)
    assert np.all(np.diff(s[np.abs(v) < 5 * slip]) > 0)
    np.testing.assert_array_equal(s, -s[::-1])
    step = np.imag(smoothed_sign(np.array([1e-30j]), slip)) / 1e-30
    np.testing.assert_allclose(step, 1 / slip)


def test_rigid_and_flexible_systems_use_it_and_it_nears_the_joint_s_own_law():
    link = FlexibleLink(0.5, 0.2, 1.0, 0.0, 0.1, 1, coulomb=0.5)
    v = np.array([3e-4, 1.0])
    np.testing.assert_allclose(friction_torque(FlexibleArm([link]), v),
                               [0.5 * v[0] / np.hypot(v[0], SLIP), 0])
    robot = random_robot(4, bodies=5)
    v = 1 + np.random.default_rng(0).uniform(size=robot.nv)
    found = RigidSystem(robot, friction=True).resistance(robot.neutral(), v)
    np.testing.assert_allclose(found, joint_friction(robot, v), rtol=SLIP**2)
    assert np.any(found != 0)
