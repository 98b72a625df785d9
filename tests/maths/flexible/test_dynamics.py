"""Equations of flexible arms: laws of mechanics, other derivations, finite elements, limits."""

import dataclasses
import math

import numpy as np
import pytest

import plane_frame
from closedform.applications.flexible.vibration import frequencies, linearisation
from closedform.errors import ArgumentError, SingularMatrix
from closedform.lowerings import reference
from closedform.maths.flexible import dynamics as fa
from closedform.maths.flexible.arm import FlexibleArm
from closedform.maths.flexible.kinematics import LinearRotation, link_motions
from closedform.maths.flexible.regressor import (
    base_parameters,
    parameter_names,
    parameters,
    regressor,
)
from closedform.model.elasticity.beam import FlexibleLink, Payload, Shape
from closedform.program.record import record
from flexible_arms import ARMS, complex_step, odd_arm, paper_arm, random_motion

MODELS = [fa.Truncated(), fa.ExactRotation(), fa.ExactRotation(foreshortening=False)]
ROUNDING = 1e-12


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.fixture(params=ARMS, ids=str)
def arm(request):
    return ARMS[request.param]


@pytest.fixture(params=MODELS, ids=str)
def model(request):
    return request.param


# ---------------------------------------------------------------------- laws
def test_coriolis_torque_is_made_of_the_derivatives_of_B(arm, model, rng):
    """(26): h_i = Σ_jk (∂B_ij/∂q_k − ½ ∂B_jk/∂q_i) v_j v_k."""
    q, v, _ = random_motion(arm, rng)
    dB = np.stack([complex_step(lambda x: fa.inertia_matrix(arm, x, model), q, e)
                   for e in np.eye(arm.nq)], axis=-1)
    h = np.einsum("ijk,j,k", dB, v, v) - np.einsum("jki,j,k", dB, v, v) / 2
    np.testing.assert_allclose(fa.coriolis_torque(arm, q, v, model), h, atol=ROUNDING)


def test_energy_changes_by_the_power_of_torque_and_damping(arm, model, rng):
    """d(T + U)/dt = vᵀ(Q u − D v), with gravity and friction at work."""
    arm = dataclasses.replace(arm, gravity=(0.3, -9.81))
    q, v, _ = random_motion(arm, rng)
    u, D = rng.normal(size=arm.n), fa.damping_matrix(arm, 0.1)
    a = fa.forward_dynamics(arm, q, v, u, damping=0.1, model=model)

    def energy(x):
        p, w = x[:arm.nq], x[arm.nq:]
        return fa.kinetic_energy(arm, p, w, model) + fa.potential_energy(arm, p, model)

    power = complex_step(energy, np.concatenate([q, v]), np.concatenate([v, a]))
    work = v[:arm.n] @ u - v @ D @ v
    scale = np.abs(v) @ np.abs(fa.inertia_matrix(arm, q, model) @ a)
    assert abs(power - work) < 1e-11 * scale


def test_B_is_symmetric_and_does_not_depend_on_the_first_joint(arm, model, rng):
    q, _, _ = random_motion(arm, rng)
    B = fa.inertia_matrix(arm, q, model)
    turned = fa.inertia_matrix(arm, q + 0.7 * np.eye(arm.nq)[0], model)
    np.testing.assert_allclose(B, B.T, atol=ROUNDING)
    np.testing.assert_allclose(turned, B, atol=ROUNDING)


def test_forward_dynamics_undoes_inverse_dynamics(arm, model, rng):
    q, v, a = random_motion(arm, rng)
    force = fa.inverse_dynamics(arm, q, v, a, 0.1, model)
    np.testing.assert_allclose(fa.forward_dynamics(arm, q, v, force, 0.1, model), a, rtol=1e-8,
                               atol=1e-8)


def test_the_tip_jacobian_is_the_derivative_of_the_tip_s_place(arm, model, rng):
    q, _, _ = random_motion(arm, rng)
    J = np.stack([complex_step(lambda x: fa.tip_position(arm, x, model), q, e)
                  for e in np.eye(arm.nq)], axis=1)
    np.testing.assert_allclose(fa.tip_jacobian(arm, q, model)[:2], J, atol=ROUNDING)


def test_gravity_torque_is_the_gradient_of_its_energy(arm, model, rng):
    arm = dataclasses.replace(arm, gravity=(0.3, -9.81))
    q, _, _ = random_motion(arm, rng)
    g = [complex_step(lambda x: fa.gravity_energy(arm, x, model), q, e) for e in np.eye(arm.nq)]
    np.testing.assert_allclose(fa.gravity_torque(arm, q, model), g, atol=1e-11)


def test_exact_rotations_keep_B_definite_at_any_deflection(arm, rng):
    for _ in range(20):
        q = 2 * rng.normal(size=arm.nq)
        for model in MODELS[1:]:
            assert np.linalg.eigvalsh(fa.inertia_matrix(arm, q, model))[0] > 0


# ---------------------------------------------------------------------- other derivations
def literal_inertia(arm, q):
    """B with every product of the paper's (1)–(11) kept, by quadrature over points."""
    motions = link_motions(arm, q, 0 * q, LinearRotation())
    B = fa._rotational(arm) + 0 * np.outer(q, q)
    for link, modes, motion in zip(arm.links, arm.modes, motions, strict=True):
        x, weights = modes.points()
        basis = np.column_stack([np.ones(len(x)), x, modes.deflections(x)])
        J = np.tensordot(basis, np.stack([part.jacobian for part in motion.basis]), 1)
        B = B + np.einsum("p,pci,pcj->ij", weights * link.density_at(x), J, J)
        hub = motion.basis[0].jacobian
        B = B + link.hub_mass * hub.T @ hub
    return B + arm.payload.mass * motions[-1].end.jacobian.T @ motions[-1].end.jacobian


def test_the_truncated_B_is_the_paper_s_kinetic_energy_to_first_degree(arm, rng):
    """B(θ, δ) = B_literal(θ, 0) + d/dε B_literal(θ, ε δ): the rule that gives (32)."""
    q, _, _ = random_motion(arm, rng, bend=0.3)
    straight, bend = q.copy(), q.copy()
    straight[arm.n:], bend[:arm.n] = 0, 0
    expected = literal_inertia(arm, straight) + complex_step(
        lambda x: literal_inertia(arm, x), straight, bend)
    np.testing.assert_allclose(fa.inertia_matrix(arm, q), expected, atol=ROUNDING)


def test_all_models_agree_where_nothing_is_bent(arm, rng):
    q, _, _ = random_motion(arm, rng, bend=0.0)
    B = [fa.inertia_matrix(arm, q, model) for model in MODELS]
    np.testing.assert_allclose(B[1], B[0], atol=ROUNDING)
    np.testing.assert_allclose(B[2], B[0], atol=ROUNDING)


def test_rigid_links_make_the_textbook_s_two_link_arm(rng):
    """M_11 = J1 + J2 + (m_h2 + m2) l² + 2 m2 l d cos θ2 for equal rods without payload."""
    arm = FlexibleArm([FlexibleLink(0.5, 0.2, 1.0, 0.0, 0.1, 0), FlexibleLink(
        0.5, 0.2, 1.0, 1.0, 0.1, 0)])
    q, v = rng.normal(size=(2, 2))
    rod, k = 0.1 + 0.1 * 0.25 / 3, 0.1 * 0.5 * 0.25
    M11 = 2 * rod + 1.1 * 0.25 + 2 * k * math.cos(q[1])
    M12 = rod + k * math.cos(q[1])
    np.testing.assert_allclose(fa.inertia_matrix(arm, q), [[M11, M12], [M12, rod]], rtol=1e-14)
    s = k * math.sin(q[1])
    h = [-s * (2 * v[0] * v[1] + v[1]**2), s * v[0]**2]
    np.testing.assert_allclose(fa.coriolis_torque(arm, q, v), h, rtol=1e-13)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_the_equations_record_as_programs_with_the_same_values(model, rng):
    arm = dataclasses.replace(odd_arm(1, 1), gravity=(0.0, -9.81))
    q, v, _ = random_motion(arm, rng)
    u = rng.normal(size=2)
    program = record(lambda q, v, u: fa.forward_dynamics(arm, q, v, u, 0.1, model),
                     {"q": (4,), "v": (4,), "u": (2,)}, "acceleration")
    found = reference.run(program, q, v, u)[0]
    np.testing.assert_allclose(found, fa.forward_dynamics(arm, q, v, u, 0.1, model), rtol=1e-9)


# ---------------------------------------------------------------------- finite elements and limits
@pytest.mark.parametrize("locked", [True, False])
@pytest.mark.parametrize("angles", [(0.0, 0.0), (0.0, math.pi / 2), (0.0, 0.8, -0.5)])
def test_frequencies_converge_to_those_of_finite_elements_as_modes_grow(locked, angles):
    """From above, as Ritz demands; with 6 modes the first four are within 1e-4."""
    arm = paper_arm if len(angles) == 2 else lambda modes: odd_arm(*3 * [modes])
    fine = plane_frame.frequencies(arm(1), angles, locked)[:4]
    errors = []
    for modes in (2, 3, 6):
        found = frequencies(arm(modes), angles, locked)
        errors.append(found[found > 0][:4] / fine - 1)
    assert np.all(np.array(errors) > -2e-5)           # elements are from above too, 1e-5 of it
    assert np.all(errors[1] <= errors[0] + 1e-9)
    assert np.all(errors[2] <= errors[1] + 1e-9)
    assert np.max(errors[2]) < 1e-4


@pytest.mark.parametrize(("spin", "known"), [(1, 3.6816), (2, 4.1373), (5, 6.4495), (10, 11.2023)])
def test_a_turning_link_stiffens_as_rotating_beams_do(spin, known):
    """In-plane ω² = known² − Ω² (in units of EI/ρℓ⁴), known the out-of-plane frequency of a
    rotating uniform cantilever without a hub, tabulated by Wright, Smith, Thresher and Wang (1982)
    to four decimals, which are 1.2e-4 in ω at most. Powers of x converge faster than its modes.
    """
    shapes = [Shape.from_polynomial(*(k + 2) * [0], 1) for k in range(7)]
    arm = FlexibleArm([FlexibleLink(1.0, 1.0, 1.0, 0.0, 1e6, shapes=shapes)])
    v = np.zeros(arm.nq)
    v[0] = spin
    A = linearisation(arm, np.zeros(arm.nq), v, model=fa.ExactRotation()).A
    omega = np.sort(np.abs(np.linalg.eigvals(A).imag))
    first = omega[omega > 1e-3][0]
    np.testing.assert_allclose(first, math.sqrt(known**2 - spin**2), atol=1.5e-4)


def test_a_heavy_link_hangs_as_the_textbook_s_cantilever():
    """Tip deflection ρ g ℓ⁴/(8 EI) of a clamped link under its own weight, small."""
    arm = FlexibleArm([FlexibleLink(0.5, 0.2, 50.0, 0.0, 0.1, 8)], gravity=(0.0, -9.81))
    K, g = fa.stiffness_matrix(arm)[1:, 1:], fa.gravity_torque(arm, np.zeros(9))[1:]
    tip = arm.modes[0].tip @ np.linalg.solve(K, -g)
    np.testing.assert_allclose(tip, -0.2 * 9.81 * 0.5**4 / (8 * 50.0), rtol=1e-5)


# ---------------------------------------------------------------------- parameters
@pytest.mark.parametrize("gravity", [(0.0, 0.0), (0.0, -9.81)])
def test_the_model_is_linear_in_its_parameters(arm, gravity, rng):
    arm = dataclasses.replace(arm, gravity=gravity)
    q, v, a = random_motion(arm, rng)
    Y, pi = regressor(arm, q, v, a), parameters(arm, 0.1)
    assert Y.shape == (arm.nq, len(pi))
    assert sum(map(len, parameter_names(arm))) == len(pi)
    tau = fa.inverse_dynamics(arm, q, v, a, damping=np.diag(fa.damping_matrix(arm, 0.1)))
    np.testing.assert_allclose(Y @ pi, tau, atol=1e-11)


def test_base_parameters_give_the_same_torques_and_are_independent(rng):
    arm = paper_arm()
    base = base_parameters(arm, 0.1)
    # m1, md1, v11, v12 have no effect in a horizontal plane; m2, m_p, J_p are regrouped
    assert base.count == len(parameters(arm)) - 7
    Y = []
    for _ in range(20):
        q, v, a = random_motion(arm, rng)
        Y.append(regressor(arm, q, v, a))
        np.testing.assert_allclose(Y[-1][:, base.columns] @ base.values,
                                   Y[-1] @ parameters(arm, 0.1), atol=1e-10)
    chosen = np.concatenate(Y)[:, base.columns]
    assert np.linalg.matrix_rank(chosen / np.linalg.norm(chosen, axis=0), tol=1e-9) == base.count


# ---------------------------------------------------------------------- refusals
def test_an_indefinite_B_is_refused_with_its_smallest_eigenvalue():
    q = np.array([0, np.pi / 2, -0.35, 0, 0, 0])
    with pytest.raises(SingularMatrix, match="not positive definite: its smallest eigenvalue is -"):
        fa.forward_dynamics(paper_arm(), q, np.zeros(6), np.zeros(2))


@pytest.mark.parametrize(("call", "told"), [
    (lambda arm: fa.inertia_matrix(arm, np.zeros(5)),
     r"inertia_matrix of .*: q must have the shape \(6,\), not \(5,\)"),
    (lambda arm: fa.coriolis_torque(arm, np.zeros(6), np.zeros(2)),
     r"coriolis_torque of .*: v must have the shape \(6,\), not \(2,\)"),
    (lambda arm: fa.inertia_matrix(arm, np.full(6, np.nan)), "q must be finite"),
    (lambda arm: fa.forward_dynamics(arm, np.zeros(6), np.zeros(6), np.zeros(3)),
     r"tau must have the shape \(2,\) or \(6,\), not \(3,\)"),
    (lambda arm: fa.damping_matrix(arm, [1.0, 2.0]), "damping is a finite number, 6 of them"),
    (lambda arm: fa.damping_matrix(arm, -0.1), "damping must not be negative"),
    (lambda arm: fa.damping_matrix(arm, "much"), "damping is a finite number, 6 of them"),
    (lambda arm: fa.inertia_matrix("arm", np.zeros(6)), r"arm must be a cf\.FlexibleArm, not str"),
    (lambda arm: fa.inertia_matrix(arm, np.zeros(6), "exact"), "model must be Truncated"),
])
def test_arguments_of_the_wrong_size_are_told(call, told):
    with pytest.raises(ArgumentError, match=told):
        call(paper_arm())


def test_friction_at_the_joints_resists_and_is_smooth_at_rest():
    link = FlexibleLink(0.5, 0.2, 1.0, 0.1, 0.1, 1, viscous=0.3, coulomb=0.5)
    arm = FlexibleArm([link], Payload(0.1))
    np.testing.assert_allclose(fa.friction_torque(arm, np.array([2.0, 1.0])), [0.5, 0], atol=1e-6)
    np.testing.assert_array_equal(fa.friction_torque(arm, np.zeros(2)), 0)
    assert fa.damping_matrix(arm)[0, 0] == 0.3
