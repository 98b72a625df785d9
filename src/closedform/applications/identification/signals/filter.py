"""A zero-phase low-pass of finite length: smoothed values, derivatives, decimation.

    |H(f)| = 1 / (1 + (f / f_c)⁸)                                             (1)

is what a Butterworth filter of order 4 does that runs forwards and backwards. Its response h is
symmetric; cut at 2 / f_c to both sides under a window, it is a finite sum: no run-in that must die
out, so that results do not depend on how a log is cut into windows, and derivatives are sums with
h′ and h″, the derivatives of what is smoothed. The cut takes a little of what should pass; it is
given back, so that polynomials of degree 5 pass as they are and have their derivatives.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import final

import numpy as np
from numpy.typing import NDArray

from closedform.arrays import Floats

ORDER = 8
LENGTH = 2.0
"""To each side, in periods of the cutoff."""
PIECE = 2048
"""Rows of a result that one transform makes, at least."""
GROUP = 8
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
        smooth, first, second = self._sums(x, step, 3)
        return smooth, first, second

    def smoothed(self, x: Floats, step: int = 1) -> Floats:
        """Smoothed x, of every `step`-th row that has `half` rows to both sides."""
        return self._sums(x, step, 1)[0]

    def _sums(self, x: Floats, step: int, kernels: int) -> list[Floats]:
        """Sums with the first kernels, by Fourier transforms of pieces.

        Every D-th value of y has the sum of D parts of the spectrum of y for its own,

            Y_D(f) = 1/D Σ_k Y(k M + f),    0 ≤ f < M,    n = D M                  (2)

        so that what is left out is not transformed back; Y(−f) is the conjugate of Y(f).
        """
        count = max((len(x) - 2 * self.half - 1) // step + 1, 0)
        size = 1 << math.ceil(math.log2(max(8 * self.half / step, PIECE)))
        usable = (size * step - 2 * self.half - 1) // step + 1
        columns = np.ascontiguousarray(x.T)
        made: list[Floats] = [np.empty((count, x.shape[1])) for _ in range(kernels)]
        for first in range(0, count, usable):
            stop = min(first + usable, count)
            X = np.fft.rfft(columns[:, first * step:(first + size) * step], size * step)
            for y, H in zip(made, _spectra(self.rate, self.cutoff, self.half, step, size),
                            strict=False):
                y[first:stop] = np.fft.irfft(_folded(X * H, step, size), size)[:, :stop - first].T
        return made

    def decimated(self, x: Floats, step: int, mean_of: int = 1) -> Floats:
        """As `smoothed`, by products of matrices: many columns (N, k), few rows.

        What is lost where x are means, of so many finer samples each, is given back.
        """
        count = (len(x) - 2 * self.half - 1) // step + 1
        A = _shifted(self, step, mean_of)
        made = np.empty((max(count, 0), x.shape[1]))
        whole, rest = divmod(max(count, 0), GROUP)
        if whole:
            parts = np.lib.stride_tricks.as_strided(
                x, (whole, A.shape[1], x.shape[1]), (GROUP * step * x.strides[0], *x.strides))
            np.matmul(A, parts, out=made[:whole * GROUP].reshape(whole, GROUP, -1))
        if rest:
            last = x[whole * GROUP * step:]
            np.matmul(A[:rest, :(rest - 1) * step + 2 * self.half + 1],
                      last[:(rest - 1) * step + 2 * self.half + 1], out=made[whole * GROUP:])
        return made


def _folded(Y: NDArray[np.complex128], step: int, size: int) -> NDArray[np.complex128]:
    """(2), of half spectra (…, n/2 + 1) to half spectra (…, M/2 + 1)."""
    total, top = Y[..., :size // 2 + 1], size // 2
    for k in range(1, step // 2 + 1):
        total = total + Y[..., k * size - top:k * size + 1][..., ::-1].conj()
        if 2 * k < step:
            total = total + Y[..., k * size:k * size + top + 1]
    return total / step


@lru_cache(maxsize=64)
def _spectra(rate: float, cutoff: float, half: int, step: int,
             size: int) -> NDArray[np.complex128]:
    """Of h, h′ and h″, conjugated, (3, n/2 + 1)."""
    return np.fft.rfft(np.array(_kernels(rate, cutoff, half)), size * step).conj()


@lru_cache(maxsize=64)
def _shifted(low: LowPass, step: int, mean_of: int) -> Floats:
    h = low.kernels[0] if mean_of == 1 else _sharpened(low.kernels[0], mean_of)
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
    u = k / half
    return (_exact(h, u, w0, {0: 1.0, 2: 0.0, 4: 0.0}),
            _exact(h1, u, w0, {1: rate / half, 3: 0.0, 5: 0.0}),
            _exact(h2, u, w0, {0: 0.0, 2: 2 * (rate / half)**2, 4: 0.0}))


def _sharpened(h: Floats, count: int) -> Floats:
    """h of samples that are means of so many finer ones, those at both ends half if it is even."""
    half, size = len(h) // 2, 4 * len(h)
    at = np.arange(-(count // 2), count // 2 + 1) / count
    share = np.full(len(at), 1 / count)
    if count % 2 == 0:
        share[[0, -1]] /= 2
    mean = np.cos(2 * math.pi * np.outer(np.fft.rfftfreq(size), at)) @ share
    spectrum = np.fft.rfft(np.roll(np.pad(h, (0, size - len(h))), -half))
    return np.asarray(np.fft.irfft(spectrum / mean, size)[np.arange(-half, half + 1)])


def _exact(h: Floats, u: Floats, w: Floats, moments: Mapping[int, float]) -> Floats:
    """h with these Σ h uⁿ, by a polynomial under the window that is added."""
    powers = np.stack([u**n for n in moments])
    off = np.array(list(moments.values())) - powers @ h
    return np.asarray(h + w * (np.linalg.solve(powers * w @ powers.T, off) @ powers))


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
    every: int = 1                  # logged samples in a step of the grid

    def reduce(self, columns: Floats) -> Floats:
        """Columns (N, k) through the low-pass that smoothed the positions, the kept rows (n, k)."""
        return self.low_pass.decimated(columns, self.step)

    def reduce_means(self, columns: Floats) -> Floats:
        """As `reduce`, of columns that are means of the logged samples in a step of the grid."""
        return self.low_pass.decimated(columns, self.step, self.every)
