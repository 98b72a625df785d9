"""What closed loops take away besides: the numeric rank of torques on them, certified by a gap.

The regrouping of the spanning tree holds on a larger set of motions and stays valid. Which of its
parameters the loops make dependent is found from the torques of the independent joints at closed
states: the rank by a gap of the singular values, the factors by least squares. Affine loops are
not decided here but exactly, as mimic joints are (`coupled_rank`).

Cites: [Gautier1991] for the rank of a sampled regressor.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from closedform.arrays import Array
from closedform.errors import ArgumentError, OpenLoop, SingularLoop
from closedform.maths.algorithms.regressors import regressor
from closedform.maths.base_parameters.base_recursion import Regrouping, SparseRow, add_to
from closedform.maths.base_parameters.exact_linear import Rationals
from closedform.maths.base_parameters.numeric_rank import NumericRank, numeric_rank
from closedform.model.loops.elimination import determinant_sign
from closedform.model.loops.gap import jacobian
from closedform.model.robot import Robot

DEPENDENT = 1e-7
"""A column whose part across the others is smaller than this, next to its own size, is theirs."""
WAY = 0.4
"""rad or m: how far from home states are sampled."""

TRIES = 200


def without_looped(robot: Robot, found: Regrouping) -> tuple[Regrouping, NumericRank]:
    """The regrouping of the tree with the parameters dropped that its loops make dependent."""
    Y = np.concatenate(list(_sampled(robot, found)))
    verdict, pivots = numeric_rank(Y), list[int]()
    basis = np.zeros((len(Y), 0))
    size = np.linalg.norm(Y, axis=0)
    for c in range(Y.shape[1]):
        left = Y[:, c] / max(size[c], 1e-300)
        for _ in range(2):
            left = left - basis @ (basis.T @ left)
        if size[c] > DEPENDENT * size.max() and np.linalg.norm(left) > DEPENDENT:
            basis = np.column_stack([basis, left / np.linalg.norm(left)])
            pivots.append(c)
    if len(pivots) != verdict.rank:
        raise ArgumentError(f"{robot.name}: the number of its base parameters is undecided, "
                            f"{len(pivots)} or {verdict}")
    others = [c for c in range(Y.shape[1]) if c not in pivots]
    scaled = Y[:, pivots] / size[pivots]
    factors = np.linalg.lstsq(scaled, Y[:, others], rcond=None)[0] / size[pivots][:, None]
    rows: dict[int, SparseRow] = {p: dict(found.rows[p]) for p in pivots}
    for j, c in enumerate(others):
        for i, p in enumerate(pivots):
            x = factors[i, j]
            if abs(x) * size[p] > DEPENDENT * max(size[c], DEPENDENT * size[p]):
                add_to(rows[p], found.rows[c], Rationals().number(_simple(float(x))))
    return Regrouping([found.kept[p] for p in pivots], list(rows.values())), verdict


def _sampled(robot: Robot, found: Regrouping) -> Iterator[Array]:
    """Torques by the kept parameters at closed states, enough rows for all of them.

    With one independent velocity the states go along its branch, one way and, where that ends, the
    other: on an arc near home functions of one angle are nearly dependent.
    """
    closure, rng, rows, tries = robot.closure, np.random.default_rng(0), 0, 0
    assert closure is not None
    home = at = robot.neutral()
    alone, forward = robot.nv == 1, True

    def branch(q: Array) -> float:
        K = np.asarray(jacobian(robot.tree, closure.gaps, q))
        return float(determinant_sign(closure.K_d(K)))

    while rows < len(found.kept) + 12:
        tries += 1
        if tries > TRIES + 2 * len(found.kept):
            raise ArgumentError(f"{robot.name}: its loops can hardly be moved away from where they "
                                "are closed, so that base parameters are not decided")
        way = rng.uniform(-1, 1, size=robot.nv)
        if alone:
            way = np.abs(way) if forward else -np.abs(way)
        try:
            q = robot.integrate(at, WAY * way / (1 + tries // 50))
            Y = np.asarray(regressor(robot, q, *rng.normal(size=(2, robot.nv)) * 3), dtype=float)
            lost = alone and branch(q) != branch(home)
        except (OpenLoop, SingularLoop):
            lost = True
        if lost:
            at, forward = home, not forward
            continue
        at, rows = q if alone else home, rows + len(Y)
        yield Y[:, found.kept]


def _simple(x: float) -> Fraction:
    """A small fraction that x is but for errors of the fit, else x."""
    near = Fraction(x).limit_denominator(1000)
    return near if abs(float(near) - x) < 1e-9 * max(1, abs(x)) else Fraction(x)
