"""Scheduling keeps the meaning and shortens lives."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from closedform.lowerings import reference
from closedform.program.check import check
from closedform.program.ordering.live_ranges import _visits, by_live_ranges, largest_live_set
from closedform.program.record import record


def wide_then_narrow(n):
    """All products first, the sum of them later: recorded with n values live, 3 are enough."""
    def f(q):
        products = [(x + 1.0) * x for x in q]
        return sum(products)
    return record(f, {"q": (n,)}, "f")


def test_the_live_set_of_a_recording_is_counted():
    assert largest_live_set(wide_then_narrow(8)) == 7 + 2  # products, and q_7 and q_7 + 1
    chain = record(lambda q: ((q[0] * q[0]).sin() + 2.0).sqrt(), {"q": (1,)}, "f")
    assert largest_live_set(chain) == 1


def test_values_are_computed_when_they_are_needed():
    assert largest_live_set(by_live_ranges(wide_then_narrow(40))) <= 3


def test_rows_and_columns_of_a_matrix_are_computed_together():
    """x_k is needed by row and column k only, and M lists them far from each other."""
    def f(q):
        x = [q[0].sin() * q[k] + q[k - 1] for k in range(1, 20)]
        y = [x[k] / q[k] for k in range(19)]
        return np.array([[x[max(i, j)] * (i + 2.0) + y[max(i, j)] for j in range(19)]
                         for i in range(19)])
    program = record(f, {"q": (20,)}, "f")
    assert largest_live_set(by_live_ranges(program)) < largest_live_set(program) / 2


@settings(max_examples=50, deadline=None)
@given(st.lists(
    st.tuples(st.sampled_from("+-*s"), st.integers(0, 60), st.integers(0, 60)), max_size=60
))
def test_a_program_by_live_ranges_computes_the_same_bits_with_no_larger_live_set(steps):
    def f(q):
        pool = list(q)
        for op, i, j in steps:
            x, y = pool[i % len(pool)], pool[j % len(pool)]
            pool.append(x + 1.0 + y if op == "+" else x * 2.0 - y if op == "-"
                        else x * (y + 3.0) if op == "*" else (x + y + 0.5) * q[0].sin())
        return {"last": np.array(pool[-3:], dtype=object), "first": pool[0], "number": 2.0}

    program = record(f, {"q": (4,)}, "f")
    better = check(by_live_ranges(program))
    assert len(better.code) == len(program.code)
    assert better.operations == program.operations
    assert largest_live_set(better) <= largest_live_set(program)
    q = [0.3, -1.2, 0.7, 1.9]
    for x, y in zip(reference.run(program, q), reference.run(better, q), strict=True):
        np.testing.assert_array_equal(x, y)


def test_scheduling_is_deterministic():
    program = wide_then_narrow(30)
    assert by_live_ranges(program).digest == by_live_ranges(program).digest


def test_columns_of_matrices_are_walked_from_the_diagonal_outwards():
    """Each entry of a column needs the one nearer to the diagonal, as wrenches on their way do."""
    program = record(lambda q: q[:3, None] * q[None, 3:], {"q": (6,)}, "f")
    entries = program.outputs[0].entries
    *_, visit = _visits(program)
    assert visit == [entries[3 * i + j].index for i, j in (
        (2, 2), (1, 2), (2, 1), (0, 2), (2, 0), (1, 1), (0, 1), (1, 0), (0, 0))]
