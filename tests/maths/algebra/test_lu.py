"""Factors with an order that is known beforehand."""

import numpy as np

from closedform.maths.algebra.lu import lu


def test_solutions_fit_the_matrix_and_its_transpose():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(5, 5)) * (rng.uniform(size=(5, 5)) < 0.7) + 4 * np.eye(5)[[2, 0, 1, 4, 3]]
    pivots = [(1, 0), (2, 1), (0, 2), (4, 3), (3, 4)]
    factor = lu([{j: float(x) for j, x in enumerate(row)} for row in A], pivots)
    b = rng.normal(size=5)
    assert np.allclose(A @ factor.solve(list(b)), b)
    assert np.allclose(A.T @ factor.solve_transposed(list(b)), b)
    rows = rng.normal(size=(5, 3))
    assert np.allclose(A @ np.stack(factor.solve(list(rows))), rows)
