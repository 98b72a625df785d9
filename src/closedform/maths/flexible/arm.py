"""A planar arm of flexible links: its links with their assumed modes, its coordinates and moments.

Coordinates are q = (θ_1 … θ_n, δ_11 … δ_1m, …, δ_n1 …): joint angles, then deflections by link.
Link i bends by y_i(x) = Σ_j φ_ij(x) δ_ij.

Cites: [DeLucaSiciliano1991, eqs. (17), (24), (28), (29)].
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import final

import numpy as np

from closedform.arrays import NO_ARRAY
from closedform.errors import ModelError
from closedform.maths.flexible.modes import LinkModes, link_modes
from closedform.model.elasticity.beam import FlexibleLink, Payload, TipLoad
from closedform.model.names import checked_name

MAX_LINKS = 30
NOTHING = Payload()


@final
@dataclass(frozen=True, eq=False)
class FlexibleArm:
    """Flexible links in a row, each turning at the end of the one before, with a payload.

    `gravity` is a vector in the plane, none by default: the paper's arm moves horizontally.
    `reference` are the joint angles (n,) at which the loads of the mode shapes are taken. Without
    it they are the paper's: inertias of the straight arm and (MD) = 0.
    """

    links: tuple[FlexibleLink, ...]
    payload: Payload = NOTHING
    gravity: tuple[float, float] = (0.0, 0.0)      # m/s²
    reference: tuple[float, ...] | None = None     # rad
    name: str = "flexible arm"

    def __post_init__(self) -> None:
        checked_name(self.name, "arm")
        links = tuple(self.links) if isinstance(self.links, Sequence) else ()
        if not 1 <= len(links) <= MAX_LINKS or not all(isinstance(x, FlexibleLink) for x in links):
            raise ModelError(f"an arm has 1 to {MAX_LINKS} FlexibleLinks, not {self.links!r}")
        if not isinstance(self.payload, Payload):
            raise ModelError(f"the payload of an arm is a Payload, not {self.payload!r}")
        object.__setattr__(self, "links", links)
        object.__setattr__(self, "gravity", _numbers(self.gravity, 2, "gravity"))
        if self.reference is not None:
            object.__setattr__(self, "reference", _numbers(self.reference, len(links), "reference"))

    def with_payload(self, payload: Payload) -> FlexibleArm:
        """The same links with another payload, and the mode shapes that go with it."""
        return replace(self, payload=payload)

    @property
    def n(self) -> int:
        """The number of links."""
        return len(self.links)

    @cached_property
    def nq(self) -> int:
        """The number of coordinates, N = n + Σ m_i."""
        return self.n + sum(link.modes for link in self.links)

    @cached_property
    def deflections(self) -> tuple[slice, ...]:
        """Where the deflections of each link stand in q."""
        stops = np.cumsum([self.n, *[link.modes for link in self.links]])
        return tuple(slice(int(a), int(b)) for a, b in pairwise(stops))

    @cached_property
    def coordinate_names(self) -> tuple[str, ...]:
        """θ1, …, δ11, δ12, …"""
        angles = [f"θ{i + 1}" for i in range(self.n)]
        bends = [f"δ{i + 1}{j + 1}" if max(link.modes, self.n) < 10 else f"δ{i + 1},{j + 1}"
                 for i, link in enumerate(self.links) for j in range(link.modes)]
        return tuple(angles + bends)

    @cached_property
    def loads(self) -> tuple[TipLoad, ...]:
        """What each link carries at its end, for its mode shapes."""
        return tip_loads(self)

    @cached_property
    def modes(self) -> tuple[LinkModes, ...]:
        """The assumed modes of each link."""
        return tuple(link_modes(link, load)
                     for link, load in zip(self.links, self.loads, strict=True))

    def __repr__(self) -> str:
        modes = ", ".join(str(link.modes) for link in self.links)
        return f"<FlexibleArm {self.name}: {self.n} links with {modes} modes>"


def tip_loads(arm: FlexibleArm) -> tuple[TipLoad, ...]:
    """Mass, inertia about the next joint and first moment along the link of all beyond each link.

        M_Li = Σ_{k>i} (m_k + m_hk) + m_p                                              (28)

    J_L and (MD) of the undeformed arm at its reference; with none, straight and (MD) = 0, which for
    two links is the paper's (28) at θ_2 = ±π/2.
    """
    angles = arm.reference or (0.0,) * arm.n
    mass, inertia, moment = arm.payload.mass, arm.payload.inertia, 0j
    loads = []
    for i in reversed(range(arm.n)):
        along = moment.real if arm.reference else 0.0
        loads.append(TipLoad(mass, inertia, along))
        rigid = link_modes(replace(arm.links[i], shapes=(), modes=0), TipLoad())
        length = arm.links[i].length
        inertia = (arm.links[i].hub_inertia + rigid.inertia + inertia
                   + 2 * length * moment.real + mass * length**2)
        turn = complex(math.cos(angles[i]), math.sin(angles[i]))
        moment = turn * (rigid.first_moment + mass * length + moment)
        mass += rigid.mass + arm.links[i].hub_mass
    return tuple(reversed(loads))


def moments(arm: FlexibleArm) -> tuple[np.ndarray, ...]:
    """For each link Γ_i = ∫ b bᵀ dm over its hub and beam, the last with the payload's mass.

        b(x) = (1, x, φ_1, …, φ_m),   Γ_i = [m  md  v; md  J_o  w; vᵀ  wᵀ  z] + m_h e_1 e_1ᵀ

    Any point of link i is b(x) in the link's frame: the equations need no other integrals.
    """
    found = []
    for link, modes in zip(arm.links, arm.modes, strict=True):
        G = np.zeros((2 + link.modes,) * 2)
        G[:2, :2] = [[modes.mass + link.hub_mass, modes.first_moment],
                     [modes.first_moment, modes.inertia]]
        G[0, 2:] = G[2:, 0] = modes.v
        G[1, 2:] = G[2:, 1] = modes.w
        G[2:, 2:] = modes.z
        found.append(G)
    tip = tip_basis(arm, arm.n - 1)
    found[-1] = found[-1] + arm.payload.mass * np.outer(tip, tip)
    return tuple(found)


def tip_basis(arm: FlexibleArm, i: int) -> np.ndarray:
    """b(ℓ) = (1, ℓ, φ_1(ℓ), …) of link i."""
    return np.concatenate([[1.0, arm.links[i].length], arm.modes[i].tip])


def _numbers(given: object, size: int, what: str) -> tuple[float, ...]:
    try:
        a = np.array(given, dtype=float)
    except NO_ARRAY:
        a = np.zeros(0)
    if a.shape != (size,) or not np.all(np.isfinite(a)):
        raise ModelError(f"{what} of an arm is {size} finite numbers, not {given!r}")
    return tuple(float(x) for x in a)
