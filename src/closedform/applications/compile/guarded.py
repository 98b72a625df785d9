"""A kernel whose results are looked at: machine code divides by what rounding leaves of zero."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from closedform.lowerings.call.kernel import Kernel
from closedform.maths.definitions.operational_space import immobile
from closedform.model.robot import Robot


@final
class InertiaOfFrame:
    """The kernel of a frame's inertia Λ, with an error where the frame cannot move freely.

    All else is the kernel's own. The condition of Λ is that of the mobility whose inverse it is.
    """

    def __init__(self, kernel: Kernel, robot: Robot, frame: str) -> None:
        self._kernel, self._robot, self._frame = kernel, robot, frame
        self.__doc__ = kernel.__doc__

    def __call__(self, *args: Any, **named: Any) -> Any:
        """Λ of a state or of a batch; a `SingularMatrix` if one of them has none."""
        inertia = self._kernel(*args, **named)
        least = 10 * np.finfo(inertia.dtype).eps
        if not np.all(np.isfinite(inertia)):
            raise immobile(self._robot, self._frame)
        values = np.linalg.eigvalsh(inertia)
        if np.any(values[..., 0] <= least * values[..., -1]):
            raise immobile(self._robot, self._frame)
        return inertia

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._kernel, name)

    def __reduce__(self) -> tuple[Any, ...]:
        return InertiaOfFrame, (self._kernel, self._robot, self._frame)

    def __repr__(self) -> str:
        return repr(self._kernel)
