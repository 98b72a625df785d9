"""One SDF file: its elements and the numbers in them, and the files that it includes."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import final

import numpy as np

from closedform.arrays import NUMBERS
from closedform.errors import FormatError
from closedform.model.formats.xml import (
    TEXT,
    Document,
    Element,
    child,
    children,
    line,
    read_xml,
    tag,
)
from closedform.model.groups.quaternions import rotation as quaternion_rotation
from closedform.model.pose import from_rpy, pose

SEARCHED = ("SDF_PATH", "GZ_SIM_RESOURCE_PATH", "IGN_GAZEBO_RESOURCE_PATH", "GAZEBO_MODEL_PATH")
"""Variables of the environment that name folders of models."""
ANCESTORS = 4
"""So many folders above a file are searched for the models that it includes, its own among them."""


@final
@dataclass(frozen=True)
class SdfFile:
    """A parsed SDF file (or text) and its version."""

    file: str
    root: Element
    version: tuple[int, ...]

    @classmethod
    def of(cls, document: Document) -> SdfFile:
        root = document.checked_root()
        if tag(root) != "sdf":
            raise FormatError(f"{document.file}:{line(root)}: the root element of SDF is <sdf>, "
                              f"not <{tag(root)}>")
        written = root.get("version") or ""
        try:
            version = tuple(int(part) for part in written.split("."))
        except ValueError:
            version = ()
        if version[:1] != (1,):
            raise FormatError(f"{document.file}:{line(root)}: version {written!r} of SDF; 1.4 to "
                              "1.11 are read")
        return cls(document.file, root, version)

    def fault(self, element: Element, message: str) -> FormatError:
        """The error to raise about an element."""
        return FormatError(f"{self.file}:{line(element)}: {message}")

    # ------------------------------------------------------------------ values
    def name(self, element: Element) -> str:
        given = (element.get("name") or "").strip()
        if not given:
            raise self.fault(element, f"<{tag(element)}> has no name")
        return given

    def text(self, element: Element | None, name: str, default: str = "") -> str:
        """The text of a child; the default where it is not there or empty."""
        found = None if element is None else child(element, name)
        return ((found.text or "").strip() if found is not None else "") or default

    def number(self, element: Element | None, name: str, default: float) -> float:
        """The number in a child, which may be infinite."""
        found = None if element is None else child(element, name)
        return default if found is None else self.numbers(found, 1, (default,))[0]

    def truth(self, element: Element | None, name: str, default: bool = False) -> bool:
        """Whether a child says 1 or true."""
        return self.text(element, name, str(default)).lower() in ("1", "true")

    def numbers(self, element: Element, size: int, default: tuple[float, ...]) -> tuple[float, ...]:
        """The numbers in an element; the default where it is empty."""
        words = (element.text or "").split()
        try:
            values = tuple(map(float, words)) if words else default
        except ValueError:
            values = (math.nan,)
        if len(values) != size or any(math.isnan(x) for x in values):
            expected = "a number" if size == 1 else f"{size} numbers"
            raise self.fault(element, f"<{tag(element)}> must hold {expected}, not "
                                      f"{' '.join(words)[:80]!r}")
        return values

    def pose(self, element: Element) -> tuple[np.ndarray, str]:
        """`<pose>` as (4, 4) and the name of the frame that it is relative to, empty if not said.

        Up to 1.6 that name is the attribute `frame`.
        """
        given = child(element, "pose")
        if given is None:
            return np.eye(4), ""
        relative = given.get("relative_to" if self.version >= (1, 7) else "frame") or ""
        quaternion = given.get("rotation_format") == "quat_xyzw"
        zero = (0.0,) * 6 if not quaternion else (0.0,) * 6 + (1.0,)
        x = self.numbers(given, len(zero), zero)
        if not np.all(np.isfinite(x)):
            raise self.fault(given, "<pose> must hold finite numbers")
        if quaternion:
            b = np.array(x[3:])
            if abs(np.linalg.norm(b) - 1) > 1e-3:
                raise self.fault(given, "the quaternion of <pose> has not the length 1")
            return pose(quaternion_rotation(b / np.linalg.norm(b), NUMBERS), x[:3]), relative
        unit = math.pi / 180 if (given.get("degrees") or "").lower() in ("1", "true") else 1.0
        return pose(from_rpy(*(unit * angle for angle in x[3:])), x[:3]), relative

    # ------------------------------------------------------------------ other files
    def included(self, include: Element) -> SdfFile:
        """The file that an `<include>` names."""
        uri = self.text(include, "uri")
        scheme, _, rest = uri.rpartition("://")
        if not uri or scheme not in ("", "model", "package", "file"):
            raise self.fault(include, f"<include> of {uri[:200]!r}: give <uri> as a path or as "
                                      "model://NAME; nothing is fetched from the network")
        tried = [Path(rest)] if Path(rest).is_absolute() else [
            folder / rest for folder in self._folders()]
        found = next((path for path in tried if path.exists()), None)
        if found is None:
            raise self.fault(include, f"<include> of {uri[:200]!r}: there is no such model beside "
                                      f"the file or in {', '.join(SEARCHED)}")
        return SdfFile.of(read_xml(_model_file(found) if found.is_dir() else found))

    def _folders(self) -> Iterator[Path]:
        if self.file != TEXT:
            own = Path(self.file).absolute().parent
            yield from (own, *own.parents[:ANCESTORS - 1])
        for variable in SEARCHED:
            listed = os.environ.get(variable, "").split(os.pathsep)
            yield from (Path(folder) for folder in listed if folder)


def _model_file(folder: Path) -> Path:
    """The SDF file of a model's folder: what model.config names, of the highest version."""
    config = folder / "model.config"
    if not config.is_file():
        return folder / "model.sdf"
    named = children(read_xml(config).checked_root(), "sdf")
    if not named:
        raise FormatError(f"{config}: no <sdf> names the model's file")
    newest = max(named, key=lambda x: [int(part) for part in (x.get("version") or "0").split(".")
                                       if part.isdigit()])
    return folder / (newest.text or "").strip()
