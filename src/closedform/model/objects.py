"""Robots that other libraries hold in memory or know by name.

They are recognised by the names of their types, so that no library is imported for those who do
not use it: `mujoco.MjModel`, `mujoco.MjSpec`, `pinocchio.Model` (and wrappers that have one) and
`yourdfpy.URDF`. `robot_descriptions:NAME` is the file of that module of `robot_descriptions`.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from closedform.errors import ArgumentError, MissingDependency
from closedform.model.formats.mjcf.read import mujoco_robot
from closedform.model.formats.pinocchio import pinocchio_robot
from closedform.model.formats.urdf.read import read_urdf
from closedform.model.robot import Robot

DESCRIPTIONS = "robot_descriptions:"
"""What a name of the package `robot_descriptions` begins with."""


def _yourdfpy_robot(source: Any, floating: bool, loops: str | None) -> Robot:
    text = source.write_xml_string()
    return read_urdf(text.decode() if isinstance(text, bytes) else text, floating)


Reader = Callable[[Any, bool, str | None], Robot]
READERS: dict[tuple[str, str], Reader] = {
    ("mujoco", "MjModel"): mujoco_robot,
    ("mujoco", "MjSpec"): mujoco_robot,
    ("pinocchio", "Model"): lambda model, floating, _: pinocchio_robot(model, floating),
    ("pinocchio", "RobotWrapper"):
        lambda wrapper, floating, _: pinocchio_robot(wrapper.model, floating),
    ("yourdfpy", "URDF"): _yourdfpy_robot,
}
"""How an object is read, by the package and the name of its type."""


def reader_of(source: object) -> Reader | None:
    """How to read an object of another library; None if it is none of those known."""
    for kind in type(source).__mro__:
        package = kind.__module__.partition(".")[0]
        if (package, kind.__name__) in READERS:
            return READERS[package, kind.__name__]
    return None


def described_file(source: str) -> Path:
    """The file of `robot_descriptions:NAME`, which that package fetches when it is first used."""
    name = source.removeprefix(DESCRIPTIONS)
    if not re.fullmatch(r"[A-Za-z]\w*", name):
        raise ArgumentError(f"{DESCRIPTIONS} must be followed by the name of a description, such "
                            f"as {DESCRIPTIONS}panda_description, not {name!r:.100}")
    try:
        importlib.import_module("robot_descriptions")
    except ImportError as error:
        raise MissingDependency(f"{source!r} needs the package robot_descriptions, which is not "
                                "installed: pip install robot_descriptions") from error
    try:
        module = importlib.import_module(f"robot_descriptions.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"robot_descriptions.{name}":
            raise MissingDependency(f"{source!r}: {error}") from error
        raise ArgumentError(f"robot_descriptions has no {name!r}; its page lists those there are, "
                            "such as panda_description (URDF) and panda_mj_description (MJCF)"
                            ) from error
    except Exception as error:  # whatever fetching a repository may raise
        raise ArgumentError(f"robot_descriptions cannot fetch {name!r}: "
                            f"{' '.join(str(error).split()):.300}") from error
    for attribute in ("URDF_PATH", "MJCF_PATH", "SDF_PATH", "XACRO_PATH"):
        if hasattr(module, attribute):
            return Path(getattr(module, attribute))
    raise ArgumentError(f"robot_descriptions.{name} names no file of a robot")
