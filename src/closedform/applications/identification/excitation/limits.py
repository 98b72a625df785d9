"""Limits of a motion: from the robot's file, or as given; what is missing is replaced in words."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from closedform.applications.identification.model import Model
from closedform.arrays import Array, ArrayLike, Floats, real_array
from closedform.errors import ArgumentError, UnknownName, suggestion
from closedform.model.robot import Robot

REACH = {False: np.pi, True: 0.5}
"""Where a joint has no limits: so far to either side of the start, rad, or m of a slide."""
SPEED = {False: 1.5, True: 0.25}
"""Where a joint has no limit of its velocity, rad/s or m/s."""
RISE = 0.2
"""Seconds to the limit of the velocity, where there is no limit of the acceleration."""
LEAST = 0.01
"""Room that a joint has at its start on either side, of its range, or rad and m of a wider one."""

LimitsGiven = float | ArrayLike | Mapping[str, float] | None


@final
@dataclass(frozen=True, eq=False)
class Limits:
    """What a motion may not exceed; by default what the robot's file says.

    One number for all joints that have a motor, one for each, or a dictionary of joints.
    `position` is a pair (lower, upper) of these, or a dictionary of pairs. A motion takes up to
    `margin` of every limit. `clearance` (m) is the distance that the lines of links (from joint to
    joint) keep from each other, their thickness included; without it nobody looks at collisions.
    With `collision` it is the distance (0.01 m by default) between capsules about links: those of
    a URDF file's <collision> shapes, or `{"link1": [(point, point, radius), …]}` in the frames of
    links. Neighbours in the tree and the pairs of links in `touching` are not looked at.
    """

    position: Any = None
    velocity: LimitsGiven = None                # rad/s, m/s
    acceleration: LimitsGiven = None            # rad/s², m/s²
    torque: LimitsGiven = None                  # N m, N
    margin: float = 0.95
    clearance: float | None = None
    collision: Any = None
    touching: Collection[tuple[str, str]] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.margin, int | float) or not 0 < self.margin <= 1:
            raise ArgumentError("Limits: margin must be above 0 and at most 1, not "
                                f"{self.margin!r}")
        if self.clearance is not None and not (isinstance(self.clearance, int | float)
                                               and 0 <= self.clearance < np.inf):
            raise ArgumentError(f"Limits: clearance must be metres, not {self.clearance!r}")


@final
@dataclass(frozen=True, eq=False)
class Room:
    """What a motion has: which joints move, from where, and how far, all in the order of `at`."""

    at: tuple[int, ...]             # the velocities that move
    q_at: tuple[int, ...]           # their entries of q
    start: Floats                   # (nq,)
    lower: Floats                   # of q, margin taken off
    upper: Floats
    velocity: Floats
    acceleration: Floats
    torque: Floats                  # (nv,), ∞ where there is none
    full: dict[str, Floats]         # the same limits without margin
    notes: tuple[str, ...]

    @property
    def home(self) -> Floats:
        """Where the joints that move start."""
        return self.start[list(self.q_at)]


def room_of(model: Model, limits: Limits, start: ArrayLike | None = None) -> Room:
    """The limits of a robot's motion from `start`; an error where it cannot even stand there."""
    robot, notes = model.robot, []
    q_of, slides = _coordinates(robot)
    at = [i for i in model.actuated if i in q_of]
    still = [model.velocity_names[i] for i in model.actuated if i not in q_of]
    if still:
        notes.append(f"stand still, their coordinates are no plain numbers: {', '.join(still)}")
    if robot.is_floating:
        notes.append("the floating base stands still; only joints with a motor move")
    slide = np.array([slides[i] for i in at], dtype=bool)
    names = [model.velocity_names[i] for i in at]
    q_at = [q_of[i] for i in at]
    reach = np.where(slide, REACH[True], REACH[False])
    low, high = _positions(model, limits, at, q_at)
    begin = _start(robot, start, q_at, low, high)
    home = begin[q_at]
    free = ~(np.isfinite(low) & np.isfinite(high))
    low = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high - 2 * reach,
                                                   home - reach))
    high = np.where(np.isfinite(high), high, np.where(free & (low > home - reach),
                                                      low + 2 * reach, home + reach))
    if limits.position is None:
        low, high = _together(robot, at, begin, np.stack([low, high]))
    _say(notes, "position", names, free, "π rad or 0.5 m to either side of the start")
    v, missing = _plain(model, limits.velocity, "velocity", at, robot.velocity_limits)
    _say(notes, "velocity", names, missing, "1.5 rad/s or 0.25 m/s")
    v = np.where(missing, np.where(slide, SPEED[True], SPEED[False]), v)
    v = v / np.maximum(1.0, _mimic_speed(robot, at, v))
    a, missing = _plain(model, limits.acceleration, "acceleration", at, np.full(robot.nv, np.inf))
    _say(notes, "acceleration", names, missing, "the velocity's limit in 0.2 s")
    a = np.where(missing, v / RISE, a)
    tau, missing = _plain(model, limits.torque, "torque", list(range(robot.nv)),
                          robot.effort_limits)
    tau[missing] = np.inf
    _say(notes, "torque", [model.velocity_names[i] for i in at], missing[at], "none is kept")
    moves = high - low > 0
    _say(notes, "", names, ~moves, "", "stand still, their limits are one number")
    if not moves.any():
        raise ArgumentError(f"excite: no joint of {robot.name} can move")
    kept = np.flatnonzero(moves)
    full = {"lower": low[kept], "upper": high[kept], "velocity": v[kept], "acceleration": a[kept],
            "torque": tau}
    middle, half, m = (low + high) / 2, (high - low) / 2, float(limits.margin)
    return Room(tuple(at[k] for k in kept), tuple(q_at[k] for k in kept), begin,
                np.minimum(middle - m * half, home)[kept],
                np.maximum(middle + m * half, home)[kept],
                m * v[kept], m * a[kept], m * tau, full, tuple(notes))


def _coordinates(robot: Robot) -> tuple[dict[int, int], dict[int, bool]]:
    """For each velocity that is the rate of one coordinate: which one, and whether it is metres."""
    q_of, slides = {}, {}
    for body, q, v in robot.parts:
        if body.joint.is_vector:
            for n in range(body.joint.nv):
                q_of[v.start + n] = q.start + n
                slides[v.start + n] = n in body.joint.lengths
    return q_of, slides


def _say(notes: list[str], what: str, names: list[str], which: Array, instead: str,
         line: str = "") -> None:
    if np.any(which):
        named = ", ".join(n for n, w in zip(names, which, strict=True) if w)
        notes.append(f"{line}: {named}" if line else
                     f"no limit of the {what} of {named}: {instead}")


def _mimics(robot: Robot) -> list[tuple[dict[int, float], float, Any]]:
    """({velocity: ratio}, offset, joint) of the joints that follow others."""
    return [(dict(zip(s.v_index, np.atleast_1d(s.ratio).astype(float).tolist(), strict=True)),
             float(s.offset), robot.bodies[s.owner].joint.moving)
            for s in robot.segments if robot.bodies[s.owner].joint.driver is not None]


def _together(robot: Robot, at: list[int], home: Array, room: Floats) -> Floats:
    """(lower, upper) drawn in towards home where drivers together take a mimic past its limits."""
    room = room.copy()
    for ratios, offset, joint in _mimics(robot):
        own = [at.index(i) for i in ratios if i in at]
        r = np.array([x for i, x in ratios.items() if i in at])
        if len(ratios) < 2 or not own:
            continue
        q_of, _ = _coordinates(robot)
        x = offset + sum(x * home[q_of[i]] for i, x in ratios.items())
        start = home[[q_of[at[k]] for k in own]]
        ends = r * (room[:, own] - start)
        used = np.array([ends.min(axis=0).sum(), ends.max(axis=0).sum()])
        given = np.array([joint.per_coordinate("lower", 1, -np.inf)[0] - x,
                          joint.per_coordinate("upper", 1, np.inf)[0] - x])
        part = np.clip(given / np.where(used == 0, 1, used), 0, 1)[used != 0].min(initial=1)
        room[:, own] = start + part * (room[:, own] - start)
    return room


def _mimic_speed(robot: Robot, at: list[int], v: Floats) -> Floats:
    """How many times too fast the joints are that follow each of these at their own limits."""
    found = np.zeros(len(at))
    for ratios, _, joint in _mimics(robot):
        own = joint.per_coordinate("velocity", 1, np.inf)[0]
        fastest = sum(abs(r) * v[at.index(i)] for i, r in ratios.items() if i in at)
        for k in (at.index(i) for i in ratios if i in at and own > 0):
            found[k] = max(found[k], fastest / own)
    return found


def _positions(model: Model, limits: Limits, at: list[int],
               q_at: list[int]) -> tuple[Floats, Floats]:
    """Lower and upper limits, ∓∞ where there are none; those of mimics are their drivers' too."""
    robot, given = model.robot, limits.position
    low, high = (np.array(x, dtype=float)[q_at] for x in (robot.lower, robot.upper))
    if given is None:
        for ratios, offset, joint in _mimics(robot):
            (i, ratio), *others = ratios.items()
            if i in at and ratio != 0 and not others:
                k = at.index(i)
                own = joint.per_coordinate("lower", 1, -np.inf), \
                    joint.per_coordinate("upper", 1, np.inf)
                ends = sorted((float(x[0]) - offset) / ratio for x in own)
                low[k], high[k] = max(low[k], ends[0]), min(high[k], ends[1])
    elif isinstance(given, Mapping):
        pairs = {n: real_array(x, (2,), f"Limits: position of {n}") for n, x in given.items()}
        low = _named(model, {n: p[0] for n, p in pairs.items()}, "position", at, low)
        high = _named(model, {n: p[1] for n, p in pairs.items()}, "position", at, high)
    else:
        if not isinstance(given, tuple | list | np.ndarray) or len(given) != 2:
            raise ArgumentError("Limits: position must be a pair (lower, upper) of numbers or "
                                f"arrays, or a dictionary of pairs, not {given!r}")
        low, high = (_numbers(model, x, "position", at) for x in given)
    if np.any(low > high):
        k = int(np.argmax(low > high))
        raise ArgumentError(f"Limits: position of {model.velocity_names[at[k]]}: the lower limit "
                            f"{low[k]:g} is above the upper {high[k]:g}")
    return low, high


def _plain(model: Model, given: LimitsGiven, what: str, at: list[int],
           own: Floats) -> tuple[Floats, Floats]:
    """Numbers for the velocities `at`, and where there are none: not given, zero or infinite."""
    own = np.array(own, dtype=float)[at]
    if isinstance(given, Mapping):
        x = _named(model, given, what, at, own)
    else:
        x = own if given is None else _numbers(model, given, what, at)
    if np.any(x < 0) or (given is not None and not isinstance(given, Mapping) and np.any(x == 0)):
        raise ArgumentError(f"Limits: {what} must be positive, not {given!r}")
    return x, ~np.isfinite(x) | (x == 0)


def _named(model: Model, given: Mapping[str, Any], what: str, at: list[int],
           own: Floats) -> Floats:
    names = [model.velocity_names[i] for i in at]
    x = np.array(own, dtype=float)
    for name, value in given.items():
        if name not in names:
            raise UnknownName(f"Limits: {what}: no joint {name!r} that moves; "
                              f"{suggestion(str(name), names)}")
        x[names.index(name)] = float(real_array(value, (), f"Limits: {what} of {name}"))
    return x


def _numbers(model: Model, given: Any, what: str, at: list[int]) -> Floats:
    """One number, or one for each motor or velocity, at those that are asked for."""
    x, nv, motors = real_array(given, (), f"Limits: {what}"), model.robot.nv, list(model.actuated)
    if np.any(np.isnan(x)):
        raise ArgumentError(f"Limits: {what} must be numbers, not {given!r}")
    every = np.full(nv, np.inf)
    if x.ndim == 0 or x.shape == (len(motors),):
        every[motors] = x
    elif x.shape == (nv,):
        every = np.array(x)
    else:
        raise ArgumentError(f"Limits: {what} must be one number or {len(motors)}, one for each "
                            f"joint that has a motor, not of shape {x.shape}")
    return every[at]


def _start(robot: Robot, start: ArrayLike | None, q_at: list[int], low: Floats,
           high: Floats) -> Floats:
    """The place to start from: the middle of the limits, neutral where there are none."""
    if start is None:
        q = np.array(robot.neutral(), dtype=float)
        both = np.isfinite(low) & np.isfinite(high)
        middle = (np.where(both, low, 0.0) + np.where(both, high, 0.0)) / 2
        q[q_at] = np.where(both, middle, np.clip(q[q_at], low, high))
        return q
    q = np.array(real_array(start, (robot.nq,), "excite: start"))
    if q.shape != (robot.nq,) or not np.all(np.isfinite(q)):
        raise ArgumentError(f"excite: start must be {robot.nq} finite numbers, q of {robot.name}")
    least = np.where(high > low, LEAST * np.minimum(high - low, 1.0), 0.0)
    outside = (q[q_at] < low + least) | (q[q_at] > high - least)
    if outside.any():
        k = int(np.argmax(outside))
        raise ArgumentError(f"excite: start: coordinate {q_at[k]} is {q[q_at][k]:g}, not inside "
                            f"its limits [{low[k]:g}, {high[k]:g}] with room on both sides")
    return q
