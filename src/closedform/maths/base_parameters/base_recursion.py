"""The exact method: two small subspaces carried outward along the tree, parameters moved inward.

Outward, for segment j on its parent a (Λ_j, X_j the transports at zero, s_i the joint's screws,
G_i = G(s_i) constant, 2B the polar form of 2 DE):

    CV_j = closure of X_j V_a under s_i×        V_j = CV_j + ⟨s_i⟩
    C_j  = closure of Λ_jᵀ S_a under G_i        F_j = ⟨2B(s_i, v), v ∈ CV_j⟩ + ⟨2B(s_i, s_k)⟩
    S_j  = C_j + F_j                            M_j = F_j + Σ_i G_i C_j

from V_0 = {0} and S_0 = ⟨(0, −g, 0)⟩. V_j spans the body twists that can occur, S_j the values of
DE_j and DU_j. The coefficient of v_j in E, and what of Xᵀ DE_j changes with q_j, can come from the
subtree of j alone, so body j contributes rank M_j base parameters; a direction X ⟂ M_j moves to the
parent as Λ_j X. Inward, M_j is brought to echelon form with the columns in the order of preference.
A rotor inertia is one more column, with a one in the row 2B(s_i, s_i); massless segments between
the parts of a joint pass their rows Λ_jᵀ M_a on to the body.

Cites: [GautierKhalil1990] for the derivatives of the energy as variables;
[WensingNiemeyerSlotine2024] for the recursion of the parameter null space.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from closedform.arrays import numeric
from closedform.maths.base_parameters.energy_vectors import (
    bracket,
    generator,
    motion,
    polar,
    transport,
)
from closedform.maths.base_parameters.exact_geometry import (
    ExactGeometry,
    ExactSegment,
    exact_geometry,
)
from closedform.maths.base_parameters.exact_linear import (
    Matrix,
    RationalFunctions,
    Residues,
    Span,
    closure,
    echelon,
    product,
    span,
    times,
    transposed,
    units,
    whole,
)
from closedform.maths.base_parameters.rotor_parameters import (
    rotor_columns,
    rotor_entries,
)
from closedform.model.joints import Joint
from closedform.model.robot import Robot

PREFERENCE = (9, 4, 5, 7, 8, 1, 2, 10, 6, 3, 0)
"""Izz Ixx Ixy Ixz Iyz mcx mcy are kept first, then a rotor, Iyy mcz m: the choice of the paper."""
TURNED = ((0, 2, 3, 1, 6, 8, 9, 5, 7, 4), (0, 3, 1, 2, 9, 7, 4, 8, 5, 6), tuple(range(10)))
"""The ten numbers with x y z turned into y z x, z x y, and left: for axes along x, y, z."""

SparseRow = dict[int, Any]
"""A sparse row: parameter's number → coefficient."""


@dataclass(frozen=True)
class Outward:
    """What the outward pass leaves at a segment: its twists, energy values, and the rows of M_j.

    The rows have ten columns and one for each rotor inertia of the body's joint. CV and C are the
    parent's part of V and S.
    """

    V: Span
    S: Span
    CV: Span
    C: Span
    M: Matrix
    transport: Matrix


def outward(robot: Robot, geometry: ExactGeometry,
            shadow: list[Outward] | None = None) -> list[Outward]:
    """The subspaces of the world (at 0) and of every segment.

    `shadow` is the same for numbers in place of symbols, modulo a prime. Its dimensions are lower
    bounds; where they are the largest possible, a subspace is known without its elimination.
    """
    gravity = geometry.gravity
    pull = [[0, *(-x for x in gravity), 0, 0, 0, 0, 0, 0]] if any(gravity) else []
    world = span(pull, 10)
    result = [Outward(Span(6), world, Span(6), world, [], units(10))]
    for s, rotors in zip(geometry.segments, rotor_entries(robot, geometry), strict=True):
        below = shadow[len(result)] if shadow else None
        result.append(_segment(s, result[s.segment.parent], rotors, below))
    return result


def _segment(s: ExactSegment, parent: Outward, rotors: Matrix, shadow: Outward | None) -> Outward:
    Lambda, screws = transport(*s.pose), s.screws
    generators = [generator(S_i) for S_i in screws]
    if parent.S.full or (shadow and shadow.C.full):
        C = whole(10)
    else:
        lambda_ = transposed(Lambda)
        C = closure([times(lambda_, x) for x in parent.S.rows], generators, 10)
    if parent.V.full or (shadow and shadow.CV.full):
        CV = whole(6)
    else:
        twists = [motion(*s.pose, v) for v in parent.V.rows]
        CV = closure(twists, [bracket(S_i) for S_i in screws], 6)
    V = span([*CV.rows, *screws], 6)
    if shadow:
        most = _rows_of_M(s, generators, whole(6), whole(10), rotors)
        M = span(most, 10 + _count(rotors)).rows
        if len(M) == len(shadow.M):
            S = whole(10) if shadow.S.full else \
                span([*C.rows, *(row[:10] for row in _rows_of_F(screws, CV, rotors))], 10)
            return Outward(V, S, CV, C, M, Lambda)
    S = span([*C.rows, *(row[:10] for row in _rows_of_F(screws, CV, rotors))], 10)
    M = span(_rows_of_M(s, generators, CV, C, rotors), 10 + _count(rotors)).rows
    return Outward(V, S, CV, C, M, Lambda)


def _rows_of_F(screws: Matrix, CV: Span, rotors: Matrix) -> Matrix:
    """2B(s_i, v) and 2B(s_i, s_k), the latter with the rotor that turns by both."""
    none = [0] * _count(rotors)
    rows = [polar(S_i, v) + none for S_i in screws for v in CV.rows]
    for i, S_i in enumerate(screws):
        rows += [polar(S_i, S_k) + (rotors[i] if k == i else none)
                 for k, S_k in enumerate(screws[:i + 1])]
    return rows


def _rows_of_M(s: ExactSegment, generators: list[Matrix], CV: Span, C: Span,
               rotors: Matrix) -> Matrix:
    """F and G_i C."""
    none = [0] * _count(rotors)
    return [*_rows_of_F(s.screws, CV, rotors),
            *(times(G, c) + none for G in generators for c in C.rows)]


def _count(rotors: Matrix) -> int:
    return len(rotors[0]) if rotors else 0


@dataclass(frozen=True)
class Regrouping:
    """Base parameters: the kept ones' numbers and, for each, its row of K."""

    kept: list[int]
    rows: list[SparseRow]


def regrouping(robot: Robot, geometry: ExactGeometry) -> Regrouping:
    """K by elimination from the leaves to the roots, with a one at each kept parameter's column."""
    shadow = None
    if isinstance(geometry.field, RationalFunctions):
        shadow = outward(robot, exact_geometry(robot, Residues(), geometry.tolerance))
    passed, segments = outward(robot, geometry, shadow), geometry.segments
    rotors = rotor_columns(robot)
    held: list[list[SparseRow]] = [[{} for _ in range(10)] for _ in range(len(segments) + 1)]
    chosen: dict[int, SparseRow] = {}
    for k in range(len(segments), 0, -1):
        s = segments[k - 1].segment
        if s.body is None:
            continue  # a segment between the parts of a joint: its rows went to the body
        here = passed[k]
        M, Lambda, to = here.M, here.transport, s.parent
        while to and segments[to - 1].segment.body is None:
            M = _through(passed[to].M, Lambda, M)
            Lambda, to = product(passed[to].transport, Lambda), segments[to - 1].segment.parent
        columns = [*range(10 * s.body, 10 * s.body + 10), *rotors[s.body]]
        held[k] += [{} for _ in rotors[s.body]]
        for i, column in enumerate(columns):
            held[k][i] = {column: 1, **held[k][i]}
        _eliminate(held[k], M, columns, _order(len(columns), _main_axis(s.joint)), chosen)
        if to:
            _pass_on(held[k], Lambda, held[to])
    kept = sorted(chosen)
    return Regrouping(kept, [chosen[c] for c in kept])


def _through(massless: Matrix, Lambda: Matrix, M: Matrix) -> Matrix:
    """The rows of M at the body, with those of a massless segment before it; Λ leads there."""
    lambda_ = transposed(Lambda)
    rows = [*M, *(times(lambda_, row[:10]) + row[10:] for row in massless)]
    return span(rows, len(rows[0])).rows if rows else []


def _order(size: int, axis: int) -> Sequence[int]:
    """PREFERENCE for the ten parameters and any number of rotors, the axis in the place of z."""
    at, turned = PREFERENCE.index(10), TURNED[axis]
    return (*(turned[i] for i in PREFERENCE[:at]), *range(10, size),
            *(turned[i] for i in PREFERENCE[at + 1:]))


def _main_axis(joint: Joint) -> int:
    """The body axis (0 x, 1 y, 2 z) that lies nearest to the joint's; z where there is none.

    Dividing by its component keeps the numbers of K small for axes of any direction.
    """
    if joint.line is None or not numeric(joint.S):
        return 2
    sizes = np.abs(joint.S[3:, -1].astype(float))
    return int(max((2, 1, 0), key=lambda i: round(float(sizes[i]), 9)))


def _eliminate(held: list[SparseRow], M: Matrix, columns: list[int], order: Sequence[int],
               chosen: dict[int, SparseRow]) -> None:
    """Choose rank M parameters of a body; take from `held` what they carry."""
    R, pivots = echelon(M, order)
    base = []
    for row in R:
        total: SparseRow = {}
        for coefficient, part in zip(row, held, strict=True):
            add_to(total, part, coefficient)
        base.append(total)
    for pivot, total in zip(pivots, base, strict=True):
        chosen[columns[pivot]] = total
        add_to(held[pivot], total, -1)


def _pass_on(held: list[SparseRow], Lambda: Matrix, parent: list[SparseRow]) -> None:
    """X_a += Λ X."""
    for i in range(10):
        for coefficient, part in zip(Lambda[i], held[:10], strict=True):
            add_to(parent[i], part, coefficient)


def add_to(total: SparseRow, part: SparseRow, coefficient: Any) -> None:
    """total += coefficient · part."""
    if not coefficient:
        return
    for column, x in part.items():
        y = total.get(column, 0) + coefficient * x
        if y:
            total[column] = y
        else:
            total.pop(column, None)
