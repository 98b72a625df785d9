"""Energies, momenta, friction, operational space."""

import numpy as np
import pytest
from hypothesis import given

from closedform.errors import SingularMatrix
from closedform.maths import kinematics
from closedform.maths.definitions import closed_form, energy
from closedform.model.inertia import Inertia
from closedform.model.joints import Free, Mimic, Revolute
from closedform.model.robot import Body, Robot
from random_robots import complex_step, random_robot, random_state, robots, seeds


@given(robots(), seeds)
def test_linear_momentum_is_mass_times_the_velocity_of_the_centre(robot, seed):
    q, v, _ = random_state(robot, seed)
    h = energy.momentum(robot, q, v)
    v_com = kinematics.com_jacobian(robot, q) @ v
    np.testing.assert_allclose(h[:3], robot.mass * v_com, atol=1e-11)


@given(robots(), seeds)
def test_angular_momentum_is_taken_about_the_centre_of_mass(robot, seed):
    """Σ_k of m (p − c) × ṗ over the mass points, by the second moments of each body."""
    q, v, _ = random_state(robot, seed)
    c = kinematics.center_of_mass(robot, q)
    T = kinematics.poses(robot, q)
    dT = complex_step(robot, lambda q: kinematics.poses(robot, q), q, v)
    total = np.zeros(3)
    for body, T_k, dT_k in zip(robot.bodies, T, dT, strict=True):
        I = body.inertia
        S = np.zeros((4, 4))                      # pseudo-inertia ∫ (x; 1)(x; 1)ᵀ dm
        S[:3, :3] = np.trace(I.origin_tensor) / 2 * np.eye(3) - I.origin_tensor
        S[:3, 3] = S[3, :3] = I.first_moment
        S[3, 3] = I.mass
        away = T_k.copy()
        away[:3, 3] -= c
        L = away @ S @ dT_k.T                     # ∫ (x − c) ẋᵀ dm
        total += [L[1, 2] - L[2, 1], L[2, 0] - L[0, 2], L[0, 1] - L[1, 0]]
    np.testing.assert_allclose(energy.momentum(robot, q, v)[3:], total, atol=1e-11)


def test_momentum_of_a_free_robot_changes_by_its_weight_alone():
    root, *rest = random_robot(11, ("revolute", "spherical", "universal")).bodies
    robot = Robot("free", [Body("b0", None, Free(), root.placement, root.inertia), *rest])
    q, v, a = random_state(robot, 1)
    a = closed_form.forward_dynamics(robot, q, v, np.zeros(robot.nv))
    dh = (complex_step(robot, lambda q: energy.momentum(robot, q, v), q, v)
          + energy.centroidal_momentum_matrix(robot, q) @ a)
    weight = np.concatenate([robot.mass * robot.gravity, np.zeros(3)])
    np.testing.assert_allclose(dh, weight, atol=1e-10)


def test_friction_opposes_motion_and_counts_a_mimics_ratio():
    robot = Robot("pair", [
        Body("a", None, Revolute((0, 0, 1), viscous=0.5, coulomb=2.0), inertia=Inertia(1)),
        Body("b", "a", Mimic(Revolute((0, 0, 1), viscous=0.1, coulomb=1.0), of="a", ratio=-3))])
    for v in (0.7, -0.7):
        expected = 0.5 * v + 2 * np.sign(v) + 9 * 0.1 * v + 3 * np.sign(v)
        assert energy.joint_friction(robot, [v]) == pytest.approx([expected], rel=1e-15)
    assert energy.joint_friction(robot, [0.0]) == [0.0]


def test_operational_inertia_inverts_the_mobility_and_says_when_it_cannot():
    robot = random_robot(5, ("revolute", "helical"), bodies=8, spread=1)
    q = robot.random(3)
    mobility = energy.operational_space_mobility(robot, q, "tool")
    product = energy.operational_space_inertia(robot, q, "tool") @ mobility
    np.testing.assert_allclose(product, np.eye(6), atol=1e-14 * np.linalg.cond(mobility))
    branched = random_robot(5, ("revolute", "helical"), bodies=8)      # four joints before the tool
    with pytest.raises(SingularMatrix):
        energy.operational_space_inertia(branched, branched.random(3), "tool")
    pinned = Robot("pinned", [Body("a", None, Revolute((0, 0, 1)), inertia=Inertia(1, (1, 0, 0)))])
    with pytest.raises(SingularMatrix):
        energy.operational_space_inertia(pinned, [0.3], "a")
