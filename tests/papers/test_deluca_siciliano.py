"""De Luca & Siciliano 1991: constants, coefficients, misprints, mode shapes and motions.

Numbers with more digits than the paper's were computed from it twice, independently.
"""

import math
import warnings

import numpy as np
import pytest

from closedform.applications.flexible import bang_bang, frequencies, linearisation, load, simulate
from closedform.applications.flexible.programs import joined, rk4_step
from closedform.errors import ModelError, SingularMatrix
from closedform.lowerings.call.kernel import compile_program
from closedform.maths.algebra.ldl import solve_definite
from closedform.maths.flexible.dynamics import (
    ExactRotation,
    coriolis_torque,
    damping_matrix,
    inertia_matrix,
    stiffness_matrix,
    tip_position,
)
from closedform.maths.papers import de_luca_siciliano as explicit
from closedform.model.elasticity.beam import Payload
from closedform.program.record import record
from flexible_arms import paper_arm, random_motion

ARM = load("deluca_siciliano")
TIMES = np.linspace(0, 2, 2001)
STRAIGHT = [0, 0, 0, 0, 0.1, 0.002]
ANGLED = [0, np.pi / 2, 0.1, 0.002, 0, 0]
BANG = bang_bang([0.2, 0.2], 0, 0.5, 1)

# as printed in section VII: name, link, values, digits after the point
PRINTED = [
    ("frequencies", 0, (0.48, 1.80), 2), ("frequencies", 1, (2.18, 15.91), 2),
    ("tip", 0, (0.186, 0.215), 3), ("tip", 1, (0.883, -0.069), 3),
    ("tip_slope", 0, (0.657, -0.560), 3), ("tip_slope", 1, (2.641, -10.853), 3),
    ("v", 0, (0.007, 0.013), 3), ("v", 1, (0.033, 0.054), 3),
    ("w", 0, (0.002, 0.004), 3), ("w", 1, (0.012, 0.016), 3),
]
PRECISE = {
    "frequencies": ((0.479693035135449, 1.79658914290401), (2.17833356610411, 15.9145129704673)),
    "tip": ((0.185880104735363, 0.215122392073863), (0.883329615224287, -0.0692633645421779)),
    "tip_slope": ((0.657129825190941, -0.560418582956425), (2.64133989665329, -10.8525679418811)),
    "v": ((0.00655687507833617, 0.0131217305944100), (0.0332589741369429, 0.0543972980346158)),
    "w": ((0.00243172812197232, 0.00447306210723579), (0.0121822254704161, 0.0155659841825185)),
}


@pytest.mark.parametrize(("name", "link", "values", "digits"), PRINTED)
def test_the_twenty_published_constants_have_the_printed_digits(name, link, values, digits):
    found = getattr(ARM.modes[link], name)
    assert [round(float(x), digits) for x in found] == list(values)


@pytest.mark.parametrize("name", PRECISE)
def test_the_constants_have_fifteen_digits(name):
    for modes, values in zip(ARM.modes, PRECISE[name], strict=True):
        # φ_22(ℓ) is what is left of terms 40 times as large
        np.testing.assert_allclose(getattr(modes, name), values, rtol=2e-13)


def test_modal_masses_are_the_links_masses_and_the_beams_alone_are_not():
    """The paper's (30) holds with the tip's terms, not for z alone."""
    np.testing.assert_allclose([np.diag(modes.z) for modes in ARM.modes],
                               [[0.000746, 0.002434], [0.018485, 0.040631]], atol=5e-7)
    for modes in ARM.modes:
        whole = (modes.z + modes.load.mass * np.outer(modes.tip, modes.tip)
                 + modes.load.inertia * np.outer(modes.tip_slope, modes.tip_slope))
        np.testing.assert_allclose(whole, 0.1 * np.eye(2), atol=1e-14)


def test_stiffness_is_35():
    omega = 2 * np.pi * np.concatenate([modes.frequencies for modes in ARM.modes])
    np.testing.assert_allclose(stiffness_matrix(ARM), np.diag([0, 0, *(0.1 * omega**2)]),
                               rtol=1e-14)


@pytest.mark.parametrize(("factor", "node"), [(0, 0.783), (1, 0.987), (2, None)])
def test_the_node_of_the_second_mode_moves_outwards_with_payload_and_disappears(factor, node):
    arm = ARM.with_payload(Payload(0.1 * factor, 0.0005 * factor))
    x = np.linspace(0.01, 1, 10_000)
    crossings = np.flatnonzero(np.diff(np.sign(arm.modes[1].deflections(0.5 * x)[:, 1])))
    assert [round(float(x[k]), 3) for k in crossings] == ([] if node is None else [node])


def test_payload_hardly_changes_the_shapes_of_link_one():
    shapes = [ARM.with_payload(Payload(0.1 * k, 0.0005 * k)).modes[0].deflections(
        np.linspace(0, 0.5, 50)) for k in range(3)]
    assert np.max(np.abs(shapes[0] - shapes[2])) < 0.2 * np.max(np.abs(shapes[1]))


# ---------------------------------------------------------------------- coefficients
def printed(coefficients):
    """The five h as they are printed."""
    m = ARM.modes
    p12, (s11, s12), t = m[0].tip[1], m[0].tip_slope, coefficients.t
    wrong = {107: coefficients.h[107] / 2, 117: -t[21], 118: -t[22],
             412: -2 * t[22] * p12 * s12, 413: -2 * t[21] * p12 * s11}
    return coefficients._replace(h={**coefficients.h, **wrong})


def gap(c, rng):
    """The largest difference between the explicit form and the general one, over three motions."""
    worst = 0.0
    for _ in range(3):
        q, v, _ = random_motion(ARM, rng, bend=0.1)
        worst = max(worst, np.max(np.abs(explicit.inertia_matrix(c, q) - inertia_matrix(ARM, q))),
                    np.max(np.abs(explicit.coriolis_torque(c, q, v) - coriolis_torque(ARM, q, v))))
    return worst


def test_the_explicit_form_has_all_coefficients_and_equals_the_general_one():
    c = explicit.coefficients(ARM)
    assert (len(c.b), len(c.h), len(c.t)) == (57, 98, 6)
    assert gap(c, np.random.default_rng(1)) < 1e-14


def test_no_coefficient_could_be_wrong_unseen():
    """A thousandth added to any one of the 161 makes the forms differ."""
    c = explicit.coefficients(ARM)
    for table in ("b", "h", "t"):
        for key in getattr(c, table):
            values = getattr(c, table)
            changed = c._replace(**{table: {**values, key: values[key] + 1e-3}})
            assert gap(changed, np.random.default_rng(1)) > 1e-9, (table, key)


def explicit_run(c, q0):
    """Energy and θ_1's momentum over 2 s by RK4 with the explicit coefficients."""
    K = np.diag(stiffness_matrix(ARM))

    def rate(x, u):
        q, v = x[:6], x[6:12]
        a, pivots = solve_definite(explicit.inertia_matrix(c, q),
                                   -explicit.coriolis_torque(c, q, v) - K * q)
        return joined(v, a, 0 * q[0], 0 * q[0], pivots)

    step = compile_program(record(rk4_step(rate, 2), {"x": (15,), "held": (3,)}, "explicit_step"))
    path = np.zeros((2001, 15))
    path[0, :6] = q0
    for k in range(2000):
        step(path[k], np.array([0, 0, 1e-3]), out=path[k + 1])
    assert np.all(path[:, -1] == 0)
    q, v = path[::10, :6], path[::10, 6:12]
    Bv = np.array([explicit.inertia_matrix(c, x) @ w for x, w in zip(q, v, strict=True)])
    return (np.sum(v * Bv, axis=1) + q**2 @ K) / 2, Bv[:, 0]


def test_five_printed_coefficients_break_the_conservation_of_energy_and_momentum():
    right = explicit.coefficients(ARM)
    energy, momentum = explicit_run(right, ANGLED)
    lost, turned = np.ptp(energy) / energy[0], np.max(np.abs(momentum))
    assert lost < 1e-4 and turned < 1e-6                  # what RK4 at 1 ms leaves
    energy, momentum = explicit_run(printed(right), ANGLED)
    assert np.ptp(energy) / energy[0] > 1000 * lost       # not the integrator: the equations
    assert np.max(np.abs(momentum)) > 1000 * turned


def test_the_explicit_form_is_refused_to_other_arms():
    with pytest.raises(ModelError, match="2 links with 2 modes each"):
        explicit.coefficients(paper_arm(3))


# ---------------------------------------------------------------------- motions
REFERENCE = np.array([
    [0.0127427612666, 0.0375692059242, 0.0113618478057, 0.000593262754961, -0.0440633841742,
     0.00210308563685],
    [0.0224768416681, 0.0524602856937, -0.0156699804336, -0.0015187418077, -0.0603999498093,
     0.00170059328523],
    [0.00446775512223, 0.00945366393906, -0.0166510264832, -0.00120858766022, 0.097706884079,
     0.00078114738561],
    [-0.00116924696247, 0.0266126572368, 0.0456081671247, 0.00362573683394, -0.0261626036304,
     0.000233588137047]])


def test_the_reference_motion_of_figure_5_is_met_to_its_digits():
    run = simulate(ARM, STRAIGHT, times=[0, 0.5, 1, 1.5, 2], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(run.q[1:], REFERENCE, atol=2e-11)
    assert np.max(np.abs(run.energy_residual)) < 1e-12
    assert np.max(np.abs(run.momentum)) < 1e-12


def test_rk4_at_a_millisecond_is_as_far_off_as_its_order_says():
    errors = [np.max(np.abs(simulate(ARM, STRAIGHT, times=[0, 0.5, 1, 1.5, 2], method="RK4",
                                     step=h).q[1:] - REFERENCE)) for h in (1e-3, 5e-4, 2.5e-4)]
    np.testing.assert_allclose(errors[0], 2.1e-6, atol=1e-7)
    # the fastest vibration turns by ω h = 0.18 in a millisecond, so that order 4 sets in below it
    np.testing.assert_allclose(np.log2(np.divide(errors[:-1], errors[1:])), 4, atol=0.15)


@pytest.mark.parametrize(("q0", "torque", "damping", "off"), [
    (STRAIGHT, None, 0.0, 3e-6), (ANGLED, None, 0.0, 2e-5), (STRAIGHT, None, 0.1, 1e-9),
    (ANGLED, None, 0.1, 1e-6), (np.zeros(6), BANG, 0.0, 6e-5), (np.zeros(6), BANG, 0.1, 3e-5)],
    ids=["Fig. 5", "Fig. 6", "Fig. 7", "Fig. 8", "Fig. 9", "Fig. 10"])
def test_the_paper_s_steps_are_accurate_in_every_figure(q0, torque, damping, off):
    fixed = simulate(ARM, q0, torque=torque, times=TIMES, damping=damping, method="RK4")
    exact = simulate(ARM, q0, torque=torque, times=[0, 0.5, 1, 1.5, 2], damping=damping,
                     rtol=1e-10, atol=1e-13)
    assert np.max(np.abs(fixed.q[::500] - exact.q)) < off
    assert np.max(np.abs(exact.energy_residual)) < 1e-8
    assert np.max(np.abs(exact.momentum_residual)) < 1e-9


def test_little_energy_goes_to_the_forearm_at_a_right_angle():
    run = simulate(ARM, ANGLED, times=TIMES, method="RK4")
    np.testing.assert_allclose(np.max(np.abs(run.q[:, 4])), 1.7e-3, atol=5e-5)


@pytest.mark.parametrize("q0", [STRAIGHT, ANGLED])
def test_damping_leaves_a_net_bias_of_the_joints_and_keeps_the_momentum(q0):
    run = simulate(ARM, q0, times=np.linspace(0, 6, 61), damping=0.1, method="Radau")
    assert np.max(np.abs(run.q[-1, 2:])) < 1e-4
    assert np.max(np.abs(run.q[-1, :2] - np.array(q0)[:2])) > 0.01
    assert np.max(np.abs(run.momentum)) < 1e-8


def test_the_bang_bang_of_one_second_each_way_ends_where_B_is_singular():
    for method, places in (("DOP853", 5), ("LSODA", 4), ("RK4", 2)):
        with pytest.raises(SingularMatrix, match="loses positive definiteness") as stop:
            simulate(ARM, np.zeros(6), torque=bang_bang([0.2, 0.2], 0, 1, 2), times=TIMES,
                     method=method)
        t = float(str(stop.value).split("t = ")[1].split(" s")[0])
        assert round(t, places) == round(1.29079, places), method


def test_torque_sampled_inside_steps_is_another_motion():
    """Held over the step as in the paper, against a function that switches inside it."""
    held = simulate(ARM, np.zeros(6), torque=BANG, times=TIMES, method="RK4")
    late = bang_bang([0.2, 0.2], 0, 0.5005, 1.0005)
    other = simulate(ARM, np.zeros(6), torque=late, times=TIMES, method="RK4")
    assert np.max(np.abs(held.q[-1] - other.q[-1])) > 1e-4


# ---------------------------------------------------------------------- claims about the paper
@pytest.mark.parametrize(("angle", "locked", "known"), [
    (0, False, (1.419869, 2.647356, 16.118666, 29.292233)),
    (0, True, (0.438134, 1.972811, 2.668917, 16.118995)),
    (math.pi / 2, False, (1.421006, 2.512776, 15.950122, 29.260327)),
    (math.pi / 2, True, (0.477959, 1.691430, 2.677858, 15.950322)),
])
def test_frequencies_of_the_assembled_arm(angle, locked, known):
    found = frequencies(ARM, [0, angle], locked)
    np.testing.assert_allclose(found[found > 0], known, atol=6e-7)


def test_structural_damping_makes_the_equations_stiff():
    """Real eigenvalues at −1148 and −28 1/s."""
    values = np.linalg.eigvals(linearisation(ARM, np.zeros(6), damping=0.1).A)
    real = np.sort(values[np.abs(values.imag) < 1e-6].real)
    np.testing.assert_allclose(real[:2], [-1148.4, -28.09], atol=0.05)
    np.testing.assert_allclose(np.diag(damping_matrix(ARM, 0.1))[2:],
                               0.1 * np.sqrt(np.diag(stiffness_matrix(ARM))[2:]), rtol=1e-15)


def test_B_is_indefinite_where_the_deflection_is_large():
    for d11, definite in ((-0.31, False), (-0.28, True), (0.39, True), (0.41, False)):
        B = inertia_matrix(ARM, np.array([0, np.pi / 2, d11, 0, 0, 0]))
        assert (np.linalg.eigvalsh(B)[0] > 0) == definite


@pytest.mark.parametrize(("q0", "damping", "order"), [
    (STRAIGHT, 0.0, 3), (STRAIGHT, 0.1, 3), (ANGLED, 0.1, 2)])
def test_the_truncation_costs_third_order_straight_and_second_at_an_angle(q0, damping, order):
    """Half the deflection, 2⁻ᵖ of the error. No foreshortening, so only the truncation differs."""
    t = [0, 0.5, 1, 1.5, 2]

    def error(size):
        start = np.concatenate([q0[:2], size * np.array(q0[2:])])
        exact = simulate(ARM, start, times=t, damping=damping,
                         model=ExactRotation(foreshortening=False))
        return np.max(np.abs(simulate(ARM, start, times=t, damping=damping).q - exact.q))

    np.testing.assert_allclose(error(1 / 4) / error(1 / 8), 2**order, rtol=0.01)


def test_the_tip_is_r3_of_the_paper_s_recursion():
    q = np.array([0.3, -0.4, 0.05, 0.01, 0.1, 0.002])
    y, s = ([modes.tip @ q[at] for modes, at in zip(ARM.modes, ARM.deflections, strict=True)],
            [modes.tip_slope @ q[at] for modes, at in zip(ARM.modes, ARM.deflections, strict=True)])
    A = [np.array([[np.cos(x), -np.sin(x)], [np.sin(x), np.cos(x)]]) for x in q[:2]]
    E = np.array([[1, -s[0]], [s[0], 1]])
    r3 = A[0] @ [0.5, y[0]] + A[0] @ E @ A[1] @ [0.5, y[1]]
    np.testing.assert_allclose(tip_position(ARM, q), r3, atol=1e-15)


def test_motions_of_the_paper_stay_in_the_small_deflection_range():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = simulate(ARM, np.zeros(6), torque=BANG, times=TIMES, method="RK4")
    assert 0.3 < np.max(run.slope) < 0.35
