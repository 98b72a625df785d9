"""The one integration loop, for every system, input and method."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import Progress

from closedform.applications.motion.inputs import Drive, Input, drive
from closedform.applications.motion.methods import LSODA, RK4, Adaptive, Method
from closedform.applications.motion.simulation import Simulation
from closedform.applications.motion.system import System
from closedform.applications.motion.times import increasing, steps_between
from closedform.arrays import Array, ArrayLike
from closedform.errors import ArgumentError, ClosedformError, ModelWarning, SingularMatrix

EVALUATIONS = 2_000_000
CHUNK = 64
"""Steps between two looks at the state and the progress bar."""
PACE = 10_000
"""Evaluations between two looks at how far they have brought a run."""


def integrated(system: System, state: Any, given: Input, times: ArrayLike, method: Method, *,
               progress: bool | None = None, max_evaluations: int = EVALUATIONS,
               what: str = "input") -> Simulation:
    """The motion of a system from a state under an input; `what` is the input's name in messages.

    A run that needs more than `max_evaluations` of the rate is stopped with an error.
    """
    t = increasing(times)
    x = _at(t[0], system.start, state)
    y = np.concatenate([x, np.zeros(len(system.accounts))])
    with _bar(t, progress) as show:
        run = _Run(system, drive(given, system, t, what), t, y, max_evaluations, show)
        path, inputs = run.fixed(method) if isinstance(method, RK4) else run.adaptive(method)
    found = Simulation(system, t, path, inputs, type(method).__name__, run.evaluations)
    for remark in system.remarks(found):
        warnings.warn(remark, ModelWarning, stacklevel=3)
    return found


@dataclass
class _Run:
    """One integration from y to the times t, and how often the rate was asked for."""

    system: System
    drive: Drive
    t: np.ndarray
    y: np.ndarray
    limit: int
    show: Callable[[float], None]
    evaluations: int = 0
    mark: float = -np.inf

    def input(self, k: int, t: float, y: Array) -> Array:
        """What acts at a state, also the system's load."""
        state, load = self.system.state(y), self.system.load
        u = self.drive.ask(k, t, state)
        return u if load is None else u + load(t, state)

    def told(self, path: np.ndarray) -> np.ndarray:
        """The input alone on the path, (points, n)."""
        if self.drive.at is not None:
            return self.drive.at(self.t)
        return np.stack([self.drive.ask(k, t, self.system.state(y))
                         for k, (t, y) in enumerate(zip(self.t, path, strict=True))])

    # ------------------------------------------------------------------ fixed steps
    def fixed(self, method: RK4) -> tuple[np.ndarray, np.ndarray]:
        """States and inputs at the times."""
        t = self.t
        counts, marks, ends = steps_between(t, method.step), t[:-1], np.arange(len(t))
        sizes, repeats, self.evaluations = np.diff(t) / counts, counts, 4 * int(counts.sum())
        if self.evaluations > self.limit:
            raise ArgumentError(f"{counts.sum()} steps of {method.step:g} s are more than "
                                f"max_evaluations = {self.limit} allows")
        if self.drive.at is not None or self.drive.jumps is None:      # asked at every step
            ends = np.concatenate([[0], np.cumsum(counts)])
            within = np.arange(ends[-1]) - np.repeat(ends[:-1], counts)
            sizes, repeats = np.repeat(sizes, counts), np.ones(ends[-1], dtype=int)
            marks = np.repeat(marks, counts) + within * sizes
        path, held = (np.empty((len(marks) + 1, n)) for n in (
            len(self.y), len(self.system.input_names) + 1))
        path[0], held[:-1, -1] = self.y, sizes
        for first in range(0, len(marks), CHUNK):
            part = slice(first, min(first + CHUNK, len(marks)))
            self._steps(path[first:part.stop + 1], held[part], marks[part], repeats[part], first)
            self.show(marks[part.stop - 1])
        path = path[ends]
        if self.system.load is not None:
            return path, self.told(path)
        held[-1, :-1] = self.input(len(t) - 1, t[-1], path[-1])
        return path, held[ends, :-1]

    def _steps(self, path: np.ndarray, held: np.ndarray, marks: np.ndarray, repeats: np.ndarray,
               first: int) -> None:
        step, ask, rows, given = self.system.step, self.input, list(path), list(held)
        if self.drive.at is not None:
            held[:, :-1] = self.drive.at(marks)
            for y, u, following in zip(rows, given, rows[1:], strict=False):
                step(y, u, out=following)
        else:
            for k, (u, count) in enumerate(zip(given, repeats.tolist(), strict=True)):
                u[:-1] = ask(first + k, marks[k], rows[k])
                step(rows[k], u, out=rows[k + 1])
                for _ in range(count - 1):
                    step(rows[k + 1].copy(), u, out=rows[k + 1])
                if not abs(rows[k + 1][-1]) < np.inf:
                    path[k + 2:] = 0
                    break
        bad = np.flatnonzero(~np.all(np.isfinite(path[1:]), axis=1))
        if len(bad):
            t, h = marks[bad[0]], held[bad[0], -1]
            raise self._end(
                t, path[bad[0]:bad[0] + 2], f"; or RK4's step of {h:g} s is too long",
                f"{self.system.name} has run away by t = {t:g} s: the motion is unstable, or RK4's "
                f"step of {h:.2g} s is too long for it; try a shorter one, or method=cf.Radau()")

    def _end(self, t: float, y: Array, hint: str, otherwise: str) -> ClosedformError:
        """Why a motion ends at y: because the model does, or for the method's own reasons.

        The last of several states that is finite tells.
        """
        count = len(self.system.state_names)
        known = [x for x in np.atleast_2d(y) if np.all(np.isfinite(x[:count]))]
        why = self.system.stopped(self.y, known[-1]) if known else None
        return SingularMatrix(f"at t = {t:.6g} s: {why}{hint}") if why else ClosedformError(
            otherwise)

    # ------------------------------------------------------------------ SciPy's methods
    def adaptive(self, method: Adaptive) -> tuple[np.ndarray, np.ndarray]:
        """States and inputs at the times, anew from each jump of the input."""
        from scipy.integrate import solve_ivp  # slow to import

        name: Any = type(method).__name__
        t, jumps, path, y = self.t, self.drive.jumps, [self.y], self.y
        inner = [] if jumps is None else [s for s in jumps if t[0] < s < t[-1]]
        for k, (start, stop) in enumerate(pairwise([t[0], *inner, t[-1]] if len(t) > 1 else [])):
            inside = t[(t > start) & (t <= stop)]
            asked = inside if len(inside) and inside[-1] == stop else np.append(inside, stop)
            u = None if jumps is None else self.input(k, start, y)
            found = solve_ivp(self._rate(method, u), (start, stop), y, method=name,
                              t_eval=asked, rtol=method.rtol, atol=method.atol)
            if not found.success:
                raise self._failure(name, found.message)
            path += list(found.y.T[:len(inside)])
            y = np.asarray(self.system.retracted(found.y[:, -1]))
        return np.array(path), self.told(np.array(path))

    def _rate(self, method: Adaptive, held: Array | None) -> Callable[[float, Array], Array]:
        """(t, y) -> ẏ, under a held input or the one asked for; NaN makes a method go nearer."""
        def rate(t: float, y: Array) -> Array:
            self.evaluations += 1
            self.last = t, y
            if self.evaluations > self.limit or self.evaluations % PACE == 0:
                self._refuse_creeping(t, y)
            if self.evaluations % 100 == 0:
                self.show(t)
            u = self.input(0, t, y) if held is None else held
            found = _at(t, self.system.rate, y, u)
            if isinstance(method, LSODA) and found[-1] != found[-1]:
                raise self._failure("LSODA", "the rate is NaN")     # which its Fortran cannot bear
            return found

        return rate

    def _refuse_creeping(self, t: float, y: Array) -> None:
        """Stop a run that is over its limit, or on the way there because its model ends."""
        over, pace = self.evaluations > self.limit, (self.t[-1] - self.t[0]) * PACE / self.limit
        error = self._end(t, y, "", f"more than {self.limit} evaluations by t = {t:g} s: the "
                          "motion is stiff or rtol too small; try method=cf.Radau(), or raise "
                          "max_evaluations")
        if over or (t - self.mark < pace and isinstance(error, SingularMatrix)):
            raise error
        self.mark = t

    def _failure(self, method: str, message: str) -> ClosedformError:
        t, y = self.last
        return self._end(t, y, "", f"{method} stopped at t = {t:g} s: {message}")


def _at(t: float, function: Callable[..., Array], *given: Any) -> Array:
    """What the function returns; errors of matrices and motions are told with the time."""
    try:
        return function(*given)
    except ArgumentError:
        raise
    except ClosedformError as error:
        raise type(error)(f"at t = {t:g} s: {error}") from error


@contextmanager
def _bar(t: np.ndarray, progress: bool | None) -> Iterator[Callable[[float], None]]:
    """A progress bar on standard error, and the function that moves it to a time."""
    terminal = sys.stderr.isatty()
    if not (terminal if progress is None else progress):
        yield lambda now: None
        return
    with Progress(console=Console(stderr=True), transient=terminal) as bar:
        task = bar.add_task("simulating", total=t[-1] - t[0])
        yield lambda now: bar.update(task, completed=now - t[0])
