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

import numpy as np

from closedform.applications.identification.estimate import consistent
from closedform.applications.identification.estimate.least_squares import Equations, equations
from closedform.applications.identification.triangles import Information
from closedform.arrays import Floats

LARGEST, LEAST = -2, -11
"""Powers of ten that weights are tried of."""
DECADES = 4
"""Of them so many are compared on held-out blocks, which smaller ones hardly change."""


class PriorWeight:
    """The search for a weight; `left_out` (blocks, unknowns) are the data's own estimates."""

    def __init__(self, info: Information, weights: Floats, prior: Floats,
                 left_out: Floats) -> None:
        self.info, self.weights, self.prior = info, weights, prior
        self.whole = equations(info, weights)
        B = len(left_out)
        moved = (left_out - left_out.mean(axis=0)) @ self.whole.R.T
        self.open = float((B - 1) / B * np.sum(moved**2))

    def found(self) -> tuple[float, tuple[tuple[float, float], ...]]:
        """The weight, and the held-out errors (%) of those that were compared."""
        tried = self._path()
        least = tried[-1][2]
        near = [(w, y) for w, y, x in tried
                if np.sum((self.whole.R @ (x - least))**2) <= self.open][:DECADES]
        pairs = [(equations(train, self.weights), equations(test, self.weights))
                 for train, test in self.info.held_out()]
        squares = np.array([self._held_out(pairs, w, y) for w, y in near])
        within = squares <= squares.min() + self.open
        size = max(sum(test.size for _, test in pairs), 1e-300)
        table = tuple((w, float(100 * np.sqrt(square / size)))
                      for (w, _), square in zip(near, squares, strict=True))
        return near[int(np.argmax(within))][0], table[::-1]

    def _path(self) -> list[tuple[float, Floats, Floats]]:
        """(weight, s, x) from the largest weight down, as far as there are solutions.

        In units of the noise a unit of distance to the prior costs at the last about one.
        """
        last = int(np.clip(-np.floor(np.log10(max(self.whole.size, 1.0))), LEAST, -8))
        made: list[tuple[float, Floats, Floats]] = []
        for power in range(LARGEST, last - 1, -1):
            w = float(f"1e{power}")
            try:
                y, x = self._solved(self.whole, w, made[-1][1] if made else None)
            except consistent.NoSolution:       # no body makes such torques: lighter is no better
                if made:
                    break
                raise
            made.append((w, y, x))
        return made

    def _held_out(self, pairs: list[tuple[Equations, Equations]], w: float, y: Floats) -> float:
        """Σ w² (W x − z)² of the blocks that x has not seen."""
        total = 0.0
        for train, test in pairs:
            try:
                total += test.residual(self._solved(train, w, y)[1])
            except consistent.NoSolution:
                return float("inf")
        return total

    def _solved(self, eq: Equations, w: float, start: Floats | None) -> tuple[Floats, Floats]:
        problem = consistent.NearPrior(self.info.model, eq, self.prior, w)
        y, _ = consistent.solved(problem, start)
        return y, consistent.to_unknowns(problem) @ y
