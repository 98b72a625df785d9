"""A robot as tables: a unit for each velocity, with its axis in the frame of its joint.

A joint of several velocities is a row of units without mass in between, all of them at the pose
that the joint gives: the first moves there, the others stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from closedform.maths.algorithms.joint_steps import JointStep
from closedform.maths.algorithms.moments import Moments, moments
from closedform.maths.kinematics import body_segments
from closedform.maths.loads import carries
from closedform.maths.rotors import turning_rotors
from closedform.maths.springs import has_turning_springs
from closedform.model.joints import Free, Planar, Spherical
from closedform.model.robot import Robot
from closedform.model.segments import Segment
from closedform.program.sweeps import follow_each_other

SEVERAL = {Free: "free", Spherical: "spherical", Planar: "planar"}
"""Joints of several velocities, and the lists that have their units."""
Lists = Mapping[str, Mapping[str, tuple[int, ...]]]
"""Places by the endings of slots, for every list."""


class Units(NamedTuple):
    """The velocities of a robot; the world is number −1."""

    parents: tuple[int, ...]
    lasts: tuple[int, ...]               # the last unit of each one's joint
    tables: Mapping[str, np.ndarray]     # (units, entries), or one row for all
    lists: Lists
    places: tuple[tuple[int, np.ndarray], ...]     # of segments: unit, and where it is in that
    gravity: np.ndarray
    depth: int                           # joints on the longest way to the world

    @property
    def n(self) -> int:
        return len(self.parents)

    @property
    def is_chain(self) -> bool:
        """Whether each hangs from the one before it, by a joint of one velocity."""
        return not self.grouped and self.parents == tuple(range(-1, self.n - 1))

    @property
    def grouped(self) -> bool:
        """Whether joints have several velocities."""
        return self.lasts != tuple(range(self.n))


def units_of(robot: Robot) -> Units | None:
    """The tables of a robot, None where there are none: of mimic joints, of springs and rotors on
    joints whose velocities turn, of weights that are carried from outside, and of an order of
    bodies in which a branch is left and entered again."""
    if not robot.nv or robot.is_coupled or carries(robot) or has_turning_springs(robot) or (
            turning_rotors(robot)) or not all(map(_takes, robot.segments)):
        return None
    made = _Making(robot)
    return made.units() if follow_each_other(tuple(made.parents)) else None


def _takes(s: Segment) -> bool:
    """Whether a joint is fixed, turns about or slides along an axis, or is one of `SEVERAL`."""
    return s.joint.nv == 0 or type(s.joint) in SEVERAL or s.joint.line is not None


class _Making:
    """Units in the order of velocities, and what they carry."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.parents: list[int] = []
        self.lasts: list[int] = []
        self.coordinates: list[int] = []
        self.rows: list[dict[str, np.ndarray]] = []
        self.own: list[Moments] = []
        self.at: list[tuple[int, np.ndarray]] = [(-1, np.eye(4))]
        self.ground = moments(None)
        self.first: dict[str, list[tuple[int, int]]] = {name: [] for name in SEVERAL.values()}
        for s in robot.segments:
            self._add(s)

    def _add(self, s: Segment) -> None:
        p, place = self.at[s.parent]
        body = place @ s.placement
        if s.joint.nv:
            F = np.asarray(s.joint.frame, dtype=float)
            first = len(self.parents)
            if type(s.joint) in SEVERAL:
                self.first[SEVERAL[type(s.joint)]].append((first, s.q_index[0]))
                self.lasts += [first + s.joint.nv - 1] * s.joint.nv
                self.coordinates += [s.q_index[0]] * s.joint.nv
            else:
                self.lasts += range(first, first + s.joint.nv)
                self.coordinates += s.q_index
            for c in range(s.joint.nv):
                self._unit(s, p if c == 0 else first + c - 1, body @ F if c == 0 else np.eye(4), c)
            p, body = len(self.parents) - 1, np.linalg.inv(F)
        self.at.append((p, body))
        carried = moments(s.inertia).in_parent(JointStep((body[:3, :3],), body[:3, 3]))
        if p >= 0:
            self.own[p] = self.own[p].plus(carried)
        else:
            self.ground = self.ground.plus(carried)

    def _unit(self, s: Segment, parent: int, T: np.ndarray, c: int) -> None:
        """The unit of velocity c of a joint; its screw in the frame of the joint is (slide; turn)
        times an axis."""
        self.parents.append(parent)
        self.own.append(moments(None))
        several = type(s.joint) in SEVERAL
        turns = bool(np.any(np.asarray(s.joint.S, dtype=float)[3:, c] != 0))
        slide = 1.0 if not turns else float(s.joint.advance) if s.joint.nv == 1 else 0.0
        axis = np.eye(3)[(s.joint.twists or ())[c] % 3 if several else 2]
        k = s.joint.per_coordinate("stiffness", s.joint.nv, 0.0)[c]
        rest = s.joint.per_coordinate("spring_reference", s.joint.nq, 0.0)[c] if k else 0.0
        moves, own = (0.0, c == 0) if several else (1.0, True)
        self.rows.append({
            "R0": T[:3, :3].ravel(), "p0": T[:3, 3], "axis": axis,
            "joint": moves * np.array([float(turns), slide]),
            "motion": np.array([float(turns), slide]), "first": np.array([float(own)]),
            "spring": np.array([float(k), float(rest)]), "stiffness": np.array([float(k)])})

    def units(self) -> Units:
        for row, m in zip(self.rows, self.own, strict=True):
            row["body"] = np.array([m.m, *m.h, *m.Sigma], dtype=float)
        mass = np.array([row["body"][0] for row in self.rows])
        depth, n = [1] * len(self.rows), len(self.rows)
        for k, p in enumerate(self.parents):
            depth[k] = (depth[p] if p >= 0 else 0) + (self.rows[k]["first"][0] > 0)
        for k in reversed(range(n)):
            if self.parents[k] >= 0:
                mass[self.parents[k]] += mass[k]
        tables = {name: np.stack([row[name] for row in self.rows]) for name in self.rows[0]}
        ground = self.ground
        total = ground.m + sum(row["body"][0] for row in self.rows)
        tables |= {
            "mass": mass[:, None], "total": np.array([[total]], dtype=float),
            "rotor": np.asarray(self.robot.rotor_inertia, dtype=float)[:, None],
            "ground": np.array([[ground.m, *ground.h, *ground.Sigma]], dtype=float)}
        bodies = [self.at[k] for k in body_segments(self.robot)]
        tables |= {"Rb": np.stack([T[:3, :3].ravel() for _, T in bodies]),
                   "pb": np.stack([T[:3, 3] for _, T in bodies])}
        return Units(tuple(self.parents), tuple(self.lasts), tables, self._lists(bodies),
                     tuple(self.at), np.asarray(self.robot.gravity, dtype=float), max(depth))

    def _lists(self, bodies: list[tuple[int, np.ndarray]]) -> Lists:
        several = {name: {"": tuple(k for k, _ in found), "s": tuple(q for _, q in found)}
                   for name, found in self.first.items()}
        return {"coordinates": {"": tuple(range(len(self.rows))), "s": tuple(self.coordinates)},
                "bodies": {"": tuple(range(len(bodies))), "u": tuple(u for u, _ in bodies)},
                "joints": {"g": tuple(self.lasts)}, "first": {"u": (0,)}, **several}
