"""After which time a motion repeats: motion that is seen again is no motion that was held out.

    e(L) = ⟨|s(t + L) − s(t)|²⟩ / 2⟨|s|²⟩                                              (1)

of the states s, centred and each of size one: near one for motions that have nothing to do with
each other, zero where the motion is the same again.
"""

from __future__ import annotations

import numpy as np

from closedform.arrays import Floats

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
