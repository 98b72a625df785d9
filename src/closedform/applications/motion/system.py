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


class System(Protocol):
    """A system to simulate: derive from it and write what is abstract.

    A path has its points first; a `run` is a `Simulation`.
    """

    name: str                                              # in messages and pictures
    state_names: Sequence[str]                             # of the numbers x of a state
    input_names: Sequence[str]                             # of the inputs u
    accounts: Sequence[str] = ("work",)                    # what is integrated beside x
    load: Callable[[float, Any], Array] | None = None      # (t, state) -> what acts beside u

    @abstractmethod
    def start(self, state: Any) -> Array:
        """x of a state as users give it, checked; of None the state that is there by default."""

    @abstractmethod
    def state(self, y: Array) -> Any:
        """The state as laws and users see it, of an instant or a path, its constraints met."""

    @abstractmethod
    def rate(self, y: Array, u: Array) -> Array:
        """ẏ = (ẋ, Ẇ, …); the last entry is NaN where the equations cannot be solved."""

    @abstractmethod
    def observed(self, y: Array, u: Array) -> Mapping[str, Any]:
        """What is told of a path, by name: `kinetic` and `potential` energy, (points,), and more.

        A run has all of it as attributes.
        """

    @property
    def step(self) -> Callable[..., object]:
        """step(y, (u, h), out=following) of `RK4`; compiled where that has been prepared."""
        step = rk4_step(self.rate, len(self.input_names))

        def stepped(y: Array, held: Array, out: np.ndarray) -> None:
            out[:] = step(y, held)

        return stepped

    def retracted(self, y: Array) -> Array:
        """y with its constraints met: unit quaternions."""
        return y

    def inertia(self, y: Array) -> Array:
        """The inertia matrix on a path, (points, n, n), to see whether it stays definite."""
        return np.zeros((len(y), 0, 0))

    def panels(self, run: Any) -> Sequence[Panel]:
        """What the picture of a run shows beside its energies."""
        return [Panel("state", run.path[:, :len(self.state_names)], self.state_names)]

    def remarks(self, run: Any) -> Sequence[str]:
        """What the reader of a run has to be warned of."""
        return ()

    def stopped(self, first: Array, last: Array) -> str | None:
        """Why a motion from `first` cannot go beyond `last`, if that is known."""
        return None

    def animate(self, run: Any, path: Path, **options: Any) -> None:
        """Write a run as an animated picture."""
        raise ArgumentError(f"there is no animation of {self.name}")
