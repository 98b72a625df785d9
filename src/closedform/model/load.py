"""`load`: a robot from a file, from XML text, or by a built-in's name."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from closedform.errors import ArgumentError, FormatError, suggestion
from closedform.model.formats.mjcf.document import is_mjcf
from closedform.model.formats.mjcf.equalities import OPEN
from closedform.model.formats.mjcf.read import read_mjcf
from closedform.model.formats.objects import DESCRIPTIONS, described_file, reader_of
from closedform.model.formats.sdf.read import sdf_robot
from closedform.model.formats.srdf import with_states
from closedform.model.formats.symoro import read_symoro
from closedform.model.formats.table import read_table
from closedform.model.formats.urdf.read import urdf_robot
from closedform.model.formats.xacro import refuse_mappings, urdf_source
from closedform.model.formats.xml import is_xml_text, tag
from closedform.model.robot import Robot
from closedform.model.zoo.zoo import BUILTIN, builtin

TABLES = (".toml", ".par")


def load(source: Any, floating: bool = False,
         loops: str | None = None, *, mappings: Mapping[str, Any] | None = None,
         srdf: str | os.PathLike[str] | None = None) -> Robot:
    """The robot in `source`: a path (URDF, MJCF, SDF, table), a built-in's name, or XML text.

    The document decides what it is, not its name: `<robot>` is URDF, `<mujoco>` MJCF, `<sdf>` SDF.
    Objects of other libraries are robots too: `mujoco.MjModel`, `mujoco.MjSpec`, `pinocchio.Model`,
    `yourdfpy.URDF`, and names of the package `robot_descriptions`
    (`"robot_descriptions:panda_description"`).

    The root link is part of the world, or with `floating=True` body 0 on a free joint; a robot
    without a link for it gets a massless one, `base`. Loops that the file closes are closed (MJCF's
    equalities, `<loop_joint>`, `<loop>` and `<coupling>` in URDF, second parents in SDF, cut joints
    in SYMORO's .par); with `loops="open"` they are left out. A xacro file is expanded, by the
    package `xacro`, with the arguments `mappings`; the states of the SRDF file `srdf` become
    `robot.configurations`.
    """
    robot = _loaded(source, floating, loops, mappings)
    return robot if srdf is None else with_states(robot, srdf)


def _loaded(source: Any, floating: bool, loops: str | None,
            mappings: Mapping[str, Any] | None) -> Robot:
    if loops not in (None, OPEN):
        raise ArgumentError(f"loops must be {OPEN!r} or None, not {loops!r:.200}")
    reader = reader_of(source)
    if reader is not None:
        refuse_mappings(type(source).__name__, mappings)
        return reader(source, floating, loops)
    found = located(source)
    if isinstance(found, str) or found.suffix.lower() in TABLES or is_mjcf(found):
        refuse_mappings(found, mappings)
    if isinstance(found, str) and found in BUILTIN:
        robot = builtin(found, floating)
        return robot if loops is None else robot.tree
    if isinstance(found, Path) and found.suffix.lower() == ".toml":
        robot = read_table(found, floating)
        return robot if loops is None else robot.tree
    if isinstance(found, Path) and found.suffix.lower() == ".par":
        return read_symoro(found, loops)
    if is_mjcf(found):
        return read_mjcf(found, floating, loops)
    document = urdf_source(found, mappings)
    root = document.checked_root()
    if tag(root) == "robot":
        return urdf_robot(document, floating, loops)
    if tag(root) == "sdf":
        return sdf_robot(document, floating, loops)
    if tag(root) == "mujocoinclude":
        raise FormatError(f"{document.file}:{root.sourceline}: <mujocoinclude> is a part of MJCF; "
                          "load the file that includes it")
    raise FormatError(f"{document.file}:{root.sourceline}: the root element is <{tag(root)}>; "
                      "<robot> (URDF), <mujoco> (MJCF) or <sdf> (SDF) was expected")


def located(source: str | os.PathLike[str]) -> Path | str:
    """What `source` stands for: the Path of a file that exists, a built-in's name or XML text."""
    if isinstance(source, str):
        if source in BUILTIN or is_xml_text(source):
            return source
        if source.startswith(DESCRIPTIONS):
            source = described_file(source)
    elif not isinstance(source, os.PathLike):
        raise ArgumentError("source must be a path, a built-in robot's name, XML text or a model "
                            f"of MuJoCo, Pinocchio or yourdfpy, not {source!r:.200}")
    path = Path(source)
    if _exists(path):
        return path
    raise ArgumentError(f"there is no file and no built-in robot {str(source)!r:.200}; "
                        f"{suggestion(source, BUILTIN)}")


def _exists(path: Path) -> bool:
    try:
        return path.exists() and str(path) != "."
    except (OSError, ValueError):  # too long, or with a null character
        return False
