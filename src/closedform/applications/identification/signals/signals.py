"""`Signals`: what is done to a log before anything is fitted, decided in one pass, in words."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np

from closedform.applications.counts import is_number
from closedform.applications.identification.logs.log import Log
from closedform.applications.identification.model import Model
from closedform.applications.identification.signals import clock as clocks
from closedform.applications.identification.signals.delay import torque_delay
from closedform.applications.identification.signals.filter import LENGTH, LowPass, Window
from closedform.applications.identification.signals.findings import (
    findings,
    is_fault,
    standing,
)
from closedform.applications.identification.signals.grid import stretches
from closedform.applications.identification.signals.survey import PIECE, Survey, surveyed
from closedform.applications.identification.signals.windows import (
    Stream,
    WindowPlan,
    kept_rows,
    steps,
)
from closedform.arrays import Floats
from closedform.errors import ArgumentError, suggestion
from closedform.model.findings import Level

CLOCKS = ("repair", "logged", "uniform")
DERIVATIVES = ("positions", "logged")
KEPT = 4.0
"""Kept rows in a period of the cutoff."""
WIDER = 4.0
"""So many times the cutoff passes of positions, if their noise lets it."""
STILL = 0.02
"""A velocity counts as standing below this share of its usual size, or where noise reaches it."""
REACHED = 5.0
"""Standard deviations that noise reaches."""
FLAT = 1e-5
"""The smooth sign's least scale, of a joint's usual speed."""


@final
@dataclass(frozen=True)
class Signals:
    """What is done to the signals of a log.

    `rate` (Hz) of the rows that are kept; None: four times the cutoff. `cutoff` (Hz) of the
    zero-phase low-pass of torques and every column of the regressor, and of positions, which pass
    up to four times of it where they have little noise; "auto": five times the highest frequency of
    the motion. `clock`: "repair" rebuilds times from q and v where they allow it, "uniform" lays
    lines through neighbours, "logged" takes times as they are. `delay` (s) by which torques are
    late; "estimate" applies one that is clear. `derivatives` from "positions", or velocities as
    "logged".
    """

    rate: float | None = None
    cutoff: float | str = "auto"
    clock: str = "repair"
    delay: float | str = "estimate"
    derivatives: str = "positions"

    def __post_init__(self) -> None:
        for name, known in (("clock", CLOCKS), ("derivatives", DERIVATIVES)):
            if getattr(self, name) not in known:
                raise ArgumentError(f"{name}: {suggestion(getattr(self, name), known)}")
        for name, word in (("cutoff", "auto"), ("delay", "estimate"), ("rate", None)):
            given = getattr(self, name)
            if given != word and not is_number(given, least=-np.inf if name == "delay" else 0.0):
                told = f"{word!r} or " if word else ""
                raise ArgumentError(f"{name} must be {told}a number"
                                    f"{'' if name == 'delay' else ' above zero'}, not {given!r}")

    def prepare(self, log: Log, model: Model | None = None) -> Prepared:
        """All decisions about a log, from one pass over it.

        A delay of the torques is estimated by the equations of a model; by default, those of the
        log's robot with rotors and friction.
        """
        if not isinstance(log, Log):
            raise ArgumentError("log must be a Log, as identification.read gives one, not "
                                f"{type(log).__name__}")
        told = None if isinstance(self.cutoff, str) else float(self.cutoff)
        made = surveyed(log, self.clock, told)
        found = findings(made)
        refused = [f.message for f in found if f.level is Level.ERROR and not is_fault(f)]
        if refused:
            raise ArgumentError(f"{log.source}: {'; '.join(refused)}")
        if self.derivatives == "logged" and "v" not in log.kinds:
            raise ArgumentError(f"{log.source}: no velocities are logged: derivatives must be "
                                "'positions'")
        if 2 * LENGTH / made.cutoff > made.duration:     # of such filters none is made at all
            raise _too_short(made, 2 * LENGTH / made.cutoff)
        plan, said, late = self._plan(made, model)
        rows = sum(max(kept_rows(plan, end - begin), 0) for begin, end in made.stretches)
        if rows < 1:
            raise _too_short(made, 2 * (plan.fine.half + plan.coarse.half * plan.every)
                             * plan.period)
        faults = (*(f.message for f in found if is_fault(f)), *late)
        seen = [f.message for f in found if f.rule in ("standing", "no-torques")]
        return Prepared(log, self, made, plan, rows,
                        (*log.notes, *_clock_words(made), *said, *seen), faults)

    def _plan(self, made: Survey, model: Model | None,
              ) -> tuple[WindowPlan, tuple[str, ...], tuple[str, ...]]:
        T, cutoff = made.clock.period, made.cutoff
        every, keep = steps(T, cutoff, self.rate or KEPT * cutoff)
        speed = np.zeros(made.log.robot.nv) if made.found is None else made.found.speed
        logged = self.derivatives == "logged"
        delay = 0.0 if isinstance(self.delay, str) else float(self.delay)
        motion = motion_cutoff(made)
        noise = velocity_noise(made, motion)
        slowest = np.maximum(REACHED * noise, STILL * speed)
        plan = WindowPlan(made.log.robot, T, cutoff, motion, every, keep, delay,
                          np.where(standing(made), np.inf, slowest),
                          np.maximum(math.sqrt(2 / math.pi) * noise, FLAT * speed + 1e-9), logged)
        said = [f"a zero-phase low-pass (Butterworth of order 4, forwards and backwards) at "
                f"{cutoff:.3g} Hz ({made.why}) on torques and every column, "
                f"at {motion:.3g} Hz on positions",
                f"velocities {'as logged' if logged else 'and accelerations from the positions'}, "
                f"evaluated at {1 / (T * every):.4g} Hz, kept at {1 / (T * every * keep):.4g} Hz"]
        late: tuple[str, ...] = ()
        if isinstance(self.delay, str):
            plan, words, clear = torque_delay(plan, made, model)
            said.append(words)
            late = () if clear else (words,)
        elif delay:
            said.append(f"torques are taken {1e3 * delay:.3g} ms later than positions")
        return plan, tuple(said), late


@final
@dataclass(frozen=True, eq=False)
class Prepared:
    """A log with all decisions; `windows` streams it. `faults` are what no filter mends."""

    log: Log
    signals: Signals
    survey: Survey
    plan: WindowPlan
    rows: int                       # that will be kept
    notes: tuple[str, ...]
    faults: tuple[str, ...] = ()

    @property
    def rate(self) -> float:
        """Hz, of the kept rows."""
        return 1 / (self.plan.period * self.plan.every * self.plan.keep)

    @property
    def duration(self) -> float:
        """Seconds, by the clock."""
        return self.survey.duration

    @property
    def velocity_noise(self) -> Floats:
        """Of the filtered velocities, (nv,)."""
        return velocity_noise(self.survey, self.plan.motion)

    def windows(self) -> Iterator[Window]:
        """The log in windows; what a row becomes does not depend on where they end."""
        plan = self.plan
        stream = Stream(plan)
        for rows, first in stretches(self.survey.clock.stamped(self.log, PIECE), self.survey.gap):
            if first:
                yield from stream.close()
                stream = Stream(plan)
            yield from stream.push(rows)
        yield from stream.close()


def _too_short(made: Survey, need: float) -> ArgumentError:
    return ArgumentError(f"{made.log.source}: {made.duration:.3g} s are too short: a cutoff of "
                         f"{made.cutoff:.3g} Hz needs stretches of {need:.3g} s")


def velocity_noise(made: Survey, cutoff: float) -> Floats:
    """White noise of the positions, as it comes through a filter into velocities."""
    if made.found is None:
        return np.zeros(made.log.robot.nv)
    h1 = LowPass(1 / made.clock.period, cutoff).kernels[1]
    return made.found.noise * math.sqrt(float(np.sum(h1**2)))


def motion_cutoff(made: Survey) -> float:
    """The cutoff (Hz) of positions, above that of torques and columns.

    Columns are no linear functions of the motion: of a motion that the low-pass has changed they
    are not what it makes of them. What noise brings above the cutoff is taken off the columns
    themselves, but for its square; velocities count as moving as before.
    """
    cutoff, moves = made.cutoff, ~standing(made)
    if made.found is None or not moves.any():
        return cutoff
    noise = REACHED * velocity_noise(made, cutoff)[moves]       # grows with the power 3/2
    room = float(np.min(STILL * made.found.speed[moves] / np.maximum(noise, 1e-300)))
    return max(cutoff, min(WIDER * cutoff, 1 / (6 * made.clock.period), cutoff * room**(2 / 3)))


def _clock_words(made: Survey) -> list[str]:
    T = made.clock.period
    words = {
        clocks.TICKS: f"times rebuilt from positions and velocities: ticks of {1e3 * T:.6g} ms, "
                      f"{made.duration:.3f} s in all (logged {made.logged:.3f} s, steps of "
                      f"{1e3 * made.steps[0]:.3g} to {1e3 * made.steps[2]:.3g} ms)",
        clocks.LINE: f"times on lines through {2 * made.clock.neighbours + 1} neighbours: a row "
                     f"every {1e3 * T:.6g} ms, {made.duration:.3f} s",
        clocks.LOGGED: f"times as logged, {1 / T:.6g} Hz, {made.duration:.3f} s",
    }
    said = [words[made.clock.kind]]
    if made.repeats:
        said.append(f"{made.repeats} rows that repeat the row before are left out")
    if made.missing:
        said.append(f"{made.missing} missing samples are interpolated")
    if made.gaps:
        longest = max(length for _, length in made.gaps)
        said.append(f"gaps ({len(made.gaps)}, the longest {longest:.3g} s) part the log into "
                    "stretches")
    return said
