"""Robots that other libraries hold in memory or know by name.

They are recognised by the names of their types, so that no library is imported for those who do
not use it: `mujoco.MjModel`, `mujoco.MjSpec` and what dm_control and robosuite wrap them in,
`pinocchio.Model` (and wrappers that have one) and `yourdfpy.URDF`. `robot_descriptions:NAME` is the
file of that module of `robot_descriptions`.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lxml import etree

from closedform.errors import ArgumentError, MissingDependency
from closedform.model.formats.mjcf.compiled import import_mujoco
from closedform.model.formats.mjcf.read import mujoco_robot
from closedform.model.formats.pinocchio import pinocchio_robot
from closedform.model.formats.urdf.read import urdf_robot
from closedform.model.formats.xml import child, read_xml
from closedform.model.robot import Robot

DESCRIPTIONS = "robot_descriptions:"
"""What a name of the package `robot_descriptions` begins with."""


def _yourdfpy_robot(source: Any, floating: bool, loops: str | None) -> Robot:
    """Of the text that yourdfpy writes, with the mimics that it holds and does not write."""
    text = source.write_xml_string()
    document = read_xml(text.decode() if isinstance(text, bytes) else text)
    mimics = {joint.name: joint.mimic for joint in source.robot.joints if joint.mimic}
    for element in document.checked_root().iterchildren("joint"):
        mimic = mimics.get(element.get("name"))
        if mimic is not None and child(element, "mimic") is None:
            etree.SubElement(element, "mimic", {"joint": mimic.joint, "offset": str(mimic.offset),
                                                "multiplier": str(mimic.multiplier)})
    return urdf_robot(document, floating, loops)


def _dm_control_robot(source: Any, floating: bool, loops: str | None) -> Robot:
    """Of an `mjcf.RootElement`, which holds its meshes beside its text."""
    spec = import_mujoco().MjSpec.from_string(source.to_xml_string(), assets=source.get_assets())
    return mujoco_robot(spec, floating, loops)


Reader = Callable[[Any, bool, str | None], Robot]
READERS: dict[tuple[str, str], Reader] = {
    ("mujoco", "MjModel"): mujoco_robot,
    ("mujoco", "MjSpec"): mujoco_robot,
    ("dm_control", "MjModel"):
        lambda wrapper, floating, loops: mujoco_robot(wrapper.ptr, floating, loops),
    ("dm_control", "RootElement"): _dm_control_robot,
    ("robosuite", "MjModel"):
        lambda wrapper, floating, loops: mujoco_robot(wrapper._model, floating, loops),
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
