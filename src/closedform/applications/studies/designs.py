"""What varies between designs, and the kernel that takes it at run time.

    Length(body)   s: what is mounted on the body s times as far away, its mass spread s times as
                   wide: m, s mc, s² I
    Mass(body)     s: all ten parameters s times as large
    Load(frame)    kg at the frame's origin

A robot of recorded numbers goes through the equations once; so one kernel serves all designs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, final

import numpy as np

from closedform.applications.compile.digest import robot_digest
from closedform.applications.compile.requests import Asked, asked_request
from closedform.applications.progress import compiling
from closedform.applications.studies.states import one_result
from closedform.arrays import Array, Floats
from closedform.errors import ArgumentError, UnknownName, suggestion
from closedform.lowerings.call.kernel import Kernel
from closedform.lowerings.call.trial import function_trial
from closedform.maths.algorithms.applicability import applies
from closedform.maths.quantity import takes_base
from closedform.model.inertia import Inertia
from closedform.model.robot import Robot
from closedform.program.pipeline import optimised
from closedform.program.record import named_arrays, record


@dataclass(frozen=True)
class _OfBody:
    body: str
    values: tuple[float, ...] = (1.0,)

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", _numbers(self.values, str(self.body)))

    @property
    def label(self) -> str:
        return f"{type(self).__name__.lower()} {self.body}"

    def require(self, robot: Robot) -> None:
        names = [body.name for body in robot.bodies]
        if self.body not in names:
            raise UnknownName(f"no body {self.body!r} in {robot.name}; "
                              f"{suggestion(self.body, names)}")
        if min(self.values) <= 0:
            raise ArgumentError(f"{self.label}: factors must be positive, not {min(self.values)}")


@final
class Length(_OfBody):
    """A link s times as long, of the same mass."""

    usual = 1.0

    def put(self, robot: Robot, change: Any) -> Robot:
        s = 1 + change
        bodies = [replace(b, placement=_farther(b.placement, s)) if b.parent == self.body else b
                  for b in robot.bodies]
        bodies = [replace(b, inertia=_scaled(b.inertia, (1, s, s * s))) if b.name == self.body
                  else b for b in bodies]
        frames = [replace(f, placement=_farther(f.placement, s)) if f.body == self.body else f
                  for f in robot.frames]
        return replace(robot, bodies=tuple(bodies), frames=tuple(frames))


@final
class Mass(_OfBody):
    """A body s times as heavy, everywhere."""

    usual = 1.0

    def put(self, robot: Robot, change: Any) -> Robot:
        s = 1 + change
        return replace(robot, bodies=tuple(
            replace(b, inertia=_scaled(b.inertia, (s, s, s))) if b.name == self.body else b
            for b in robot.bodies))


@final
@dataclass(frozen=True)
class Load:
    """A point mass at a frame, kg."""

    frame: str
    values: tuple[float, ...] = (0.0,)
    usual = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", _numbers(self.values, str(self.frame)))

    @property
    def label(self) -> str:
        return f"load {self.frame}"

    def require(self, robot: Robot) -> None:
        if robot.frame(self.frame).body is None:
            raise ArgumentError(f"{self.label}: the frame belongs to the world")
        if min(self.values) < 0:
            raise ArgumentError(f"{self.label}: masses must not be negative")

    def put(self, robot: Robot, change: Any) -> Robot:
        load = np.array([change, *[0 * change] * 9])
        return robot.with_payload(Inertia.from_parameters(load), at=self.frame)


Variable = Length | Mass | Load


def _numbers(values: Any, what: str) -> tuple[float, ...]:
    try:
        found = tuple(map(float, np.atleast_1d(values)))
    except (TypeError, ValueError):
        found = ()
    if not found or not np.all(np.isfinite(found)):
        raise ArgumentError(f"values of {what} must be finite numbers, not {values!r}")
    return found


def _farther(placement: Array, s: Any) -> Array:
    T = np.array(placement, dtype=object)
    T[:3, 3] = [s * x for x in T[:3, 3]]
    return T


def _scaled(inertia: Inertia, by: tuple[Any, Any, Any]) -> Inertia:
    """Mass, first moments and inertia times these."""
    p = inertia.array
    each = [by[0], *[by[1]] * 3, *[by[2]] * 6]
    return Inertia.from_parameters(np.array([s * x for s, x in zip(each, p, strict=True)],
                                            dtype=object))


def designed(robot: Robot, variables: Sequence[Variable], design: Sequence[float]) -> Robot:
    """The robot of one design, in numbers: the meaning of what the kernel computes."""
    for variable, x in zip(variables, design, strict=True):
        robot = variable.put(robot, float(x) - variable.usual)
    bodies = tuple(replace(b, placement=np.asarray(b.placement, dtype=float),
                           inertia=Inertia.from_parameters(np.asarray(b.inertia.array,
                                                                      dtype=float)))
                   for b in robot.bodies)
    frames = tuple(replace(f, placement=np.asarray(f.placement, dtype=float))
                   for f in robot.frames)
    return replace(robot, bodies=bodies, frames=frames)


@lru_cache(maxsize=16)
def design_kernel(robot: Robot, variables: tuple[Variable, ...], quantity: Asked,
                  only: str | None = None) -> Kernel:
    """(inputs of the quantity, change) → the quantity; change is what is added to usual values.

    Of a quantity with several results it gives the one that `only` names.
    """
    request = asked_request(robot, quantity)
    result, row = one_result(robot, request, only), request.row
    shapes = {**row.input_shapes(robot), "change": (len(variables),)}
    at = {} if request.frame is None else {"frame": request.frame}
    if request.reference is not None:
        at["reference"] = request.reference     # type: ignore[assignment]

    def by(algorithm: Any) -> Any:
        def function(*arrays: Array) -> Any:
            changed = robot
            for variable, x in zip(variables, arrays[-1], strict=True):
                changed = variable.put(changed, x)
            return named_arrays(algorithm(changed, *arrays[:-1], **at), row.name)[result.part]
        return function

    known = [a for a in row.algorithms if applies(a, robot) and not takes_base(a)]
    ways = known or [row.definition]
    trial = function_trial(row.name, shapes, by(row.definition), q=robot.random)
    names = [(type(v).__name__, getattr(v, "body", None) or getattr(v, "frame", None))
             for v in variables]
    key = f"design {robot_digest(robot)} {result.text} {names}"
    return Kernel.load(key, lambda: trial.program(optimised(
        *(record(by(way), shapes, row.name) for way in ways))), watch=compiling,
        judge=trial.code)


def changes(variables: Sequence[Variable], designs: Floats) -> Floats:
    """What the kernel takes for designs, (rows, variables)."""
    found: Floats = designs - np.array([v.usual for v in variables])
    return found
