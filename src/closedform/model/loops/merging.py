"""The loops of a robot whose bodies were merged or whose joints were locked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from closedform.errors import OpenLoop
from closedform.model.bodies import Body
from closedform.model.loops.closure import CLOSED, Closure
from closedform.model.loops.gap import gaps_of, residual
from closedform.model.loops.records import Cut, Gear

if TYPE_CHECKING:
    from closedform.model.tree import Tree

Places = Mapping[str | None, tuple[str | None, np.ndarray]]
"""Of each body: the body that it is part of, and its place there."""


def merged_loops(robot: Tree, home: Places, bodies: Sequence[Body],
                 locked: Mapping[str, float]) -> dict[str, Any]:
    """`loops` and how they close, for `dataclasses.replace`; nothing for a tree.

    A loop of which both sides are on one body now is gone. Independent joints stay if none was
    locked that depends on them.
    """
    cuts: tuple[Cut, ...] = getattr(robot, "loops", ())
    if not cuts:
        return {}
    kept = [x for x in (_merged(robot, cut, home, locked) for cut in cuts) if x is not None]
    moving = [b.name for b in bodies if b.joint.nv]
    independent: Any = getattr(robot, "independent", None)
    if locked:
        others = tuple(x for x in independent or () if x.split("[")[0] in moving)
        gone = len(independent or ()) - len(others)
        independent = others if gone == len(locked) and kept else None
    actuated = getattr(robot, "actuated", None)
    if actuated is not None:
        actuated = tuple(x for x in actuated if x.split("[")[0] in moving)
    closure: Closure | None = getattr(robot, "closure", None)
    guess = {b.name: closure.home[i] for b, i, _ in robot.parts if b.name in moving} \
        if closure else None
    return {"loops": tuple(kept), "independent": independent if kept else None,
            "actuated": actuated, "guess": guess if kept else None, "closure": None}


def _merged(robot: Tree, cut: Cut, home: Places, locked: Mapping[str, float]) -> Cut | None:
    if isinstance(cut, Gear):
        factors = {k: c for k, c in cut.factors.items() if k not in locked}
        told = sum(c * locked[k] for k, c in cut.factors.items() if k in locked)
        if factors:
            return replace(cut, factors=factors, constant=cut.constant - told)
        _check(robot, cut, abs(cut.constant - told))
        return None
    (a, A), (b, B) = (home[s[0]] for s in (cut.a, cut.b))
    if a != b:
        return replace(cut, a=(a, A @ cut.a[1]), b=(b, B @ cut.b[1]))
    gap, = gaps_of(robot, [cut])
    still = replace(gap, way_a=(), way_b=(), A=A @ gap.A, B=B @ gap.B)
    _check(robot, cut, np.abs(residual(robot, (still,), np.zeros(robot.nq))).max())
    return None


def _check(robot: Tree, cut: Cut, gap: float) -> None:
    """An error for a loop that is open with all of its joints locked."""
    if gap > CLOSED:
        raise OpenLoop(f"{robot.name}: the loop {cut.name!r} stays open by {gap:.3g} with these "
                       "joints locked; lock them where it is closed")
