"""The unknowns that matter: without any of the others motion that is held out is as well predicted.

Unknowns are set to zero one after the other, the least certain first, and the smallest set is kept
whose error on held-out blocks is within a standard error of the least.
"""

from __future__ import annotations

import numpy as np

from closedform.applications.identification.estimate.least_squares import (
    Equations,
    equations,
    held_out_equations,
    with_gains,
)
from closedform.applications.identification.triangles import Information
from closedform.arrays import Floats

ENOUGH = 2.0
"""Times the least held-out square, beyond which nothing more is left out."""


def essential(info: Information, weights: Floats, x: Floats) -> tuple[str, ...]:
    """Names of the unknowns that held-out motion needs, in the order of the columns."""
    if info.gains:
        info = with_gains(info, x)
    pairs = held_out_equations(info, weights)
    whole = equations(info, weights)
    kept, tried = list(range(len(info.columns))), []
    while kept:
        errors = np.array([_error(train, test, kept) for train, test in pairs])
        tried.append((tuple(kept), errors))
        if errors.mean() > ENOUGH * min(e.mean() for _, e in tried):
            break
        kept = _without_the_least(whole, kept)
    best = min(range(len(tried)), key=lambda i: tried[i][1].mean())
    least = tried[best][1]
    small = best
    for i, (_, errors) in enumerate(tried):
        worse = errors - least
        allowed = np.std(worse, ddof=1) / np.sqrt(len(worse)) if len(worse) > 1 else 0.0
        if i > small and worse.mean() <= max(allowed, 0.01 * least.mean()):
            small = i
    return tuple(info.columns[c] for c in tried[small][0])


def _error(train: Equations, test: Equations, kept: list[int]) -> float:
    """The held-out square, relative, with the unknowns that are kept."""
    R = train.R[:, kept] / train.scale[kept]
    y, *_ = np.linalg.lstsq(R, train.z, rcond=1e-9)
    x = np.zeros(len(train.scale))
    x[kept] = y / train.scale[kept]
    return test.residual(x) / max(test.size, 1e-300)


def _without_the_least(whole: Equations, kept: list[int]) -> list[int]:
    """The unknowns without the one whose number is smallest compared with its uncertainty."""
    R = whole.R[:, kept] / whole.scale[kept]
    inverse = np.linalg.pinv(R, rcond=1e-9)
    ratio = np.abs(inverse @ whole.z) / np.maximum(np.linalg.norm(inverse, axis=1), 1e-300)
    out = int(np.argmin(ratio))
    return kept[:out] + kept[out + 1:]
