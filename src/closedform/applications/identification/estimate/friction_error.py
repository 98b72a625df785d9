"""How far friction numbers depend on the speeds they were found at: the error of their model.

Friction as the model says gives the same numbers, but for noise, where a joint is slow and where it
is fast. Where it is another (Stribeck's bump, bristles, a bend) the residual's own fit on one of
these halves,

    δ_r = argmin Σ_{t in r} (r_t − F_t δ)²,    F the joint's friction columns,

is clear of zero by what blocks of time leave open, and more data of the same motion would not tell.
The interval then reaches as far as these halves do.

Cites: [EfronTibshirani1993, ch. 11] for blocks that are left out.
"""

from __future__ import annotations

from itertools import islice

import numpy as np
from scipy import stats

from closedform.applications.identification.estimate.uncertainty import LEVEL
from closedform.applications.identification.information import with_positions
from closedform.applications.identification.model import Model
from closedform.applications.identification.rows import (
    JUMPS,
    effort_kind,
    filtered_rows,
    slip_of,
    torques,
    turning,
)
from closedform.applications.identification.signals.filter import Window
from closedform.applications.identification.signals.signals import Signals
from closedform.applications.identification.triangles import Information
from closedform.arrays import Floats
from closedform.maths.identification.friction import friction_columns

BLOCKS = 10
"""Of each log's windows, that are left out in turn."""
FEW = 3
SLOW, FAST = 1.0, 1.5
"""Times a joint's usual speed: below and above."""
CLEAR = 3.0
"""Standard deviations by which a half must differ before it counts."""
WINDOWS = 64
"""Of each log at most."""


def friction_error(info: Information, x: Floats) -> Floats:
    """(unknowns,): the reach of intervals by speeds, 0 where friction is as the model says.

    The logs are read again; without them all is 0.
    """
    model, found = info.model, np.zeros(len(info.columns))
    if not info.sources or not model.friction.terms or info.gains:
        return found
    sums = _Speeds(model, info.speed)
    columns = [np.append(x[list(s)], -1.0) for s in info.support]
    for log, loaded in info.sources:
        log = with_positions(model, log)
        prepared = (info.signals or Signals()).prepare(log, model)
        kind, slip = effort_kind(model, log), slip_of(model, prepared.plan)
        for window in islice(prepared.windows(), WINDOWS):
            rows = filtered_rows(model, window, slip, torques(model, window, kind, False), False,
                                 loaded)
            sums.take(window, slip, np.stack([-(r @ y) for r, y in
                                              zip(rows, columns, strict=True)], axis=1))
    at = {name: i for i, name in enumerate(model.names)}
    for name, reach in sums.reaches().items():
        if name in at:
            found[at[name]] = reach
    return found


class _Speeds:
    """Products of friction columns and of what is left of torques: slow and fast, by blocks."""

    def __init__(self, model: Model, speed: Floats) -> None:
        self.model, self.speed = model, np.maximum(speed[list(model.actuated)], 1e-9)
        self.grams: list[Floats] = []

    def take(self, window: Window, slip: Floats, left: Floats) -> None:
        at, friction = list(self.model.actuated), self.model.friction
        own = friction_columns(friction.terms, window.v[:, at],
                               turning(self.model, window, slip), friction.speed)
        parts = [window.reduce_means(x) if name.startswith(JUMPS) else window.reduce(x)
                 for name, x in zip(friction.names, own, strict=True)]
        columns = np.stack([*parts, left[:, at]], axis=2) * window.moving[:, at, None]
        speed = np.abs(window.v[window.kept][:, at]) / self.speed
        for rows in np.array_split(np.arange(len(left)), BLOCKS):
            halves = [columns[rows] * half[rows][:, :, None]
                      for half in (speed < SLOW, speed > FAST)]
            self.grams.append(np.array([np.einsum("njk,njl->jkl", x, x) for x in halves]))

    def reaches(self) -> dict[str, float]:
        """Of every friction number of joints that rub otherwise: how far its halves reach."""
        found: dict[str, float] = {}
        for j, i in enumerate(self.model.actuated):
            each = [self._half(np.array([g[half, j] for g in self.grams])) for half in (0, 1)]
            if any(np.any(np.abs(off) > CLEAR * sd) for off, sd, _ in filter(None, each)):
                reach = np.max([np.abs(off) + t * sd for off, sd, t in filter(None, each)], axis=0)
                found |= {f"{self.model.velocity_names[i]}.{kind}": float(r)
                          for kind, r in zip(self.model.friction.names, reach, strict=True)}
        return found

    def _half(self, grams: Floats) -> tuple[Floats, Floats, float] | None:
        """δ, its sd by leaving blocks out, and the factor of an interval; None of few blocks."""
        G = grams[grams[:, -1, -1] > 0]
        B, whole = len(G), G.sum(axis=0)
        if B < FEW:
            return None
        without = np.array([_solved(whole - g) for g in G])
        sd = np.sqrt((B - 1) / B * np.sum((without - without.mean(axis=0))**2, axis=0))
        return _solved(whole), sd, float(stats.t.ppf((1 + LEVEL) / 2, B - 1))


def _solved(gram: Floats) -> Floats:
    """The last column by the others."""
    scale = 1 / np.sqrt(np.maximum(np.diag(gram)[:-1], 1e-300))
    K = gram[:-1, :-1] * scale[:, None] * scale
    return np.asarray(np.linalg.pinv(K, rcond=1e-9, hermitian=True)
                      @ (gram[:-1, -1] * scale) * scale)
