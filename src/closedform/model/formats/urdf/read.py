"""URDF read as a robot: fixed links merged into the bodies that carry them and kept as frames."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from closedform.arrays import NUMBERS
from closedform.errors import FormatError, ModelError
from closedform.model.findings import refuse_errors, warn_once
from closedform.model.formats.loops import Start, closed_robot
from closedform.model.formats.tree import depth_first, root_links
from closedform.model.formats.urdf.document import (
    UNLIMITED,
    WORLD,
    UrdfDocument,
    UrdfJoint,
    urdf_document,
)
from closedform.model.formats.urdf.tree import file_faults, mimic_chain
from closedform.model.formats.xml import Document, read_xml
from closedform.model.inertia import Inertia
from closedform.model.joints import (
    Free,
    Helical,
    Joint,
    Mimic,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
    swapped_limits,
)
from closedform.model.pose import pose
from closedform.model.robot import Body, Frame, Robot

BASE_JOINT = "root_joint"
"""Name of the free joint that `floating=True` puts under the root link, as in Pinocchio."""


def read_urdf(source: Path | str, floating: bool = False, loops: str | None = None) -> Robot:
    """The robot of a URDF file (a Path) or text (a str).

    The root link is part of the world, or with `floating` body 0 on a free joint. Bodies come
    depth first, siblings in the file's order of joints.
    """
    return urdf_robot(read_xml(source), floating, loops)


def urdf_robot(document: Document, floating: bool = False, loops: str | None = None) -> Robot:
    """The robot of a parsed URDF; with `loops="open"` without the loops of its dialects."""
    urdf = urdf_document(document)
    faults = file_faults(urdf)
    refuse_errors(faults)
    robot = assembled(urdf, floating, loops)
    left = [f"left open: {loop.name}" for loop in urdf.loops if loops is not None]
    warn_once(urdf.file, [*_impossible_inertias(urdf), *faults, *limit_faults(robot), *left])
    return robot


def assembled(urdf: UrdfDocument, floating: bool = False, loops: str | None = None) -> Robot:
    """The robot of a document without errors."""
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # overflow is refused by its result
            robot = _Assembly(urdf).robot(floating)
            return _closed(robot, urdf, floating) if loops is None else robot
    except ModelError as error:
        raise FormatError(f"{urdf.file}:{urdf.line}: {error}") from error


def _closed(tree: Robot, urdf: UrdfDocument, floating: bool) -> Robot:
    """The tree with the loops of the file, closed from zero."""
    moving = {body.name for body in tree.bodies}
    parents = {joint.child: joint.parent for joint in urdf.joints}
    known = {x: y for x, y in parents.items() if x in moving or y in parents}
    links = {link.name for link in urdf.links}
    cuts = [loop.cut(known, links) for loop in urdf.loops]
    held = {x: 0.0 for x in parents if x not in moving}
    base = [root_links(urdf)[0].name] if floating else []
    independent = (*base, *urdf.independent) if urdf.independent and cuts else None
    return closed_robot(tree, cuts, Start(
        guess={x: q for x, q in urdf.guess.items() if x in moving}, held=held,
        independent=independent))


@dataclass
class _Assembly:
    """Bodies and frames as the joints are walked, parents first."""

    urdf: UrdfDocument
    home: dict[str, tuple[str | None, np.ndarray]] = field(default_factory=dict)
    """Of each link: its body and its place there."""
    records: dict[str, tuple[str | None, Joint, np.ndarray]] = field(default_factory=dict)
    inertia: dict[str, Inertia] = field(default_factory=dict)
    frames: list[Frame] = field(default_factory=list)

    def robot(self, floating: bool) -> Robot:
        urdf = self.urdf
        first = root_links(urdf)[0]
        root = first.name
        if floating and root == WORLD and first.line is None:
            held = next(joint.name for joint in urdf.joints if joint.parent == WORLD)
            raise ModelError(f"floating=True, but no link is free: the joint {held!r} holds it to "
                             "the world")
        self.own_inertia = {link.name: link.inertial.inertia if link.inertial else Inertia()
                            for link in urdf.links}
        self.joints = {joint.name: joint for joint in urdf.joints}
        if floating:
            self.add_body(root, None, base_joint(set(self.joints)), np.eye(4))
        else:
            self.add_frame(root, None, np.eye(4))
        for joint in depth_first(urdf, root):
            self.add(joint)
        if not self.records:
            raise ModelError("no joint moves, so that all links are part of the world; load it "
                             "with floating=True")
        bodies = [Body(name, parent, joint, placement, self.inertia[name])
                  for name, (parent, joint, placement) in self.records.items()]
        twice = [b.name for b in bodies if b.parent == root and b.joint.nv == 6]
        if floating and twice:
            raise ModelError(f"floating=True, but {twice[0]!r} already has a floating joint to the "
                             f"root link {root!r}")
        return Robot(urdf.name, bodies, frames=self.frames, source=urdf.file)

    def add(self, joint: UrdfJoint) -> None:
        body, T = self.home[joint.parent]
        placement = T @ joint.origin
        held_at = self.held_at(joint)
        if held_at is None:
            self.add_body(joint.child, body, self.moving(joint), placement)
        elif joint.kind == "fixed":
            self.add_frame(joint.child, body, placement)
        else:
            R, p = _one_coordinate(joint, {}).pose(np.array([held_at]), NUMBERS)
            self.add_frame(joint.child, body, placement @ pose(R, p))

    def held_at(self, joint: UrdfJoint) -> float | None:
        """Where a joint stays, if it is fixed or mimics a fixed one; None if it moves."""
        *followers, last = mimic_chain(self.joints, joint)
        if last.kind != "fixed":
            return None
        q = 0.0
        for follower in reversed(followers):
            assert follower.mimic is not None
            q = follower.mimic.multiplier * q + follower.mimic.offset
        return q

    def moving(self, joint: UrdfJoint) -> Joint:
        keywords = _keywords(joint)
        if joint.kind == "floating":
            return Free(**keywords)
        if joint.kind == "planar":
            return Planar(joint.axis, **keywords)
        if joint.kind == "ball":
            return Spherical(**keywords)
        if joint.kind == "universal":
            return Universal((1, 0, 0), (0, 1, 0), **keywords)
        if joint.kind == "screw":
            return Helical(joint.axis, joint.thread / (2 * np.pi), **keywords)
        moves = _one_coordinate(joint, keywords)
        if joint.mimic is None or joint.mimic.joint not in self.joints:
            return moves
        of = self.joints[joint.mimic.joint].child
        return Mimic(moves, of, joint.mimic.multiplier, joint.mimic.offset)

    def add_body(self, link: str, parent: str | None, joint: Joint, placement: np.ndarray) -> None:
        self.home[link] = link, np.eye(4)
        self.records[link] = parent, joint, placement
        self.inertia[link] = self.own_inertia[link]

    def add_frame(self, link: str, body: str | None, placement: np.ndarray) -> None:
        self.home[link] = body, placement
        self.frames.append(Frame(link, body, placement))
        if body is not None:
            self.inertia[body] += self.own_inertia[link].seen_from(placement)


def base_joint(taken: set[str], label: str = "") -> Free:
    """The free joint of a floating base, under a name that no other joint has."""
    name = BASE_JOINT + label
    while name in taken:
        name += "_"
    return Free(name=name)


def _one_coordinate(joint: UrdfJoint, keywords: dict[str, Any]) -> Revolute | Prismatic:
    kind = Prismatic if joint.kind == "prismatic" else Revolute
    return kind(joint.axis, **keywords)


def _keywords(joint: UrdfJoint) -> dict[str, Any]:
    """Name, limits, friction, rotor, spring; limits are 0 where `<limit>` does not give them."""
    given: dict[str, Any] = {"viscous": joint.damping, "coulomb": joint.friction,
                             "rotor_inertia": joint.rotor_inertia, "stiffness": joint.stiffness,
                             "spring_reference": joint.spring_reference}
    if joint.limit is not None:
        given |= {"velocity": joint.limit.velocity, "effort": joint.limit.effort}
        if joint.kind in ("revolute", "prismatic"):
            given |= {"lower": joint.limit.lower or 0.0, "upper": joint.limit.upper or 0.0}
    finite = {k: x for k, x in given.items() if x is not None and np.all(np.abs(x) < UNLIMITED)}
    return {"name": joint.name, **finite}


def _impossible_inertias(urdf: UrdfDocument) -> Iterator[str]:
    names = [link.name for link in urdf.links if link.inertial and link.inertial.impossibility()]
    if names:
        yield (f"no body can have the inertia of {len(names)} of {urdf.name}'s links: "
               f"{', '.join(names)}; `lint` says why and how to repair it")


def limit_faults(robot: Robot) -> Iterator[str]:
    """Joints whose lower limit is above the upper; they are kept as they are."""
    for body in robot.bodies:
        for low, high in swapped_limits(body.joint.moving):
            yield f"joint {body.joint_name!r}: the lower limit {low:g} is above the upper {high:g}"
