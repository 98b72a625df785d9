"""Links that bend in the plane: records of beams, their hubs and shapes, and of the payload.

A link is a beam clamped to a hub at its inner end; it turns about the hub's joint. Density and
stiffness are numbers for a uniform link, functions of x (taking and returning arrays) for another.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.polynomial import Polynomial

from closedform.errors import ModelError

Along = Callable[[np.ndarray], np.ndarray]
"""A function of the place x along a link, vectorised."""

MAX_MODES = 400
"""Modes of one link; far beyond what the Euler–Bernoulli beam means."""


@final
@dataclass(frozen=True)
class Shape:
    """A deflection φ(x) that a link may take, with φ' and φ''; φ(0) = φ'(0) = 0: it is clamped."""

    value: Along
    slope: Along
    curvature: Along

    @classmethod
    def from_polynomial(cls, *coefficients: float) -> Shape:
        """c0 + c1 x + c2 x² + …; a clamped shape has c0 = c1 = 0."""
        p = Polynomial(coefficients)
        return cls(p, p.deriv(), p.deriv(2))


@final
@dataclass(frozen=True)
class FlexibleLink:
    """A beam with a hub at its inner end.

    `modes`: how many assumed modes; 0 makes the link rigid. `shapes`: the deflections to use
    instead of the link's own modes; then `modes` is their number. Friction acts at the hub's joint:
    viscous v + coulomb sign v.
    """

    length: float                          # m
    density: float | Along                 # kg/m
    stiffness: float | Along               # N m², EI
    hub_mass: float = 0.0                  # kg
    hub_inertia: float = 0.0               # kg m²
    modes: int = 2
    shapes: tuple[Shape, ...] = ()
    viscous: float = 0.0                   # N m s
    coulomb: float = 0.0                   # N m

    def __post_init__(self) -> None:
        _positive(self.length, "length", "m")
        if self.shapes:
            object.__setattr__(self, "shapes", tuple(self.shapes))
            object.__setattr__(self, "modes", len(self.shapes))
        if not isinstance(self.modes, int | np.integer) or not 0 <= self.modes <= MAX_MODES:
            raise ModelError(f"modes of a link is a whole number from 0 to {MAX_MODES}, "
                             f"not {self.modes!r}")
        for name, unit in (("hub_mass", "kg"), ("hub_inertia", "kg m²"), ("viscous", "N m s"),
                           ("coulomb", "N m")):
            _not_negative(getattr(self, name), name, unit)
        for name, unit in (("density", "kg/m"), ("stiffness", "N m²")):
            self._check_along(name, unit)
        for k, shape in enumerate(self.shapes):
            self._check_shape(shape, k)

    @property
    def uniform(self) -> bool:
        """Whether density and stiffness are the same all along."""
        return not callable(self.density) and not callable(self.stiffness)

    def density_at(self, x: np.ndarray) -> np.ndarray:
        """ρ(x), of the shape of x."""
        return _along(self.density, x)

    def stiffness_at(self, x: np.ndarray) -> np.ndarray:
        """EI(x), of the shape of x."""
        return _along(self.stiffness, x)

    def _check_along(self, name: str, unit: str) -> None:
        given = getattr(self, name)
        if not callable(given):
            (_positive if self.modes else _not_negative)(given, name, unit)
            return
        values = _along(given, np.linspace(0, self.length, 33))
        if values.shape != (33,) or not np.all(np.isfinite(values)) or np.any(values <= 0):
            raise ModelError(f"{name} of a link must be positive numbers in {unit} all along it, "
                             f"and a function that takes arrays; it gave {values!r}")

    def _check_shape(self, shape: Shape, k: int) -> None:
        at_hub = np.array([float(shape.value(np.zeros(1))[0]), float(shape.slope(np.zeros(1))[0])])
        scale = float(np.max(np.abs(shape.value(np.linspace(0, self.length, 9)))))
        if not np.all(np.isfinite(at_hub)) or np.any(np.abs(at_hub) > 1e-9 * max(scale, 1e-300)):
            raise ModelError(f"shape {k} of a link must be clamped, φ(0) = φ'(0) = 0; "
                             f"they are {at_hub[0]:g}, {at_hub[1]:g}")


@final
@dataclass(frozen=True)
class Payload:
    """A rigid body at the tip of the last link, its centre of mass at the tip."""

    mass: float = 0.0                      # kg
    inertia: float = 0.0                   # kg m²

    def __post_init__(self) -> None:
        _not_negative(self.mass, "mass", "kg", "a payload")
        _not_negative(self.inertia, "inertia", "kg m²", "a payload")


@final
@dataclass(frozen=True)
class TipLoad:
    """What a link carries at its end, for the mass boundary conditions (16)."""

    mass: float = 0.0                      # kg, M_L
    inertia: float = 0.0                   # kg m², J_L
    moment: float = 0.0                    # kg m, (MD)

    def __post_init__(self) -> None:
        _not_negative(self.mass, "mass", "kg", "a tip load")
        _not_negative(self.inertia, "inertia", "kg m²", "a tip load")
        if self.moment**2 > self.mass * self.inertia * (1 + 1e-12):
            raise ModelError(
                f"a tip load of {self.mass:g} kg and {self.inertia:g} kg m² cannot have the first "
                f"moment {self.moment:g} kg m; at most {math.sqrt(self.mass * self.inertia):g}")


def _along(given: float | Along, x: np.ndarray) -> np.ndarray:
    if callable(given):
        return np.asarray(given(x), dtype=float)
    return np.full(np.shape(x), float(given))


def _number(x: object, name: str, unit: str, of: str) -> float:
    if isinstance(x, bool) or not isinstance(x, int | float | np.number) or not math.isfinite(x):
        raise ModelError(f"{name} of {of} must be a finite number in {unit}, not {x!r}")
    return float(x)


def _positive(x: object, name: str, unit: str, of: str = "a link") -> None:
    if _number(x, name, unit, of) <= 0:
        raise ModelError(f"{name} of {of} must be positive, in {unit}; it is {x!r}")


def _not_negative(x: object, name: str, unit: str, of: str = "a link") -> None:
    if _number(x, name, unit, of) < 0:
        raise ModelError(f"{name} of {of} must not be negative, in {unit}; it is {x!r}")
