"""Random robots at special places: parallel, perpendicular, coaxial, concurrent, oblique axes."""

from __future__ import annotations

import math

import numpy as np

from closedform.maths.papers.gautier_khalil import Link
from closedform.model.formats.dh import from_modified_dh
from closedform.model.inertia import Inertia
from closedform.model.robot import Robot

TWISTS = (0.0, 0.0, math.pi / 2, -math.pi / 2, math.pi, 0.7, -0.4)
LENGTHS = (0.0, 0.0, 0.0, 0.3, -0.45)
TURNS = (0.0, math.pi / 2, 0.6)
GRAVITIES = ((0, 0, -9.81), (0, -9.81, 0), (0, 0, 0), (3.0, -4.0, -5.0))


def random_links(rng: np.random.Generator, most: int = 5) -> list[Link]:
    """A serial table of rotational and translational joints."""
    def one() -> Link:
        pick = lambda values: values[rng.integers(len(values))]
        return Link(int(rng.random() < 0.35), pick(TWISTS), pick(LENGTHS), pick(TURNS),
                    pick(LENGTHS))
    return [one() for _ in range(rng.integers(1, most + 1))]


def random_gravity(rng: np.random.Generator) -> tuple[float, ...]:
    return GRAVITIES[rng.integers(len(GRAVITIES))]


def serial(links: list[Link], gravity: tuple[float, ...], rng: np.random.Generator) -> Robot:
    """The robot of a table with random parameters."""
    inertias = [Inertia.from_parameters(rng.normal(size=10)) for _ in links]
    return from_modified_dh([tuple(link) for link in links], gravity=gravity, inertias=inertias)


def special_serial(seed: int) -> Robot:
    rng = np.random.default_rng(seed)
    return serial(random_links(rng), random_gravity(rng), rng)


def special_tree(seed: int) -> Robot:
    """Branches, several roots, fixed joints and rotor inertias, all at special places."""
    rng = np.random.default_rng(seed)
    rows = []
    for j, link in enumerate(random_links(rng, 6)):
        row = {**link._asdict(), "antecedent": int(rng.integers(0, j + 1)),
               "gamma": TURNS[rng.integers(3)], "b": LENGTHS[rng.integers(5)],
               "inertia": Inertia.from_parameters(rng.normal(size=10))}
        if rng.random() < 0.15:
            row["sigma"] = 2
        elif rng.random() < 0.3:
            row["rotor_inertia"] = float(rng.uniform(0, 1))
        rows.append(row)
    return from_modified_dh(rows, gravity=random_gravity(rng))
