"""SDF read as a robot: the tree of all its models.

A link that no joint holds floats in SDF. Here it is part of the world at its pose, as the root link
of a URDF is, or with `floating` on a free joint; a model that is static is part of the world. The
names of a model that stands in another one or beside another one begin with its own, `arm::hand`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import final

import numpy as np

from closedform.errors import LISTED, FormatError, ModelError
from closedform.model.edits import merged
from closedform.model.findings import refuse_errors, warn_once
from closedform.model.formats.loops import closed_robot
from closedform.model.formats.sdf.joints import SdfJoint, clean, full_name, in_world
from closedform.model.formats.sdf.loops import must_stay, sdf_loops
from closedform.model.formats.sdf.scope import Scope
from closedform.model.formats.sdf.source import SdfFile
from closedform.model.formats.tree import depth_first, graph_faults
from closedform.model.formats.urdf.document import MAX_LINKS
from closedform.model.formats.urdf.loops import BALL_CONSTRAINT
from closedform.model.formats.urdf.read import base_joint, limit_faults
from closedform.model.formats.xml import TEXT, Document, Element, child, children, full_tag, line
from closedform.model.inertia import Inertia
from closedform.model.joints import Fixed, Joint
from closedform.model.pose import inverse
from closedform.model.robot import STANDARD_GRAVITY, Body, Frame, Robot

DEFAULT_GRAVITY = (0.0, 0.0, -9.8)
"""What SDF gives a world that says nothing of it; a model alone gets the library's."""


@final
@dataclass(frozen=True)
class _Link:
    name: str
    line: int | None
    scope: Scope
    element: Element


@final
@dataclass(frozen=True)
class _Graph:
    """All links and joints of a file and of those it includes."""

    name: str
    file: str
    line: int | None
    links: tuple[_Link, ...]
    joints: tuple[SdfJoint, ...]


def sdf_robot(document: Document, floating: bool = False, loops: str | None = None) -> Robot:
    """The robot of a parsed SDF document.

    A joint whose child hangs on another already closes a loop, and so does a ball constraint of
    Drake's; `loops="open"` leaves them out.
    """
    source = SdfFile.of(document)
    worlds = children(source.root, "world")
    if len(worlds) > 1:
        raise source.fault(worlds[1], f"{len(worlds)} worlds in one file; one is read")
    top = Scope(source, worlds[0] if worlds else source.root)
    graph = _graph(top)
    refuse_errors(f for f in graph_faults(graph)
                  if f.rule not in ("disconnected", "closed-loop", "cycle"))  # the world joins
    tree = _spanning(graph)
    cut = [joint for joint in graph.joints if joint.name not in tree]
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # overflow is refused by its result
            robot = _robot(top, replace(graph, joints=tuple(
                joint for joint in graph.joints if joint.name in tree)), floating)
            cuts = sdf_loops(top, cut)
            if loops is None:
                robot = closed_robot(robot, cuts)
    except FormatError:
        raise
    except ModelError as error:
        raise FormatError(f"{source.file}: {error}") from error
    left = [f"left open: {one.name}" for one in cuts] if loops is not None else [
        f"friction, spring or coupling of the joint that closes a loop: {joint.name}"
        for joint in cut if must_stay(joint)]
    warn_once(source.file, [*robot.notes, *_doubts(robot), *left])
    return robot


def _spanning(graph: _Graph) -> set[str]:
    """The joints of a tree: the first of each link, unless a link is reached by others alone.

    One that would lose something by being cut comes before others. Where links are each other's
    parents, the first of them in the file is a root.
    """
    ways = Counter(joint.child for joint in graph.joints)
    first: dict[str, SdfJoint] = {}
    for joint in sorted(graph.joints, key=lambda x: ways[x.child] > 1 and not must_stay(x)):
        first.setdefault(joint.child, joint)
    roots = [link.name for link in graph.links if link.name not in first]
    for joints in (tuple(first.values()), graph.joints):
        found = list(depth_first(replace(graph, joints=joints), "", *roots))
        if len(found) + len(roots) == len(graph.links):
            break
    while len(found) + len(roots) < len(graph.links):
        reached = {*roots, *(joint.child for joint in found)}
        roots.append(next(x.name for x in graph.links if x.name not in reached))
        found = list(depth_first(graph, "", *roots))
    return {joint.name for joint in found}


def _graph(top: Scope) -> _Graph:
    scopes = list(top.walk())
    links = [_Link(scope.prefix + name, line(element), scope, element)
             for scope in scopes for name, element in scope.links.items()]
    joints = [SdfJoint.of(scope, element) for scope in scopes for element in scope.joints.values()]
    if not links or max(len(links), len(joints)) > MAX_LINKS:
        raise top.source.fault(top.element, f"a robot has 1 to {MAX_LINKS} links and joints, this "
                                            f"has {len(links)} links and {len(joints)} joints")
    models = list(top.models)
    stem = "robot" if top.source.file == TEXT else Path(top.source.file).stem
    name = models[0] if len(models) == 1 else top.element.get("name") or stem
    return _Graph(name, top.source.file, line(top.element), tuple(links), tuple(joints))


def _robot(top: Scope, graph: _Graph, floating: bool) -> Robot:
    below = {joint.child for joint in graph.joints}
    roots = [link for link in graph.links if link.name not in below]
    free = [link for link in roots if floating and not link.scope.static]
    held = next((joint for joint in graph.joints if joint.parent_link is None), None)
    if floating and not free:
        why = f"the joint {held.name!r} holds it" if held else "its models are static"
        raise ModelError(f"floating=True, but no link is free: {why}")
    matter = {link.name: _matter(link) for link in graph.links}
    taken = {joint.name for joint in graph.joints}
    bodies: list[Body] = []
    for joint in depth_first(graph, ""):
        bodies += _bodies(joint, matter)
    for root in roots:
        place = in_world((root.scope, root.element.get("name") or ""))
        base: Joint = Fixed()
        if root in free:
            label = f"/{root.name}" if len(free) > 1 else ""
            base, place = base_joint(taken, label), np.eye(4)
        bodies.append(Body(root.name, None, base, clean(place), *matter[root.name]))
        for joint in depth_first(graph, root.name):
            bodies += _bodies(joint, matter)
    whole = Robot(graph.name, bodies, _gravity(top), _frames(top), graph.file,
                  notes=_notes(graph, {root.name for root in roots if root not in free}))
    if all(body.joint.is_fixed for body in bodies):
        raise ModelError("no joint moves, so that all links are part of the world; load it with "
                         "floating=True")
    robot = merged(bodies, whole, {body.name for body in bodies if body.joint.is_fixed})
    return _with_initial_positions(robot, graph)


def _with_initial_positions(robot: Robot, graph: _Graph) -> Robot:
    """The robot with the `<initial_position>` of its axes as a configuration, if any is given."""
    q = robot.neutral()
    for joint in graph.joints:
        at = robot.q_slices.get(joint.name, slice(0, 0))
        for i, axis in zip(range(robot.nq)[at], ("axis", "axis2"), strict=False):
            if joint.element.get("type") != "ball":
                q[i] = joint.scope.source.number(child(joint.element, axis), "initial_position", 0)
    if np.array_equal(q, robot.neutral()):
        return robot
    return replace(robot, configurations={"initial_position": q})


def _bodies(joint: SdfJoint, matter: dict[str, tuple[Inertia, float]]) -> Iterator[Body]:
    """The child link; on a ball or universal joint beside its origin it sits on a body there."""
    moves, placement, at = joint.body()
    name, parent = joint.child, joint.parent or None
    if np.any(at[:3, 3]):
        between = f"{name}/{joint.name}"
        yield Body(between, parent, moves, placement)
        yield Body(name, between, Fixed(), inverse(at), *matter[name])
    else:
        yield Body(name, parent, moves, placement, *matter[name])


def _matter(link: _Link) -> tuple[Inertia, float]:
    """`<inertial>`, and the part of the weight that is carried: all of it if gravity is off.

    Where it says nothing SDF has 1 kg, and 1 kg m² about each axis.
    """
    source, given = link.scope.source, child(link.element, "inertial")
    if given is not None and (given.get("auto") or "").lower() in ("1", "true"):
        raise source.fault(given, f"link {link.name!r}: <inertial auto> is computed from shapes, "
                                  "which are not read; give mass and inertia")
    mass = source.number(given, "mass", 1.0)
    if not 0 <= mass < np.inf:
        raise source.fault(link.element, f"link {link.name!r}: mass {mass!r} kg must be ≥ 0")
    moments = None if given is None else child(given, "inertia")
    xx, xy, xz, yy, yz, zz = (source.number(moments, name, default) for name, default in (
        ("ixx", 1.0), ("ixy", 0.0), ("ixz", 0.0), ("iyy", 1.0), ("iyz", 0.0), ("izz", 1.0)))
    T = np.eye(4) if given is None else source.pose(given)[0]
    tensor = T[:3, :3] @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ T[:3, :3].T
    weightless = not source.truth(link.element, "gravity", default=True)
    return Inertia(mass, T[:3, 3], 0.5 * tensor + 0.5 * tensor.T), float(weightless)


def _frames(top: Scope) -> list[Frame]:
    """The `<frame>` elements of all models on the links that they are attached to."""
    found = []
    for scope in top.walk():
        for name in scope.frames:
            link = scope.link(name)
            place = scope.in_world @ scope.at(name)
            if link is not None:
                place = inverse(in_world(link)) @ place
            found.append(Frame(scope.prefix + name, link and full_name(link), clean(place)))
    return found


def _gravity(top: Scope) -> tuple[float, ...]:
    if top.element is top.source.root:
        return STANDARD_GRAVITY
    physics = child(top.element, "physics")
    places = (top.element, *([physics] if physics is not None else []))
    given = next((g for place in places if (g := child(place, "gravity")) is not None), None)
    return DEFAULT_GRAVITY if given is None else top.source.numbers(given, 3, DEFAULT_GRAVITY)


def _notes(graph: _Graph, held: set[str]) -> Iterator[str]:
    """What was taken for granted or left out; links that are held lie in the world."""
    links = [link for link in graph.links if link.name not in held and not link.scope.static]
    yield from _about([link.name for link in links if child(link.element, "inertial") is None],
                      "no <inertial>, so that SDF gives it 1 kg: link")
    models = {id(up): up for link in graph.links if (up := link.element.getparent()) is not None}
    beside = {full_tag(x): x for model in models.values() for x in model.iterchildren("{*}*")
              if full_tag(x).startswith("drake:") and full_tag(x) != BALL_CONSTRAINT}
    if "drake:joint" in beside:
        raise FormatError(f"{graph.file}:{line(beside['drake:joint'])}: <drake:joint> is no joint "
                          "of SDF")
    yield from _about([f"<{name}>" for name in beside], "elements that are ignored:")


def _doubts(robot: Robot) -> Iterator[str]:
    """What was kept though it cannot be."""
    yield from _about([body.name for body in robot.bodies if body.inertia.impossibility()],
                      "an inertia that no body can have (`lint` says why): link")
    yield from limit_faults(robot)


def _about(names: list[str], what: str) -> Iterator[str]:
    """`what a, b, c and 7 more`, if there is any."""
    if names:
        more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
        yield f"{what} {', '.join(names[:LISTED])}{more}"
