"""Coordinates of robots with loops: steps along the independent joints, closed again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from closedform.errors import OpenLoop, SingularLoop
from closedform.model.loops.closing import closed, y_index
from closedform.model.loops.closure import Closure, moved

if TYPE_CHECKING:
    from closedform.model.tree import Tree

TRIES = 30


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
    """A closed configuration: independent joints at random, or as far that way as loops reach."""
    index, at_home = y_index(tree, closure), closure.home
    lower, upper = (np.concatenate([np.zeros(0), *(
        b.joint.per_coordinate(k, b.joint.nq, x) for b, _, _ in tree.parts)])
        for k, x in (("lower", -np.inf), ("upper", np.inf)))
    found = at_home
    for attempt in range(TRIES):
        q = np.concatenate([np.zeros(0), *(b.joint.random(rng) for b, _, _ in tree.parts)])
        part = 1.0 if attempt < TRIES // 3 else rng.uniform(0, 1)
        y = at_home[index] + part * (q[index] - at_home[index])
        for body, i, _ in tree.parts:
            if body.joint.unit:
                at = np.isin(index, np.arange(i.stop)[i][body.joint.unit])
                y[at] /= np.linalg.norm(y[at]) or 1
        try:
            found = closed(tree, closure, y)
        except (OpenLoop, SingularLoop):
            continue
        if np.all(found >= lower) and np.all(found <= upper):
            break
    return found
