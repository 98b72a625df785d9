"""The factor M = Lᵀ D L, which keeps the zeros that branches put into M, and solutions by it.

Cites: [Featherstone2005, section 5].
"""

from __future__ import annotations

from typing import Any

from closedform.arrays import Array, namespace
from closedform.model.robot import Robot


def velocity_parents(robot: Robot) -> list[int]:
    """For each velocity, the next one towards the root that M couples it with (−1: none).

    Mimic joints couple branches with each other; then every velocity counts as coupled with all
    before it.
    """
    if robot.is_coupled:
        return list(range(-1, robot.nv - 1))
    parent, last = [-1] * robot.nv, [-1] * (len(robot.segments) + 1)
    for k, segment in enumerate(robot.segments, start=1):
        at = last[segment.parent]
        for i in segment.v_index:
            parent[i], at = at, i
        last[k] = at
    return parent


def ancestors(parent: list[int], i: int) -> list[int]:
    """Velocities above i, nearest first."""
    found = []
    while parent[i] >= 0:
        i = parent[i]
        found.append(i)
    return found


def branch_factor(
    robot: Robot, M: Array,
) -> tuple[list[dict[int, Any]], list[Any], list[list[int]]]:
    """M = Lᵀ D L: rows of the unit lower factor L, inverses of D, each velocity's ancestors."""
    parent = velocity_parents(robot)
    above = [ancestors(parent, i) for i in range(robot.nv)]
    H = [{j: M[i, j] for j in [i, *above[i]]} for i in range(robot.nv)]
    inverse: list[Any] = [None] * robot.nv
    L: list[dict[int, Any]] = [{} for _ in range(robot.nv)]
    for k in reversed(range(robot.nv)):
        inverse[k] = 1 / H[k][k]
        L[k] = {i: H[k][i] * inverse[k] for i in above[k]}
        for i in above[k]:
            for j in [i, *above[i]]:
                H[i][j] = H[i][j] - L[k][i] * H[k][j]
    return L, inverse, above


def branch_solve(robot: Robot, M: Array, b: Array) -> Array:
    """M⁻¹ b, (nv,)."""
    xp = namespace(M, b)
    L, inverse, above = branch_factor(robot, M)
    x = [b[i] for i in range(robot.nv)]
    for i in reversed(range(robot.nv)):          # Lᵀ y = b
        for j in above[i]:
            x[j] = x[j] - L[i][j] * x[i]
    x = [x[i] * inverse[i] for i in range(robot.nv)]
    for i in range(robot.nv):                    # L x = D⁻¹ y
        for j in above[i]:
            x[i] = x[i] - L[i][j] * x[j]
    return xp.stack(x) if x else xp.zeros(0)
