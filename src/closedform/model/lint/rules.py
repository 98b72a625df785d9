"""Rules about inertias, units and limits that a link of a file and a body of a robot share."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from closedform.model.findings import Level
from closedform.model.inertia import Inertia

DENSEST = 22_600.0  # kg/m³, osmium
LONGEST, SHORTEST = 10.0, 1e-4  # m, radii of gyration of a link that is believed
ABSURD = 1e100  # kg m², from here on arithmetic overflows
HEAVY = 100.0  # kg, from here on a link too dense is taken to be written in grams


class Doubt(NamedTuple):
    """A finding without its place."""

    level: Level
    rule: str
    message: str
    repair: str


def inertia_doubts(mass: float, tensor: np.ndarray) -> Iterator[Doubt]:
    """What is wrong with a mass (not negative) and a tensor about its centre, about any axes."""
    if not np.abs(tensor).max() < ABSURD:
        yield Doubt(Level.ERROR, "inertia-unit", f"the tensor is larger than {ABSURD:g} kg m²",
                    "give mass, centre and tensor in kg, m and kg m²")
    elif mass == 0:
        if np.any(tensor != 0):
            yield Doubt(Level.WARNING, "tensor-without-mass", "a tensor without mass",
                        "give the mass, or remove the tensor")
    elif not np.any(tensor):
        yield Doubt(Level.WARNING, "zero-inertia", f"mass {mass:g} kg with a zero inertia tensor",
                    "give the tensor about the centre of mass")
    else:
        inertia = Inertia(mass, tensor=tensor)
        impossible = inertia.impossibility()
        if impossible is not None:
            yield Doubt(Level.WARNING, "impossible-inertia", impossible,
                        f"nearest possible: {tensor_text(inertia.nearest_possible().tensor)}")
        yield from _unit_doubts(mass, tensor)


def _unit_doubts(mass: float, tensor: np.ndarray) -> Iterator[Doubt]:
    """Radius of gyration r = √(I/m), and the mass of the densest ball that has it.

        I = ⅖ m R²,  m ≤ ρ 4/3 π R³

    Of all shapes of a volume the ball has the smallest largest moment: none is heavier for its r.
    """
    I = float(np.abs(np.linalg.eigvalsh(tensor)).max())
    r = math.sqrt(I / mass)
    heaviest = DENSEST * 4 / 3 * math.pi * (math.sqrt(2.5) * min(r, LONGEST)) ** 3
    if mass > max(HEAVY, heaviest) and r < LONGEST:
        yield Doubt(Level.WARNING, "mass-unit",
                    f"mass {mass:g} kg and radius of gyration {r:.3g} m: denser than any metal",
                    f"if the mass is in grams, it is {mass / 1000:g} kg")
    elif not SHORTEST < r < LONGEST:
        yield Doubt(Level.WARNING, "inertia-unit",
                    f"radius of gyration {r:.3g} m: mass {mass:g} kg, largest moment {I:.3g} kg m²",
                    "if the tensor is in kg mm² (or g mm²), multiply it by 1e-6 (1e-9)"
                    if r > 1 else "give the mass in kg and the tensor in kg m²")


def massless_doubt(carried: float) -> Doubt:
    """A body without mass on a moving joint, and the mass that hangs on it by further joints."""
    if carried > 0:
        return Doubt(Level.WARNING, "massless-body",
                     f"it moves and has no mass; the bodies it carries have {carried:.4g} kg",
                     "give it its mass, or leave it if it only stands between two joints")
    return Doubt(Level.ERROR, "massless-leaf",
                 "it moves, and neither it nor what it carries has mass: M is singular",
                 "give it its mass, or fix its joint")


def rounded_doubt(change: float) -> Doubt:
    """A rotation matrix with too few digits to be one."""
    return Doubt(Level.INFO, "rounded-rotation",
                 f"its rotation was written with few digits; entries changed by {change:.1e} to "
                 "make it orthonormal", "write all 16 digits, or angles")


def limit_doubts(lower: float | None, upper: float | None) -> Iterator[Doubt]:
    if lower is not None and upper is not None and lower > upper:
        yield Doubt(Level.ERROR, "limits-swapped",
                    f"lower limit {lower:g} is above the upper {upper:g}",
                    f"lower={upper:g}, upper={lower:g}")


def tensor_text(tensor: np.ndarray) -> str:
    names = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    return " ".join(f'{name}="{x:.9g}"' for name, x in zip(names, tensor[np.triu_indices(3)],
                                                          strict=True))
