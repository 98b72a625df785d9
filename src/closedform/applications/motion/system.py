"""What `simulate` moves: a system with a state, an input, an energy and a rate.

Its state is integrated as one vector y: the state's own numbers x, then the `accounts`, integrals
that a run keeps beside the motion to check it by. The first is the work W of the inputs less what
is dissipated, so that E(t) − E(0) − W(t) = 0. Equations do not depend on time: what does is an
input.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from closedform.applications.motion.methods import rk4_step
from closedform.applications.motion.pictures import Panel
from closedform.arrays import Array
from closedform.errors import ArgumentError


class MotionState(NamedTuple):
    """Positions and velocities."""

    q: Array
    v: Array


Stepper = Callable[..., object]
"""step(y, (u, h), out=following): y after h seconds under the input u."""


class System(Protocol):
    """A system to simulate; derive from it and write what is abstract.

    States of a path come with the points first, states of an instant without.
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """What messages and pictures call it."""

    @property
    @abstractmethod
    def state_names(self) -> Sequence[str]:
        """Names of the numbers x of a state."""

    @property
    @abstractmethod
    def input_names(self) -> Sequence[str]:
        """Names of the inputs u."""

    @property
    def accounts(self) -> Sequence[str]:
        """What is integrated beside the state; the first is the work."""
        return ("work",)

    @abstractmethod
    def start(self, state: Any) -> Array:
        """x of a state as users give it, checked; of None the state that is there by default."""

    @abstractmethod
    def state(self, y: Array) -> Any:
        """The state as laws and users see it; coordinates that y only approximates are mended."""

    @abstractmethod
    def rate(self, y: Array, u: Array) -> Array:
        """ẏ = (ẋ, Ẇ, …); the last entry is NaN where the equations cannot be solved."""

    @abstractmethod
    def observed(self, y: Array, u: Array) -> Mapping[str, Any]:
        """What is told of a path, by name: `kinetic` and `potential` energy, (points,), and more.

        A simulation has all of it as attributes.
        """

    # ------------------------------------------------------------------ what may be left as it is
    @property
    def step(self) -> Stepper:
        """A step of `RK4`; compiled where that has been prepared."""
        step = rk4_step(self.rate, len(self.input_names))

        def stepped(y: Array, held: Array, out: Array) -> None:
            out[:] = step(y, held)

        return stepped

    @property
    def load(self) -> Callable[[float, Any], Array] | None:
        """(t, state) -> what acts beside the input, (inputs,)."""
        return None

    def retracted(self, y: Array) -> Array:
        """y with its constraints met: unit quaternions."""
        return y

    def inertia(self, y: Array) -> Array:
        """The inertia matrix on a path, (points, n, n), to see whether it stays definite."""
        return np.zeros((len(y), 0, 0))

    def panels(self, run: Any) -> Sequence[Panel]:
        """What the picture of a `Simulation` shows beside its energies."""
        return [Panel("state", run.path[:, :len(self.state_names)], self.state_names)]

    def remarks(self, run: Any) -> Sequence[str]:
        """What the reader of a `Simulation` has to be warned of."""
        return ()

    def stopped(self, first: Array, last: Array) -> str | None:
        """Why a motion from `first` cannot go beyond `last`, if that is known."""
        return None

    def animate(self, run: Any, path: Path, **options: Any) -> None:
        """Write a `Simulation` as an animated picture."""
        raise ArgumentError(f"there is no animation of {self.name}")


def pair(state: Any) -> tuple[Any, Any]:
    """The (q, v) that was given as a state."""
    try:
        q, v = state
    except (TypeError, ValueError):
        raise ArgumentError(f"state must be a pair (q, v), not {state!r}") from None
    return q, v
