"""`lint`: what is wrong or doubtful in a robot or its file, where, and how to repair it."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from closedform.arrays import numeric
from closedform.errors import FormatError, MissingDependency, ModelError, ModelWarning
from closedform.model.findings import Finding, Level
from closedform.model.formats.mjcf.document import is_mjcf, mjcf_document, mjcf_name_faults
from closedform.model.formats.objects import reader_of
from closedform.model.formats.urdf.document import UrdfDocument, urdf_document
from closedform.model.formats.urdf.read import assembled
from closedform.model.formats.xacro import urdf_source
from closedform.model.formats.xml import TEXT, Document, is_xml_text, read_xml, tag
from closedform.model.joints import swapped_limits
from closedform.model.lint.loops import loop_doubts
from closedform.model.lint.rules import (
    Doubt,
    inertia_doubts,
    limit_doubts,
    massless_doubt,
    rounded_doubt,
)
from closedform.model.lint.urdf import urdf_findings
from closedform.model.load import load, located
from closedform.model.robot import Body, Robot
from closedform.model.zoo.zoo import BUILTIN


def lint(robot_or_file: Any, *, loops: str | None = None,
         mappings: Mapping[str, Any] | None = None) -> list[Finding]:
    """Findings about a robot, or about anything that `load` takes; none for a good model.

    A URDF is looked at as it is written, link by link, and every fault is reported, with its line.
    `loops` and `mappings` are those of `load`.
    """
    if isinstance(robot_or_file, Robot):
        return robot_findings(robot_or_file, robot_or_file.name)
    if reader_of(robot_or_file) is not None:
        return _loaded_findings(robot_or_file, loops)
    found = located(robot_or_file)
    if found not in BUILTIN and not (isinstance(found, Path) and found.suffix.lower() == ".toml"):
        document = mjcf_document(found) if is_mjcf(found) else _document(found, mappings)
        kind = None if document.root is None else tag(document.root)
        if not is_mjcf(found) and kind != "sdf":
            return _of_urdf(urdf_document(document), loops)
        faults = mjcf_name_faults(document) if kind == "mujoco" else document.findings
        if faults:
            return list(faults)
    return _loaded_findings(found, loops)


def _of_urdf(urdf: UrdfDocument, loops: str | None) -> list[Finding]:
    """What is written, and where that is no obstacle, how its loops close."""
    found = urdf_findings(urdf)
    if not urdf.loops or loops is not None or any(x.level is Level.ERROR for x in found):
        return found
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelWarning)
            robot = assembled(urdf)
    except ModelError as error:
        return [*found, _refusal("loop", error, urdf.file)]
    return [*found, *(_finding(doubt, about, urdf.file) for about, doubt in loop_doubts(robot))]


def _document(source: Path | str, mappings: Mapping[str, Any] | None) -> Document:
    """The document as `load` reads it; a xacro file that nothing here can expand as it is."""
    try:
        return urdf_source(source, mappings)
    except MissingDependency:
        return read_xml(source)
    except FormatError as error:
        if isinstance(source, str) or "xacro says" not in str(error):
            raise
        return Document(str(source), None, (_refusal("xacro", error, str(source)),))


def _loaded_findings(source: Any, loops: str | None) -> list[Finding]:
    """Findings about a file that is read without line numbers: why it fails, or the robot's."""
    file = TEXT if isinstance(source, str) and is_xml_text(source) else f"{source!s:.200}"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelWarning)
            robot = load(source, loops=loops)
    except ModelError as error:
        return [_refusal("unreadable", error, file)]
    return robot_findings(robot, file)


def _refusal(rule: str, error: ModelError, file: str) -> Finding:
    """What `load` says, its `file:line:` as the finding's place."""
    place = re.match(rf"{re.escape(file)}:(?:(\d+):)? ", str(error))
    message = str(error)[place.end():] if place else str(error)
    return Finding(Level.ERROR, rule, "document", message, "", file,
                   int(place[1]) if place and place[1] else None)


def robot_findings(robot: Robot, file: str) -> list[Finding]:
    """Findings about a robot's bodies and joints; symbols are taken to be right."""
    carried = _carried_masses(robot)
    found = [Finding(Level.WARNING, "left-out", "document", note, "", file) for note in robot.notes]
    between = _between_joints(robot)
    for body in robot.bodies:
        doubts = [*_body_doubts(body, carried[body.name]), *_joint_doubts(body)]
        doubts = [d for d in doubts if d.rule != "massless-body" or body.name not in between]
        found += [_finding(d, f"body {body.name!r}", file) for d in doubts]
    for kind, placed in (("body", robot.bodies), ("frame", robot.frames)):
        found += [_finding(rounded_doubt(x.rounded), f"{kind} {x.name!r}", file)
                  for x in placed if x.rounded]
    return found + [_finding(doubt, about, file) for about, doubt in loop_doubts(robot)]


def _finding(doubt: Doubt, subject: str, file: str) -> Finding:
    return Finding(doubt.level, doubt.rule, subject, f"{subject}: {doubt.message}", doubt.repair,
                   file)


def _between_joints(robot: Robot) -> set[str]:
    """The bodies `body/joint` that reading puts between the joints of one body."""
    ends = {body.name: body.name.removesuffix(f"/{body.joint.name or body.name.rpartition('/')[2]}")
            for body in robot.bodies}
    return {body.parent for body in robot.bodies if body.parent and ends[body.parent] != body.parent
            and ends[body.parent] in (body.name, ends[body.name])}


def _carried_masses(robot: Robot) -> dict[str, float]:
    """The mass of each body with all that hangs on it; symbols count as 1."""
    masses = {b.name: float(b.inertia.mass) if numeric(b.inertia.array) else 1.0
              for b in robot.bodies}
    for body in reversed(robot.bodies):
        if body.parent is not None:
            masses[body.parent] += masses[body.name]
    return masses


def _body_doubts(body: Body, carried: float) -> Iterator[Doubt]:
    inertia = body.inertia
    if not numeric(inertia.array):
        return
    if inertia.mass > 0:
        with np.errstate(over="ignore", invalid="ignore"):
            tensor = _clean_tensor(body)
        yield from inertia_doubts(inertia.mass, tensor)
    elif inertia.mass < 0 or np.any(inertia.array != 0):
        reason = inertia.impossibility() or ""
        yield Doubt(Level.WARNING, "regrouped", reason, "fine for a body of base parameters only")
    elif not body.joint.is_fixed and body.joint.rotor_inertia is None:
        yield massless_doubt(carried)


def _clean_tensor(body: Body) -> np.ndarray:
    """The tensor about the centre of mass, without what rounding leaves of a point mass."""
    tensor = np.asarray(body.inertia.tensor, float)
    rounding = 1e-12 * np.abs(body.inertia.origin_tensor).max()
    return np.where(np.abs(tensor) > rounding, tensor, 0.0)


def _joint_doubts(body: Body) -> Iterator[Doubt]:
    joint = body.joint
    moves = joint.moving
    slides = moves.nq == 1 and moves.lengths
    if slides and (moves.lower is None or moves.upper is None):
        yield Doubt(Level.INFO, "no-limits", f"a {moves.kind} joint without limits",
                    "give lower and upper")
    for low, high in swapped_limits(moves):
        yield from limit_doubts(low, high)
    if joint.driver and not joint.driver.higher and numeric(np.asarray(joint.driver.ratio)) \
            and not np.any(joint.driver.ratio):
        yield Doubt(Level.WARNING, "mimic-of-nothing", "ratio 0: it never moves",
                    "make the joint fixed, or give its ratio")
