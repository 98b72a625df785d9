"""The faults of a URDF as a whole: its tree, its mimics, and whether it is one at all."""

from __future__ import annotations

from collections.abc import Mapping

from closedform.model.findings import Finding, Level
from closedform.model.formats.tree import fault, graph_faults
from closedform.model.formats.urdf.document import ONE_COORDINATE, UrdfDocument, UrdfJoint
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
    return [*graph_faults(urdf), *mimic_faults(urdf)]


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
            found.append(fault(urdf, "lost-mimic", subject, f"a {joint.kind} joint cannot mimic",
                                "only joints with one coordinate can", line))
        elif _mimics(last) in joints:
            message = f"mimics go in a circle, or on over more than {MAX_MIMICS} joints"
            found.append(fault(urdf, "mimic-circle", subject, message,
                                "let one of them move by itself", line))
        elif joints[of].kind not in (*ONE_COORDINATE, "fixed"):
            message = f"it mimics {of!r}, a {joints[of].kind} joint"
            found.append(fault(urdf, "lost-mimic", subject, message,
                                "mimic a joint with one coordinate", line))
    return found
