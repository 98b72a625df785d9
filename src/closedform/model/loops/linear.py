"""Loops that are affine: parallelograms, belts, gears, differentials.

    q = A y + o        on the whole branch, so that G is constant
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from closedform.model.loops.closure import Closure, samples, y_index
from closedform.model.loops.gap import jacobian, residual

if TYPE_CHECKING:
    from closedform.model.tree import Tree

SAME = 1e-9
"""How much entries of G, and gaps next to the robot's size, may differ from one place to another.
"""
LARGEST = 24
"""The largest denominator of a ratio that is taken for a fraction, and of a part of π."""


def linear_map(tree: Tree, closure: Closure) -> tuple[np.ndarray, np.ndarray] | None:
    """A, (nq, y), and o, (nq,), with q = A y + o wherever y goes; None if loops are not affine."""
    if tree.has_followers or not _simple(tree, closure):
        return None
    points = samples(tree, closure)
    G = _G(tree, closure, points[0])
    if any(np.abs(_G(tree, closure, q) - G).max(initial=0) > SAME * max(1, np.abs(G).max(initial=0))
           for q in points[1:]):
        return None
    A, o = _map(tree, closure, G)
    return (A, o) if A is not None and _holds(tree, closure, A, o) else None


def _simple(tree: Tree, closure: Closure) -> bool:
    """Whether dependent joints turn or slide by one coordinate."""
    own = set(closure.independent)
    return all(set(range(v.start, v.stop)) <= own or (body.joint.nq, body.joint.nv) == (1, 1)
               for body, _, v in tree.parts)


def _G(tree: Tree, closure: Closure, q: np.ndarray) -> np.ndarray:
    """The rows of G of the dependent joints, (r, n_y)."""
    K = np.asarray(jacobian(tree, closure.gaps, q))
    K_y = K[np.ix_(closure.rows, closure.independent)]
    return -np.linalg.lstsq(closure.K_d(K), K_y, rcond=None)[0] if len(closure.rows) else K_y


def _map(tree: Tree, closure: Closure, G: np.ndarray) -> tuple[np.ndarray | None, np.ndarray]:
    """The map with short fractions for its entries; None if joints with v ≠ q̇ move others."""
    index, home = y_index(tree, closure).tolist(), closure.home
    entry, turns = dict[int, int](), dict[int, bool]()
    for body, i, v in tree.parts:
        if body.joint.is_vector:
            for k in range(v.stop - v.start):
                entry[v.start + k], turns[v.start + k] = i.start + k, k in body.joint.angles
    A, o = np.zeros((tree.nq, len(index))), np.zeros(tree.nq)
    A[index, range(len(index))] = 1
    for row, j in zip(G, closure.dependent, strict=True):
        for x, k in zip(row, closure.independent, strict=True):
            if abs(x) > SAME:
                if k not in entry:
                    return None, o
                A[entry[j], index.index(entry[k])] = _short(x)
        rest = home[entry[j]] - A[entry[j]] @ home[index]
        o[entry[j]] = _short(rest / np.pi) * np.pi if turns[j] else _short(rest)
    return A, o


def _holds(tree: Tree, closure: Closure, A: np.ndarray, o: np.ndarray) -> bool:
    """Whether the loops are closed at eight random y."""
    rng, index = np.random.default_rng(1), y_index(tree, closure)
    for _ in range(8):
        q = np.concatenate([np.zeros(0), *(b.joint.random(rng) for b, _, _ in tree.parts)])
        q = A @ q[index] + o
        if np.abs(residual(tree, closure.gaps, q)).max(initial=0) > SAME * closure.size:
            return False
    return True


def _short(x: float) -> float:
    """A small fraction that x is but for rounding, else x."""
    near = Fraction(float(x)).limit_denominator(LARGEST)
    return float(near) if abs(float(near) - x) < SAME else float(x)
