"""A tree that a file describes, with the loops that the file closes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from closedform.errors import ModelError, OpenLoop, SingularLoop
from closedform.model import coordinates
from closedform.model.loops.affine import affine
from closedform.model.loops.carried import side_on
from closedform.model.loops.records import Cut, Gear
from closedform.model.robot import Robot

TRIES = 12
LEAVE = 'loops="open" reads the tree without its loops'


@dataclass(frozen=True)
class Start:
    """Where loops are closed from: coordinates by body, motors, and joints that are held still."""

    guess: Mapping[str, Any] = field(default_factory=dict)
    actuated: tuple[str, ...] = ()
    held: Mapping[str, float] = field(default_factory=dict)
    independent: tuple[str, ...] | None = None


def closed_robot(tree: Robot, cuts: Sequence[Cut], start: Start | None = None) -> Robot:
    """The robot of a tree whose merged links are frames, with loops between its links.

    They are closed from the start, else from one of the configurations that the file names.
    """
    start = start or Start()
    found = on_bodies(tree, cuts, start.held)
    if not found:
        return tree
    named = [{b.name: q[i] for b, i, _ in tree.parts} for q in tree.configurations.values()]
    first: OpenLoop | SingularLoop | None = None
    for guess in (start.guess, *named):
        try:
            return _closed_from(tree, found, start, guess)
        except (OpenLoop, SingularLoop) as error:
            first = first or error
    other = _unfolded(tree, found, start) if isinstance(first, SingularLoop) else None
    if other is None:
        assert first is not None
        raise ModelError(f"{first}; {LEAVE}") from first
    return other


def _closed_from(tree: Robot, cuts: Sequence[Cut], start: Start, guess: Any) -> Robot:
    robot = replace(tree, loops=tuple(cuts), guess=guess, independent=start.independent,
                    actuated=start.actuated or None)
    if not robot.nv:
        names = ", ".join(repr(cut.name) for cut in cuts)
        raise ModelError(f"{tree.name}: the loop{'s' if len(cuts) > 1 else ''} {names} "
                         f"leave{'' if len(cuts) > 1 else 's'} nothing to move; {LEAVE}")
    return robot


def _unfolded(tree: Robot, cuts: Sequence[Cut], start: Start) -> Robot | None:
    """Loops whose zero is where branches meet, on one of them: that of parallelograms if any."""
    rng, found = np.random.default_rng(0), None
    for _ in range(TRIES):
        q = coordinates.integrate(tree, tree.neutral(), rng.uniform(-1, 1, size=tree.nv))
        try:
            robot = _closed_from(tree, cuts, start, {b.name: q[i] for b, i, _ in tree.parts})
        except (OpenLoop, SingularLoop):
            continue
        if affine(robot) is not None:
            return robot
        found = found or robot
    return found


def on_bodies(tree: Robot, cuts: Sequence[Cut], held: Mapping[str, float]) -> list[Cut]:
    """Loops between links, on the bodies that these are part of; without what is still."""
    return [made for cut in cuts if (made := _on(tree, cut, held)) is not None]


def _on(tree: Robot, cut: Cut, held: Mapping[str, float]) -> Cut | None:
    """A loop on the bodies that its links are part of; None where both are part of one."""
    if isinstance(cut, Gear):
        moving = {k: c for k, c in cut.factors.items() if k not in held}
        told = sum(c * held[k] for k, c in cut.factors.items() if k in held)
        return replace(cut, factors=moving, constant=cut.constant - told) if moving else None
    a, b = side_on(tree, cut.a), side_on(tree, cut.b)
    return None if a[0] == b[0] else replace(cut, a=a, b=b)
