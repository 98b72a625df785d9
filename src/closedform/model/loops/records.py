"""Cut joints: what closes a loop of bodies, as frozen records.

A loop is a joint between two bodies of the tree that neither hangs from the other by; a rod is a
massless bar with balls at its ends; a gear a linear equation of coordinates.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from closedform.arrays import numeric
from closedform.errors import ModelError, suggestion
from closedform.model.joints import (
    Cylindrical,
    Fixed,
    Joint,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)
from closedform.model.names import checked_name
from closedform.model.pose import checked_placement, pose
from closedform.model.vectors import as_given, is_finite_number

CUTS: tuple[type[Joint], ...] = (Revolute, Spherical, Universal, Fixed, Prismatic, Cylindrical,
                                 Planar)
"""Kinds of joints that may be cut."""

Side = tuple[str | None, np.ndarray]
"""A body (None: the world) and a frame on it, (4, 4)."""


@final
@dataclass(frozen=True, eq=False)
class Loop:
    """A joint that closes a loop: frame `a` on one body and frame `b` on another meet in it.

    `a` and `b` are (body, 4x4 pose or point); the body None is the world. Of a cut Revolute the
    axis is the same line in both frames, and so for the axes of other kinds.
    """

    name: str
    a: Any
    b: Any
    joint: Joint = field(default_factory=Spherical)

    def __post_init__(self) -> None:
        _check_sides(self, "loop")
        if not isinstance(self.joint, CUTS):
            kinds = ", ".join(kind.__name__ for kind in CUTS)
            given: Any = self.joint
            told = type(given).__name__ if isinstance(given, Joint) else repr(given)[:200]
            raise ModelError(f"loop {self.name!r}: joint must be one of {kinds}, not {told}")


@final
@dataclass(frozen=True, eq=False)
class Rod:
    """A massless rod of a length (m) with a ball at each end: a point of `a` and one of `b`."""

    name: str
    a: Any
    b: Any
    length: float

    def __post_init__(self) -> None:
        _check_sides(self, "rod")
        if not is_finite_number(self.length) or not numeric(np.asarray(self.length)) \
                or not self.length > 0:
            raise ModelError(f"rod {self.name!r}: length must be a positive number, "
                             f"not {self.length!r}")


@final
@dataclass(frozen=True, eq=False)
class Gear:
    """Σ factor q = constant over joints of one coordinate, named by their bodies."""

    name: str
    factors: Mapping[str, float]
    constant: float = 0.0

    def __post_init__(self) -> None:
        checked_name(self.name, "gear")
        if not isinstance(self.factors, Mapping) or not self.factors:
            raise ModelError(f"gear {self.name!r}: factors must map bodies to numbers, "
                             f"not {self.factors!r}")
        for body, x in (*self.factors.items(), ("constant", self.constant)):
            if not isinstance(body, str) or not is_finite_number(x) \
                    or not numeric(np.asarray(x)):
                raise ModelError(f"gear {self.name!r}: {body} must be a finite number, not {x!r}")
        if not any(self.factors.values()):
            raise ModelError(f"gear {self.name!r}: all factors are zero, which ties no joint")
        object.__setattr__(self, "factors", {k: float(x) for k, x in self.factors.items()})
        object.__setattr__(self, "constant", float(self.constant))


Cut = Loop | Rod | Gear


def checked_cuts(given: object, bodies: Iterable[str]) -> tuple[Cut, ...]:
    """What closes loops, all of it between bodies of the robot and under names of its own."""
    if not isinstance(given, Iterable) or isinstance(given, str):
        raise ModelError(f"loops must be a sequence of cf.Loop, cf.Rod or cf.Gear, not {given!r}")
    cuts, known = tuple(given), {*bodies}
    for k, cut in enumerate(cuts):
        if not isinstance(cut, Loop | Rod | Gear):
            raise ModelError(f"loops must be cf.Loop, cf.Rod or cf.Gear records, not {cut!r}")
        if cut.name in {other.name for other in cuts[:k]}:
            raise ModelError(f"two loops are named {cut.name!r}")
        named = cut.factors if isinstance(cut, Gear) else (cut.a[0], cut.b[0])
        for body in named:
            if body is not None and body not in known:
                raise ModelError(f"loop {cut.name!r}: no body {body!r} in the robot; "
                                 f"{suggestion(body, known)}")
    return cuts


def _check_sides(record: Loop | Rod, kind: str) -> None:
    checked_name(record.name, kind)
    for side in ("a", "b"):
        object.__setattr__(record, side, _side(getattr(record, side),
                                               f"{kind} {record.name!r}: {side}"))
    if record.a[0] == record.b[0]:
        raise ModelError(f"{kind} {record.name!r}: a and b are on one body, {record.a[0]!r}")


def _side(given: Any, what: str) -> Side:
    told = isinstance(given, tuple | list) and len(given) == 2
    if not told or not (given[0] is None or isinstance(given[0], str)):
        raise ModelError(f"{what} must be (body, 4x4 pose or point), not {given!r:.200}")
    place = as_given(given[1], f"{what}: must be a 4x4 pose or a point of three numbers")
    if place.shape == (3,):
        place = pose(None, place)
    found = checked_placement(place, what)
    if not numeric(found):
        raise ModelError(f"{what}: a loop's frames are numbers, not symbols")
    return given[0], found
