"""A kernel whose results are looked at: machine code divides by what rounding leaves of zero."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, final

import numpy as np

from closedform.applications.compile.names import output_names
from closedform.applications.compile.requests import Request
from closedform.lowerings.call.kernel import Kernel
from closedform.maths.definitions.operational_space import immobile
from closedform.model.robot import Robot


def guarded(kernel: Kernel, robot: Robot, requests: Sequence[Request]) -> Any:
    """The kernel of these requests, guarded if frames' inertias are among what it returns."""
    asked = {name: request.frame for request, (name, *_) in
             zip(requests, output_names(requests), strict=True)
             if request.row.name == "operational_space_inertia" and request.frame is not None}
    kept = {slot.name for slot in kernel.interface.outputs}
    frames = {name: frame for name, frame in asked.items() if name in kept}
    return InertiaOfFrame(kernel, robot, frames) if frames else kernel


@final
class InertiaOfFrame:
    """A kernel of frames' inertias Λ, with an error where a frame cannot move freely.

    All else is the kernel's own. The condition of Λ is that of the mobility whose inverse it is.
    """

    def __init__(self, kernel: Kernel, robot: Robot, frames: Mapping[str, str]) -> None:
        """`frames` are those whose inertia is looked at, by the name of the output."""
        self._kernel, self._robot, self._frames = kernel, robot, frames
        self.__doc__ = kernel.__doc__

    def __call__(self, *args: Any, **named: Any) -> Any:
        """What the kernel returns; a `SingularMatrix` if there is no Λ at one of the states."""
        found = self._kernel(*args, **named)
        alone = len(self._kernel.interface.outputs) == 1
        for name, frame in self._frames.items():
            self._check(found if alone else getattr(found, name), frame)
        return found

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

    def __reduce__(self) -> tuple[Any, ...]:
        return InertiaOfFrame, (self._kernel, self._robot, self._frames)

    def __repr__(self) -> str:
        return repr(self._kernel)
