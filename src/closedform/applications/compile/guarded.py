"""A kernel whose results are looked at: machine code divides by what rounding leaves of zero."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import numpy as np

from closedform.errors import SingularMatrix
from closedform.maths.definitions.operational_space import immobile
from closedform.model.robot import Robot


def check_inertia(robot: Robot, frame: str, inertia: np.ndarray) -> None:
    """A `SingularMatrix` where the frame of one of the Λ cannot move freely.

    The condition of Λ is that of the mobility whose inverse it is.
    """
    least = 10 * np.finfo(inertia.dtype).eps
    if not np.all(np.isfinite(inertia)):
        raise immobile(robot, frame)
    values = np.linalg.eigvalsh(inertia)
    if np.any(values[..., 0] <= least * values[..., -1]):
        raise immobile(robot, frame)


def check_solved(robot: Robot, found: Any) -> None:
    """A `SingularMatrix` where M of a state could not be divided by."""
    if not all(np.all(np.isfinite(x)) for x in (found if isinstance(found, tuple) else (found,))):
        raise SingularMatrix(f"the mass matrix of {robot.name} is singular here: of a joint that "
                             "follows another by a polynomial, the slope is zero; or the state is "
                             "not finite")


@final
class Guarded:
    """A kernel with an error where a check of its results says so; all else is the kernel's own."""

    def __init__(self, kernel: Any, check: Callable[[Any], None]) -> None:
        self._kernel, self._check = kernel, check
        self.__doc__ = kernel.__doc__

    def __call__(self, *args: Any, **named: Any) -> Any:
        """The kernel's results of a state or of a batch, checked."""
        found = self._kernel(*args, **named)
        self._check(found)
        return found

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._kernel, name)

    def __reduce__(self) -> tuple[Any, ...]:
        return Guarded, (self._kernel, self._check)

    def __repr__(self) -> str:
        return repr(self._kernel)
