"""The mimic joint: one coordinate that follows another's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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

    `of={body: ratio, ...}` follows several: q = Σ ratio q_body + offset, as parallelograms, belts
    and differentials do; such a joint has no rotor, spring or friction of its own (`cf.Gear` has).

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
        _set_drivers(self)
        if not is_finite_number(self.offset):
            raise ModelError(f"Mimic offset must be a finite number, not {self.offset!r}")
        object.__setattr__(self, "higher", _coefficients(self.higher))
        own = {k: getattr(self, k) for k in KEYWORDS if getattr(self, k) is not None}
        object.__setattr__(self, "joint", replace(given, **own))
        for k in KEYWORDS:
            object.__setattr__(self, k, getattr(self.joint, k))
        if isinstance(self.of, tuple):
            given = [k for k in _OWN
                     if np.any(np.asarray(getattr(self, k) or 0, dtype=object) != 0)]
            if given or self.higher:
                raise ModelError(f"Mimic of several joints ({', '.join(self.of)}) takes no "
                                 f"{given[0] if given else 'higher'}; close a loop with cf.Gear, "
                                 "where the joint has a coordinate of its own")

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


_OWN = ("rotor_inertia", "viscous", "coulomb", "stiffness")


def _set_drivers(mimic: Mimic) -> None:
    """`of` and `ratio`: one name and one number, or as many of both."""
    of, ratio = mimic.of, mimic.ratio
    if isinstance(mimic.of, Mapping):
        of, ratio = tuple(mimic.of), tuple(mimic.of.values())
        if np.ndim(mimic.ratio) == 0 and mimic.ratio != 1:
            raise ModelError("Mimic ratio is told by of={body: ratio, ...} where there are several")
    if isinstance(of, tuple) and len(of) == 1:
        (of,), (ratio,) = of, ratio
    names, numbers = (of, ratio) if isinstance(of, tuple) else ((of,), (ratio,))
    if not names or not all(isinstance(x, str) for x in names):
        raise ModelError(f"Mimic of must be the name of a body, or map several to ratios, "
                         f"not {mimic.of!r}")
    for x in numbers:
        if not is_finite_number(x):
            raise ModelError(f"Mimic ratio must be a finite number, not {x!r}")
    object.__setattr__(mimic, "of", of)
    object.__setattr__(mimic, "ratio", ratio)


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
