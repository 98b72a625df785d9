"""Joint torques over time: functions, constants, and inputs held from one switch to the next."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from closedform.arrays import Array
from closedform.errors import ArgumentError

Law = Callable[[float, Array, Array], Any]
"""(t, q, v) -> torques (n,)."""


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


Input = Law | Held | Any | None


def input_law(torque: Input, n: int) -> Law:
    """The input as a function (t, q, v) -> (n,), finite numbers every time."""
    if isinstance(torque, Held):
        if torque.torques.shape[1] != n:
            raise ArgumentError(f"torque has {torque.torques.shape[1]} columns; the arm has "
                                f"{n} joints")
        return lambda t, q, v: torque.at(np.array([t]))[0]
    if callable(torque):
        return _Checked(torque, n)
    return Constant(np.zeros(n) if torque is None else torque, n)


@final
class Constant:
    """The same torques at all times."""

    def __init__(self, given: Any, n: int) -> None:
        self.value = _finite(given, n, f"torque is {given!r}")

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        return self.value


class _Checked:
    def __init__(self, law: Law, n: int) -> None:
        self.law, self.n = law, n

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        given = self.law(t, q, v)
        return _finite(given, self.n, f"at t = {t:g} s torque returned {given!r}")


def _finite(given: Any, n: int, wrong: str) -> Array:
    try:
        a = np.array(given, dtype=float)
    except (TypeError, ValueError):
        a = np.full(0, np.nan)
    if a.shape != (n,) or not np.all(np.isfinite(a)):
        raise ArgumentError(f"{wrong}, not {n} finite numbers, one for each joint")
    return a
