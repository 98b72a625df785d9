"""From logs to triangles: one pass over windows of signals, through one kernel."""

from __future__ import annotations

import hashlib
import operator
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial, reduce
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from closedform.applications.cluster.blocks import Aside, Work, computed
from closedform.applications.counts import is_count
from closedform.applications.identification.logs.log import Log
from closedform.applications.identification.model import Model
from closedform.applications.identification.repetition import MotionPath, repeats_after
from closedform.applications.identification.rows import (
    effort_kind,
    filtered_rows,
    slip_of,
    torques,
)
from closedform.applications.identification.signals.filter import Window
from closedform.applications.identification.signals.signals import Prepared, Signals
from closedform.applications.identification.triangles import (
    Information,
    PackedInformation,
    TimeBlock,
    updated,
)
from closedform.arrays import Floats
from closedform.errors import ArgumentError, FormatError

STATES = 4096
"""Kept rows from which it is told whether a motion repeats, in a log or in another one."""


def information(model: Model, logs: Log | Sequence[Log], signals: Signals | None = None,
                blocks: int = 20, client: Any = None, loaded: Sequence[bool] | None = None,
                keep: str | Path | None = None, aside: bool = False) -> Information:
    """What logs say about a model.

    `signals` is what is done to the signals before; `blocks` is into how many stretches each log
    is divided (for intervals and for choosing weights); `loaded` tells for each log whether the
    model's payload was on; `client` is a Dask client, or its address, if logs are to be read by its
    workers and not by threads of this machine: what is found is the same, bit by bit. `keep` is a
    folder for the information of each file as it is made: a run that was stopped goes on. With
    `aside` a log that cannot be used is set aside and told in `.notes`; else it stops the run.
    """
    if not isinstance(model, Model):
        raise ArgumentError(f"information: model must be an idn.Model, not {type(model).__name__}")
    given = [logs] if isinstance(logs, Log) else list(logs)
    if not given or not all(isinstance(x, Log) for x in given):
        raise ArgumentError("information: logs must be what idn.read returns, one or several")
    if not is_count(blocks, 2):
        raise ArgumentError(f"information: blocks must be a number, 2 at least, not {blocks!r}")
    if not (signals is None or isinstance(signals, Signals)):
        raise ArgumentError(f"information: signals must be idn.Signals(…), not {signals!r}")
    given = _told_apart(given)
    on = _switched_on(loaded, len(given))
    whole = partial(_packed_information, model, signals or Signals(), blocks, keep)
    named = len(given) > 1 and not all(Path(log.source).is_file() for log in given)
    done = computed(whole, [LogBlock(*x) for x in zip(given, on, strict=True)],
                    Work(client, aside, "reading logs", named))
    parts, left = list[Information](), list[Aside]()
    for _, part in done:
        if isinstance(part, Aside):
            left.append(part)
        else:
            parts.append(part.unpacked(model))
    if not parts:
        raise ArgumentError(f"information: all logs were set aside, the first is {left[0]}")
    found = reduce(operator.add, parts)
    return replace(found, notes=(*found.notes, *(f"set aside: {x}" for x in left)))


def _switched_on(loaded: Sequence[bool] | None, logs: int) -> list[bool]:
    """Whether each log has the payload on."""
    if loaded is None:
        return [True] * logs
    if np.shape(loaded) != (logs,) or not set(loaded) <= {True, False}:
        raise ArgumentError(f"information: loaded must have {logs} entries, True or False for each "
                            f"log, not {loaded!r}")
    return [bool(x) for x in loaded]


class LogBlock(NamedTuple):
    """A log, and whether the payload was on."""

    log: Log
    loaded: bool

    def __str__(self) -> str:
        return self.log.name


def _told_apart(logs: Sequence[Log]) -> list[Log]:
    """Logs with names of their own; a file that is given twice is refused."""
    found: list[Log] = []
    for log in logs:
        if any(log.overlaps(x) for x in found):
            raise ArgumentError(f"information: {log.source} is given twice; a log counts once")
        taken, name, n = {x.name for x in found}, log.name, 2
        while name in taken:
            name, n = f"{log.name} {n}", n + 1
        found.append(log if name == log.name else replace(log, name=name))
    return found


def _packed_information(model: Model, signals: Signals, blocks: int, keep: str | Path | None,
                        block: LogBlock) -> PackedInformation:
    return PackedInformation.of(_kept_information(model, signals, blocks, keep, block))


def _kept_information(model: Model, signals: Signals, blocks: int, keep: str | Path | None,
                      block: LogBlock) -> Information:
    """`log_information`, or what a folder has kept of it: of the same file, model and numbers."""
    log, loaded = block
    source = Path(log.source)
    if keep is None or not source.is_file():
        return log_information(model, log, signals, blocks, loaded)
    about = source.stat()
    key = f"{source.resolve()} {about.st_size} {about.st_mtime_ns} {log.start} {log.stop} " \
          f"{sorted(log.where.items(), key=str)} {signals} {blocks} {loaded} {model.key}"
    kept = Path(keep) / f"{log.name}-{hashlib.sha256(key.encode()).hexdigest()[:16]}.npz"
    if kept.is_file():
        with suppress(FormatError):             # what cannot be read is made again
            return replace(Information.load(kept, model), sources=((log, loaded),))
    kept.parent.mkdir(parents=True, exist_ok=True)
    made = log_information(model, log, signals, blocks, loaded)
    made.save(kept)
    return made


def log_information(model: Model, log: Log, signals: Signals, blocks: int, loaded: bool,
                    whitening: Floats | None = None) -> Information:
    """The information of one log; `whitening` (nv, order) predicts residuals from those before."""
    log = with_positions(model, log)
    prepared = signals.prepare(log, model)
    effort = effort_kind(model, log)
    gains = effort == "current" and (model.drives is None or model.drives.gain is None)
    if gains and model.drives is None:
        raise ArgumentError(f"{log.name} has currents and no torques: give the model "
                            "drives=idn.Drives(ratio, gain=…), or without gain to find the gains")
    made = _Accumulator(model, prepared, gains, loaded, whitening)
    for window in prepared.windows():
        made.take(window, torques(model, window, effort, gains), blocks)
    done = replace(signals, cutoff=prepared.plan.cutoff, delay=prepared.plan.delay,
                   rate=prepared.rate)
    return Information(model, made.blocks(log.name), prepared.notes, prepared.rate, gains, done,
                       prepared.faults, ((log, loaded),), made.paths(log.name))


def with_positions(model: Model, log: Log) -> Log:
    """The log with the joints' positions, from those of the motors if they are all there is."""
    mine, its = model.robot.joint_names, log.robot.joint_names
    if mine != its or (model.robot.nq, model.robot.nv) != (log.robot.nq, log.robot.nv):
        raise ArgumentError(f"{log.name} is a log of {log.robot.name} with joints "
                            f"{', '.join(its)}, the model is of {model.robot.name} with "
                            f"{', '.join(mine)}; read the log for that robot")
    if "q" in log.kinds or "motor_position" not in log.kinds:
        return log
    if model.drives is None:
        raise ArgumentError(f"{log.name} has positions of motors and none of joints: give the "
                            "model drives=idn.Drives(ratio)")
    return log.with_motors(model.drives.matrix(model.robot.nv))


class _Accumulator:
    """Factors of one log, block after block."""

    def __init__(self, model: Model, prepared: Prepared, gains: bool, loaded: bool,
                 whitening: Floats | None) -> None:
        self.whitening = whitening
        self.model, self.rows, self.seen, self.gains = model, max(prepared.rows, 1), 0, gains
        self.factors: dict[int, list[Floats]] = {}
        self.counts: dict[int, list[int]] = {}
        self.slip = slip_of(model, prepared.plan)
        self.loaded = loaded
        self.times: dict[int, tuple[float, float]] = {}
        self.travel: dict[int, tuple[int, Floats]] = {}
        self.states: list[tuple[Floats, Floats, Floats]] = []
        self.whole = len(prepared.survey.stretches) == 1
        self.rests = any(name.startswith("coulomb") for name in model.friction.names)

    def take(self, window: Window, effort: Floats, blocks: int) -> None:
        """Add a window's rows to the blocks that they are in."""
        reduced = filtered_rows(self.model, window, self.slip, effort, self.gains, self.loaded)
        moving, t, v = window.moving, window.t[window.kept], window.v[window.kept]
        self._note_states(window, t)
        if self.whitening is not None:
            order = self.whitening.shape[1]
            reduced = [predicted(r, phi) for r, phi in zip(reduced, self.whitening, strict=True)]
            moving, t, v, self.seen = moving[order:], t[order:], v[order:], self.seen + order
        n = len(reduced[0])
        number = np.minimum((self.seen + np.arange(n)) * blocks // self.rows, blocks - 1)
        self.seen += n
        ends = np.flatnonzero(np.diff(number)) + 1
        for start, end in zip([0, *ends], [*ends, n], strict=True):
            if end > start:
                first, _ = self.times.get(int(number[start]), (float(t[start]), 0.0))
                self.times[int(number[start])] = first, float(t[end - 1])
                count, gone = self.travel.get(int(number[start]), (0, np.zeros(v.shape[1])))
                self.travel[int(number[start])] = (
                    count + int(end - start), gone + np.abs(v[start:end]).sum(axis=0))
            for j, part in enumerate(reduced):
                self._add(int(number[start]), j, part[start:end],
                          moving[start:end, j] if self.rests else None)

    def _add(self, block: int, j: int, rows: Floats, use: NDArray[np.bool_] | None) -> None:
        nv = self.model.robot.nv
        factors = self.factors.setdefault(block, [np.zeros((0, 0))] * nv)
        counts = self.counts.setdefault(block, [0] * nv)
        counts[j] += len(rows) if use is None else int(np.count_nonzero(use))
        factors[j] = updated(factors[j], rows, use)

    def _note_states(self, window: Window, t: Floats) -> None:
        """What tells whether the motion repeats."""
        if sum(len(x[0]) for x in self.states) < STATES:
            self.states.append((t, window.q[window.kept], window.v[window.kept]))

    def paths(self, log: str) -> tuple[tuple[str, MotionPath], ...]:
        if not self.states:
            return ()
        t, q, v = (np.concatenate(x)[:STATES] for x in zip(*self.states, strict=True))
        return ((log, MotionPath.of(self.model.robot, t, q, v)),)

    def blocks(self, log: str) -> tuple[TimeBlock, ...]:
        every = None
        if self.whole and self.states:
            t, q, v = map(np.concatenate, zip(*self.states, strict=True))
            every = repeats_after(t, np.concatenate([q, v], axis=1))
        return tuple(TimeBlock(log, b, tuple(self.counts[b]), tuple(map(np.triu, self.factors[b])),
                               None if every is None else (self.times[b][0] / every,
                                                           self.times[b][1] / every),
                               tuple((self.travel[b][1] / self.travel[b][0]).tolist()))
                     for b in sorted(self.factors))


def predicted(rows: Floats, phi: Floats) -> Floats:
    """rows_t − Σ φ_k rows_{t−k}, from the first row that has all of its past."""
    order, n = len(phi), len(rows)
    past = sum((phi[k] * rows[order - 1 - k:n - 1 - k] for k in range(order)), np.zeros(1))
    return rows[order:] - past
