"""Inputs over time: functions, constants, controllers, and inputs held from switch to switch.

A function with two parameters is called as (t, state), any other as (t, q, v); parameters with
defaults do not count.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, final, runtime_checkable

import numpy as np

from closedform.applications.motion.system import System
from closedform.applications.motion.times import increasing
from closedform.arrays import NO_ARRAY, Array, ArrayLike, refuse_masks
from closedform.errors import ArgumentError


@runtime_checkable
class Controller(Protocol):
    """An input that is asked at the output times of a run and held between them."""

    def start(self, times: np.ndarray) -> Callable[[int, Any], Array]:
        """The law at these times: (number of the time, state) -> input."""


@final
@dataclass(frozen=True, eq=False)
class Held:
    """Torques that jump at `times` and are constant between; none before the first.

    `torques[k]` holds from times[k] up to times[k + 1], the last for ever.
    """

    times: Array           # (switches,) s, increasing
    torques: Array         # (switches, n) N m

    def __post_init__(self) -> None:
        t, u = increasing(self.times), numbers(self.torques)
        if u.ndim != 2 or len(u) != len(t) or not np.all(np.isfinite(u)):
            raise ArgumentError(f"a held input has one row of finite torques for each of its "
                                f"{len(t)} times, not {self.torques!r}")
        object.__setattr__(self, "times", t)
        object.__setattr__(self, "torques", u)

    def at(self, t: Array) -> np.ndarray:
        """The torques at these times, (points, n); at a switch the new ones."""
        # a step's start that is a switch up to rounding belongs to the new torque
        k = np.searchsorted(self.times, np.asarray(t) + 1e-9 * (1 + np.abs(t)), side="right")
        return np.concatenate([np.zeros((1, self.torques.shape[1])), self.torques])[k]


def bang_bang(torque: float | ArrayLike, start: float, middle: float, stop: float) -> Held:
    """+torque from start to middle, −torque from middle to stop, then none."""
    u = np.atleast_1d(np.array(torque, dtype=float))
    return Held(np.array([start, middle, stop]), np.stack([u, -u, 0 * u]))


Input = Controller | Callable[..., Any] | Held | ArrayLike | None
"""A controller, a function (t, state) or (t, q, v) -> (n,), held torques, (n,) numbers, or none."""


@final
@dataclass(frozen=True)
class Drive:
    """An input as the integrator asks for it."""

    ask: Callable[[int, float, Any], Array]         # (number of the time, t, state) -> (n,)
    at: Callable[[Array], np.ndarray] | None = None   # times -> (points, n), if they tell all
    jumps: Array | None = None                      # where it may jump, held between; None: always


def drive(given: Input, system: System, times: np.ndarray, what: str = "input") -> Drive:
    """What was given as an input, checked; `what` is its name in messages."""
    names = system.input_names
    if isinstance(given, Controller):
        law = given.start(times)
        return Drive(lambda k, t, state: law(k, state), jumps=times)
    if callable(given):
        whole = _parameters(given) == 2
        return Drive(lambda k, t, state: answered(
            given(t, state) if whole else given(t, *state[:2]), (len(names),), t, what))
    if isinstance(given, Held):
        at, jumps = given.at, given.times
        if given.torques.shape[1] != len(names):
            raise ArgumentError(f"{what} has {given.torques.shape[1]} columns; {system.name} has "
                                f"{len(names)} inputs, {', '.join(names)}")
    else:
        u = np.zeros(len(names)) if given is None else finite(given, names, what)
        at, jumps = partial(_repeated, u), times[:0]
    ask = partial(_now, at)
    return Drive(ask, at, jumps) if system.load is None else Drive(ask)


def _repeated(u: np.ndarray, t: Array) -> np.ndarray:
    return np.tile(u, (len(t), 1))


def _now(at: Callable[[Array], np.ndarray], k: int, t: float, state: Any) -> np.ndarray:
    return at(np.array([t]))[0]


def _parameters(function: Callable[..., Any]) -> int:
    """How many parameters without defaults a function has; 0 where that cannot be told."""
    try:
        known = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 0
    return sum(p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
               for p in known)


# ---------------------------------------------------------------------- checking
def numbers(given: object) -> np.ndarray:
    """A new array of what was given, empty if that is no numbers."""
    try:
        refuse_masks(given)
        return np.array(given, dtype=float)
    except NO_ARRAY:
        return np.zeros(0)


def answered(given: object, shape: tuple[int, ...], t: float, what: str) -> np.ndarray:
    """What a user's function said at one instant, if it is finite numbers of this shape."""
    a = numbers(given)
    if a.shape != shape or not np.all(np.isfinite(a)):
        raise ArgumentError(f"at t = {t:g} s: {what} returned {given!r}, not finite numbers of "
                            f"shape {shape}")
    return a


def finite(given: object, names: Sequence[str], what: str) -> np.ndarray:
    """A new array of finite numbers, one for each name."""
    a = numbers(given)
    if a.shape != (len(names),) or not np.all(np.isfinite(a)):
        raise ArgumentError(f"{what} must be {len(names)} finite numbers ({', '.join(names)}), "
                            f"not {given!r}")
    return a


def pair(state: Any) -> tuple[Any, Any]:
    """The (q, v) that was given as a state."""
    if not isinstance(state, tuple | list) or len(state) != 2:
        raise ArgumentError(f"state must be a pair (q, v), not {state!r}")
    return state[0], state[1]
