"""One pass over a log: what its clock did, what stands still, is no number, is clipped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain

import numpy as np

from closedform.applications.identification.logs.log import Log, Samples, joined
from closedform.applications.identification.signals import clock as clocks
from closedform.applications.identification.signals.clock import Clock, Stamped
from closedform.applications.identification.signals.spectrum import (
    Agreement,
    Spectrum,
    agreement,
    cutoff_of,
    longest,
    spectrum,
)
from closedform.applications.identification.signals.windows import EFFORTS, faster
from closedform.arrays import Floats
from closedform.errors import ArgumentError
from closedform.model.robot import Robot

HEAD = 65536
"""Rows at the beginning from which clock, bandwidth and lag are known."""
PIECE = 32768
LEAST = 50
"""Rows that a log must have."""
WOVEN = 4.0
"""So many times nearer than its neighbours is the row behind them, where two sources take turns."""


@dataclass(eq=False)
class Extremes:
    """Least and greatest numbers of columns, and how often they are met."""

    low: Floats
    high: Floats
    at_low: Floats
    at_high: Floats

    @classmethod
    def none(cls, width: int) -> Extremes:
        return cls(np.full(width, np.inf), np.full(width, -np.inf), np.zeros(width),
                   np.zeros(width))

    def take(self, x: Floats) -> None:
        columns = np.ascontiguousarray(x.T)         # three times faster than along the rows
        low = np.minimum(self.low, columns.min(axis=1))
        high = np.maximum(self.high, columns.max(axis=1))
        self.at_low = np.where(low < self.low, 0, self.at_low) + np.count_nonzero(
            columns == low[:, None], axis=1)
        self.at_high = np.where(high > self.high, 0, self.at_high) + np.count_nonzero(
            columns == high[:, None], axis=1)
        self.low, self.high = low, high


@dataclass(eq=False)
class Survey:
    """What one pass over a log found; times in seconds."""

    log: Log
    clock: Clock
    gap: float                          # longer steps part stretches
    cutoff: float
    why: str                            # this cutoff
    found: Spectrum | None = None
    agreement: Agreement | None = None
    rows: int = 0
    kept: int = 0                       # rows that are no repeats
    missing: int = 0                    # samples between rows, shorter than gaps
    back: tuple[int, float, float] | None = None    # row and times where time first goes back
    backs: int = 0
    crowded: int = 0                    # rows at the time of the row before, with other positions
    woven: str = ""                     # the kind that jumps to and fro with every row
    steps: tuple[float, float, float] = (np.nan, np.nan, np.nan)   # least, median, longest, logged
    logged: float = 0.0                 # duration by the logged times
    stretches: list[tuple[float, float]] = field(default_factory=list)   # begin, end
    bad: dict[tuple[str, int], tuple[int, int]] = field(default_factory=dict)
    """Rows without a number, and the first of them, by kind and column."""
    extremes: dict[str, Extremes] = field(default_factory=dict)
    moved: Floats | None = None         # (nv,) range of positions, along velocities
    unmended: bool = False              # whether times are as logged although others are smoother

    @property
    def repeats(self) -> int:
        return self.rows - self.kept

    @property
    def duration(self) -> float:
        """By the clock, from the first sample to a period behind the last."""
        return self.stretches[-1][1] - self.stretches[0][0] + self.clock.period \
            if self.stretches else 0.0

    @property
    def gaps(self) -> list[tuple[float, float]]:
        """When each began, and how long it was."""
        return [(before[1], after[0] - before[1])
                for before, after in zip(self.stretches, self.stretches[1:], strict=False)]


def surveyed(log: Log, wish: str = "repair", cutoff: float | None = None) -> Survey:
    """The survey of a log; numbers that are none and times that go back are counted, not used."""
    pieces = log.pieces(PIECE)
    start: list[Samples] = []
    for piece in pieces:
        start.append(piece)
        if sum(len(x.t) for x in start) >= HEAD:
            break
    rows = sum(len(x.t) for x in start)
    if rows < LEAST:
        raise ArgumentError(f"{log.source}: {rows} rows are too few; {LEAST} or more are needed")
    first = joined(start)
    head = _usable(first)
    if len(head.t) < LEAST <= np.sum(np.diff(first.t) < 0):
        raise ArgumentError(f"{log.source}: time goes back in most rows, from {first.t[0]:.6g} s "
                            "on: sort the rows by time")
    made = _begun(log, head, wish, cutoff)
    made.woven = next((kind for kind, x in head._asdict().items()
                       if kind != "t" and x is not None and _to_and_fro(x)), "")
    _full_pass(made, chain(start, pieces))
    return made


def _usable(head: Samples) -> Samples:
    """Rows of numbers, at times that increase: enough to choose a clock by."""
    good = np.all([np.isfinite(x.reshape(len(x), -1)).all(axis=1)
                   for x in (head.t, head.q)], axis=0)
    if head.v is not None and not np.isfinite(head.v[good]).all():
        head = head._replace(v=None)
    head = head._replace(**{kind: np.where(np.isfinite(x), x, 0.0) for kind in EFFORTS
                            if (x := getattr(head, kind)) is not None
                            and not np.isfinite(x).all()})
    some = head if good.all() else head.rows(good)
    forward = some.t >= np.maximum.accumulate(some.t)
    return some if forward.all() else some.rows(forward)


def _to_and_fro(x: Floats) -> bool:
    """Whether rows are far from their neighbours and near those behind them, in any column."""
    once, twice = (np.mean((x[k:] - x[:-k])**2, axis=0) for k in (1, 2))
    return bool(np.any(once > WOVEN**2 * np.maximum(twice, 1e-12 * np.var(x, axis=0))))


def _begun(log: Log, head: Samples, wish: str, cutoff: float | None) -> Survey:
    if len(head.t) < LEAST:
        raise ArgumentError(f"{log.source}: of the first rows fewer than {LEAST} are numbers")
    if head.t[-1] <= head.t[0]:
        raise ArgumentError(f"{log.source}: time stands still at {head.t[0]:.6g} s")
    others = [x for x in head[1:] if x is not None]
    if all(np.all(x == x[0]) for x in others):
        raise ArgumentError(f"{log.source}: no joint moves, the first {len(head.t)} rows are one")
    clock = clocks.chosen(log.robot, head, wish)
    stamped = clock.of(log.robot, head)
    T = clock.period
    unmended = wish == "logged" and clocks.chosen(log.robot, head, "repair").kind != clock.kind
    part = longest(stamped, max(3.5 * T, 0.02))
    if len(part.t) < LEAST:
        return Survey(log, clock, max(3.5 * T, 0.02), cutoff or 1 / (10 * T), "too few rows to say",
                      unmended=unmended)
    found = spectrum(log.robot, part, T)
    auto, why = cutoff_of(found, T)
    chosen = auto if cutoff is None else min(cutoff, 1 / (4 * T))
    return Survey(log, clock, max(3.5 * T, 0.1 / chosen), chosen,
                  why if cutoff is None else "as told", found,
                  agreement(log.robot, part, T, faster(max(chosen, 1 / (part.t[-1] - part.t[0])),
                                                       T)), unmended=unmended)


def _full_pass(made: Survey, pieces: Iterator[Samples]) -> None:
    state = clocks.ClockState(made.log.robot, made.clock)
    moves = _Moves(made.log.robot)
    medians: list[tuple[float, int]] = []
    least = longest_step = before = np.nan
    for piece in pieces:
        steps = np.diff(piece.t, prepend=piece.t[0] if np.isnan(before) else before)
        if np.any(steps < 0):
            i = int(np.argmax(steps < 0))
            made.back = made.back or (made.rows + i, float(piece.t[i] - steps[i]),
                                      float(piece.t[i]))
            made.backs += int(np.sum(steps < 0))
        still = np.flatnonzero(steps[1:] == 0) + 1
        made.crowded += int(np.any(piece.q[still] != piece.q[still - 1], axis=1).sum())
        forward = steps[1:] if made.rows == 0 else steps
        if len(forward):
            least, longest_step = np.fmin(least, forward.min()), np.fmax(longest_step,
                                                                         forward.max())
            medians.append((float(np.median(forward)), len(forward)))
        _note_numbers(made, piece)
        before, made.rows = piece.t[-1], made.rows + len(piece.t)
        if not made.backs and not made.bad:
            _note_times(made, state.next(piece), moves)
    if not made.backs and not made.bad:
        _note_times(made, state.close(), moves)
    made.steps = float(least), max(medians, key=lambda x: x[1])[0], float(longest_step)
    made.moved = moves.range


def _note_times(made: Survey, stamped: Stamped, moves: _Moves) -> None:
    """Stretches, samples that are missing inside them, and how far positions go."""
    t = stamped.t
    if not len(t):
        return
    moves.take(stamped.rows.q)
    made.kept += len(t)
    made.logged = float(stamped.rows.t[-1])
    last = made.stretches[-1][1] if made.stretches else -np.inf
    steps = np.diff(t, prepend=last)
    cuts = np.flatnonzero(steps > made.gap)
    inner = np.rint(steps[(steps <= made.gap)] / made.clock.period) - 1
    made.missing += int(np.sum(np.maximum(inner, 0)))
    for begin, end in zip([0, *cuts], [*cuts, len(t)], strict=True):
        if end <= begin:
            continue
        if begin in cuts:
            made.stretches.append((float(t[begin]), float(t[end - 1])))
        else:
            made.stretches[-1] = made.stretches[-1][0], float(t[end - 1])


def _note_numbers(made: Survey, piece: Samples) -> None:
    for kind, x in piece._asdict().items():
        if x is None:
            continue
        columns = x.reshape(len(x), -1)
        if np.isfinite(np.sum(columns)):      # much faster than asking every number
            if kind != "t":
                made.extremes.setdefault(kind, Extremes.none(columns.shape[1])).take(columns)
            continue
        wrong = ~np.isfinite(columns)
        if wrong.any():
            for j in np.flatnonzero(wrong.any(axis=0)).tolist():
                count, first = made.bad.get((kind, j), (0, made.rows + int(np.argmax(wrong[:, j]))))
                made.bad[kind, j] = count + int(wrong[:, j].sum()), first


class _Moves:
    """Ranges of positions since the first row, along velocities."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.first: Floats = np.zeros((0, robot.nq))
        self.low, self.high = np.zeros(robot.nv), np.zeros(robot.nv)

    def take(self, q: Floats) -> None:
        if len(q):
            self.first = self.first if len(self.first) else q[:1]
            away = self.robot.difference(self.first, q)
            self.low = np.minimum(self.low, away.min(axis=0))
            self.high = np.maximum(self.high, away.max(axis=0))

    @property
    def range(self) -> Floats:
        return self.high - self.low
