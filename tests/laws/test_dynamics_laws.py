"""What mechanics demands of M, C, g, for random trees with every joint kind."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from closedform.maths.algorithms import articulated, newton_euler
from closedform.maths.definitions import closed_form as cf
from closedform.maths.definitions import energy
from closedform.maths.spatial import crf
from closedform.model.joints import Free
from random_robots import KINDS, complex_step, random_state, robots, seeds


def assert_close(actual, expected, scale=None, ulps=1e4):
    """Equal within `ulps` rounding errors of the largest number, or of 1, the robots' own scale."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    size = max(np.abs(expected).max(initial=0), np.abs(actual).max(initial=0), scale or 0, 1.0)
    assert np.abs(actual - expected).max(initial=0) <= ulps * np.finfo(float).eps * size


@given(robots(), seeds)
def test_M_is_symmetric_and_positive_definite(robot, seed):
    M = cf.mass_matrix(robot, random_state(robot, seed)[0])
    assert_close(M, M.T)
    assert np.all(np.linalg.eigvalsh(M) > 0)


@given(robots(), seeds)
def test_M_times_its_inverse_is_one(robot, seed):
    q, _, _ = random_state(robot, seed)
    M, inverse = cf.mass_matrix(robot, q), cf.mass_matrix_inverse(robot, q)
    assert_close(M @ inverse, np.eye(robot.nv), scale=np.linalg.norm(M) * np.linalg.norm(inverse))


@given(robots(), seeds)
def test_dM_is_C_plus_its_transpose_for_both_C(robot, seed):
    q, v, _ = random_state(robot, seed)
    dM = complex_step(robot, lambda q: cf.mass_matrix(robot, q), q, v)
    for C in (cf.coriolis_matrix(robot, q, v), cf.christoffel_coriolis_matrix(robot, q, v)):
        assert_close(C + C.T, dM, np.abs(C).max(initial=0))


@given(robots(), seeds)
def test_both_C_give_the_same_torque(robot, seed):
    q, v, _ = random_state(robot, seed)
    C, D = cf.coriolis_matrix(robot, q, v), cf.christoffel_coriolis_matrix(robot, q, v)
    assert_close(C @ v, D @ v, np.abs(C).max(initial=0))


@given(robots(), seeds)
def test_coriolis_forces_do_no_work_beyond_the_change_of_M(robot, seed):
    """vᵀ (dM − 2C) v = 0."""
    q, v, _ = random_state(robot, seed)
    dM = complex_step(robot, lambda q: cf.mass_matrix(robot, q), q, v)
    C = cf.coriolis_matrix(robot, q, v)
    assert_close(v @ dM @ v, 2 * v @ C @ v, np.abs(C).max(initial=0) * (v @ v))


@given(robots(), seeds)
def test_gravity_torque_is_the_gradient_of_the_potential(robot, seed):
    q, v, _ = random_state(robot, seed)
    dU = complex_step(robot, lambda q: energy.potential_energy(robot, q), q, v)
    g = cf.gravity_torque(robot, q)
    assert_close(g @ v, dU, np.abs(g).max(initial=0))


@given(robots(), seeds)
def test_power_of_the_torques_is_the_change_of_energy(robot, seed):
    """vᵀ τ = d/dt (T + U) along any motion."""
    q, v, a = random_state(robot, seed)
    tau = cf.inverse_dynamics(robot, q, v, a)
    dT = (complex_step(robot, lambda q: energy.kinetic_energy(robot, q, v), q, v)
          + v @ cf.mass_matrix(robot, q) @ a)
    dU = complex_step(robot, lambda q: energy.potential_energy(robot, q), q, v)
    assert_close(v @ tau, dT + dU, np.abs(tau).max(initial=0) * np.abs(v).max(initial=0))


@given(robots(), seeds)
def test_forward_dynamics_undoes_inverse_dynamics(robot, seed):
    q, v, a = random_state(robot, seed)
    F = np.random.default_rng(seed).normal(size=(len(robot.bodies), 6))
    tau = cf.inverse_dynamics(robot, q, v, a, F)
    M = cf.mass_matrix(robot, q)
    condition = np.linalg.cond(M) if robot.nv else 1.0
    assert_close(cf.forward_dynamics(robot, q, v, tau, wrenches=F), a, ulps=1e3 * condition)


@given(robots(), seeds)
def test_torques_are_linear_in_the_inertial_parameters(robot, seed):
    q, v, a = random_state(robot, seed)
    pi = robot.parameters
    other = np.random.default_rng(seed).normal(size=pi.shape)
    def tau(p):
        return cf.inverse_dynamics(robot.with_parameters(p), q, v, a)
    rotors = len(pi) - 10 * len(robot.bodies)
    if rotors:
        other[-rotors:] = np.abs(other[-rotors:])
    assert_close(tau(pi) + 2 * tau(other), tau(pi + 2 * other), np.abs(tau(other)).max(initial=0))


@given(robots(), seeds)
def test_kinetic_energy_is_half_v_M_v(robot, seed):
    q, v, _ = random_state(robot, seed)
    assert_close(energy.kinetic_energy(robot, q, v), v @ cf.mass_matrix(robot, q) @ v / 2)


@given(robots(), seeds)
def test_a_wrench_does_the_power_of_its_body_twist(robot, seed):
    from closedform.maths.kinematics import body_jacobians
    q, v, _ = random_state(robot, seed)
    F = np.random.default_rng(seed).normal(size=(len(robot.bodies), 6))
    power = sum(F_k @ (J_k @ v) for F_k, J_k in zip(F, body_jacobians(robot, q), strict=True))
    loaded = cf.inverse_dynamics(robot, q, v, v, F) - cf.inverse_dynamics(robot, q, v, v)
    scale = np.abs(cf.inverse_dynamics(robot, q, v, v)).max(initial=0) * np.abs(v).max(initial=0)
    assert_close(-(v @ loaded), power, scale)


@given(robots(), seeds)
def test_passivity_torque_is_the_torque_when_the_reference_is_the_motion(robot, seed):
    q, v, a = random_state(robot, seed)
    tau = cf.inverse_dynamics(robot, q, v, a)
    assert_close(cf.passivity_inverse_dynamics(robot, q, v, v, a), tau)


@given(robots([kind for kind in KINDS if kind != "mimic"], most=5), seeds,
       st.sampled_from([None, 0.4, (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)]))
def test_the_momentum_of_a_floating_robot_is_conserved(robot, seed, rotor):
    """Without force on the base and without gravity p = (M v)_b stays, linear and angular:

    ṗ + V×* p = 0, with ṗ = M a + dM v by complex step, for whatever the joints do; C is not asked.
    """
    base, *others = robot.bodies
    bodies = (replace(base, joint=Free(rotor_inertia=rotor)),
              *(replace(b, parent=b.parent or base.name) for b in others))
    floating = replace(robot, bodies=bodies).with_gravity((0, 0, 0))
    q, v, tau = random_state(floating, seed)
    tau = np.concatenate([np.zeros(6), tau[6:]])
    M = cf.mass_matrix(floating, q)
    dM = complex_step(floating, lambda q: cf.mass_matrix(floating, q), q, v)
    for dynamics in (cf.forward_dynamics, newton_euler.forward_dynamics,
                     articulated.forward_dynamics):
        a = dynamics(floating, q, v, tau)
        rate = (M @ a + dM @ v)[:6] + crf(v[:6]) @ (M @ v)[:6]
        size = np.abs(M).max() * np.abs(a).max() * np.linalg.cond(M)
        assert_close(rate, np.zeros(6), size, ulps=1e3)
