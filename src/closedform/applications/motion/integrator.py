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

from closedform.applications.motion.inputs import Drive, TimeInput, drive
from closedform.applications.motion.methods import LSODA, RK4, Adaptive, Method
from closedform.applications.motion.simulation import Simulation
from closedform.applications.motion.system import System
from closedform.applications.motion.times import increasing, steps_between
from closedform.arrays import Array
from closedform.errors import ArgumentError, ClosedformError, ModelWarning, SingularMatrix

EVALUATIONS = 2_000_000
CHUNK = 64
"""Steps between two looks at the state and the progress bar."""


def integrated(system: System, state: Any, given: Any, times: Any, method: Method, *,
               progress: bool | None = None, max_evaluations: int = EVALUATIONS,
               what: str = "input") -> Simulation:
    """The motion of a system from a state under an input; `what` is the input's name in messages.

    A run that needs more than `max_evaluations` of the rate is stopped with an error.
    """
    t = increasing(times)
    try:
        x = system.start(state)
    except SingularMatrix as error:
        raise _timed(error, t[0]) from error
    y = np.concatenate([x, np.zeros(len(system.accounts))])
    with _bar(t, progress) as show:
        run = _Run(system, drive(given, system, t, what), max_evaluations, show, y)
        path, inputs = run.fixed(t, method) if isinstance(method, RK4) else run.adaptive(t, method)
    found = Simulation(system, t, path, inputs, type(method).__name__, run.evaluations)
    for remark in system.remarks(found):
        warnings.warn(remark, ModelWarning, stacklevel=3)
    return found


@dataclass
class _Run:
    """One integration from y, and how often the rate was asked for."""

    system: System
    drive: Drive
    limit: int
    show: Callable[[float], None]
    y: Array
    evaluations: int = 0

    # ------------------------------------------------------------------ fixed steps
    def fixed(self, t: Array, method: RK4) -> tuple[Array, Array]:
        """States and inputs at the times t."""
        counts = steps_between(t, method.step)
        self.evaluations = 4 * int(counts.sum())
        if self.evaluations > self.limit:
            raise ArgumentError(f"{counts.sum()} steps of {method.step:g} s are more than "
                                f"max_evaluations = {self.limit} allows")
        sizes, repeats, ends = np.diff(t) / counts, counts, np.arange(len(t))
        marks = t[:-1]
        if isinstance(self.drive, TimeInput) or self.drive.jumps is None:   # asked at every step
            ends = np.concatenate([[0], np.cumsum(counts)])
            within = np.arange(ends[-1]) - np.repeat(ends[:-1], counts)
            sizes, repeats = np.repeat(sizes, counts), np.ones(ends[-1], dtype=int)
            marks = np.repeat(marks, counts) + within * sizes
        path = np.empty((len(marks) + 1, len(self.y)))
        path[0] = self.y
        held = np.empty((len(marks), len(self.system.input_names) + 1))
        held[:, -1] = sizes
        for first in range(0, len(marks), CHUNK):
            part = slice(first, first + CHUNK)
            self._steps(path[first:first + CHUNK + 1], held[part], marks[part], repeats[part],
                        first)
            self.show(marks[part][-1])
        path, last = path[ends], self.drive(len(t) - 1, t[-1], path[-1])
        inputs = (np.vstack([held[ends[:-1], :-1], last]) if self.system.load is None
                  else self.drive.told(t, path))
        return path, inputs

    def _steps(self, path: Array, held: Array, marks: Array, repeats: Array, first: int) -> None:
        step, ask, rows, between = self.system.step, self.drive, list(path), np.empty(path.shape[1])
        if isinstance(ask, TimeInput):
            held[:, :-1] = ask.at(marks)
            for y, given, following in zip(rows, list(held), rows[1:], strict=False):
                step(y, given, out=following)
        else:
            for k, (given, count) in enumerate(zip(list(held), repeats.tolist(), strict=True)):
                given[:-1] = ask(first + k, marks[k], rows[k])
                step(rows[k], given, out=rows[k + 1])
                for _ in range(count - 1):
                    between[:] = rows[k + 1]
                    step(between, given, out=rows[k + 1])
                if not abs(rows[k + 1][-1]) < np.inf:
                    path[k + 2:] = 0
                    break
        bad = np.flatnonzero(~np.all(np.isfinite(path[1:]), axis=1))
        if len(bad):
            raise self._lost(marks[bad[0]], path[bad[0] + 1], held[bad[0], -1])

    def _lost(self, t: float, y: Array, step: float) -> ClosedformError:
        """Why there is no state after a fixed step: the model's end, or the method's."""
        found = np.all(np.isfinite(y[:len(self.system.state_names)]))
        why = self.system.stopped(self.y, y) if found else None
        if why:
            return SingularMatrix(f"at t = {t:.6g} s: {why}; or RK4's step of {step:g} s is too "
                                  "long")
        return ClosedformError(
            f"{self.system.name} has run away by t = {t:g} s: the motion is unstable, or RK4's "
            f"step of {step:.2g} s is too long for it; try a shorter one, or method=cf.Radau()")

    # ------------------------------------------------------------------ SciPy's methods
    def adaptive(self, t: Array, method: Adaptive) -> tuple[Array, Array]:
        """States and inputs at the times t, anew from each jump of the input."""
        from scipy.integrate import solve_ivp  # slow to import

        name: Any = type(method).__name__
        jumps, path, y = self.drive.jumps, [self.y], self.y
        inner = [] if jumps is None else [s for s in jumps if t[0] < s < t[-1]]
        for k, (start, stop) in enumerate(pairwise([t[0], *inner, t[-1]])):
            inside = t[(t > start) & (t <= stop)]
            if not len(inside) and stop == start:
                break
            asked = inside if len(inside) and inside[-1] == stop else np.append(inside, stop)
            u = None if jumps is None else self.drive(k, start, y)
            found = solve_ivp(self._rate(method, u, t[-1]), (start, stop), y, method=name,
                              t_eval=asked, rtol=method.rtol, atol=method.atol)
            if not found.success:
                raise self._failure(name, found.message)
            path += list(found.y.T[:len(inside)])
            y = self.system.retracted(found.y[:, -1])
        return np.array(path), self.drive.told(t, np.array(path))

    def _rate(self, method: Adaptive, held: Array | None,
              end: float) -> Callable[[float, Array], Array]:
        """(t, y) -> ẏ, under a held input or the one asked for; NaN makes a method go nearer."""
        def rate(t: float, y: Array) -> Array:
            self.evaluations += 1
            self.last = t, y
            if self.evaluations > self.limit:
                raise ClosedformError(
                    f"more than {self.limit} evaluations by t = {t:g} s of {end:g} s: the motion "
                    "is stiff or rtol too small; try method=cf.Radau(), or raise max_evaluations")
            if self.evaluations % 100 == 0:
                self.show(t)
            u = self.drive(0, t, y) if held is None else held
            try:
                found = self.system.rate(y, u)
            except ClosedformError as error:
                raise _timed(error, t) from error
            if isinstance(method, LSODA) and found[-1] != found[-1]:
                raise self._failure("LSODA", "the rate is NaN")     # which its Fortran cannot bear
            return found

        return rate

    def _failure(self, method: str, message: str) -> ClosedformError:
        """Why SciPy gave up: because it came to the end of the model, or for its own reasons."""
        t, y = self.last
        why = self.system.stopped(self.y, y)
        if why:
            return SingularMatrix(f"at t = {t:.6g} s: {why}")
        return ClosedformError(f"{method} stopped at t = {t:g} s: {message}")


def _timed(error: ClosedformError, t: float) -> ClosedformError:
    """The same error with the time."""
    return type(error)(f"at t = {t:g} s: {error}")


@contextmanager
def _bar(t: Array, progress: bool | None) -> Iterator[Callable[[float], None]]:
    """A progress bar on standard error, and the function that moves it to a time."""
    terminal = sys.stderr.isatty()
    if not (terminal if progress is None else progress):
        yield lambda now: None
        return
    with Progress(console=Console(stderr=True), transient=terminal) as bar:
        task = bar.add_task("simulating", total=t[-1] - t[0])
        yield lambda now: bar.update(task, completed=now - t[0])
