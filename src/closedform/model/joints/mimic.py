"""The mimic joint: one coordinate that follows another's."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from closedform.arrays import Array, Namespace, numeric
from closedform.errors import ModelError
from closedform.model.joints.joint import KEYWORDS, Driver, Joint
from closedform.model.joints.polynomial import Polynomial
from closedform.model.vectors import is_finite_number


@final
@dataclass(frozen=True)
class Mimic(Joint):
    """`joint` driven by the joint of the body `of`: q = ratio q_of + offset.

    `higher` are the coefficients of q_of², q_of³, …: then q is a polynomial of q_of. It adds
    nothing to q and v. `joint` and the one it follows have one coordinate each; a mimic may follow
    a mimic. Keywords given here go to `joint`.
    """

    joint: Any
    of: Any
    ratio: Any = 1.0
    offset: Any = 0.0
    higher: Any = ()
    nq = 0
    nv = 0

    def __post_init__(self) -> None:
        given = self.joint
        if not isinstance(given, Joint) or not given.is_vector or (given.nq, given.nv) != (1, 1):
            raise ModelError("Mimic joint must have one coordinate, as Revolute, Prismatic or "
                             f"Helical joints have, not {given!r}")
        if not isinstance(self.of, str):
            raise ModelError(f"Mimic of must be the name of a body, not {self.of!r}")
        for what in ("ratio", "offset"):
            x = getattr(self, what)
            if not is_finite_number(x):
                raise ModelError(f"Mimic {what} must be a finite number, not {x!r}")
        object.__setattr__(self, "higher", _coefficients(self.higher))
        own = {k: getattr(self, k) for k in KEYWORDS if getattr(self, k) is not None}
        object.__setattr__(self, "joint", replace(given, **own))
        for k in KEYWORDS:
            object.__setattr__(self, k, getattr(self.joint, k))

    @property
    def S(self) -> Array:
        return self.joint.S

    def pose(self, q: Array, xp: Namespace) -> tuple[Array, Array]:
        return self.joint.pose(q, xp)

    @property
    def driver(self) -> Driver:
        return Driver(self.of, self.ratio, self.offset, self.higher)

    @property
    def moving(self) -> Joint:
        return self.joint

    def with_moving(self, joint: Joint, driver: Driver | None = None) -> Joint:
        keywords = {k: getattr(joint, k) for k in KEYWORDS}
        return replace(self, joint=joint, **(driver or self.driver)._asdict(), **keywords)


def _coefficients(given: Any) -> Polynomial:
    """The coefficients of q_of² and so on, without zeros at the end."""
    told = not isinstance(given, str) and isinstance(given, Iterable)
    c = tuple(given) if told else ()
    if not told or not all(map(is_finite_number, c)):
        raise ModelError("Mimic higher must be finite numbers, the coefficients of q_of², q_of³, "
                         f"and so on, not {given!r}")
    while c and numeric(np.asarray(c[-1])) and c[-1] == 0:
        c = c[:-1]
    return tuple(float(x) if numeric(np.asarray(x)) else x for x in c)
