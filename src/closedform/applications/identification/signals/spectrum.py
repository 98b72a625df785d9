"""What moves and how fast: excited frequencies, bandwidth, noise, and how v fits q.

All from the beginning of a log, on a uniform grid; logs are not all alike, but what a controller
and a logging program do to signals is the same throughout.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from closedform.applications.identification.signals.clock import Stamped
from closedform.applications.identification.signals.filter import LowPass
from closedform.applications.identification.signals.grid import cubic, straight
from closedform.applications.identification.signals.windows import EFFORTS, WORKING, smooth_motion
from closedform.arrays import Floats
from closedform.model.robot import Robot

EXCITED = 0.99      # share of a velocity's power below the highest excited frequency
CARRIED = 0.9999    # and below the bandwidth
MULTIPLE = 5.0      # of the highest excited frequency: the cutoff
LOWEST = 0.25       # Hz, of a cutoff
SETTLED = 1e-6      # s, by which a lag may still change
SURE = 0.9          # correlation from which a column is known by its position


class Spectrum(NamedTuple):
    """Frequencies (Hz) and noises of the beginning of a log."""

    excited: Floats         # (nv,)
    positions: float        # bandwidth
    torques: float          # bandwidth; nan without torques
    noise: Floats           # (nv,) of positions, rad or m
    speed: Floats           # (nv,) root mean square of the velocity


class Agreement(NamedTuple):
    """How logged velocities fit the positions, by joint."""

    lag: Floats             # s, that v comes late; nan where nothing moves
    scale: Floats           # v logged, over v from positions
    order: tuple[int, ...]  # which logged column fits each joint best
    fit: Floats             # correlation with the joint's own column


def longest(stamped: Stamped, gap: float) -> Stamped:
    """The longest stretch without a gap."""
    t, rows = stamped
    cuts = [0, *(np.flatnonzero(np.diff(t) > gap) + 1).tolist(), len(t)]
    k = int(np.argmax(np.diff(cuts)))
    at = slice(cuts[k], cuts[k + 1])
    return Stamped(t[at], rows.rows(at))


def on_grid(stamped: Stamped, period: float) -> tuple[Floats, Floats]:
    """Times and positions on a uniform grid."""
    at = np.arange(stamped.t[0], stamped.t[-1] + period / 2, period)
    at = at[at <= stamped.t[-1]]
    return at, cubic(stamped.t, stamped.rows.q, at)


def spectrum(robot: Robot, stamped: Stamped, period: float) -> Spectrum:
    """Of positions, and of torques where there are any."""
    at, q = on_grid(stamped, period)
    dq = robot.difference(q[:-1], q[1:])
    v = dq / period
    # fourth differences of q: the motion is gone, white noise has become √70 times itself
    noise = np.sqrt(np.mean(np.diff(dq, n=3, axis=0)**2, axis=0) / 70)
    share, f = _shares(v, period)
    speed = np.sqrt(np.mean(v**2, axis=0))
    moves = speed > 0.05 * np.max(speed, initial=1e-12)
    efforts = [x for kind in EFFORTS if (x := getattr(stamped.rows, kind)) is not None]
    torques = [_below(*_shares(straight(stamped.t, x, at), period), CARRIED).max()
               for x in efforts[:1]]
    return Spectrum(np.where(moves, _below(share, f, EXCITED), 0.0),
                    float(np.max(np.where(moves, _below(share, f, CARRIED), 0.0), initial=0.0)),
                    float(torques[0]) if torques else np.nan, noise, speed)


def _shares(x: Floats, period: float) -> tuple[Floats, Floats]:
    """Share of the power below each frequency, (F, k), less what the upper third has: noise."""
    x = x[:len(x) - len(x) % 1024] if len(x) > 16384 else x       # lengths that transform fast
    f = np.fft.rfftfreq(len(x), period)
    columns = np.ascontiguousarray(x.T)
    columns = (columns - columns.mean(axis=1)[:, None]) * np.hanning(len(x))
    power = np.abs(np.fft.rfft(columns))**2
    upper = int(np.searchsorted(f, 0.33 / period, side="right"))
    power[power <= 10 * np.median(power[:, upper:], axis=1)[:, None]] = 0.0
    power[:, upper:] = 0.0
    total = np.sum(power, axis=1)
    return (np.cumsum(power, axis=1) / np.where(total > 0, total, 1.0)[:, None]).T, f


def _below(share: Floats, f: Floats, which: float) -> Floats:
    """The frequency below which that share of the power lies, by column; 0 where there is none."""
    found = f[np.minimum(np.sum(share < which, axis=0), len(f) - 1)]
    return np.where(share[-1] > 0, found, 0.0)


def cutoff_of(found: Spectrum, period: float) -> tuple[float, str]:
    """The cutoff for a log, and why."""
    excited = float(found.excited.max(initial=0.0))
    bounds = {MULTIPLE * excited: f"{MULTIPLE:.0f} times the highest excited frequency, "
                                  f"{excited:.3g} Hz",
              float(np.fmax(np.fmax(2 * excited, found.positions), found.torques)):
              "the bandwidth of the signals",
              1 / (6 * period): "a sixth of the rate of the samples"}
    cutoff = min(bounds)
    return (cutoff, bounds[cutoff]) if cutoff > LOWEST else (LOWEST, "the lowest that is used")


def agreement(robot: Robot, stamped: Stamped, period: float, cutoff: float) -> Agreement | None:
    """Logged velocities against those of the positions, both through one filter.

        v_logged(t) = v(t − lag):   lag = ⟨v − v_logged, a⟩ / ⟨a, a⟩, repeated with shifted v   (1)
    """
    if stamped.rows.v is None:
        return None
    at, q = on_grid(stamped, period)
    few = max(int(1 / (WORKING * cutoff * period)), 1)          # rows to one, of both alike
    at, q, logged = (_means(x, few) for x in (at, q, cubic(stamped.t, stamped.rows.v, at)))
    period *= few
    low = LowPass(1 / period, cutoff)
    if len(at) < 4 * low.half:
        return None
    step = max(int(1 / (WORKING * cutoff * period)), 1)
    _, v, a = smooth_motion(robot, *low.derivatives(q, step))
    logged = low.smoothed(logged, step)
    t = at[low.half:len(at) - low.half:step]
    moves = np.std(v, axis=0) > 0.05 * np.max(np.std(v, axis=0), initial=1e-12)
    lag = np.zeros(robot.nv)
    inside = (t > t[0] + 0.1 * (t[-1] - t[0])) & (t < t[-1] - 0.1 * (t[-1] - t[0]))
    for _ in range(4):
        ahead = np.stack([np.interp(t + lag[j], t, logged[:, j]) for j in range(robot.nv)], axis=1)
        scale = _projected(ahead[inside], v[inside])
        more = _projected((v - ahead / np.where(scale != 0, scale, 1.0))[inside], a[inside])
        lag = lag + more
        if np.max(np.abs(more)) < SETTLED:
            break
    fits = _correlations(v[inside], logged[inside])
    order = tuple(int(np.argmax(row)) if moves[j] and np.max(row) > SURE else j
                  for j, row in enumerate(fits))
    return Agreement(np.where(moves, lag, np.nan), np.where(moves, scale, np.nan), order,
                     np.where(moves, np.diag(fits), np.nan))


def _means(x: Floats, count: int) -> Floats:
    """Of so many rows each, one behind the other."""
    n = len(x) - len(x) % count
    return np.asarray(sum(x[i:n:count] for i in range(count)) / count)


def _projected(x: Floats, on: Floats) -> Floats:
    squares = np.sum(on**2, axis=0)
    return np.sum(x * on, axis=0) / np.where(squares > 0, squares, 1.0)


def _correlations(x: Floats, y: Floats) -> Floats:
    """Of every column with every column."""
    x, y = (z / np.where(np.linalg.norm(z, axis=0) > 0, np.linalg.norm(z, axis=0), 1.0)
            for z in (x, y))
    return np.asarray(x.T @ y)
