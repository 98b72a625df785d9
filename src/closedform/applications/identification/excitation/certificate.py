"""Torques within their limits at **all** times: samples, and a bound of how fast torques change.

    |τ(t)| ≤ |τ(t_k)| + L |t − t_k|,     L ≥ |dτ/dt| at all times

L comes from lengths alone: every vector of the motion has a bound for each of its derivatives, and
products and turns of vectors have bounds of theirs by Leibniz's rule,

    |(x y)⁽ⁿ⁾| ≤ Σ_k C(n, k) |x⁽ᵏ⁾| |y⁽ⁿ⁻ᵏ⁾|,     x⁽ⁿ⁺¹⁾ = (ω × x)⁽ⁿ⁾ of what is fixed in a body.

It is generous; stretches that it cannot decide are halved until they are.
"""

from __future__ import annotations

from collections.abc import Callable
from math import comb

import numpy as np

from closedform.applications.identification.excitation.motions import Basis
from closedform.applications.identification.excitation.rows import MotionRows
from closedform.arrays import Floats, namespace
from closedform.maths.kinematics import body_segments
from closedform.model.segments import Segment

FIRST = 1024
"""Stretches to begin with."""
PARTS = 8
"""Into so many a stretch is divided that is not decided."""
DEPTH = 7
"""Times that this is done: 2 µs of ten seconds."""
MOST = 500_000
"""Samples at a time; a motion that needs more is too close to its limits."""

Sizes = Callable[[Floats], Floats]
"""Times -> (times, sizes), such as |τ|."""


def within(size: Sizes, duration: float, limit: Floats, rate: Floats) -> bool:
    """Whether sizes keep a limit at all times of a motion, certainly; `rate` bounds their slope."""
    used = np.isfinite(limit)
    if not used.any():
        return True
    half = duration / FIRST / 2
    middle = (2 * np.arange(FIRST) + 1) * half
    for _ in range(DEPTH):
        now = size(middle)[:, used]
        if np.any(now > limit[used]):
            return False
        middle = middle[np.any(now + rate[used] * half > limit[used], axis=1)]
        if not len(middle):
            return True
        if len(middle) * PARTS > MOST:
            return False
        half /= PARTS
        middle = (middle[:, None] + half * (2 * np.arange(PARTS) + 1 - PARTS)).ravel()
    return False


def torque_rates(rows: MotionRows, basis: Basis, X: Floats) -> Floats:
    """(nv,): bounds of |dτ/dt| of the robot as expected, on a motion."""
    model, robot = rows.model, rows.model.loaded
    reach, rates = _bounds(rows, basis, X)
    chains = _Chains(robot.segments, rows.room.start, reach, rates)
    n, own = 10 * len(model.body.bodies), len(model.body.parameter_names)
    tens = np.concatenate([rows.standard[:n], rows.standard[own:own + 10]]) \
        if model.payload else rows.standard[:n]
    found, gravity = np.zeros(robot.nv), float(np.linalg.norm(robot.gravity))
    for k, segment in enumerate(robot.segments, start=1):
        if segment.body is not None:
            rotor = max((float(robot.rotor_inertia[i]) for i in segment.v_index), default=0.0)
            at = 10 * segment.body
            chains.add(found, k, tens[at:at + 10], gravity, rotor)
    found[list(rows.room.at)] += rows.stiffness * rates[0, list(rows.room.at)]
    return found + _friction(rows, rates)


def place_rates(rows: MotionRows, basis: Basis, X: Floats) -> Callable[[int, float], float]:
    """(body, distance from its origin) -> a bound of how fast points there move; −1: the world."""
    robot = rows.model.robot
    chains = _Chains(robot.segments, rows.room.start, *_bounds(rows, basis, X))
    at = [0, *body_segments(robot)]

    def fastest(body: int, distance: float) -> float:
        k = at[body + 1]
        return float(chains.place[k][1] + _fixed(chains.turn[k], distance)[1])
    return fastest


def _bounds(rows: MotionRows, basis: Basis, X: Floats) -> tuple[Floats, Floats]:
    """Of |q|, (nq,), and of |v|, |a| and the jerk, (3, nv), at all times."""
    room = rows.room
    low, high = basis.range(X, 0)
    reach, rates = np.abs(room.start), np.zeros((3, rows.model.robot.nv))
    reach[list(room.q_at)] = np.maximum(np.abs(room.home + low), np.abs(room.home + high))
    for order in (1, 2, 3):
        rates[order - 1, list(room.at)] = basis.largest(X, order)
    return reach, rates


def _friction(rows: MotionRows, rates: Floats) -> Floats:
    """Viscous friction changes with the acceleration; a sign within the time that slip gives it."""
    model = rows.model
    values = dict(zip(model.standard_names, rows.standard, strict=True))
    found = np.zeros(model.robot.nv)
    for n, i in enumerate(model.actuated):
        for name in model.friction.names:
            x = abs(values[f"{model.velocity_names[i]}.{name}"])
            if name.startswith("viscous"):
                found[i] += x * (rates[1, i] + rates[0, i] * rates[1, i] / rows.slip[n])
            elif name.startswith("coulomb"):
                found[i] += x * rates[1, i] / rows.slip[n]
    return found


class _Chains:
    """Bounds of the vectors of a tree; all arrays are derivatives of order 0, 1, …"""

    def __init__(self, segments: tuple[Segment, ...], start: Floats, reach: Floats,
                 rates: Floats) -> None:
        self.segments = segments
        self.turn: list[Floats] = [np.zeros(3)]            # ω
        self.place: list[Floats] = [np.zeros(4)]           # of the origin
        self.axis: list[Floats] = [np.zeros(4)]
        self.before: list[Floats] = [np.zeros(4)]          # from the parent's origin to the axis
        self.after: list[Floats] = [np.zeros(4)]           # from the axis to the own origin
        self.spins: list[float] = [0.0]                    # rad for each of v
        self.slides: list[float] = [0.0]                   # m for each of v
        for segment in segments:
            self._append(segment, start, reach, rates)

    def _append(self, segment: Segment, start: Floats, reach: Floats, rates: Floats) -> None:
        joint, ratio, turn = segment.joint, abs(float(segment.ratio)), self.turn[segment.parent]
        own = rates[:, list(segment.v_index)].max(axis=1, initial=0.0) * ratio
        point = np.zeros(3) if joint.line is None else np.asarray(joint.line[1], dtype=float)
        S = np.asarray(joint.S, dtype=float).reshape(6, -1)
        spin = float(np.linalg.norm(S[3:], axis=0).sum())
        slide = float(np.linalg.norm(S[:3] - np.cross(point[:, None], S[3:], axis=0), axis=0).sum())
        fixed = np.linalg.norm(np.asarray(segment.placement, dtype=float)[:3, 3])
        if np.any(own):
            far = ratio * float(reach[list(segment.q_index)].max()) + abs(float(segment.offset))
        else:
            far, (_, p) = 0.0, joint.pose(segment.coordinates(start), namespace(start))
            fixed += np.linalg.norm(np.asarray(p, dtype=float))
        axis = _fixed(turn, 1.0)
        self.turn.append(turn + _product(axis[:3], spin * own))
        self.axis.append(axis)
        self.before.append(_fixed(turn, float(fixed + np.linalg.norm(point)))
                           + _product(axis, slide * np.array([far, *own])))
        self.after.append(_fixed(self.turn[-1], float(np.linalg.norm(point))))
        self.place.append(self.place[segment.parent] + self.before[-1] + self.after[-1])
        self.spins.append(ratio * spin)
        self.slides.append(ratio * slide)

    def add(self, found: Floats, k: int, own: Floats, gravity: float, rotor: float) -> None:
        """What a body adds to the bounds of all torques on the way to the world."""
        m, turn = abs(float(own[0])), self.turn[k]
        centre = float(np.linalg.norm(own[1:4]) / m) if m > 0 else 0.0
        I = np.array([[own[4], own[5], own[7]], [own[5], own[6], own[8]], [own[7], own[8], own[9]]])
        tensor = float(np.linalg.norm(I, 2)) + m * centre**2 + rotor    # about the centre: less
        arm = _fixed(turn, centre)
        place = self.place[k] + arm
        force = m * np.array([place[2] + gravity, place[3]])
        momentum = _product(_fixed(2 * turn, tensor)[:3], turn)
        moment = momentum[1:]
        while k:
            segment = self.segments[k - 1]
            arm = arm + self.after[k]
            axis = self.axis[k][:2]
            turning = _product(_product(axis, arm[:2]), force) + _product(axis, moment)
            sliding = _product(axis, force)
            for i in segment.v_index:
                found[i] += self.spins[k] * turning[1] + self.slides[k] * sliding[1]
            arm = arm + self.before[k]
            k = segment.parent


def _product(x: Floats, y: Floats) -> Floats:
    """Bounds of the derivatives of a product."""
    return np.array([sum(comb(n, k) * x[k] * y[n - k] for k in range(n + 1))
                     for n in range(min(len(x), len(y)))])


def _fixed(turn: Floats, length: float) -> Floats:
    """Bounds of the derivatives of a vector of that length in a body that turns so."""
    x = [length]
    for n in range(3):
        x.append(sum(comb(n, k) * turn[k] * x[n - k] for k in range(n + 1)))
    return np.array(x)
