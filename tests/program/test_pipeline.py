"""The way of every program: the cheapest of several, with the same values."""

import numpy as np
import pytest

from closedform.errors import ArgumentError
from closedform.lowerings import reference
from closedform.program import pipeline
from closedform.program.check import check
from closedform.program.ordering.live_ranges import largest_live_set
from closedform.program.pipeline import CLOSE, kept_outputs, optimised
from closedform.program.record import record


def recorded(f, n=4):
    return record(f, {"q": (n,)}, "f")


def factored(q):
    return [q[0] * (q[1] + q[2] + q[3])]


def written_out(q):
    return [q[0] * q[1] + q[0] * q[2] + q[0] * q[3]]


def test_a_program_is_simplified_and_keeps_its_value():
    program = optimised(recorded(written_out))
    assert program.operations.total == recorded(factored).operations.total
    q = [0.3, -1.2, 0.7, 1.9]
    np.testing.assert_allclose(reference.run(check(program), q), [written_out(q)], rtol=1e-15)


def test_the_cheapest_of_several_is_taken_whatever_their_order():
    ways = [recorded(lambda q, n=n: [sum((q[k % 4].sin() * (k + 2.0) for k in range(n)), 0.0)])
            for n in (4, 2, 3)]
    assert all(optimised(*order).operations.total == min(optimised(p).operations.total
                                                         for p in ways)
               for order in (ways, ways[::-1]))


def test_what_counts_is_the_count_after_the_rules():
    """A program that the rules shorten wins over one with fewer operations before them."""
    long = recorded(lambda q: [q[0] * (q[1] * q[2]) + q[0] * (q[2] * q[3])
                               + q[0] * q[1] + q[0] * q[2] + q[0] * q[3]])
    short = recorded(lambda q: [sum(q[1:], q[0])], 11)
    assert short.operations.total < long.operations.total <= CLOSE * short.operations.total
    assert optimised(short).operations.total > optimised(long).operations.total
    assert optimised(short, long).digest == optimised(long).digest


def test_long_programs_are_only_regrouped(monkeypatch):
    monkeypatch.setattr(pipeline, "THOROUGH", 4)
    assert optimised(recorded(written_out)).operations.total == recorded(
        written_out).operations.total


def test_values_die_young():
    program = recorded(lambda q: [sum((x + 1.0) * x for x in q)], 40)
    assert largest_live_set(program) > 30
    assert largest_live_set(optimised(program)) <= 3


def test_outputs_that_are_not_kept_are_not_computed():
    program = recorded(lambda q: {"a": q[0] * q[1], "b": (q[2] * q[3]).sin()})
    kept = check(kept_outputs(program, ["a"]))
    assert [o.name for o in kept.outputs] == ["a"]
    assert (kept.operations.mul, kept.operations.trig) == (1, 0)
    assert kept_outputs(program, []) is program


def test_an_output_that_is_not_there_is_refused():
    with pytest.raises(ArgumentError, match="no output 'c'"):
        kept_outputs(recorded(lambda q: {"a": q[0], "b": q[1]}), ["c"])
