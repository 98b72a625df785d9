"""xacro: URDF that is written by a program; the package `xacro` runs it, without ROS.

A xacro file holds expressions that are evaluated, and includes other files: expand only files that
you trust.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

from closedform.errors import ArgumentError, FormatError, MissingDependency
from closedform.model.findings import Level
from closedform.model.formats.urdf.extensions import xacro_findings
from closedform.model.formats.xml import Document, child, read_xml, tag

XACRO_IS_NOT_REENTRANT = threading.Lock()
INDEX = "ament_index_python"


def urdf_source(source: Path | str, mappings: Mapping[str, Any] | None = None) -> Document:
    """The parsed document of a file or text, expanded where it is a xacro file.

    A file is one by its name, by what is in it, or because `mappings` gives its arguments; a text
    has no folder to include from, and is left as it is.
    """
    document = read_xml(source)
    root = document.root
    if isinstance(source, str) or root is None or tag(root) != "robot":
        refuse_mappings(source, mappings)
        return document
    program = any(f.level is Level.ERROR for f in xacro_findings(root, document.file))
    if mappings is None and source.suffix.lower() != ".xacro" and not program:
        return document
    expanded = _expanded(source, _texts(mappings or {}))
    return replace(read_xml(expanded), file=f"{source} (expanded)")


def refuse_mappings(source: object, mappings: object) -> None:
    """An error if there are arguments for what takes none."""
    if mappings is not None:
        raise ArgumentError(f"mappings are the arguments of a xacro file, not of {source!s:.80}")


def _texts(mappings: object) -> dict[str, str]:
    if not isinstance(mappings, Mapping) or not all(isinstance(name, str) for name in mappings):
        raise ArgumentError("mappings must map names of xacro arguments to values, not "
                            f"{mappings!r:.200}")
    return {name: str(value) for name, value in mappings.items()}


def _expanded(path: Path, mappings: dict[str, str]) -> str:
    try:
        import xacro
    except ImportError as error:
        raise MissingDependency(
            f"{path}: this is a xacro file, not URDF; it is expanded with the package xacro: "
            f"pip install closedform[xacro], or `xacro {path.name} > robot.urdf` where ROS is"
        ) from error
    told = io.StringIO()
    with XACRO_IS_NOT_REENTRANT, contextlib.redirect_stderr(told), _packages_beside(path):
        try:
            made: Any = xacro.process_file(str(path), mappings=mappings)
        except Exception as error:  # whatever the expressions in the file raise
            cause = getattr(error, "exc", None) or error
            said = " ".join(str(cause).split()) or type(cause).__name__
            raise FormatError(f"{path}: xacro says: {said}") from error
    return str(made.toprettyxml(indent="  "))


@contextlib.contextmanager
def _packages_beside(path: Path) -> Iterator[None]:
    """`$(find PACKAGE)` where there is no ROS, whose index of packages xacro asks otherwise."""
    if importlib.util.find_spec(INDEX) is not None:
        yield
        return
    packages = ModuleType(f"{INDEX}.packages")
    setattr(packages, "get_package_share_directory", _finder(path))  # noqa: B010
    sys.modules |= {INDEX: ModuleType(INDEX), packages.__name__: packages}
    try:
        yield
    finally:
        del sys.modules[INDEX], sys.modules[packages.__name__]


def _finder(path: Path) -> Callable[[str], str]:
    """Where packages are: a folder of that name above the file or beside one above it.

    Then those in ROS_PACKAGE_PATH.
    """
    above = path.absolute().parents

    def folder(package: str) -> str:
        listed = os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep)
        places = [place for up in above for place in ((up, up / package) if _is(up, package)
                                                      else (up / package,))]
        places += [Path(place) / package for place in listed if place]
        for place in places:
            if place.is_dir():
                return str(place)
        raise FormatError(f"the package {package!r} is not beside the file or in ROS_PACKAGE_PATH")

    return folder


def _is(folder: Path, package: str) -> bool:
    """Whether a folder is the package, by its name or by its package.xml."""
    about = folder / "package.xml"
    if folder.name == package or not about.is_file():
        return folder.name == package
    root = read_xml(about).root
    named = None if root is None else child(root, "name")
    return named is not None and (named.text or "").strip() == package
