"""Quantities of a robot as source that stands alone, with test vectors and their runner beside.

    cf.export(robot, ["inverse_dynamics", "mass_matrix"], "c", "folder")
    cf.export(robot, "inverse_dynamics", cf.targets.C(single=True), "folder")
    cf.export(robot, "inverse_dynamics", "jax", "folder", inputs=cf.Gravity())
    cf.export(arm, "inertia_matrix", "matlab", "folder")            a flexible arm's equation
    cf.export(model, "motor_torque", "c", "folder")                 one of elastic joints

The same programs leave that our kernels run; the test vectors come from the closed forms on floats.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from closedform.applications.compile.requests import Asked, At
from closedform.applications.export.options import ExportOptions, options_of, refuse, unusual
from closedform.applications.export.sources import SOURCES
from closedform.applications.export.sources.source import Source
from closedform.applications.export.targets import TARGETS
from closedform.applications.export.targets.target import Target
from closedform.applications.whole_files import whole_file
from closedform.errors import ArgumentError, suggestion
from closedform.maths.flexible.arm import FlexibleArm
from closedform.model.elasticity.joints import ElasticJoints
from closedform.model.robot import Robot


def export(robot: Robot | FlexibleArm | ElasticJoints, quantities: Asked | Sequence[Asked],
           target: Target | str, path: str | Path, options: ExportOptions | None = None,
           **changes: Any) -> list[Path]:
    """Write quantities of a robot, a flexible arm or elastic joints; the files written.

    `target` is one of `cf.targets`, or its name; `path` a folder, which is made. Options are fields
    of the target, and keywords or an `ExportOptions` for what the model and the target have.
    Functions are named ROBOT_QUANTITY. The folder's runner (test_vectors.c, .m, .py or .mjs) checks
    all that is in it.
    """
    language, source = _target(target), _source(robot)
    if not isinstance(quantities, str | At | Iterable) or not isinstance(path, str | PathLike):
        raise ArgumentError("quantities must be names and path a folder, not "
                            f"{quantities!r} and {path!r}")
    asked = [quantities] if isinstance(quantities, str | At) else list(quantities)
    if not asked:
        raise ArgumentError("quantities must name at least one quantity")
    given = {} if options is None else {x: getattr(options, x) for x in options_of(options)}
    source, language = _chosen(source, language, {**unusual(given), **changes})
    pieces, folder = source.pieces(robot, asked, language), Path(path)
    folder.mkdir(parents=True, exist_ok=True)
    files = [file for piece in pieces for file in _written(folder, language.texts(piece))]
    return [*files, *_written(folder, language.runner(folder))]


def _target(given: Target | str) -> Target:
    if isinstance(given, Target):
        return given
    if given not in TARGETS:
        raise ArgumentError(f"no target {given!r}; {suggestion(given, TARGETS)}")
    return TARGETS[given]()


def _source(model: Any) -> Source:
    if type(model) not in SOURCES:
        known = [f"cf.{x.__name__}" for x in SOURCES]
        raise ArgumentError(f"robot must be a {', '.join(known[:-1])} or {known[-1]}, "
                            f"not {type(model).__name__}; cf.load(path or name) makes one")
    return SOURCES[type(model)]()


def _chosen(source: Source, target: Target,
            given: Mapping[str, Any]) -> tuple[Source, Target]:
    """Both with the options that they have; others are refused unless they are as usual."""
    own, wanted = options_of(source), options_of(target)
    for name in unusual(given):
        if name not in own and name not in wanted:
            refuse(name, {"to": (target.name, list(TARGETS.items())),
                          "of": (source.of.noun, [(x.of.noun, x) for x in SOURCES.values()])})
    return (replace(source, **{x: y for x, y in given.items() if x in own}),
            replace(target, **{x: y for x, y in given.items() if x in wanted}))


def _written(folder: Path, texts: Mapping[str, str | bytes]) -> list[Path]:
    paths = []
    for name, text in texts.items():
        path = folder / name
        with whole_file(path) as place:
            place.write_bytes(text if isinstance(text, bytes) else text.encode("utf8"))
        paths.append(path)
    return paths
