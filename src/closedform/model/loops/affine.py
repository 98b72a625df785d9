"""Loops that are affine: parallelograms, belts, gears, differentials.

    q_d = A y + o

on the whole branch, so that G is constant. Then the robot is one without loops, whose dependent
joints follow the independent ones as mimic joints, q being y alone.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from closedform.arrays import Array, namespace
from closedform.errors import ArgumentError, OpenLoop, SingularLoop
from closedform.model.bodies import Body
from closedform.model.joints import Mimic
from closedform.model.loops.closing import closed, y_index
from closedform.model.loops.closure import Closure
from closedform.model.loops.gap import jacobian, residual
from closedform.model.robot import Robot

SAME = 1e-9
"""How much entries of G, and gaps next to the robot's size, may differ from one place to another.
"""
LARGEST = 24
"""The largest denominator of a ratio that is taken for a fraction, and of a part of π."""

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


def constant_G(robot: Robot) -> np.ndarray:
    """G of affine loops, (n, n_y): the identity on the independent velocities, and A."""
    closure, tree = robot.closure, robot.tree
    assert closure is not None
    G = np.zeros((tree.nv, robot.nv))
    G[list(closure.independent)] = np.eye(robot.nv)
    A = _G(tree, closure, closure.home)
    G[list(closure.dependent)] = np.reshape([_short(x) for x in A.flat], A.shape)
    return G


def _affine(robot: Robot) -> Robot | None:
    closure, tree = robot.closure, robot.tree
    if closure is None or tree.has_followers or not _simple(robot, closure):
        return None
    A = _G(tree, closure, closure.home)
    rng = np.random.default_rng(0)
    y = closure.home[y_index(tree, closure)]
    for step in (0.05, 0.3):
        try:
            q = closed(tree, closure, y + step * rng.normal(size=y.shape) if _plain(tree, closure)
                       else y, closure.home)
        except (OpenLoop, SingularLoop):
            continue
        if np.abs(_G(tree, closure, q) - A).max() > SAME * max(1, np.abs(A).max()):
            return None
    return _checked(_followers(robot, closure, A), robot, closure)


def _simple(robot: Robot, closure: Closure) -> bool:
    """Whether dependent joints turn or slide by one coordinate, with no force of their own."""
    own = set(closure.independent)
    for body, _, v in robot.tree.parts:
        count = sum(i in own for i in range(v.start, v.stop))
        if count == v.stop - v.start:
            continue
        joint = body.joint
        forces = (joint.rotor_inertia, joint.viscous, joint.coulomb, joint.stiffness)
        if count or (joint.nq, joint.nv) != (1, 1) or any(
                np.any(x) for x in forces if x is not None):
            return False
    return True


def _plain(tree: Robot, closure: Closure) -> bool:
    """Whether y are numbers that may be added to."""
    own = set(closure.independent)
    return all(b.joint.is_vector for b, _, v in tree.parts if v.start in own)


def _G(tree: Robot, closure: Closure, q: np.ndarray) -> np.ndarray:
    """The rows of G of the dependent joints, (r, n_y)."""
    return closure.G_d(np.asarray(jacobian(tree, closure.gaps, q)))


def _followers(robot: Robot, closure: Closure, A: np.ndarray) -> Robot | None:
    """The robot with mimic joints for its dependent ones."""
    tree, home = robot.tree, closure.home
    named = {v.start: (b.name, i.start) for b, i, v in tree.parts}
    single = [k for k, i in enumerate(closure.independent)
              if i in named and tree.body(named[i][0]).joint.nq == 1]
    if not single or np.abs(np.delete(A, single, axis=1)).max(initial=0) > SAME:
        return None
    follow: dict[str, Mimic] = {}
    for row, j in zip(A, closure.dependent, strict=True):
        name, at = named[j]
        ratios = {named[closure.independent[k]]: _short(row[k]) for k in single
                  if abs(row[k]) > SAME}
        offset = home[at] - sum(r * home[i] for (_, i), r in ratios.items())
        turns = bool(tree.body(name).joint.angles)
        of: dict[str, Any] = {driver: r for (driver, _), r in ratios.items()}
        still = {named[closure.independent[single[0]]][0]: 0.0}
        offset = _short(offset / np.pi) * np.pi if turns else _short(offset)
        follow[name] = Mimic(tree.body(name).joint, of or still, offset=offset)
    bodies: list[Body] = [replace(b, joint=follow.get(b.name, b.joint)) for b in robot.bodies]
    return Robot(robot.name, bodies, robot.gravity, robot.frames, robot.source)


def _checked(made: Robot | None, robot: Robot, closure: Closure) -> Robot | None:
    """The robot if its loops are closed wherever y goes."""
    if made is None:
        return None
    rng, tree = np.random.default_rng(1), robot.tree
    for _ in range(8):
        y = made.random(rng)
        q = coordinates_of(made, y)
        if len(q) != tree.nq or np.abs(residual(tree, closure.gaps, q)).max(
                initial=0) > SAME * closure.size:
            return None
    return made


def _short(x: float) -> float:
    """A small fraction that x is but for rounding, else x."""
    near = Fraction(float(x)).limit_denominator(LARGEST)
    return float(near) if abs(float(near) - x) < SAME else float(x)
