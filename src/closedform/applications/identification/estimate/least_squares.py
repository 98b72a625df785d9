"""Least squares on the factors of all torques: plain, weighted by joint, robust, total.

    min Σ_j w_j² |W_j x − z_j|²

Every sum over samples is in the factors; an iteration costs microseconds, whatever the log's size.

Cites: [Huber1981] for the robust weights; [GolubVanLoan2013, ch. 6] for total least squares.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import final

import numpy as np
from scipy.linalg import lapack, solve_triangular

from closedform.applications.identification.triangles import Information, TimeBlock, stacked
from closedform.arrays import Floats
from closedform.errors import ArgumentError

RANK = 1e-9
"""Singular values of scaled columns below so much of the largest count as zero."""
TURNS = 20
TUNING = 1.345
"""Huber's: 95 % efficient where the noise is normal."""


@final
@dataclass(frozen=True, eq=False)
class Equations:
    """R x ≈ z with one row for each unknown, and what no x can explain.

    `A` x = `b` are the equations that hold exactly.
    """

    R: Floats
    z: Floats
    left: float
    A: Floats
    b: Floats
    gains: int = 0          # the last unknowns: where they are found, the torques are their columns

    @cached_property
    def size(self) -> float:
        """Σ w² z², the square of the weighted torques."""
        if self.gains:
            torques = self.R[:, -self.gains:] @ self.solve()[-self.gains:]
            return float(torques @ torques)
        return float(self.z @ self.z + self.left)

    def residual(self, x: Floats) -> float:
        """Σ w² (W x − z)²."""
        r = self.R @ x - self.z
        return float(r @ r + self.left)

    @cached_property
    def scale(self) -> Floats:
        size = np.linalg.norm(self.R, axis=0)
        return np.where(size > 0, size, 1.0)

    @cached_property
    def sound(self) -> bool:
        """Whether no singular value of the columns scaled to one is anywhere near zero."""
        return independent(self.R / self.scale, RANK)

    @cached_property
    def rank(self) -> int:
        if self.sound:
            return len(self.R)
        values = np.linalg.svd(self.R / self.scale, compute_uv=False)
        return int(np.sum(values > RANK * values[0])) if len(values) else 0

    @property
    def condition(self) -> float:
        """Largest by smallest singular value of R as it is."""
        values = np.linalg.svd(self.R, compute_uv=False)
        return float(values[0] / values[-1]) if values[-1] > 0 else float("inf")

    @cached_property
    def free(self) -> Floats:
        """(unknowns, directions): along which x may move and keep to what is known."""
        if not len(self.b):
            return np.diag(1 / self.scale)
        return _null_space(self.A * (1 / self.scale)) / self.scale[:, None]

    @cached_property
    def start(self) -> Floats:
        """An x that keeps to what is known."""
        if not len(self.b):
            return np.zeros(len(self.scale))
        particular, *_ = np.linalg.lstsq(self.A * (1 / self.scale), self.b, rcond=None)
        return np.asarray(particular / self.scale)

    def solve(self) -> Floats:
        """x of least squares; of several the shortest, columns scaled."""
        if self.sound and not len(self.b):
            return np.asarray(solve_triangular(self.R, self.z))
        start, free = self.start, self.free
        y, *_ = np.linalg.lstsq(self.R @ free, self.z - self.R @ start, rcond=RANK)
        return start + free @ y

    def total(self) -> Floats:
        """x of total least squares: errors in the columns as in the torques, both scaled alike."""
        if len(self.b):
            raise ArgumentError("method 'total' takes no known values")
        size = np.sqrt(self.size)
        whole = np.zeros((len(self.R) + 1, len(self.R) + 1))
        whole[:-1, :-1], whole[:-1, -1] = self.R / self.scale, self.z / size
        whole[-1, -1] = np.sqrt(max(self.left, 0.0)) / size
        last = np.linalg.svd(whole)[2][-1]
        if abs(last[-1]) < RANK:
            raise ArgumentError("method 'total' has no solution: torques are no part of the "
                                "direction with the least error")
        return -last[:-1] / last[-1] * size / self.scale


def independent(R: Floats, least: float) -> bool:
    """Whether an upper triangle's smallest singular value is, by far, above so much of the largest.

    κ₂ ≤ n κ₁, and κ₁ is estimated to a small factor: a digit is for that.
    """
    return bool(R.size and lapack.dtrcon(R)[0] > 10 * len(R) * least)


def _null_space(A: Floats) -> Floats:
    _, values, turned = np.linalg.svd(A)
    rank = int(np.sum(values > RANK * max(values[0], 1e-300))) if len(values) else 0
    return turned[rank:].T


def equations(info: Information, weights: Floats, blocks: Floats | None = None,
              without: int | None = None) -> Equations:
    """The equations of all torques; `weights` (nv,), `blocks` (blocks, nv) of every block."""
    p, parts = len(info.columns), []
    for j, support in enumerate(info.support):
        if not support:
            continue
        R = info.factor(j, without) if blocks is None else stacked(
            [b.factors[j] * blocks[i, j] for i, b in enumerate(info.blocks) if i != without])
        part = np.zeros((len(support) + 1, p + 1))
        part[:, [*support, p]] = R * weights[j]
        parts.append(part)
    whole = np.linalg.qr(np.concatenate(parts), mode="r") if parts else np.zeros((p + 1, p + 1))
    full = np.zeros((p + 1, p + 1))
    full[:len(whole)] = whole[:p + 1]
    A, b = known_rows(info)
    return Equations(full[:p, :p], full[:p, p], float(full[p, p]**2), A, b,
                     len(info.columns) - len(info.model.names))


def held_out_equations(info: Information,
                       weights: Floats) -> list[tuple[Equations, Equations]]:
    """(what trains, what tests) of folds; blocks that always train together are made one first."""
    pairs = info.held_out()
    alike: dict[tuple[int, ...], list[TimeBlock]] = {}
    for b in {id(b): b for pair in pairs for one in pair for b in one.blocks}.values():
        where = tuple(k for k, (train, _) in enumerate(pairs) if any(b is x for x in train.blocks))
        alike.setdefault(where, []).append(b)
    made = {where: replace(same[0], factors=tuple(
        stacked([b.factors[j] for b in same]) for j in range(len(info.support))))
        for where, same in alike.items()}
    return [(equations(replace(info, blocks=tuple(
        one for where, one in made.items() if k in where)), weights), equations(test, weights))
        for k, (_, test) in enumerate(pairs)]


def known_rows(info: Information) -> tuple[Floats, Floats]:
    """What is known, in the unknowns: A x = b."""
    A, b = info.model.decided
    return np.pad(A, ((0, 0), (0, len(info.columns) - A.shape[1]))), b


def joint_residuals(info: Information, x: Floats, block: int | None = None) -> Floats:
    """Σ (W_j x − z_j)² of every torque, of all blocks or of one."""
    found = np.zeros(len(info.support))
    for j, support in enumerate(info.support):
        one = info.factor(j) if block is None else info.blocks[block].factors[j]
        if one.size:
            r = one @ np.append(x[list(support)], -1.0)
            found[j] = r @ r
    return found


def with_gains(info: Information, x: Floats) -> Information:
    """The information with the gains of x as known: currents are torques."""
    p, drives = len(info.model.names), info.model.drives
    assert drives is not None
    blocks = []
    for b in info.blocks:
        factors = []
        for R, own, s in zip(b.factors, info.model.support, info.support, strict=True):
            n, gains = len(own), x[list(s[len(own):])]
            rows = np.column_stack([R[:, :n], R[:, -1] - R[:, n:-1] @ gains]) if R.size else R
            factors.append(stacked([rows]) if R.size else R)
        blocks.append(replace(b, factors=tuple(factors)))
    model = replace(info.model, drives=replace(drives, gain=x[p:]))
    return replace(info, model=model, blocks=tuple(blocks), gains=False)


def torque_squares(info: Information, x: Floats | None = None) -> Floats:
    """Σ z_j² of every torque; of currents, through the gains of x."""
    torques = np.zeros(len(info.columns))
    if info.gains and x is not None:
        torques[len(info.model.names):] = x[len(info.model.names):]
    return joint_residuals(info, torques)


def noise(info: Information, x: Floats) -> Floats:
    """σ_j of every torque: the residual by the rows less the unknowns that are its own share."""
    rows = np.array([info.rows(j) for j in range(len(info.support))], dtype=float)
    share = len(info.columns) / max(sum(r > 0 for r in rows), 1)
    return np.sqrt(joint_residuals(info, x) / np.maximum(rows - share, 1.0))


def joint_weights(sigma: Floats, info: Information) -> Floats:
    """1/σ_j, bounded where a torque is explained to rounding."""
    rows = np.array([max(info.rows(j), 1) for j in range(len(info.support))])
    size = np.sqrt(torque_squares(info) / rows)
    least = 1e-6 * np.maximum(size, 1e-9 * max(size.max(initial=0.0), 1e-300))
    return np.where(rows > 1, 1 / np.maximum(sigma, np.maximum(least, 1e-300)), 0.0)


def weighted(info: Information, turns: int = TURNS) -> tuple[Floats, Floats]:
    """x and the weights 1/σ_j that belong to it, found in turns."""
    weights: Floats = np.ones(len(info.support))
    x = equations(info, weights).solve()
    for _ in range(turns):
        weights = joint_weights(noise(info, x), info)
        new = equations(info, weights).solve()
        done = np.linalg.norm(new - x) <= 1e-10 * np.linalg.norm(x)
        x = new
        if done:
            break
    return x, weights


def robust_blocks(info: Information, weights: Floats, x: Floats) -> tuple[Floats, Floats]:
    """x and the weights of blocks: a block whose residual is far above the usual counts less."""
    rows = np.array([b.rows for b in info.blocks], dtype=float)
    factors = np.ones_like(rows)
    for _ in range(TURNS):
        size = np.array([np.sqrt(joint_residuals(info, x, i) / np.maximum(rows[i], 1))
                         for i in range(len(info.blocks))])
        middle = np.array([np.median(s[r > 0]) if np.any(r > 0) else 1.0
                           for s, r in zip(size.T, rows.T, strict=True)])
        far = size / np.maximum(TUNING * middle, 1e-300)
        factors = np.where(far > 1, 1 / np.sqrt(np.maximum(far, 1)), 1.0)
        new = equations(info, weights, factors).solve()
        done = np.linalg.norm(new - x) <= 1e-10 * np.linalg.norm(x)
        x = new
        if done:
            break
    return x, factors
