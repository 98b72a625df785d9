"""Factors with an order that is known beforehand."""

import numpy as np
import pytest

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


@pytest.mark.parametrize("block", [((0.0, 2.0), (3.0, 1.0)), ((6e-17, 0.35), (0.3, 0.1)),
                                   ((1.0, 2.0), (3.0, 0.0)), ((1.0, 0.0), (3.0, 2.0))])
def test_two_rows_are_solved_whichever_entry_vanishes(block):
    A = np.eye(3)
    A[1:, 1:], A[0, 2] = block, 0.7
    rows = [{j: complex(x) for j, x in enumerate(row)} for row in A.tolist()]
    del rows[1][0], rows[2][0]
    factor, b = lu(rows, [(0, 0), (1, 1), (2, 2)]), np.array([0.3, -1.0, 2.0])
    assert np.allclose(A @ factor.solve(list(b)), b, rtol=1e-14)
    assert np.allclose(A.T @ factor.solve_transposed(list(b)), b, rtol=1e-14)
