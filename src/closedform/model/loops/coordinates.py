"""Coordinates of robots with loops: steps along the independent joints, closed again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from closedform.model.loops.assembly import moved
from closedform.model.loops.closing import ClosingPath, closed
from closedform.model.loops.closure import Closure, y_index

if TYPE_CHECKING:
    from closedform.model.tree import Tree


def raised(tree: Tree, closure: Closure, dv: np.ndarray) -> np.ndarray:
    """The tree's velocities with the independent ones given and the others zero, (..., n)."""
    found = np.zeros((*dv.shape[:-1], tree.nv))
    found[..., np.array(closure.independent, dtype=int)] = dv
    return found


def integrated(tree: Tree, closure: Closure, q: np.ndarray, dv: np.ndarray) -> np.ndarray:
    """q with the independent joints moved by dv and the others closed, (..., nq)."""
    y = moved(tree, q, raised(tree, closure, dv))[..., y_index(tree, closure)]
    return closed(tree, closure, y, q)


def random(tree: Tree, closure: Closure, rng: np.random.Generator) -> np.ndarray:
    """A closed configuration: towards random independent joints, as far as loops and limits let."""
    index = y_index(tree, closure)
    lower, upper = (np.concatenate([np.zeros(0), *(
        b.joint.per_coordinate(k, b.joint.nq, x) for b, _, _ in tree.parts)])
        for k, x in (("lower", -np.inf), ("upper", np.inf)))
    found = closure.home
    for part in (1.0, 0.5, 0.2, 0.05):
        q = np.concatenate([np.zeros(0), *(b.joint.random(rng) for b, _, _ in tree.parts)])
        y = closure.home[index] + part * rng.uniform(0.3, 1) * (q - closure.home)[index]
        found = ClosingPath(tree, closure, index).reached(closure.home, y)
        if np.all(found >= lower) and np.all(found <= upper):
            break
    return found
