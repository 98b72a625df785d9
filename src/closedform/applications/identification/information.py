"""Logs as small triangles: all that estimators need, in memory that does not grow with a log.

For each log, block of time and torque j the rows [W_j, gains, z_j] are kept as the factor R of
their QR decomposition: RᵀR is the same, and R is as small as the row of W is wide. Blocks are made
of one log alone, so that they are the same bits whoever computes them, and in whatever order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from closedform.applications.identification.logs.log import Log
from closedform.applications.identification.model import SLIP, Model
from closedform.applications.identification.signals.filter import Window
from closedform.applications.identification.signals.signals import Prepared, Signals
from closedform.applications.progress import counted
from closedform.arrays import Floats
from closedform.errors import ArgumentError
from closedform.model.inertia import PARAMETER_NAMES

PANEL = 8
"""Columns that LAPACK eliminates at a time."""
CHUNK = 512
"""States of one call of the kernel: its results stay in the cache."""


@final
@dataclass(frozen=True, eq=False)
class Block:
    """A stretch of a log: rows that were used of each torque, and their factors."""

    log: str
    number: int
    rows: tuple[int, ...]
    factors: tuple[Floats, ...]     # (s_j + gains + 1) squared, upper triangular, z last


@final
@dataclass(frozen=True, eq=False)
class Information:
    """What logs say about a model: `a + b` has that of both; `save`, `load` keep it."""

    model: Model
    blocks: tuple[Block, ...]
    notes: tuple[str, ...] = ()
    rate: float = float("nan")
    gains: bool = False
    signals: Signals | None = None
    faults: tuple[str, ...] = ()        # of the signals, that no filter mends

    def __add__(self, other: Information) -> Information:
        if not isinstance(other, Information):
            return NotImplemented
        if self.columns != other.columns:
            raise ArgumentError("information of different models cannot be added")
        mine = {(b.log, b.number) for b in self.blocks}
        twice = sorted({b.log for b in other.blocks if (b.log, b.number) in mine})
        if twice:
            raise ArgumentError(f"information: {', '.join(twice)} is in both; a log counts once")
        both = sorted((*self.blocks, *other.blocks), key=lambda b: (b.log, b.number))
        notes = (*self.notes, *(n for n in other.notes if n not in self.notes))
        return replace(self, blocks=tuple(both), notes=notes, faults=(*self.faults, *other.faults))

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The unknowns: those of the model, then the drives' gains."""
        motors = [self.model.velocity_names[i] for i in self.model.actuated]
        return (*self.model.names, *([f"{n}.gain" for n in motors] if self.gains else []))

    @cached_property
    def support(self) -> tuple[tuple[int, ...], ...]:
        """For each torque the unknowns that it may depend on."""
        return tuple((*s, *(len(self.model.names) + g for g in gain)) for s, gain in
                     zip(self.model.support, self.model.gain_rows(self.gains), strict=True))

    @property
    def logs(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(b.log for b in self.blocks))

    def rows(self, joint: int) -> int:
        """The samples that count for a torque."""
        return sum(b.rows[joint] for b in self.blocks)

    def factor(self, joint: int, without: int | None = None) -> Floats:
        """R of all blocks of one torque, or of all but one."""
        return stacked([b.factors[joint] for i, b in enumerate(self.blocks) if i != without])

    def save(self, path: str | Path) -> Path:
        """Write everything but the model into an .npz file."""
        from closedform.applications.identification.saved import save_information
        return save_information(self, path)

    @staticmethod
    def load(path: str | Path, model: Model) -> Information:
        """Read what `save` wrote, for the same model."""
        from closedform.applications.identification.saved import load_information
        return load_information(path, model)

    def __repr__(self) -> str:
        return (f"<information on {len(self.columns)} unknowns of {self.model.robot.name}: "
                f"{len(self.logs)} logs, {len(self.blocks)} blocks, "
                f"{max(map(self.rows, range(len(self.support))), default=0)} rows>")


def information(model: Model, logs: Log | Sequence[Log], signals: Signals | None = None,
                blocks: int = 20, client: Any = None,
                loaded: Sequence[bool] | None = None) -> Information:
    """What logs say about a model.

    `signals` is what is done to the signals before; `blocks` is into how many stretches each log
    is divided (for intervals and for choosing weights); `loaded` tells for each log whether the
    model's payload was on; `client` is a Dask client, if logs are to be read by its workers.
    """
    if not isinstance(model, Model):
        raise ArgumentError(f"information: model must be an idn.Model, not {type(model).__name__}")
    given = [logs] if isinstance(logs, Log) else list(logs)
    if not given or not all(isinstance(x, Log) for x in given):
        raise ArgumentError("information: logs must be what idn.read returns, one or several")
    if blocks < 2:
        raise ArgumentError(f"information: blocks must be 2 at least, not {blocks}")
    names = [x.name for x in given]
    if len(set(names)) < len(names):
        raise ArgumentError(f"information: two logs are called "
                            f"{next(n for n in names if names.count(n) > 1)!r}; a log counts once")
    on = [True] * len(given) if loaded is None else list(loaded)
    if len(on) != len(given):
        raise ArgumentError(f"information: loaded must have {len(given)} entries, one for each log")
    work = [(model, log, signals or Signals(), blocks, load)
            for log, load in zip(given, on, strict=True)]
    if client is not None:
        parts = client.gather([client.submit(log_information, *args, pure=False) for args in work])
    else:
        parts = [log_information(*args) for args in counted(work, "reading logs")]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def log_information(model: Model, log: Log, signals: Signals, blocks: int,
                    loaded: bool) -> Information:
    """The information of one log."""
    prepared = signals.prepare(log)
    effort = effort_kind(model, log)
    gains = effort == "current" and (model.drives is None or model.drives.gain is None)
    if gains and model.drives is None:
        raise ArgumentError(f"{log.name} has currents and no torques: give the model "
                            "drives=idn.Drives(ratio, gain=…), or without gain to find the gains")
    made = _Accumulator(model, prepared, gains, loaded)
    for window in prepared.windows():
        made.take(window, torques(model, window, effort, gains), blocks)
    return Information(model, made.blocks(log.name), prepared.notes, prepared.rate, gains, signals,
                       prepared.faults)


def effort_kind(model: Model, log: Log) -> str:
    """Which of a log's columns are the torques."""
    for kind in ("tau", "motor_torque", "current"):
        if kind in log.kinds:
            if kind == "motor_torque" and model.drives is None:
                raise ArgumentError(f"{log.name} has torques of motors: give the model "
                                    "drives=idn.Drives(ratio)")
            return kind
    raise ArgumentError(f"{log.name} has no torques; name their columns: "
                        "columns={'tau': […]} (or 'current', 'motor_torque')")


def torques(model: Model, window: Window, kind: str, gains: bool) -> Floats:
    """z (N, nv), or the currents (N, motors) where their gains are unknown."""
    given = window.effort[kind]
    if kind == "tau":
        return given
    at = list(model.actuated)
    motors = given[:, at] if given.shape[1] == model.robot.nv else given
    if gains:
        return motors
    assert model.drives is not None
    gain = model.drives.gains(len(at)) if kind == "current" else np.ones(len(at))
    return np.asarray((motors * gain) @ model.motor_matrix)


class _Accumulator:
    """Factors of one log, block after block."""

    def __init__(self, model: Model, prepared: Prepared, gains: bool, loaded: bool) -> None:
        self.model, self.rows, self.seen, self.gains = model, max(prepared.rows, 1), 0, gains
        self.factors: dict[int, list[Floats]] = {}
        self.counts: dict[int, list[int]] = {}
        self.slip = slip_of(model, prepared)
        names = {f"{model.load_name}.{p}" for p in PARAMETER_NAMES} \
            if model.payload and not loaded else set()
        self.empty = [[k for k, c in enumerate(s) if model.names[c] in names]
                      for s in model.support]
        self.rests = any(name.startswith("coulomb") for name in model.friction.names)

    def take(self, window: Window, effort: Floats, blocks: int) -> None:
        """Add a window's rows to the blocks that they are in."""
        rows = window_rows(self.model, window, self.slip, effort, self.gains)
        for j, empty in enumerate(self.empty):
            if empty:
                rows[j][:, empty] = 0.0
        reduced = [window.reduce(r) for r in rows]
        n = len(reduced[0])
        number = np.minimum((self.seen + np.arange(n)) * blocks // self.rows, blocks - 1)
        self.seen += n
        ends = np.flatnonzero(np.diff(number)) + 1
        for start, end in zip([0, *ends], [*ends, n], strict=True):
            for j, part in enumerate(reduced):
                self._add(int(number[start]), j, part[start:end],
                          window.moving[start:end, j] if self.rests else None)

    def _add(self, block: int, j: int, rows: Floats, use: NDArray[np.bool_] | None) -> None:
        nv = self.model.robot.nv
        factors = self.factors.setdefault(block, [np.zeros((0, 0))] * nv)
        counts = self.counts.setdefault(block, [0] * nv)
        if use is not None and not use.all():
            rows = rows[use]
        counts[j] += len(rows)
        factors[j] = updated(factors[j], rows)

    def blocks(self, log: str) -> tuple[Block, ...]:
        return tuple(Block(log, b, tuple(self.counts[b]), tuple(map(np.triu, self.factors[b])))
                     for b in sorted(self.factors))


def slip_of(model: Model, prepared: Prepared) -> Floats:
    """The scale of the smooth sign for each motor: as given, or from the noise of the velocity."""
    n = len(model.actuated)
    if model.friction.slip is not None:
        return np.full(n, float(model.friction.slip))
    return np.maximum(SLIP / 10, 3 * prepared.velocity_noise[list(model.actuated)])


def window_rows(model: Model, window: Window, slip: Floats, effort: Floats,
                gains: bool) -> list[Floats]:
    """[W_j, gains, z_j] at the states of a window, a matrix for each torque."""
    kernel, n = model.kernel(gains), len(window.q)
    rows = [np.empty((n, *slot.shape)) for slot in kernel.interface.outputs]
    slips = np.ascontiguousarray(np.broadcast_to(slip, (min(CHUNK, n), len(slip))))
    for start in range(0, n, CHUNK):
        at = slice(start, start + CHUNK)
        q = window.q[at]
        out = tuple(r[at] for r in rows)
        kernel(q, window.v[at], window.a[at], slips[:len(q)], effort[at],
               out=out if len(out) > 1 else out[0])
    return rows


def updated(R: Floats, rows: Floats) -> Floats:
    """The factor of a factor's rows and more rows."""
    n = rows.shape[1]
    if R.shape[0] != n:
        R = np.zeros((n, n), order="F")
    if not len(rows):
        return R
    made, _, _, info = lapack.dtpqrt(0, min(PANEL, n), R, np.asfortranarray(rows),
                                     overwrite_b=1)
    if info:
        raise ArgumentError(f"LAPACK's dtpqrt refuses argument {-info}")
    return made


def stacked(factors: Sequence[Floats]) -> Floats:
    """One factor of several."""
    size = max((f.shape[0] for f in factors), default=0)
    total = np.zeros((size, size), order="F")
    for f in factors:
        total = updated(total, f)
    return np.triu(total)
