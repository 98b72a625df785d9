"""How a robot looks: `<visual>` of URDF and SDF and geoms of MJCF as records.

Mesh files are named by the robot's file; only those inside given folders are looked at, so that no
file can make others show.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module, metadata
from pathlib import Path
from typing import Any, final

import numpy as np

from closedform.arrays import Floats
from closedform.errors import ClosedformError
from closedform.model.formats.mjcf.document import is_mjcf
from closedform.model.formats.sdf.scope import Scope
from closedform.model.formats.sdf.source import SdfFile
from closedform.model.formats.xml import Element, child, children, read_xml, tag
from closedform.model.pose import from_rpy, inverse, pose

PACKAGE = "example-robot-data"
GREY = (0.72, 0.74, 0.77, 1.0)


@final
@dataclass(frozen=True, eq=False)
class Visual:
    """A shape on a body or frame: a mesh file, vertices and faces, or a primitive with its size.

    Sizes: box (x, y, z), sphere (radius), cylinder and capsule (radius, length), ellipsoid (radii).
    """

    link: str
    shape: str
    size: tuple[float, ...] = ()
    placement: Floats = field(default_factory=lambda: np.eye(4))
    colour: tuple[float, ...] = GREY
    file: Path | None = None
    scale: tuple[float, ...] = (1.0, 1.0, 1.0)
    mesh: tuple[Floats, Floats] | None = None         # vertices (k, 3), faces (m, 3)


def visuals_of(source: str | Path, roots: Sequence[Path] = ()) -> tuple[Visual, ...]:
    """The visuals of a robot's file, or of a built-in robot whose meshes are installed.

    Decoration: what cannot be read is left out, without a word.
    """
    try:
        path, extra = _file(source)
        if path is None:
            return ()
        if is_mjcf(path):
            return tuple(_mjcf(path))
        document, folders = read_xml(path), [path.parent, path.parent.parent, *extra, *roots]
        kind = "" if document.root is None else tag(document.root)
        return tuple(_sdf(SdfFile.of(document), folders) if kind == "sdf"
                     else _urdf(document.checked_root(), folders) if kind == "robot" else ())
    except (ClosedformError, OSError, ValueError, TypeError, KeyError, ImportError):
        return ()


def _file(source: str | Path) -> tuple[Path | None, list[Path]]:
    """The file that holds the visuals, and the folders that packages lie in."""
    path = Path(source)
    if not str(source).isidentifier():
        if path.suffix.lower() not in (".urdf", ".xml", ".mjcf", ".sdf") or not path.is_file():
            return None, []
        packages = [folder for folder in list(path.resolve().parents)[1:4] if len(folder.parts) > 2]
        return path, packages
    try:
        share = Path(str(metadata.distribution(PACKAGE).locate_file("cmeel.prefix/share")))
    except metadata.PackageNotFoundError:
        return None, []
    known = share / PACKAGE / "robots" / f"{source}_description/urdf/{source}.urdf"
    return (known if known.is_file() else None), [share]


def _urdf(root: Element, roots: Sequence[Path]) -> Iterator[Visual]:
    colours = {m.get("name"): _colour(m) for m in children(root, "material")}
    for link in children(root, "link"):
        for visual in children(link, "visual"):
            made = _visual(link.get("name") or "", visual, colours, roots)
            if made is not None:
                yield made


def _visual(link: str, visual: Element, colours: dict[Any, Any],
            roots: Sequence[Path]) -> Visual | None:
    geometry, origin = child(visual, "geometry"), child(visual, "origin")
    if geometry is None or not len(geometry):
        return None
    T = np.eye(4)
    if origin is not None:
        xyz, rpy = (_floats(origin.get(k, "0 0 0"), 3) for k in ("xyz", "rpy"))
        T = np.asarray(pose(from_rpy(*rpy), xyz), dtype=float)
    material, shape = child(visual, "material"), geometry[0]
    colour = GREY if material is None else (
        _colour(material) or colours.get(material.get("name")) or GREY)
    kind = tag(shape)
    if kind == "mesh":
        file = located(shape.get("filename") or "", roots)
        return None if file is None else Visual(link, kind, (), T, colour, file,
                                                _floats(shape.get("scale", "1 1 1"), 3))
    sizes = {"box": lambda: _floats(shape.get("size", ""), 3),
             "sphere": lambda: _floats(shape.get("radius", ""), 1),
             "cylinder": lambda: (*_floats(shape.get("radius", ""), 1),
                                  *_floats(shape.get("length", ""), 1)),
             "capsule": lambda: (*_floats(shape.get("radius", ""), 1),
                                 *_floats(shape.get("length", ""), 1))}
    return Visual(link, kind, sizes[kind](), T, colour) if kind in sizes else None


def located(name: str, roots: Sequence[Path]) -> Path | None:
    """The mesh file of that name below one of the folders; None where there is none."""
    tail = name.split("://", 1)[-1]
    for root in roots:
        base = root.resolve()
        path = (base / tail.lstrip("/") if "://" in name else base / tail).resolve()
        if path.is_relative_to(base) and path.is_file():
            return path
    return None


def _colour(material: Element) -> tuple[float, ...] | None:
    found = child(material, "color")
    return None if found is None else _floats(found.get("rgba", ""), 4)


def _floats(text: str, size: int) -> tuple[float, ...]:
    values = tuple(float(x) for x in text.split())
    if len(values) != size or not np.all(np.isfinite(values)):
        raise ValueError(f"{size} numbers expected, not {text!r}")
    return values


# ---------------------------------------------------------------------- SDF
SDF_SIZES = {"box": (("size", 3),), "sphere": (("radius", 1),),
             "cylinder": (("radius", 1), ("length", 1)), "capsule": (("radius", 1), ("length", 1)),
             "ellipsoid": (("radii", 3),)}
"""Elements of a shape that hold its size, with how many numbers."""


def _sdf(source: SdfFile, roots: Sequence[Path]) -> Iterator[Visual]:
    worlds = children(source.root, "world")
    for scope in Scope(source, worlds[0] if worlds else source.root).walk():
        folders = [Path(scope.source.file).parent, Path(scope.source.file).parent.parent, *roots]
        for name, link in scope.links.items():
            for visual in children(link, "visual"):
                made = _sdf_visual(scope, name, visual, folders)
                if made is not None:
                    yield made


def _sdf_visual(scope: Scope, name: str, visual: Element, roots: Sequence[Path]) -> Visual | None:
    source, geometry = scope.source, child(visual, "geometry")
    if geometry is None or not len(geometry):
        return None
    T, relative = source.pose(visual)
    if relative:
        T = inverse(scope.at(name)) @ scope.at(relative) @ T
    material = child(visual, "material")
    given = None if material is None else next(
        (x for k in ("diffuse", "ambient") if (x := child(material, k)) is not None), None)
    colour = GREY if given is None else (*map(float, (given.text or "").split()), 1.0)[:4]
    shape, T = geometry[0], np.asarray(T, dtype=float)
    kind, link = tag(shape), scope.prefix + name
    if kind == "mesh":
        file = located(source.text(shape, "uri"), roots)
        scale = _floats(source.text(shape, "scale", "1 1 1"), 3)
        return None if file is None else Visual(link, kind, (), T, colour, file, scale)
    if kind not in SDF_SIZES:
        return None                                   # planes, height maps: no part of a robot
    size = tuple(x for part, n in SDF_SIZES[kind] for x in _floats(source.text(shape, part), n))
    return Visual(link, kind, size, T, colour)


# ---------------------------------------------------------------------- MJCF
SHAPES = {2: "sphere", 3: "capsule", 4: "ellipsoid", 5: "cylinder", 6: "box", 7: "mesh"}
"""mjGEOM_… by number; planes and height fields are no part of a robot."""
DRAWN = 3
"""Groups of geoms from this one on are for collisions, by MuJoCo's habit."""


def _mjcf(path: Path) -> Iterator[Visual]:
    mujoco = import_module("mujoco")
    model = mujoco.MjModel.from_xml_path(str(path))
    for k in range(model.ngeom):
        kind = SHAPES.get(int(model.geom_type[k]))
        if kind is None or int(model.geom_group[k]) >= DRAWN or model.geom_bodyid[k] == 0:
            continue
        T = np.eye(4)
        R = np.zeros(9)
        mujoco.mju_quat2Mat(R, model.geom_quat[k])
        T[:3, :3], T[:3, 3] = R.reshape(3, 3), model.geom_pos[k]
        r, half, _ = size = tuple(float(x) for x in model.geom_size[k])
        sizes = {"sphere": (r,), "capsule": (r, 2 * half), "cylinder": (r, 2 * half),
                 "box": tuple(2 * x for x in size), "ellipsoid": size, "mesh": ()}
        mesh = _mesh(model, int(model.geom_dataid[k])) if kind == "mesh" else None
        link = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_BODY, int(model.geom_bodyid[k]))
        yield Visual(link or "", kind, sizes[kind], T, tuple(map(float, model.geom_rgba[k])),
                     mesh=mesh)


def _mesh(model: Any, k: int) -> tuple[Floats, Floats]:
    a, n = int(model.mesh_vertadr[k]), int(model.mesh_vertnum[k])
    b, m = int(model.mesh_faceadr[k]), int(model.mesh_facenum[k])
    return np.array(model.mesh_vert[a:a + n]), np.array(model.mesh_face[b:b + m])
