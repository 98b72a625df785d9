"""Numbers with lanes: every lane computes what a single number would."""

import numpy as np
import pytest

from closedform.errors import ArgumentError
from closedform.lowerings.reference import run
from closedform.program.check import check
from closedform.program.expr import Expr, Graph
from closedform.program.lanes.numbers import constant, entries, gathered
from closedform.program.lanes.unfolded import unfolded
from closedform.program.pipeline import optimised
from closedform.program.program import Slot
from closedform.program.record import Picked, collect, object_array
from closedform.program.rules.simplify import simplify
from random_lanes import ARMS, FINGERS, LEGS, random_computation


@pytest.mark.parametrize("seed", range(40))
def test_every_lane_computes_what_a_single_number_would(seed):
    program, x, expected = random_computation(seed)
    found, = run(program, x)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("seed", range(20))
def test_a_program_without_its_lanes_computes_the_same(seed):
    program, x, expected = random_computation(seed)
    flat = check(unfolded(program))
    assert set(flat.widths) == {1}
    np.testing.assert_allclose(run(flat, x)[0], expected, rtol=1e-12,
                               atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("seed", range(20))
def test_rules_and_orders_keep_the_value_of_programs_with_lanes(seed):
    program, x, expected = random_computation(seed)
    for found in (simplify(program).program, optimised(program)):
        assert check(found).operations.total <= program.operations.total
        np.testing.assert_allclose(run(found, x)[0], expected, rtol=1e-11,
                                   atol=1e-11 * np.abs(expected).max())


def test_constants_that_differ_by_signs_cost_no_more_than_plain_ones():
    """c x + d y, with c and d mirrored in the second lane, takes three operations."""
    graph = Graph()
    x, y = (entries(graph, 0, (k, k + 1), ARMS) for k in (0, 2))
    total = constant((2.0, -2.0), ARMS) * x + constant((3.0, 3.0), ARMS) * y
    picked = [Picked(Expr(graph, total.node, s), k) for k, s in enumerate(total.signs)]
    program = check(collect(graph, "f", (Slot("x", (4,)),), {"f": object_array(picked, (2,))}))
    assert program.operations.total == 3
    np.testing.assert_array_equal(run(program, [1.0, 10.0, 100.0, 1000.0])[0], [302.0, 2980.0])


def test_values_of_different_limbs_do_not_meet():
    graph = Graph()
    with pytest.raises(ArgumentError, match="share no lanes"):
        entries(graph, 0, (0, 1), ARMS) + entries(graph, 0, (0, 1), LEGS)


def test_what_all_lanes_share_is_gathered_as_often_as_there_are_lanes():
    graph = Graph()
    assert gathered(1.5, FINGERS, ARMS) == 6.0
    assert gathered(constant((1.0, 2.0), ARMS), FINGERS, ()) == 12.0
    x = gathered(graph.input(0, 0), ARMS, ())
    assert x == 2.0 * graph.input(0, 0)
