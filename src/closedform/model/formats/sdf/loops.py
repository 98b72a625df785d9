"""Closed loops of SDF: joints to a second parent, and Drake's ball constraints.

    <drake:ball_constraint><drake:ball_constraint_body_A>a</…> …_p_AP, …_body_B, …_p_BQ
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from closedform.model.formats.sdf.joints import SdfJoint, clean, full_name, in_world
from closedform.model.formats.sdf.scope import Scope
from closedform.model.formats.urdf.loops import BALL_CONSTRAINT
from closedform.model.formats.xml import Element, full_tag, prefixed
from closedform.model.joints import Spherical
from closedform.model.loops.records import Loop, Side
from closedform.model.pose import inverse, pose


def sdf_loops(top: Scope, cut: Sequence[SdfJoint]) -> list[Loop]:
    """The loops of joints that are not in the tree, and of the constraints in all models."""
    found = [_of_joint(joint) for joint in cut]
    balls = [(scope, x) for scope in top.walk() for x in scope.element.iterchildren("{*}*")
             if full_tag(x) == BALL_CONSTRAINT]
    return found + [
        Loop(f"ball_constraint{k}", _end(scope, ball, "A", "AP"), _end(scope, ball, "B", "BQ"),
             Spherical()) for k, (scope, ball) in enumerate(balls, start=1)]


def must_stay(joint: SdfJoint) -> bool:
    """Whether a joint says what one that is cut cannot: a screw, a coupling, forces of its own."""
    moves = joint.body()[0]
    forces = (moves.viscous, moves.coulomb, moves.stiffness, moves.rotor_inertia)
    return bool(moves.advance) or moves.driver is not None or any(
        np.any(x) for x in forces if x is not None)


def _of_joint(joint: SdfJoint) -> Loop:
    moves, placement, at = joint.body()
    return Loop(joint.name, (joint.parent or None, placement), (joint.child, at), moves.moving)


def _end(scope: Scope, ball: Element, body: str, point: str) -> Side:
    named, at = (prefixed(ball, f"{BALL_CONSTRAINT}_{x}") for x in (f"body_{body}", f"p_{point}"))
    name = "" if named is None else (named.text or "").strip()
    if not name:
        raise scope.source.fault(ball, f"<{BALL_CONSTRAINT}>: its body {body} is missing")
    link = scope.link(name)
    xyz = (0.0,) * 3 if at is None else scope.source.numbers(at, 3, (0.0,) * 3)
    if link is None:
        return None, pose(None, xyz)
    here = inverse(in_world(link)) @ scope.in_world @ scope.at(name)    # a frame may be named too
    return full_name(link), clean(here) @ pose(None, xyz)
