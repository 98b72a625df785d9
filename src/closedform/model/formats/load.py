"""`load`: a robot from a file, from XML text, or by a built-in's name."""

from __future__ import annotations

import difflib
import os
from dataclasses import replace
from pathlib import Path

import numpy as np

from closedform.errors import ArgumentError, FormatError, ModelError
from closedform.model.formats.urdf import base_joint, read_urdf
from closedform.model.formats.xml import (
    Element,
    is_xml_text,
    parse_xml,
    read_bytes,
    read_xml,
    tag,
)
from closedform.model.robot import Body, Frame, Robot

BASE = "base"
"""Name of the massless body that a floating base adds to a robot whose base is the world."""


def load(source: str | os.PathLike[str], floating: bool = False) -> Robot:
    """The robot in `source`: a path (URDF, MJCF, TOML table), a built-in's name, or XML text.

    The document decides what it is, not its name: `<robot>` is URDF, `<mujoco>` MJCF. The root link
    is part of the world, or with `floating=True` body 0 on a free joint; a robot without a link for
    it gets a massless one, `base`.
    """
    found = located(source)
    if isinstance(found, Robot):
        return floated(found) if floating else found
    if isinstance(found, Path) and found.suffix.lower() == ".toml":
        from closedform.model.formats.table import read_table
        return read_table(found, floating)
    root = document_root(found)
    if tag(root) == "mujoco":
        from closedform.model.formats.mjcf import read_mjcf
        return read_mjcf(found, floating)
    if tag(root) == "robot":
        return read_urdf(found, floating)
    file = found if isinstance(found, Path) else "the text"
    raise FormatError(f"{file}:{root.sourceline}: the root element is <{tag(root)}>; <robot> "
                      "(URDF) or <mujoco> (MJCF) was expected")


def located(source: str | os.PathLike[str]) -> Robot | Path | str:
    """What `source` stands for: a built-in robot, the Path of a file that exists, or XML text."""
    from closedform.model.zoo import BUILTIN, builtin
    if isinstance(source, str):
        if source in BUILTIN:
            return builtin(source)
        if is_xml_text(source):
            return source
    elif not isinstance(source, os.PathLike):
        raise ArgumentError("source must be a path, a built-in robot's name or XML text, not "
                            f"{source!r:.200}")
    path = Path(source)
    if _exists(path):
        return path
    close = difflib.get_close_matches(str(source), BUILTIN, n=1, cutoff=0.5)
    hint = f"did you mean {close[0]!r}? " if close else ""
    raise ArgumentError(f"source: there is no file and no built-in robot {str(source)!r:.200}; "
                        f"{hint}built-in robots are {', '.join(BUILTIN)}")


def _exists(path: Path) -> bool:
    try:
        return path.exists() and str(path) != "."
    except (OSError, ValueError):  # too long, or with a null character
        return False


def document_root(source: Path | str) -> Element:
    """The root element of an XML file or text."""
    if isinstance(source, str):
        return read_xml(source).checked_root()
    content = read_bytes(source)
    document = parse_xml(content, str(source))
    if document.root is None and b"<" not in content[:1000].replace(b"\0", b""):
        raise FormatError(f"{source}:1: no XML and not named .toml; a URDF, an MJCF or a TOML "
                          "table was expected")
    return document.checked_root()


def floated(robot: Robot) -> Robot:
    """The robot on a massless body `base` with a free joint, body 0; former roots hang on it."""
    if robot.is_floating:
        raise ModelError(f"floating=True, but {robot.name} already has a floating base")
    moved = [f for f in robot.frames if f.body is None]
    at_base = {f.name for f in moved if np.array_equal(f.placement, np.eye(4))}
    taken = {*robot.body_names, *robot.frame_names} - at_base
    name = next(n for n in (BASE + "_" * i for i in range(len(taken) + 1)) if n not in taken)
    base = Body(name, None, base_joint({body.joint_name for body in robot.bodies}))
    bodies = [replace(b, parent=name) if b.parent is None else b for b in robot.bodies]
    frames = [Frame(f.name, f.body or name, f.placement) for f in robot.frames if f.name != name]
    return Robot(robot.name, [base, *bodies], robot.gravity, frames, robot.source)
