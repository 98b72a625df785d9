"""Motion that is seen again is no motion that was held out: in one log, or in two.

    e(L) = ⟨|s(t + L) − s(t)|²⟩ / 2⟨|s|²⟩                                              (1)

of the states s, centred and each of size one: near one for motions that have nothing to do with
each other, zero where the motion is the same again. Of two logs, whose beginnings may differ,

    d(t) = min_t' |z(t) − z'(t')|,     z(t) = (s(t), s(t + h), s(t + 2h))              (2)

is how far a motion is from the path of the other: zero where it takes the same way at the same
speeds, whenever that was.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from closedform.arrays import Floats
from closedform.model.robot import Robot

SAME = 0.02
"""e of a motion that repeats: within a fifth of its size, with the noise of its repetition."""
APART = 0.5
"""e that must lie between a motion and its repetition: what moves slowly is always near itself."""
OVERLAP = 0.2
"""Of all states, that are seen again."""


def repeats_after(t: Floats, states: Floats) -> float | None:
    """Seconds after which states (n, k) at even times are there again; None if never."""
    n = len(t)
    size = states.std(axis=0)
    s = (states - states.mean(axis=0))[:, size > 1e-9 * size.max(initial=0.0)]
    if n < 20 or not s.size:
        return None
    s = s / s.std(axis=0)
    squares = np.cumsum(np.sum(s**2, axis=1))
    lags = np.arange(1, int((1 - OVERLAP) * n))
    power = np.abs(np.fft.rfft(s, 2 * n, axis=0))**2
    products = np.sum(np.fft.irfft(power, axis=0), axis=1)[lags]
    both = squares[n - 1 - lags] + squares[-1] - squares[lags - 1]
    e = (both - 2 * products) / np.maximum(both, 1e-300)                                     # (1)
    far = np.flatnonzero(e > APART)
    near = np.flatnonzero(e < SAME)
    near = near[near > far[0]] if len(far) else near[:0]
    if not len(near):
        return None
    first = near[0]
    last = first + int(np.argmax(np.append(e[first:], np.inf) >= SAME))
    return float(lags[first + int(np.argmin(e[first:last]))] * (t[-1] - t[0]) / (n - 1))


NEAR = 0.08
"""d of motion that is taken again: of each coordinate's size, in the mean of squares."""
FLOOR = 0.05
"""Coordinates count as if they moved so much at least, of the one that moves most."""
LOOK = 10
"""Rows in h: half a period of the fastest motion that a cutoff is chosen for."""
CHUNK = 256


class MotionPath(NamedTuple):
    """Where a robot was: times, positions (of joints that have one for each velocity), speeds."""

    t: Floats
    q: Floats
    v: Floats

    @staticmethod
    def of(robot: Robot, t: Floats, q: Floats, v: Floats) -> MotionPath:
        """Orientations, which have no coordinates without seams, are told by their velocities."""
        vector = np.concatenate([np.zeros(0, dtype=bool), *(
            np.full(body.joint.nq, body.joint.is_vector) for body, _, _ in robot.parts)])
        return MotionPath(t, q[:, vector], v)

    def sampled(self, step: float) -> tuple[MotionPath, NDArray[np.bool_]]:
        """At even times, and which of them lie in no gap."""
        t = np.arange(self.t[0], self.t[-1], step)
        q, v = (np.stack([np.interp(t, self.t, x) for x in rows.T], axis=1)
                if rows.shape[1] else np.zeros((len(t), 0)) for rows in (self.q, self.v))
        after = np.clip(np.searchsorted(self.t, t, "right"), 1, len(self.t) - 1)
        whole = np.diff(self.t)[after - 1] < 1.5 * max(step, self.step)
        return MotionPath(t, q, v), whole

    @property
    def step(self) -> float:
        return float(np.median(np.diff(self.t)))


def shared(one: MotionPath, other: MotionPath) -> tuple[float, float]:
    """The share of one's motion that the other has too, and of the other's that is in one; (2)."""
    if min(len(one.t), len(other.t)) < 4 * LOOK:
        return 0.0, 0.0
    step = max(one.step, other.step)
    (a, a_whole), (b, b_whole) = one.sampled(step), other.sampled(step)
    parts = []
    for x, y in ((a.q, b.q), (a.v, b.v)):
        size = np.minimum(x.std(axis=0), y.std(axis=0))
        size = np.maximum(size, FLOOR * size.max(initial=0.0))
        moves = size > 0
        parts.append((x[:, moves] / size[moves], y[:, moves] / size[moves]))
    z, w = (np.concatenate([pair[k] for pair in parts], axis=1) for k in (0, 1))
    if not z.size or min(len(z), len(w)) < 4 * LOOK:
        return 0.0, 0.0
    first, second = _embedded(z, a_whole), _embedded(w, b_whole)
    return _near(first, second), _near(second, first)


def _embedded(s: Floats, whole: NDArray[np.bool_]) -> tuple[Floats, NDArray[np.bool_]]:
    """z of (2), and which are whole."""
    n = len(s) - 2 * LOOK
    parts = [(s[k:k + n], whole[k:k + n]) for k in (0, LOOK, 2 * LOOK)]
    return (np.concatenate([x for x, _ in parts], axis=1),
            np.all([ok for _, ok in parts], axis=0))


def _near(points: tuple[Floats, NDArray[np.bool_]], path: tuple[Floats, NDArray[np.bool_]],
          ) -> float:
    """The share of points that lie near a path, which is straight between its own."""
    (z, used), (w, whole) = points, path
    z, squares = z[used], np.where(whole, np.sum(w**2, axis=1), np.inf)
    near = 0
    for start in range(0, len(z), CHUNK):
        some = z[start:start + CHUNK]
        at = np.argmin(squares - 2 * some @ w.T, axis=1)
        apart = np.minimum(_to_segment(some, w[np.maximum(at - 1, 0)], w[at]),
                           _to_segment(some, w[at], w[np.minimum(at + 1, len(w) - 1)]))
        near += int(np.sum(apart < NEAR**2 * z.shape[1]))
    return near / max(len(z), 1)


def _to_segment(z: Floats, begin: Floats, end: Floats) -> Floats:
    """Squared distances to segments."""
    along, off = end - begin, z - begin
    size = np.sum(along**2, axis=1)
    part = np.clip(np.sum(off * along, axis=1) / np.where(size > 0, size, 1.0), 0.0, 1.0)
    return np.asarray(np.sum((off - part[:, None] * along)**2, axis=1))
