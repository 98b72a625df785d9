"""The loops of a robot on another: with other frames and masses, or with joints locked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from closedform.model.loops.closure import geometry_key, refitted, velocity_names
from closedform.model.loops.gap import gaps_of
from closedform.model.loops.records import Cut, Gear, Side

if TYPE_CHECKING:
    from closedform.model.robot import Robot
    from closedform.model.tree import Tree


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
            replace(cut, a=side_on(made, cut.a), b=side_on(made, cut.b)) for cut in of.loops]


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
        a, b = (side_on(made, side) for side in (cut.a, cut.b))
        found += [replace(cut, a=a, b=b)] if a[0] != b[0] else []
    return tuple(found)


def choice_left(made: Tree, tree: Tree, independent: Sequence[str],
                home: np.ndarray) -> tuple[list[str], dict[str, np.ndarray]]:
    """The independent velocities that are left, and the coordinates of all that moves."""
    names, slices = velocity_names(made), tree.q_slices
    guess = {body.name: home[slices[body.joint_name]] for body, _, _ in made.parts}
    return [name for name in independent if name in names], guess


def side_on(made: Tree, side: Side) -> tuple[str | None, np.ndarray]:
    """A side of a loop on the body that its own is part of, which has it as a frame."""
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


def _value(tree: Tree, name: str, locked: Mapping[str, Any] | Sequence[str]) -> float:
    """The coordinate that a body's joint is locked at."""
    given = dict(locked) if isinstance(locked, Mapping) else dict.fromkeys(locked)
    joint = tree.body(name).joint_name
    x = given.get(joint, given.get(name))
    return 0.0 if x is None else float(np.ravel(x)[0])
