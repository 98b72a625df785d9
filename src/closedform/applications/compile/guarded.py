"""A kernel whose results are looked at: machine code divides by what rounding leaves of zero."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

import numpy as np

from closedform.applications.compile.names import output_names
from closedform.applications.compile.requests import Request
from closedform.errors import SingularMatrix
from closedform.lowerings.call.kernel import Kernel
from closedform.lowerings.call.slow import packed, recalled
from closedform.lowerings.frameworks.dask_arrays import any_dask, lazy
from closedform.maths.definitions.operational_space import immobile
from closedform.maths.loops.catalogue import OPEN
from closedform.maths.loops.forces import loop_embedding
from closedform.model.robot import Robot

_FOLLOWS = ": of a joint that follows another by a polynomial, the slope is zero"


def guarded(kernel: Kernel, robot: Robot, requests: Sequence[Request]) -> Any:
    """The kernel of these requests, guarded if what it returns may not exist at some states.

    That is the inertia of a frame; of a robot with followers by polynomials whatever M is divided
    into: where the slope of a polynomial is zero, nothing may move with its joint; and what is
    computed with loops, which may be open or singular, or out of reach of independent coordinates.
    """
    asked = {name: request.frame for request, (name, *_) in
             zip(requests, output_names(requests), strict=True)
             if request.row.name == "operational_space_inertia" and request.frame is not None}
    kept = {slot.name for slot in kernel.interface.outputs}
    frames = {name: frame for name, frame in asked.items() if name in kept}
    solves = robot.is_embedded and any(request.row.solves for request in requests)
    closes = bool(robot.loops) and any(request.row.name not in OPEN for request in requests)
    return Guarded(kernel, robot, frames, solves) if frames or solves or closes else kernel


@final
class Guarded:
    """A kernel with an error where a frame cannot move freely, M is singular or loops are open.

    All else is the kernel's own. The condition of a frame's inertia Λ is that of the mobility whose
    inverse it is. Results on a GPU are not looked at: that would wait for them.
    """

    def __init__(self, kernel: Kernel, robot: Robot, frames: Mapping[str, str],
                 solves: bool) -> None:
        """`frames` are those whose inertia is looked at, by the name of the output."""
        self._kernel, self._robot, self._frames, self._solves = kernel, robot, frames, solves
        self._pickled: bytes | None = None
        self.__doc__ = kernel.__doc__

    def __call__(self, *args: Any, **named: Any) -> Any:
        """What the kernel returns; a `SingularMatrix` if there is none at one of the states."""
        if any_dask((*args, *named.values())):
            return self._lazily(args, **named)
        found = self._kernel(*args, **named)
        if not self._frames and type(found) is np.ndarray and _surely_finite(found):
            return found
        parts = found if isinstance(found, tuple) else (found,)
        if not all(isinstance(x, np.ndarray | np.floating) for x in parts):
            return found
        if not all(map(_surely_finite, parts)) and not all(map(_finite, parts)):
            self._refuse_loops(args, named)
            if self._solves:
                raise SingularMatrix(
                    f"the mass matrix of {self._robot.name} is singular here"
                    f"{_FOLLOWS if self._robot.is_curved else ''}; or the state is not finite")
        for name, frame in self._frames.items():
            self._check(found if len(parts) == 1 else getattr(found, name), frame)
        return found

    def _refuse_loops(self, args: Sequence[Any], named: Mapping[str, Any]) -> None:
        """The error of a loop that is open or singular at one of the states, if that is why."""
        robot, slots = self._robot, self._kernel.interface.inputs
        if not robot.loops:
            return
        _, given = self._kernel._path.meant(args, {k: x for k, x in named.items()
                                                   if k not in ("out", "threads")})
        for slot, x in zip(slots, given, strict=False):
            if slot.name in ("q", "y"):
                for at in np.asarray(x, dtype=float).reshape(-1, *slot.shape):
                    if np.all(np.isfinite(at)):
                        loop_embedding(robot, at if slot.name == "q" else robot.closed(at))

    def _lazily(self, args: Sequence[Any], out: Any = None, threads: int | None = None,
                **named: Any) -> Any:
        """As Dask arrays, whose blocks are looked at when they are computed."""
        steps, given = self._kernel._path.meant(args, named)
        about = self._kernel.other(*steps)._path if steps else self._kernel._path
        return lazy(self, about, given, out, threads)

    def _check(self, inertia: np.ndarray, frame: str) -> None:
        if not np.all(np.isfinite(inertia)):
            raise immobile(self._robot, frame)
        values = np.linalg.eigvalsh(inertia)
        if np.any(values[..., 0] <= 10 * np.finfo(inertia.dtype).eps * values[..., -1]):
            raise immobile(self._robot, frame)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._kernel, name)

    def __dask_tokenize__(self) -> str:
        return f"{self._kernel.__dask_tokenize__()} guarded"

    def __reduce__(self) -> tuple[Any, ...]:
        """The recipe of the kernel and the robot, which it has too, in one."""
        if self._pickled is None:
            self._pickled = packed((_again, (*self._kernel.recipe, self._robot, self._frames,
                                             self._solves)))
        return recalled, (self._pickled,)

    def __repr__(self) -> str:
        return repr(self._kernel)


def _surely_finite(x: Any) -> bool:
    """Whether the sum of squares is finite: a fourth of the time of looking at every entry."""
    return math.isfinite(np.vdot(x, x))


def _finite(x: Any) -> bool:
    return bool(np.all(np.isfinite(x)))


def _again(make: Callable[..., Kernel], arguments: Sequence[Any], *about: Any) -> Guarded:
    """A kernel that is made by its recipe, guarded."""
    return Guarded(make(*arguments), *about)
