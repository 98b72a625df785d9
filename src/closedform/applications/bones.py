"""The lines that a robot is drawn by: bodies to their parents, and to the joints of its loops."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from closedform.model.loops.records import Cut, Gear, Rod
from closedform.model.tree import Tree

Point = tuple[float, float, float]
ORIGIN: Point = (0.0, 0.0, 0.0)


class Bone(NamedTuple):
    """A line from a point of one body to a point of another, or of the same, each in its frame."""

    a: int                  # bodies are counted from 1, the world is 0
    at_a: Point
    b: int
    at_b: Point


def bones(robot: Tree) -> list[Bone]:
    """Bodies joined to their parents, and to the points where their loops close.

    What floats hangs on nothing.
    """
    found = [Bone(p, ORIGIN, k, ORIGIN) for k, (p, body) in enumerate(
        zip(robot.parents, robot.bodies, strict=True), start=1) if p or body.joint.nv < 6]
    ends = dict.fromkeys((k, p) for cut in _cuts(robot) for k, p in _ends(robot, cut) if k)
    return found + [Bone(k, ORIGIN, k, p) for k, p in ends if p != ORIGIN]


def rods(robot: Tree) -> list[Bone]:
    """The rods without mass, from ball to ball."""
    return [Bone(*a, *b) for cut in _cuts(robot) if isinstance(cut, Rod)
            for a, b in [_ends(robot, cut)]]


def cut_points(robot: Tree) -> list[tuple[str, int, Point]]:
    """Where loops close: the name of each, and a point of a body. Rods have one at each end."""
    return [(cut.name, k, p) for cut in _cuts(robot)
            for k, p in _ends(robot, cut)[:2 if isinstance(cut, Rod) else 1]]


def bone_ends(places: np.ndarray, bone: Bone) -> tuple[np.ndarray, np.ndarray]:
    """Both ends of a bone in the world, (3,) each; `places` are poses, that of the world first."""
    return ((places[bone.a] @ [*bone.at_a, 1.0])[:3], (places[bone.b] @ [*bone.at_b, 1.0])[:3])


def _cuts(robot: Tree) -> list[Cut]:
    return [cut for cut in getattr(robot, "loops", ()) if not isinstance(cut, Gear)]


def _ends(robot: Tree, cut: Cut) -> list[tuple[int, Point]]:
    assert not isinstance(cut, Gear)
    number = {None: 0} | {name: k for k, name in enumerate(robot.body_names, start=1)}
    return [(number[body], _point(T)) for body, T in (cut.a, cut.b)]


def _point(T: np.ndarray) -> Point:
    x, y, z = (round(float(x), 9) + 0.0 for x in T[:3, 3])
    return x, y, z
