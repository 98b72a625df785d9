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
    """x (n, k) at other times, by cubics with the slopes of parabolas through three rows.

    With the steps a, b, c of t about t_i ≤ t < t_{i+1} = t_i + b, u = (t − t_i) / b, and the
    differences d_i = x_{i+1} − x_i,

        x_i + u (1 − u)² b² d_{i−1} / (a (a + b)) − u² (1 − u) b² d_{i+1} / (c (b + c))
            + (u² (3 − 2u) + u (1 − u)² a / (a + b) − u² (1 − u) c / (b + c)) d_i
    """
    if len(t) < 3 or not len(at):
        return straight(t, x, at)
    same = _same(t, at)
    if same is not None:
        return x[same]
    t, x = _continued(t, x)
    i = np.clip(np.searchsorted(t, at, side="right") - 1, 1, len(t) - 3)
    steps, d = np.diff(t), np.diff(x, axis=0)
    a, b, c = steps[i - 1], steps[i], steps[i + 1]
    u = (at - t[i]) / b
    rise, fall = u * (1 - u)**2, u**2 * (1 - u)
    middle = u**2 * (3 - 2 * u) + rise * a / (a + b) - fall * c / (b + c)
    made = d[i - 1] * (rise * b**2 / (a * (a + b)))[:, None]
    made += d[i] * middle[:, None]
    made -= d[i + 1] * (fall * b**2 / (c * (b + c)))[:, None]
    made += x[i]
    return made


def straight(t: Floats, x: Floats, at: Floats) -> Floats:
    """x (n, k) at other times, by straight lines; beyond the ends as there."""
    same = _same(t, at)
    if same is not None or not x.shape[1]:
        return x[same] if same is not None else np.zeros((len(at), 0))
    i = np.clip(np.searchsorted(t, at, side="right") - 1, 0, len(t) - 2)
    u = np.clip((at - t[i]) / (t[i + 1] - t[i]), 0.0, 1.0)[:, None]
    return x[i] * (1 - u) + x[i + 1] * u


def _same(t: Floats, at: Floats) -> slice | None:
    """The rows whose times these are, to a millionth of a step."""
    if len(at) < 2:
        return None
    near = 1e-6 * (at[1] - at[0])
    first = int(np.searchsorted(t, at[0] - near))
    rows = slice(first, first + len(at))
    return rows if rows.stop <= len(t) and np.max(np.abs(t[rows] - at)) < near else None


def _continued(t: Floats, x: Floats) -> tuple[Floats, Floats]:
    """Times and rows with one more at each end, a step away, on the parabola through three."""
    ends = []
    for k, n, m in ((0, 1, 2), (-1, -2, -3)):
        h, g = t[n] - t[k], t[m] - t[n]
        slope, next_slope = (x[n] - x[k]) / h, (x[m] - x[n]) / g
        ends.append((t[k] - h, x[k] - h * slope + 2 * h**2 * (next_slope - slope) / (h + g)))
    (first, before), (last, behind) = ends
    return np.concatenate([[first], t, [last]]), np.concatenate([[before], x, [behind]])
