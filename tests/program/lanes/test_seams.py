"""Numbers that are joined from several places, and shared out to them again."""

import math

import numpy as np
import pytest

from closedform.lowerings.reference import run
from closedform.program.check import check
from closedform.program.expr import Expr, Graph
from closedform.program.lanes.limbs import TRUNK, width
from closedform.program.lanes.numbers import LaneConstant, LaneExpr, constant, entries, values_in
from closedform.program.lanes.seams import joined, shared_out
from closedform.program.lanes.unfolded import unfolded
from closedform.program.pipeline import optimised
from closedform.program.program import Instruction, Slot
from closedform.program.record import Picked, collect, object_array

ARMS, TOES, BOTH = ((0, 2),), ((1, 4),), ((9, 8),)


def random_number(rng, graph, x, limb):
    """A recorded number or a constant of a limb, with signs, and its lanes."""
    kind = rng.choice(["input", "constant", "number", "trunk"], p=[0.6, 0.15, 0.1, 0.15])
    if kind == "constant":
        values = rng.choice([-2.0, -1.0, 0.0, 1.0, 3.0], size=width(limb))
        return constant(values, limb), values
    if kind == "number":
        return 1.5, np.full(width(limb), 1.5)
    limb_x = limb if kind == "input" else TRUNK
    at = rng.integers(0, len(x), size=width(limb_x))
    number, values = entries(graph, 0, at.tolist(), limb_x), x[at]
    if limb_x != TRUNK:
        signs = rng.choice([-1.0, 1.0], size=width(limb_x))
        number, values = constant(signs, limb_x) * number, values * signs
    return number * -2.0, np.broadcast_to(values * -2.0, width(limb))


def lanes_of_number(number, limb):
    """Each lane of a number, as entries of an output."""
    if not isinstance(number, Expr | LaneExpr):
        return list(values_in(number, limb))
    signs = (number.signum,) * width(limb) if isinstance(number, Expr) else number.signs
    lanes = range(len(signs)) if isinstance(number, LaneExpr) else [0] * len(signs)
    return [Picked(Expr(number.graph, number.node, s), k)
            for k, s in zip(lanes, signs, strict=True)]


def random_seam(seed):
    """What is joined from two or three places and shared out again, and what it has to be."""
    rng = np.random.default_rng(seed)
    graph, x = Graph(), rng.normal(size=12)
    limbs = [[TRUNK, TRUNK], [TRUNK, ARMS], [ARMS, TOES], [TRUNK, ARMS, TOES], [TOES]][seed % 5]
    ways = [(i, k) for i, limb in enumerate(limbs) for k in range(width(limb))]
    copies = 0
    if seed % 2:                                     # lanes that are left over, or come twice
        ways = [ways[k] for k in sorted(rng.integers(0, len(ways), size=7))]
        copies = 1
    used = sorted({i for i, _ in ways})
    ways = tuple((used.index(i), k) for i, k in ways)
    limbs = [limbs[i] for i in used]
    wide = ((9, len(ways) + copies),)
    numbers = [random_number(rng, graph, x, limb) for limb in limbs]
    one = joined([number for number, _ in numbers], limbs, ways + ways[-1:] * copies, wide)
    expected = np.array([numbers[i][1][k] for i, k in ways + ways[-1:] * copies])
    factor = constant(rng.choice([-1.0, 1.0, 2.0], size=len(expected)), wide)
    other, of = random_number(rng, graph, x, wide)
    product = one * factor + other
    value = expected * values_in(factor, wide) + of
    back = shared_out(product, wide, ways, limbs)
    given = [np.zeros(width(limb)) for limb in limbs]
    for lane, (i, k) in enumerate(ways):
        given[i][k] += value[lane]
    picked = lanes_of_number(one, wide)
    for number, limb in zip(back, limbs, strict=True):
        picked += lanes_of_number(number, limb)
    program = collect(graph, "seam", (Slot("x", (12,)),),
                      {"y": object_array(picked, (len(picked),))})
    return check(program), x, np.concatenate([expected, *given])


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
