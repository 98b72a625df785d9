"""Windows of a stretch, one behind the other: what a row becomes does not depend on where they end.

Grid rows are counted from the beginning of the stretch: every D-th is a row of the working grid
(where the equations are evaluated), of which every E-th is kept. A kept row needs both sides of
the filter on the working grid, and each of these needs both sides of the filter on the grid.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np

from closedform.applications.identification.logs.log import Samples
from closedform.applications.identification.signals.clock import Stamped
from closedform.applications.identification.signals.filter import LowPass, Window
from closedform.applications.identification.signals.grid import cubic, straight
from closedform.applications.motion.trajectories import joint_velocities
from closedform.arrays import Floats
from closedform.model.coordinates import projected
from closedform.model.robot import Robot

EFFORTS = ("tau", "current", "motor_torque")
WORKING = 25
"""Samples of the working grid in a period of the cutoff: sign changes are placed well enough."""
ROWS = 2048
"""Rows of the working grid in a window, at most; half of them where logged rows are many."""
LOGGED = 65536
"""Logged rows in a window, if half of the rows of the working grid needs no more."""
GUARD = WORKING / 4
"""Torques are held to so many times the cutoff before they come to the working grid."""


@final
@dataclass(frozen=True, eq=False)
class WindowPlan:
    """What is done to the rows of a log: the same for every stretch."""

    robot: Robot
    period: float               # s, of the grid
    cutoff: float               # Hz, of torques and columns
    motion: float               # Hz, of positions, at which columns are evaluated
    every: int                  # D
    keep: int                   # E
    delay: float                # s, that torques are late
    slowest: Floats             # (nv,), below which a velocity counts as standing
    slip: Floats                # (nv,), the scale of the smooth sign of velocities
    logged: bool = False        # v and a as logged, not from positions
    rows: int = 0               # of the working grid in a window; 0: as many as are good

    @property
    def start(self) -> float:
        """s, of the grid behind the first row: so that times of the grid, and the delay, are rows.

        Torques jump where a joint turns and are taken as they were logged; positions, which are
        smooth, between.
        """
        return -self.delay % self.period if self.delay > 0 else -self.delay

    @property
    def size(self) -> int:
        """Kept rows of a window."""
        good = min(max(LOGGED // self.every, ROWS // 2), ROWS)
        return max((self.rows or good) // self.keep, 1)

    @property
    def fine(self) -> LowPass:
        """Of positions, on the grid."""
        return LowPass(1 / self.period, self.motion)

    @property
    def coarse(self) -> LowPass:
        """Of columns and torques, on the working grid."""
        return LowPass(1 / (self.period * self.every), self.cutoff)

    @property
    def guard(self) -> LowPass:
        """What keeps torques beyond the working grid's reach out of it."""
        return LowPass(1 / self.period, GUARD * self.cutoff)

    @property
    def first(self) -> int:
        """The first kept row's number, among all that a stretch would have without edges."""
        return -(-(math.ceil(self.fine.half / self.every) + self.coarse.half) // self.keep)

    def stop(self, rows: int) -> int:
        """Behind the last kept row's number, of so many grid rows."""
        working = (rows - 1 - self.fine.half) // self.every - self.coarse.half
        return max(working // self.keep + 1, self.first)

    def grid_rows(self, first: int, stop: int) -> tuple[int, int]:
        """Grid rows that kept rows need."""
        return ((first * self.keep - self.coarse.half) * self.every - self.fine.half,
                ((stop - 1) * self.keep + self.coarse.half) * self.every + self.fine.half + 1)


def steps(period: float, cutoff: float, rate: float) -> tuple[int, int]:
    """D and E for a grid, so that about `rate` (Hz) is kept."""
    every = max(int(1 / (WORKING * cutoff * period)), 1)
    return every, max(int(1 / (rate * period * every) + 1e-9), 1)


def faster(cutoff: float, period: float) -> float:
    """A higher cutoff, for what shows in quick motion: lags and delays."""
    return max(min(4 * cutoff, 1 / (8 * period)), cutoff)


def kept_rows(plan: WindowPlan, duration: float) -> int:
    """How many rows a stretch of so many seconds leaves."""
    return plan.stop(math.floor((duration - plan.start - abs(plan.delay)) / plan.period + 1e-6)
                     + 1) - plan.first


class Stream:
    """The rows of one stretch on their way to windows."""

    def __init__(self, plan: WindowPlan) -> None:
        self.plan = plan
        self.t: Floats = np.zeros(0)
        self.rows: Floats = np.zeros((0, 0))
        self.widths: list[tuple[str, int]] = []
        self.origin = 0.0
        self.grid: Floats = np.zeros((0, 0))
        self.begin = 0              # the number of the first grid row that is kept
        self.next = plan.first

    def push(self, piece: Stamped) -> Iterator[Window]:
        """Windows that are complete with these rows."""
        table = self._table(piece.rows)
        if not len(self.t):
            self.origin = float(piece.t[0]) + self.plan.start
            self.rows, self.grid = table[:0], table[:0]
        self.t, self.rows = np.concatenate([self.t, piece.t]), np.concatenate([self.rows, table])
        if len(self.t) > 3:
            self._extend(float(self.t[-3]))
        while self.plan.stop(self.begin + len(self.grid)) >= self.next + self.plan.size:
            yield self._window(self.next + self.plan.size)

    def close(self) -> Iterator[Window]:
        """What is left at the end of the stretch."""
        if len(self.t) > 3:
            self._extend(float(self.t[-1]))
        stop = self.plan.stop(self.begin + len(self.grid))
        if stop > self.next:
            yield self._window(stop)

    def _table(self, rows: Samples) -> Floats:
        """Columns that go on: q, logged v and a if they are used, efforts."""
        kinds = ["q", *(["v", "a"] if self.plan.logged else []), *EFFORTS]
        found = {kind: x for kind in kinds if (x := getattr(rows, kind)) is not None}
        self.widths = [(kind, x.shape[1]) for kind, x in found.items()]
        return np.concatenate(list(found.values()), axis=1)

    def _extend(self, until: float) -> None:
        """More rows of the grid, up to a time that has its neighbours."""
        T, delay, n = self.plan.period, self.plan.delay, self.begin + len(self.grid)
        stop = math.floor((until - abs(delay) - self.origin) / T + 1e-6) + 1
        if stop <= n:
            return
        at = self.origin + T * np.arange(n, stop)
        smooth = sum(width for kind, width in self.widths if kind not in EFFORTS)
        made = np.concatenate([cubic(self.t, self.rows[:, :smooth], at),
                               straight(self.t, self.rows[:, smooth:], at + delay)], axis=1)
        self.grid = np.concatenate([self.grid, made])
        old = max(int(np.searchsorted(self.t, at[-1] - abs(delay))) - 3, 0)
        self.t, self.rows = self.t[old:], self.rows[old:]

    def _window(self, stop: int) -> Window:
        plan = self.plan
        begin, end = plan.grid_rows(self.next, stop)
        columns = self.grid[begin - self.begin:end - self.begin]
        parts: dict[str, Floats] = {}
        at = 0
        for kind, width in self.widths:
            parts[kind], at = columns[:, at:at + width], at + width
        q, v, a = self._motion(parts)
        working = np.arange(len(q)) * plan.every + begin + plan.fine.half
        kept = np.arange(stop - self.next) * plan.keep + plan.coarse.half
        window = Window(self.origin + plan.period * working, q, v, a,
                        {kind: self._effort(parts[kind]) for kind in EFFORTS if kind in parts},
                        kept, np.abs(v[kept]) > plan.slowest, plan.coarse, plan.keep, plan.every)
        self.next = stop
        old = plan.grid_rows(stop, stop + 1)[0] - self.begin
        self.grid, self.begin = self.grid[old:], self.begin + old
        return window

    def _motion(self, parts: dict[str, Floats]) -> tuple[Floats, Floats, Floats]:
        plan, low = self.plan, self.plan.fine
        q, dq, ddq = low.derivatives(parts["q"], plan.every)
        if plan.logged:
            v, dv, _ = low.derivatives(parts["v"], plan.every)
            a = low.smoothed(parts["a"], plan.every) if "a" in parts else dv
            return np.asarray(projected(plan.robot, q)), v, a
        return smooth_motion(plan.robot, q, dq, ddq)

    def _effort(self, given: Floats) -> Floats:
        plan = self.plan
        if plan.every == 1:
            return given[plan.fine.half:len(given) - plan.fine.half]
        cut = plan.fine.half - plan.guard.half
        return plan.guard.smoothed(given[cut:len(given) - cut], plan.every)


def smooth_motion(robot: Robot, q: Floats, dq: Floats, ddq: Floats,
                  ) -> tuple[Floats, Floats, Floats]:
    """q with unit quaternions, and v, a of coordinates and their derivatives: q̇ = Γ(q) v."""
    v, a = np.empty((len(q), robot.nv)), np.empty((len(q), robot.nv))
    for body, i, j in robot.parts:
        if body.joint.is_vector:
            v[:, j], a[:, j] = dq[:, i], ddq[:, i]
        else:
            rates = joint_velocities(body.joint, np.stack([q[:, i], dq[:, i], ddq[:, i] / 2]))
            v[:, j], a[:, j] = rates
    return np.asarray(projected(robot, q)), v, a
