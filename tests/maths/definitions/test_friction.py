"""Friction in the joints."""

import numpy as np
import pytest

import closedform as cf
from closedform.applications.motion.rigid import RigidSystem
from closedform.maths.definitions import friction
from closedform.model.inertia import Inertia
from closedform.model.joints import Mimic, Prismatic, Revolute
from closedform.model.robot import Body, Robot


def test_friction_opposes_motion_and_counts_a_mimics_ratio():
    robot = Robot("pair", [
        Body("a", None, Revolute((0, 0, 1), viscous=0.5, coulomb=2.0), inertia=Inertia(1)),
        Body("b", "a", Mimic(Revolute((0, 0, 1), viscous=0.1, coulomb=1.0), of="a", ratio=-3))])
    for v in (0.7, -0.7):
        expected = 0.5 * v + 2 * np.sign(v) + 9 * 0.1 * v + 3 * np.sign(v)
        assert friction.joint_friction(robot, [v]) == pytest.approx([expected], rel=1e-15)
    assert friction.joint_friction(robot, [0.0]) == [0.0]


def test_friction_of_a_follower_by_a_polynomial_takes_the_power_that_it_has_there():
    """v · f = Σ d v̂² + c |v̂| with v̂ = γ' v; where γ' is zero, the follower rubs on nothing."""
    lift = Mimic(Prismatic((0, 0, 1), viscous=4.0, coulomb=3.0), "wheel", 0.5, 0.1, (-0.3, 0.2))
    robot = Robot("cam", [Body("wheel", None, Revolute((0, 0, 1), viscous=0.2)),
                          Body("lifter", "wheel", lift),
                          Body("rod", "lifter", Mimic(Revolute((1, 0, 0), viscous=0.7), "lifter",
                                                      2.0))])
    for q, v in ((0.3, 0.9), (-1.7, -0.4), (0.5, 1.0)):
        slope = 0.5 - 0.6 * q + 0.6 * q * q
        power = 0.2 * v**2 + (4 + 0.7 * 2**2) * (slope * v)**2 + 3 * abs(slope * v)
        found = friction.joint_friction(robot, [v], [q])
        assert found @ [v] == pytest.approx(power, rel=1e-14)
        smooth = RigidSystem(robot, friction=True, slip_velocity=1e-9).resistance(
            np.array([q]), np.array([v]))
        assert smooth == pytest.approx(found, rel=1e-12)


def test_friction_that_changes_with_q_asks_for_it_in_functions_and_kernels():
    robot = Robot("cam", [Body("wheel", None, Revolute((0, 0, 1))),
                          Body("lifter", "wheel", Mimic(Prismatic((0, 0, 1), viscous=4.0), "wheel",
                                                        0.0, 0.0, (1.0,)))])
    for ask in (lambda: friction.joint_friction(robot, [1.0]),
                lambda: cf.compile(robot).joint_friction([1.0])):
        with pytest.raises(cf.ArgumentError, match="joint_friction of cam: q must be given"):
            ask()


def test_a_simulated_follower_loses_its_friction():
    robot = Robot("cam", [Body("wheel", None, Revolute((0, 0, 1)), inertia=Inertia(
        1, (0, 0, 0), np.eye(3))), Body("lifter", "wheel", Mimic(Prismatic(
            (0, 0, 1), viscous=4.0, coulomb=0.1), "wheel", 0.5, 0.0, (0.3,)), inertia=Inertia(1))])
    for method in (cf.DOP853(1e-9, 1e-10), cf.RK4(1e-3)):
        run = cf.simulate(robot, ([0.3], [1.0]), None, np.linspace(0, 0.4, 3), method=method,
                          friction=True)
        assert run.energy_drift < 1e-6 and run.work[-1] < -0.1
