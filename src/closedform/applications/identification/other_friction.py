"""Whether joints rub otherwise than their model: near standstill, and not alike before and behind.

What is left of a joint's torque is compared with columns that no model of viscous and Coulomb
friction has,

    s / (1 + (v/u)²)    where |v| grows, and where it falls,

s the sign of v, for two speeds u: the bump of Stribeck, and bristles that must bend again after a
joint has turned. They are fitted beside v, s and 1 on all blocks of time but one, and judged by
that one: noise does not explain noise that was not seen.

Cites: [HessSoom1990] for the bump; [CanudasDeWit1995] for bristles.
"""

from __future__ import annotations

import numpy as np

from closedform.applications.identification.model import Model
from closedform.applications.identification.rows import turning
from closedform.applications.identification.signals.filter import Window
from closedform.arrays import Floats
from closedform.maths.coulomb import smoothed_sign

SPEEDS = (0.05, 0.2)
"""u, of a joint's usual speed."""
PLAIN = 3
"""Columns that the model may have: v, s, 1."""
BLOCKS = 20


class OtherFriction:
    """Sums over the windows of a log."""

    def __init__(self, model: Model, speed: Floats, rows: int) -> None:
        self.model, self.speed, self.rows, self.seen = model, speed, max(rows, 1), 0
        n = PLAIN + 2 * len(SPEEDS) + 1
        self.grams = np.zeros((BLOCKS, len(model.actuated), n, n))

    def take(self, window: Window, slip: Floats, left: Floats) -> None:
        """Add what is left (rows, nv) of a window's torques."""
        at = list(self.model.actuated)
        v, a, u = window.v[:, at], window.a[:, at], self.speed[at]
        s = smoothed_sign(v, turning(self.model, window, slip))
        bumps = [s / (1 + (v / (share * u))**2) * one for share in SPEEDS
                 for one in (v * a > 0, v * a <= 0)]
        smooth = window.reduce(np.concatenate([v, np.ones_like(v)], axis=1))
        steps = window.reduce_means(np.concatenate([s, *bumps], axis=1))
        m, count = len(at), len(left)
        parts = [smooth[:, :m], steps[:, :m], smooth[:, m:],
                 *np.split(steps[:, m:], 2 * len(SPEEDS), axis=1), left[:, at]]
        columns = np.stack(parts, axis=2) * window.moving[:, at, None]
        block = np.minimum((self.seen + np.arange(count)) * BLOCKS // self.rows, BLOCKS - 1)
        self.seen += count
        for b in np.unique(block):
            x = columns[block == b]
            self.grams[b] += np.einsum("njk,njl->jkl", x, x)

    def share(self) -> Floats:
        """(nv,): of what is left of a torque, so much other friction explains; 0 without motors."""
        found = np.zeros(self.model.robot.nv)
        for j, i in enumerate(self.model.actuated):
            G = self.grams[:, j]
            used = np.flatnonzero(G[:, -1, -1] > 0)
            if len(used) > 2:
                plain, whole = (sum(_unseen_square(G[used], b, n) for b in range(len(used)))
                                for n in (PLAIN, G.shape[1] - 1))
                found[i] = max(1 - whole / plain, 0.0) if plain > 0 else 0.0
        return found


def _unseen_square(grams: Floats, block: int, count: int) -> float:
    """What the first columns leave of a block's last one, fitted on the others."""
    rest = grams.sum(axis=0) - grams[block]
    scale = np.sqrt(np.maximum(np.diag(rest)[:count], 1e-300))
    K = rest[:count, :count] / np.outer(scale, scale)
    x = np.linalg.pinv(K, rcond=1e-9, hermitian=True) @ (rest[:count, -1] / scale) / scale
    y = np.append(x, -1.0)
    at = [*range(count), len(rest) - 1]
    return float(y @ grams[block][np.ix_(at, at)] @ y)
