"""The same robot in frames and parameters that cost the fewest operations.

    q' = q + offset     coordinates of the canonical robot
    C_k                 its body frames: z on the joint axis, x on the common normal to the next

Frames follow the modified convention of Denavit and Hartenberg, with the constant part of a
joint's turn moved into `offset`; fixed bodies merge into the ones that carry them; a joint of
several parts becomes so many. `closedform.maths.canonical.regrouping` can then move mass along the
joint axes.

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
from closedform.model.pose import inverse, pose
from closedform.model.robot import Body, Frame, Robot
from closedform.model.segments import named_parts, starts

NOISE = 1e-14
"""What rounding leaves in numbers of size one when frames are moved."""


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
    slim = merged(whole.bodies, whole, {b.name for b in whole.bodies if b.joint.is_fixed})
    C = _frames(slim)
    offset = _turn_offsets(slim, C)
    bodies = []
    for body in slim.bodies:
        own, driver = C[body.name], body.joint.driver
        if driver is not None:
            shift = own.turn - driver.ratio * C[driver.of].turn
            driver = driver._replace(offset=driver.offset + shift)
        joint = body.joint.with_moving(body.joint.moving.on_z(), driver)
        inertia = _clean_inertia(body.inertia.seen_from(inverse(own.place)), slim)
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
    driver = joint.driver and joint.driver._replace(of=_primed(joint.driver.of))
    return joint.with_moving(joint.moving, driver)


def _unfolded(robot: Robot) -> Robot:
    """The robot with a body for every part of a joint; all but the last are without mass."""
    bodies = []
    for body in robot.bodies:
        above, at = body.parent, body.placement
        for name, joint in named_parts(body):
            inertia = body.inertia if name == body.name else Inertia()
            bodies.append(Body(name, above, joint, at, inertia))
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
    for body in robot.bodies:
        above = inverse(body.placement) @ C[body.parent].place  # the parent's frame, at q = 0
        joint = body.joint.moving
        if joint.line is None:
            C[body.name] = _Placed(np.eye(4), _clean(inverse(above)))
        else:
            onward = _next_axis(robot, body)
            placed = _on_common_normals(joint, joint.line, above, onward)
            C[body.name] = placed if onward else _turned_to_mass(body, placed)
    return C


def _on_common_normals(
    joint: Joint, axis: tuple[Array, Array], above: Array, onward: tuple[Array, Array] | None,
) -> _Placed:
    """The frame of a joint on the axis (direction, point), between `above` and `onward`."""
    e, c = axis
    slides = not np.any(joint.S[3:])
    x_p, z_p, o_p = above[:3, 0], above[:3, 2], above[:3, 3]
    x0 = _perpendicular(x_p, z_p, e)
    o0 = o_p if slides else _foot(c, e, o_p, z_p)
    x, o = x0, o0
    if onward is not None:
        e_j, c_j = onward
        normal = np.cross(e, e_j)
        if np.linalg.norm(normal) > 1e-9:
            x, o = normal / np.linalg.norm(normal), _foot(o0, e, c_j, e_j)
        else:
            across = (c_j - o0) - ((c_j - o0) @ e) * e
            if np.linalg.norm(across) > 1e-9:
                x = across / np.linalg.norm(across)
        x = x if x @ x0 >= -1e-9 else -x
    turn = math.atan2(np.cross(x0, x) @ e, x0 @ x)
    quarter = round(turn / (math.pi / 2))
    if abs(turn - quarter * math.pi / 2) < 1e-9 or not joint.takes_turns:
        x0, turn = x, 0.0
    start = pose(np.stack([x0, np.cross(e, x0), e], axis=1), o)
    end = pose(np.stack([x, np.cross(e, x), e], axis=1), o)
    return _Placed(end, _clean(inverse(above) @ start), turn)


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
    Rz = pose([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    return _Placed(placed.place @ Rz, placed.placement, placed.turn + turn)


def _perpendicular(x_p: Array, z_p: Array, e: Array) -> Array:
    """A unit vector across e: the parent's x where that is across, else the axes' common normal."""
    if abs(x_p @ e) < 1e-9:
        return x_p - (x_p @ e) * e
    normal = np.cross(z_p, e)
    size = np.linalg.norm(normal)
    return normal / size if size > 1e-9 else x_p


def _foot(c: Array, e: Array, c_j: Array, e_j: Array) -> Array:
    """The point of the line (c, e) nearest to the line (c_j, e_j); if parallel, to c_j."""
    w, b = c_j - c, e @ e_j
    if 1 - b * b < 1e-18:
        return c + (w @ e) * e
    return c + ((w @ e - b * (w @ e_j)) / (1 - b * b)) * e


def _next_axis(robot: Robot, body: Body) -> tuple[Array, Array] | None:
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
def _clean(T: Array) -> Array:
    """The pose with what rounding left in place of zeros and ones removed."""
    R, p = T[:3, :3], T[:3, 3]
    near = np.round(R)
    R = np.where(np.abs(R - near) < 1e-12, near, R)
    size = max(1.0, float(np.abs(p).max()))
    return pose(R, np.where(np.abs(p) < 1e-13 * size, 0.0, p))


def _clean_inertia(inertia: Inertia, robot: Robot) -> Inertia:
    """The inertia without entries that are rounding errors next to the robot's largest."""
    if not numeric(inertia.array):
        return inertia
    all_ = np.abs(np.array([b.inertia.array for b in robot.bodies], dtype=float))
    scale = np.repeat([all_[:, :1].max(), all_[:, 1:4].max(), all_[:, 4:].max()], [1, 3, 6])
    p = inertia.array
    return Inertia.from_parameters(np.where(np.abs(p) <= NOISE * scale, 0.0, p))


def snapped(robot: Robot, tolerance: float = 1e-9) -> tuple[Robot, tuple[str, ...]]:
    """The robot with rotation entries within `tolerance` of 0 and ±1 made exact, and what changed.

    A rotation is snapped only if it stays orthonormal to rounding. Axes are treated alike; offsets
    below a thousandth of the tolerance (in metres) become 0.
    """
    notes: list[str] = []
    bodies = []
    for body in robot.bodies:
        T = _snapped_pose(body.placement, tolerance)
        if not np.array_equal(T, body.placement):
            worst = np.abs(T - body.placement).max()
            notes.append(f"{body.name}: placement changed by {worst:.1e}")
        bodies.append(replace(body, placement=T, joint=_snapped_joint(body.joint, tolerance)))
    frames = [replace(f, placement=_snapped_pose(f.placement, tolerance)) for f in robot.frames]
    return Robot(robot.name, bodies, robot.gravity, frames, robot.source), tuple(notes)


def _snapped_pose(T: Array, tolerance: float) -> Array:
    if not numeric(T):
        return T
    R, p = T[:3, :3], T[:3, 3]
    near = np.round(R)
    tidy = np.where(np.abs(R - near) < tolerance, near, R)
    if np.abs(tidy.T @ tidy - np.eye(3)).max() > 4e-15:
        tidy = R
    return pose(tidy, np.where(np.abs(p) < tolerance * 1e-3, 0.0, p))


def _snapped_joint(joint: Joint, tolerance: float) -> Joint:
    moving, changes = joint.moving, dict[str, Any]()
    for name in moving.axes:
        a = np.array(getattr(moving, name))
        if numeric(a):
            near = np.round(a)
            tidy = np.where(np.abs(a - near) < tolerance, near, a)
            if abs(np.linalg.norm(tidy) - 1) < 4e-16:
                changes[name] = tuple(tidy)
    return joint.with_moving(replace(moving, **changes))
