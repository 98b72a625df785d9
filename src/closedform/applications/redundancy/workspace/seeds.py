"""Where a map starts from: certified optima all over the workspace, the nearest to each target."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.spatial import cKDTree

from closedform.applications.redundancy.problem import Problem
from closedform.applications.redundancy.workspace.ascents import GOOD, ascended
from closedform.arrays import Floats

COUNT = 4096
"""Random configurations that optima are climbed to from."""
NEARLY = 1.0
"""A seed may be so much farther away than the nearest: looking is then four times as fast."""


class Seeds:
    """Optima and their places; the same in every process."""

    def __init__(self, problem: Problem) -> None:
        rng = np.random.default_rng(0)
        q = problem.drawn(rng, COUNT)
        anywhere = np.zeros((COUNT, *problem.shape))
        if len(problem.shape) == 2:
            anywhere = np.broadcast_to(np.eye(*problem.shape), anywhere.shape)
        places = problem.at(q, anywhere).place
        found = ascended(problem, q, places)
        good = np.isin(found.verdict, GOOD)
        few = np.count_nonzero(good) < COUNT // 100        # then as they were drawn
        self.q: Floats = q if few else found.q[good]
        chosen = places if few else places[good]
        flat = chosen.reshape(len(chosen), -1)
        spread = flat.std(axis=0)
        self.used = np.flatnonzero(spread > 1e-9)
        self.spread = spread[self.used]
        self.tree = cKDTree(flat[:, self.used] / self.spread)

    def nearest(self, x: Floats, count: int) -> Floats:
        """The seeds nearest to each target, (B, count, nq), by place and orientation."""
        flat = x.reshape(len(x), -1)[:, self.used] / self.spread
        _, k = self.tree.query(flat, k=min(count, len(self.q)), eps=NEARLY)
        return self.q[k.reshape(len(x), -1)]


@lru_cache(maxsize=8)
def seeds_of(problem: Problem) -> Seeds:
    return Seeds(problem)
