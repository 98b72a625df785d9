"""Assumed modes of one link: frequencies, shapes and the integrals that the arm's equations need.

A link is clamped at x = 0 and carries a mass, an inertia and a first moment at x = ℓ:

    EI φ'''' = ω² ρ φ,   φ(0) = φ'(0) = 0,                                       (i)
    EI φ''(ℓ)  =  ω² (J_L φ'(ℓ) + (MD) φ(ℓ)),                                   (ii)
    EI φ'''(ℓ) = −ω² (M_L φ(ℓ) + (MD) φ'(ℓ)).                                  (iii)

Modes are normalised to the modal mass m of the link, with φ''(0) > 0:

    ∫ρ φ_j φ_k dx + M_L φ_j φ_k + J_L φ'_j φ'_k + (MD)(φ_j φ'_k + φ'_j φ_k) = m [j = k]  (iv)

with the tip's values outside the integral. Then ∫EI φ''_j φ''_k dx = ω_j² m [j = k].

Cites: [DeLucaSiciliano1991, eqs. (14)–(31)]. Their (30) as printed, z_jj = m for the beam alone,
contradicts their numbers; (iv) gives them. Their (24g) lacks the primes of φ'', and (27b) has a
factor ½ too many at (MD); see `tests/papers/test_deluca_siciliano.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, final

import numpy as np
from numpy.polynomial import Legendre

from closedform.errors import ModelError
from closedform.model.elasticity.beam import FlexibleLink, Shape, TipLoad

SMALL = 1e-3
"""The smallest βℓ looked for: a load of 3e12 times the link's mass."""

HIGH = 8.0
"""Above this βℓ shapes are written with decaying exponentials, below with sinh and cosh."""


@final
@dataclass(frozen=True, eq=False)
class LinkModes:
    """A link's assumed modes and integrals, after (24) of the paper."""

    link: FlexibleLink
    load: TipLoad
    shapes: tuple[Shape, ...]
    frequencies: np.ndarray      # (m,) Hz, of the clamped link with its load
    tip: np.ndarray              # (m,) φ_j(ℓ)
    tip_slope: np.ndarray        # (m,) φ'_j(ℓ)
    v: np.ndarray                # (m,) ∫ρ φ_j dx
    w: np.ndarray                # (m,) ∫ρ x φ_j dx
    z: np.ndarray                # (m, m) ∫ρ φ_j φ_k dx
    elasticity: np.ndarray       # (m, m) ∫EI φ''_j φ''_k dx
    mass: float             # kg, ∫ρ dx
    first_moment: float     # kg m, ∫ρ x dx = m d
    inertia: float          # kg m², ∫ρ x² dx = J_o

    @property
    def stiffness(self) -> np.ndarray:
        """The diagonal of `elasticity`, (m,): ω² m for the link's own modes."""
        return np.diag(self.elasticity).copy()

    def deflections(self, x: np.ndarray) -> np.ndarray:
        """φ_j(x), (points, m)."""
        return _columns([shape.value(x) for shape in self.shapes], x)

    def slopes(self, x: np.ndarray) -> np.ndarray:
        """φ'_j(x), (points, m)."""
        return _columns([shape.slope(x) for shape in self.shapes], x)

    def curvatures(self, x: np.ndarray) -> np.ndarray:
        """φ''_j(x), (points, m)."""
        return _columns([shape.curvature(x) for shape in self.shapes], x)

    def points(self) -> tuple[np.ndarray, np.ndarray]:
        """Gauss points and weights on (0, ℓ), enough for products of these shapes."""
        return gauss(self.link.length, len(self.shapes))


def link_modes(link: FlexibleLink, load: TipLoad) -> LinkModes:
    """The modes of a link: its own by the frequency equation or by Ritz, or the shapes given."""
    if link.shapes or not link.modes:
        return _with_integrals(link, load, link.shapes)
    if link.uniform:
        return uniform_modes(link, load)
    return ritz_modes(link, load)


def uniform_modes(link: FlexibleLink, load: TipLoad) -> LinkModes:
    """The first modes of a uniform link, from the roots of its frequency equation."""
    roots = wave_numbers(link, load, link.modes)
    unscaled = _with_integrals(link, load, [uniform_shape(link, load, beta) for beta in roots])
    scaled = _normalised(unscaled)
    rho, EI = float(link.density), float(link.stiffness)  # type: ignore[arg-type]
    omega = roots**2 * math.sqrt(EI / rho)
    return LinkModes(**{**vars(scaled), "frequencies": omega / (2 * math.pi),
                        "elasticity": np.diag(omega**2 * scaled.mass)})


def frequency_equation(link: FlexibleLink, load: TipLoad, beta: float) -> float:
    """e^{−βℓ} times the left side of the frequency equation; zero at the modes.

        (1 + c C) − (M β/ρ)(s C − c S) − (J β³/ρ)(s C + c S) − (2 MD β²/ρ) s S
            + ((M J − MD²) β⁴/ρ²)(1 − c C) = 0

    with c, s, C, S the cosine, sine, cosh, sinh of βℓ; e^{−βℓ} keeps it bounded for every mode.
    Cites: [DeLucaSiciliano1991, eq. (22)], which is the case MD = 0.
    """
    rho, x = float(link.density), beta * link.length  # type: ignore[arg-type]
    c, s, one = math.cos(x), math.sin(x), math.exp(-x)
    C, S = (1 + one**2) / 2, -math.expm1(-2 * x) / 2
    M, J, MD = load.mass * beta / rho, load.inertia * beta**3 / rho, load.moment * beta**2 / rho
    return (one + c * C - M * (s * C - c * S) - J * (s * C + c * S)
            - 2 * MD * s * S + (M * J - MD**2) * (one - c * C))


def wave_numbers(link: FlexibleLink, load: TipLoad, count: int) -> np.ndarray:
    """The first β = (ω² ρ/EI)^¼, each in an interval that holds one mode and no other, (count,)."""
    roots = []
    for j in range(count):
        low, high = SMALL / link.length, (j + 2) * math.pi / link.length
        if modes_below(link, load, low) > j:
            raise ModelError(f"a link of {link.length:g} m carries {load}: too heavy for its mode "
                             f"{j + 1} to be told from zero")
        while modes_below(link, load, high) <= j:
            high *= 1.5
        while modes_below(link, load, low) < j or modes_below(link, load, high) > j + 1:
            middle = (low + high) / 2
            if modes_below(link, load, middle) <= j:
                low = middle
            else:
                high = middle
        roots.append(_root(link, load, low, high, j))
    return np.array(roots)


def _root(link: FlexibleLink, load: TipLoad, low: float, high: float, j: int) -> float:
    """The root between two wave numbers, by sign of the equation, or by count where signs agree."""
    if frequency_equation(link, load, low) * frequency_equation(link, load, high) < 0:
        from scipy.optimize import brentq  # slow to import
        return float(brentq(lambda b: frequency_equation(link, load, b), low, high,
                            xtol=1e-300, rtol=4 * np.finfo(float).eps))
    while high - low > 4 * np.finfo(float).eps * high:
        middle = (low + high) / 2
        low, high = (middle, high) if modes_below(link, load, middle) <= j else (low, middle)
    return (low + high) / 2


def modes_below(link: FlexibleLink, load: TipLoad, beta: float) -> int:
    """How many modes have a smaller wave number: no mode is missed, however close two are.

    The modes of the clamped-clamped beam below β, and the negative eigenvalues of the tip's dynamic
    stiffness [a b; b d] (Wittrick and Williams).
    """
    x = beta * link.length
    c, s, one = math.cos(x), math.sin(x), math.exp(-x)
    C, S = (1 + one**2) / 2, -math.expm1(-2 * x) / 2
    delta = one - c * C
    rho = float(link.density)  # type: ignore[arg-type]
    a = (c * S + s * C) / delta - load.mass * beta / rho
    b = -s * S / delta - load.moment * beta**2 / rho
    d = (s * C - c * S) / delta - load.inertia * beta**3 / rho
    determinant = a * d - b * b
    return _clamped_below(x) + (1 if determinant < 0 else 2 if a < 0 and determinant > 0 else 0)


def _clamped_below(x: float) -> int:
    """How many roots of cos x cosh x = 1 lie in (0, x).

    They lie near (k + ½)π, k = 1, 2, …, and cos x − 1/cosh x is positive after an odd number.
    """
    nearest = max(round(x / math.pi - 0.5), 0)
    positive = math.cos(x) * (1 + math.exp(-2 * x)) > 2 * math.exp(-x)
    return nearest if nearest == 0 or (nearest % 2 == 1) == positive else nearest - 1


def uniform_shape(link: FlexibleLink, load: TipLoad, beta: float) -> Shape:
    """The shape that goes with a root β of the frequency equation, not normalised.

        φ = a (sin βx − sinh βx) + b (cos βx − cosh βx)                                  (v)

    For high modes the growing parts cancel; then the same functions are taken as

        φ = a sin βx + b cos βx + p e^{−βx} + r e^{−β(ℓ−x)},                            (vi)
        a = p − r e^{−βℓ},  b = −p − r e^{−βℓ},                                        (vii)

    none of which is large. (a, b) or (p, r) is the null vector of the conditions (ii), (iii).
    """
    basis = _low_basis(beta) if beta * link.length < HIGH else _high_basis(beta, link.length)
    at_tip = [[float(f(np.array(link.length))) for f in function] for function in basis]
    mass = beta / float(link.density)  # type: ignore[arg-type]
    rows = np.array([
        [d2 - mass * (load.inertia * beta**2 * d1 + load.moment * beta * d0) for d0, d1, d2, _ in
         at_tip],
        [d3 + mass * (load.mass * d0 + load.moment * beta * d1) for d0, d1, _, d3 in at_tip]])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    factors = np.linalg.svd(rows)[2][-1]
    return Shape(*(_combination(factors, [function[k] for function in basis], beta**k)
                   for k in range(3)))


Ladder = list[Callable[[np.ndarray], np.ndarray]]
"""A function of x and its derivatives 1 to 3, each divided by its power of β."""


def _waves(k: int, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The k-th derivatives of sin u and cos u."""
    s, c = np.sin(u), np.cos(u)
    return ((s, c), (c, -s), (-s, -c), (-c, s))[k]


def _low_basis(beta: float) -> list[Ladder]:
    """The two functions of (v)."""
    def first(k: int) -> Callable[[np.ndarray], np.ndarray]:
        return lambda x: _waves(k, beta * x)[0] - (np.cosh if k % 2 else np.sinh)(beta * x)

    def second(k: int) -> Callable[[np.ndarray], np.ndarray]:
        return lambda x: _waves(k, beta * x)[1] - (np.sinh if k % 2 else np.cosh)(beta * x)

    return [[first(k) for k in range(4)], [second(k) for k in range(4)]]


def _high_basis(beta: float, length: float) -> list[Ladder]:
    """The two functions of (vi) and (vii), that of p and that of r."""
    one = math.exp(-beta * length)

    def decaying(k: int) -> Callable[[np.ndarray], np.ndarray]:
        def function(x: np.ndarray) -> np.ndarray:
            s, c = _waves(k, beta * x)
            return s - c + (-1)**k * np.exp(-beta * x)
        return function

    def growing(k: int) -> Callable[[np.ndarray], np.ndarray]:
        def function(x: np.ndarray) -> np.ndarray:
            s, c = _waves(k, beta * x)
            return -one * (s + c) + np.exp(-beta * (length - x))
        return function

    return [[decaying(k) for k in range(4)], [growing(k) for k in range(4)]]


def _combination(factors: np.ndarray, functions: Sequence[Callable[[np.ndarray], np.ndarray]],
                 scale: float) -> Callable[[np.ndarray], np.ndarray]:
    def value(x: np.ndarray) -> np.ndarray:
        return scale * (factors[0] * functions[0](x) + factors[1] * functions[1](x))
    return value


def ritz_modes(link: FlexibleLink, load: TipLoad) -> LinkModes:
    """The first modes of any link, by Ritz' method with x² times Legendre polynomials.

    The polynomials are complete; with 14 more than the modes asked for the error is one of rounding
    for links whose density and stiffness are smooth.
    """
    basis = [_clamped_polynomial(link.length, k) for k in range(link.modes + 14)]
    trial = _with_integrals(link, load, basis)
    from scipy.linalg import eigh  # slow to import
    squares, vectors = eigh(trial.elasticity, modal_mass(trial))
    shapes = [_mixture(basis, vectors[:, j]) for j in range(link.modes)]
    modes = _normalised(_with_integrals(link, load, shapes))
    return LinkModes(**{**vars(modes),
                        "frequencies": np.sqrt(squares[:link.modes]) / (2 * math.pi)})


def _clamped_polynomial(length: float, k: int) -> Shape:
    p = Legendre([0, 0, 1], domain=[-length, length]) + Legendre([0.5], domain=[-length, length])
    square = p / 1.5                                           # (x/ℓ)²
    whole = square.convert(domain=[0, length], window=[-1, 1]) * Legendre.basis(
        k, domain=[0, length])
    return Shape(whole, whole.deriv(), whole.deriv(2))


def _mixture(basis: Sequence[Shape], factors: np.ndarray) -> Shape:
    value: Any = sum(f * b.value for f, b in zip(factors, basis, strict=True))
    return Shape(value, value.deriv(), value.deriv(2))


def modal_mass(modes: LinkModes) -> np.ndarray:
    """The left side of (iv), (m, m)."""
    tip, slope, load = modes.tip, modes.tip_slope, modes.load
    cross = np.outer(tip, slope)
    return (modes.z + load.mass * np.outer(tip, tip) + load.inertia * np.outer(slope, slope)
            + load.moment * (cross + cross.T))


def _normalised(modes: LinkModes) -> LinkModes:
    """The same shapes with modal mass m and φ''(0) > 0."""
    at_hub = modes.curvatures(np.zeros(1))[0]
    scale = np.sign(at_hub) * np.sqrt(modes.mass / np.diag(modal_mass(modes)))
    shapes = [Shape(*(_combination(np.array([f, 0.0]), [g, g], 1.0)
                      for g in (shape.value, shape.slope, shape.curvature)))
              for f, shape in zip(scale, modes.shapes, strict=True)]
    return _with_integrals(modes.link, modes.load, shapes)


def _with_integrals(link: FlexibleLink, load: TipLoad, shapes: Sequence[Shape]) -> LinkModes:
    """The integrals (24) by Gauss' quadrature; frequencies by Ritz over these shapes."""
    x, weights = gauss(link.length, len(shapes))
    rho, EI = weights * link.density_at(x), weights * link.stiffness_at(x)
    phi = _columns([shape.value(x) for shape in shapes], x)
    bent = _columns([shape.curvature(x) for shape in shapes], x)
    end = np.array([link.length])
    modes = LinkModes(
        link, load, tuple(shapes), np.zeros(len(shapes)),
        tip=_columns([shape.value(end) for shape in shapes], end)[0],
        tip_slope=_columns([shape.slope(end) for shape in shapes], end)[0],
        v=rho @ phi, w=(rho * x) @ phi, z=phi.T @ (rho[:, None] * phi),
        elasticity=bent.T @ (EI[:, None] * bent),
        mass=float(np.sum(rho)), first_moment=float(rho @ x), inertia=float(rho @ x**2))
    if not shapes:
        return modes
    from scipy.linalg import eigh  # slow to import
    squares = eigh(modes.elasticity, modal_mass(modes), eigvals_only=True)
    return LinkModes(**{**vars(modes),
                        "frequencies": np.sqrt(np.maximum(squares, 0)) / (2 * math.pi)})


@cache
def _sixteen() -> tuple[np.ndarray, np.ndarray]:
    return np.polynomial.legendre.leggauss(16)


def gauss(length: float, modes: int) -> tuple[np.ndarray, np.ndarray]:
    """Points and weights on (0, length), sixteen of Gauss' in each of modes/2 + 4 panels."""
    (x, weights), panels = _sixteen(), modes // 2 + 4
    half = length / panels / 2
    middles = (2 * np.arange(panels) + 1) * half
    return (middles[:, None] + half * x).ravel(), np.tile(weights * half, panels)


def _columns(values: Sequence[np.ndarray], x: np.ndarray) -> np.ndarray:
    return np.stack([np.asarray(v, dtype=float) for v in values], axis=-1) if values else np.zeros(
        (len(x), 0))
