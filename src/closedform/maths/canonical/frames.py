"""The same robot in frames and parameters that cost the fewest operations.

    q' = q + offset     coordinates of the canonical robot
    C_k                 its body frames: z on the joint axis, x on the common normal to the next

Frames follow the modified convention of Denavit and Hartenberg, with the constant part of a
joint's turn moved into `offset`; fixed bodies merge into the ones that carry them; a joint of
several parts becomes so many. `closedform.maths.canonical.regrouping` can then move mass along the
joint axes.

Any point of an axis is an exact origin. The common normal of axes that are a tilt ε from parallel
and d apart meets them d/ε away; where that is far outside the robot, where the child's axis meets
the parent's xy-plane is taken instead, as for parallel axes, and the tilt is kept as it is.

Cites: [KhalilKleinfinger1986]; [GautierKhalil1990, section IV].
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from closedform.arrays import Array, numeric
from closedform.model.edits import merged
from closedform.model.inertia import Inertia
from closedform.model.joints import Joint
from closedform.model.loops.carried import cuts_on, with_loops_of
from closedform.model.pose import inverse, pose
from closedform.model.robot import Body, Frame, Robot
from closedform.model.segments import named_parts, starts

Axis = tuple[Array, Array]
"""Direction and a point of a line."""
NOISE = 32 * float(np.finfo(float).eps)
"""What rounding leaves in place of a zero when frames of size one are moved."""
ULPS = 1e-15
"""What it leaves of a cosine of 1, or of a sine of two unit vectors."""
NEARLY = 1e-9
"""What is near enough to perpendicular to choose a frame by; every choice is exact."""
FAR = 2.0
"""No origin is farther from the user's point of its axis than so many times the robot's size."""


@dataclass(frozen=True, eq=False)
class Canonical:
    """A robot in canonical frames, and the way back to the user's.

    `places` says for each of the user's bodies which canonical body carries it (None: the world)
    and at which pose.
    """

    robot: Robot
    offset: Array
    places: tuple[tuple[int | None, Array], ...]


def canonical(robot: Robot) -> Canonical:
    """The robot in canonical frames; the user's body frames and frames are frames of the result."""
    if robot.loops:
        tree = canonical(robot.tree)
        made = with_loops_of(tree.robot, robot, cuts_on(tree.robot, robot, tree.offset),
                             tree.offset)
        return Canonical(made, tree.offset, tree.places)
    whole = _unfolded(robot)
    slim = merged(whole.bodies, whole, {b.name for b in whole.bodies if b.joint.is_fixed})
    C = _frames(slim)
    offset = _turn_offsets(slim, C)
    bodies = []
    for body in slim.bodies:
        own, driver = C[body.name], body.joint.driver
        if driver is not None:
            driver = driver.moved(own.turn, *(C[name].turn for name in driver.bodies))
        moving = _with_spring_at(body.joint.moving.on_z(), own.turn)
        joint = body.joint.with_moving(moving, driver)
        inertia = _moved(body.inertia, _clean(inverse(own.place), _length(own.place)))
        bodies.append(replace(body, joint=joint, placement=own.placement, inertia=inertia))
    return _finished(robot, slim, bodies, C, offset)


def _with_spring_at(joint: Joint, turn: float) -> Joint:
    """The joint with its spring at rest where it was, its last coordinate counted from −turn."""
    if joint.stiffness is None or turn == 0:
        return joint
    at = joint.per_coordinate("spring_reference", joint.nq, 0.0)
    return replace(joint, spring_reference=(*at[:-1], at[-1] + turn))


def _finished(
    robot: Robot, slim: Robot, bodies: list[Body], C: dict[str | None, _Placed], offset: Array,
) -> Canonical:
    """The canonical robot: bodies marked with a prime, the user's bodies and frames as frames."""
    number = {body.name: k for k, body in enumerate(slim.bodies)}
    places: list[tuple[int | None, Array]] = []
    frames = []
    for name in (*robot.body_names, *robot.frame_names):
        frame = slim.frame(name)
        at = inverse(C[frame.body].place) @ frame.placement
        frames.append(Frame(name, frame.body, at))
        if name in robot.body_names:
            places.append((None if frame.body is None else number[frame.body], at))
    renamed = [replace(b, name=_primed(b.name), parent=_primed(b.parent), joint=_renamed(b))
               for b in bodies]
    frames = [replace(f, body=_primed(f.body)) for f in frames]
    result = Robot(robot.name, renamed, robot.gravity, frames, robot.source)
    return Canonical(result, offset, tuple(places))


def _primed(name: Any) -> Any:
    return None if name is None else name + "′"


def _renamed(body: Body) -> Joint:
    joint = replace(body.joint, name=body.joint_name)
    driver = joint.driver and joint.driver.renamed([_primed(x) for x in joint.driver.bodies])
    return joint.with_moving(joint.moving, driver)


def _unfolded(robot: Robot) -> Robot:
    """The robot with a body for every part of a joint; all but the last are without mass."""
    bodies = []
    for body in robot.bodies:
        above, at = body.parent, body.placement
        for name, joint in named_parts(body):
            inertia = body.inertia if name == body.name else Inertia()
            bodies.append(replace(body, name=name, parent=above, joint=joint, placement=at,
                                  inertia=inertia))
            above, at = name, np.eye(4)
    return Robot(robot.name, bodies, robot.gravity, robot.frames, robot.source)


# ---------------------------------------------------------------------- frames
@dataclass(frozen=True, eq=False)
class _Placed:
    """A canonical frame."""

    place: Array        # its pose in the user's body frame
    placement: Array    # its pose in the parent's canonical frame at q' = 0
    turn: float = 0.0   # the constant turn that is left to the coordinate


def _frames(robot: Robot) -> dict[str | None, _Placed]:
    C: dict[str | None, _Placed] = {None: _Placed(np.eye(4), np.eye(4))}
    far = FAR * _size(robot)
    for body in robot.bodies:
        above = inverse(body.placement) @ C[body.parent].place  # the parent's frame, at q = 0
        joint = body.joint.moving
        if joint.line is None:
            C[body.name] = _Placed(np.eye(4), _clean(inverse(above), far + _length(above)))
        else:
            onward = _next_axis(robot, body)
            placed = _on_common_normals(joint, joint.line, above, onward, far)
            C[body.name] = placed if onward else _turned_to_mass(body, placed)
    return C


def _on_common_normals(
    joint: Joint, axis: Axis, above: Array, onward: Axis | None, far: float,
) -> _Placed:
    """The frame of a joint on the axis (direction, point), between `above` and `onward`."""
    e, c = axis
    x_p, z_p, o_p = above[:3, 0], above[:3, 2], above[:3, 3]
    x0 = _perpendicular(x_p, z_p, e)
    o0 = _origin(joint, axis, (z_p, o_p), far)
    x, o = x0, o0
    if onward is not None:
        x, o = _towards(onward, e, x0, o0)
        o = o if _length(o - c) <= far else o0
    size = far + _length(above)
    o = c if _length(o - c) < NOISE * size else o
    turn = math.atan2(np.cross(x0, x) @ e, x0 @ x)
    quarter = round(turn / (math.pi / 2))
    if abs(turn - quarter * math.pi / 2) < NOISE or not joint.takes_turns:
        x0, turn = x, 0.0
    start, end = (_clean(pose(np.stack([y, np.cross(e, y), e], axis=1), o),
                         _length(c) + _length(o)) for y in (x0, x))
    return _Placed(end, _clean(inverse(above) @ start, size), turn)


def _turned_to_mass(body: Body, placed: _Placed) -> _Placed:
    """The frame of a last body turned about its axis until h_y, or without any h Σ_xy, vanishes."""
    moved = body.inertia.seen_from(inverse(placed.place))
    if not body.joint.moving.takes_turns or not numeric(moved.array):
        return placed
    hx, hy = moved.first_moment[:2]
    I = moved.origin_tensor
    tiny = 1e-9 * max(abs(moved.mass), abs(hx), abs(hy))
    if abs(hx) > tiny and abs(hy) > tiny:
        turn = math.atan2(hy, hx)
    elif max(abs(hx), abs(hy)) <= tiny and abs(I[0, 1]) > 1e-9 * abs(I[2, 2]):
        turn = 0.5 * math.atan2(-2 * I[0, 1], I[1, 1] - I[0, 0])
    else:
        return placed
    c, s = math.cos(turn), math.sin(turn)
    Rz = pose(np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]))
    return _Placed(placed.place @ Rz, placed.placement, placed.turn + turn)


def _perpendicular(x_p: Array, z_p: Array, e: Array) -> Array:
    """A unit vector across e: the parent's x where that is across, else the axes' common normal."""
    normal = np.cross(z_p, e)
    own = abs(x_p @ e) < NEARLY or _length(normal) <= NOISE
    return _across(x_p if own else normal / _length(normal), e)


def _across(x: Array, e: Array) -> Array:
    """The unit vector across e nearest to the unit vector x."""
    y = x - (x @ e) * e
    return x if abs(x @ e) < ULPS else y / _length(y)


def _origin(joint: Joint, axis: Axis, above: Axis, far: float) -> Array:
    """The point of the axis nearest to the parent's, or in the parent's xy-plane, or the user's.

    The first of them that is not far from the user's. What slides starts at the parent's origin.
    """
    (e, c), (z_p, o_p) = axis, above
    rise = e @ z_p
    level = c if abs(rise) < NOISE else c + ((o_p - c) @ z_p) / rise * e
    slides = not np.any(joint.S[3:])
    points = (o_p,) if slides else (_foot(c, e, o_p, z_p), level)
    return next((o for o in points if _length(o - c) <= far), c)


def _towards(onward: Axis, e: Array, x0: Array, o0: Array) -> tuple[Array, Array]:
    """x and the origin of a frame on the line (o0, e): on the common normal to the next axis."""
    e_j, c_j = onward
    normal, across = np.cross(e, e_j), (c_j - o0) - ((c_j - o0) @ e) * e
    if _length(normal) > NOISE:
        x = _across(normal / _length(normal), e)
    elif _length(across) > NOISE * (_length(c_j) + _length(o0)):
        x = _across(across / _length(across), e)
    else:
        return x0, o0
    o = _foot(o0, e, c_j, e_j) if _length(normal) > NOISE else o0
    return (x if x @ x0 >= -NEARLY else -x), o


def _foot(c: Array, e: Array, c_j: Array, e_j: Array) -> Array:
    """The point of the line (c, e) nearest to the line (c_j, e_j); if parallel, to c_j."""
    w, normal = c_j - c, np.cross(e, e_j)
    if _length(normal) <= NOISE:
        return c + (w @ e) * e
    return c + (np.cross(w, e_j) @ normal / (normal @ normal)) * e


def _length(x: Array) -> float:
    """|x|, of a pose that of its translation."""
    return float(np.linalg.norm(x if x.ndim == 1 else x[:3, 3]))


def _size(robot: Robot) -> float:
    """The longest way from a root along the origins and axes of the tree."""
    way: dict[str | None, float] = {None: 0.0}
    for body in robot.bodies:
        line = body.joint.moving.line
        step = 0.0 if body.parent is None else _length(body.placement)
        way[body.name] = way[body.parent] + step + (0.0 if line is None else _length(line[1]))
    return max(way.values())


def _next_axis(robot: Robot, body: Body) -> Axis | None:
    """The axis of the child with the largest subtree, seen from the body: direction and point."""
    sizes = _subtree_sizes(robot)
    children = {b.name: b for b in robot.bodies if b.parent == body.name and b.joint.moving.line}
    if not children:
        return None
    child = children[max(children, key=lambda name: sizes[name])]
    e, c = child.joint.moving.line or (None, None)
    return child.placement[:3, :3] @ e, child.placement[:3, :3] @ c + child.placement[:3, 3]


def _subtree_sizes(robot: Robot) -> dict[str, int]:
    sizes = dict.fromkeys(robot.body_names, 1)
    for body in reversed(robot.bodies):
        if body.parent is not None:
            sizes[body.parent] += sizes[body.name]
    return sizes


def _turn_offsets(robot: Robot, C: dict[str | None, _Placed]) -> Array:
    """What is added to each coordinate: the constant turn of its joint."""
    offset = np.zeros(robot.nq)
    q_start, _ = starts(robot.bodies)
    for k, body in enumerate(robot.bodies):
        if body.joint.nq:
            offset[q_start[k] + body.joint.nq - 1] += C[body.name].turn
    return offset


# ---------------------------------------------------------------------- rounding
def _clean(T: Array, size: float) -> Array:
    """The pose with what rounding left in place of zeros and ones removed.

    `size`: of the offsets that its own was computed from.
    """
    R, p = T[:3, :3], T[:3, 3]
    near = np.round(R)
    R = np.where(np.abs(R - near) < np.where(near, ULPS, NOISE), near, R)
    return pose(R, np.where(np.abs(p) < NOISE * size, 0.0, p))


def _moved(inertia: Inertia, T: Array) -> Inertia:
    """The inertia seen from where its frame has the pose T, without what is only rounding.

    That is measured by this body alone: by the terms an entry is the sum of, so that what was not
    moved is not cut, and by what the own moments allow: |I_ij|² ≤ I_ii I_jj, |h|² ≤ m tr Σ.
    """
    moved = inertia.seen_from(T)
    if not numeric(moved.array):
        return moved
    R = np.where(np.isin(np.abs(T[:3, :3]), (0, 1)), np.abs(T[:3, :3]), 1)  # known to rounding of 1
    p, h, m = np.abs(T[:3, 3]), R @ np.abs(inertia.first_moment), abs(inertia.mass)
    P = np.outer(p, h) + np.outer(h, p) + m * np.outer(p, p)
    I = R @ np.abs(inertia.origin_tensor) @ R.T + np.where(np.eye(3), np.trace(P) - P, P)
    own = np.sqrt(np.abs(np.diag(moved.origin_tensor)))
    h = h + m * p + math.sqrt(m) * np.linalg.norm(own)
    I = I + np.outer(own, own) * (1 - np.eye(3))
    terms = np.array([m, *h, *I[np.tril_indices(3)]])
    return Inertia.from_parameters(np.where(np.abs(moved.array) < NOISE * terms, 0.0, moved.array))
