"""Friction laws that are linear in their numbers, one column for each number.

    viscous v    Coulomb s    offset 1    Stribeck s / (1 + (v/v_s)²)           s ≈ sign(v)

and, with other numbers for each direction, v (1 ± s)/2 and (s ± 1)/2. The sign is the smooth one of
`maths.coulomb`; its scale comes from the noise of the velocity. (Stribeck's bump is the rational
one, not an exponential, so that programs can hold it.)

Cites: [HessSoom1990] for the bump.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from closedform.arrays import Array, namespace
from closedform.maths.coulomb import smoothed_sign

FrictionLaw = Callable[[Array, Array, float], Array]


def _stribeck(v: Array, s: Array, speed: float) -> Array:
    return s / (1 + (v / speed) * (v / speed))


LAWS: dict[str, dict[str, FrictionLaw]] = {
    "viscous": {"viscous": lambda v, s, speed: v},
    "coulomb": {"coulomb": lambda v, s, speed: s},
    "offset": {"offset": lambda v, s, speed: 1 + 0 * v},
    "asymmetric": {"coulomb_forward": lambda v, s, speed: (s + 1) / 2,
                   "coulomb_backward": lambda v, s, speed: (s - 1) / 2},
    "asymmetric_viscous": {"viscous_forward": lambda v, s, speed: v * (1 + s) / 2,
                           "viscous_backward": lambda v, s, speed: v * (1 - s) / 2},
    "stribeck": {"stribeck": _stribeck},
}
"""What each term adds: the names of its numbers, and their columns of (v, s, v_s)."""
CLASHES = (("coulomb", "asymmetric"), ("offset", "asymmetric"), ("viscous", "asymmetric_viscous"))
"""Terms whose columns are not independent of each other."""


def friction_names(terms: Sequence[str]) -> tuple[str, ...]:
    """The numbers that the terms have, in order."""
    return tuple(name for term in terms for name in LAWS[term])


def friction_columns(terms: Sequence[str], v: Array, slip: Array, speed: float) -> Array:
    """(numbers,): the friction torque of one joint is their product with the numbers."""
    s, xp = smoothed_sign(v, slip), namespace(v, slip)
    return xp.stack([law(v, s, speed) for term in terms for law in LAWS[term].values()])
