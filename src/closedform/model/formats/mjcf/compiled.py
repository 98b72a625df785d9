"""MJCF compiled by the `mujoco` package, without what a robot does not need.

A body that states its `<inertial>` needs no geoms, and without geoms no meshes, which take most of
the time of compiling and are often not there. What is left compiles to the same tree and masses; if
it does not compile, the whole is taken.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from closedform.errors import MissingDependency, ModelError


class Compiled(NamedTuple):
    """MuJoCo's model and what it remarked on the way."""

    model: Any
    remarks: tuple[str, ...] = ()


def import_mujoco() -> Any:
    try:
        import mujoco
    except ImportError as error:
        raise MissingDependency("MJCF is read with MuJoCo's own compiler, which is not installed: "
                                "pip install closedform[mujoco]") from error
    return mujoco


def compiled(source: Path | str) -> Compiled:
    """The model of a file (a Path) or a text; MuJoCo's complaint in one line."""
    mujoco = import_mujoco()
    if isinstance(source, Path):
        path = str(source)
        return _compiled(lambda: mujoco.MjSpec.from_file(path),
                         lambda: mujoco.MjModel.from_xml_path(path))
    return _compiled(lambda: mujoco.MjSpec.from_string(source),
                     lambda: mujoco.MjModel.from_xml_string(source))


def compiled_spec(given: Any) -> Compiled:
    """The model of a `mujoco.MjSpec`, which is not written to."""
    return _compiled(given.copy, lambda: given.copy().compile())


def _compiled(spec: Callable[[], Any], model: Callable[[], Any]) -> Compiled:
    """The model of the lean spec, or of the whole one; from `model` where specs cannot do it.

    That is in old versions, and for files whose endings specs do not take.
    """
    mujoco = import_mujoco()
    try:
        return _noted(lambda: _lean(spec()).compile())
    except RuntimeError as error:
        raise _complaint(error) from error
    except (AttributeError, TypeError):
        whole = model
    except (ValueError, mujoco.FatalError) as error:
        whole = model if "decoder" in str(error) else lambda: spec().compile()
    try:
        return _noted(whole)
    except (ValueError, RuntimeError, mujoco.FatalError) as error:
        raise _complaint(error) from error


def _complaint(error: Exception) -> ModelError:
    return ModelError(f"MuJoCo says: {' '.join(str(error).split())}")


def _noted(make: Callable[[], Any]) -> Compiled:
    remarks: list[str] = []
    with _remarks_into(remarks):
        model = make()
    return Compiled(model, tuple(dict.fromkeys(remarks)))


@contextmanager
def _remarks_into(remarks: list[str]) -> Iterator[None]:
    """MuJoCo's warnings in a list, by whichever way it has instead of standard error."""
    mujoco = import_mujoco()
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda text: remarks.append(_line(text)))
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
        remarks += [_line(warning.message) for warning in caught]
    finally:
        mujoco.set_mju_user_warning(before)


def _line(text: object) -> str:
    return " ".join(str(text).split())


def _lean(spec: Any) -> Any:
    """The spec without geoms that give no mass, and all that only they or a viewer use."""
    if spec.compiler.fusestatic:  # joins bodies by their geoms
        return spec
    wrapped = _wrapped_geoms(spec)
    for body in spec.bodies:
        if body.name == "world" or (body.explicitinertial and _from_inertial(spec, body)):
            for geom in body.geoms:
                if geom.name not in wrapped:
                    spec.delete(geom)
    for element in (*spec.sensors, *spec.pairs, *spec.excludes, *spec.tuples, *spec.skins):
        spec.delete(element)
    for element in (*spec.geoms, *spec.sites, *spec.tendons, *spec.flexes):
        element.material = ""
    for element in (*spec.materials, *spec.textures):
        spec.delete(element)
    used = {geom.meshname for geom in spec.geoms}
    for mesh in spec.meshes:
        if mesh.name not in used:
            spec.delete(mesh)
    return spec


def _from_inertial(spec: Any, body: Any) -> bool:
    """Whether the compiler takes a body's stated inertia: 1 is inertiafromgeom="true"."""
    return int(getattr(body, "compiler", spec.compiler).inertiafromgeom) != 1


def _wrapped_geoms(spec: Any) -> set[str]:
    """Geoms that tendons wrap around; none where an older MuJoCo does not tell."""
    return {step.target.name for tendon in spec.tendons for step in getattr(tendon, "path", ())
            if type(step.target).__name__ == "MjsGeom"}
