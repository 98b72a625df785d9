"""Lint of a URDF as it is written: every fault and every doubt with its line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from closedform.model.findings import Finding, Level
from closedform.model.formats.tree import depth_first, root_links
from closedform.model.formats.urdf.document import AXISLESS, UrdfDocument, UrdfJoint, UrdfLink
from closedform.model.formats.urdf.tree import file_faults, tree_faults
from closedform.model.lint.rules import Doubt, inertia_doubts, limit_doubts, massless_doubt


def urdf_findings(urdf: UrdfDocument) -> list[Finding]:
    """All findings of a URDF, in the order of its lines."""
    found = file_faults(urdf)
    if not urdf.links or any(f.rule == "xacro" and f.level is Level.ERROR for f in found):
        return found
    for link in urdf.links:
        found += _placed(urdf, f"link {link.name!r}", _link_doubts(link))
    for joint in urdf.joints:
        found += _placed(urdf, f"joint {joint.name!r}", _joint_doubts(joint))
    if not any(fault.level is Level.ERROR for fault in tree_faults(urdf)):
        found += _massless(urdf)
    return sorted(found, key=lambda f: f.line or 0)


Located = tuple[int | None, Doubt]


def _placed(urdf: UrdfDocument, subject: str, doubts: Iterable[Located]) -> Iterator[Finding]:
    for line, doubt in doubts:
        yield Finding(doubt.level, doubt.rule, subject, f"{subject}: {doubt.message}", doubt.repair,
                      urdf.file, line)


def _link_doubts(link: UrdfLink) -> Iterator[Located]:
    given = link.inertial
    if given is not None and given.mass >= 0:  # negative and unreadable masses are faults already
        for doubt in inertia_doubts(given.mass, given.written_tensor):
            yield (given.mass_line if doubt.rule == "mass-unit" else given.tensor_line), doubt


def _joint_doubts(joint: UrdfJoint) -> Iterator[Located]:
    if joint.kind not in AXISLESS:
        yield from ((joint.axis_line, doubt) for doubt in _axis_doubts(joint))
    if joint.kind in ("revolute", "prismatic"):
        yield from _limit_doubts(joint)
    if joint.mimic is not None:
        if joint.kind == "fixed":
            yield joint.mimic.line, Doubt(
                Level.WARNING, "mimic-on-fixed", "a fixed joint mimics nothing: <mimic> is ignored",
                "remove <mimic>, or let the joint move")
        elif joint.mimic.multiplier == 0:
            yield joint.mimic.line, Doubt(
                Level.WARNING, "mimic-of-nothing", "multiplier 0: it never moves",
                "make the joint fixed, or give its ratio")


def _axis_doubts(joint: UrdfJoint) -> Iterator[Doubt]:
    length = float(np.linalg.norm(joint.axis))
    off = abs(length - 1)
    if off > 1e-6 and 1e-12 < length < np.inf:
        level = Level.WARNING if off > 1e-3 else Level.INFO
        unit = " ".join(f"{x:.16g}" for x in np.array(joint.axis) / length)
        written = " ".join(f"{x:g}" for x in joint.axis)
        yield Doubt(level, "axis-not-unit", f"axis {written} has the length {length:.9g}",
                    f'xyz="{unit}"')


def _limit_doubts(joint: UrdfJoint) -> Iterator[Located]:
    limit = joint.limit
    if limit is None:
        yield joint.line, Doubt(Level.WARNING, "no-limits", f"a {joint.kind} joint without <limit>",
                                "add <limit lower upper effort velocity>, or make it continuous")
        return
    missing = [name for name in ("lower", "upper", "effort", "velocity")
               if getattr(limit, name) is None]
    if missing:
        yield limit.line, Doubt(Level.WARNING, "no-limits", f"<limit> does not give "
                                f"{', '.join(missing)}; URDF takes lower and upper as 0",
                                "give " + " and ".join(missing))
    swapped = limit_doubts(limit.lower or 0.0, limit.upper or 0.0)
    yield from ((limit.line, doubt) for doubt in swapped)


def _some_mass(link: UrdfLink) -> float:
    """The link's mass; 1 where it is given but is no mass, so that only that is reported."""
    mass = 0.0 if link.inertial is None else link.inertial.mass
    return mass if mass >= 0 else 1.0


def _massless(urdf: UrdfDocument) -> list[Finding]:
    """Moving links that have no mass with all that is fixed to them, by what they carry.

    Where no link has mass, that is said once.
    """
    root = root_links(urdf)[0].name
    own = {link.name: _some_mass(link) for link in urdf.links}
    joints = list(depth_first(urdf, root))
    rigid, carried = dict(own), dict(own)
    for joint in reversed(joints):
        carried[joint.parent] += carried[joint.child]
        if joint.kind == "fixed":
            rigid[joint.parent] += rigid[joint.child]
    lines = {link.name: link.line for link in urdf.links}
    found = [finding for joint in joints if joint.kind != "fixed" and rigid[joint.child] == 0
             for finding in _placed(urdf, f"link {joint.child!r}",
                                    [(lines[joint.child], massless_doubt(carried[joint.child]))])]
    if len(found) > 1 and not any(own.values()):
        message = f"none of the {len(own)} links has mass: there are kinematics and no dynamics"
        return [replace(found[0], subject=f"robot {urdf.name!r}", message=message,
                        repair="give the links <inertial> elements")]
    return found
