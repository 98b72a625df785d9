"""A log: samples in time order, lazily, in SI units and in the joint order of a robot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, final

import numpy as np

from closedform.applications.identification.logs.table import BLOCK, LogTable
from closedform.arrays import ArrayLike, Floats
from closedform.errors import ArgumentError
from closedform.model.robot import Robot


class Samples(NamedTuple):
    """Rows of a log as logged, in SI units and in the joint order of the robot."""

    t: Floats                             # (N,) s
    q: Floats                             # (N, nq)
    v: Floats | None = None               # (N, nv)
    a: Floats | None = None               # (N, nv)
    tau: Floats | None = None             # (N, nv)
    current: Floats | None = None         # (N, nv)
    motor_position: Floats | None = None  # (N, nv)
    motor_torque: Floats | None = None    # (N, nv)

    def rows(self, which: slice | np.ndarray) -> Samples:
        """Some of the rows."""
        return Samples(**{kind: x[which] for kind, x in self._asdict().items() if x is not None})


def joined(pieces: list[Samples]) -> Samples:
    """Samples one behind the other; copied only if there are several."""
    pieces = [piece for piece in pieces if len(piece.t)] or pieces[:1]
    if len(pieces) == 1:
        return pieces[0]
    return Samples(**{kind: np.concatenate([getattr(piece, kind) for piece in pieces])
                      for kind, x in pieces[0]._asdict().items() if x is not None})


class LogColumn(NamedTuple):
    """Where the numbers of a kind stand in a table, and what they are multiplied by."""

    columns: tuple[int, ...]
    factors: Floats
    into: tuple[int, ...] | None = None      # of the velocities, where others are zero


@final
@dataclass(frozen=True, eq=False)
class Log:
    """Rows of a table with their meaning; nothing is read before it is asked for.

    `notes` say how columns were matched and which units were changed. `start` and `stop` bound the
    logged times, `motors` takes motor positions to q where q is not logged.
    """

    name: str
    robot: Robot
    source: str
    notes: tuple[str, ...]
    table: LogTable
    where: Mapping[str, LogColumn]
    start: float = -np.inf
    stop: float = np.inf
    motors: Floats | None = None

    @property
    def kinds(self) -> frozenset[str]:
        """Which of t, q, v, a, tau, current, motor_position, motor_torque there are."""
        return frozenset(self.where) | ({"q"} if self.motors is not None else set())

    def pieces(self, rows: int = BLOCK) -> Iterator[Samples]:
        """The log in pieces of so many rows or fewer, one in memory at a time."""
        if rows < 1:
            raise ArgumentError(f"rows must be one or more, not {rows}")
        columns = [i for at in self.where.values() for i in at.columns]
        factors = np.concatenate([at.factors for at in self.where.values()])
        plain = bool(np.all(factors == 1.0))
        for block in self.table.blocks(columns, rows):
            piece = self._samples(block if plain else block * factors)
            odd = ~np.isfinite(piece.t)             # no time is outside, and to be told
            inside = (piece.t >= self.start) & (piece.t < self.stop) | odd
            if inside.all():
                yield piece
            elif inside.any():
                yield piece.rows(inside)

    def samples(self) -> Samples:
        """All of it."""
        pieces = list(self.pieces())
        if not pieces:
            raise ArgumentError(f"{self.source}: the log has no rows")
        return joined(pieces)

    def between(self, start: float, stop: float) -> Log:
        """The rows whose logged times are start ≤ t < stop, s."""
        bounds = max(start, self.start), min(stop, self.stop)
        note = f"times from {start:.6g} to {stop:.6g} s"
        return replace(self, start=bounds[0], stop=bounds[1], notes=(*self.notes, note))

    def overlaps(self, other: Log) -> bool:
        """Whether both have rows of one file, or of one table, in common."""
        same = self.table is other.table or (self.source == other.source
                                             and Path(self.source).exists())
        return same and self.start < other.stop and other.start < self.stop

    def with_motors(self, coupling: ArrayLike) -> Log:
        """The log with q = P⁻¹ θ from its motor positions θ = P q; P is (nv, nv)."""
        if "motor_position" not in self.where:
            raise ArgumentError(f"{self.source}: the log has no motor positions")
        P = np.asarray(coupling, dtype=float)
        if P.shape != (self.robot.nv, self.robot.nv) or self.robot.nq != self.robot.nv:
            raise ArgumentError(f"coupling must be ({self.robot.nv}, {self.robot.nv}), "
                                f"not {P.shape}")
        return replace(self, motors=np.linalg.inv(P),
                       notes=(*self.notes, "q from the positions of the motors"))

    def _samples(self, block: Floats) -> Samples:
        found, start = {}, 0
        for kind, (columns, _, into) in self.where.items():
            part = block[:, start:start + len(columns)]
            if into is not None:
                whole = np.zeros((len(part), self.robot.nv))
                whole[:, into] = part
                part = whole
            found[kind] = part[:, 0] if kind == "t" else part
            start += len(columns)
        if self.motors is not None:
            found["q"] = found["motor_position"] @ self.motors.T
        if "q" not in found:
            raise ArgumentError(f"{self.source}: q is not logged; log.with_motors(P) makes it "
                                "from the motors' positions")
        return Samples(**found)

    def __repr__(self) -> str:
        return f"<Log {self.name} of {self.robot.name}: {', '.join(sorted(self.kinds))}>"
