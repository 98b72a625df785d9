"""Bodies on joints, and named places on them. Frozen records."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, final

import numpy as np

from closedform.arrays import numeric
from closedform.errors import ModelError
from closedform.model.inertia import Inertia
from closedform.model.joints import Joint
from closedform.model.names import checked_name
from closedform.model.pose import checked_placement, identity
from closedform.model.vectors import is_finite_number


class Seam(NamedTuple):
    """How lanes of one place hang on several: of a folded robot with unlike limbs side by side.

    `parents` are the names of the bodies there, None the world. What the place sees of them is
    `down` of a list of theirs, what they get of it `up`: a part for each.
    """

    parents: tuple[str | None, ...]
    down: Callable[[list[Any]], Any]
    up: Callable[[Any], list[Any]]


@final
@dataclass(frozen=True, eq=False)
class Body:
    """A rigid body on a joint: T(q) = placement · joint(q) is its pose in the parent.

    `parent` is the parent's name; None is the world. `gravity_compensation` is the fraction of the
    body's weight that is carried from outside, by a force at its centre of mass.
    """

    name: str
    parent: str | None
    joint: Joint
    placement: Any = field(default_factory=identity)
    inertia: Inertia = field(default_factory=Inertia)
    gravity_compensation: float = 0.0
    summed: Callable[[Any], Any] | None = field(default=None, repr=False)
    """What adds up the bodies that share this place in lanes, as their parent sees them; None: one
    body stands here, as in every robot that is no folded one."""
    seam: Seam | None = field(default=None, repr=False)
    """Of a place that hangs on several; `parent` is the last of them then."""
    rounded: float = field(init=False, default=0.0, repr=False)
    """By how much the rotation that was given had to be changed to be one; mostly 0."""

    def __post_init__(self) -> None:
        checked_name(self.name, "body")
        what = f"body {self.name!r}"
        if self.parent is not None and not isinstance(self.parent, str):
            raise ModelError(f"{what}: parent must be a body's name or None, not {self.parent!r}")
        if not isinstance(self.joint, Joint):
            raise ModelError(f"{what}: joint must be a joint such as cf.Revolute((0, 0, 1)), "
                             f"not {self.joint!r}")
        if not isinstance(self.inertia, Inertia):
            raise ModelError(f"{what}: inertia must be a cf.Inertia, not {self.inertia!r}")
        _place(self, what)
        if not is_finite_number(self.gravity_compensation) \
                or not numeric(np.asarray(self.gravity_compensation)):
            raise ModelError(f"{what}: gravity_compensation must be a finite number, the fraction "
                             f"of its weight that is carried, not {self.gravity_compensation!r}")
        object.__setattr__(self, "gravity_compensation", float(self.gravity_compensation))

    def shares(self, x: Any) -> list[tuple[str | None, Any]]:
        """The parents, mostly one, and what each gets of x."""
        if self.seam is None:
            return [(self.parent, x if self.summed is None else self.summed(x))]
        return [*zip(self.seam.parents, self.seam.up(x), strict=True)]

    @property
    def joint_name(self) -> str:
        """The joint's own name, or the body's."""
        return self.joint.name or self.name


@final
@dataclass(frozen=True, eq=False)
class Frame:
    """A named place on a body (None: the world), such as a tool or a sensor."""

    name: str
    body: str | None
    placement: Any = field(default_factory=identity)
    rounded: float = field(init=False, default=0.0, repr=False)

    def __post_init__(self) -> None:
        checked_name(self.name, "frame")
        what = f"frame {self.name!r}"
        if self.body is not None and not isinstance(self.body, str):
            raise ModelError(f"{what}: body must be a body's name or None, not {self.body!r}")
        _place(self, what)


def _place(record: Body | Frame, what: str) -> None:
    """The placement that was given, checked, and by how much it had to be changed."""
    placement = checked_placement(record.placement, what)
    if numeric(placement):
        object.__setattr__(record, "rounded", float(np.abs(placement - record.placement).max()))
    object.__setattr__(record, "placement", placement)
