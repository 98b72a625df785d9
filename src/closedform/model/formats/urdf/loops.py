"""Closed loops in URDF's dialects.

    Isaac Sim    <loop_joint name type><link1 link xyz rpy/><link2 link xyz rpy/><axis xyz/>;
                 ours are type="rod" with <length value/>, and guess="…" on joints
    URDF+        <loop name type><predecessor link><origin/></predecessor><successor …/><axis xyz/>
                 <coupling name><predecessor link/><successor link/><ratio value/>,
                 independent="true" on joints
    Drake        <drake:ball_constraint> of drake:ball_constraint_body_A, _body_B, _p_AP, _p_BQ

A coupling is ratio Σ q = Σ q over the joints from the nearest common link to the predecessor, and
to the successor. The axis of a loop is in the frame of its first link.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, final

import numpy as np

from closedform.model.formats.xml import Element, child, children, full_tag, line, prefixed, tag
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
from closedform.model.loops.records import Cut, Gear, Loop, Rod
from closedform.model.pose import from_rpy, pose

BALL_CONSTRAINT = "drake:ball_constraint"
KINDS: dict[str, Callable[[Any], Joint]] = {
    "revolute": Revolute, "continuous": Revolute, "prismatic": Prismatic,
    "cylindrical": Cylindrical, "planar": Planar, "fixed": lambda _: Fixed(),
    "spherical": lambda _: Spherical(), "ball": lambda _: Spherical(),
    "universal": lambda _: Universal((1, 0, 0), (0, 1, 0))}


@final
@dataclass(frozen=True, eq=False)
class UrdfLoop:
    """A loop between two links; a coupling has a ratio and no joint."""

    name: str
    sides: tuple[tuple[str, np.ndarray], tuple[str, np.ndarray]]
    joint: Joint | None
    ratio: float
    line: int | None
    length: float | None = None     # of a rod

    def cut(self, parents: Mapping[str, str], links: Collection[str]) -> Cut:
        """The record of it; `parents` are those of the links that move on their own.

        A link that is none of the file's `links` is the world, as Drake takes it.
        """
        a, b = ((link if link in links else None, T) for link, T in self.sides)
        if self.length is not None:
            return Rod(self.name, a, b, self.length)
        if self.joint is not None:
            return Loop(self.name, a, b, self.joint)
        ways = [_way(link, parents) for link, _ in self.sides]
        shared = set(ways[0]) & set(ways[1])
        factors = {x: self.ratio for x in ways[0] if x not in shared}
        return Gear(self.name, factors | {x: -1.0 for x in ways[1] if x not in shared})


class AttributeReader(Protocol):
    """What reads attributes and notes faults."""

    subject: str

    def fault(self, element: Element, rule: str, message: str, repair: str = "") -> None: ...
    def text(self, element: Element | None, owner: Element, what: str, attribute: str) -> str: ...
    def numbers(self, element: Element | None, attribute: str,
                default: tuple[float, ...]) -> tuple[float, ...]: ...


def loop_elements(root: Element) -> Iterator[Element]:
    for element in root.iterchildren("{*}*", "*"):
        if full_tag(element) in ("loop_joint", "loop", "coupling", BALL_CONSTRAINT):
            yield element


def urdf_loop(reader: AttributeReader, element: Element, number: int) -> UrdfLoop | None:
    """The loop of an element; None, with a fault noted, where something is missing."""
    name = element.get("name") or f"{tag(element)}{number}"
    reader.subject = f"<{full_tag(element)}> {name!r}"
    if full_tag(element) == BALL_CONSTRAINT:
        sides = [_drake_side(reader, element, *names) for names in (("A", "AP"), ("B", "BQ"))]
        return UrdfLoop(name, (sides[0], sides[1]), Spherical(), 1.0, line(element))
    words = ("predecessor", "successor", "link1", "link2")    # Isaac's manual has link1 twice
    ends = [x for word in words for x in children(element, word)]
    if len(ends) != 2:
        reader.fault(element, "loop", f"two links expected, {len(ends)} given",
                     "give <predecessor> and <successor>, or <link1> and <link2>")
        return None
    sides = [_side(reader, x, element) for x in ends]
    if sides[0][0] and sides[0][0] == sides[1][0]:
        reader.fault(element, "loop", f"its two links are one, {sides[0][0]!r}")
        return None
    if tag(element) == "coupling":
        ratio = child(element, "ratio")
        return UrdfLoop(name, (sides[0], sides[1]), None,
                        reader.numbers(ratio, "value", (1.0,))[0], line(element))
    kind = element.get("type") or "spherical"
    if kind == "rod":
        length = reader.numbers(child(element, "length"), "value", (0.0,))[0]
        if not length > 0:
            reader.fault(element, "loop", "a rod needs a <length> with a positive value")
            return None
        return UrdfLoop(name, (sides[0], sides[1]), None, 1.0, line(element), length)
    axis = reader.numbers(child(element, "axis"), "xyz", (1.0, 0.0, 0.0))
    if kind not in KINDS or not np.linalg.norm(axis) > 1e-12:
        reader.fault(element, "loop", f"type {kind!r} is none of {', '.join((*KINDS, 'rod'))}"
                     if kind not in KINDS else "its axis has no direction")
        return None
    unit = np.asarray(axis) / np.linalg.norm(axis)
    return UrdfLoop(name, (sides[0], sides[1]), KINDS[kind](unit), 1.0, line(element))


def _side(reader: AttributeReader, end: Element, owner: Element) -> tuple[str, np.ndarray]:
    origin = child(end, "origin")
    at = end if origin is None else origin
    zero = (0.0, 0.0, 0.0)
    place = pose(from_rpy(*reader.numbers(at, "rpy", zero)), reader.numbers(at, "xyz", zero))
    return reader.text(end, owner, f"the link of <{tag(end)}>", "link"), place


def _drake_side(reader: AttributeReader, element: Element, body: str,
                point: str) -> tuple[str, np.ndarray]:
    link = prefixed(element, f"{BALL_CONSTRAINT}_body_{body}")
    at = prefixed(element, f"{BALL_CONSTRAINT}_p_{point}")
    xyz = reader.numbers(at, "value", (0.0, 0.0, 0.0))
    return reader.text(link, element, f"its body {body}", "name"), pose(None, xyz)


def _way(link: str, parents: Mapping[str, str]) -> list[str]:
    found = []
    while link in parents:
        found.append(link)
        link = parents[link]
    return found
