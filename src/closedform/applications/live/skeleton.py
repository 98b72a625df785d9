"""The robot as lines between joints, drawn as SVG: what the page's script moves afterwards.

A point p is drawn at s (u, −w), with u and w across and up in the plane of view:

    u = cos(turn) x − sin(turn) y,    w = cos(tilt) z − sin(tilt) (sin(turn) x + cos(turn) y)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from closedform.applications.bones import Bone, Point, bone_ends, bones, cut_points, rods
from closedform.arrays import Array
from closedform.maths.kinematics import poses
from closedform.model.robot import Robot

TURN, TILT = -0.9, 0.35
SIZE = 200
"""Half the width of the drawing, in its own units."""
FULL = 0.85
"""The part of it that the robot may fill."""
TRIED = 24
"""Random states from which the reach is taken."""


@dataclass(frozen=True)
class Skeleton:
    """Lines of a robot, each from a body to another or to a point of it; what is in view."""

    bones: tuple[Bone, ...]
    rods: tuple[Bone, ...]
    cuts: tuple[tuple[str, int, Point], ...]            # where loops close
    tools: tuple[tuple[int, tuple[float, ...]], ...]    # a body, a point of it in its frame
    center: tuple[float, ...]                           # m, in the middle of the drawing
    reach: float                                        # m, from there to the edge
    follows: bool                                       # the view, where the base floats
    view: tuple[float, float] = (TURN, TILT)

    def data(self) -> dict[str, Any]:
        return {"bones": self.bones, "rods": self.rods, "tools": self.tools,
                "cuts": [x[1:] for x in self.cuts], "center": self.center, "reach": self.reach,
                "follows": self.follows, "view": self.view, "size": SIZE, "full": FULL}


def resting(robot: Robot) -> Array:
    """The configuration of pictures: a bent arm, or a floating robot or loops as they stand."""
    q = robot.neutral()
    if robot.loops:
        return q
    if not robot.is_floating:
        q = robot.integrate(q, np.resize([0.2, 0.7, 0.2, -1.1], robot.nv))
    return np.clip(q, robot.lower, robot.upper)


def skeleton(robot: Robot, q: Array) -> Skeleton:
    """Bodies joined to their parents and loops, leaves to the frame furthest from them."""
    tools = tuple(_tools(robot).items())
    rng, found = np.random.default_rng(0), [_points(robot, q, tools)]
    if not robot.is_floating:
        found += [_points(robot, robot.random(rng), tools) for _ in range(TRIED)]
    points = np.concatenate(found)
    middle = (points.min(axis=0) + points.max(axis=0)) / 2
    reach = float(np.linalg.norm(points - middle, axis=1).max())
    return Skeleton(tuple(bones(robot)), tuple(rods(robot)), tuple(cut_points(robot)), tools,
                    tuple(np.round(middle, 4).tolist()), round(reach or 1.0, 4),
                    robot.is_floating)


def _tools(robot: Robot) -> dict[int, tuple[float, ...]]:
    index = {name: k for k, name in enumerate(robot.body_names, start=1)}
    leaves = set(robot.body_names) - {body.parent for body in robot.bodies}
    far: dict[int, tuple[float, ...]] = {}
    for frame in robot.frames:
        if frame.body in leaves:
            place = np.asarray(frame.placement, dtype=float)[:3, 3]
            k = index[frame.body]
            if np.linalg.norm(place) > np.linalg.norm(far.get(k, (0.0,))):
                far[k] = tuple(np.round(place, 6).tolist())
    return far


def _points(robot: Robot, q: Array, tools: Any) -> np.ndarray:
    """All ends of lines, the world's origin first, (n, 3)."""
    T = np.concatenate([np.eye(4)[None], np.asarray(poses(robot, q), dtype=float)])
    start = [] if robot.is_floating else [T[0, :3, 3]]
    more = [*tools, *((k, p) for _, k, p in cut_points(robot))]
    return np.array([*start, *T[1:, :3, 3], *((T[k] @ [*p, 1.0])[:3] for k, p in more)])


def drawing(lines: Skeleton, at_q: Array, joints: Sequence[str], center: Array | None,
            title: str) -> str:
    """The SVG at poses; classes tell the script what is what. The first poses are `joints`."""
    T = np.concatenate([np.eye(4)[None], np.asarray(at_q, dtype=float)])

    def at(p: Array) -> tuple[str, str]:
        x, y, z = (np.asarray(p) - lines.center) * FULL * SIZE / lines.reach
        turn, tilt = lines.view
        c, s = np.cos(turn), np.sin(turn)
        u, w = c * x - s * y, np.cos(tilt) * z - np.sin(tilt) * (s * x + c * y)
        return f"{u:.1f}", f"{-w:.1f}"

    def line(kind: str, a: Array, b: Array) -> str:
        (x1, y1), (x2, y2) = at(a), at(b)
        return f'<line class="{kind}" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>'

    def dot(kind: str, p: Array, r: float, label: str) -> str:
        x, y = at(p)
        return f'<circle class="{kind}" cx="{x}" cy="{y}" r="{r}"><title>{label}</title></circle>'

    o = T[:, :3, 3]
    parts = [line("grid", a, b) for a, b in grid(lines)]
    parts += [line("bone", *bone_ends(T, bone)) for bone in lines.bones]
    parts += [line("rod", *bone_ends(T, rod)) for rod in lines.rods]
    parts += [line("tool", o[k], (T[k] @ [*p, 1.0])[:3]) for k, p in lines.tools]
    parts += [dot("joint", o[k], 4.5, escape(name))
              for k, name in enumerate(joints, start=1)]
    parts += [dot("cut", (T[k] @ [*p, 1.0])[:3], 4.5, escape(name)) for name, k, p in lines.cuts]
    parts += [] if center is None else [dot("mass", center, 5.5, "centre of mass")]
    return (f'<svg class="robot" viewBox="{-SIZE} {-SIZE} {2 * SIZE} {2 * SIZE}" role="img" '
            f'tabindex="0" aria-label="{escape(title)}">{"".join(parts)}</svg>')


def grid(lines: Skeleton) -> list[tuple[Array, Array]]:
    """The floor below the robot: a square of lines through z = 0."""
    x0, y0, _ = lines.center
    r = lines.reach
    steps = np.linspace(-r, r, 7)
    return ([(np.array([x0 + s, y0 - r, 0.0]), np.array([x0 + s, y0 + r, 0.0])) for s in steps]
            + [(np.array([x0 - r, y0 + s, 0.0]), np.array([x0 + r, y0 + s, 0.0])) for s in steps])
