"""Logs as small triangles: all that estimators need, in memory that does not grow with a log.

For each log, block of time and torque j the rows [W_j, gains, z_j] are kept as the factor R of
their QR decomposition: RᵀR is the same, and R is as small as the row of W is wide. Blocks are made
of one log alone, so that they are the same bits whoever computes them, and in whatever order.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, final
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from closedform.applications.identification.logs.log import Log
from closedform.applications.identification.model import Model
from closedform.applications.identification.repetition import MotionPath
from closedform.applications.identification.signals.signals import Signals
from closedform.applications.whole_files import whole_file
from closedform.arrays import Floats
from closedform.errors import ArgumentError, FormatError
from closedform.lowerings.native.householder import triangle

FOLDS = 5
"""Parts of logs that are held out in turn."""


@final
@dataclass(frozen=True, eq=False)
class TimeBlock:
    """A stretch of a log: rows that were used of each torque, and their factors."""

    log: str
    number: int
    rows: tuple[int, ...]
    factors: tuple[Floats, ...]     # (s_j + gains + 1) squared, upper triangular, z last
    phase: tuple[float, float] | None = None    # begin and end, in periods of a repeated motion
    speed: tuple[float, ...] = ()               # mean |v|, where it is known

    def same(self, other: TimeBlock | None) -> bool:
        """Whether a stretch has the same data."""
        return other is not None and all(np.array_equal(a, b) for a, b in
                                         zip(self.factors, other.factors, strict=True))


@final
@dataclass(frozen=True, eq=False)
class Information:
    """What logs say about a model: `a + b` has that of both; `save`, `load` keep it."""

    model: Model
    blocks: tuple[TimeBlock, ...]
    notes: tuple[str, ...] = ()
    rate: float = float("nan")
    gains: bool = False
    signals: Signals | None = None      # with the numbers that were chosen
    faults: tuple[str, ...] = ()        # of the signals, that no filter mends
    sources: tuple[tuple[Log, bool], ...] = ()   # the logs, and whether they carry the payload
    paths: tuple[tuple[str, MotionPath], ...] = ()      # of each log, as far as it is kept

    def __add__(self, other: Information) -> Information:
        if not isinstance(other, Information):
            return NotImplemented
        if self.columns != other.columns:
            raise ArgumentError("information of different models cannot be added")
        mine = {(b.log, b.number): b for b in self.blocks}
        called = {b.log for b in other.blocks if (b.log, b.number) in mine}
        twice = {name for name in called if all(b.same(mine.get((name, b.number)))
                                                for b in other.blocks if b.log == name)}
        twice |= {log.name for log, _ in other.sources if any(log.overlaps(x)
                                                              for x, _ in self.sources)}
        if twice:
            raise ArgumentError(f"information: {', '.join(sorted(twice))} is in both; a log counts "
                                "once")
        for name in sorted(called):             # two logs of one name
            pair = self, other
            renamed = min((0, 1), key=lambda k: pair[k]._order(name))
            free = next(x for n in itertools.count(2) if (x := f"{name} {n}")
                        not in {*self.logs, *other.logs})
            self, other = (x._called(name, free) if k == renamed else x for k, x in enumerate(pair))
        both = sorted((*self.blocks, *other.blocks), key=lambda b: (b.log, b.number))
        notes = (*self.notes, *(n for n in other.notes if n not in self.notes))
        return replace(self, blocks=tuple(both), notes=notes, faults=(*self.faults, *other.faults),
                       sources=(*self.sources, *other.sources),
                       paths=tuple(sorted((*self.paths, *other.paths), key=lambda p: p[0])))

    def _order(self, name: str) -> bytes:
        """Of a log's factors: which of two of the same name keeps it, in whatever order."""
        return b"".join(f.tobytes() for b in self.blocks if b.log == name for f in b.factors)

    def _called(self, name: str, new: str) -> Information:
        """The same with another name for a log."""
        return replace(
            self, blocks=tuple(replace(b, log=new) if b.log == name else b for b in self.blocks),
            sources=tuple((replace(log, name=new) if log.name == name else log, on)
                          for log, on in self.sources),
            paths=tuple((new if log == name else log, path) for log, path in self.paths))

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

    @cached_property
    def speed(self) -> Floats:
        """Mean |v| of each velocity; 0 where it is not known."""
        known = [b for b in self.blocks if b.speed]
        if not known:
            return np.zeros(len(self.support))
        return np.asarray(np.average([b.speed for b in known], axis=0,
                                     weights=[1 + max(b.rows) for b in known]))

    def factor(self, joint: int, without: int | None = None) -> Floats:
        """R of all blocks of one torque, or of all but one."""
        if without is None:
            return self._whole[joint]
        return stacked([b.factors[joint] for i, b in enumerate(self.blocks) if i != without])

    @cached_property
    def _whole(self) -> tuple[Floats, ...]:
        return tuple(stacked([b.factors[j] for b in self.blocks])
                     for j in range(len(self.model.support)))

    def held_out(self) -> list[tuple[Information, Information]]:
        """(what trains, what tests) of folds: stretches of time, one after the other.

        Where a motion repeats, folds are parts of its period, in all of its repetitions: what is
        seen again was not held out. What lies across an edge of a fold then trains with none.
        """
        count = max(b.number for b in self.blocks) + 1
        blocks = [b if b.phase is not None and b.phase[1] - b.phase[0] < 0.5 / FOLDS
                  else replace(b, phase=None) for b in self.blocks]     # too long to be a part
        fold = [b.number * FOLDS // count if b.phase is None
                else int(FOLDS * (sum(b.phase) / 2 % 1.0)) for b in blocks]
        pairs = []
        for k in range(FOLDS):
            test = [b for b, f in zip(blocks, fold, strict=True) if f == k]
            train = [b for b, f in zip(blocks, fold, strict=True)
                     if f != k and not any(_same_phase(b, other) for other in test)]
            if train and test:
                pairs.append((replace(self, blocks=tuple(train)),
                              replace(self, blocks=tuple(test))))
        return pairs

    def save(self, path: str | Path) -> Path:
        """Write everything but the model and the logs into an .npz file."""
        about = {"robot": self.model.robot.name, "columns": self.columns, "notes": self.notes,
                 "faults": self.faults, "rate": self.rate, "gains": self.gains,
                 "blocks": [(b.log, b.number, b.rows) for b in self.blocks],
                 "phases": [b.phase for b in self.blocks],
                 "speeds": [b.speed for b in self.blocks],
                 "paths": [log for log, _ in self.paths],
                 "signals": None if self.signals is None else asdict(self.signals)}
        arrays: dict[str, Any] = {f"R{i}_{j}": R for i, b in enumerate(self.blocks)
                                  for j, R in enumerate(b.factors)}
        arrays |= {f"path{i}_{name}": x for i, (_, path) in enumerate(self.paths)
                   for name, x in path._asdict().items()}
        with whole_file(path) as place, place.open("wb") as file:
            np.savez_compressed(file, about=np.array(json.dumps(about)), **arrays)
        return Path(path)

    @staticmethod
    def load(path: str | Path, model: Model) -> Information:
        """Read what `save` wrote, for the same model."""
        try:
            with np.load(path, allow_pickle=False) as file:
                about = json.loads(str(file["about"]))
                signals = None if about["signals"] is None else Signals(**about["signals"])
                blocks = tuple(
                    TimeBlock(log, number, tuple(rows),
                              tuple(file[f"R{i}_{j}"] for j in range(model.robot.nv)),
                              None if phase is None else (phase[0], phase[1]), tuple(speed))
                    for i, ((log, number, rows), phase, speed) in enumerate(
                        zip(about["blocks"], about["phases"], about["speeds"], strict=True)))
                paths = tuple((log, MotionPath(*(file[f"path{i}_{name}"]
                                                 for name in MotionPath._fields)))
                              for i, log in enumerate(about["paths"]))
        except FileNotFoundError:
            raise FormatError(f"{path}: there is no such file") from None
        except (OSError, EOFError, ValueError, KeyError, TypeError, BadZipFile) as error:
            raise FormatError(f"{path}: no information that closedform has saved "
                              f"({error})") from error
        info = Information(model, blocks, tuple(about["notes"]), float(about["rate"]),
                           bool(about["gains"]), signals, tuple(about["faults"]), (), paths)
        if list(info.columns) != list(about["columns"]):
            raise FormatError(f"{path}: information on {about['robot']} with "
                              f"{len(about['columns'])} unknowns, not on this model of "
                              f"{model.robot.name} with {len(info.columns)}")
        return info

    def __repr__(self) -> str:
        return (f"<information on {len(self.columns)} unknowns of {self.model.robot.name}: "
                f"{len(self.logs)} logs, {len(self.blocks)} blocks, "
                f"{max(map(self.rows, range(len(self.support))), default=0)} rows>")


@final
class PackedInformation(NamedTuple):
    """Information on its way from a worker: without the model, which is at both ends, and all
    factors in one array, for a hundred small ones take as long as a tenth of a log.
    """

    bare: Information
    numbers: Floats

    @staticmethod
    def of(info: Information) -> PackedInformation:
        factors = [R for b in info.blocks for R in b.factors]
        bare = replace(info, model=None,                     # type: ignore[arg-type]
                       blocks=tuple(replace(b, factors=()) for b in info.blocks))
        sizes = [float(len(R)) for R in factors]
        return PackedInformation(bare, np.concatenate([sizes, *(R.ravel() for R in factors)]))

    def unpacked(self, model: Model) -> Information:
        torques, blocks = len(model.support), self.bare.blocks
        sizes = self.numbers[:torques * len(blocks)].astype(int)
        ends = np.cumsum([len(sizes), *sizes**2])
        parts = [self.numbers[a:b].reshape(n, n)
                 for a, b, n in zip(ends, ends[1:], sizes, strict=False)]
        return replace(self.bare, model=model, blocks=tuple(
            replace(b, factors=tuple(parts[k * torques:(k + 1) * torques]))
            for k, b in enumerate(blocks)))


def _same_phase(a: TimeBlock, b: TimeBlock) -> bool:
    """Whether two blocks of one log have a part of a repeated motion in common."""
    if a.log != b.log or a.phase is None or b.phase is None:
        return False
    apart = (sum(a.phase) - sum(b.phase)) / 2 % 1.0
    return min(apart, 1 - apart) < 0.9 * (a.phase[1] - a.phase[0] + b.phase[1] - b.phase[0]) / 2


def updated(R: Floats, rows: Floats, use: NDArray[np.bool_] | None = None) -> Floats:
    """The factor of a factor's rows and more rows, or those of `use`."""
    n = rows.shape[1]
    R = R.copy(order="C") if R.shape[0] == n else np.zeros((n, n))
    triangle(R, rows, use)
    return R


def stacked(factors: Sequence[Floats]) -> Floats:
    """One factor of several."""
    size = max((f.shape[0] for f in factors), default=0)
    total = np.zeros((size, size))
    for f in factors:
        total = updated(total, f)
    return np.triu(total)
