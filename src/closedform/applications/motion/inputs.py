"""Inputs over time: functions, constants, controllers, and inputs held from switch to switch.

A function with two parameters is called as (t, state), any other as (t, q, v); parameters with
defaults do not count.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, final, runtime_checkable

import numpy as np

from closedform.applications.motion.system import System
from closedform.arrays import Array
from closedform.errors import ArgumentError


@runtime_checkable
class Controller(Protocol):
    """An input that is asked at the output times of a run and held between them."""

    def start(self, times: Array) -> Callable[[int, Any], Array]:
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
        try:
            t, u = np.array(self.times, dtype=float), np.array(self.torques, dtype=float)
        except (TypeError, ValueError) as error:
            raise ArgumentError(f"a held input is numbers: {error}") from error
        if t.ndim != 1 or not len(t) or not np.all(np.isfinite(t)) or np.any(np.diff(t) <= 0):
            raise ArgumentError(f"switching times are increasing numbers, not {self.times!r}")
        if u.ndim != 2 or len(u) != len(t) or not np.all(np.isfinite(u)):
            raise ArgumentError(f"a held input has one row of finite torques for each of its "
                                f"{len(t)} times; torques of shape {u.shape} were given")
        object.__setattr__(self, "times", t)
        object.__setattr__(self, "torques", u)

    def at(self, t: Array) -> Array:
        """The torques at these times, (points, n); at a switch the new ones."""
        # a step's start that is a switch up to rounding belongs to the new torque
        k = np.searchsorted(self.times, np.asarray(t) + 1e-9 * (1 + np.abs(t)), side="right")
        return np.concatenate([np.zeros((1, self.torques.shape[1])), self.torques])[k]


def bang_bang(torque: Any, start: float, middle: float, stop: float) -> Held:
    """+torque from start to middle, −torque from middle to stop, then none."""
    u = np.atleast_1d(np.array(torque, dtype=float))
    return Held(np.array([start, middle, stop]), np.stack([u, -u, 0 * u]))


# ---------------------------------------------------------------------- as the integrator asks
@final
@dataclass(frozen=True)
class TimeInput:
    """An input that depends on nothing but time, and is constant between its jumps."""

    at: Callable[[Array], Array]     # (points,) -> (points, n)
    jumps: Array

    def __call__(self, k: int, t: float, y: Array) -> Array:
        return self.at(np.array([t]))[0]

    def told(self, t: Array, path: Array) -> Array:
        """The input at these times, (points, n)."""
        return self.at(t)


@final
class StateInput:
    """An input that is asked for at a state; at any time, or where it has jumps only there."""

    def __init__(self, law: Callable[[int, float, Any], Array], system: System,
                 jumps: Array | None = None) -> None:
        self.law, self.jumps = law, jumps
        self.state, self.load = system.state, system.load

    def __call__(self, k: int, t: float, y: Array) -> Array:
        state = self.state(y)
        u = self.law(k, t, state)
        return u if self.load is None else u + self.load(t, state)

    def told(self, t: Array, path: Array) -> Array:
        """The input at the points of a path, without the system's load, (points, n)."""
        return np.stack([self.law(k, now, self.state(y))
                         for k, (now, y) in enumerate(zip(t, path, strict=True))])


Drive = TimeInput | StateInput


def drive(given: Any, system: System, times: Array, what: str = "input") -> Drive:
    """What was given as an input, checked; `what` is its name in messages."""
    names = system.input_names
    if isinstance(given, Controller):
        asked = given.start(times)
        return StateInput(lambda k, t, state: asked(k, state), system, times)
    if isinstance(given, Held) and given.torques.shape[1] != len(names):
        raise ArgumentError(f"{what} has {given.torques.shape[1]} columns; {system.name} has "
                            f"{len(names)} inputs, {', '.join(names)}")
    if callable(given):
        return StateInput(_checked(given, system, what), system)
    if isinstance(given, Held):
        timed = TimeInput(given.at, given.times)
    else:
        u = np.zeros(len(names)) if given is None else finite(given, names, what)
        timed = TimeInput(lambda t: np.tile(u, (len(t), 1)), np.zeros(0))
    if system.load is None:
        return timed
    return StateInput(lambda k, t, state: timed.at(np.array([t]))[0], system)


def _checked(given: Callable[..., Any], system: System,
             what: str) -> Callable[[int, float, Any], Array]:
    """A function of the user's that answers finite numbers, or says at what time it did not."""
    shape, whole = (len(system.input_names),), _parameters(given) == 2

    def law(k: int, t: float, state: Any) -> Array:
        answer = given(t, state) if whole else given(t, state[0], state[1])
        return answered(answer, shape, t, what)

    return law


def _parameters(function: Callable[..., Any]) -> int:
    """How many parameters without defaults a function has; 0 where that cannot be told."""
    try:
        known = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 0
    return sum(p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
               for p in known)


def answered(given: Any, shape: tuple[int, ...], t: float, what: str) -> Array:
    """What a user's function said at one instant, if it is finite numbers of this shape."""
    try:
        a = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        a = np.full(0, np.nan)
    if a.shape != shape or not np.all(np.isfinite(a)):
        raise ArgumentError(f"at t = {t:g} s: {what} returned {given!r}, not finite numbers of "
                            f"shape {shape}")
    return a


def finite(given: Any, names: Sequence[str], what: str) -> Array:
    """A new array of finite numbers, one for each name."""
    try:
        a = np.array(given, dtype=float)
    except (TypeError, ValueError):
        a = np.full(0, np.nan)
    if a.shape != (len(names),) or not np.all(np.isfinite(a)):
        raise ArgumentError(f"{what} must be {len(names)} finite numbers ({', '.join(names)}), "
                            f"not {given!r}")
    return a
