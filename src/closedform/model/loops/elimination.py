"""Which velocities and rows of K are solved with, and in which order.

    K_d = K[rows, dependent]

Independent velocities are those that tell all others; rows those that stay independent at every
sampled configuration; pivots are large at all of them and fill few zeros.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

REGULAR = 1e-7
"""A singular value below this, next to the largest, counts as zero."""
ROUNDING = 1e-10
"""An entry below this, next to the largest, is taken for one that is zero but for rounding."""
PIVOT = 0.05
"""A pivot is at least this part of the largest entry of its column."""


def rank_of(K: np.ndarray) -> int:
    """How many singular values of K are not zero but for rounding."""
    s = np.linalg.svd(K, compute_uv=False)
    return int(np.sum(s > REGULAR * s[0])) if len(s) and s[0] > 0 else 0


def regular(K: np.ndarray, columns: Sequence[int], rank: int, least: float = REGULAR) -> bool:
    """Whether these columns of K have its rank."""
    if rank == 0:
        return True
    s = np.linalg.svd(K[:, list(columns)], compute_uv=False)
    return len(s) >= rank and bool(s[rank - 1] > least * np.linalg.norm(K, 2))


def suitable(K: np.ndarray, rank: int, preferred: Sequence[int] = ()) -> tuple[int, ...]:
    """Velocities that may be independent here: the preferred and then the first that will do."""
    n = K.shape[1]
    found: list[int] = []
    for least in (1e-3, REGULAR):
        for i in (*preferred, *range(n)):
            rest = [j for j in range(n) if j != i and j not in found]
            if i not in found and len(found) < n - rank and regular(K, rest, rank, least):
                found.append(i)
    return tuple(sorted(found))


def determinant_sign(K_d: np.ndarray) -> Any:
    """The sign of det K_d, of many: the branch; 1 where more rows are kept than are independent."""
    square = K_d.shape[-1] == K_d.shape[-2]
    return np.sign(np.linalg.det(K_d)) if square else np.ones(K_d.shape[:-2])


def kept_rows(Ks: np.ndarray, dependent: list[int]) -> tuple[int, ...]:
    """Rows that are independent at every one of the configurations, or all if that changes."""
    size = np.abs(Ks).max(axis=(0, 2))
    there, rank = np.flatnonzero(size > ROUNDING * size.max(initial=0)), len(dependent)
    if len(there) > rank:
        u = np.linalg.svd(Ks[:, there])[0][:, :, rank:]
        redundant = u @ np.swapaxes(u, 1, 2)              # the projector onto what Kᵀ takes to zero
        if np.abs(redundant - redundant[0]).max() > 1e-5:
            return tuple(there.tolist())
    # rows of rounding alone are not looked at: each is taken relative to its own size
    best = _best_rows(Ks[:, there][:, :, dependent], rank)
    return tuple(there[list(best)].tolist())


def _best_rows(Ks: np.ndarray, rank: int) -> tuple[int, ...]:
    """Rows that are independent at every one of the configurations, the best first, then sorted."""
    left = Ks / np.maximum(np.linalg.norm(Ks, axis=2, keepdims=True).max(axis=0), 1e-300)
    kept: list[int] = []
    for _ in range(rank):
        score = np.linalg.norm(left, axis=2).min(axis=0)
        score[kept] = -1
        best = int(np.argmax(np.round(score, 6)))
        kept.append(best)
        e = left[:, best] / np.maximum(np.linalg.norm(left[:, best], axis=1, keepdims=True), 1e-300)
        left = left - np.einsum("smn,sn->sm", left, e)[:, :, None] * e[:, None, :]
    return tuple(sorted(kept))


def pivots(Ks: np.ndarray) -> tuple[tuple[int, int], ...]:
    """(row, column) in an order of elimination: few fill-ins, pivots large at all samples."""
    if Ks.shape[1] > Ks.shape[2]:
        return tuple((k, k) for k in range(Ks.shape[2]))
    A, r = Ks.copy(), Ks.shape[1]
    rows, columns, found = list(range(r)), list(range(r)), list[tuple[int, int]]()
    while rows:
        part = np.abs(A[np.ix_(range(len(A)), rows, columns)])
        least, scale = part.min(axis=0), np.maximum(part.max(axis=1, keepdims=True), 1e-300)
        enough = (part / scale).min(axis=0) >= PIVOT
        there = part.max(axis=0) > ROUNDING * np.abs(Ks).max()
        cost = np.outer(there.sum(axis=1) - 1, there.sum(axis=0) - 1).astype(float)
        if not np.any(enough & there):
            enough = (part / scale).min(axis=0) >= (part / scale).min(axis=0).max()
        cost[~(enough & (least > 0))] = np.inf
        if not np.any(np.isfinite(cost)):
            cost = -least
        cheap = cost == cost.min()
        i, j = np.unravel_index(int(np.argmax(np.where(cheap, least, -1))), cost.shape)
        p, c = rows.pop(int(i)), columns.pop(int(j))
        found.append((p, c))
        for k in rows:
            A[:, k] -= (A[:, k, c] / A[:, p, c])[:, None] * A[:, p]
    return tuple(found)


def values_text(K: np.ndarray) -> str:
    """The smallest singular values, to be read."""
    s = np.linalg.svd(K, compute_uv=False)
    return ", ".join(f"{x:.2g}" for x in s[-6:])
