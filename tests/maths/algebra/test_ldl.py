"""A = L D Lᵀ: exact, keeps the zeros of branches, and tells the signs of eigenvalues."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from closedform.arrays import OBJECTS, ldl
from closedform.errors import SingularMatrix
from closedform.maths.algebra.ldl import (
    branch_factor,
    branch_solve,
    refuse_indefinite,
    solve_definite,
)
from closedform.maths.definitions.closed_form import mass_matrix
from random_robots import random_robot, random_state, robots, seeds


def lower(factor, n):
    """L as an array in the order of elimination, and D."""
    order = list(factor.L)
    L = np.eye(n)
    for k, column in factor.L.items():
        for i, value in column.items():
            L[order.index(i), order.index(k)] = value
    return L, np.diag([factor.D[k] for k in order]), order


def test_the_factor_of_exact_numbers_is_exact():
    A = np.array([[Fraction(4), 2, 1], [Fraction(2), 5, 3], [Fraction(1), 3, 6]], dtype=object)
    x = OBJECTS.solve(A, np.array([1, 2, 3], dtype=object))
    assert list(A @ x) == [1, 2, 3]


@given(robots(), seeds)
def test_the_factor_of_M_multiplies_to_M_and_solves_with_it(robot, seed):
    q, v, _ = random_state(robot, seed)
    M = mass_matrix(robot, q)
    L, D, order = lower(branch_factor(robot, M), robot.nv)
    bound = 1e-14 * (np.linalg.cond(M) if robot.nv else 1) * np.abs(v).max(initial=1)
    np.testing.assert_allclose(L @ D @ L.T, M[np.ix_(order, order)], rtol=0,
                               atol=1e-14 * np.abs(M).max(initial=1))
    np.testing.assert_allclose(branch_solve(robot, M, M @ v), v, rtol=0, atol=bound)


def test_elimination_from_the_leaves_fills_no_zero_between_branches():
    robot = random_robot(5, ("revolute",), bodies=9)
    q, _, _ = random_state(robot)
    M = mass_matrix(robot, q)
    factor = branch_factor(robot, M)
    zeros = {(i, j) for i in range(robot.nv) for j in range(i) if M[i, j] == 0}
    assert zeros
    entered = {(max(i, k), min(i, k)) for k, column in factor.L.items() for i in column}
    assert not entered & zeros


def test_entries_of_the_inverse_are_exact_and_keep_the_zeros_between_trees():
    rng = np.random.default_rng(4)
    A = np.array([[Fraction(int(x)) for x in row] for row in rng.integers(-9, 9, size=(5, 5))])
    A = A + A.T + 40 * np.eye(5, dtype=int)
    P = ldl(A).inverse_entries()
    assert np.all(A @ np.array([[P[i, j] for j in range(5)] for i in range(5)]) == np.eye(5))
    robot = random_robot(5, ("revolute",), bodies=6, roots=2)
    M = mass_matrix(robot, random_state(robot)[0])
    P, exact = branch_factor(robot, M).inverse_entries(), np.linalg.inv(M)
    zeros = {(i, j) for i, j in np.ndindex(M.shape) if (i, j) not in P}
    assert zeros and all(abs(exact[at]) < 1e-15 * abs(exact).max() for at in zeros)
    np.testing.assert_allclose([P[at] for at in sorted(P)], [exact[at] for at in sorted(P)],
                               rtol=0, atol=1e-14 * np.linalg.cond(M) * abs(exact).max())


def test_negative_pivots_are_as_many_as_negative_eigenvalues():
    """Sylvester's law of inertia."""
    A = np.random.default_rng(2).normal(size=(6, 6))
    A = A + A.T
    D = np.array(list(ldl(A).D.values()))
    assert np.sum(D < 0) == np.sum(np.linalg.eigvalsh(A) < 0) > 0


def test_an_indefinite_matrix_is_refused_with_its_smallest_eigenvalue():
    A = np.diag([2.0, -0.5, 1.0])
    with pytest.raises(SingularMatrix, match=r"B is not positive definite: .* is -0\.5"):
        refuse_indefinite(A, solve_definite(A, np.ones(3)).pivots, "B")
    with pytest.raises(SingularMatrix, match="B is not finite"):
        refuse_indefinite(A * np.nan, np.full(3, np.nan), "B")
    refuse_indefinite(-A[1:2, 1:2], np.array([0.5]), "B")
