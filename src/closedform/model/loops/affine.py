"""Robots with affine loops as robots without: dependent joints follow the independent ones.

    q_d = A y + o        as mimic joints, q being y alone
"""

from __future__ import annotations

from dataclasses import replace
from weakref import WeakKeyDictionary

import numpy as np

from closedform.arrays import Array, namespace
from closedform.errors import ArgumentError
from closedform.model.bodies import Body
from closedform.model.joints import Mimic
from closedform.model.loops.closure import Closure, y_index
from closedform.model.loops.linear import linear_map
from closedform.model.robot import Robot

_known: WeakKeyDictionary[Robot, tuple[Robot | None]] = WeakKeyDictionary()


def affine(robot: Robot) -> Robot | None:
    """The robot without loops that moves the same, its q being y; None if loops are not affine."""
    if robot not in _known:
        _known[robot] = (_affine(robot),)
    return _known[robot][0]


def without_loops(robot: Robot, what: str) -> Robot:
    """The robot itself, or the one without loops that moves the same; an error if there is none."""
    made = affine(robot) if robot.loops else robot
    if made is None:
        raise ArgumentError(f"{what}: the loops {', '.join(repr(c.name) for c in robot.loops)} of "
                            f"{robot.name} are neither parallelograms nor other affine ones, whose "
                            "joints are sums of the independent ones; this is for those")
    return made


def y_of(robot: Robot) -> np.ndarray:
    """Which entries of q are independent."""
    assert robot.closure is not None
    return y_index(robot.tree, robot.closure)


def coordinates_of(made: Robot, y: Array) -> Array:
    """The coordinates of all joints of the robot without loops, those that follow among them."""
    return namespace(y).concatenate([s.coordinates(y) for s in made.segments if s.q_index])


def _affine(robot: Robot) -> Robot | None:
    closure = robot.closure
    if closure is None or not _forceless(robot, closure):
        return None
    found = linear_map(robot.tree, closure)
    return None if found is None else _followers(robot, closure, *found)


def _forceless(robot: Robot, closure: Closure) -> bool:
    """Whether dependent joints have no force of their own."""
    own = set(closure.independent)
    joints = [body.joint for body, _, v in robot.tree.parts
              if not set(range(v.start, v.stop)) <= own]
    return not any(np.any(x) for joint in joints for x in (
        joint.rotor_inertia, joint.viscous, joint.coulomb, joint.stiffness) if x is not None)


def _followers(robot: Robot, closure: Closure, A: np.ndarray, o: np.ndarray) -> Robot | None:
    """The robot with mimic joints for its dependent ones."""
    tree, index = robot.tree, y_index(robot.tree, closure).tolist()
    single = {i.start: body for body, i, _ in tree.parts if body.joint.nq == 1}
    drivers = [single[i].name for i in index if i in single]
    follow: dict[str, Mimic] = {}
    for at, body in single.items():
        if at in index:
            continue
        of = {single[i].name if i in single else "": float(r)
              for i, r in zip(index, A[at], strict=True) if r}
        if "" in of or not drivers:
            return None
        follow[body.name] = Mimic(body.joint, of or {drivers[0]: 0.0}, offset=float(o[at]))
    bodies: list[Body] = [replace(b, joint=follow.get(b.name, b.joint)) for b in robot.bodies]
    return Robot(robot.name, bodies, robot.gravity, robot.frames, robot.source)
