"""Müller and Kumar's block matrices give what the other formulations give, for every joint kind."""

from dataclasses import replace

import numpy as np
import pytest

import closedform as cf
from closedform.maths import kinematics
from closedform.maths.algorithms.jets import inverse_dynamics_jet
from closedform.maths.definitions.time_derivatives import time_derivatives
from closedform.maths.papers import mueller_kumar
from random_robots import random_robot, random_state
from trajectories import along

SEEDS = range(6)


def case(seed, rates=3):
    """A robot without rotors on joints that turn more than one way: the paper has no rotors, and
    there they are part of C."""
    robot = random_robot(seed, roots=1 + seed % 2)
    bodies = [replace(b, joint=replace(b.joint, rotor_inertia=None)) if b.joint.moving.nv > 1 else b
              for b in robot.bodies]
    robot = replace(robot, bodies=tuple(bodies))
    return robot, *random_state(robot, seed, rates)


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=0,
                               atol=1e-12 * np.abs(expected).max(initial=1.0))


@pytest.mark.parametrize("seed", SEEDS)
def test_A_is_the_inverse_of_one_minus_D_and_AX_are_the_body_jacobians(seed):
    robot, q, *_ = case(seed)
    now = mueller_kumar.system_matrices(robot, q)
    close(now.A @ (np.eye(len(now.D)) - now.D), np.eye(len(now.D)))
    close(now.J, np.concatenate(kinematics.jacobians(robot, q)[1:]))


@pytest.mark.parametrize("seed", SEEDS)
def test_P_carries_the_jacobian_and_its_derivatives_are_its_derivatives(seed):
    robot, q, *rates = case(seed, 4)
    now = mueller_kumar.system_matrices(robot, q)
    P = mueller_kumar.propagation(robot, now, *rates[:3])
    def J(q, r):
        return mueller_kumar.system_matrices(robot, q).J
    def rows(q, r):
        now = mueller_kumar.system_matrices(robot, q)
        return np.array(mueller_kumar.propagation(robot, now, *r)[:2])
    close(-P.value @ now.J, along(robot, J, q, rates))
    first, second = along(robot, rows, q, rates)
    close(P.first, first)
    close(P.second, second)


@pytest.mark.parametrize("seed", SEEDS)
def test_system_twists_are_derivatives_of_each_other(seed):
    robot, q, *rates = case(seed, 4)
    def twists(q, r):
        now = mueller_kumar.system_matrices(robot, q)
        A = mueller_kumar.propagation(robot, now, *r)
        return np.array(mueller_kumar.system_twists(now, A, *r))
    V, dV = twists(q, np.array(rates[:3])), along(robot, twists, q, rates)
    close(V[1:], dV[:2])


@pytest.mark.parametrize("seed", SEEDS)
def test_the_passive_C_is_garofalos_and_all_derivatives_agree_with_the_closed_form(seed):
    robot, q, v, a, j = case(seed)
    d = time_derivatives(robot, q, v, a, j)
    M, dM, ddM = mueller_kumar.mass_rates(robot, q, v, a, j)
    C, dC, ddC = mueller_kumar.passive_coriolis_rates(robot, q, v, a, j)
    g, dg, ddg = mueller_kumar.gravity_rates(robot, q, v, a, j)
    close(M + np.diag(robot.rotor_inertia), cf.mass_matrix(robot, q))
    close(C, cf.coriolis_matrix(robot, q, v))
    close(g, cf.gravity_torque(robot, q))
    for found, expected in zip((dM, ddM, dC, ddC, dg, ddg), d, strict=True):
        close(found, expected)


@pytest.mark.parametrize("seed", SEEDS)
def test_C_of_22_has_the_same_torque_and_its_derivatives_are_its_own(seed):
    robot, q, *rates = case(seed, 4)
    v = rates[0]
    C = mueller_kumar.coriolis_rates(robot, q, *rates[:3])
    close(C.value @ v, cf.coriolis_torque(robot, q, v))
    def rows(q, r):
        return np.array(mueller_kumar.coriolis_rates(robot, q, *r)[:2])
    close(np.array(C[1:]), along(robot, rows, q, rates))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_generalized_forces_are_the_jet_with_the_wrench_turned_round(seed):
    """Their W is the wrench that the body exerts, ours the load applied to it; no rotors."""
    robot, q, *rates = case(seed, 4)
    W = np.random.default_rng(seed).normal(size=(3, len(robot.bodies), 6))
    Q = np.array(mueller_kumar.generalized_forces(robot, q, rates, W))
    close(Q + robot.rotor_inertia * np.array(rates[1:]),
          inverse_dynamics_jet(robot, q, rates, -W))
    without = np.array(mueller_kumar.generalized_forces(robot, q, rates))
    close(without + robot.rotor_inertia * np.array(rates[1:]),
          inverse_dynamics_jet(robot, q, rates))
