"""Links that keep their distance from each other: capsules about the lines from joint to joint.

    d_ab(t) − r_a − r_b ≥ clearance,   d_ab between the lines of links a and b

Given capsules have radii r, and pairs of neighbours in the tree are not looked at. Without them
radii are zero, and a link's lines go from its origin to the origins of its children and, where it
has none, to its frames and its centre of mass. Those whose way from one to the other is shorter
than twice the clearance cannot part, and are not looked at. Between samples a distance changes no
faster than the lines move.

Cites: [Ericson2005, section 5.1.9] for the distance of lines.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple, final

import numpy as np

from closedform.applications.compile.digest import robot_digest
from closedform.applications.identification.excitation.certificate import place_rates, within
from closedform.applications.identification.excitation.limits import Limits
from closedform.applications.identification.excitation.motions import Basis
from closedform.applications.identification.excitation.problem import Excitation
from closedform.applications.identification.excitation.rows import CHUNK, MotionRows
from closedform.applications.identification.excitation.shapes import capsules_of, place_of
from closedform.arrays import Array, Floats, namespace
from closedform.errors import ArgumentError
from closedform.lowerings.call.kernel import Kernel
from closedform.maths.kinematics import body_segments, world_poses
from closedform.model.robot import Robot
from closedform.program.differentiate import gradient
from closedform.program.pipeline import optimised
from closedform.program.record import record

APART = 2.0
"""Times the clearance: links with a shorter way between them are neighbours."""
GAP = 0.01
"""Metres between capsules, unless told otherwise."""
EVERY = 4
"""Of the samples of a motion every fourth is looked at while it is improved."""


class Line(NamedTuple):
    """A line of a link: two points of body frames; body −1 is the world."""

    link: int
    bodies: tuple[int, int]
    points: Floats                 # (2, 3), each in its own body's frame
    radius: float = 0.0


@final
@dataclass(frozen=True, eq=False)
class Capsules:
    """The lines of a robot's links, pairs of them that may come near, and how near."""

    rows: MotionRows
    clearance: float
    lines: tuple[Line, ...]
    pairs: Any                     # (pairs, 2) numbers of lines

    @property
    def robot(self) -> Robot:
        return self.rows.model.robot

    # ------------------------------------------------------------------ distances
    def distances(self, ends: Floats) -> tuple[Floats, Floats]:
        """d (states, pairs) and ∂d/∂ends (states, pairs, 2, 2, 3); `ends` (states, lines, 2, 3)."""
        d, slope = line_distances(ends[:, self.pairs[:, 0]], ends[:, self.pairs[:, 1]])
        return d - np.array([line.radius for line in self.lines])[self.pairs].sum(axis=1), slope

    def along(self, q: Floats) -> Floats:
        """The least distance of each state, q of the joints that move."""
        parts = [q[first:first + CHUNK] for first in range(0, len(q), CHUNK)]
        return np.concatenate([self.distances(self._places(part))[0].min(axis=1)
                               for part in parts])

    def _places(self, q: Floats) -> Floats:
        whole = np.tile(self.rows.room.start, (len(q), 1))
        whole[:, list(self.rows.room.q_at)] = q
        return np.asarray(self._ends(whole)).reshape(len(q), len(self.lines), 2, 3)

    @cached_property
    def _ends(self) -> Kernel:
        return self._kernel("ends", lambda q: {"ends": line_ends(self.robot, self.lines, q)}, {})

    @cached_property
    def _adjoint(self) -> Kernel:
        def product(q: Array, Z: Array) -> dict[str, Array]:
            total = np.ravel(np.asarray(line_ends(self.robot, self.lines, q))) @ Z
            return {"q": gradient(total, q[list(self.rows.room.q_at)])}
        return self._kernel("adjoint", product, {"Z": (6 * len(self.lines),)})

    def _kernel(self, name: str, function: Callable[..., Any],
                more: dict[str, tuple[int, ...]]) -> Kernel:
        shapes = {"q": (self.robot.nq,), **more}
        key = f"lines {name} {robot_digest(self.robot)} {self.rows.room.q_at} " \
              f"{[(x.bodies, x.points.tolist()) for x in self.lines]}"
        return Kernel.load(key, lambda: optimised(record(function, shapes, f"lines_{name}")))

    # ------------------------------------------------------------------ motions
    def added(self, problem: Excitation) -> Callable[..., tuple[float, Floats]]:
        """The problem's function with hinges of the distances."""
        return partial(self._with_hinges, problem)

    def _with_hinges(self, problem: Excitation, x: Floats, rho: float) -> tuple[float, Floats]:
        f, g = problem(x, rho)
        q, _, _ = problem.motion(problem.coefficients(x))
        d, slope = self.distances(self._places(q[::EVERY]))
        want = 1.05 * self.clearance + 1e-3
        under = np.maximum(want - d, 0.0) / want
        if not under.any():
            return f, g
        Z = np.zeros((len(d), len(self.lines), 2, 3))
        for m, (a, b) in enumerate(self.pairs):
            step = (-2 * rho / len(d) / want) * under[:, m, None, None]
            Z[:, a] += step * slope[:, m, 0]
            Z[:, b] += step * slope[:, m, 1]
        whole = np.tile(self.rows.room.start, (len(d), 1))
        whole[:, list(self.rows.room.q_at)] = q[::EVERY]
        by_q = self._adjoint(whole, Z.reshape(len(d), -1))
        more = problem.by_position(by_q, EVERY)
        return f + rho / len(d) * float(np.sum(under**2)), g + more

    def stand(self, home: Floats) -> None:
        """An error if links are too near each other at the start."""
        d, _ = self.distances(self._places(home[None]))
        names = ["the base", *self.robot.body_names]
        near: dict[tuple[str, ...], float] = {}
        for m in np.flatnonzero(d[0] <= self.clearance):
            pair = tuple(names[self.lines[k].link + 1] for k in self.pairs[m])
            near[pair] = min(near.get(pair, np.inf), float(d[0, m]))
        if near:
            said = ", ".join(f"{a} and {b} are {x:.3g} m apart" for (a, b), x in near.items())
            raise ArgumentError(f"excite: at the start {said}, less than the clearance "
                                f"{self.clearance:g} m; start elsewhere, or name pairs that may "
                                "touch: Limits(touching=[(…, …)])")

    def keep(self, basis: Basis, X: Floats) -> bool:
        """Whether the links keep their distance at all times, certainly."""
        home, place = self.rows.room.home, place_rates(self.rows, basis, X)
        fast = [max(place(body, float(np.linalg.norm(p)))
                    for body, p in zip(line.bodies, line.points, strict=True))
                for line in self.lines]
        rate = np.array([max(fast[a] + fast[b] for a, b in self.pairs)])

        def nearness(t: Floats) -> Floats:
            return -self.along(home + basis.at(t, 0) @ X)[:, None]
        return within(nearness, basis.duration, np.array([-self.clearance]), rate)


def links_of(rows: MotionRows, clearance: float) -> Capsules | None:
    """The links of a robot; none where no two of them are far enough apart in the tree."""
    lines = tuple(_lines(rows.model.robot))
    ways = _ways(rows.model.robot)
    pairs = [(i, j) for i, a in enumerate(lines) for j, b in enumerate(lines)
             if i < j and a.link != b.link and
             min(ways[k + 1, n + 1] for k in a.bodies for n in b.bodies) > APART * clearance]
    return Capsules(rows, float(clearance), lines, np.array(pairs)) if pairs else None


def shapes_of(rows: MotionRows, limits: Limits) -> Capsules | None:
    """The capsules that are given or a file's, of links that are no neighbours."""
    robot, lines = rows.model.robot, []
    for capsule in capsules_of(limits.collision):
        body, pose = place_of(robot, capsule.link)
        points = capsule.ends @ pose[:3, :3].T + pose[:3, 3]
        lines.append(Line(body, (body, body), points, capsule.radius))
    may = {frozenset(place_of(robot, str(link))[0] for link in pair) for pair in limits.touching}
    may |= {frozenset((k, p - 1)) for k, p in enumerate(robot.parents)}
    pairs = [(i, j) for i, a in enumerate(lines) for j, b in enumerate(lines)
             if i < j and a.link != b.link and frozenset((a.link, b.link)) not in may]
    clearance = GAP if limits.clearance is None else float(limits.clearance)
    return Capsules(rows, clearance, tuple(lines), np.array(pairs)) if pairs else None


def line_ends(robot: Robot, lines: tuple[Line, ...], q: Array) -> Array:
    """The ends of all lines in the world, (lines, 2, 3), over generic arrays."""
    xp, T, at = namespace(q), world_poses(robot, q), [0, *body_segments(robot)]
    ends = [[T[at[body + 1]][0] @ point + T[at[body + 1]][1]
             for body, point in zip(line.bodies, line.points, strict=True)] for line in lines]
    return xp.stack([xp.stack(pair) for pair in ends])


def _lines(robot: Robot) -> list[Line]:
    """From each body's origin to its children's; of the last ones to frames and the centre."""
    number: dict[str | None, int] = {None: -1}
    number.update((name, k) for k, name in enumerate(robot.body_names))
    origin, found = np.zeros(3), []
    parents = {number[body.parent] for body in robot.bodies}
    for k, body in enumerate(robot.bodies):
        found.append(Line(number[body.parent], (number[body.parent], k), np.zeros((2, 3))))
        if k not in parents:
            ends = [np.asarray(f.placement, dtype=float)[:3, 3] for f in robot.frames
                    if f.body == body.name]
            ends.append(np.asarray(body.inertia.com, dtype=float))
            found += [Line(k, (k, k), np.array([origin, end])) for end in ends]
    return found


def _ways(robot: Robot) -> Floats:
    """(bodies + 1, bodies + 1): lengths from origin to origin along the tree; the world is 0."""
    chains: list[dict[int, float]] = [{}]
    for k, (body, p) in enumerate(zip(robot.bodies, robot.parents, strict=True), start=1):
        length = float(np.linalg.norm(np.asarray(body.placement, dtype=float)[:3, 3]))
        chains.append({**chains[p], k: length})
    return np.array([[sum(x for k, x in (a | b).items() if (k in a) != (k in b)) for b in chains]
                     for a in chains])


def line_distances(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Distances of lines (..., 2, 3) from others, and their slopes (..., 2, 2, 3) by all ends.

    The nearest points stay where they are on their lines, as far as slopes are concerned.
    """
    A, B, r = a[..., 1, :] - a[..., 0, :], b[..., 1, :] - b[..., 0, :], a[..., 0, :] - b[..., 0, :]

    def dot(x: Floats, y: Floats) -> Floats:
        return np.asarray(np.sum(x * y, axis=-1))

    def share(over: Floats, under: Floats) -> Floats:
        ok = under > 1e-18
        return np.clip(np.where(ok, over / np.where(ok, under, 1.0), 0.0), 0.0, 1.0)
    AA, BB, AB, Ar, Br = dot(A, A), dot(B, B), dot(A, B), dot(A, r), dot(B, r)
    s = share(AB * Br - Ar * BB, AA * BB - AB**2)
    t = share(AB * s + Br, BB)
    s = share(AB * t - Ar, AA)
    apart = r + s[..., None] * A - t[..., None] * B
    d = np.sqrt(dot(apart, apart))
    n = apart / np.maximum(d, 1e-12)[..., None]
    shares = np.stack([np.stack([1 - s, s], -1), -np.stack([1 - t, t], -1)], axis=-2)
    return d, shares[..., None] * n[..., None, None, :]
