"""How much a prior may weigh: as long as it costs no more than the data themselves leave open.

Without a block b of the data the estimate x moves, and with it the torques it explains. All blocks
together leave open, in units of the torques' noise,

    T = (B − 1)/B Σ_b |R (x_−b − mean)|²                                                    (1)

which is what the truth is expected to differ by from x, |R (x* − x)|². The weight is the largest at
which the prior moves the estimate of all blocks by no more than T, and raises the error on blocks
that are held out by no more than T: the discrepancy principle, with no number to choose.

Cites: [Morozov1966] for the principle; [EfronTibshirani1993, ch. 11] for (1).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from closedform.applications.identification.estimate import consistent
from closedform.applications.identification.estimate.consistent import NearPrior
from closedform.applications.identification.estimate.least_squares import (
    Equations,
    held_out_equations,
)
from closedform.applications.identification.triangles import Information
from closedform.arrays import Floats

LARGEST, LEAST = -2, -11
"""Powers of ten that weights are tried of."""
DECADES = 4
"""Of them so many are compared on held-out blocks, which smaller ones hardly change."""
NEAR, HARDLY = 0.01, 0.01
"""Of what the data leave open, and of a weight: barriers are below both while it is compared."""
STILL = 1e-4
"""Of what the data leave open: x that a tenth of the weight moves less stands."""


class PriorWeight:
    """The search for a weight; `left_out` (blocks, unknowns) are the data's own estimates."""

    def __init__(self, info: Information, weights: Floats, problem: NearPrior,
                 left_out: Floats) -> None:
        self.info, self.weights, self.problem = info, weights, problem
        self.R = problem.equations.R
        B = len(left_out)
        moved = (left_out - left_out.mean(axis=0)) @ self.R.T
        self.open = float((B - 1) / B * np.sum(moved**2))
        near = NEAR * self.open / (max(problem.equations.size, 1e-300) * max(
            len(problem.positive), 1))
        self.near = max(near, 1e-11)

    def found(self) -> tuple[float, Floats, tuple[tuple[float, float], ...]]:
        """The weight, s there about, and the held-out errors (%) of those that were compared."""
        tried = self._path()
        least = tried[-1][2]
        near = [(w, y) for w, y, x in tried
                if self._apart(x, least) <= self.open][:DECADES]
        pairs = [(replace(self.problem, equations=train), test)
                 for train, test in held_out_equations(self.info, self.weights)]
        squares = np.array([self._held_out(pairs, w, y) for w, y in near])
        within = squares <= squares.min() + self.open
        size = max(sum(test.size for _, test in pairs), 1e-300)
        table = tuple((w, float(100 * np.sqrt(square / size)))
                      for (w, _), square in zip(near, squares, strict=True))
        return *near[int(np.argmax(within))], table[::-1]

    def _path(self) -> list[tuple[float, Floats, Floats]]:
        """(weight, s, x) from the largest weight down, as far as there are solutions.

        In units of the noise a unit of distance to the prior costs at the last about one. Where a
        tenth of the weight does not move x any more, no smaller one does.
        """
        size = self.problem.equations.size
        last = int(np.clip(-np.floor(np.log10(max(size, 1.0))), LEAST, -8))
        made: list[tuple[float, Floats, Floats]] = []
        for power in range(LARGEST, last - 1, -1):
            w = float(f"1e{power}")
            try:
                y, _ = consistent.solved(self.problem, w, made[-1][1] if made else None,
                                         self._barrier(w))
            except consistent.NoSolution:       # no body makes such torques: lighter is no better
                if made:
                    break
                raise
            made.append((w, y, self.problem.to_x @ y))
            if len(made) > DECADES and self._apart(made[-1][2], made[-2][2]) < STILL * self.open:
                break
        return made

    def _barrier(self, w: float) -> float:
        return min(self.near, HARDLY * w)

    def _apart(self, x: Floats, y: Floats) -> float:
        return float(np.sum((self.R @ (x - y))**2))

    def _held_out(self, pairs: list[tuple[NearPrior, Equations]], w: float, y: Floats) -> float:
        """Σ w² (W x − z)² of the blocks that x has not seen."""
        total = 0.0
        for train, test in pairs:
            try:
                total += test.residual(train.to_x @ consistent.solved(
                    train, w, y, self._barrier(w))[0])
            except consistent.NoSolution:
                return float("inf")
        return total
