"""The same robot in frames and parameters that cost the fewest operations.

    q' = q + offset     coordinates of the canonical robot
    C_k                 its body frames: z on the joint axis, x on the common normal to the next

Frames follow the modified convention of Denavit and Hartenberg, with the constant part of a
joint's turn moved into `offset`; fixed bodies merge into the ones that carry them; a universal
joint becomes two. `closedform.maths.regrouping` can then move mass along the joint axes.

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
from closedform.model.inertia import Inertia
from closedform.model.joints import (
    Cylindrical,
    Fixed,
    Helical,
    Joint,
    Mimic,
    Prismatic,
    Revolute,
    Universal,
)
from closedform.model.merging import merged
from closedform.model.pose import inverse, pose
from closedform.model.robot import Body, Frame, Robot
from closedform.model.segments import starts, turns

ON_AXIS = (Revolute, Helical, Cylindrical)
Axis = tuple[Array, Array]
"""Direction and a point of a line."""
NOISE = 32 * float(np.finfo(float).eps)
"""What rounding leaves in place of a zero when frames of size one are moved."""
ULPS = 1e-15
"""What it leaves of a cosine of 1, or of a sine of two unit vectors."""
NEARLY = 1e-9
"""What is near enough to perpendicular to choose a frame by; every choice is exact."""
SMALL = 1e-7
"""Entries of a rotation that its being one to rounding does not show: their squares are 1e-14."""
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
    whole = _unfolded(robot)
    slim = merged(whole.bodies, whole, {b.name for b in whole.bodies if isinstance(b.joint, Fixed)})
    C = _frames(slim)
    offset = _turn_offsets(slim, C)
    bodies = []
    for body in slim.bodies:
        joint, own = _on_z(body.joint), C[body.name]
        if isinstance(joint, Mimic):
            shift = own.turn - joint.ratio * C[joint.of].turn
            joint = replace(joint, offset=joint.offset + shift)
        inertia = _moved(body.inertia, _clean(inverse(own.place), _length(own.place)))
        bodies.append(Body(body.name, body.parent, joint, own.placement, inertia))
    return _finished(robot, slim, bodies, C, offset)


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
    return replace(joint, of=_primed(joint.of)) if isinstance(joint, Mimic) else joint


def _unfolded(robot: Robot) -> Robot:
    """The robot with two revolute bodies in place of every universal one."""
    bodies = []
    for body in robot.bodies:
        if isinstance(body.joint, Universal):
            first, second = turns(body.joint)
            bodies.append(Body(body.name + "/axis1", body.parent, first, body.placement))
            bodies.append(Body(body.name, body.name + "/axis1", second, np.eye(4), body.inertia))
        else:
            bodies.append(body)
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
        axis = _axis(body.joint)
        if axis is None:
            C[body.name] = _Placed(np.eye(4), _clean(inverse(above), far + _length(above)))
        else:
            onward = _next_axis(robot, body)
            placed = _on_common_normals(_driven(body.joint), axis, above, onward, far)
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
    if abs(turn - quarter * math.pi / 2) < NOISE or not isinstance(joint, Revolute | Cylindrical):
        x0, turn = x, 0.0
    start, end = (_clean(pose(np.stack([y, np.cross(e, y), e], axis=1), o),
                         _length(c) + _length(o)) for y in (x0, x))
    return _Placed(end, _clean(inverse(above) @ start, size), turn)


def _turned_to_mass(body: Body, placed: _Placed) -> _Placed:
    """The frame of a last body turned about its axis until h_y, or without any h Σ_xy, vanishes."""
    moved = body.inertia.seen_from(inverse(placed.place))
    if not isinstance(_driven(body.joint), Revolute) or not numeric(moved.array):
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
    Rz = pose([[c, -s, 0], [s, c, 0], [0, 0, 1]])
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
    points = (o_p,) if isinstance(joint, Prismatic) else (_foot(c, e, o_p, z_p), level)
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
        axis = _axis(body.joint)
        step = 0.0 if body.parent is None else _length(body.placement)
        way[body.name] = way[body.parent] + step + (0.0 if axis is None else _length(axis[1]))
    return max(way.values())


def _next_axis(robot: Robot, body: Body) -> Axis | None:
    """The axis of the child with the largest subtree, seen from the body: direction and point."""
    sizes = _subtree_sizes(robot)
    children = [b for b in robot.bodies if b.parent == body.name and _axis(b.joint) is not None]
    if not children:
        return None
    child = max(children, key=lambda b: sizes[b.name])
    e, c = _axis(child.joint) or (None, None)
    return child.placement[:3, :3] @ e, child.placement[:3, :3] @ c + child.placement[:3, 3]


def _subtree_sizes(robot: Robot) -> dict[str, int]:
    sizes = dict.fromkeys(robot.body_names, 1)
    for body in reversed(robot.bodies):
        if body.parent is not None:
            sizes[body.parent] += sizes[body.name]
    return sizes


def _driven(joint: Joint) -> Joint:
    return joint.joint if isinstance(joint, Mimic) else joint


def _axis(joint: Joint) -> Axis | None:
    """Direction and a point of the joint's axis in the body frame, where it has one."""
    own = _driven(joint)
    if isinstance(own, ON_AXIS):
        return np.array(own.axis), np.array(own.point)
    if isinstance(own, Prismatic):
        return np.array(own.axis), np.zeros(3)
    return None


def _on_z(joint: Joint) -> Joint:
    """The joint about or along the z axis of its new frame."""
    if isinstance(joint, Mimic):
        return replace(joint, joint=_on_z(joint.joint))
    if isinstance(joint, ON_AXIS):
        return replace(joint, axis=(0, 0, 1), point=(0, 0, 0))
    return replace(joint, axis=(0, 0, 1)) if isinstance(joint, Prismatic) else joint


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


def snapped(robot: Robot, tolerance: float = 1e-9) -> tuple[Robot, tuple[str, ...]]:
    """The robot with rotation entries within `tolerance` of 0 and ±1 made exact, and what changed.

    A rotation is snapped only if it stays one to rounding and no small entry is left: a tilt is
    removed as a whole or kept as it is. Axes are treated alike; offsets below a thousandth of the
    tolerance (in metres), and within it next to the placement's largest, become 0.
    """
    notes: list[str] = []

    def noted(name: str, what: str, new: Array, old: Array) -> Array:
        if not np.array_equal(new, old):
            notes.append(f"{name}: {what} changed by {np.abs(new - old).max():.1e}")
        return new

    def placement(of: Body | Frame) -> Array:
        return noted(of.name, "placement", _snapped_pose(of.placement, tolerance), of.placement)

    def joint(body: Body, own: Joint) -> Joint:
        if isinstance(own, Mimic):
            return replace(own, joint=joint(body, own.joint))
        axis = np.array(getattr(own, "axis", ()))
        if not axis.size or not numeric(axis):
            return own
        changes: dict[str, Any] = {
            "axis": tuple(noted(body.name, "axis", _snapped_axis(axis, tolerance), axis))}
        return replace(own, **changes)

    bodies = [replace(b, placement=placement(b), joint=joint(b, b.joint)) for b in robot.bodies]
    frames = [replace(f, placement=placement(f)) for f in robot.frames]
    return Robot(robot.name, bodies, robot.gravity, frames, robot.source), tuple(notes)


def _snapped_pose(T: Array, tolerance: float) -> Array:
    if not numeric(T):
        return T
    R, p = T[:3, :3], T[:3, 3]
    tidy = _tidy(R, tolerance)
    if np.abs(tidy.T @ tidy - np.eye(3)).max() > 4e-15:
        tidy = R
    least = tolerance * min(1e-3, np.abs(p).max())
    return pose(tidy, np.where(np.abs(p) < least, 0.0, p))


def _snapped_axis(axis: Array, tolerance: float) -> Array:
    tidy = _tidy(axis, tolerance)
    return tidy if abs(np.linalg.norm(tidy) - 1) < 4e-16 else axis


def _tidy(entries: Array, tolerance: float) -> Array:
    """The entries within `tolerance` of 0 and ±1 made exact, unless other small ones are left."""
    near = np.round(entries)
    tidy = np.where(np.abs(entries - near) < tolerance, near, entries)
    return entries if np.any((tidy != 0) & (np.abs(tidy) < SMALL)) else tidy
