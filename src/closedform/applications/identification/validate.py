"""A fit on motion that it has not seen."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, final

import numpy as np

from closedform.applications.identification.estimate.found import Fit
from closedform.applications.identification.information import log_information, with_positions
from closedform.applications.identification.logs.log import Log
from closedform.applications.identification.model import Model
from closedform.applications.identification.other_friction import OtherFriction
from closedform.applications.identification.repetition import shared
from closedform.applications.identification.rows import (
    effort_kind,
    filtered_rows,
    slip_of,
    torques,
)
from closedform.applications.identification.signals.filter import Window
from closedform.applications.identification.signals.signals import Prepared, Signals
from closedform.applications.identification.triangles import Information
from closedform.arrays import Floats
from closedform.errors import ArgumentError

SEGMENT = 256
"""Samples of one stretch of the residual's spectrum, at most."""
SHOWN = 4000
"""Times that are kept for pictures, about."""
QUIET = (0.4, 0.7)
"""Of the cutoff: where a residual is noise alone."""
SAME = 0.1
"""Motions whose information differs by less, relative to itself, are one motion twice."""
WHOLE, COVERED = 0.8, 0.5
"""So much of a motion in one of the fit, and of that one in it: they are one motion twice."""


class Trace(NamedTuple):
    """Torques over time, thinned out for pictures."""

    t: Floats
    measured: Floats
    left: Floats


@final
@dataclass(frozen=True, eq=False)
class Validation:
    """How well a fit predicts the torques of a log."""

    fit: Fit
    log: str
    rows: int
    squares: Floats          # Σ τ², of each torque
    left: Floats             # Σ (τ − τ̂)²
    around: Floats           # Σ (τ − mean)²
    frequencies: Floats      # Hz
    spectrum: Floats         # (frequencies, nv): power of τ − τ̂
    seen: bool               # whether the fit has seen this motion
    travel: Floats           # mean speed of each joint
    trace: Trace
    cutoff: float            # Hz, of the filter
    other_friction: Floats   # share of each residual that friction of another kind explains
    faults: tuple[str, ...] = ()     # of its signals, that no filter mends
    known: float = 0.0               # share of its motion that a log of the fit has too

    @property
    def total(self) -> float:
        """100 |τ − τ̂| / |τ| of all torques."""
        return float(100 * np.sqrt(self.left.sum() / max(self.squares.sum(), 1e-300)))

    @property
    def joints(self) -> Floats:
        """100 |τ − τ̂| / |τ| of each torque."""
        safe = np.where(self.squares > 0, self.squares, np.nan)
        return np.asarray(100 * np.sqrt(self.left / safe))

    @property
    def rms(self) -> Floats:
        """√ mean (τ − τ̂)² of each torque, Nm or N."""
        return np.asarray(np.sqrt(self.left / max(self.rows, 1)))

    @property
    def explained(self) -> Floats:
        """The share of each torque's variation that is explained, 1 at best."""
        return np.asarray(1 - self.left / np.where(self.around > 0, self.around, np.nan))

    @cached_property
    def coloured(self) -> Floats:
        """The share of each residual that is above white noise, of what the filter lets through.

        White noise is as strong at all frequencies; its level is that at 0.4 to 0.7 of the cutoff,
        above the motion and below what the filter takes. NaN where a log is too short to tell.
        """
        f = self.frequencies / self.cutoff
        power = self.spectrum[f <= 1.0]
        quiet = self.spectrum[(f >= QUIET[0]) & (f <= QUIET[1])]
        if not len(quiet):
            return np.full(len(self.left), np.nan)
        white = quiet.mean(axis=0) * len(power) / np.maximum(power.sum(axis=0), 1e-300)
        return np.asarray(np.where(self.left > 0, np.clip(1 - white, 0.0, 1.0), 0.0))

    @cached_property
    def structure(self) -> Floats:
        """What of each residual is no white noise, relative to the torque's variation."""
        return np.asarray(np.sqrt(self.coloured * np.maximum(1 - self.explained, 0.0)))

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(self.fit.model.velocity_names)

    def __repr__(self) -> str:
        return f"<validation on {self.log}: {self.total:.2f} % of {self.rows} rows>"


def validate(fit: Fit, log: Log, signals: Signals | None = None, *,
             loaded: bool = True) -> Validation:
    """How well a fit predicts a log; `signals` and `loaded` as for `information`."""
    if not isinstance(fit, Fit):
        raise ArgumentError(f"validate: fit must be idn.fit(…), not {type(fit).__name__}")
    if not isinstance(log, Log):
        raise ArgumentError(f"validate: log must be idn.read(…), not {type(log).__name__}")
    if not (signals is None or isinstance(signals, Signals)):
        raise ArgumentError(f"validate: signals must be idn.Signals(…), not {signals!r}")
    model, info = fit.model, fit.info
    log = with_positions(model, log)
    prepared = (signals or info.signals or Signals()).prepare(log, model)
    kind, slip = effort_kind(model, log), slip_of(model, prepared.plan)
    sums, x = _Sums(model, prepared), [np.append(fit.x[list(s)], -1.0) for s in info.support]
    for window in prepared.windows():
        effort = torques(model, window, kind, info.gains)
        rows = filtered_rows(model, window, slip, effort, info.gains, loaded)
        left = np.stack([-(r @ y) for r, y in zip(rows, x, strict=True)], axis=1)
        given = np.stack([r[:, -1] for r in rows], axis=1)
        if info.gains:                       # the torques are what the currents say
            given = left + np.stack([r[:, :len(s)] @ y[:len(s)] for r, y, s in
                                     zip(rows, x, model.support, strict=True)], axis=1)
        sums.take(window, given, left)
        sums.friction.take(window, slip, left)
    own = log_information(model, log, signals or info.signals or Signals(), 2, loaded)
    if any(log.overlaps(x) for x, _ in info.sources):
        return sums.result(fit, log.name, True, 1.0)
    shares = [shared(path, other) for _, path in own.paths for _, other in info.paths]
    seen = any(share > WHOLE and of_it > COVERED for share, of_it in shares)
    seen = seen or repeats(own, info)
    return sums.result(fit, log.name, seen, max((share for share, _ in shares), default=0.0))


def repeats(new: Information, old: Information) -> bool:
    """Whether a log's information is that of one of others again, by rows."""
    def gram(info: Information, log: str) -> Floats:
        p = len(info.columns)
        G = np.zeros((p, p))
        for b in info.blocks:
            if b.log == log:
                for j, s in enumerate(info.support):
                    R = b.factors[j][:, :-1]
                    G[np.ix_(s, s)] += R.T @ R
        return G / max(sum(max(b.rows) for b in info.blocks if b.log == log), 1)
    mine = gram(new, new.logs[0])
    scale = np.sqrt(np.maximum(np.diag(mine), 1e-300))
    for log in old.logs:
        other = gram(old, log)
        apart = (mine - other) / scale[:, None] / scale
        if np.abs(apart).max(initial=0.0) < SAME:
            return True
    return False


class _Sums:
    """Sums over a log, and the spectrum of what is left."""

    def __init__(self, model: Model, prepared: Prepared) -> None:
        self.rate, self.rows, self.prepared = prepared.rate, 0, prepared
        nv, found = model.robot.nv, prepared.survey.found
        self.friction = OtherFriction(model, np.ones(nv) if found is None
                                      else np.maximum(found.speed, 1e-9), prepared.rows)
        self.every = max(1, prepared.rows // SHOWN)
        self.squares, self.left, self.total = np.zeros(nv), np.zeros(nv), np.zeros(nv)
        self.segment = min(SEGMENT, 1 << max(prepared.rows, 2).bit_length() - 1)
        self.speed, self.power, self.count = np.zeros(nv), np.zeros((self.segment // 2 + 1, nv)), 0
        self.rest = np.zeros((0, nv))
        self.traces: list[tuple[Floats, Floats, Floats]] = []

    def take(self, window: Window, given: Floats, left: Floats) -> None:
        t, v = window.t[window.kept], window.v[window.kept]
        self.traces.append((t[::self.every], given[::self.every], left[::self.every]))
        self.rows += len(given)
        self.squares += np.sum(given**2, axis=0)
        self.total += given.sum(axis=0)
        self.left += np.sum(left**2, axis=0)
        self.speed += np.abs(v).sum(axis=0)
        self.rest = np.concatenate([self.rest, left])
        while len(self.rest) >= self.segment:
            self._spectrum(self.rest[:self.segment])
            self.rest = self.rest[self.segment // 2:]

    def _spectrum(self, piece: Floats) -> None:
        window = np.hanning(len(piece))[:, None]
        found = np.abs(np.fft.rfft(piece * window, self.segment, axis=0))**2
        self.power += found / (np.sum(window**2) * self.rate)
        self.count += 1

    def result(self, fit: Fit, log: str, seen: bool, known: float) -> Validation:
        around = self.squares - self.total**2 / max(self.rows, 1)
        if not self.count:
            self._spectrum(self.rest)             # a log shorter than one stretch
        return Validation(fit, log, self.rows, self.squares, self.left, around,
                          np.fft.rfftfreq(self.segment, 1 / self.rate),
                          self.power / max(self.count, 1),
                          seen, self.speed / max(self.rows, 1),
                          Trace(*(np.concatenate(x) for x in zip(*self.traces, strict=True))),
                          self.prepared.plan.cutoff, self.friction.share(), self.prepared.faults,
                          known)
