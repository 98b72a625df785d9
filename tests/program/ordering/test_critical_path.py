"""Sums and products with what is known last at the end: the same, known earlier."""

import numpy as np
import pytest

import closedform as cf
from closedform.applications.compile.preparation import Preparation
from closedform.applications.compile.requests import Request
from closedform.lowerings import reference
from closedform.maths.catalogue import quantity
from closedform.program.check import check
from closedform.program.ordering.critical_path import by_critical_path
from closedform.program.record import record
from closedform.program.rules.simplify import simplify

CYCLES = {"input": 5, "const": 0, "add": 3, "sub": 3, "mul": 3, "sin": 50, "cos": 50}


def longest_way(program):
    """Cycles to the last output when nothing has to wait for a unit, products apart from sums."""
    time = []
    for op, args, _ in program.code:
        before = 0 if op in ("input", "const") else max(time[x] for x in args)
        time.append(before + CYCLES.get(op, 13))
    return max(time[e.index] for output in program.outputs for e in output.entries if e.index >= 0)


def test_what_is_known_last_comes_last():
    program = record(lambda q: [((q[0].sin().cos() + q[1]) + q[2]) + q[3] * q[3]], {"q": (4,)}, "f")
    ordered = by_critical_path(program)
    assert longest_way(program) - longest_way(ordered) == 2 * CYCLES["add"]
    assert ordered.operations.total == program.operations.total


def test_inputs_may_be_asked_to_come_last():
    """q of input 0 is known first, and yet it is added at the end."""
    program = record(lambda x, y: [(x[0] + y[0] * y[1]) + y[2].sin()], {"x": (1,), "y": (3,)}, "f")
    ordered = by_critical_path(program, last=frozenset((0,)))
    place, = (k for k, x in enumerate(ordered.code) if x.op == "input" and x.args[0] == 0)
    assert place in ordered.code[ordered.outputs[0].entries[0].index].args
    assert place not in by_critical_path(program).code[-1].args
    assert ordered.operations.total == program.operations.total


def test_factors_wait_for_the_last_one_together():
    program = record(lambda q: [((q[0].sin() * q[1]) * q[2]) * 3.0], {"q": (3,)}, "f")
    assert longest_way(program) - longest_way(by_critical_path(program)) == 2 * CYCLES["mul"]


def test_a_product_is_not_torn_from_its_sum_for_a_few_cycles():
    """q0 − q1 is known three cycles after the product's factors: fused it costs nothing."""
    program = record(lambda q: [(q[0] - q[1]) + q[2] * q[3]], {"q": (4,)}, "f")
    assert by_critical_path(program).operations.instructions == 2


@pytest.mark.parametrize("name", ["ur5", "panda", "humanoid25"])
@pytest.mark.parametrize("asked", ["inverse_dynamics", "forward_dynamics", "mass_matrix"])
def test_programs_of_robots_keep_value_and_count_and_are_known_earlier(name, asked):
    robot = cf.load(name)
    whole = Preparation(robot, (), 1e-9)
    request = [Request(quantity(asked))]
    program = simplify(next(whole.programs(request))).program
    ordered = by_critical_path(program)
    check(ordered)
    assert ordered.operations.total == program.operations.total
    assert ordered.operations.instructions <= 1.05 * program.operations.instructions
    assert longest_way(ordered) < longest_way(program)
    rng = np.random.default_rng(0)
    values = [robot.random(rng) if slot.name == "q" else rng.normal(size=slot.shape)
              for slot in program.inputs]
    one, other = (reference.run(p, *values) for p in (program, ordered))
    np.testing.assert_allclose(other, one, rtol=0, atol=1e-9 * np.abs(one).max())
