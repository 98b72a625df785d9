"""The loops of a robot whose joints are locked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from closedform.model.loops.closure import velocity_names
from closedform.model.loops.records import Cut, Gear

if TYPE_CHECKING:
    from closedform.model.tree import Tree


def loops_left(made: Tree, tree: Tree, cuts: Sequence[Cut],
               locked: Mapping[str, Any] | Sequence[str]) -> tuple[Cut, ...]:
    """What still closes loops in `made`, the tree with joints locked and their bodies as frames."""
    found: list[Cut] = []
    for cut in cuts:
        if isinstance(cut, Gear):
            kept = {name: c for name, c in cut.factors.items() if name in made.body_names}
            still = sum(c * _value(tree, name, locked) for name, c in cut.factors.items()
                        if name not in kept)
            found += [Gear(cut.name, kept, cut.constant - still)] if kept else []
            continue
        a, b = (_side(made, side) for side in (cut.a, cut.b))
        found += [replace(cut, a=a, b=b)] if a[0] != b[0] else []
    return tuple(found)


def choice_left(made: Tree, tree: Tree, independent: Sequence[str],
                home: np.ndarray) -> tuple[list[str], dict[str, np.ndarray]]:
    """The independent velocities that are left, and the coordinates of all that moves."""
    names, slices = velocity_names(made), tree.q_slices
    guess = {body.name: home[slices[body.joint_name]] for body, _, _ in made.parts}
    return [name for name in independent if name in names], guess


def _side(made: Tree, side: tuple[str | None, np.ndarray]) -> tuple[str | None, np.ndarray]:
    if side[0] is None:
        return side
    frame = made.frame(side[0])
    return frame.body, frame.placement @ side[1]


def _value(tree: Tree, name: str, locked: Mapping[str, Any] | Sequence[str]) -> float:
    """The coordinate that a body's joint is locked at."""
    given = dict(locked) if isinstance(locked, Mapping) else dict.fromkeys(locked)
    joint = tree.body(name).joint_name
    x = given.get(joint, given.get(name))
    return 0.0 if x is None else float(np.ravel(x)[0])
