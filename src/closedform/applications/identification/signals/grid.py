"""Rows at uneven times on a uniform grid: cubics for positions, straight lines for torques."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from closedform.applications.identification.signals.clock import Stamped
from closedform.arrays import Floats


class Stretch(NamedTuple):
    """Rows of a log between two gaps; `last` is false while more of them follow."""

    rows: Stamped
    first: bool


def stretches(pieces: Iterator[Stamped], gap: float) -> Iterator[Stretch]:
    """The rows cut where more than `gap` seconds lie between two of them."""
    time = -np.inf
    for t, rows in pieces:
        if not len(t):
            continue
        cuts = np.flatnonzero(np.diff(t, prepend=time) > gap)
        for begin, end in zip([0, *cuts], [*cuts, len(t)], strict=True):
            if end > begin:
                yield Stretch(Stamped(t[begin:end], rows.rows(slice(begin, end))),
                              bool(np.isin(begin, cuts)))
        time = t[-1]


def cubic(t: Floats, x: Floats, at: Floats) -> Floats:
    """x (n, k) at other times, by cubics with the slopes of parabolas through three rows."""
    if len(t) < 3 or not len(at):
        return straight(t, x, at)
    h, s = np.diff(t)[:, None], np.diff(x, axis=0) / np.diff(t)[:, None]
    inner = (h[1:] * s[:-1] + h[:-1] * s[1:]) / (h[1:] + h[:-1])
    slope = np.concatenate([(2 * s[:1] - inner[:1]), inner, (2 * s[-1:] - inner[-1:])])
    i = np.clip(np.searchsorted(t, at, side="right") - 1, 0, len(t) - 2)
    u = ((at - t[i]) / (t[i + 1] - t[i]))[:, None]
    return (x[i] * (1 + 2 * u) * (1 - u)**2 + x[i + 1] * u**2 * (3 - 2 * u)
            + h[i] * u * (1 - u) * (slope[i] * (1 - u) - slope[i + 1] * u))


def straight(t: Floats, x: Floats, at: Floats) -> Floats:
    """x (n, k) at other times, by straight lines."""
    return np.stack([np.interp(at, t, column) for column in x.T], axis=1) \
        if x.shape[1] else np.zeros((len(at), 0))
