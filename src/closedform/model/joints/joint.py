"""What every joint carries and answers; each kind is one file beside this one.

A joint takes the placement frame to the body's frame by `pose(q)`, and its velocities v to the body
twist S v (linear part first, in the body frame) with a constant S. One whose S would turn with q is
made of `parts` that have one.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from closedform.arrays import Array, Namespace, exact_or_float, numeric
from closedform.errors import ModelError, is_own, warn_user
from closedform.model.joints.polynomial import Polynomial, composed
from closedform.model.names import checked_name
from closedform.model.pose import basis_with_third, pose
from closedform.model.vectors import Vector, as_given, unit_vector

PerCoordinate = float | Sequence[float] | None
KEYWORDS = ("name", "lower", "upper", "velocity", "effort", "rotor_inertia", "viscous", "coulomb",
            "stiffness", "spring_reference")
SIGNED = ("lower", "upper", "spring_reference")
"""Keywords that are places: one number for each entry of q, of either sign."""


class Driver(NamedTuple):
    """What a mimic joint follows: q = offset + ratio x + higher₀ x² + higher₁ x³ + …, x = q_of.

    Of several: q = offset + Σ ratio x, with as many names and ratios.
    """

    of: Any  # a body's name, or several
    ratio: Any
    offset: Any
    higher: Polynomial = ()

    @property
    def polynomial(self) -> Polynomial:
        """The coefficients of 1, x, x², …"""
        return (self.offset, self.ratio, *self.higher)

    @property
    def bodies(self) -> tuple[str, ...]:
        """The names of the bodies that it follows."""
        return self.of if isinstance(self.of, tuple) else (self.of,)

    def renamed(self, names: Sequence[str]) -> Driver:
        """The same coupling to bodies of other names."""
        return self._replace(of=tuple(names) if isinstance(self.of, tuple) else names[0])

    def moved(self, own: Any, *turns: Any) -> Driver:
        """The same coupling of the coordinates q + own and x + of."""
        if isinstance(self.of, tuple):
            shift = sum(r * x for r, x in zip(self.ratio, turns, strict=True))
            return self._replace(offset=self.offset + (own - shift))
        of, = turns
        if self.higher:
            offset, ratio, *higher = composed(self.polynomial, (-of, 1))
            return self._replace(offset=offset + own, ratio=ratio, higher=tuple(higher))
        return self._replace(offset=self.offset + (own - self.ratio * of))


@dataclass(frozen=True, kw_only=True)
class Joint(ABC):
    """What every joint carries. Numbers are one for all coordinates, or one for each.

    `lower` and `upper` bound q; `velocity` and `effort` bound |v| and |τ|; `rotor_inertia` (kg m²
    or kg, seen at the joint) is part of M; `viscous` and `coulomb` are friction, used by
    `joint_friction`, and by `simulate` with `friction=True` alone. `stiffness` (N m/rad or N/m) is
    a spring at rest at `spring_reference` (if none is given, at the identity):
    ½ Σ stiffness x², x = `stretch(q)`, is part of the potential energy, and of g and τ.
    """

    name: str | None = None
    lower: PerCoordinate = None
    upper: PerCoordinate = None
    velocity: PerCoordinate = None
    effort: PerCoordinate = None
    rotor_inertia: Any = None
    viscous: PerCoordinate = None
    coulomb: PerCoordinate = None
    stiffness: PerCoordinate = None
    spring_reference: PerCoordinate = None

    nq: ClassVar[int]
    nv: ClassVar[int]
    axes: ClassVar[tuple[str, ...]] = ()     # fields that are unit vectors
    lengths: ClassVar[tuple[int, ...]] = ()  # entries of q in metres
    angles: ClassVar[tuple[int, ...]] = ()   # entries of q that count modulo 2π
    unit: ClassVar[slice | None] = None      # entries of q that are a unit vector
    is_vector: ClassVar[bool] = True         # v = q̇
    takes_turns: ClassVar[bool] = False      # a turn about `line` may be added to the last of q
    twists: ClassVar[tuple[int, ...] | None] = None  # the columns of S, as unit twists of `frame`
    urdf: ClassVar[str | None] = None        # its type in URDF
    convention: ClassVar[str] = ""           # q and v in a sentence, where they need one

    def __post_init__(self) -> None:
        if self.name is not None:
            checked_name(self.name, "joint")
        for axis in self.axes:
            what = f"{type(self).__name__} {axis}"
            object.__setattr__(self, axis, unit_vector(getattr(self, axis), what))
        for keyword in KEYWORDS[1:]:
            given = getattr(self, keyword)
            if given is not None:
                size = self.nq if keyword in SIGNED else self.nv
                object.__setattr__(self, keyword, _numbers(given, size, keyword, self))
        _warn_of_swapped_limits(self)
        if self.quaternion:
            _check_turning_spring(self, self.quaternion)

    # ------------------------------------------------------------------ motion
    @property
    @abstractmethod
    def S(self) -> Array:
        """Motion subspace (6, nv) in the body frame, constant."""

    @abstractmethod
    def pose(self, q: Array, xp: Namespace) -> tuple[Array, Array]:
        """Rotation (3, 3) and translation (3,) of the body in its placement frame at q (nq,)."""

    def parts(self) -> tuple[Joint, ...]:
        """Joints in a row, each with a constant S, that together are this one."""
        return (self,)

    def series(self) -> tuple[Joint, ...]:
        """The simplest joints in a row with the same q and the same motion."""
        return self.parts()

    # ------------------------------------------------------------------ coordinates
    def neutral(self) -> np.ndarray:
        """q of the identity pose."""
        return np.zeros(self.nq)

    def integrate(self, q: Array, dv: Array) -> Array:
        """q moved by the tangent vector dv, batch axes first."""
        return q + dv

    def difference(self, q0: Array, q1: Array) -> Array:
        """The tangent vector that takes q0 to q1, batch axes first."""
        return q1 - q0

    def rates(self, q: Array, v: Array, xp: Namespace) -> Array:
        """q̇ = Γ(q) v, (nq,)."""
        return v

    def velocities(self, q: Array, dq: Array, xp: Namespace) -> Array:
        """v with q̇ = Γ(q) v, (nv,); the unit vector in q may have any length."""
        return dq

    # ------------------------------------------------------------------ springs
    def stretch(self, q: Array, xp: Namespace) -> Array:
        """x, (nv,): how far the spring is from its rest; its energy is ½ Σ stiffness x²."""
        return q - self.per_coordinate("spring_reference", self.nq, 0.0)

    def pull(self, q: Array, f: Array, xp: Namespace) -> Array:
        """The torques, (nv,), of the forces f = stiffness x along x."""
        return f

    def spring_slope(self, q: Array, xp: Namespace) -> Array:
        """∂τ_i/∂q_j of the torques of the spring, (nv, nv), left-trivialised."""
        return xp.eye(self.nv) * self.per_coordinate("stiffness", self.nv, 0.0)

    @property
    def quaternion(self) -> slice | None:
        """Where q holds a quaternion xyzw, of which both signs are one pose."""
        return self.unit if self.unit and self.unit.stop - self.unit.start == 4 else None

    def random(self, rng: np.random.Generator) -> np.ndarray:
        """q: uniform within the limits, else ±π for turns, ±1 m for slides; unit vectors uniform.

        Of a joint with one limit, a range of that size beside it.
        """
        at = self.unit or slice(0, 0)
        q, plain = np.empty(self.nq), np.ones(self.nq, dtype=bool)
        plain[at] = False
        q[at] = rng.normal(size=self.nq - plain.sum()) if self.unit else 0
        q[at] /= np.linalg.norm(q[at]) or 1
        reach = np.where(np.isin(np.arange(self.nq), self.lengths), 1.0, np.pi)[plain]
        lower = self.per_coordinate("lower", self.nq, -np.inf)[plain]
        upper = self.per_coordinate("upper", self.nq, np.inf)[plain]
        below, above = np.isfinite(lower), np.isfinite(upper)
        low = np.where(below, lower, np.where(above, upper - 2 * reach, -reach))
        high = np.where(above, upper, np.where(below, lower + 2 * reach, reach))
        q[plain] = rng.uniform(np.minimum(low, high), np.maximum(low, high))
        return q

    def per_coordinate(self, keyword: str, size: int, missing: float) -> np.ndarray:
        """The keyword's numbers, one for each of `size` coordinates; `missing` if none is given."""
        given = getattr(self, keyword)
        return np.broadcast_to(exact_or_float(missing if given is None else given), (size,))

    def in_row(self, *joints: Joint) -> tuple[Joint, ...]:
        """Joints of one coordinate each, with this joint's keywords shared out among them."""
        given = {k: getattr(self, k) for k in KEYWORDS[1:] if getattr(self, k) is not None}
        return tuple(replace(joint, **{k: x if np.ndim(x) == 0 else x[i] for k, x in given.items()})
                     for i, joint in enumerate(joints))

    # ------------------------------------------------------------------ geometry
    @property
    def line(self) -> tuple[Array, Array] | None:
        """Direction and a point of the one axis that may be any line of the body, else None."""
        return None

    @property
    def frame(self) -> np.ndarray:
        """The joint's own frame in the body's, (4, 4): z on its axis."""
        if self.line is None:
            return np.eye(4)
        direction, point = self.line
        return pose(basis_with_third(direction), point)

    @property
    def advance(self) -> Any:
        """Slide along the axis for a turn about it, m/rad."""
        return 0

    def on_z(self) -> Joint:
        """The joint in a frame whose z axis is its line."""
        return self

    def with_screws(self, screws: list[Array]) -> Joint:
        """The joint with its axes and points read from the screws (v; ω) of its parts."""
        return self

    # ------------------------------------------------------------------ couplings
    @property
    def driver(self) -> Driver | None:
        """What it follows, if it is a mimic."""
        return None

    @property
    def moving(self) -> Joint:
        """The joint whose motion the body makes: of a mimic the one it moves, else itself."""
        return self

    def with_moving(self, joint: Joint, driver: Driver | None = None) -> Joint:
        """The same with another moving joint and, of a mimic, another driver."""
        return joint

    @property
    def is_fixed(self) -> bool:
        """Whether the body cannot move in its parent."""
        return self.moving.nv == 0

    @property
    def kind(self) -> str:
        """The name of its kind in text and tables."""
        return type(self).__name__.lower()


def geometry(joint: Joint) -> dict[str, Any]:
    """What a joint holds beside the keywords that all joints have: axes, points, a pitch."""
    return {f.name: getattr(joint, f.name) for f in fields(joint) if f.name not in KEYWORDS}


def describe(joint: Joint) -> str:
    """The joint's kind with its axis, in a few characters."""
    if joint.driver is not None:
        bent = joint.driver.higher
        degree = f" by a polynomial of degree {len(bent) + 1}" if bent else ""
        return (f"{joint.kind} {describe(joint.moving)} of {', '.join(joint.driver.bodies)}"
                f"{degree}")
    shown = {name: x for name, x in geometry(joint).items() if name != "point"}
    return " ".join([joint.kind, *(_axis_text(x) if name in joint.axes else f"{x}"
                                   for name, x in shown.items())])


def _axis_text(axis: Vector) -> str:
    for sign, mark in ((1, ""), (-1, "−")):
        for letter, e in zip("xyz", np.eye(3), strict=True):
            if all(x == sign * y for x, y in zip(axis, e, strict=True)):
                return mark + letter
    return "(" + " ".join(f"{x:.4g}" if isinstance(x, float) else str(x) for x in axis) + ")"


def swapped_limits(joint: Joint) -> list[tuple[float, float]]:
    """Lower limits that are above the upper ones, with these."""
    if joint.lower is None or joint.upper is None:
        return []
    lower, upper = np.broadcast_arrays(np.atleast_1d(joint.lower), joint.upper)
    return [(float(a), float(b)) for a, b in zip(lower, upper, strict=True) if a > b]


def _check_turning_spring(joint: Joint, at: slice) -> None:
    """The reference made a unit quaternion; an error for turns of different stiffness."""
    what = f"{type(joint).__name__} joint {joint.name or 'unnamed'!r}"
    turning = joint.per_coordinate("stiffness", joint.nv, 0.0)[-3:]
    if np.any(turning != turning[0]):
        raise ModelError(f"{what}: stiffness of the turn must be one number for all directions, "
                         f"not {turning.tolist()}")
    if joint.spring_reference is not None:
        rest = np.atleast_1d(np.asarray(joint.spring_reference))
        length = np.linalg.norm(rest[at]) if len(rest) == joint.nq else 0.0
        if not length:
            raise ModelError(f"{what}: spring_reference must be {joint.nq} numbers, the last four "
                             f"a quaternion xyzw, not {joint.spring_reference!r}")
        rest[at] /= length
        object.__setattr__(joint, "spring_reference", tuple(map(float, rest)))


def _warn_of_swapped_limits(joint: Joint) -> None:
    """A warning to who makes such a joint; files that are read have one warning for all of it."""
    swapped = swapped_limits(joint)
    if not swapped:
        return
    maker = sys._getframe()
    while maker.f_back and maker.f_globals.get("__name__", "").startswith(__package__):
        maker = maker.f_back
    if not is_own(maker):
        (low, high), *_ = swapped
        warn_user(f"{type(joint).__name__} joint {joint.name or 'unnamed'!r}: the lower limit "
                  f"{low:g} is above the upper {high:g}")


def _numbers(given: Any, size: int, keyword: str, joint: Joint) -> Any:
    what = f"{type(joint).__name__} joint {joint.name or 'unnamed'!r}: {keyword}"
    a = as_given(given, f"{what} must be a number")
    if a.ndim > 1 or (a.ndim == 1 and a.shape[0] != size):
        raise ModelError(f"{what} must be one number or {size}, not {given!r}")
    if not numeric(a):
        if keyword == "rotor_inertia" and a.dtype == object:
            return a.item() if a.ndim == 0 else tuple(a.tolist())
        raise ModelError(f"{what} must be a number, not {given!r}")
    if np.any(np.isnan(a)):
        raise ModelError(f"{what} is not a number (NaN)")
    if keyword in ("stiffness", "spring_reference") and not np.all(np.isfinite(a)):
        raise ModelError(f"{what} must be finite, got {given!r}")
    if keyword not in SIGNED and np.any(a < 0):
        raise ModelError(f"{what} must not be negative, got {given!r}")
    return float(a) if a.ndim == 0 else tuple(float(x) for x in a)
