"""Numbers that are joined from several places, and shared out to them again."""

import math

import numpy as np
import pytest

from closedform.lowerings.reference import run
from closedform.program.check import check
from closedform.program.expr import Graph
from closedform.program.lanes.limbs import TRUNK
from closedform.program.lanes.numbers import LaneConstant, entries
from closedform.program.lanes.seams import joined, shared_out
from closedform.program.lanes.unfolded import unfolded
from closedform.program.pipeline import optimised
from closedform.program.program import Instruction, Slot
from closedform.program.record import collect, object_array
from random_lanes import ARMS, TOES, lanes_of_number, random_seam


@pytest.mark.parametrize("seed", range(60))
def test_what_is_joined_is_shared_out_again(seed):
    program, x, expected = random_seam(seed)
    for found in (program, unfolded(program), check(optimised(program))):
        np.testing.assert_allclose(run(found, x)[0], expected, rtol=1e-13, atol=1e-13)


def test_the_lanes_of_two_places_are_put_side_by_side_at_once():
    graph = Graph()
    one = joined([graph.input(0, 0), -graph.input(0, 1)], [TRUNK, TRUNK],
                 ((0, 0), (0, 0), (1, 0), (1, 0)), ((9, 4),))
    assert graph.nodes[one.node] == ("spread", 0, 1, (0, 0, 1, 1))
    assert one.signs == (1, 1, -1, -1)


def test_a_place_without_lanes_of_its_own_gets_nothing_from_others_that_are_infinite():
    """A product with zero would have handed on what is no number."""
    graph = Graph()
    x = entries(graph, 0, (0, 1), ARMS)
    back, = shared_out(x, ARMS, ((0, 1), (0, 3)), [TOES])
    program = check(collect(graph, "f", (Slot("x", (2,)),), {
        "y": object_array(lanes_of_number(back, TOES), (4,))}))
    np.testing.assert_array_equal(run(program, [math.nan, math.inf])[0],
                                  [0.0, math.nan, 0.0, math.inf])


def test_constants_are_joined_and_added_up_without_a_recording():
    one = joined([2.0, LaneConstant((1.0, 3.0), ARMS)], [TRUNK, ARMS],
                 ((0, 0), (1, 0), (1, 1), (1, 1)), TOES)
    assert one.values == (2.0, 1.0, 3.0, 3.0)
    first, second = shared_out(one, TOES, ((0, 0), (1, 0), (1, 1), (1, 1)), [TRUNK, ARMS])
    assert first == 2.0 and second.values == (1.0, 6.0)


def test_rules_keep_the_signs_of_two_places_apart():
    """a − b may become b − a with a sign in front, in one of the places and not in the other."""
    graph = Graph()
    a, b, c = (graph.input(0, k) for k in range(3))
    one = joined([a - b, c * a - b], [TRUNK, TRUNK], ((0, 0), (1, 0)), ARMS)
    program = collect(graph, "f", (Slot("x", (3,)),), {
        "y": object_array(lanes_of_number(one * one + one, ARMS), (2,))})
    assert any(x == Instruction("spread", x.args, (0, 1)) for x in program.code)
    x = np.array([1.0, 2.5, 4.0])
    values = np.array([x[0] - x[1], x[2] * x[0] - x[1]])
    np.testing.assert_allclose(run(check(optimised(program)), x)[0], values**2 + values)
