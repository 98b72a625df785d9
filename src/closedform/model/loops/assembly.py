"""The search for closed configurations: one near a guess, and others that are reached from it.

    δ = −Kᵀ (K Kᵀ + d)⁻¹ φ,      q ← q ⊕ δ        with the damping d where a step of d = 0 fails
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from closedform.errors import OpenLoop
from closedform.model.loops.elimination import REGULAR
from closedform.model.loops.gap import Gap, residual
from closedform.model.loops.lanes import both

if TYPE_CHECKING:
    from closedform.model.tree import Tree

CLOSED = 1e-6
"""Loops this far open, next to the robot's size, are closed as well as their file says."""
SAMPLES = 4
ATTEMPTS = 40
"""Random starts for a guess that does not close, side by side."""


@final
@dataclass(frozen=True, eq=False)
class Assembly:
    """The search for closed configurations."""

    tree: Tree
    gaps: tuple[Gap, ...]
    size: float

    def home(self, q: np.ndarray, held: Sequence[int]) -> np.ndarray:
        """A closed configuration near q, with the velocities `held` at rest if that is possible."""
        free = [i for i in range(self.tree.nv) if i not in held]
        every, rng = range(self.tree.nv), np.random.default_rng(0)
        near = np.stack([moved(self.tree, q, 0.05 * min(k, 30) * rng.normal(size=self.tree.nv))
                         for k in range(1, ATTEMPTS + 1)])
        for starts, moving in ((q[None], free), (q[None], every), (near[:4], every),
                               (near[4:], every)):
            for found in self.solved(starts, moving):
                if self.is_closed(found):
                    return found
        found = self.solved(q[None], every)[0]
        phi = residual(self.tree, self.gaps, found)
        names = [gap.cut.name for gap in self.gaps for _ in gap.rows]
        open_ = list(dict.fromkeys(n for n, x in zip(names, phi, strict=True)
                                   if not abs(x) <= CLOSED * self.size))
        raise OpenLoop(f"{self.tree.name}: the loop {', '.join(map(repr, open_))} cannot be closed "
                       f"from the guess: it stays open by {np.abs(phi).max():.3g}; check its "
                       "frames and lengths, or give guess={joint: coordinate, ...} nearer to a "
                       "closed configuration")

    def is_closed(self, q: np.ndarray) -> bool:
        return bool(np.abs(residual(self.tree, self.gaps, q)).max(initial=0) < CLOSED * self.size)

    def solved(self, q: np.ndarray, free: Sequence[int]) -> np.ndarray:
        """Configurations, (batch, nq), moved by damped Gauss–Newton steps of the free velocities.

        Each as closed as it gets; given up where the gap has not halved in eight steps.
        """
        q, free, count = q.copy(), list(free), len(q)
        damping, way = np.zeros(count), np.arange(count)
        phi, K = both(self.tree, self.gaps, q)
        before = np.full(count, np.inf)
        for turn in range(60):
            gap = np.abs(phi).max(axis=1, initial=0)
            going = (gap > 1e-14 * self.size) & np.isfinite(gap) & (damping < 1e8)
            if turn % 8 == 7:
                going &= (gap < 0.5 * before) | (gap < 1e-9 * self.size)
                before = gap
            way = way[going[way]]
            if not len(way) or not free:
                break
            dv = np.zeros((len(way), self.tree.nv))
            dv[:, free] = _damped(K[way][:, :, free], phi[way], damping[way])
            size = np.abs(dv).max(axis=1, initial=0)
            dv *= np.minimum(1, 0.5 / np.maximum(size, 1e-300))[:, None]
            new = moved(self.tree, q[way], dv)
            found, slope = both(self.tree, self.gaps, new)
            better = np.sum(found * found, axis=1) < np.sum(phi[way] ** 2, axis=1)
            kept, left = way[better], way[~better]
            q[kept], phi[kept], K[kept] = new[better], found[better], slope[better]
            damping[kept] = np.where(damping[kept] > 1e-12, damping[kept] / 10, 0)
            damping[left] = np.where(gap[left] < 1e-13 * self.size, np.inf,
                                     np.maximum(10 * damping[left], 1e-8))
        return q

    def around(self, home: np.ndarray) -> list[np.ndarray]:
        """Closed configurations away from home, each reached by small steps along the loops."""
        rng, n = np.random.default_rng(1), self.tree.nv
        q = np.tile(home, (SAMPLES, 1))
        ways = np.stack([rng.normal(size=n) for _ in range(SAMPLES)])
        going = np.ones(SAMPLES, dtype=bool)
        for step in range(2 + SAMPLES - 1):
            at = np.flatnonzero(going & (step < 2 + np.arange(SAMPLES)))
            if not len(at):
                break
            _, s, vt = np.linalg.svd(both(self.tree, self.gaps, q[at])[1])
            start = []
            for k, s_k, v_k in zip(at, s, vt, strict=True):
                free = v_k[int(np.sum(s_k > REGULAR * s_k[0])) if len(s_k) else 0:]
                tangent = free.T @ (free @ ways[k])
                start.append(0.1 * tangent / max(np.abs(tangent).max(initial=0), 1e-12))
            new = self.solved(moved(self.tree, q[at], np.stack(start)), range(n))
            closed = np.array([self.is_closed(x) for x in new])
            q[at[closed]], going[at[~closed]] = new[closed], False
        return list(q)


def moved(tree: Tree, q: np.ndarray, dv: np.ndarray) -> np.ndarray:
    """q ⊕ dv of the tree, batch axes first."""
    return np.concatenate([q[..., :0], *(b.joint.integrate(q[..., i], dv[..., j])
                                         for b, i, j in tree.parts)], axis=-1)


def _damped(K: np.ndarray, phi: np.ndarray, damping: np.ndarray) -> np.ndarray:
    """Gauss–Newton steps −K⁺ φ of many, damped where asked for; none where there are no numbers."""
    good = np.isfinite(K).all(axis=(1, 2))
    found = np.zeros((len(K), K.shape[2]))
    if K.size and np.any(good):
        u, s, vt = np.linalg.svd(K[good], full_matrices=False)
        d, least = damping[good][:, None], 1e-9 * s[:, :1]
        gain = np.where(d > 0, s / np.maximum(s * s + d, 1e-300),
                        np.where(s > least, 1 / np.where(s > 0, s, 1), 0))
        step = np.einsum("bmr,bm->br", u, phi[good]) * gain
        found[good] = -np.einsum("brn,br->bn", vt, step)
    return np.nan_to_num(found, posinf=0, neginf=0)      # of lengths that are no lengths
