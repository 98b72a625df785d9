"""A robot's geometry in exact numbers: poses, screws and the direction of gravity.

Numbers read from a model are declared exact: frames are put on the joint axes, each pose is written
as six modified-DH numbers against the last joint before it that can turn (so that what prismatic
and fixed joints leave parallel stays so), and those six are snapped. World poses are taken against
a frame with z along gravity. Poses with symbols are read entry by entry; a symbol a inside sin or
cos is replaced by t = tan(a/2).

Cites: [KhalilKleinfinger1986] for the six numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from closedform.arrays import Array, numeric
from closedform.errors import ArgumentError
from closedform.maths.base_parameters.exact_linear import (
    ExactVector,
    Matrix,
    NumberField,
    RationalFunctions,
    Rationals,
    product,
    transposed,
)
from closedform.maths.base_parameters.modified_dh import (
    FINE,
    Declared,
    ExactPose,
    Snapping,
    compose,
    inverted,
    modified_dh,
    simplest_fraction,
)
from closedform.maths.base_parameters.symbolic_entries import (
    fraction_of,
    rational_function,
    symbols_of,
)
from closedform.maths.spatial import inverse_motion_transform
from closedform.model.pose import basis_with_third, inverse, pose
from closedform.model.robot import Robot
from closedform.model.segments import Segment

TOLERANCE = 1e-6
"""Angles (rad) this near to right angles, and lengths this near to 0 (of the robot's size)."""


@dataclass(frozen=True)
class ExactSegment:
    """A segment in exact numbers, in its body's own frame.

    `pose` is its pose in the parent's frame at zero; `screws` are the columns of the joint's S;
    `powers` are the coefficients of x, x², … in a mimic's polynomial of its driver's coordinate,
    `slide` and `turn` = (cos, sin) its offset; `ratios` are those of a mimic of several drivers.
    """

    segment: Segment
    pose: ExactPose
    screws: Matrix
    powers: tuple[Fraction, ...] = (Fraction(1),)
    slide: Any = 0
    turn: tuple[Any, Any] = (1, 0)
    ratios: tuple[Fraction, ...] = ()


@dataclass(frozen=True)
class ExactGeometry:
    """All segments, the direction of gravity (zero without gravity), and what was declared."""

    field: NumberField
    segments: tuple[ExactSegment, ...]
    gravity: ExactVector
    tolerance: float
    snaps: tuple[Declared, ...]
    near: tuple[Declared, ...]


def geometry_symbols(robot: Robot) -> tuple[str, ...]:
    """Names of the symbols in poses, screws and gravity, angles as `tan(a/2)`."""
    parts = [robot.gravity, *(s.placement for s in robot.segments),
             *(s.joint.S for s in robot.segments)]
    return symbols_of([x for part in parts if not numeric(part) for x in np.ravel(part)])


def default_field(robot: Robot) -> NumberField:
    """Rational numbers, or rational functions of the robot's symbols."""
    names = geometry_symbols(robot)
    return RationalFunctions(names) if names else Rationals()


def exact_geometry(robot: Robot, field: NumberField | None = None,
                   tolerance: float = TOLERANCE) -> ExactGeometry:
    """The robot's geometry over a field; `tolerance` is where special values begin."""
    if not isinstance(tolerance, int | float | np.number) or not 0 <= tolerance < 0.1:
        raise ArgumentError(f"tolerance must be a number from 0 to 0.1 rad, not {tolerance!r}")
    return _Reading(robot, field or default_field(robot), tolerance).geometry()


class _Reading:
    """One pass over a robot: joint frames, poses against the last turning joint, exact numbers."""

    def __init__(self, robot: Robot, field: NumberField, tolerance: float) -> None:
        self.robot, self.field = robot, field
        self.up, self.gravity = _upward(robot)
        self.frames = [s.joint.frame if numeric(s.joint.S) else np.eye(4) for s in robot.segments]
        self.snapping = Snapping(tolerance, 1.0, [], [])
        self.snapping.size = self._size()

    def geometry(self) -> ExactGeometry:
        snap = self.snapping
        world = snap.pose(pose(self.up), "gravity") if self.up is not None else _still()
        bodies = [world, *(snap.pose(A, f"{s.name} axis") for A, s in
                           zip(self.frames, self.robot.segments, strict=True))]
        placed = self._placed()
        result = []
        for k, s in enumerate(self.robot.segments, start=1):
            carried = compose(inverted(placed[s.parent]), placed[k]) if self._rides(s) \
                else placed[k]
            at = compose(compose(bodies[s.parent], carried), inverted(bodies[k]))
            own = self._in_field(at) if numeric(s.placement) else self._entries(s.placement, s.name)
            result.append(self._segment(s, own, bodies[k]))
        gravity = [self._entry(x) for x in self.gravity] if self.up is None \
            else [self.field.number(-row[2]) for row in world.R]
        return ExactGeometry(self.field, tuple(result), gravity, snap.tolerance,
                             tuple(snap.changes), tuple(snap.near))

    # ------------------------------------------------------------------ poses
    def _in_field(self, at: ExactPose) -> ExactPose:
        convert = self.field.number
        return ExactPose([[convert(x) for x in row] for row in at.R], [convert(x) for x in at.p])

    def _rides(self, s: Segment) -> bool:
        """Whether the parent cannot turn, so that poses count from further up."""
        return s.parent > 0 and not np.any(self.robot.segments[s.parent - 1].joint.S[3:] != 0)

    def _against_carrier(self) -> list[Array]:
        """Joint frames at q = 0 against that of the last joint above that turns."""
        placed: list[Array] = [np.eye(4)]
        A: list[Array] = [pose(self.up) if self.up is not None else np.eye(4), *self.frames]
        for k, s in enumerate(self.robot.segments, start=1):
            at = s.placement if numeric(s.placement) else np.eye(4)
            step = inverse(A[s.parent]) @ at @ A[k]
            placed.append(placed[s.parent] @ step if self._rides(s) else step)
        return placed

    def _placed(self) -> list[ExactPose]:
        names = ["world", *(s.name for s in self.robot.segments)]
        return [self.snapping.pose(T, name)
                for T, name in zip(self._against_carrier(), names, strict=True)]

    def _size(self) -> float:
        """The largest of the lengths b, d, r."""
        numbers = [modified_dh(T, 1e-9, 1.0) for T in self._against_carrier()]
        return max((abs(x) for n in numbers for x in (n.b, n.d, n.r)), default=0.0) or 1.0

    def _entries(self, T: Array, where: str) -> ExactPose:
        """A pose with symbols, entry by entry; its rotation must be one exactly."""
        R = [[self._entry(x) for x in row[:3]] for row in T[:3]]
        square = product(transposed(R), R)
        if any(square[i][j] != int(i == j) for i in range(3) for j in range(3)):
            raise ArgumentError(f"{where}: the placement holds symbols, but its rotation is not "
                                "orthonormal in exact numbers; write every angle as a symbol or a "
                                "multiple of pi/2")
        return ExactPose(R, [self._entry(row[3]) for row in T[:3]])

    def _entry(self, x: Any) -> Any:
        return rational_function(x, self.field) if not numeric(np.asarray(x)) \
            else self.field.number(fraction_of(float(x)))

    # ------------------------------------------------------------------ joints
    def _segment(self, s: Segment, at: ExactPose, frame: ExactPose) -> ExactSegment:
        snap, convert = self.snapping, self.field.number
        if numeric(s.joint.S) and s.joint.twists is not None:
            pitch = Fraction(0)
            if s.joint.advance:
                pitch = snap.ratio(float(s.joint.advance), s.name, "pitch")
            screws = [[convert(x) for x in _moved(frame, axis, pitch)] for axis in s.joint.twists]
        else:
            screws = [[self._entry(x) for x in column] for column in s.joint.S.T]
        several = s.ratio if isinstance(s.ratio, tuple) else ()
        given = (1, *s.higher) if several else (s.ratio, *s.higher)
        if not numeric(np.asarray([*several, *given, s.offset])):
            raise ArgumentError(f"{s.name}: a mimic's ratio and offset must be numbers here")
        offset = float(s.offset)
        slide = simplest_fraction(offset, FINE * max(1.0, abs(offset)))
        cos, sin = snap.angle(offset, s.name, "offset") if offset else (Fraction(1), Fraction(0))
        powers = [snap.ratio(float(c), s.name, what) if c else Fraction(0) for c, what in zip(
            given, ("ratio", *["coefficient"] * len(s.higher)), strict=True)]
        ratios = tuple(snap.ratio(float(c), s.name, "ratio") for c in several)
        return ExactSegment(s, at, screws, tuple(powers), convert(slide),
                            (convert(cos), convert(sin)), ratios)


def _still() -> ExactPose:
    one, zero = Fraction(1), Fraction(0)
    return ExactPose([[one if i == j else zero for j in range(3)] for i in range(3)], [zero] * 3)


def _upward(robot: Robot) -> tuple[np.ndarray | None, np.ndarray]:
    """Axes with z against gravity, where gravity is numbers other than zero."""
    g = robot.gravity
    if not numeric(g) or not np.any(g):
        return None, g
    return basis_with_third((-g / np.linalg.norm(g)).tolist()), g


def _moved(frame: ExactPose, axis: int, pitch: Fraction) -> ExactVector:
    """A unit twist of the joint's frame (with the pitch along a turn) in the body's frame."""
    unit = np.array([Fraction(int(i == axis)) for i in range(6)], dtype=object)
    if pitch:
        unit[2] = pitch
    R, p = np.array(frame.R, dtype=object), np.array(frame.p, dtype=object)
    return list(inverse_motion_transform(R, p) @ unit)
