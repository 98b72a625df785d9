"""What a live page shows of a robot: skeleton, sliders, M, g, τ, and what closes its loops."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from closedform.applications.compile.kernels import compile
from closedform.applications.compile.requests import asked_request
from closedform.applications.live.model import (
    LARGEST,
    SLIDES,
    TURNS,
    LiveModel,
    module_data,
    slider,
)
from closedform.applications.live.skeleton import resting, skeleton
from closedform.applications.units import inertia_units, sliding
from closedform.arrays import Array, ArrayLike, numeric, real_array
from closedform.errors import ArgumentError
from closedform.model.coordinates import coordinate_names, units
from closedform.model.describe import headline, summary
from closedform.model.loops.affine import y_of
from closedform.model.robot import Robot
from closedform.program.program import Program


def live_robot(robot: Robot, q: Array) -> LiveModel:
    """A robot at q."""
    return LiveModel(
        robot.name, headline(summary(robot)), _program(robot), q, skeleton(robot, q),
        "bodies joined to their parents", robot.body_names, "".join(_of_q(robot, q)),
        coordinate_names(robot.v_slices), ["N" if x else "N m" for x in sliding(robot)],
        robot.effort_limits.tolist(), robot.velocity_limits.tolist(),
        ("mass_matrix", f"M(q) [{inertia_units(robot)}]"),
        {"center_of_mass": "Centre of mass [m]"}, closing=_closing(robot, q))


def start(robot: Robot, q: ArrayLike | None) -> Array:
    """The configuration given, or a bent one within the limits."""
    if not numeric(robot.parameters):
        raise ArgumentError(f"{robot.name} has symbols; a live page needs numbers")
    if not robot.nv:
        raise ArgumentError(f"{robot.name} has no joint that moves")
    if q is None:
        return resting(robot)
    given = real_array(q, (robot.nq,), f"live page of {robot.name}: q")
    if given.ndim > 1 or not np.isfinite(given).all():
        raise ArgumentError(f"live page of {robot.name}: q must be {robot.nq} finite numbers")
    return robot.closed(given[y_of(robot)], near=given) if robot.loops else given


def _closing(robot: Robot, q: Array) -> dict[str, Any]:
    """What closes loops: Newton's step, the independent coordinates, unit quaternions, a start."""
    if not robot.loops:
        return {}
    step = compile(robot).program([asked_request(robot, "loop_step")])
    own = set(y_of(robot).tolist())
    turns = [at.start for at in units(robot).values() if at.start in own]
    start = np.asarray(q).tolist()
    return {"loops": {**module_data(step), "y": sorted(own), "turns": turns, "start": start}}


def _program(robot: Robot) -> Program:
    asked = ["poses", "gravity_torque", "inverse_dynamics"]
    asked += ["mass_matrix"] if robot.nv <= LARGEST else []
    asked += ["center_of_mass"] if float(robot.mass) else []
    return compile(robot).program([asked_request(robot, name) for name in asked])


def _of_q(robot: Robot, q: Array) -> Iterator[str]:
    """A slider for every coordinate; quaternions by the three entries of their turning vector.

    With loops those of independent joints alone: the others follow.
    """
    names = coordinate_names(robot.q_slices)
    own = set(y_of(robot).tolist()) if robot.loops else set(range(robot.nq))
    for body, at, _ in robot.parts:
        unit = body.joint.moving.unit or slice(0, 0)
        for k in range(at.start, at.stop):
            if unit.start <= k - at.start < unit.stop or k not in own:
                continue
            slide = k - at.start in body.joint.moving.lengths
            yield slider(names[k], {"of": "q", "at": k, "zero": q[k],
                                     "unit": "m" if slide else "rad"}, _range(robot, q, k, slide))
        first = at.start + unit.start
        if unit.stop and first in own:
            for axis, x in zip("xyz", _turning(q[first:first + 4]), strict=True):
                yield slider(f"{body.joint_name} turn {axis}",
                              {"of": "q", "at": first, "turn": axis, "zero": x, "unit": "rad"},
                              (-TURNS, TURNS, x))


def _range(robot: Robot, q: Array, k: int, slide: bool) -> tuple[float, float, float]:
    usual = SLIDES if slide else TURNS
    low, high = float(robot.lower[k]), float(robot.upper[k])
    low = low if math.isfinite(low) else min(-usual, float(q[k]))
    high = high if math.isfinite(high) else max(usual, float(q[k]))
    return low, max(high, low), float(q[k])


def _turning(quaternion: Array) -> Array:
    """The turning vector of a quaternion x y z w."""
    x, w = np.asarray(quaternion[:3], dtype=float), float(quaternion[3])
    length = float(np.linalg.norm(x))
    return x * (2 * math.atan2(length, w) / length if length else 2.0)


