"""A zero-phase low-pass of finite length: smoothed values, derivatives, decimation.

    |H(f)| = 1 / (1 + (f / f_c)⁸)                                             (1)

is what a Butterworth filter of order 4 does that runs forwards and backwards. Its response h is
symmetric; cut at 2 / f_c to both sides under a window, it is a finite sum: no run-in that must die
out, so that results do not depend on how a log is cut into windows, and derivatives are sums with
h′ and h″, the derivatives of what is smoothed. Constants pass as they are, slopes have their v
and parabolas their a.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import final

import numpy as np

from closedform.arrays import Floats

ORDER = 8
LENGTH = 2.0
"""To each side, in periods of the cutoff."""
GROUP = 24
"""Rows of a decimated result that one product of matrices makes."""


@final
@dataclass(frozen=True)
class LowPass:
    """(1) at a cutoff (Hz), for samples at a rate (Hz)."""

    rate: float
    cutoff: float

    @property
    def half(self) -> int:
        """Samples to each side."""
        return math.ceil(LENGTH * self.rate / self.cutoff)

    @cached_property
    def kernels(self) -> tuple[Floats, Floats, Floats]:
        """h, h′ and h″, (2 half + 1,) each, to be summed with samples: Σ_k h_k x_{i+k}."""
        return _kernels(self.rate, self.cutoff, self.half)

    def derivatives(self, x: Floats, step: int = 1) -> tuple[Floats, Floats, Floats]:
        """Smoothed x and its first two derivatives, of every `step`-th row that has both sides."""
        smooth, first, second = (self._sums(x, h)[::step] for h in self.kernels)
        return smooth, first, second

    def smoothed(self, x: Floats, step: int = 1) -> Floats:
        """Smoothed x, of every `step`-th row that has `half` rows to both sides."""
        return self._sums(x, self.kernels[0])[::step]

    def _sums(self, x: Floats, h: Floats) -> Floats:
        from scipy.signal import oaconvolve  # slow to import

        if not x.shape[1]:
            return x[2 * self.half:]
        return np.asarray(oaconvolve(x, h[::-1, None], mode="valid", axes=0))

    def decimated(self, x: Floats, step: int) -> Floats:
        """As `smoothed`, by products of matrices: many columns (N, k), few rows."""
        count = (len(x) - 2 * self.half - 1) // step + 1
        A = self._matrix(step)
        parts = [A[:min(GROUP, count - i)] @ _padded(x, i * step, A.shape[1])
                 for i in range(0, count, GROUP)]
        return np.concatenate(parts) if parts else np.zeros((0, x.shape[1]))

    def _matrix(self, step: int) -> Floats:
        return _shifted(self.rate, self.cutoff, self.half, step)


def _padded(x: Floats, start: int, rows: int) -> Floats:
    """So many rows from a start on; zeros behind the end meet zeros of the matrix."""
    part = x[start:start + rows]
    return part if len(part) == rows else np.concatenate(
        [part, np.zeros((rows - len(part), x.shape[1]))])


@lru_cache(maxsize=64)
def _shifted(rate: float, cutoff: float, half: int, step: int) -> Floats:
    h = _kernels(rate, cutoff, half)[0]
    A = np.zeros((GROUP, (GROUP - 1) * step + len(h)))
    for i in range(GROUP):
        A[i, i * step:i * step + len(h)] = h
    return A


@lru_cache(maxsize=64)
def _kernels(rate: float, cutoff: float, half: int) -> tuple[Floats, Floats, Floats]:
    size = 1 << math.ceil(math.log2(16 * half + 16))
    f = np.fft.rfftfreq(size, 1 / rate)
    H, w = 1 / (1 + (f / cutoff) ** ORDER), 2j * math.pi * f
    k = np.arange(-half, half + 1)
    d0, d1, d2 = (np.fft.irfft(H * w**n, size)[k] for n in range(3))
    s, c = k / rate, math.pi * rate / (half + 1)
    w0, w1, w2 = np.cos(c * s / 2) ** 2, -c / 2 * np.sin(c * s), -(c**2) / 2 * np.cos(c * s)
    h = d0 * w0
    h1 = -(d1 * w0 + d0 * w1)           # ∫ h(s) x′(t + s) ds = −∫ h′(s) x(t + s) ds
    h2 = d2 * w0 + 2 * d1 * w1 + d0 * w2
    h = h / np.sum(h)
    h1 = h1 / np.sum(h1 * s)
    h2 = h2 - h * np.sum(h2)            # a constant has no derivative
    h2 = 2 * h2 / np.sum(h2 * s**2)
    return h, h1, h2


@final
@dataclass(frozen=True, eq=False)
class Window:
    """A piece of a log on a uniform grid, with what is filtered and kept of it.

    q, v and a are smoothed; `effort` has torques and currents, all at N times of the grid. `kept`
    are the rows that survive decimation and have both sides of the filter; `moving` tells where
    each velocity is beyond its noise.
    """

    t: Floats                       # (N,) s, from the beginning of the log
    q: Floats                       # (N, nq)
    v: Floats                       # (N, nv)
    a: Floats                       # (N, nv)
    effort: Mapping[str, Floats]    # by kind, (N, nv)
    kept: np.ndarray                # (n,) rows
    moving: np.ndarray              # (n, nv)
    low_pass: LowPass               # of the grid's rate
    step: int                       # of the decimation

    def reduce(self, columns: Floats) -> Floats:
        """Columns (N, k) through the low-pass that smoothed the positions, the kept rows (n, k)."""
        return self.low_pass.decimated(columns, self.step)
