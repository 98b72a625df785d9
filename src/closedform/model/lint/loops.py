"""Doubts about closed loops: redundant rows, near singularities, a guess or limits far off."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from closedform.model.findings import Level
from closedform.model.lint.rules import Doubt
from closedform.model.loops.closure import Closure, start, velocity_names
from closedform.model.loops.elimination import suitable, values_text
from closedform.model.loops.gap import jacobian, residual
from closedform.model.robot import Robot

NEAR = 1e-3
"""Of the largest singular value: where independent joints hardly tell the others."""
FAR = 0.3
"""Of the robot's size: a guess that leaves loops further open may lead to another branch."""


def loop_doubts(robot: Robot) -> Iterator[tuple[str, Doubt]]:
    """Doubts, each with the loop or joint that it is about."""
    closure = robot.closure
    if closure is None:
        return
    K = np.asarray(jacobian(robot.tree, closure.gaps, closure.home))
    yield from _redundant(closure)
    yield from _nearly_singular(robot, closure, K)
    yield from _far_guess(robot, closure)
    yield from _beyond(robot, closure)


def _redundant(closure: Closure) -> Iterator[tuple[str, Doubt]]:
    names, kept = closure.names(), set(closure.rows)
    for name in dict.fromkeys(names):
        rows = [i for i, x in enumerate(names) if x == name]
        spare = sum(i not in kept for i in rows)
        if spare:
            yield f"loop {name!r}", Doubt(
                Level.INFO, "redundant-rows", f"{spare} of its {len(rows)} rows are redundant: "
                "other rows and joints say the same, and forces in them are not determined",
                "fine for exact geometry; a ball or fewer rows would do")


def _nearly_singular(robot: Robot, closure: Closure,
                     K: np.ndarray) -> Iterator[tuple[str, Doubt]]:
    K_d = closure.K_d(K)
    scaled = K_d / np.maximum(np.linalg.norm(K_d, axis=1, keepdims=True), 1e-300)
    s = np.linalg.svd(scaled, compute_uv=False)
    if len(s) and s[-1] < NEAR * s[0]:
        would = ", ".join(velocity_names(robot.tree)[i] for i in suitable(K, len(closure.rows)))
        about = ", ".join(map(repr, dict.fromkeys(closure.names())))
        yield f"loops {about}", Doubt(
            Level.WARNING, "nearly-singular-loop",
            f"{', '.join(robot.independent or ())} hardly tell the other joints where the loops "
            f"are closed (singular values {values_text(scaled)})",
            f"other independent joints ({would}), or a guess away from there")


def _far_guess(robot: Robot, closure: Closure) -> Iterator[tuple[str, Doubt]]:
    if not robot.guess:
        return
    phi, names = residual(robot.tree, closure.gaps, start(robot.tree, robot.guess)), closure.names()
    worst = int(np.argmax(np.abs(phi)))
    if abs(phi[worst]) > FAR * closure.size:
        yield f"loop {names[worst]!r}", Doubt(
            Level.WARNING, "guess-far-from-closed",
            f"the guess leaves it open by {abs(phi[worst]):.3g}: the branch it is closed on may "
            "be another than is meant", "give a guess nearer to a closed configuration")


def _beyond(robot: Robot, closure: Closure) -> Iterator[tuple[str, Doubt]]:
    lower, upper = robot.lower, robot.upper
    for body, i, _ in robot.tree.parts:
        x = closure.home[i]
        if np.any(x < lower[i] - 1e-9) or np.any(x > upper[i] + 1e-9):
            yield f"body {body.name!r}", Doubt(
                Level.WARNING, "closed-beyond-limits",
                f"where the loops are closed its joint stands at {x.tolist()}, beyond its limits",
                "a guess on another branch, or other limits")
