"""Operational-space inertia and mobility."""

import numpy as np
import pytest

from closedform.errors import SingularMatrix
from closedform.maths.definitions import operational_space
from closedform.model.inertia import Inertia
from closedform.model.joints import Revolute
from closedform.model.robot import Body, Robot
from random_robots import random_robot


def test_operational_inertia_inverts_the_mobility_and_says_when_it_cannot():
    robot = random_robot(5, ("revolute", "helical"), bodies=8, spread=1)
    q = robot.random(3)
    mobility = operational_space.operational_space_mobility(robot, q, "tool")
    product = operational_space.operational_space_inertia(robot, q, "tool") @ mobility
    np.testing.assert_allclose(product, np.eye(6), atol=1e-14 * np.linalg.cond(mobility))
    branched = random_robot(5, ("revolute", "helical"), bodies=8)      # four joints before the tool
    with pytest.raises(SingularMatrix):
        operational_space.operational_space_inertia(branched, branched.random(3), "tool")
    pinned = Robot("pinned", [Body("a", None, Revolute((0, 0, 1)), inertia=Inertia(1, (1, 0, 0)))])
    with pytest.raises(SingularMatrix):
        operational_space.operational_space_inertia(pinned, [0.3], "a")
