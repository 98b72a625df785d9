"""Systems with a symmetric matrix A = L D Lᵀ: definite ones, and M with the zeros of its branches.

The elimination is `arrays.ldl`.

Cites: [Featherstone2005, section 5].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from closedform.arrays import Array, SymmetricFactor, ldl, namespace
from closedform.errors import SingularMatrix
from closedform.model.robot import Robot


class DefiniteSolution(NamedTuple):
    """x = A⁻¹ b, and the pivots of A = L D Lᵀ, which are positive if and only if A is definite."""

    x: Array             # (n,)
    pivots: Array        # (n,)


def solve_definite(A: Array, b: Array) -> DefiniteSolution:
    """A⁻¹ b by A = L D Lᵀ; half the operations of elimination, since A is symmetric."""
    xp, factor = namespace(A, b), ldl(A)
    return DefiniteSolution(xp.stack(factor.solve(b)), xp.stack(list(factor.D.values())))


def refuse_indefinite(A: Array, pivots: Array, what: str) -> None:
    """A `SingularMatrix` with the smallest eigenvalue, if numbers say that A is not definite."""
    if np.asarray(pivots).dtype == object or np.all(np.real(pivots) > 0):
        return
    if not np.all(np.isfinite(A)):
        raise SingularMatrix(f"{what} is not finite")
    smallest = np.linalg.eigvalsh(np.real(A))[0]
    raise SingularMatrix(f"{what} is not positive definite: its smallest eigenvalue is "
                         f"{smallest:.3g}; these deflections are outside the range of the model")


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


def branch_factor(robot: Robot, M: Array) -> SymmetricFactor:
    """M = L D Lᵀ eliminated from the leaves to the root, which fills no zero between branches."""
    if robot.closure is not None and not robot.has_followers:
        return ldl(M, _filled(_coupled_by_loops(robot)))
    pattern: dict[int, list[int]] = {}
    for i, p in enumerate(velocity_parents(robot)):
        pattern[i] = [p, *pattern[p]] if p >= 0 else []
    return ldl(M, dict(reversed(pattern.items())))


def _coupled_by_loops(robot: Robot) -> list[set[int]]:
    """For each independent velocity, those before it that M couples it with.

    M couples two if what they move is on one way to the root; a loop moves with every independent
    velocity of the loops that it shares dependent ones with.
    """
    closure, tree = robot.closure, robot.tree
    assert closure is not None
    number = {i: k for k, i in enumerate(closure.independent)}
    clusters: list[set[int]] = []                       # velocities of loops that belong together
    for gap in closure.gaps:
        ways = [n for n, _ in gap.terms] or [*gap.way_a, *gap.way_b]
        own = {i for n in ways for i in tree.segments[n - 1].v_index}
        joined = [c for c in clusters if (c & own) - set(number)]
        clusters = [c for c in clusters if c not in joined] + [own.union(*joined)]
    moved_by = [{number[i]} if i in number else {number[j] for c in clusters if i in c
                                                 for j in c if j in number}
                for i in range(tree.nv)]
    found: list[set[int]] = [set() for _ in number]
    above: list[set[int]] = [set()]                     # what moves each segment
    for segment in tree.segments:
        here = above[segment.parent].union(*(moved_by[i] for i in segment.v_index))
        above.append(here)
        for k in here:
            found[k] |= {i for i in here if i < k}
    return found


def _filled(coupled: list[set[int]]) -> dict[int, list[int]]:
    """The pattern of the factor, the last velocity eliminated first."""
    pattern: dict[int, list[int]] = {}
    for k in reversed(range(len(coupled))):
        pattern[k] = sorted(coupled[k], reverse=True)
        for i in coupled[k]:
            coupled[i] |= {j for j in coupled[k] if j < i}
    return pattern


def branch_solve(robot: Robot, M: Array, b: Array) -> Array:
    """M⁻¹ b, (nv,) or (nv, …)."""
    x, xp = branch_factor(robot, M).solve(b), namespace(M, b)
    return xp.stack(x) if x else b + xp.zeros(b.shape)
