"""A robot as tables: a unit for each joint, whose axis is the z axis of its frame."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from closedform.maths.algorithms.joint_steps import JointStep
from closedform.maths.algorithms.moments import Moments, moments
from closedform.maths.kinematics import body_segments
from closedform.model.robot import Robot
from closedform.model.segments import Segment
from closedform.program.sweeps import follow_each_other


class Units(NamedTuple):
    """The joints of a robot; the world is number −1."""

    parents: tuple[int, ...]
    tables: Mapping[str, np.ndarray]     # (units, entries)
    gravity: np.ndarray
    depth: int                           # joints on the longest way to the world
    loadable: bool                       # each unit is a body: it takes a wrench


def units_of(robot: Robot) -> Units | None:
    """The tables of a robot, None where there are none: a joint without, or of several
    coordinates, a mimic, a spring, a weight that is carried from outside, or an order of bodies
    in which a branch is left and entered again."""
    segments = robot.segments
    if not all(_takes(s) for s in segments) or not robot.nv:
        return None
    at: list[tuple[int, np.ndarray]] = [(-1, np.eye(4))]      # unit and the body's place in it
    parents: list[int] = []
    rows: list[dict[str, np.ndarray]] = []
    own: list[Moments] = []
    for s in segments:
        p, place = at[s.parent]
        body = place @ s.placement
        if s.joint.nv:
            F = np.asarray(s.joint.frame, dtype=float)
            T, turns = body @ F, bool(np.any(s.joint.S[3:] != 0))
            parents.append(p)
            own.append(moments(None))
            slide = float(s.joint.advance) if turns else 1.0
            rows.append({"R0": T[:3, :3].ravel(), "p0": T[:3, 3],
                         "joint": np.array([float(turns), slide, 0.0])})
            p, body = len(parents) - 1, np.linalg.inv(F)
        at.append((p, body))
        if p >= 0:
            own[p] = own[p].plus(moments(s.inertia).in_parent(
                JointStep((body[:3, :3],), body[:3, 3])))
    if not follow_each_other(tuple(parents)):
        return None
    for row, m in zip(rows, own, strict=True):
        row["body"] = np.array([m.m, *m.h, *m.Sigma], dtype=float)
    return _with_sums(robot, parents, rows, at)


def _with_sums(robot: Robot, parents: list[int], rows: list[dict[str, np.ndarray]],
               at: list[tuple[int, np.ndarray]]) -> Units:
    mass = np.array([row["body"][0] for row in rows])
    depth = [1] * len(rows)
    for k, p in enumerate(parents):
        depth[k] += depth[p] if p >= 0 else 0
    for k in reversed(range(len(rows))):
        if parents[k] >= 0:
            mass[parents[k]] += mass[k]
    carriers = [at[k] for k in body_segments(robot)]
    loadable = [unit for unit, _ in carriers] == list(range(len(rows)))
    for row, (_, T) in zip(rows, carriers, strict=False):
        row["Rb"], row["pb"] = T[:3, :3].ravel(), T[:3, 3]
    tables = {name: np.stack([row[name] for row in rows]) for name in rows[0]
              if loadable or name not in ("Rb", "pb")}
    tables |= {"mass": mass[:, None], "rotor": np.asarray(robot.rotor_inertia, float)[:, None]}
    return Units(tuple(parents), tables, np.asarray(robot.gravity, dtype=float), max(depth),
                 loadable)


def _takes(s: Segment) -> bool:
    """Whether a segment is fixed, or a turn or a slide by a coordinate of its own."""
    plain = not s.higher and not s.carried and s.joint.stiffness is None
    return plain and (s.joint.nv == 0 or (
        s.joint.nq == s.joint.nv == 1 and s.ratio == 1 and s.offset == 0
        and s.joint.line is not None and s.v_index == s.q_index))
