"""Capsules about links: as given, or about the <collision> shapes of a URDF file.

A capsule holds every point nearer than `radius` to the line between two points of a link. Those
about boxes and meshes hold all of their corners, so that what capsules keep apart is apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from lxml import etree

from closedform.arrays import Floats, real_array
from closedform.errors import ArgumentError, FormatError, MissingDependency, suggestion
from closedform.model.pose import from_rpy
from closedform.model.robot import Robot

CORNERS = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])


class Capsule(NamedTuple):
    """A capsule in the frame of a link."""

    link: str
    ends: Floats                # (2, 3)
    radius: float


def capsules_of(collision: object) -> tuple[Capsule, ...]:
    """Of a URDF file, or of a mapping from links to (point, point, radius), one or several."""
    if isinstance(collision, str | Path):
        return tuple(_of_file(Path(collision)))
    if not isinstance(collision, Mapping):
        raise ArgumentError("Limits: collision must be a URDF file or capsules by link, "
                            f"{{'link1': [(point, point, radius)]}}, not {collision!r}")
    return tuple(_given(str(link), one) for link, some in collision.items()
                 for one in (some if isinstance(some, list) else [some]))


def _given(link: str, told: Any) -> Capsule:
    if not isinstance(told, tuple) or len(told) != 3:
        raise ArgumentError(f"Limits: collision of {link}: (point, point, radius) expected, not "
                            f"{told!r}")
    ends = np.stack([real_array(p, (3,), f"Limits: collision of {link}") for p in told[:2]])
    radius = float(real_array(told[2], (), f"Limits: collision of {link}: radius"))
    if not (np.isfinite(ends).all() and 0 <= radius < np.inf):
        raise ArgumentError(f"Limits: collision of {link}: finite points and a radius ≥ 0 "
                            f"expected, not {told!r}")
    return Capsule(link, ends, radius)


def place_of(robot: Robot, link: str) -> tuple[int, Floats]:
    """The body (−1: the world) that carries a link, and the link's pose in it, (4, 4)."""
    if link in robot.body_names:
        return robot.body_names.index(link), np.eye(4)
    for frame in robot.frames:
        if frame.name == link:
            body = -1 if frame.body is None else robot.body_names.index(frame.body)
            return body, np.asarray(frame.placement, dtype=float)
    known = (*robot.body_names, *(f.name for f in robot.frames))
    raise ArgumentError(f"Limits: collision: {robot.name} has no link {link!r}; "
                        f"{suggestion(link, known)}")


# ---------------------------------------------------------------------- files
def _of_file(path: Path) -> Iterator[Capsule]:
    try:
        root = etree.parse(str(path), etree.XMLParser(resolve_entities=False)).getroot()
    except (OSError, etree.XMLSyntaxError) as error:
        raise FormatError(f"Limits: collision: {path} is no URDF file: {error}") from None
    found = False
    for link in root.iter("link"):
        for shape in link.iter("collision"):
            found = True
            yield _capsule(path, link.get("name", ""), shape)
    if not found:
        raise FormatError(f"{path}: no link has a <collision> shape; give capsules by link")


def _capsule(path: Path, link: str, shape: Any) -> Capsule:
    origin = shape.find("origin")
    xyz, rpy = (_numbers(path, link, "0 0 0" if origin is None else origin.get(name, "0 0 0"))
                for name in ("xyz", "rpy"))
    ends, radius = _about(path, link, shape.find("geometry"))
    return Capsule(link, ends @ from_rpy(*rpy).T + xyz, radius)


def _about(path: Path, link: str, geometry: Any) -> tuple[Floats, float]:
    """Ends and radius of the capsule about a geometry, in its own frame."""
    for one in geometry if geometry is not None else ():
        if one.tag == "sphere":
            return np.zeros((2, 3)), float(_numbers(path, link, one.get("radius", ""))[0])
        if one.tag in ("cylinder", "capsule"):
            radius, length = (float(_numbers(path, link, one.get(name, ""))[0])
                              for name in ("radius", "length"))
            return np.array([[0, 0, -length / 2], [0, 0, length / 2]]), radius
        if one.tag == "box":
            return enclosing(CORNERS * _numbers(path, link, one.get("size", "")))
        if one.tag == "mesh":
            return enclosing(_vertices(path, link, one))
    raise FormatError(f"{path}: link {link!r}: a box, cylinder, sphere or mesh expected in "
                      "<geometry>")


def _numbers(path: Path, link: str, text: str) -> Floats:
    try:
        return np.array([float(x) for x in text.split()] or [np.nan])
    except ValueError:
        raise FormatError(f"{path}: link {link!r}: numbers expected, not {text!r}") from None


def _vertices(path: Path, link: str, mesh: Any) -> Floats:
    """The corners of a mesh, (n, 3), read by coal."""
    name = str(mesh.get("filename", ""))
    rest = name.removeprefix("package://").removeprefix("file://")
    places = [folder / rest for folder in (path.resolve().parent, *path.resolve().parents)]
    file = next((p for p in places if p.is_file()), None)
    if file is None:
        raise FormatError(f"{path}: link {link!r}: no file {name!r} in the folders above")
    try:
        coal = import_module("coal")
    except ImportError:
        raise MissingDependency(f"{path}: link {link!r} is a mesh, which coal reads: "
                                "pip install 'closedform[coal]'") from None
    scale = _numbers(path, link, mesh.get("scale", "1 1 1"))
    try:
        return np.asarray(coal.MeshLoader().load(str(file), scale).vertices(), dtype=float)
    except ValueError as error:
        raise FormatError(f"{file}: no mesh: {error}") from None


def enclosing(points: Floats) -> tuple[Floats, float]:
    """Ends (2, 3) and radius of a capsule about points (n, 3): the smallest along a main axis.

        s_i − √(R² − r_i²) ≤ end,    R = max r_i

    with r_i the distance of a point from the axis and s_i its place along it.
    """
    centre = (points.min(axis=0) + points.max(axis=0)) / 2
    made = []
    for axis in (*np.eye(3), *np.linalg.svd(points - centre, full_matrices=False)[2]):
        s = (points - centre) @ axis
        r = np.linalg.norm(points - centre - np.outer(s, axis), axis=1)
        radius = float(r.max())
        inside = np.sqrt(np.maximum(radius**2 - r**2, 0.0))
        low, high = float(np.min(s + inside)), float(np.max(s - inside))
        if low > high:
            low = high = (low + high) / 2
        volume = np.pi * radius**2 * (high - low + 4 / 3 * radius)
        made.append((volume, centre + np.outer([low, high], axis), radius))
    _, ends, radius = min(made, key=lambda x: x[0])
    return ends, radius * (1 + 1e-12)
