"""Modes of one link: boundary conditions, orthogonality, high modes, other methods, limits."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from closedform.errors import ModelError
from closedform.maths.flexible.modes import (
    frequency_equation,
    link_modes,
    modal_mass,
    modes_below,
    ritz_modes,
    wave_numbers,
)
from closedform.model.elasticity.beam import FlexibleLink, Shape, TipLoad

LOADS = [TipLoad(), TipLoad(0.1, 0.0005), TipLoad(1.2, 0.1338), TipLoad(0.3, 0.02, 0.07),
         TipLoad(0.3, 0.02, -0.07), TipLoad(0.0, 0.1), TipLoad(50.0, 0.0)]
EPS = np.finfo(float).eps


def link(modes=4, length=0.5):
    return FlexibleLink(length, 0.2, 1.0, modes=modes)


def test_a_cantilever_has_the_wave_numbers_of_the_textbook():
    """Roots of 1 + cos x cosh x = 0."""
    found = 0.5 * wave_numbers(link(), TipLoad(), 4)
    np.testing.assert_allclose(
        found, [1.875104068711961, 4.694091132974175, 7.854757438237613, 10.995540734875467],
        rtol=8 * EPS)


@pytest.mark.parametrize("load", LOADS, ids=str)
def test_modes_obey_the_mass_conditions_at_the_tip(load):
    """EI φ''(ℓ) = ω²(J φ' + MD φ) and EI φ'''(ℓ) = −ω²(M φ + MD φ'), against ∫ of φ''''."""
    modes = link_modes(link(), load)
    omega2 = (2 * math.pi * modes.frequencies)**2
    end = np.array([0.5])
    tip, slope = modes.tip, modes.tip_slope
    bent = modes.curvatures(end)[0]
    third = -omega2 * (load.mass * tip + load.moment * slope)
    at_hub = third - omega2 * modes.v                # EI φ'''(0) = EI φ'''(ℓ) − ω² ∫ρ φ dx
    scale = np.abs(modes.curvatures(np.zeros(1))[0])
    np.testing.assert_allclose(bent / scale, omega2 * (load.inertia * slope + load.moment * tip)
                               / scale, atol=1e-10)
    h = 1e-6
    third_at_hub = (modes.curvatures(np.array([h])) - modes.curvatures(np.array([0.0])))[0] / h
    np.testing.assert_allclose(third_at_hub / scale, at_hub / scale, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("load", LOADS, ids=str)
@pytest.mark.parametrize("count", [4, 40])
def test_modes_are_orthogonal_with_their_loads_and_have_the_link_s_mass(load, count):
    modes = link_modes(link(count), load)
    np.testing.assert_allclose(modal_mass(modes) / modes.mass, np.eye(count), atol=1e-11)
    assert np.all(modes.curvatures(np.zeros(1)) > 0)


@pytest.mark.parametrize("load", LOADS, ids=str)
def test_bending_energy_of_a_mode_is_omega_squared_times_the_mass(load):
    modes = link_modes(link(8), load)
    x, weights = modes.points()
    bent = modes.curvatures(x)
    k = bent.T @ (weights[:, None] * bent)
    scale = np.sqrt(np.outer(modes.stiffness, modes.stiffness))
    np.testing.assert_allclose(k / scale, np.eye(8), atol=1e-11)


def test_two_hundred_modes_are_finite_and_approach_their_asymptotic_spacing():
    modes = link_modes(link(200), TipLoad(0.1, 0.0005))
    beta = (2 * np.pi * modes.frequencies)**0.5 * 0.2**0.25
    np.testing.assert_allclose(np.diff(0.5 * beta)[-20:], np.pi, rtol=1e-4)
    values = modes.deflections(np.linspace(0, 0.5, 2001))
    assert np.all(np.isfinite(values))
    assert np.max(np.abs(values)) < 2.5                # no growing exponential is left


@pytest.mark.parametrize("load", LOADS, ids=str)
def test_the_frequency_equation_is_the_paper_s_with_the_first_moment_added(load):
    """−2 MD β²/ρ sin sinh is added and M J becomes M J − MD²; without scaling."""
    beam = link()
    for beta in (0.7, 2.0, 5.3):
        x, M, J, MD = 0.5 * beta, load.mass / 0.2, load.inertia / 0.2, load.moment / 0.2
        c, s, C, S = math.cos(x), math.sin(x), math.cosh(x), math.sinh(x)
        paper = (1 + c * C - M * beta * (s * C - c * S) - J * beta**3 * (s * C + c * S)
                 + (M * J - MD**2) * beta**4 * (1 - c * C) - 2 * MD * beta**2 * s * S)
        scale = (1 + M * beta) * (1 + J * beta**3) * C
        assert abs(frequency_equation(beam, load, beta) * math.exp(x) - paper) < 32 * EPS * scale


@settings(max_examples=30, deadline=None)
@given(st.floats(0, 20), st.floats(0, 1), st.floats(-1, 1))
def test_no_mode_is_missed_whatever_the_load(mass, inertia, part):
    """The count of Wittrick and Williams between two roots, and Ritz' frequencies."""
    load = TipLoad(mass, inertia, 0.99 * part * math.sqrt(mass * inertia))
    beam = link(5)
    beta = wave_numbers(beam, load, 5)
    assert np.all(np.diff(beta) > 0)
    between = (beta[1:] + beta[:-1]) / 2
    assert [modes_below(beam, load, b) for b in between] == [1, 2, 3, 4]
    ritz = ritz_modes(beam, load).frequencies
    np.testing.assert_allclose(ritz, beta**2 * math.sqrt(5) / (2 * math.pi), rtol=1e-7)


def test_a_heavy_load_on_a_light_link_is_the_mass_on_a_spring():
    """ω² → 3 EI/(M ℓ³) for M ≫ ρℓ."""
    f = link_modes(link(1), TipLoad(1e4, 0.0)).frequencies[0]
    # Rayleigh: the beam adds 33/140 of its 0.1 kg
    np.testing.assert_allclose((2 * math.pi * f)**2, 3 / (1e4 * 0.5**3), rtol=34 / 140 * 1e-5)


def test_a_non_uniform_link_that_is_uniform_has_the_same_modes():
    load = TipLoad(0.1, 0.0005, 0.003)
    exact = link_modes(link(3), load)
    ritz = link_modes(FlexibleLink(0.5, lambda x: 0.2 + 0 * x, lambda x: 1 + 0 * x, modes=3), load)
    np.testing.assert_allclose(ritz.frequencies, exact.frequencies, rtol=1e-9)
    np.testing.assert_allclose(ritz.tip, exact.tip, rtol=1e-8)
    np.testing.assert_allclose(ritz.w, exact.w, rtol=1e-8)


def test_a_sharp_wedge_has_kirchhoff_s_frequency():
    """Density ∝ (1 − x), stiffness ∝ (1 − x)³: ω = 5.315 √(EI_0/ρ_0)/ℓ², almost to the point."""
    end = 1 + 1e-9
    wedge = FlexibleLink(1.0, lambda x: end - x, lambda x: (end - x)**3, modes=1)
    np.testing.assert_allclose(2 * math.pi * link_modes(wedge, TipLoad()).frequencies[0], 5.3151,
                               atol=5e-5)


def test_integrals_of_given_shapes_are_those_of_their_polynomials():
    """φ = x², x³ on (0, ½): z_12 = ρ ℓ⁶/6, k_12 = ∫ 2·6x = 6 ℓ²."""
    given_shapes = FlexibleLink(0.5, 0.2, 1.0, shapes=[Shape.from_polynomial(0, 0, 1),
                                                       Shape.from_polynomial(0, 0, 0, 1)])
    modes = link_modes(given_shapes, TipLoad(0.1, 0.0005))
    np.testing.assert_allclose(modes.v, [0.2 * 0.5**3 / 3, 0.2 * 0.5**4 / 4], rtol=1e-14)
    np.testing.assert_allclose(modes.w, [0.2 * 0.5**4 / 4, 0.2 * 0.5**5 / 5], rtol=1e-14)
    np.testing.assert_allclose(modes.z[0, 1], 0.2 * 0.5**6 / 6, rtol=1e-14)
    np.testing.assert_allclose(modes.elasticity, [[2.0, 1.5], [1.5, 1.5]], rtol=1e-14)
    np.testing.assert_allclose(modes.tip_slope, [1.0, 0.75], rtol=1e-14)
    exact = link_modes(link(2), TipLoad(0.1, 0.0005)).frequencies
    assert np.all(modes.frequencies >= exact)           # Ritz bounds from above


def test_a_load_too_heavy_to_tell_its_mode_from_zero_is_refused():
    with pytest.raises(ModelError, match="too heavy for its mode 1"):
        link_modes(link(1), TipLoad(1e15, 0.0))
