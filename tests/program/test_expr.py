"""Recorded scalars fold structural numbers, share equal values and carry their signs for free."""

import numpy as np
import pytest

from closedform.errors import ArgumentError
from closedform.program.expr import Expr, Graph
from closedform.program.record import input_array


@pytest.fixture
def xyz():
    return input_array(Graph(), 0, (3,))


def test_zero_and_one_leave_no_trace(xyz):
    x, y, _ = xyz
    size = len(x.graph.nodes)
    assert x * 0 == 0.0 and 0.0 / x == 0.0 and x - x == 0.0 and x / x == 1.0
    assert x * 1 == x and x + 0 == x and 0 + x == x and x / 1.0 == x
    assert x * -1 == -x and 0 - x == -x and x / -x == -1.0
    assert (x + y) * 0.0 + y == y
    assert len(x.graph.nodes) == size + 1  # x + y


def test_a_difference_and_its_opposite_are_one_node(xyz):
    x, y, _ = xyz
    assert x - y == -(y - x)
    assert -x - y == -(x + y)
    assert x + y == y + x and x * y == y * x
    assert (-x) * y == -(x * y) and (-x) / (-y) == x / y


def test_multiples_of_one_value_are_collected(xyz):
    x, _, _ = xyz
    assert x + x == 2.0 * x
    assert 3.0 * (2.0 * x) == 6.0 * x
    assert 3.0 * x + 2.0 * x == 5.0 * x
    assert 3.0 * x - x == 2.0 * x and x - 3.0 * x == -2.0 * x
    assert 2.0 * x - 2.0 * x == 0.0
    assert 0.5 * (2.0 * x) == x
    assert x / 4.0 == 0.25 * x


def test_sines_are_odd_cosines_even_and_their_squares_add_to_one(xyz):
    x, y, _ = xyz
    assert (-x).sin() == -(x.sin()) and (-x).cos() == x.cos() and (-x).sign() == -(x.sign())
    assert x.sin() * x.sin() + x.cos() * x.cos() == 1.0
    assert -(x.cos() ** 2) - x.sin() ** 2 == -1.0
    assert isinstance(x.sin() ** 2 + y.cos() ** 2, Expr)


def test_powers_are_products(xyz):
    x, _, _ = xyz
    assert x ** 0 == 1.0 and x ** 1 == x and x ** 2 == x * x and x ** 3 == x * (x * x)
    assert x ** -2 == 1.0 / (x * x) and x ** 0.5 == x.sqrt()
    with pytest.raises(TypeError):
        x ** 0.3


def test_the_root_of_a_negated_value_is_computed_without_a_negation(xyz):
    x, y, _ = xyz
    ops = {node[0] for node in (-(x - y)).sqrt().graph.nodes}
    assert ops == {"input", "sub", "sqrt"}


def test_every_kind_of_plain_number_folds(xyz):
    x, _, _ = xyz
    for two in (2, 2.0, np.float64(2), np.float32(2), np.int64(2)):
        assert x * two == two * x == x + x
        assert isinstance(x * two, Expr) and isinstance(two * x, Expr)


def test_arrays_of_numbers_and_scalars_broadcast(xyz):
    x = xyz[0]
    for product in (x * np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 2.0]) * x):
        assert product.shape == (3,)
        assert list(product) == [0.0, x, 2.0 * x]
    assert (np.eye(3) @ xyz == xyz).all()


def test_a_recorded_scalar_refuses_what_cannot_be_recorded(xyz):
    x, _, _ = xyz
    with pytest.raises(ArgumentError, match="truth"):
        bool(x)
    with pytest.raises(ArgumentError, match="finite"):
        x * float("nan")
    with pytest.raises(ArgumentError, match="finite"):
        x + float("inf")
    with pytest.raises(ArgumentError, match="constant 0"):
        x / 0.0
    with pytest.raises(TypeError):
        x * 1j
    other = Graph().input(0, 0)
    for meet in (lambda: x + other, lambda: x - other, lambda: x * other, lambda: x / other):
        with pytest.raises(ArgumentError, match="two recordings"):
            meet()
