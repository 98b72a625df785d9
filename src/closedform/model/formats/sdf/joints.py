"""Joints of SDF: their kinds, axes, limits and couplings."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from closedform.errors import FormatError, ModelError
from closedform.model.formats.sdf.scope import MODEL, Scope
from closedform.model.formats.xml import Element, child, full_tag, line, prefixed
from closedform.model.joints import (
    Fixed,
    Helical,
    Joint,
    Mimic,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)
from closedform.model.pose import inverse, pose

TWO_AXES = ("universal", "revolute2")
KINDS = ("revolute", "continuous", "prismatic", "screw", "ball", "fixed", *TWO_AXES)
UNLIMITED = 1e16
"""A limit of this size stands for none."""


@final
@dataclass(frozen=True)
class SdfJoint:
    """A joint between two links, each with its scope; a parent of None is the world."""

    scope: Scope
    element: Element
    parent_link: tuple[Scope, str] | None
    child_link: tuple[Scope, str]

    @property
    def name(self) -> str:
        return self.scope.prefix + self.scope.source.name(self.element)

    @property
    def line(self) -> int | None:
        return line(self.element)

    @property
    def parent(self) -> str:
        return "" if self.parent_link is None else full_name(self.parent_link)

    @property
    def child(self) -> str:
        return full_name(self.child_link)

    @classmethod
    def of(cls, scope: Scope, element: Element) -> SdfJoint:
        source, kind = scope.source, element.get("type")
        what = f"joint {source.name(element)!r}"
        if kind not in KINDS:
            raise source.fault(element, f"{what}: type {kind!r} is none of {', '.join(KINDS)}")
        ends = [source.text(element, role) for role in ("parent", "child")]
        if not all(ends):
            raise source.fault(element, f"{what}: its parent or its child is missing")
        parent, below = map(scope.link, ends)
        if below is None:
            raise source.fault(element, f"{what}: its child is the world; exchange the two")
        return cls(scope, element, parent, below)

    # ------------------------------------------------------------------ geometry
    @property
    def in_child(self) -> np.ndarray:
        """The joint's frame in the child link's, (4, 4)."""
        source = self.scope.source
        own, relative = source.pose(self.element)
        scope, link = self.child_link
        relative = relative or source.text(self.element, "child")
        if scope is self.scope and relative == link:
            return own  # as written, without rounding
        frame = self.scope.in_world @ self.scope.at(relative)
        return inverse(in_world(self.child_link)) @ frame @ own

    def axis(self, which: str) -> np.ndarray:
        """The direction of `<axis>` or `<axis2>` in the child link's frame."""
        source, element = self.scope.source, child(self.element, which)
        if element is None:
            raise source.fault(self.element, f"joint {self.name!r}: <{which}> is missing")
        given = child(element, "xyz")
        xyz = (0.0, 0.0, 1.0) if given is None else source.numbers(given, 3, (0.0, 0.0, 1.0))
        if not 1e-12 < np.linalg.norm(xyz) < math.inf:
            raise source.fault(element, f"joint {self.name!r}: <{which}> has no direction")
        frame = (given.get("expressed_in") or "") if given is not None else ""
        if source.version < (1, 7) and source.truth(element, "use_parent_model_frame",
                                                    default=source.version < (1, 5)):
            frame = MODEL
        if not frame:
            return clean(self.in_child[:3, :3] @ xyz)
        R = (self.scope.in_world @ self.scope.at(frame))[:3, :3]
        return clean(in_world(self.child_link)[:3, :3].T @ R @ xyz)

    # ------------------------------------------------------------------ the joint
    def moving(self) -> tuple[Joint, np.ndarray]:
        """The joint in the child link's axes, and the point of it that its body's origin is on.

        Joints whose axes may be any line of the body have their body at the link itself.
        """
        kind, point = self.element.get("type"), clean(self.in_child[:3, 3])
        if kind == "fixed" or self.scope.static:
            return Fixed(), np.zeros(3)
        if kind == "ball":
            return Spherical(name=self.name), point
        if kind in TWO_AXES:
            first, second = self.keywords("axis"), self.keywords("axis2")
            both = {k: (first.get(k, _missing(k)), second.get(k, _missing(k)))
                    for k in {*first, *second}}
            return Universal(self.axis("axis"), self.axis("axis2"), name=self.name, **both), point
        keywords = {"name": self.name, **self.keywords("axis")}
        moves: Joint
        if kind == "prismatic":
            moves = Prismatic(self.axis("axis"), **keywords)
        elif kind == "screw":
            moves = Helical(self.axis("axis"), self.pitch(), point, **keywords)
        else:
            moves = Revolute(self.axis("axis"), point, **keywords)
        return self.coupled(moves), np.zeros(3)

    def pitch(self) -> float:
        """m/rad: `screw_thread_pitch` is m/turn of a right-handed thread.

        `thread_pitch`, which it replaces, counts rad/m of a left-handed one.
        """
        source = self.scope.source
        old, new = (child(self.element, x) for x in ("thread_pitch", "screw_thread_pitch"))
        if new is not None or old is None:
            return source.number(self.element, "screw_thread_pitch", 1.0) / (2 * math.pi)
        turns = source.number(self.element, "thread_pitch", 1.0)
        if turns == 0:
            raise source.fault(self.element, f"joint {self.name!r}: <thread_pitch> is zero")
        return -1 / turns

    def keywords(self, which: str) -> dict[str, Any]:
        """Limits, friction, spring and rotor of an axis; a negative bound is none."""
        source, axis = self.scope.source, child(self.element, which)
        if axis is None:
            return {}
        limit, dynamics = child(axis, "limit"), child(axis, "dynamics")
        found: dict[str, Any] = {}
        for word in ("velocity", "effort"):
            bound = source.number(limit, word, -1.0)
            if 0 <= bound < UNLIMITED:
                found[word] = bound
        if self.element.get("type") != "continuous":
            for word, none in (("lower", -math.inf), ("upper", math.inf)):
                bound = source.number(limit, word, none)
                if abs(bound) < UNLIMITED:
                    found[word] = bound
        for keyword, word in (("viscous", "damping"), ("coulomb", "friction")):
            if source.number(dynamics, word, 0.0) > 0:
                found[keyword] = source.number(dynamics, word, 0.0)
        if source.number(dynamics, "spring_stiffness", 0.0) > 0:
            found["stiffness"] = source.number(dynamics, "spring_stiffness", 0.0)
            found["spring_reference"] = source.number(dynamics, "spring_reference", 0.0)
        rotor = self.extension("drake:rotor_inertia", 0.0)
        if rotor > 0 and which == "axis":
            found["rotor_inertia"] = rotor * self.extension("drake:gear_ratio", 1.0) ** 2
        return found

    def extension(self, name: str, default: float) -> float:
        found = prefixed(self.element, name)
        return default if found is None else self.scope.source.numbers(found, 1, (default,))[0]

    def coupled(self, joint: Joint) -> Joint:
        """The joint with its `<mimic>`: q = multiplier (q_of − reference) + offset."""
        source, axis = self.scope.source, child(self.element, "axis")
        mimic = None if axis is None else child(axis, "mimic")
        drakes = prefixed(self.element, "drake:mimic")
        if mimic is not None:
            ratio = source.number(mimic, "multiplier", 1.0)
            offset = (source.number(mimic, "offset", 0.0)
                      - ratio * source.number(mimic, "reference", 0.0))
            return Mimic(joint, self.driver(mimic), ratio, offset)
        if drakes is not None:
            ratio, offset = (self.attribute(drakes, name, default)
                             for name, default in (("multiplier", 1.0), ("offset", 0.0)))
            return Mimic(joint, self.driver(drakes), ratio, offset)
        return joint

    def driver(self, mimic: Element) -> str:
        """The child link of the joint that is followed."""
        of = mimic.get("joint") or ""
        *models, joint = of.split("::")
        scope = self.scope
        for model in models:
            scope = scope.models.get(model, scope)
        element = scope.joints.get(joint)
        found = None if element is None else scope.link(scope.source.text(element, "child"))
        if found is None or mimic.get("axis", "axis") != "axis":
            raise self.scope.source.fault(mimic, f"joint {self.name!r} mimics {of!r}, which is no "
                                                 "joint with one axis in this model")
        return full_name(found)

    def attribute(self, element: Element, name: str, default: float) -> float:
        try:
            return float(element.get(name) or default)
        except ValueError as error:
            raise self.scope.source.fault(element, f"{name} of <{full_tag(element)}> must be a "
                                                   f"number: {error}") from error

    def body(self) -> tuple[Joint, np.ndarray, np.ndarray]:
        """The joint, the pose of its body's frame in the parent link at zero, and in the link."""
        try:
            joint, point = self.moving()
        except FormatError:
            raise
        except ModelError as error:
            raise self.scope.source.fault(self.element, f"joint {self.name!r}: {error}") from error
        link = in_world(self.child_link)
        parent = np.eye(4) if self.parent_link is None else in_world(self.parent_link)
        placement = link if self.parent_link is None else inverse(parent) @ link
        return joint, clean(placement) @ pose(None, point), pose(None, point)


def full_name(link: tuple[Scope, str]) -> str:
    scope, name = link
    return scope.prefix + name


def in_world(link: tuple[Scope, str]) -> np.ndarray:
    """The pose of a link in the world at zero."""
    scope, name = link
    return scope.in_world @ scope.at(name)


def clean(values: np.ndarray) -> np.ndarray:
    """Numbers without what rounding leaves of 0 and ±1."""
    whole = np.round(values)
    near = (np.abs(values - whole) < 1e-15) & (np.abs(whole) <= 1)
    return np.where(near, whole, values) + 0.0


def _missing(keyword: str) -> float:
    return {"lower": -math.inf, "upper": math.inf, "velocity": math.inf,
            "effort": math.inf}.get(keyword, 0.0)
