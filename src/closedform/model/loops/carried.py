"""The loops of a robot on another that is the same mechanism: other frames, other masses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from closedform.model.loops.closure import geometry_key, refitted, velocity_names
from closedform.model.loops.gap import gaps_of
from closedform.model.loops.records import Cut, Gear
from closedform.model.robot import Robot


def with_loops_of(made: Robot, of: Robot, cuts: Sequence[Cut] | None = None,
                  offset: Any = 0.0) -> Robot:
    """The tree `made` with the loops of another robot, closed as they are there.

    Its velocities are the same ones, its coordinates those of the other plus an offset. `cuts` are
    the loops as they stand in `made`, if they are not the same.
    """
    if of.closure is None:
        return made
    loops, names = tuple(of.loops if cuts is None else cuts), velocity_names(made)
    independent = tuple(names[i] for i in of.closure.independent)
    actuated = None if of.actuated is None else tuple(names[i] for i in of.actuated_velocities)
    closure = replace(of.closure, gaps=gaps_of(made, loops), home=of.closure.home + offset,
                      key=geometry_key(made, loops, (independent, None, actuated)))
    if cuts is not None:
        closure = refitted(made, closure)
    return replace(made, loops=loops, independent=independent, guess=None, actuated=actuated,
                   closure=closure)


def cuts_on(made: Robot, of: Robot, offset: Any) -> list[Cut]:
    """A robot's loops on another that has its bodies as frames, with coordinates moved."""
    return [_gear(made, of, cut, offset) if isinstance(cut, Gear) else
            replace(cut, a=_side(made, cut.a), b=_side(made, cut.b)) for cut in of.loops]


def _side(made: Robot, side: tuple[str | None, np.ndarray]) -> tuple[str | None, np.ndarray]:
    if side[0] is None:
        return side
    frame = made.frame(side[0])
    return frame.body, frame.placement @ side[1]


def _gear(made: Robot, of: Robot, gear: Gear, offset: Any) -> Gear:
    """Σ c (x − shift) = c₀ with the shifts of the joints' own coordinates."""
    home = of.neutral()
    there = {s.name: float(s.coordinates(home)[0]) for s in of.segments if s.name in gear.factors}
    factors, constant = {}, gear.constant
    for name, c in gear.factors.items():
        body = made.frame(name).body
        here = next(s for s in made.segments if s.name == body)
        factors[here.name] = c
        constant += c * (float(here.coordinates(home + offset)[0]) - there[name])
    return Gear(gear.name, factors, constant)
