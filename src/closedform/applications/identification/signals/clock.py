"""When samples were taken: as logged, on lines through their neighbours, or on ticks.

    dt_i = Δq_i·v̄_i / v̄_i·v̄_i ≈ n_i T,      n_i = 1, 2, …                    (1)

A controller's samples are a whole number n_i of ticks T apart; programs that write them down are
late by milliseconds. Where the robot moves, (1) tells n_i from positions and velocities alone;
where it stands, the logged times do, as far as they can.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, final

import numpy as np

from closedform.applications.identification.logs.log import Log, Samples, joined
from closedform.applications.motion.trajectories import continuous
from closedform.arrays import Floats
from closedform.model.robot import Robot

LOGGED, LINE, TICKS = "logged", "line", "ticks"
REGULAR = 0.05      # steps that are off a multiple of the period by less are regular
NEAR = 0.1          # rows closer than this share of a period are one sample
COMB = 0.15         # dt is on the comb if it is off a tick by less
ROUND = (1.0, 1.25, 2.0, 2.5, 4.0, 5.0, 8.0, 10.0)
RECENT = 4096       # rows that tell how late the log usually is
SMOOTHED = 0.1      # s, to both sides, over which times are smoothed
PAUSE = 0.1         # s, longer steps part lines


class Stamped(NamedTuple):
    """Rows with times that increase; those before belong together unless a gap lies between."""

    t: Floats
    rows: Samples


@final
@dataclass(frozen=True)
class Clock:
    """How samples get their times; `slow` is the speed below which (1) says nothing."""

    kind: str
    period: float           # s
    slow: float = 0.0       # rad/s or m/s, of |v̄|
    late: float = 0.0       # ticks by which logged times are usually off

    def stamped(self, log: Log, rows: int) -> Iterator[Stamped]:
        """The log with its times, repeated rows left out."""
        state = ClockState(log.robot, self)
        for piece in log.pieces(rows):
            yield state.next(piece)
        yield state.close()

    def of(self, robot: Robot, samples: Samples) -> Stamped:
        """Samples that are all there."""
        state = ClockState(robot, self)
        first, rest = state.next(samples), state.close()
        return Stamped(np.concatenate([first.t, rest.t]), joined([first.rows, rest.rows]))

    @property
    def neighbours(self) -> int:
        """Rows to both sides over which times are smoothed."""
        return max(int(SMOOTHED / self.period), 10)


@dataclass(eq=False)
class ClockState:
    """What is carried from piece to piece: the last row, its time, how late the log was."""

    robot: Robot
    clock: Clock
    start: float = np.nan           # the logged time of the first row
    before: Samples | None = None   # one row, the last that was read
    last: Samples | None = None     # one row, the last that was no repeat
    time: float = 0.0               # of the last row, new
    late: Floats = field(default_factory=lambda: np.zeros(0))   # s, of rows that q and v place
    waiting: Samples | None = None  # rows whose times wait for neighbours, and those before
    done: int = 0                   # how many of them have left

    def next(self, piece: Samples) -> Stamped:
        """The rows of a piece that have their times now."""
        if not len(piece.t):
            return Stamped(piece.t, piece)
        if self.before is None:
            self.start = float(piece.t[0])
        piece = followed(self.robot, piece._replace(t=piece.t - self.start), self.before)
        again = repeated(piece, self.before, self.clock)
        self.before = piece.rows(slice(-1, None))
        kept = piece.rows(~again) if again.any() else piece
        if not len(kept.t):
            return Stamped(kept.t, kept)
        if self.clock.kind == LINE:
            self.last = kept.rows(slice(-1, None))
            self.waiting = kept if self.waiting is None else joined([self.waiting, kept])
            return self._smoothed(len(self.waiting.t) - self.clock.neighbours)
        times = kept.t if self.clock.kind == LOGGED else self._ticks(kept)
        self.last, self.time = kept.rows(slice(-1, None)), float(times[-1])
        return Stamped(times, kept)

    def close(self) -> Stamped:
        """Rows that waited for neighbours, when no more come."""
        if self.waiting is None:
            none = np.zeros(0)
            empty = Samples(none, none) if self.last is None else self.last.rows(slice(0, 0))
            return Stamped(none, empty)
        return self._smoothed(len(self.waiting.t))

    def _smoothed(self, stop: int) -> Stamped:
        """Rows before a stop on lines of slope T through the logged times of their neighbours.

        t̃_i = mean_k (t_k − (k − i) T), over neighbours without a pause between.
        """
        assert self.waiting is not None
        T, m, t = self.clock.period, self.clock.neighbours, self.waiting.t
        i = np.arange(self.done, max(stop, self.done))
        pauses = np.flatnonzero(np.diff(t) > max(PAUSE, 20 * T)) + 1
        edges = np.concatenate([[0], pauses, [len(t)]])
        part = np.searchsorted(edges, i, side="right")
        low = np.maximum(i - m, edges[part - 1])
        high = np.minimum(i + m + 1, edges[part])
        sums = np.concatenate([[0.0], np.cumsum(t - T * np.arange(len(t)))])
        times = (sums[high] - sums[low]) / (high - low) + T * i
        made = Stamped(np.maximum.accumulate(times), self.waiting.rows(slice(self.done, len(t))
                                                                     ).rows(slice(0, len(i))))
        old = max(self.done + len(i) - m, 0)
        self.waiting, self.done = self.waiting.rows(slice(old, None)), self.done + len(i) - old
        return made

    def _ticks(self, rows: Samples) -> Floats:
        """(1) where it is sure; else a tick a row, and more where the log is later than usual."""
        T = self.clock.period
        whole = rows if self.last is None else joined([self.last, rows])
        dt, speed = measured_steps(self.robot, whole)
        n = np.rint(dt / T)
        # over a pause, (1) says nothing
        sure = np.concatenate([[False], (speed > self.clock.slow) & (n >= 1)
                               & (np.diff(whole.t) < max(PAUSE, 20 * T))])
        ticks = np.cumsum(np.concatenate([[0.0], np.where(sure[1:], n, 1.0)]))
        placed = np.flatnonzero(sure)
        for begin, end in _runs(~sure[1:]):
            before = placed[placed < begin][-RECENT:]
            late = np.concatenate([self.late, whole.t[before] - self.time - T * ticks[before]])
            usual = float(np.median(late[-RECENT:])) if len(late) else 0.0
            excess = (whole.t[begin:end] - self.time - usual) / T - ticks[begin:end]
            more = np.maximum(np.maximum.accumulate(np.rint(excess - self.clock.late)), 0.0)
            ticks[begin:end] += more
            ticks[end:] += more[-1]
        late = whole.t[placed] - self.time - T * ticks[placed]
        self.late = np.concatenate([self.late, late])[-RECENT:]
        times = self.time + T * ticks
        return times if self.last is None else times[1:]


def _runs(which: np.ndarray) -> Iterator[tuple[int, int]]:
    """Runs of steps that hold, as the rows behind them: first, and behind the last."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], which, [False]]).astype(int)))
    yield from zip((edges[::2] + 1).tolist(), (edges[1::2] + 1).tolist(), strict=True)


def measured_steps(robot: Robot, rows: Samples) -> tuple[Floats, Floats]:
    """Seconds between rows by (1), and |v̄|, (N − 1,) each."""
    assert rows.v is not None
    v = (rows.v[1:] + rows.v[:-1]) / 2
    squared = np.sum(v * v, axis=1)
    along = np.sum(robot.difference(rows.q[:-1], rows.q[1:]) * v, axis=1)
    return along / np.where(squared > 0, squared, 1.0), np.sqrt(squared)


def followed(robot: Robot, rows: Samples, last: Samples | None) -> Samples:
    """Angles without jumps of 2π, quaternions without changes of sign, from the row before on."""
    before = rows.q[:1] if last is None else last.q
    steps = (np.abs(rows.q[:1] - before), np.abs(np.diff(rows.q, axis=0)))
    if all(np.max(x, initial=0.0) <= np.pi for x in steps) and not any(
            body.joint.quaternion for body in robot.bodies):
        return rows
    q = rows.q if last is None else np.concatenate([last.q, rows.q])
    whole = continuous(robot, q)
    for body, i, _ in robot.parts:
        for k in body.joint.angles:
            angle = whole[:, i.start + k]
            if np.any(np.abs(np.diff(angle)) > np.pi):
                whole[:, i.start + k] = np.unwrap(angle)
    return rows._replace(q=whole[len(whole) - len(rows.q):])


def repeated(rows: Samples, last: Samples | None, clock: Clock) -> np.ndarray:
    """Which rows bring nothing new: the numbers of the row before, or a position that should move.

    Rows nearer in time than a tenth of a period are repeats where times are taken as logged.
    """
    first = last is not None and bool(_nothing_new(joined([last, rows.rows(slice(0, 1))]), clock))
    return np.concatenate([[first], _nothing_new(rows, clock)])


def _nothing_new(whole: Samples, clock: Clock) -> np.ndarray:
    """Which rows behind the first bring nothing new."""
    same = _as_before(whole.q, np.arange(len(whole.t) - 1))
    others = [x for kind, x in whole._asdict().items() if x is not None and kind not in ("t", "q")]
    equal = np.zeros(len(whole.t) - 1, dtype=bool)
    if len(same) and others:
        at = same
        for x in others:
            at = _as_before(x, at)
        equal[at] = True
    if whole.v is not None:
        equal[same] |= np.linalg.norm(whole.v[same + 1], axis=1) > clock.slow
    if clock.kind == LOGGED:
        equal |= np.diff(whole.t) < NEAR * clock.period
    return equal


def _as_before(x: Floats, steps: np.ndarray) -> np.ndarray:
    """Those steps over which no column changes."""
    for column in x.T:
        steps = steps[column[steps + 1] == column[steps]]
    return steps


# ---------------------------------------------------------------------- choosing
def chosen(robot: Robot, head: Samples, wish: str) -> Clock:
    """The clock for a log from its first rows; `wish` is repair, logged or uniform."""
    plain = Clock(LOGGED, _median_step(head.t), slow=np.inf)
    if wish == "logged" or (wish == "repair" and regular_share(plain.of(robot, head).t) > 0.99):
        return plain
    if wish == "repair" and head.v is not None:
        ticks = _comb(robot, head)
        if ticks is not None:
            return ticks
    line = Clock(LINE, _mean_step(head), slow=np.inf)
    smoother = wish == "uniform" or roughness(line.of(robot, head)) < roughness(
        plain.of(robot, head))
    return line if smoother else plain


def roughness(stamped: Stamped) -> float:
    """How far positions lie from cubics through two rows before and two behind, in the mean."""
    t, q = stamped.t, stamped.rows.q
    k = [t[i:len(t) - 4 + i] - t[2:-2] for i in (0, 1, 3, 4)]
    at_zero = np.zeros_like(q[2:-2])
    for i, q_i in zip(range(4), (q[:-4], q[1:-3], q[3:-1], q[4:]), strict=True):
        others = [k[j] for j in range(4) if j != i]
        with np.errstate(divide="ignore", invalid="ignore"):
            weight = np.prod([x / (x - k[i]) for x in others], axis=0)
        at_zero = at_zero + weight[:, None] * q_i
    off = np.abs(at_zero - q[2:-2])
    return float(np.mean(np.where(np.isfinite(off), off, np.ptp(q, axis=0))))


def _median_step(t: Floats) -> float:
    steps = np.diff(t)
    return float(np.median(steps[steps > 0])) if np.any(steps > 0) else 1.0


def regular_share(t: Floats) -> float:
    """Share of steps that are a multiple of the median step."""
    ratio = np.diff(t) / _median_step(t)
    return float(np.mean((np.abs(ratio - np.rint(ratio)) < REGULAR) & (ratio > 0.5))) \
        if len(ratio) else 0.0


def _mean_step(head: Samples) -> float:
    """Seconds between rows that are no repeats: the median of slopes over half of the rows."""
    rows = head.rows(~repeated(head, None, Clock(LINE, 1.0, slow=np.inf)))
    half = max(len(rows.t) // 2, 1)
    return float(np.median(rows.t[half:] - rows.t[:-half])) / half


def _comb(robot: Robot, head: Samples) -> Clock | None:
    """The clock of (1) if most rows that move are on its ticks."""
    moving = head.rows(~repeated(head, None, Clock(TICKS, 1.0, slow=0.0)))
    if len(moving.t) < 100:
        return None
    dt, speed = measured_steps(robot, moving)
    fast = (speed >= np.median(speed)) & (speed > 0)
    T = float(np.median(dt[fast])) if fast.any() else 0.0
    if not T > 0:
        return None
    slow = _slowest(robot, moving, dt, T)
    for _ in range(3):        # the comb's own ticks refine the tick
        sure = (speed > slow) & (dt > T / 2)
        if sure.sum() < max(100, 0.2 * len(dt)):
            return None
        ratio = dt[sure] / T
        on_comb = np.abs(ratio - np.rint(ratio)) < COMB
        T = float(np.median(dt[sure][on_comb] / np.rint(ratio[on_comb]))) if on_comb.any() else T
    if np.mean(on_comb) < 0.9:
        return None
    rough = Clock(TICKS, T, slow, late=2.0)
    found = rough.of(robot, head)
    ticks = found.t[-1] / T
    # over the whole time the log's own clock is right, and controllers have round periods
    T = _round_period((found.rows.t[-1] - found.rows.t[0]) / ticks)
    late = found.rows.t - T * np.rint(found.t / rough.period)
    spread = float(np.percentile(np.abs(late - np.median(late)), 95)) / T
    return Clock(TICKS, T, slow, late=max(spread, 0.5))


def _slowest(robot: Robot, rows: Samples, dt: Floats, T: float) -> float:
    """The speed at which noise of Δq is an eighth of a tick.

    Noise is what of Δq does not lie along v̄, and the step of the encoders (or printed digits).
    """
    assert rows.v is not None
    dq = robot.difference(rows.q[:-1], rows.q[1:])
    aside = dq - dt[:, None] * (rows.v[1:] + rows.v[:-1]) / 2
    noise = float(np.median(np.abs(aside))) * 1.5
    steps = np.abs(dq)[dq != 0]
    quantum = float(np.percentile(steps, 0.1)) if len(steps) else 0.0
    return 8 * max(noise, quantum / 3) / T


def _round_period(T: float) -> float:
    """The nearest period that is round, or a whole number of Hz, within 0.2 %; else T."""
    scale = 10.0 ** np.floor(np.log10(T))
    near = [x * scale for x in ROUND] + [1 / max(round(1 / T), 1)]
    best = min(near, key=lambda x: abs(x - T))
    return float(best) if abs(best / T - 1) < 2e-3 else T
