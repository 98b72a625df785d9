"""What URDF files hold beside URDF: read where the model has a place for it, named where not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from closedform.model.findings import Finding, Level
from closedform.model.formats.xml import Element, child, children, full_tag, line, prefixed, tag

LANGUAGE = ("xacro:if", "xacro:unless")
"""What puts links and joints there by itself; a call does so where its macro is in the file."""


DRAKE_JOINT = "drake:joint"
DRAKE_KINDS = ("ball", "universal", "screw", "planar")
"""The joints that Drake adds to URDF."""
SPHERICAL = "spherical"
"""A ball joint in the URDF of Bullet and MuJoCo."""


def joint_elements(root: Element) -> list[Element]:
    """The joints of the file, those of Drake's dialect among them."""
    return [x for x in root.iterchildren("{*}joint", DRAKE_JOINT)
            if x.prefix is None or full_tag(x) == DRAKE_JOINT]


def xacro_finding(file: str, line: int | None) -> Finding:
    """A xacro file is a program that writes URDF, not URDF."""
    return Finding(Level.ERROR, "xacro", "document", "this is a xacro file, not URDF",
                   "load it as a .xacro file with closedform[xacro], or run xacro first: "
                   "`xacro FILE > robot.urdf`", file, line)


def xacro_elements(root: Element) -> list[Element]:
    """The elements of xacro's language; a mere declaration of its namespace is none."""
    named = "//*[starts-with(name(), 'xacro:') or contains(namespace-uri(), 'xacro')]"
    found: Any = root.xpath(named)
    return list(found)


def xacro_findings(root: Element, file: str) -> list[Finding]:
    """An error for a xacro file; a warning for elements that were left over in a plain URDF.

    It is a program if it decides by itself which links there are, or if names are to be computed.
    """
    found = xacro_elements(root)
    macros = {f"xacro:{x.get('name')}" for x in found if tag(x).endswith("macro")}
    acts = [x for x in found if _written(x) in {*LANGUAGE, *macros}]
    computed = [x for x in (root, *children(root, "link"), *joint_elements(root))
                if re.search(r"\$[{(]", x.get("name") or "")]
    if acts or computed:
        return [xacro_finding(file, line((acts + computed)[0]))]
    if not found:
        return []
    names = ", ".join(dict.fromkeys(f"<{_written(x)}>" for x in found))
    return [Finding(Level.WARNING, "xacro", "document", f"elements of xacro are ignored: {names}",
                    "expand them by `xacro FILE > robot.urdf`, or remove them", file,
                    line(found[0]))]


def _written(element: Element) -> str:
    return f"xacro:{tag(element).removeprefix('xacro:')}"


def extension_findings(root: Element, file: str) -> Iterator[Finding]:
    """Joints of other dialects, which no tree of URDF joints has, each by its name."""
    for element in root.iterchildren("{*}loop_joint", "{*}loop", "{*}joint", DRAKE_JOINT):
        name, written = element.get("name"), full_tag(element)
        if written in ("loop_joint", "loop"):
            yield Finding(Level.INFO, "loop-joint", f"{written} {name!r}",
                          f"<{written}> {name!r} closes a loop, but is no element of URDF: other "
                          "readers leave it open", "", file, line(element))
        elif written == DRAKE_JOINT or element.get("type") == SPHERICAL:
            kind = element.get("type")
            yield Finding(Level.INFO, f"{kind if written == 'joint' else 'drake'}-joint",
                          f"{written} {name!r}", f"<{written}> {name!r} of type {kind!r} is read, "
                          "but is no joint of URDF: other readers leave it out or refuse it", "",
                          file, line(element))


def rotor_inertias(root: Element) -> dict[str, list[tuple[Element | None, Element | None]]]:
    """Of each joint with Drake's `rotor_inertia`: these elements, with their `gear_ratio`s."""
    found: dict[str, list[tuple[Element | None, Element | None]]] = {}
    for transmission in children(root, "transmission"):
        joint = child(transmission, "joint")
        name = None if joint is None else joint.get("name")
        for actuator in children(transmission, "actuator"):
            rotor = prefixed(actuator, "drake:rotor_inertia")
            if rotor is not None and name:
                found.setdefault(name, []).append((rotor, prefixed(actuator, "drake:gear_ratio")))
    return found
