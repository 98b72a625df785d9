import numpy as np
import pytest

from closedform.lowerings import lanes
from closedform.lowerings.frameworks.sparsity import Pattern, directions, reached
from random_programs import random_inputs, random_program


def test_a_pattern_is_compressed_by_columns():
    mask = np.array([[1, 0, 0], [1, 0, 1]], bool)
    assert Pattern.of(mask).compressed().tolist() == [2, 3, 0, 2, 2, 3, 0, 1, 1]


@pytest.mark.parametrize("diagonal", [True, False])
def test_the_pattern_of_a_horizon_is_that_of_the_matrices_together(diagonal):
    mask = np.random.default_rng(0).random((3, 4)) < 0.5
    rows, columns, *rest = Pattern.of(mask).compressed(3, diagonal)
    whole = np.zeros((rows, columns), bool)
    starts, row = rest[:columns + 1], rest[columns + 1:]
    for k in range(columns):
        whole[row[starts[k]:starts[k + 1]], k] = True
    expected = np.kron(np.eye(3, dtype=bool), mask) if diagonal else np.tile(mask, 3)
    np.testing.assert_array_equal(whole, expected)


@pytest.mark.parametrize("seed", range(3))
def test_what_is_not_reached_does_not_move(seed):
    program = random_program(seed, operations=15)
    mask = reached(program, ["x0", "x2"])
    inputs = random_inputs(program, 1)
    before = np.concatenate([np.ravel(y) for y in lanes.run(program, *inputs)])
    assert mask.shape == (before.size, 6) and 0 < mask.sum() < mask.size
    for column in range(6):
        moved = [np.array(x, float) for x in inputs]
        moved[0 if column < 5 else 2].reshape(-1)[column % 5] += 1e-7
        after = np.concatenate([np.ravel(y) for y in lanes.run(program, *moved)])
        assert not (before != after)[~mask[:, column]].any()


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("density", [0.0, 0.1, 0.4, 1.0])
def test_every_entry_is_read_from_products_with_directions(symmetric, density):
    rng = np.random.default_rng(3)
    mask = rng.random((12, 12)) < density
    if symmetric:
        mask = np.triu(mask) | np.triu(mask).T
    A = np.where(mask, rng.normal(size=mask.shape), 0.0)
    A = np.triu(A) + np.triu(A, 1).T if symmetric else A
    seeds, places = directions(mask, symmetric)
    products = (A @ seeds.T.astype(float)).T.ravel()
    np.testing.assert_array_equal(products[places[mask]], A[mask])
    assert (places[~mask] == -1).all() and len(seeds) <= 12


def test_branches_share_directions_and_what_enters_linearly_needs_none():
    """An arrow: a base of two, and five branches of three that meet in the base alone."""
    mask = np.kron(np.eye(5, dtype=bool), np.ones((3, 3), bool))
    arrow = np.block([[np.ones((2, 2), bool), np.ones((2, 15), bool)],
                      [np.ones((15, 2), bool), mask]])
    assert len(directions(arrow, symmetric=True)[0]) == 5
    assert len(directions(mask)[0]) == 3
    linear = np.block([[np.ones((4, 4), bool), np.ones((4, 9), bool)],
                       [np.ones((9, 4), bool), np.zeros((9, 9), bool)]])
    assert len(directions(linear, symmetric=True)[0]) == 4
