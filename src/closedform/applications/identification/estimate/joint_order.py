"""Whether the columns of two joints change places, by the logs: what limits and names do not tell.

For two joints that both turn or both slide, three other readings of the logs are tried: their
positions and torques are each other's, their positions alone, their torques alone. Each has least
squares and noise of its own, and by

    L = Σ_j log σ_j²                                                          (1)

they are compared (of independent noise the likeliest). A reading that lowers L by log 4, as if
two torques had half of their noise, is taken for the true one.

Cites: [Ljung1999, ch. 7] for (1).
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from closedform.applications.identification.estimate.least_squares import noise, weighted
from closedform.applications.identification.information import with_positions
from closedform.applications.identification.logs.units import slides
from closedform.applications.identification.rows import (
    effort_kind,
    filtered_rows,
    slip_of,
    torques,
)
from closedform.applications.identification.signals.signals import Signals
from closedform.applications.identification.triangles import Information, TimeBlock, updated
from closedform.arrays import Floats

WINDOWS = 12
"""Of each log at most."""
LIKELIER = float(np.log(4.0))
ENOUGH = 3
"""Rows for each unknown, at least."""
ROUGHLY = 3
"""Turns of weights: readings are a factor apart, not a per mille."""
POSITIONS, TORQUES, BOTH = "positions", "torques", "positions and torques"


class OtherOrder(NamedTuple):
    """Two joints whose columns change places in a likelier reading, and by how much L is less."""

    first: str
    second: str
    what: str
    gain: float

    def __str__(self) -> str:
        return (f"columns are in another order: with the {self.what} of {self.first} and "
                f"{self.second} exchanged the logs are explained far better")


class _Reading(NamedTuple):
    """Two velocities, and what of them is exchanged."""

    pair: tuple[int, int] = (0, 0)
    what: str = ""


def other_order(info: Information) -> OtherOrder | None:
    """The likeliest exchange of two joints, if it is likelier than the order as it was read.

    The logs are read again; without them, or where gains of drives are unknown, nothing is said.
    """
    robot = info.model.robot
    if not info.sources or info.gains or robot.nq != robot.nv:
        return None
    as_read = _Reading()
    L = {reading: unlikeliness(made) for reading, made in _readings(info).items()
         if sum(map(made.rows, info.model.actuated)) > ENOUGH * len(info.columns)}
    if as_read not in L:
        return None
    best = min(L, key=lambda reading: L[reading])
    gain = L[as_read] - L[best]
    first, second = (info.model.velocity_names[i] for i in best.pair)
    return OtherOrder(first, second, best.what, gain) if gain > LIKELIER else None


def unlikeliness(info: Information) -> float:
    """(1), of least squares weighted by their own noise."""
    sigma = noise(info, weighted(info, ROUGHLY)[0])
    return float(2 * np.sum(np.log(np.maximum(sigma, 1e-12 * max(sigma.max(), 1e-300)))))


class _Sums:
    """Factors of the rows of one reading, and how many rows count."""

    def __init__(self, nv: int) -> None:
        self.factors: list[Floats] = [np.zeros((0, 0))] * nv
        self.counts = [0] * nv

    def add(self, rows: list[Floats], moving: np.ndarray) -> None:
        for j, own in enumerate(rows):
            self.factors[j] = updated(self.factors[j], own, moving[:, j])
            self.counts[j] += int(np.count_nonzero(moving[:, j]))


def _readings(info: Information) -> dict[_Reading, Information]:
    """What a part of the logs says, as it was read and with joints exchanged."""
    model, nv = info.model, info.model.robot.nv
    slide = slides(model.robot, "v")
    pairs = [(i, j) for i, j in itertools.combinations(model.actuated, 2) if slide[i] == slide[j]]
    sums = defaultdict[_Reading, _Sums](lambda: _Sums(nv))
    for log, loaded in info.sources:
        log = with_positions(model, log)
        prepared = (info.signals or Signals()).prepare(log, model)
        plan, kind = prepared.plan, effort_kind(model, log)
        prepared = replace(prepared, plan=replace(plan, rows=max(plan.rows // 8, 64 * plan.keep)))
        slip = dict(zip(model.actuated, slip_of(model, plan).tolist(), strict=True))
        for window in itertools.islice(prepared.windows(), WINDOWS):
            effort = torques(model, window, kind, False)
            for pair in [(0, 0), *pairs]:
                order = np.arange(nv)
                order[list(pair)] = pair[::-1]
                seen = replace(window, q=window.q[:, order], v=window.v[:, order],
                               a=window.a[:, order])
                own = np.array([slip[i] for i in order.tolist() if i in slip])
                rows = filtered_rows(model, seen, own, effort, False, loaded)
                moving = window.moving[:, order]
                if pair == (0, 0):
                    sums[_Reading()].add(rows, moving)
                    for other in pairs:
                        sums[_Reading(other, TORQUES)].add(_exchanged(rows, other), moving)
                else:
                    sums[_Reading(pair, POSITIONS)].add(rows, moving)
                    sums[_Reading(pair, BOTH)].add(_exchanged(rows, pair), moving)
    return {reading: replace(info, blocks=(TimeBlock("", 0, tuple(made.counts),
                                                     tuple(map(np.triu, made.factors))),))
            for reading, made in sums.items()}


def _exchanged(rows: list[Floats], pair: tuple[int, int]) -> list[Floats]:
    """The rows [W_j, z_j] with the torques of two joints in each other's place."""
    made, (i, j) = list(rows), pair
    made[i] = np.concatenate([rows[i][:, :-1], rows[j][:, -1:]], axis=1)
    made[j] = np.concatenate([rows[j][:, :-1], rows[i][:, -1:]], axis=1)
    return made
