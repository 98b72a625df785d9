"""The tree of a URDF: what must hold for its links and joints, and the order to walk them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from closedform.model.findings import Finding, Level
from closedform.model.formats.urdf.document import (
    ONE_COORDINATE,
    UrdfDocument,
    UrdfJoint,
    UrdfLink,
)
from closedform.model.formats.urdf.extensions import xacro_finding

MAX_MIMICS = 64
"""The most joints that may follow one another by mimicking."""


def file_faults(urdf: UrdfDocument) -> list[Finding]:
    """All faults of a file; of one that is no URDF while xacro has not run, only that."""
    faults = [*urdf.faults, *(tree_faults(urdf) if urdf.links else ())]
    xacro = next((f for f in urdf.faults if f.rule == "xacro"), None)
    if xacro is not None and any(f.level is Level.ERROR for f in faults):
        return [xacro_finding(urdf.file, xacro.line)]
    return faults


def tree_faults(urdf: UrdfDocument) -> list[Finding]:
    """Why the links and joints are no tree with resolvable mimics; empty for a good file.

    Errors refuse the file; a lost mimic is a warning, for the joint then moves by itself.
    """
    return [*_repeated_names(urdf), *_unknown_links(urdf), *_second_parents(urdf), *_roots(urdf),
            *mimic_faults(urdf)]


def root_links(urdf: UrdfDocument) -> list[UrdfLink]:
    """Links that are no joint's child."""
    held = {joint.child for joint in urdf.joints}
    return [link for link in urdf.links if link.name not in held]


def depth_first(urdf: UrdfDocument, *roots: str) -> Iterator[UrdfJoint]:
    """The joints from the roots on, depth first, siblings in the file's order."""
    below: dict[str, list[UrdfJoint]] = defaultdict(list)
    for joint in urdf.joints:
        below[joint.parent].append(joint)
    seen = set(roots)
    waiting = [joint for root in reversed(roots) for joint in reversed(below[root])]
    while waiting:
        joint = waiting.pop()
        if joint.child not in seen:
            seen.add(joint.child)
            yield joint
            waiting += reversed(below[joint.child])


def mimic_chain(joints: Mapping[str, UrdfJoint], joint: UrdfJoint) -> list[UrdfJoint]:
    """The joint, the one it mimics, and so on, to one that moves by itself or to `MAX_MIMICS`."""
    chain = [joint]
    while len(chain) < MAX_MIMICS and (following := joints.get(_mimics(chain[-1]) or "")):
        chain.append(following)
    return chain


def _mimics(joint: UrdfJoint) -> str | None:
    """The name of the joint that is followed; a fixed joint follows none."""
    return joint.mimic.joint if joint.mimic is not None and joint.kind != "fixed" else None


def mimic_faults(urdf: UrdfDocument) -> list[Finding]:
    joints = {joint.name: joint for joint in urdf.joints}
    found = []
    for joint in urdf.joints:
        of = _mimics(joint)
        if of is None or joint.mimic is None:
            continue
        subject, line = f"joint {joint.name!r}", joint.mimic.line
        last = mimic_chain(joints, joint)[-1]
        if of not in joints:
            message = f"{subject}: it mimics {of!r}, which is no joint, and so moves by itself"
            found.append(Finding(Level.WARNING, "lost-mimic", subject, message,
                                 "name a joint of this file", urdf.file, line))
        elif joint.kind not in ONE_COORDINATE:
            found.append(_fault(urdf, "lost-mimic", subject, f"a {joint.kind} joint cannot mimic",
                                "only joints with one coordinate can", line))
        elif _mimics(last) in joints:
            message = f"mimics go in a circle, or on over more than {MAX_MIMICS} joints"
            found.append(_fault(urdf, "mimic-circle", subject, message,
                                "let one of them move by itself", line))
        elif joints[of].kind not in (*ONE_COORDINATE, "fixed"):
            message = f"it mimics {of!r}, a {joints[of].kind} joint"
            found.append(_fault(urdf, "lost-mimic", subject, message,
                                "mimic a joint with one coordinate", line))
    return found


def _fault(urdf: UrdfDocument, rule: str, subject: str, message: str, repair: str,
           line: int | None) -> Finding:
    return Finding(Level.ERROR, rule, subject, f"{subject}: {message}", repair, urdf.file, line)


def _repeated_names(urdf: UrdfDocument) -> Iterator[Finding]:
    records: tuple[tuple[str, Sequence[UrdfLink | UrdfJoint]], ...] = (
        ("link", urdf.links), ("joint", urdf.joints))
    for what, given in records:
        first: dict[str, UrdfLink | UrdfJoint] = {}
        for record in given:
            if record.name and first.setdefault(record.name, record) is not record:
                yield _fault(urdf, "repeated-name", f"{what} {record.name!r}",
                             f"the name is taken in line {first[record.name].line}", "rename one",
                             record.line)


def _unknown_links(urdf: UrdfDocument) -> Iterator[Finding]:
    known = {link.name for link in urdf.links}
    for joint in urdf.joints:
        for role, name in (("parent", joint.parent), ("child", joint.child)):
            if name and name not in known:
                yield _fault(urdf, "unknown-link", f"joint {joint.name!r}",
                             f"its {role} {name!r} is no link of the file",
                             "add or rename the link", joint.line)


def _second_parents(urdf: UrdfDocument) -> Iterator[Finding]:
    first: dict[str, UrdfJoint] = {}
    for joint in urdf.joints:
        other = first.setdefault(joint.child, joint)
        if joint.child and other is not joint:
            yield _fault(urdf, "closed-loop", f"link {joint.child!r}",
                         f"it is the child of two joints, {other.name!r} and {joint.name!r}: a "
                         "closed loop", "cut the loop: keep one of the two joints", joint.line)


def _roots(urdf: UrdfDocument) -> Iterator[Finding]:
    """One root, and no link out of its reach: what is not reached hangs on a cycle."""
    roots = root_links(urdf)
    if len(roots) > 1:
        listed = ", ".join(repr(link.name) for link in roots[:20])
        yield _fault(urdf, "disconnected", f"robot {urdf.name!r}",
                     f"{len(roots)} links have no parent: {listed}",
                     "connect them by joints to one root", roots[1].line)
    known = {link.name for link in urdf.links}
    unknown = {joint.parent for joint in urdf.joints} - known  # reported; what hangs on them is not
    names = [*(link.name for link in roots), *unknown]
    reached = {*names, *(joint.child for joint in depth_first(urdf, *names))}
    parent = {joint.child: joint.parent for joint in reversed(urdf.joints)}
    for link in urdf.links:
        if link.name not in reached:
            cycle = _cycle_above(link.name, parent)
            reached |= {*cycle, *(joint.child for joint in depth_first(urdf, *cycle))}
            shown = [*cycle, cycle[0]] if len(cycle) < 20 else [*cycle[:18], "…", cycle[0]]
            yield _fault(urdf, "cycle", f"link {cycle[0]!r}",
                         f"links are each other's parents: {' → '.join(shown)}",
                         "cut the loop: remove one of its joints", link.line)


def _cycle_above(link: str, parent: Mapping[str, str]) -> list[str]:
    """The links that repeat when one walks from a link to its parents, parents first."""
    path: dict[str, None] = {}
    while link not in path:
        path[link] = None
        link = parent[link]
    names = list(path)
    return names[names.index(link):][::-1]
